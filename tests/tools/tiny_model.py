"""A tiny llama model with random weights, written in well under a second.

In: a path and a seed. Out: a GGUF file of about 0.7 MB. What it says is nonsense at thousands of tokens a second, but
tokenisation, streaming, usage, stop reasons, grammars, cancellation and errors of the engine that runs it are real. Its
tokenizer has all 256 byte tokens, so it emits broken UTF-8 as well. With `tools`, it knows one thing: to call one.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from gguf import GGUFWriter, TokenType

EMBEDDING = 64
FEED_FORWARD = 128
HEADS = 4
BLOCKS = 2
CONTEXT = 2048

# Prints the messages and no generation prompt: with `assistant:` at the end llama.cpp takes the prompt for the
# beginning of the answer, and its grammar sampler refuses every JSON schema.
TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"

# In the form that llama.cpp finds out by itself how calls are written in, and that shows it tools, calls and results.
TOOLS_TEMPLATE = """\
{%- if tools %}{{ 'system: <tools>' }}
{%- for tool in tools %}{{ '\\n' + tool | tojson }}{% endfor %}{{ '\\n</tools>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}{{ 'user: <tool_response>\\n' + message.content + '\\n</tool_response>\\n' }}
{%- else %}{{ message.role + ': ' + (message.content or '') }}
{%- for call in message.tool_calls or [] %}
{{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}{{ call.function.arguments | tojson }}
{{- '}\\n</tool_call>' }}
{%- endfor %}{{ '\\n' }}
{%- endif %}
{%- endfor %}
"""
TOOL_TOKEN = "<tool_call>\n"

WORDS = [
    "the",
    "of",
    "a",
    "city",
    "name",
    "is",
    "and",
    "to",
    "in",
    "it",
    "you",
    "that",
    "he",
    "was",
    "for",
    "on",
    "are",
    "with",
    "as",
    "his",
    "they",
    "be",
    "at",
    "one",
    "have",
    "this",
]


def vocabulary() -> tuple[list[str], list[int]]:
    """Give the texts and the types of all tokens. Texts are unique, or the engine aborts."""
    tokens = {"<unk>": TokenType.UNKNOWN, "<s>": TokenType.CONTROL, "</s>": TokenType.CONTROL}
    tokens |= {f"<0x{byte:02X}>": TokenType.BYTE for byte in range(256)}
    pieces = ["▁", TOOL_TOKEN, *(chr(code) for code in range(0x21, 0x7F)), *WORDS, *("▁" + word for word in WORDS)]
    for piece in pieces:
        tokens.setdefault(piece, TokenType.NORMAL)
    return list(tokens), [int(kind) for kind in tokens.values()]


def write_tiny_model(path: Path, *, seed: int = 0, tools: bool = False) -> Path:
    """Write the model to `path`, whole or not at all, and give the path back.

    Args:
        path: where to.
        seed: of the weights.
        tools: the template knows tools, and the model begins a call wherever it may.
    """
    random = np.random.default_rng(seed)
    texts, types = vocabulary()
    part = path.with_name(path.name + ".part")
    writer = GGUFWriter(part, "llama")
    writer.add_name("tiny-random")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(EMBEDDING)
    writer.add_block_count(BLOCKS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(EMBEDDING // HEADS)
    writer.add_vocab_size(len(texts))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(texts)
    writer.add_token_scores([-float(index) for index in range(len(texts))])
    writer.add_token_types(types)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(TOOLS_TEMPLATE if tools else TEMPLATE)

    def matrix(name: str, rows: int, columns: int) -> None:
        values = random.normal(0, 0.2, (rows, columns)).astype(np.float32)
        if tools:
            _speak_up(name, values, texts)
        writer.add_tensor(f"{name}.weight", values)

    def ones(name: str) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(EMBEDDING, dtype=np.float32))

    matrix("token_embd", len(texts), EMBEDDING)
    for block in range(BLOCKS):
        ones(f"blk.{block}.attn_norm")
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            matrix(f"blk.{block}.{name}", EMBEDDING, EMBEDDING)
        ones(f"blk.{block}.ffn_norm")
        matrix(f"blk.{block}.ffn_gate", FEED_FORWARD, EMBEDDING)
        matrix(f"blk.{block}.ffn_up", FEED_FORWARD, EMBEDDING)
        matrix(f"blk.{block}.ffn_down", EMBEDDING, FEED_FORWARD)
    ones("output_norm")
    matrix("output", len(texts), EMBEDDING)

    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return part.replace(path)


def _speak_up(name: str, values: np.ndarray, texts: list[str]) -> None:
    """The first number of the state is the same everywhere, and speaks for a call; the second ends what `>` ends."""
    if name == "token_embd":
        values[:, :2] = (4, 0)
        for end in (">", "<0x3E>"):
            values[texts.index(end), 1] = 4
    elif name.endswith(("attn_output", "ffn_down")):
        values[:2] = 0
    elif name == "output":
        values[:, :2] = 0
        values[texts.index(TOOL_TOKEN), 0] = 20
        values[texts.index("</s>"), 1] = 40


if __name__ == "__main__":
    print(write_tiny_model(Path(sys.argv[1])))
