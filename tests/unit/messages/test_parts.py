"""The parts of messages. Data URLs: RFC 2397 and WHATWG Fetch, "data: URLs"; signatures of image files: WHATWG MIME
Sniffing, "Matching an image type pattern"."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.message_values import FLAT_PARTS

from unspool.errors import ConfigError
from unspool.frozen_json import FrozenDict
from unspool.messages import (
    AssistantMessage,
    File,
    Image,
    MessagePart,
    Part,
    ProviderPart,
    ReasoningPart,
    RefusalPart,
    Replay,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolResult,
    UserMessage,
)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(4)
PNG_BASE64 = "iVBORw0KGgoAAAAA"  # `printf '\x89PNG\r\n\x1a\n\0\0\0\0' | base64`


@given(FLAT_PARTS)
def test_parts_cannot_be_changed(part: Part) -> None:
    before = json.dumps(part.to_wire())
    for name in (*part.__slots__, "other"):
        with pytest.raises(AttributeError):
            setattr(part, name, None)
        with pytest.raises(AttributeError):
            delattr(part, name)
    assert json.dumps(part.to_wire()) == before


@given(FLAT_PARTS)
def test_parts_are_copied_and_pickled(part: Part) -> None:
    assert copy.copy(part) is part
    assert copy.deepcopy([part])[0] is part
    again = pickle.loads(pickle.dumps(part))
    assert again == part
    with pytest.raises(AttributeError):
        again.type = "x"
    assert repr(again) == repr(part)


def test_replay_state_is_frozen() -> None:
    data = {"a": [{"b": 1}]}
    replay = Replay("anthropic", data)
    data["a"].append({"c": 2})
    assert replay.data == {"a": [{"b": 1}]}
    for change in (lambda: replay.data.update(x=1), lambda: replay.data["a"].append(1), lambda: replay.data.clear()):
        with pytest.raises(TypeError):
            change()
    assert isinstance(pickle.loads(pickle.dumps(replay)).data, FrozenDict)


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"BM\x00\x00", "image/bmp"),
        (bytearray(PNG), "image/png"),
        (memoryview(PNG), "image/png"),
    ],
)
def test_kind_of_an_image_is_found(data: Any, media_type: str) -> None:
    image = Image(data)
    assert (image.media_type, image.data, image.url) == (media_type, bytes(data), None)
    assert type(image.data) is bytes


def test_stated_kind_wins() -> None:
    assert Image(PNG, media_type="IMAGE/AVIF").media_type == "image/avif"
    assert Image(b"<svg/>", media_type="image/svg+xml").media_type == "image/svg+xml"


@pytest.mark.parametrize(
    "url",
    [
        f"data:image/png;base64,{PNG_BASE64}",
        f"DATA:IMAGE/PNG;BASE64,{PNG_BASE64}",
        f"data:;base64,{PNG_BASE64}",
        f"data:application/octet-stream;base64,{PNG_BASE64}",
        f"data:image/png;name=a.png;base64,{PNG_BASE64}",
        f"data:image/png; base64,{PNG_BASE64}",
        "data:image/png;base64,iVBORw0KGg\r\noAAAAA",
        "data:image/png,%89PNG%0D%0A%1A%0A%00%00%00%00",
    ],
)
def test_data_urls(url: str) -> None:
    image = Image(url)
    assert (image.data, image.media_type, image.url) == (PNG, "image/png", None)
    assert image.data_url == f"data:image/png;base64,{PNG_BASE64}"


@pytest.mark.parametrize("body", ["-_8=", "-_8", "+/8=", "%2B%2F8%3D", "%2b%2f8%3d", "+/8%3D", " +/ 8= "])
def test_base64_of_data_urls(body: str) -> None:
    """The alphabet of URLs, no padding, percent-encoding in any case."""
    assert Image(f"data:image/png;base64,{body}").data == b"\xfb\xff"


@given(st.binary(min_size=1, max_size=40))
def test_data_urls_come_back(data: bytes) -> None:
    image = Image(data, media_type="image/png")
    assert Image(image.data_url) == image


@pytest.mark.parametrize(
    "source",
    [
        "",
        "a.png",
        "file:///a.png",
        "javascript:alert(1)",
        "blob:https://x/1",
        "data:",
        "data:image/png",
        "data:image/png;base64,",
        "data:image/png;base64,A",
        "data:image/png;base64,é",
        "data:image/png;base64,AA*A",
        "data:text/plain,hello",
        "data:image/png,\ud800",
        b"",
        b"hello",
        None,
        5,
        ["https://x"],
    ],
)
def test_what_is_no_image(source: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        Image(source)
    assert caught.value.code == "INVALID_OPTIONS"


@pytest.mark.parametrize("options", [{"media_type": "text/plain"}, {"media_type": "png"}, {"detail": "ultra"}])
def test_wrong_options_of_an_image(options: Any) -> None:
    with pytest.raises(ConfigError):
        Image(PNG, **options)


def test_image_with_an_address() -> None:
    image = Image("HTTPS://example.org/a.png?sig=abcdefgh", detail="low")
    assert (image.data, image.base64, image.media_type) == (None, "", None)
    assert image.data_url == "HTTPS://example.org/a.png?sig=abcdefgh"
    assert image.to_wire() == {"type": "image", "url": "HTTPS://example.org/a.png?sig=abcdefgh", "detail": "low"}
    assert "abcdefgh" not in repr(image)


def test_bytes_are_not_shown() -> None:
    assert repr(Image(PNG)) == "Image(<12 bytes>, media_type='image/png')"
    assert repr(File("a.txt", data=b"secret")) == "File('a.txt', media_type=None, size_bytes=6)"
    assert Image(PNG).to_wire() == {"type": "image", "mediaType": "image/png", "data": PNG_BASE64}


def test_files() -> None:
    file = File("a.txt", media_type="text/plain", path="/tmp/a.txt", data=b"abc")
    assert file.to_wire() == {
        "type": "file",
        "name": "a.txt",
        "mediaType": "text/plain",
        "sizeBytes": 3,
        "path": "/tmp/a.txt",
        "data": "YWJj",
    }
    assert File("a", data=b"").size_bytes == 0
    for wrong in (
        {"name": ""},
        {"name": None},
        {"name": "a", "data": "x"},
        {"name": "a", "data": b"", "size_bytes": 1},
    ):
        with pytest.raises(ConfigError):
            File(**wrong)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_tool_results() -> None:
    image, file = Image(PNG), File("a")
    result = ToolResult("c", ["see ", image, TextPart("this"), file], is_error=True)
    assert result.parts == (TextPart("see "), image, TextPart("this"), file)
    assert result.text == "see this"
    assert ToolResult("c", image).parts == (image,)
    assert ToolResult("c", []).to_wire() == {"type": "toolResult", "callId": "c", "isError": False, "parts": []}
    assert ToolResult("c", "x").to_wire() == {"type": "toolResult", "callId": "c", "isError": False, "text": "x"}


@pytest.mark.parametrize("content", [None, 5, b"x", {"a": 1}, [1], [None], [ToolCall("a", "b", "")], ReasoningPart("")])
def test_wrong_content_of_a_tool_result(content: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        ToolResult("c", content)
    assert caught.value.code == "INVALID_OPTIONS"


@pytest.mark.parametrize(
    "build",
    [
        lambda: TextPart(None),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: ReasoningPart(b""),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: RefusalPart(5),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: ToolCall("a", None, "{}"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: ToolCall("a", "b", {}),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: ToolResult(7, "x"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: Replay(None, {}),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: Replay("a", []),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: Replay("a", {"x": b""}),
        lambda: TextPart("", replay={"adapter": "a"}),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: ProviderPart("x", None),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        lambda: MessagePart("x"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ],
    ids=range(12),
)
def test_wrong_values_are_refused(build: Any) -> None:
    """At once, and not where a request is built of them."""
    with pytest.raises(ConfigError) as caught:
        build()
    assert caught.value.code == "INVALID_OPTIONS"


def test_redacted_reasoning() -> None:
    part = ReasoningPart("", redacted=True, replay=Replay("anthropic", {"data": "x"}))
    assert part.to_wire() == {
        "type": "reasoning",
        "text": "",
        "redacted": True,
        "replay": {"type": "replay", "adapter": "anthropic", "data": {"data": "x"}},
    }
    assert ReasoningPart("why").to_wire() == {"type": "reasoning", "text": "why"}


def test_messages_nest_up_to_a_limit() -> None:
    """Pyodide: fatal without one, where the wire form is written as JSON."""
    message = UserMessage("x")
    for _ in range(16):
        message = SystemMessage([message])
    with pytest.raises(ConfigError, match="16 deep"):
        AssistantMessage(message)
