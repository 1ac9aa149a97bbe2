"""Readers of the files that all entries share: taxonomy with the site's texts, glossary and dictionary.

They are strict: the first error raises ContentError with its line. The files of several content directories are
merged; a later one replaces what has the same id or name.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields as fields_of
from pathlib import Path
from typing import TypeVar

from jieda.colors import COLOR, DARK_GROUNDS, LIGHT_GROUNDS, READABLE, lowest_contrast
from jieda.content.read.forms import ADDRESS, TAG_ID, WrongValueError, text_of, word_of
from jieda.content.read.yaml_reader import Fields, Items, Node, YamlError, read_fields, read_items
from jieda.entry import Kind, Language
from jieda.errors import ContentError
from jieda.site_texts import FooterLink, SiteTexts, Stage
from jieda.taxonomy import GlossaryGroup, Tag, Taxonomy

_LISTS = ("frameworks", "kinds", "topics", "error_types")
_ADDRESSES = ("homepage", "repository")

TagLists = Mapping[str, Mapping[str, Tag]]
"""Tags by the name of their list in the file, then by id."""

SITE = "site"
_KEYS = tuple(each.name for each in fields_of(SiteTexts))
_FILLED = {"lead": {"count", "frameworks"}}
"""Placeholders `{…}` that are allowed in a text, by key."""
_PLACEHOLDER = re.compile(r"\{(\w*)\}|[{}]")

Block = dict[str, object]
"""Values of the block `site`, by key."""

BUILT_IN = Path(__file__).parents[2] / "knowledge"
"""Built-in data that every content directory extends: the kinds, and knowledge about logs of any field."""

Value = TypeVar("Value")
Parsed = TypeVar("Parsed", Fields, Items)


def read_taxonomy(path: Path, text: str) -> TagLists:
    """Read the tags of one taxonomy.yaml. Raises ContentError."""
    return read_shared_file(path, text, read_fields, _tag_lists)


def merge_taxonomies(taxonomies: Iterable[TagLists]) -> Taxonomy:
    """Merge several taxonomies on top of the built-in kinds."""
    merged: dict[str, dict[str, Tag]] = {name: {} for name in _LISTS}
    built_in = BUILT_IN / "taxonomy.yaml"
    for lists in (read_taxonomy(built_in, built_in.read_text(encoding="utf-8")), *taxonomies):
        for name, tags in lists.items():
            merged[name] |= tags
    return Taxonomy(
        framework=merged["frameworks"],
        kind=merged["kinds"],
        topic=merged["topics"],
        error_type=merged["error_types"],
    )


def _tag_lists(fields: Fields) -> TagLists:
    refuse_other_keys(fields, (SITE, *_LISTS))
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
    refuse_other_keys(node, ("name", "description", *addresses, *(("packages",) if addresses else ())))
    given = {key: text_of(node.values[key]) for key in addresses if key in node.values}
    for key, address in given.items():
        if not ADDRESS.fullmatch(address):
            raise WrongValueError(node.values[key], f"`{key}` must be an http(s) address")
    packages = _words(node.values["packages"]) if "packages" in node.values else ()
    return Tag(tag_id, _texts(node, "name"), _texts(node, "description"), **given, packages=packages)


def read_glossary(path: Path, text: str) -> tuple[GlossaryGroup, ...]:
    """Read the groups of one glossary.yaml. Raises ContentError."""
    return read_shared_file(path, text, read_items, lambda groups: tuple(map(_group, groups.items)))


def _group(node: Node) -> GlossaryGroup:
    if not isinstance(node, Fields):
        raise WrongValueError(node, "a group must be {en: [...], zh: [...]}")
    refuse_other_keys(node, tuple(Language))
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


def read_dictionary(path: Path, text: str) -> tuple[str, ...]:
    """Read the lines of one dictionary.txt: `word` or `word frequency`. Raises ContentError."""
    lines: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        entry = line.partition("#")[0].split()
        if len(entry) > 2 or (len(entry) == 2 and not re.fullmatch(r"[1-9]\d{0,8}", entry[1])):
            raise ContentError(path, number, "must be a word, or a word and a frequency")
        if entry:
            lines.append(" ".join(entry))
    return tuple(lines)


def read_site(files: Iterable[tuple[Path, str]]) -> SiteTexts:
    """Read the site's texts from files (path and text); a later one replaces single texts. Raises ContentError."""
    merged: Block = {}
    for path, text in files:
        merged |= read_shared_file(path, text, read_fields, _read_site)
    return SiteTexts(**merged)  # type: ignore[arg-type] # each key has the form that `_read_site` reads


def _read_site(fields: Fields) -> Block:
    block = fields_below(fields, SITE, f"`{SITE}` must have {', '.join(_KEYS)}")
    refuse_other_keys(block, _KEYS)
    return {key: _SITE.get(key, _site_texts)(block, key) for key in block.values}


def _site_texts(block: Fields, key: str) -> dict[Language, str]:
    texts = _texts(block, key)
    for lang, text in texts.items():
        for found in _PLACEHOLDER.finditer(text) if key in _FILLED else ():
            if found[1] not in _FILLED[key]:
                known = ", ".join(f"{{{each}}}" for each in sorted(_FILLED[key]))
                raise WrongValueError(block.values[key], f"`{key}`, {lang}: {found[0]} is not one of {known}")
    return texts


def _examples(block: Fields, key: str) -> dict[Language, tuple[str, ...]]:
    found: dict[Language, tuple[str, ...]] = {}
    for lang, value in _in_both_languages(block, key).items():
        if not isinstance(value, Items):
            raise WrongValueError(value, "`examples` must have a list of questions for each language")
        found[lang] = tuple(text_of(child).strip() for child in value.items)
    return found


def _matching(form: re.Pattern[str], what: str) -> Callable[[Fields, str], str]:
    def read(block: Fields, key: str) -> str:
        text = text_of(block.values[key]).strip()
        if not form.fullmatch(text):
            raise WrongValueError(block.values[key], f"`{key}` must be {what}; it is {text!r}")
        return text

    return read


def _rows(block: Fields, key: str, *keys: str) -> Iterator[Fields]:
    node = block.values[key]
    for child in node.items if isinstance(node, Items) else (node,):
        if not isinstance(child, Fields) or child is node:
            raise WrongValueError(node, f"`{key}` must be a list of `{{{', '.join(keys)}}}`")
        refuse_other_keys(child, keys)
        yield child


def _stages(block: Fields, key: str) -> tuple[Stage, ...]:
    found = []
    for child in _rows(block, key, "name", "topics"):
        topics = child.values.get("topics")
        if not isinstance(topics, Items) or not topics.items:
            raise WrongValueError(topics or child, "needs `topics`, a list of their ids")
        name = {str(lang): text for lang, text in _texts(child, "name").items()}
        found.append(Stage(name, tuple(word_of(each) for each in topics.items)))
    return tuple(found)


def _links(block: Fields, key: str) -> tuple[FooterLink, ...]:
    found = []
    for child in _rows(block, key, "name", "url"):
        url = _matching(ADDRESS, "an http(s) address")(child, "url") if "url" in child.values else ""
        if not url:
            raise WrongValueError(child, "needs a `url`")
        found.append(FooterLink({str(lang): text for lang, text in _texts(child, "name").items()}, url))
    return tuple(found)


_IMAGE = _matching(
    re.compile(r"[\w-][\w.-]{0,80}\.(?:svg|png|webp|jpe?g|gif)"), "the name of an image in the folder `site`"
)
_COLOR = _matching(COLOR, "a colour such as '#0b6b52', in quotes")
_SITE: Mapping[str, Callable[[Fields, str], object]] = {
    "examples": _examples,
    "logo": _IMAGE,
    "icon": _IMAGE,
    "accent": _COLOR,
    "accent_dark": _COLOR,
    "links": _links,
    "stages": _stages,
    "credit": lambda block, key: read_switch(block, key, default=True),
}
"""Readers of the keys whose value is not a text in both languages."""


def unknown_topics(stages: Iterable[Stage], taxonomy: Taxonomy) -> Iterator[str]:
    """Yield a message for each topic of a stage that the taxonomy lacks."""
    for topic in dict.fromkeys(topic for stage in stages for topic in stage.topics):
        if topic not in taxonomy.topic:
            yield f"`stages`: {topic!r} is not a topic; there are {', '.join(taxonomy.topic)}"


def pale_colors(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yield line and message for each accent colour of a file with too little contrast to its theme's background."""
    block = read_shared_file(path, text, read_fields, lambda fields: fields.values.get(SITE))
    for key, grounds in (("accent", LIGHT_GROUNDS), ("accent_dark", DARK_GROUNDS)):
        if isinstance(block, Fields) and key in block.values:
            lowest = lowest_contrast(_COLOR(block, key), grounds)
            if lowest < READABLE:
                yield block.key_lines[key], f"`{key}` has a contrast of {lowest:.1f}, less than {READABLE}"


def fields_below(fields: Fields, key: str, fault: str) -> Fields:
    """Return the mapping of a key, empty if it is missing. Raises WrongValueError with the message `fault`."""
    node = fields.values.get(key, Fields({}, {}, fields.line))
    if not isinstance(node, Fields):
        raise WrongValueError(node, fault)
    return node


def read_switch(fields: Fields, key: str, *, default: bool) -> bool:
    """Return the value of a boolean key. Raises WrongValueError for anything but true and false."""
    node = fields.values.get(key)
    word = word_of(node) if node else str(default).lower()
    if word not in {"true", "false"}:
        raise WrongValueError(node or fields, f"`{key}` must be true or false")
    return word == "true"


def refuse_other_keys(fields: Fields, known: Iterable[str]) -> None:
    """Raise YamlError for the first unknown key."""
    for key, line in fields.key_lines.items():
        if key not in known:
            raise YamlError(line, f"`{key}` is not one of {', '.join(known)}")


def read_shared_file(
    path: Path, text: str, parse: Callable[[str], Parsed], read: Callable[[Parsed], Value]
) -> Value:
    """Parse a file's text and convert it with `read`. Raises ContentError."""
    try:
        return read(parse(text))
    except (YamlError, WrongValueError) as error:
        raise ContentError(path, error.line, error.message) from error


def _in_both_languages(fields: Fields, key: str) -> dict[Language, Node]:
    node = fields.values.get(key)
    if not isinstance(node, Fields) or set(node.values) != set(Language):
        raise WrongValueError(node or fields, f"`{key}` must have `en` and `zh`, and nothing else")
    return {lang: node.values[lang] for lang in Language}


def _texts(fields: Fields, key: str) -> dict[Language, str]:
    return {lang: text_of(node).strip() for lang, node in _in_both_languages(fields, key).items()}
