"""What a model is told. The wording is frozen here."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from unspool.errors import ConfigError
from unspool.schema import Schema, Unknown, example_reply, schema_prompt, schema_text


class City(BaseModel):
    name: str
    people: int | Unknown


PYTHON = """\
Answer only with one Python expression of the type below, in one ```python block, and with nothing else.
Call only the classes that are defined below, with keyword arguments, and write each value out: no variables, no
calculations, no imports, no definitions. Asked what 1 + 1 is, with a class Sum that has a field total: int, you answer:

```python
Sum(total=2)
```

The type of your answer:
list[int]"""


def test_python_prompt() -> None:
    assert schema_prompt(Schema.of(list[int]), "python") == PYTHON


def test_json_prompt() -> None:
    assert schema_prompt(Schema.of(list[int]), "json") == (
        "Answer only with JSON of this form, and with nothing else:\n[integer, ...]"
    )
    assert schema_prompt(Schema.of({"not": {}}), "json") == (
        'Answer only with JSON that matches this JSON Schema, and with nothing else:\n{"not":{}}'
    )


def test_native_output_needs_no_words() -> None:
    assert schema_prompt(Schema.of(City), "native") == ""


def test_unknown_is_told_where_it_is_an_answer() -> None:
    python, json = schema_prompt(Schema.of(City), "python"), schema_prompt(Schema.of(City), "json")
    assert "write UNKNOWN for what you cannot know" in python
    assert 'write {"unknown": true} for what you cannot know' in json
    assert json.endswith('{"name": string, "people": integer | {"unknown": true}}')


def test_texts_are_kept() -> None:
    schema = Schema.of(City)
    assert schema_text(schema, "python") is schema_text(schema, "python")
    assert schema_text(Schema.of(list[int]), "native") == '{"items":{"type":"integer"},"type":"array"}'


def test_example_replies_are_whole_replies() -> None:
    """P34."""
    city = City(name="Ghent", people=265_000)
    assert example_reply(city, "python") == "```python\nCity(\n  name='Ghent',\n  people=265000,\n)\n```"
    assert example_reply(city, "json") == '{"name":"Ghent","people":265000}'


@pytest.mark.parametrize("call", [lambda p: schema_text(int, p), lambda p: example_reply(1, p)])
def test_protocol_that_there_is_not(call: Any) -> None:
    """P38: the known ones are named."""
    with pytest.raises(ConfigError, match="there are 'python', 'json' and 'native'") as caught:
        call("yaml")
    assert caught.value.code == "INVALID_OPTIONS"
