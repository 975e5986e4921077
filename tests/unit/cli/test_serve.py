"""The demo's server: types, headers, ranges, and a port whatever happens."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest

from unspool.cli.serve import FOREVER, HEADERS, REVALIDATE, listen, running, site

pytestmark = pytest.mark.host


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    dist = tmp_path_factory.mktemp("dist")
    for name in ("index.html", "a.mjs", "a.js", "a.wasm", "a.whl", "a.css", "a.py", "sub/b.json", "icon.svg"):
        (dist / name).parent.mkdir(exist_ok=True)
        (dist / name).write_text(f"content of {name}")
    model = tmp_path_factory.mktemp("models") / "m.gguf"
    model.write_bytes(b"GGUF" + bytes(range(100)))
    with running(site(dist, {"engine": "page"}, {"m.gguf": model, "gone.gguf": dist / "nowhere"})) as url:
        yield url


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html"),
        ("/a.mjs", "text/javascript"),
        ("/a.js", "text/javascript"),
        ("/a.wasm", "application/wasm"),
        ("/a.whl", "application/zip"),
        ("/a.css", "text/css"),
        ("/a.py", "text/x-python"),
        ("/sub/b.json", "application/json"),
        ("/favicon.ico", "image/svg+xml"),  # browsers ask for it on pages that name no icon
        ("/config.json", "application/json"),
        ("/models/m.gguf", "application/octet-stream"),
    ],
)
def test_types(base_url: str, path: str, kind: str) -> None:
    response = httpx.get(base_url + path)
    assert response.status_code == 200
    assert response.headers["content-type"].partition(";")[0] == kind


@pytest.mark.parametrize("path", ["/", "/a.wasm", "/config.json", "/models/m.gguf", "/nowhere"])
def test_every_answer_is_isolated(base_url: str, path: str) -> None:
    response = httpx.get(base_url + path)
    assert {name: response.headers.get(name) for name in HEADERS} == HEADERS
    assert "traceback" not in response.text.lower()


def test_config(base_url: str) -> None:
    response = httpx.get(f"{base_url}/config.json")
    assert response.json() == {"engine": "page"}
    assert response.headers["cache-control"] == "no-store"


def test_files_are_asked_for_again_and_cost_nothing_then(base_url: str) -> None:
    first = httpx.get(f"{base_url}/a.wasm")
    assert first.headers["cache-control"] == REVALIDATE
    again = httpx.get(f"{base_url}/a.wasm", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(("query", "lifetime"), [("", REVALIDATE), ("?v=1", FOREVER)])
def test_models_with_a_version_are_kept(base_url: str, query: str, lifetime: str) -> None:
    assert httpx.get(f"{base_url}/models/m.gguf{query}").headers["cache-control"] == lifetime


def test_ranges_of_a_model(base_url: str) -> None:
    response = httpx.get(f"{base_url}/models/m.gguf", headers={"Range": "bytes=2-5"})
    assert (response.status_code, response.content) == (206, b"UF\x00\x01")
    assert response.headers["content-range"] == "bytes 2-5/104"
    beyond = httpx.get(f"{base_url}/models/m.gguf", headers={"Range": "bytes=900-"})
    assert beyond.status_code == 416


def test_head_tells_the_size_of_a_model(base_url: str) -> None:
    response = httpx.head(f"{base_url}/models/m.gguf")
    assert (response.headers["content-length"], response.content) == ("104", b"")


@pytest.mark.parametrize(
    "path", ["/nowhere", "/models/other.gguf", "/models/gone.gguf", "/models/..%2f..%2fetc%2fpasswd", "/..%2fsecret"]
)
def test_what_is_not_there(base_url: str, path: str) -> None:
    assert httpx.get(base_url + path).status_code == 404


def test_a_port_that_is_taken_gives_another(tmp_path: Path) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with running(site(tmp_path, {}), port=port) as url:
            assert url != f"http://127.0.0.1:{port}"
            assert httpx.get(f"{url}/config.json").status_code == 200


def test_a_port_that_is_free_is_taken(tmp_path: Path) -> None:
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with running(site(tmp_path, {}), port=port) as url:
        assert url == f"http://127.0.0.1:{port}"


def test_nothing_is_left_after_the_block(tmp_path: Path) -> None:
    with running(site(tmp_path, {})) as url:
        pass
    with pytest.raises(httpx.ConnectError):
        httpx.get(url)


def test_an_address_of_another_machine_is_refused(tmp_path: Path) -> None:
    from unspool.cli.checkout import BuildError

    with pytest.raises(BuildError, match="No server can listen"), running(site(tmp_path, {}), host="192.0.2.1"):
        pass
