"""The table of features: for each how it is built, what its text is, how many replies agree, and why others do not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.parity.features import OURS, Feature

REASONS = {
    "P11": "keys of a dict may be other scalars than text; each is typed strictly",
    "P12": "the item type of a set is shown",
    "P15": "limits on sizes are told in a comment",
    "P18": "a description of the whole answer is told in a comment",
    "P24": "further keyword arguments are announced",
    "P25": "a field that the model is not shown it may not set",
    "P26": "fields of dataclasses, NamedTuple and TypedDict are validated, and their generated docstrings left out",
    "P28": "two classes of one name are refused",
    "P29": "unions, `Any` and tuples may stand at the root; what cannot be asked for is refused at construction",
    "P41": "any fence, anywhere; of several the first that reads",
    "P42": "language tags of any spelling, and CRLF",
    "P44": "one statement, not several",
    "P45": "nothing is computed: no operators, attributes, subscripts, comprehensions or lambdas",
    "P46": "only the classes shown may be called, none of Python's own",
    "P48": "no f-strings",
    "P49": "quotes are not repaired",
    "P5": "unions are flat",
    "P50": "constructors of pydantic models take arguments by position",
    "P52": "texts never become numbers",
    "P53": "`True` is no number",
    "P54": "`None` is a value of its type",
    "P56": "sets have typed items, each judged as it was written",
    "P57": "a key that is there twice is refused",
    "P59": "a literal matches in type: `3.0` is not 3, `True` not 1",
    "P60": "members of an Enum class are also taken by their bare value",
    "P62": "a pattern is searched for, as pydantic does; anchor it with `^`",
    "P66": "`UNKNOWN` is taken where the type says `Unknown`, and in `Any`",
    "P67": "`Any` is data: no bytes, complex numbers, classes or modules",
    "P68": "half of a surrogate pair is refused",
    "P69": "at most 64 levels of brackets",
    "P7": "Enum classes are shown with their members",
    "P70": "tabs inside strings stay",
    "P71": "infinite numbers are refused, however they are written",
    "P10": "tuples of any length are shown with `...`",
    "P17": "docstrings are cleaned",
    "P27": "methods are not shown",
}
_RULE = re.compile(r"P\d+")


class Row:
    """What is to be told of one feature."""

    def __init__(self, feature: Feature) -> None:
        self.feature = feature
        self.total = 0
        self.agreeing = 0
        self.as_proposed = 0
        self.reasons: Counter[str] = Counter()
        self.strays: list[str] = []
        """Probes whose outcome is neither langfun's nor the one proposed, nor one that we chose on purpose."""
        for probe, outcome in feature.probes():
            self.total += 1
            proposed = probe["port"]
            follows = proposed["outcome"] is None or outcome.agrees(proposed)
            self.as_proposed += follows
            if outcome.agrees(probe["langfun"]):
                self.agreeing += 1
            elif follows:
                self.reasons[proposed.get("rule") or "P24"] += 1
            if not follows and probe["id"] not in OURS:
                self.strays.append(f"{probe['id']} {probe['response'][:60]!r}: {outcome}, proposed {proposed}")

    @property
    def construction(self) -> str:
        theirs = "yes" if self.feature.built_by_langfun else "refused"
        return f"{theirs} / {'yes' if self.feature.schema is not None else 'refused'}"

    @property
    def text(self) -> str:
        """`same` as langfun's, or the rule that makes it differ."""
        feature = self.feature
        if feature.schema is None:
            return "–"
        if feature.text == feature.langfun_text:
            return "same"
        return ", ".join(self.text_rules) or "differs"

    @property
    def text_rules(self) -> list[str]:
        feature = self.feature
        rules: list[str] = []
        if feature.schema is None:
            return rules
        if feature.text != feature.proposed_text:
            rules.append("P15" if " items." in feature.text else "P18")
        if not feature.data["port_schema_text"].get("same_as_langfun"):
            rules += _RULE.findall(feature.data["port_schema_text"].get("rule") or "")
        return list(dict.fromkeys(rules))

    def cells(self) -> list[str]:
        reasons = [f"{rule} ×{count}" if count > 1 else rule for rule, count in sorted(self.reasons.items())]
        return [
            self.feature.name,
            self.construction,
            self.text,
            f"{self.agreeing}/{self.total}",
            ", ".join(reasons) or "–",
        ]


HEAD = ["category", "built (langfun / here)", "schema text", "probes as langfun", "others, by reason"]


def markdown(rows: Sequence[Row]) -> str:
    """Write the table."""
    lines = [HEAD, ["---"] * len(HEAD), *(row.cells() for row in rows)]
    agreeing, total = sum(row.agreeing for row in rows), sum(row.total for row in rows)
    built = sum(row.feature.schema is not None for row in rows)
    same = sum(row.text == "same" for row in rows)
    lines.append(["**all**", f"**{built}/{len(rows)}**", f"**{same} same**", f"**{agreeing}/{total}**", ""])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def reasons(rows: Iterable[Row]) -> str:
    """Write the reasons that the tables name."""
    named = {rule for row in rows for rule in (*row.reasons, *row.text_rules)}
    told = [f"- {rule}: {REASONS[rule]}" for rule in sorted(named, key=lambda rule: int(rule[1:]))]
    return "\n".join(["Reasons:", "", *told])


def ours(rows: Iterable[Row]) -> str:
    """Write what is neither langfun's outcome nor the one proposed, and why."""
    probes = [probe["id"] for row in rows for probe, _ in row.feature.probes() if probe["id"] in OURS]
    told = Counter(OURS[probe] for probe in probes)
    return "\n".join(f"Neither as langfun nor as proposed, {count} probes: {why}." for why, count in told.items())


def tables(rows: Sequence[Row]) -> str:
    """Write all that docs/parity.md shows."""
    matrix = [row for row in rows if row.feature.in_matrix]
    further = [row for row in rows if not row.feature.in_matrix]
    parts = [markdown(matrix), "Further features that were probed:", markdown(further), reasons(rows), ours(rows)]
    return "\n\n".join(parts)


def reasons_of(data: Mapping[str, Any]) -> set[str]:
    """Give every rule that the file names for a difference."""
    rules: set[str] = set()
    for feature in data["features"]:
        rules.update(_RULE.findall(feature["port_schema_text"].get("rule") or ""))
        rules.update(probe["port"]["rule"] for probe in feature["probes"] if probe["port"].get("rule"))
    return rules
