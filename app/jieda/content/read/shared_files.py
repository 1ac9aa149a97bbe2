"""The files that all entries share: taxonomy with the site's texts, glossary, dictionary, programs.yaml, failures.yaml.

They are strict: the first thing wrong raises ContentError with its line. Several content directories add to one
another, a later one replacing what has the same id or name.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields as fields_of
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from jieda.content.read.forms import ADDRESS, TAG_ID, WrongValueError, text_of, word_of
from jieda.content.read.yaml_reader import Fields, Items, Node, YamlError, read_fields, read_items
from jieda.entry import Kind, Language
from jieda.errors import ContentError
from jieda.log_knowledge import Failures, Family, LogKnowledge, Prefix, Program, Programs, Role
from jieda.signature.grammar import (
    FOLDERS,
    PREFIXES,
    REMOTE,
    REPEATS,
    Grammar,
    SignatureSyntaxError,
    folder_line,
    parts_of,
)
from jieda.signature.line import compile_signature_line
from jieda.site_texts import SiteTexts
from jieda.taxonomy import GlossaryGroup, Tag, Taxonomy

_LISTS = ("frameworks", "kinds", "topics", "error_types")
_ADDRESSES = ("homepage", "repository")

TagLists = Mapping[str, Mapping[str, Tag]]
"""By the name of the list in the file, then by id."""

SITE = "site"
_KEYS = tuple(each.name for each in fields_of(SiteTexts))
_FILLED = {"lead": {"count", "frameworks"}}
"""What `{…}` in a text stands for."""
_PLACEHOLDER = re.compile(r"\{(\w*)\}|[{}]")

Block = dict[str, dict[Language, str] | dict[Language, tuple[str, ...]]]
"""Texts by key and language."""

PROGRAMS, FAILURES = "programs.yaml", "failures.yaml"

SharedTexts = Sequence[tuple[Path, str]]
"""Files of one name, path and text, in the order of their content directories."""

Value = TypeVar("Value")
Parsed = TypeVar("Parsed", Fields, Items)


def read_taxonomy(path: Path, text: str) -> TagLists:
    """The tags of one taxonomy.yaml. Raises ContentError."""
    return _read(path, text, read_fields, _tag_lists)


def merge_taxonomies(path: Path, taxonomies: Iterable[TagLists]) -> Taxonomy:
    """One taxonomy of several; `path` is blamed where a kind is missing. Raises ContentError."""
    merged: dict[str, dict[str, Tag]] = {name: {} for name in _LISTS}
    for lists in taxonomies:
        for name, tags in lists.items():
            merged[name] |= tags
    if missing := [kind for kind in Kind if kind not in merged["kinds"]]:
        raise ContentError(path, 1, f"`kinds` lacks {', '.join(missing)}")
    return Taxonomy(
        framework=merged["frameworks"],
        kind=merged["kinds"],
        topic=merged["topics"],
        error_type=merged["error_types"],
    )


def _tag_lists(fields: Fields) -> TagLists:
    _only(fields, (SITE, *_LISTS))
    return {name: _tags(name, node) for name, node in fields.values.items() if name != SITE}


def _tags(name: str, node: Node) -> dict[str, Tag]:
    if not isinstance(node, Fields):
        raise WrongValueError(node, f"`{name}` must have an id on each line")
    for tag_id, line in node.key_lines.items():
        if not TAG_ID.fullmatch(tag_id):
            raise YamlError(line, f"id {tag_id!r} must be letters, digits, `.`, `_` and `-`")
        if name == "kinds" and tag_id not in list(Kind):
            raise YamlError(line, f"kind {tag_id!r} is not one of {', '.join(Kind)}")
    return {tag_id: _tag(tag_id, name, child) for tag_id, child in node.values.items()}


def _tag(tag_id: str, list_name: str, node: Node) -> Tag:
    addresses = _ADDRESSES if list_name == "frameworks" else ()
    if not isinstance(node, Fields):
        raise WrongValueError(node, f"{tag_id}: must have `name` and `description`")
    _only(node, ("name", "description", *addresses))
    given = {key: text_of(node.values[key]) for key in addresses if key in node.values}
    for key, address in given.items():
        if not ADDRESS.fullmatch(address):
            raise WrongValueError(node.values[key], f"`{key}` must be an http(s) address")
    return Tag(tag_id, _texts(node, "name"), _texts(node, "description"), **given)


def read_glossary(path: Path, text: str) -> tuple[GlossaryGroup, ...]:
    """The groups of one glossary.yaml. Raises ContentError."""
    return _read(path, text, read_items, lambda groups: tuple(map(_group, groups.items)))


def _group(node: Node) -> GlossaryGroup:
    if not isinstance(node, Fields):
        raise WrongValueError(node, "a group must be {en: [...], zh: [...]}")
    _only(node, tuple(Language))
    words = {lang: _group_words(node.values[lang]) if lang in node.values else () for lang in Language}
    if not any(words.values()):
        raise WrongValueError(node, "the group is empty")
    return GlossaryGroup(en=words[Language.EN], zh=words[Language.ZH])


def _group_words(node: Node) -> tuple[str, ...]:
    if not isinstance(node, Items):
        raise WrongValueError(node, "must be a list of words")
    words = tuple(word_of(child) for child in node.items)
    for child, word in zip(node.items, words, strict=True):
        if not word:
            raise WrongValueError(child, "must not be empty")
    return words


def read_dictionary(path: Path, text: str) -> tuple[str, ...]:
    """The lines of one dictionary.txt: `word` or `word frequency`. Raises ContentError."""
    lines: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        entry = line.partition("#")[0].split()
        if len(entry) > 2 or (len(entry) == 2 and not re.fullmatch(r"[1-9]\d{0,8}", entry[1])):
            raise ContentError(path, number, "must be a word, or a word and a frequency")
        if entry:
            lines.append(" ".join(entry))
    return tuple(lines)


def read_site(files: Iterable[tuple[Path, str]]) -> SiteTexts:
    """What the files, path and text, say of the site; a later one replaces single texts. Raises ContentError."""
    merged: Block = {}
    for path, text in files:
        merged |= _read(path, text, read_fields, _block)
    return SiteTexts(**merged)  # type: ignore[arg-type] # each key has the form that `_block` reads


def _block(fields: Fields) -> Block:
    block = fields.values.get(SITE, Fields({}, {}, fields.line))
    if not isinstance(block, Fields):
        raise WrongValueError(block, f"`{SITE}` must have {', '.join(_KEYS)}")
    _only(block, _KEYS)
    return {key: _examples(block) if key == "examples" else _site_texts(block, key) for key in block.values}


def _site_texts(block: Fields, key: str) -> dict[Language, str]:
    texts = _texts(block, key)
    for lang, text in texts.items():
        for found in _PLACEHOLDER.finditer(text) if key in _FILLED else ():
            if found[1] not in _FILLED[key]:
                known = ", ".join(f"{{{each}}}" for each in sorted(_FILLED[key]))
                raise WrongValueError(block.values[key], f"`{key}`, {lang}: {found[0]} is none of {known}")
    return texts


def _examples(block: Fields) -> dict[Language, tuple[str, ...]]:
    found: dict[Language, tuple[str, ...]] = {}
    for lang, value in _in_both(block, "examples").items():
        if not isinstance(value, Items):
            raise WrongValueError(value, "`examples` must have a list of questions for each language")
        found[lang] = tuple(text_of(child).strip() for child in value.items)
    return found


def read_log_knowledge(programs: SharedTexts, failures: SharedTexts) -> LogKnowledge:
    """What the files say of logs; a later one adds and replaces by id or name. Raises ContentError."""
    return LogKnowledge(
        programs=_merged(Programs, [_read(path, text, read_fields, _programs) for path, text in programs]),
        failures=_merged(Failures, [_read(path, text, read_fields, _failures) for path, text in failures]),
    )


def _words(fields: Fields, key: str, parse: Callable[[str], object] = str) -> tuple[str, ...]:
    node = fields.values.get(key)
    if node is None:
        return ()
    if not isinstance(node, Items):
        raise WrongValueError(node, f"`{key}` must be a list")
    return tuple(_parsed(child, word_of(child), parse) for child in node.items)


def _folders(fields: Fields, key: str) -> tuple[str, ...]:
    return _words(fields, key, lambda folder: parts_of(folder_line(folder), FOLDERS))


def _lines(fields: Fields, key: str, parse: Callable[[str], object] = str) -> tuple[str, ...]:
    """Texts with their white space: it may be part of what is looked for. `parse` raises SignatureSyntaxError."""
    node = fields.values.get(key)
    if not isinstance(node, Items) or not node.items:
        raise WrongValueError(node or fields, f"`{key}` must be a list of texts")
    return tuple(_parsed(child, text_of(child), parse) for child in node.items)


def _parsed(node: Node, text: str, parse: Callable[[str], object]) -> str:
    try:
        parse(text)
    except SignatureSyntaxError as error:
        raise WrongValueError(node, f"{error.message}; it is {text!r}") from error
    return text


def _in(grammar: Grammar) -> Callable[[str], object]:
    return lambda text: parts_of(text, grammar)


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
    return Programs(by_id, _folders(fields, "installed"), _folders(fields, "standard"))


def _program(name: str, node: Node) -> Program:
    if not isinstance(node, Fields) or "role" not in node.values:
        raise WrongValueError(node, f"{name}: must be {{role: {' or '.join(Role)}, ...}}")
    _only(node, ("role", "names", "folders", "word"))
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
        word=_switch(node, "word", default=True),
    )


def _merged(kind: Callable[..., Value], several: Sequence[Value]) -> Value:
    """All of `several`, field by field: the last of what has an id or a name, and each word once."""
    if not several:
        return kind()
    names = [each.name for each in fields_of(several[0])]  # type: ignore[arg-type]  # both kinds are dataclasses
    return kind(**{name: _joined([getattr(one, name) for one in several]) for name in names})


def _joined(several: Sequence[Any]) -> Any:
    if several and isinstance(several[0], Mapping):
        return {key: value for each in several for key, value in each.items()}
    return tuple({getattr(each, "name", each): each for each in chain.from_iterable(several)}.values())


def _failures(fields: Fields) -> Failures:
    _only(fields, tuple(each.name for each in fields_of(Failures)))
    return Failures(
        levels=_words(fields, "levels"),
        prefixes=tuple(_prefix(node) for node in _items(fields, "prefixes")),
        repeats=_lines(fields, "repeats", _in(REPEATS)) if "repeats" in fields.values else (),
        message_fields=_words(fields, "message_fields"),
        wrappers=_words(fields, "wrappers"),
        remote=_lines(fields, "remote", _in(REMOTE)) if "remote" in fields.values else (),
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
    lines = _lines(node, "lines", _in(PREFIXES))
    return Prefix(_name(node), lines, _switch(node, "source", default=False), _lines(node, "examples"))


def _family(node: Fields) -> Family:
    _only(node, ("name", "meaning", "start", "lines", "examples"))
    lines = _lines(node, "lines", compile_signature_line)
    meaning = text_of(node.values["meaning"]) if "meaning" in node.values else ""
    return Family(
        _name(node), lines, meaning, _switch(node, "start", default=False), _lines(node, "examples")
    )


def _only(fields: Fields, known: Iterable[str]) -> None:
    for key, line in fields.key_lines.items():
        if key not in known:
            raise YamlError(line, f"`{key}` is not one of {', '.join(known)}")


def _read(path: Path, text: str, parse: Callable[[str], Parsed], read: Callable[[Parsed], Value]) -> Value:
    """The content of a file, as `read` makes it. Raises ContentError."""
    try:
        return read(parse(text))
    except (YamlError, WrongValueError) as error:
        raise ContentError(path, error.line, error.message) from error


def _in_both(fields: Fields, key: str) -> dict[Language, Node]:
    node = fields.values.get(key)
    if not isinstance(node, Fields) or set(node.values) != set(Language):
        raise WrongValueError(node or fields, f"`{key}` must have `en` and `zh`, and nothing else")
    return {lang: node.values[lang] for lang in Language}


def _texts(fields: Fields, key: str) -> dict[Language, str]:
    return {lang: text_of(node).strip() for lang, node in _in_both(fields, key).items()}
