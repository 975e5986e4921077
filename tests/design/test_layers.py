"""Who may import whom: design, "The tree"."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.design.source import REPO, imports_of, module_files, module_name

pytestmark = pytest.mark.host

LAYERS = [
    {"printable", "surrogates"},
    {"errors", "tagged", "time_limit", "immutable", "signature"},
    {"structured.strict_json", "foreign_error", "frozen_json", "http_request", "release"},
    {"messages", "source"},
    {"stream", "structured", "blanking"},
    {"schema"},
    {"contracts"},
    {"options", "signals", "transport", "answer_hint"},
    {"providers", "templates", "cache", "answer", "integrations"},
    {"model"},
    {"local", "http_model"},
    {"discovery"},
    {"llms", "dispatch"},
    {"runtime"},
    {"partial_stream"},
    {"answer_stream", "whole_reply"},
    {"examples", "repair", "typed_function"},
    {"query_options"},
    {"functions", "agent", "session", "wire"},
    {"completion", "lang_func"},
    {"page_streams", "page_model", "page_modules", "message_stream"},
    {"bridge", "testing"},
    {""},
    {"cli"},
    {"__main__"},
]
"""Lowest first. A part imports lower layers and itself. The empty name is the package itself: the public names.

The guarded door for JSON stands below the rest of its folder: whoever meets outside text needs it.
"""

LEAVES = {
    "providers.anthropic": {"llms", "providers.bedrock"},
    "providers.bedrock": {"llms"},
    "providers.cohere": {"llms"},
    "providers.gemini": {"llms"},
    "providers.mistral": {"providers.profiles"},
    "providers.ollama": {"llms"},
    "providers.openai_chat": {"llms", "local.function", "local.wllama", "providers.mistral", "providers.profiles"},
    "providers.profiles": {"llms"},
    "providers.openai_responses": {"llms"},
    "transport.fetch": {"transport"},
    "transport.httpx": {"transport"},
    "local.": {"llms"},
    "cli.": {"cli"},
    "integrations.": {"", "integrations", "page_streams", "testing"},
}
"""Modules of these names or below these folders are imported by the doors named, and nobody else in the core."""

NARROW = {"integrations": {"structured", "errors", "source", "signals"}}


def layer(name: str) -> int:
    part = name.partition(".")[0]
    for wanted in (name, part):
        for level, parts in enumerate(LAYERS):
            if wanted in parts:
                return level
    raise AssertionError(f"unspool.{name} is in no layer: add {part!r} to LAYERS")


@pytest.mark.parametrize("file", module_files(), ids=module_name)
def test_imports_point_down(file: Path) -> None:
    name = module_name(file)
    part = name.partition(".")[0]
    if part in NARROW:
        assert {other.partition(".")[0] for other in imports_of(file)} <= NARROW[part] | {part}
        return
    wrong = {other for other in imports_of(file) if other.partition(".")[0] != part and layer(other) >= layer(name)}
    assert not wrong, f"unspool.{name} (layer {layer(name)}) imports {sorted(wrong)}"


@pytest.mark.parametrize("file", module_files(), ids=module_name)
def test_leaves_are_imported_by_their_doors_only(file: Path) -> None:
    name = module_name(file)
    for prefix, doors in LEAVES.items():
        if name.startswith(prefix) or name in doors:
            continue
        wrong = {other for other in imports_of(file) if other.startswith(prefix)}
        assert not wrong, f"unspool.{name} imports {sorted(wrong)}, which only {sorted(doors)} may"


def test_type_checking_imports_are_exempt(tmp_path: Path) -> None:
    """The parser sees what runs, lazily or not, and only that."""
    from tests.design import source

    file = source.PACKAGE / "errors.py"
    assert imports_of(file) == {"printable"}  # its import of messages is for type checkers


def test_the_page_of_the_layers_names_every_part() -> None:
    page = (REPO / "docs" / "architecture.md").read_text(encoding="utf-8")
    parts = {module_name(file).partition(".")[0] for file in module_files()} - {""}
    assert not [part for part in sorted(parts) if f"`{part}`" not in page]
