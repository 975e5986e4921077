"""What stands behind a public name: its home, the members of a class with what is said of each, and its signature.

Read out of the running package and, where Python keeps nothing (words below an attribute, the text of an alias), out
of its source.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple, ParamSpec, get_overloads

from tests.design.source import PACKAGE, tree_of
from tests.reference.docstring import Docstring, parse

Assigned = ast.Assign | ast.AnnAssign | ast.TypeAlias


class Field(NamedTuple):
    """An attribute or property of a class."""

    name: str
    type: str
    """As it stands in the source; empty where none does."""
    words: str


class Member(NamedTuple):
    """A method of a class."""

    name: str
    signature: str
    docstring: Docstring
    function: Any


def module_tree(module: str) -> ast.Module:
    """The source of a module of the package, by its dotted name with the package's."""
    path = PACKAGE.joinpath(*module.split(".")[1:])
    return tree_of(path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))


def home_of(module: str, name: str) -> str:
    """The module that a name is defined in, wherever it is imported from."""
    for node in ast.walk(module_tree(module)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("unspool"):
            for alias in node.names:
                if (alias.asname or alias.name) == name and node.module != module:
                    return home_of(str(node.module), alias.name)
    return module


def value_of(path: str) -> tuple[str, str, Any]:
    """Find a name.

    Args:
        path: dotted, below the package, such as `llms.OpenAI`.
    Returns:
        Its module, its name there, and what it is.
    """
    module, _, name = f"unspool.{path}".rpartition(".")
    return module, name, getattr(import_module(module), name)


def assignment_of(module: str, name: str) -> tuple[str, str]:
    """The text of an alias or a constant, and the words below it."""
    home = home_of(module, name)
    body = module_tree(home).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, Assigned) and name in [ast.unparse(target) for target in _targets(node)]:
            return ast.unparse(node), _words(after)
    raise LookupError(f"{home} does not assign {name}")


def bases_of(cls: type) -> list[type]:
    """The class and those of its bases that are ours and no name of their own."""
    return [base for base in cls.__mro__ if base.__module__.startswith("unspool")]


def hidden_bases(cls: type) -> list[type]:
    """The bases of a class that have no entry of their own, whose members so stand with its own; the last one first."""
    ours = [base for base in cls.__mro__[1:] if base.__module__.startswith("unspool")]
    return [base for base in reversed(ours) if base.__name__.startswith("_")]


def own_fields(cls: type) -> list[Field]:
    """Attributes that the body or the constructor of a class speaks of, then its properties."""
    found: dict[str, Field] = {}
    for each in (*hidden_bases(cls), cls):
        found |= _fields(each)
    return [field for field in found.values() if not field.name.startswith("_")]


def _fields(cls: type) -> dict[str, Field]:
    found: dict[str, Field] = {}
    body = _class_tree(cls).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign):
            text = ast.unparse(node.annotation)
            text = text.removeprefix("ClassVar[").removesuffix("]") if text.startswith("ClassVar[") else text
            found[ast.unparse(node.target)] = Field(ast.unparse(node.target), text, _words(after))
    for function in body:
        if isinstance(function, ast.FunctionDef) and function.name == "__init__":
            told = _arguments(function)
            for field in _set_in(function):
                known = found.get(field.name)
                kind = (known and known.type) or field.type or told.get(field.name, "")
                words = field.words or (known.words if known else "")
                if known or words or field.name in told:
                    found[field.name] = Field(field.name, kind, words)
    for node in body:
        if isinstance(node, ast.FunctionDef) and "property" in map(ast.unparse, node.decorator_list):
            docstring = parse(ast.get_docstring(node))
            words = " ".join([*docstring.paragraphs, *_raised(docstring)])
            found[node.name] = Field(node.name, ast.unparse(node.returns) if node.returns else "", words)
    return found


def own_methods(cls: type) -> Iterator[Member]:
    """The public methods that a class defines itself, in the order of the source."""
    for name, value in vars(cls).items():
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if inspect.isfunction(function) and (not name.startswith("_") or name == "__call__"):
            docstring = parse(function.__doc__)
            bound = not isinstance(value, staticmethod)
            yield Member(name, signature_of(function, name=name, bound=bound), docstring, function)


def constructor_of(cls: type) -> Any:
    """The constructor that the package wrote for a class; None where it wrote none."""
    for base in cls.__mro__:
        if "__init__" in vars(base):
            found = vars(base)["__init__"]
            return found if inspect.isfunction(found) and found.__module__.startswith("unspool") else None
    return None


def written(function: Any) -> inspect.Signature:
    """The signature as it is written, where `__signature__` spells options out."""
    spelled = vars(function).pop("__signature__", None)
    try:
        return inspect.signature(function, follow_wrapped=False)
    finally:
        if spelled is not None:
            function.__signature__ = spelled


def parameters_of(function: Any, *, bound: bool) -> list[inspect.Parameter]:
    """The parameters of a function; of a method without the first."""
    parameters = list(written(function).parameters.values())
    return parameters[1:] if bound else parameters


def signature_of(function: Any, *, name: str, bound: bool = False, is_class: bool = False) -> str:
    """Write a signature, on one line or with one parameter a line.

    Of overloads the one that knows the type asked for gives the types.
    """
    parameters = parameters_of(function, bound=bound)
    result = written(function).return_annotation
    types: Mapping[str, Any] = {}
    for each in get_overloads(function):
        overload = getattr(each, "__func__", each)
        told = inspect.signature(overload).parameters
        if any(str(parameter.annotation).startswith("TypeForm[") for parameter in told.values()):
            own = written(function).parameters
            types = {key: told[key].annotation for key in told if key in own and own[key].annotation == "Any"}
            result = inspect.signature(overload).return_annotation
            generic = _generic(overload)
            break
    else:
        generic = _generic(function)
    shown = [_parameter(parameter, types.get(parameter.name, parameter.annotation)) for parameter in parameters]
    _mark_kinds(parameters, shown)
    end = "" if is_class or result is inspect.Signature.empty else f" -> {_text_of(result)}"
    head = f"{'async ' if inspect.iscoroutinefunction(function) else ''}{name}{generic}"
    line = f"{head}({', '.join(shown)}){end}"
    if len(line) <= 100:
        return line
    return "\n".join([f"{head}(", *(f"    {text}," for text in shown), f"){end}"])


def _mark_kinds(parameters: list[inspect.Parameter], shown: list[str]) -> None:
    kinds = [parameter.kind for parameter in parameters]
    first = inspect.Parameter.KEYWORD_ONLY
    if first in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        shown.insert(kinds.index(first), "*")
    last = [number for number, kind in enumerate(kinds) if kind is inspect.Parameter.POSITIONAL_ONLY]
    if last:
        shown.insert(last[-1] + 1, "/")


def _parameter(parameter: inspect.Parameter, annotation: Any) -> str:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    text = f"{stars}{parameter.name}"
    if annotation is not inspect.Parameter.empty:
        text += f": {_text_of(annotation)}"
    if parameter.default is not inspect.Parameter.empty:
        text += f" = {_default(parameter)}"
    return text


def _default(parameter: inspect.Parameter) -> str:
    if type(parameter.default) is object:  # a mark for "not given"
        return "..."
    if isinstance(parameter.default, type) or inspect.isroutine(parameter.default):
        return str(parameter.default.__name__)
    text = repr(parameter.default)
    return "..." if " at 0x" in text else text


def _generic(function: Any) -> str:
    names = [f"**{one}" if isinstance(one, ParamSpec) else str(one) for one in function.__type_params__]
    return f"[{', '.join(names)}]" if names else ""


def _text_of(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _class_tree(cls: type) -> ast.ClassDef:
    for node in ast.walk(module_tree(cls.__module__)):
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
            return node
    raise LookupError(cls.__qualname__)


def _set_in(function: ast.FunctionDef) -> Iterator[Field]:
    for node, after in zip(function.body, [*function.body[1:], None], strict=True):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            target = ast.unparse(_targets(node)[0])
            if target.startswith("self."):
                kind = ast.unparse(node.annotation) if isinstance(node, ast.AnnAssign) else ""
                yield Field(target.removeprefix("self."), kind, _words(after))


def _arguments(function: ast.FunctionDef) -> dict[str, str]:
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return {argument.arg: ast.unparse(argument.annotation) for argument in given if argument.annotation}


def _targets(node: Assigned) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.name if isinstance(node, ast.TypeAlias) else node.target]


def _words(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return re.sub(r"\s+", " ", node.value.value).strip()
    return ""


def _raised(docstring: Docstring) -> list[str]:
    section = docstring.section("Raises")
    return [f"Raises {section.words}"] if section else []
