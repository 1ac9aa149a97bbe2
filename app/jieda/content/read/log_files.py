"""Readers of programs.yaml and failures.yaml, the content's knowledge about logs, which extends the built-in files.

As strict as the other shared files: the first error raises ContentError with its line. A later file adds items,
replaces those of the same id or name, and removes those that it names under `without`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields as fields_of
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from jieda.content.read.forms import WrongValueError, text_of, word_of
from jieda.content.read.shared_files import (
    BUILT_IN,
    fields_below,
    read_shared_file,
    read_switch,
    refuse_other_keys,
)
from jieda.content.read.yaml_reader import Fields, Items, Node, read_fields
from jieda.log_knowledge import Failures, Family, LogKnowledge, Prefix, Program, Programs, Role
from jieda.signature import (
    FOLDERS,
    PREFIXES,
    REMOTE,
    REPEATS,
    Grammar,
    SignatureSyntaxError,
    compile_signature_line,
    folder_line,
    parts_of,
)

PROGRAMS, FAILURES = "programs.yaml", "failures.yaml"
WITHOUT = "without"

SharedTexts = Sequence[tuple[Path, str]]
"""Path and text of the files of one name, in the order of their content directories."""

Value = TypeVar("Value", Programs, Failures)


def read_log_knowledge(programs: SharedTexts, failures: SharedTexts) -> LogKnowledge:
    """Return the built-in knowledge, as changed by the files. Raises ContentError."""
    return LogKnowledge(
        programs=_merge_files(PROGRAMS, Programs(), programs, _programs),
        failures=_merge_files(FAILURES, Failures(), failures, _failures),
    )


def _merge_files(name: str, below: Value, files: SharedTexts, read: Callable[[Fields], Value]) -> Value:
    built_in = BUILT_IN / name
    for path, text in ((built_in, built_in.read_text(encoding="utf-8")), *files):
        below = read_shared_file(path, text, read_fields, partial(_apply_file, below, read))
    return below


def _apply_file(below: Value, read: Callable[[Fields], Value], fields: Fields) -> Value:
    """Apply a file on top of `below`: remove what it names under `without`, then add and replace."""
    fault = f"`{WITHOUT}` must have lists of what to leave out, such as `families: [...]`"
    without = fields_below(fields, WITHOUT, fault)
    above = read(fields)
    lists = {_KEY.get(each.name, each.name): each.name for each in fields_of(below)}
    refuse_other_keys(without, lists)
    joined = {
        field: _merge(_without(getattr(below, field), key, without), getattr(above, field))
        for key, field in lists.items()
    }
    return type(below)(**joined)


_KEY = {"by_id": "programs"}
"""Names of fields in the file that differ from those in the code."""


def _without(values: Any, key: str, without: Fields) -> Any:
    names = _words(without, key)
    there = set(values) if isinstance(values, Mapping) else {getattr(each, "name", each) for each in values}
    if unknown := [name for name in names if name not in there]:
        raise WrongValueError(
            without.values[key], f"`{WITHOUT}`: no {unknown[0]!r} in the `{key}` below this file"
        )
    if isinstance(values, Mapping):
        return {name: value for name, value in values.items() if name not in names}
    return tuple(each for each in values if getattr(each, "name", each) not in names)


def _merge(below: Any, above: Any) -> Any:
    """Merge both; of equal ids or names, the one in `above` is kept. Items of `above` come first in lists."""
    if isinstance(below, Mapping):
        return {**below, **above}
    return tuple({getattr(each, "name", each): each for each in (*above, *below)}.values())


def _words(fields: Fields, key: str, parse: Callable[[str], object] = str) -> tuple[str, ...]:
    node = fields.values.get(key)
    if node is None:
        return ()
    if not isinstance(node, Items):
        raise WrongValueError(node, f"`{key}` must be a list")
    if empty := [child for child in node.items if not word_of(child)]:
        raise WrongValueError(empty[0], f"`{key}` must be a list of words; one of them is empty")
    return tuple(_parsed(child, word_of(child), parse) for child in node.items)


def _folders(fields: Fields, key: str) -> tuple[str, ...]:
    return _words(fields, key, lambda folder: parts_of(folder_line(folder), FOLDERS))


def _lines(fields: Fields, key: str, parse: Callable[[str], object] = str) -> tuple[str, ...]:
    """Return texts with their white space, which may be significant. `parse` raises SignatureSyntaxError."""
    node = fields.values.get(key)
    if not isinstance(node, Items) or not node.items:
        raise WrongValueError(node or fields, f"`{key}` must be a list of texts")
    return tuple(_parsed(child, text_of(child), parse) for child in node.items)


def _parsed(node: Node, text: str, parse: Callable[[str], object]) -> str:
    try:
        parse(text)
    except SignatureSyntaxError as error:
        raise WrongValueError(node, f"{error}; it is {text!r}") from error
    return text


def _parser_of(grammar: Grammar) -> Callable[[str], object]:
    return lambda text: parts_of(text, grammar)


def _items(fields: Fields, key: str) -> tuple[Fields, ...]:
    node = fields.values.get(key, Items((), fields.line))
    if not isinstance(node, Items) or not all(isinstance(child, Fields) for child in node.items):
        raise WrongValueError(node, f"`{key}` must be a list of `{{...}}`")
    return tuple(child for child in node.items if isinstance(child, Fields))


def _programs(fields: Fields) -> Programs:
    refuse_other_keys(fields, ("installed", "standard", "programs", WITHOUT))
    programs = fields_below(fields, "programs", "`programs` must have an id on each line")
    by_id = {name: _program(name, node) for name, node in programs.values.items()}
    return Programs(by_id, _folders(fields, "installed"), _folders(fields, "standard"))


def _program(name: str, node: Node) -> Program:
    if not isinstance(node, Fields) or "role" not in node.values:
        raise WrongValueError(node, f"{name}: must be {{role: {' or '.join(Role)}, ...}}")
    refuse_other_keys(node, ("role", "names", "folders", "classes", "word"))
    role = word_of(node.values["role"])
    if role not in list(Role):
        raise WrongValueError(node.values["role"], f"`role` must be one of {', '.join(Role)}; it is {role!r}")
    names = _words(node, "names") or (name,)
    folders = _folders(node, "folders") or names
    return Program(
        id=name,
        role=Role(role),
        names=tuple(dict.fromkeys(each.casefold() for each in names)),
        folders=tuple(dict.fromkeys(each.casefold() for each in folders)),
        word=read_switch(node, "word", default=True),
        classes=_words(node, "classes"),
    )


def _failures(fields: Fields) -> Failures:
    refuse_other_keys(fields, (*(each.name for each in fields_of(Failures)), WITHOUT))
    return Failures(
        levels=_words(fields, "levels"),
        prefixes=tuple(_prefix(node) for node in _items(fields, "prefixes")),
        repeats=_lines(fields, "repeats", _parser_of(REPEATS)) if "repeats" in fields.values else (),
        message_fields=_words(fields, "message_fields"),
        level_fields=_words(fields, "level_fields"),
        wrappers=_words(fields, "wrappers"),
        remote=_lines(fields, "remote", _parser_of(REMOTE)) if "remote" in fields.values else (),
        exception_endings=_words(fields, "exception_endings"),
        families=tuple(_family(node) for node in _items(fields, "families")),
        troubled=_words_by_language(fields, "troubled"),
        untroubled=_words_by_language(fields, "untroubled"),
        word_endings=_words(fields, "word_endings"),
    )


def _words_by_language(fields: Fields, name: str) -> tuple[str, ...]:
    by_language = fields_below(fields, name, f"`{name}` must have a list for each language")
    return tuple(chain.from_iterable(_words(by_language, lang) for lang in by_language.values))


def _name(node: Fields) -> str:
    if "name" not in node.values:
        raise WrongValueError(node, "needs a `name`")
    return text_of(node.values["name"])


def _prefix(node: Fields) -> Prefix:
    refuse_other_keys(node, ("name", "source", "lines", "examples"))
    lines = _lines(node, "lines", _parser_of(PREFIXES))
    return Prefix(_name(node), lines, read_switch(node, "source", default=False), _lines(node, "examples"))


def _family(node: Fields) -> Family:
    refuse_other_keys(node, ("name", "meaning", "start", "lines", "examples"))
    lines = _lines(node, "lines", compile_signature_line)
    meaning = text_of(node.values["meaning"]) if "meaning" in node.values else ""
    return Family(
        _name(node), lines, meaning, read_switch(node, "start", default=False), _lines(node, "examples")
    )
