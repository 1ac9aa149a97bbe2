"""Taxonomy, glossary and dictionary: small files without which nothing can be served rightly.

They are strict: the first thing wrong raises ContentError with its line. Several content directories
add to one another, a later one overriding tags of the same id.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from app.content.read.forms import ADDRESS, TAG_ID, WrongValueError, text_of, word_of
from app.content.read.site_block import SITE
from app.content.read.yaml_reader import Fields, Items, Node, YamlError, read_fields, read_items
from app.entry import Kind, Language
from app.errors import ContentError
from app.taxonomy import GlossaryGroup, Tag, Taxonomy

_LISTS = ("frameworks", "kinds", "topics", "error_types")
_ADDRESSES = ("homepage", "repository")

TagLists = Mapping[str, Mapping[str, Tag]]
"""By the name of the list in the file, then by id."""


def read_taxonomy(path: Path, text: str) -> TagLists:
    """The tags of one taxonomy.yaml. Raises ContentError."""
    try:
        fields = read_fields(text)
        _only(fields, (SITE, *_LISTS))
        return {name: _tags(name, node) for name, node in fields.values.items() if name != SITE}
    except (YamlError, WrongValueError) as error:
        raise ContentError(path, error.line, error.message) from error


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
    return Tag(tag_id, _in_both(node, "name"), _in_both(node, "description"), **given)


def _in_both(node: Fields, key: str) -> dict[Language, str]:
    pair = node.values.get(key)
    if not isinstance(pair, Fields) or set(pair.values) != set(Language):
        raise WrongValueError(pair or node, f"`{key}` must have `en` and `zh`, and nothing else")
    return {lang: text_of(pair.values[lang]).strip() for lang in Language}


def read_glossary(path: Path, text: str) -> tuple[GlossaryGroup, ...]:
    """The groups of one glossary.yaml. Raises ContentError."""
    try:
        return tuple(_group(node) for node in read_items(text).items)
    except (YamlError, WrongValueError) as error:
        raise ContentError(path, error.line, error.message) from error


def _group(node: Node) -> GlossaryGroup:
    if not isinstance(node, Fields):
        raise WrongValueError(node, "a group must be {en: [...], zh: [...]}")
    _only(node, tuple(Language))
    words = {lang: _words(node.values[lang]) if lang in node.values else () for lang in Language}
    if not any(words.values()):
        raise WrongValueError(node, "the group is empty")
    return GlossaryGroup(en=words[Language.EN], zh=words[Language.ZH])


def _words(node: Node) -> tuple[str, ...]:
    if not isinstance(node, Items):
        raise WrongValueError(node, "must be a list of words")
    words = tuple(word_of(child) for child in node.items)
    for child, word in zip(node.items, words, strict=True):
        if not word:
            raise WrongValueError(child, "must not be empty")
    return words


def _only(fields: Fields, known: Iterable[str]) -> None:
    for key, line in fields.key_lines.items():
        if key not in known:
            raise YamlError(line, f"`{key}` is not one of {', '.join(known)}")


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
