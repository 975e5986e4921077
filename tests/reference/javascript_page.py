"""The page of the reference for JavaScript and TypeScript, written from the declarations of the npm package."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tests.reference.python_pages import NOTICE

_EXPORTS = Path(__file__).with_name("exports.mjs")

GROUPS = (
    ("Connecting", "connect ConnectOptions Unspool WorkerLike BootProgress BootStage Versions"),
    (
        "Queries",
        "QueryOptions WholeQueryOptions Answered CompletionOptions Completed QueryStream Reader PartialResult "
        "PartialsOptions DeepPartial ListPath ElementAt PartialValue PartState "
        "ModelCallOptions Tool Reply ToolCall ModelSpec HttpModel "
        "OpenAIChatModel BedrockModel WllamaModel ScriptedModel Model PythonModel ApiKey GenerationOptions Prompt "
        "PromptMessage PageModel PageRequest PageAnswer PagePiece",
    ),
    ("Types", "SchemaInput StandardSchema JsonSchema TypeName ConvertedSchema InferInput InferOutput InputOf ResultOf"),
    (
        "Events",
        "StructuredEvent ProgressEvent TerminalEvent TextDelta FieldStart ObjectStart StringFieldDelta FieldEnd "
        "ObjectEnd FieldInvalid GenerationComplete ParsingFailed GenerationFailed Cancelled Repair Path ContainerKind",
    ),
    (
        "Messages",
        "Message Part TextPart ImagePart FilePart ToolCallPart ToolResultPart FinishReason Usage Origin Replay",
    ),
    (
        "Incremental text and tool calls",
        "ReadStructuredOptions IntegrationName EventSource StructuredAdapter EventMapper StructuredOperation "
        "StructuredSession SessionOptions StructuredDiagnostic StructuredStream StreamOptions StreamState Patch "
        "FieldState Snapshots StructuredStreamPool PoolOptions StructuredUpdate StructuredProgress "
        "StructuredCompletion",
    ),
    ("Errors", "UnspoolError isUnspoolError ErrorCode WireError Issue"),
)

_WORDS = (
    "Every name that the npm package exports. How they are used: [workers](../workers.md), "
    "[tool streams](../tool-streams.md)."
)


def exports(web: Path) -> list[dict[str, Any]]:
    """Read the exported names.

    Args:
        web: the folder of the npm package, with its `node_modules`; absolute.
    """
    with tempfile.TemporaryDirectory() as folder:
        _output(str(web / "node_modules/.bin/tsc"), "-p", str(web), "--outDir", folder, "--emitDeclarationOnly")
        found: list[dict[str, Any]] = json.loads(_output("node", str(_EXPORTS), str(web), str(Path(folder).resolve())))
    return found


def _output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def page_text(web: Path) -> str:
    """Write the page."""
    known = {export["name"]: export for export in exports(web)}
    listed = [name for _, names in GROUPS for name in names.split()]
    strays = set(known) ^ set(listed)
    if strays or len(listed) != len(set(listed)):
        raise LookupError(f"GROUPS and the exports of the npm package differ by {sorted(strays)}")
    blocks = [NOTICE, "# JavaScript and TypeScript", _WORDS]
    for title, names in GROUPS:
        blocks.append(f"## {title}")
        for name in names.split():
            blocks += [f"### `{name}`", *_entry(known[name])]
    return "\n\n".join(blocks) + "\n"


def _entry(export: dict[str, Any]) -> list[str]:
    blocks = [_plain(export["words"])] if export["words"] else []
    is_made_by_us = "Made by" in export["words"]
    code = [_shown(text, is_made_by_us) for text in export["declarations"]]
    code += [_shown(text, True) for base in export["bases"] for text in base["declarations"]]
    return [*blocks, "```ts\n" + "\n\n".join(code) + "\n```"]


def _plain(words: str) -> str:
    return "\n\n".join(re.sub(r"\s*\n\s*", " ", paragraph) for paragraph in words.split("\n\n"))


def _shown(text: str, is_made_by_us: bool) -> str:
    text = re.sub(r"^export (declare )?", "", text)
    text = re.sub(r"^ *(#private|private [^\n]*|protected [^\n]*);\n", "", text, flags=re.MULTILINE)
    if is_made_by_us:
        text = re.sub(r"^ *constructor\([^\n]*\);\n", "", text, flags=re.MULTILINE)
    return text
