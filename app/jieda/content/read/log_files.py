"""Readers of programs.yaml and failures.yaml, the content's knowledge about logs, which extends the built-in files.

As strict as the other shared files: the first error raises ContentError with its line. A later file adds items,
replaces those of the same id or name, and removes those that it names under `without`.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from jieda.content.read.forms import (
    Form,
    Report,
    all_of,
    mapping_of,
    one_of,
    record,
    switch,
    text,
    word,
)
from jieda.content.read.shared_files import BUILT_IN, read_shared_file
from jieda.content.read.yaml_reader import Node, YamlError, read_fields
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

SharedTexts = tuple[tuple[Path, str], ...]
"""Path and text of the files of one name, in the order of their content directories."""


@lru_cache(maxsize=4)  # each build asks for it, and an edit of an entry changes none of it
def read_log_knowledge(programs: SharedTexts, failures: SharedTexts) -> LogKnowledge:
    """Return the built-in knowledge, as changed by the files. Raises ContentError."""
    known = _merge_files(PROGRAMS, _PROGRAMS, programs)
    by_id = {name: _program(name, **values) for name, values in known["programs"].items()}
    formats = Failures(**_merge_files(FAILURES, _FAILURES, failures))
    return LogKnowledge(Programs(by_id, known["installed"], known["standard"]), formats)


def _program(
    name: str, role: Role, names: Sequence[str] = (), folders: Sequence[str] = (), **others: Any
) -> Program:
    names = names or (name,)
    return Program(name, role, _casefolded(names), _casefolded(folders or names), **others)


def _casefolded(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str.casefold, names)))


def _merge_files(name: str, forms: Mapping[str, Form], files: SharedTexts) -> dict[str, Any]:
    """Return the values of the built-in file of a name and of `files` on top of it, by key."""
    merged: dict[str, Any] = {}
    built_in = BUILT_IN / name
    for path, content in ((built_in, built_in.read_text(encoding="utf-8")), *files):
        left_out = {key: all_of(_name_among(_by_name(merged.get(key, ())))) for key in forms}
        above = read_shared_file(path, content, read_fields, record({**forms, WITHOUT: record(left_out)}))
        without = above.pop(WITHOUT, {})
        for key in above.keys() | without.keys():
            merged[key] = _merge(merged.get(key, ()), above.get(key, ()), without.get(key, ()))
    return merged


def _name_among(known: Container[str]) -> Form:
    def read(node: Node, report: Report) -> str:
        name: str = word(node, report)
        if name not in known:
            raise YamlError(node.line, f"`{WITHOUT}`: there is no {name!r} below this file")
        return name

    return read


def _by_name(values: Any) -> dict[str, Any]:
    return values if isinstance(values, dict) else {getattr(each, "name", each): each for each in values}


def _merge(below: Any, above: Any, without: Container[str]) -> Any:
    """Merge both, `below` without some names; of equal names, the one in `above` is kept. It comes first in lists."""
    kept = {name: each for name, each in _by_name(below).items() if name not in without}
    if isinstance(above or below, dict):
        return kept | _by_name(above)
    first = _by_name(above)
    return (*first.values(), *(each for name, each in kept.items() if name not in first))


def _parsed(form: Form, parse: Callable[[str], object]) -> Form:
    """Return the form of a text that `parse` accepts; it raises SignatureSyntaxError."""

    def read(node: Node, report: Report) -> str:
        line: str = form(node, report)
        try:
            parse(line)
        except SignatureSyntaxError as error:
            raise YamlError(node.line, f"{error}; it is {line!r}") from error
        return line

    return read


def _lines(grammar: Grammar) -> Form:
    # White space at the ends may be significant.
    return all_of(_parsed(text, lambda line: parts_of(line, grammar)), fewest=1)


def _words_by_language(node: Node, report: Report) -> tuple[str, ...]:
    """Return the words of a list for each language."""
    return tuple(chain.from_iterable(mapping_of(word, _words)(node, report).values()))


_words = all_of(word)
_folders = all_of(_parsed(word, lambda folder: parts_of(folder_line(folder), FOLDERS)))
_program_keys = {
    "role": one_of(Role),
    "names": _words,
    "folders": _folders,
    "classes": _words,
    "word": switch,
}
_PROGRAMS: Mapping[str, Form] = {
    "installed": _folders,
    "standard": _folders,
    "programs": mapping_of(word, record(_program_keys, "role")),
}
_examples = all_of(text, fewest=1)
_prefix = {"name": text, "source": switch, "lines": _lines(PREFIXES), "examples": _examples}
_family = {
    "name": text,
    "meaning": text,
    "start": switch,
    "lines": all_of(_parsed(text, compile_signature_line), fewest=1),
    "examples": _examples,
}
_FAILURES: Mapping[str, Form] = {
    "levels": _words,
    "prefixes": all_of(record(_prefix, "name", "lines", "examples", make=Prefix)),
    "repeats": _lines(REPEATS),
    "message_fields": _words,
    "level_fields": _words,
    "error_fields": _words,
    "wrappers": _words,
    "remote": _lines(REMOTE),
    "exception_endings": _words,
    "families": all_of(record(_family, "name", "lines", "examples", make=Family)),
    "troubled": _words_by_language,
    "untroubled": _words_by_language,
    "word_endings": _words,
}
