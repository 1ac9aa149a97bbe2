"""programs.yaml and failures.yaml of the content directories, merged in their order.

Strict like the taxonomy: the first thing wrong raises ContentError with its line.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields as fields_of
from itertools import chain
from pathlib import Path
from typing import TypeVar

from app.content.read.forms import WrongValueError, text_of, word_of
from app.content.read.yaml_reader import Fields, Items, Node, YamlError, read_fields
from app.errors import ContentError
from app.log_knowledge import Failures, Family, LogKnowledge, Prefix, Program, Programs, Role
from app.signature.grammar import SignatureSyntaxError
from app.signature.line import compile_signature_line

PROGRAMS, FAILURES = "programs.yaml", "failures.yaml"

Value = TypeVar("Value")
Given = Sequence[tuple[Path, str]]
"""Files of one name, path and text, in the order of their content directories."""


def read_log_knowledge(programs: Given, failures: Given) -> LogKnowledge:
    """What the files say of logs; a later one adds and replaces by id or name. Raises ContentError."""
    return LogKnowledge(
        programs=_merge_programs([_read(path, text, _programs) for path, text in programs]),
        failures=_merge_failures([_read(path, text, _failures) for path, text in failures]),
    )


def _read(path: Path, text: str, read: Callable[[Fields], Value]) -> Value:
    try:
        return read(read_fields(text))
    except (YamlError, WrongValueError) as error:
        raise ContentError(path, error.line, error.message) from error


def _only(fields: Fields, known: Iterable[str]) -> None:
    for key, line in fields.key_lines.items():
        if key not in known:
            raise YamlError(line, f"`{key}` is not one of {', '.join(known)}")


def _words(fields: Fields, key: str) -> tuple[str, ...]:
    node = fields.values.get(key)
    if node is None:
        return ()
    if not isinstance(node, Items):
        raise WrongValueError(node, f"`{key}` must be a list")
    return tuple(word_of(child) for child in node.items)


def _lines(fields: Fields, key: str = "lines") -> tuple[str, ...]:
    """Texts with their white space: it may be part of what is looked for."""
    node = fields.values.get(key)
    if not isinstance(node, Items) or not node.items:
        raise WrongValueError(node or fields, f"`{key}` must be a list of texts")
    return tuple(text_of(child) for child in node.items)


def _switch(fields: Fields, key: str, *, default: bool) -> bool:
    node = fields.values.get(key)
    word = word_of(node) if node else str(default).lower()
    if word not in {"true", "false"}:
        raise WrongValueError(node or fields, f"`{key}` must be true or false")
    return word == "true"


def _items(fields: Fields, key: str) -> tuple[Fields, ...]:
    node = fields.values.get(key, Items((), fields.line))
    if not isinstance(node, Items) or not all(isinstance(child, Fields) for child in node.items):
        raise WrongValueError(node, f"`{key}` must be a list of `{{...}}`")
    return tuple(child for child in node.items if isinstance(child, Fields))


def _programs(fields: Fields) -> Programs:
    _only(fields, ("installed", "standard", "programs"))
    programs = fields.values.get("programs", Fields({}, {}, fields.line))
    if not isinstance(programs, Fields):
        raise WrongValueError(programs, "`programs` must have an id on each line")
    by_id = {name: _program(name, node) for name, node in programs.values.items()}
    return Programs(by_id, _words(fields, "installed"), _words(fields, "standard"))


def _program(name: str, node: Node) -> Program:
    if not isinstance(node, Fields) or "role" not in node.values:
        raise WrongValueError(node, f"{name}: must be {{role: {' or '.join(Role)}, ...}}")
    _only(node, ("role", "names", "folders", "word"))
    role = word_of(node.values["role"])
    if role not in list(Role):
        raise WrongValueError(node.values["role"], f"`role` must be one of {', '.join(Role)}; it is {role!r}")
    names = _words(node, "names") or (name,)
    folders = _words(node, "folders") or names
    return Program(
        id=name,
        role=Role(role),
        names=tuple(dict.fromkeys(each.casefold() for each in names)),
        folders=tuple(dict.fromkeys(each.casefold() for each in folders)),
        word=_switch(node, "word", default=True),
    )


def _merge_programs(several: Iterable[Programs]) -> Programs:
    merged = Programs()
    for one in several:
        merged = Programs(
            {**merged.by_id, **one.by_id},
            tuple(dict.fromkeys(merged.installed + one.installed)),
            tuple(dict.fromkeys(merged.standard + one.standard)),
        )
    return merged


def _failures(fields: Fields) -> Failures:
    _only(fields, tuple(each.name for each in fields_of(Failures)))
    return Failures(
        levels=_words(fields, "levels"),
        prefixes=tuple(_prefix(node) for node in _items(fields, "prefixes")),
        repeats=_lines(fields, "repeats") if "repeats" in fields.values else (),
        message_fields=_words(fields, "message_fields"),
        wrappers=_words(fields, "wrappers"),
        remote=_lines(fields, "remote") if "remote" in fields.values else (),
        exception_endings=_words(fields, "exception_endings"),
        families=tuple(_family(node) for node in _items(fields, "families")),
        troubled=_spoken(fields, "troubled"),
        untroubled=_spoken(fields, "untroubled"),
    )


def _spoken(fields: Fields, name: str) -> tuple[str, ...]:
    by_language = fields.values.get(name, Fields({}, {}, fields.line))
    if not isinstance(by_language, Fields):
        raise WrongValueError(by_language, f"`{name}` must have a list for each language")
    return tuple(chain.from_iterable(_words(by_language, lang) for lang in by_language.values))


def _name(node: Fields) -> str:
    if "name" not in node.values:
        raise WrongValueError(node, "needs a `name`")
    return text_of(node.values["name"])


def _prefix(node: Fields) -> Prefix:
    _only(node, ("name", "source", "lines", "examples"))
    return Prefix(_name(node), _lines(node), _switch(node, "source", default=False), _lines(node, "examples"))


def _family(node: Fields) -> Family:
    _only(node, ("name", "meaning", "start", "lines", "examples"))
    for child in getattr(node.values.get("lines"), "items", ()):
        try:
            compile_signature_line(text_of(child))
        except SignatureSyntaxError as error:
            raise WrongValueError(child, f"{error.message}; it is {text_of(child)!r}") from error
    meaning = text_of(node.values["meaning"]) if "meaning" in node.values else ""
    return Family(
        _name(node), _lines(node), meaning, _switch(node, "start", default=False), _lines(node, "examples")
    )


def _merge_failures(several: Iterable[Failures]) -> Failures:
    merged = Failures()
    for one in several:
        merged = Failures(
            levels=tuple(dict.fromkeys(merged.levels + one.levels)),
            prefixes=tuple({each.name: each for each in merged.prefixes + one.prefixes}.values()),
            repeats=tuple(dict.fromkeys(merged.repeats + one.repeats)),
            message_fields=tuple(dict.fromkeys(merged.message_fields + one.message_fields)),
            wrappers=tuple(dict.fromkeys(merged.wrappers + one.wrappers)),
            remote=tuple(dict.fromkeys(merged.remote + one.remote)),
            exception_endings=tuple(dict.fromkeys(merged.exception_endings + one.exception_endings)),
            families=tuple({each.name: each for each in merged.families + one.families}.values()),
            troubled=tuple(dict.fromkeys(merged.troubled + one.troubled)),
            untroubled=tuple(dict.fromkeys(merged.untroubled + one.untroubled)),
        )
    return merged
