"""Readers of the files that all entries share: taxonomy with the site's texts, glossary and dictionary.

They are strict: the first error raises ContentError with its line. The files of several content directories are
merged; a later one replaces what has the same id or name.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from jieda.colors import COLOR, DARK_GROUNDS, LIGHT_GROUNDS, READABLE, lowest_contrast
from jieda.content.read.forms import (
    ADDRESS,
    TAG_ID,
    Form,
    Report,
    all_of,
    in_both_languages,
    mapping_of,
    matching,
    one_of,
    record,
    refuse,
    stripped,
    switch,
    word,
)
from jieda.content.read.yaml_reader import Fields, Items, Node, YamlError, read_fields, read_items
from jieda.entry import Kind, Language
from jieda.errors import ContentError
from jieda.site_texts import FooterLink, SiteTexts, Stage
from jieda.taxonomy import GlossaryGroup, Tag, Taxonomy

TagLists = Mapping[str, Mapping[str, Tag]]
"""Tags by the name of their list in the file, then by id."""

SITE = "site"

BUILT_IN = Path(__file__).parents[2] / "knowledge"
"""Built-in data that every content directory extends: the kinds, and knowledge about logs of any field."""

Parsed = TypeVar("Parsed", Fields, Items)

_texts = in_both_languages(stripped)
_words = all_of(word)
_id = matching(TAG_ID, "an id of letters, digits, `.`, `_` and `-`")
_address = matching(ADDRESS, "an http(s) address")
_tag = {"name": _texts, "description": _texts}
_framework = _tag | {"homepage": _address, "repository": _address, "packages": _words}
_tags = record(_tag, *_tag)
_LISTS = {
    "frameworks": mapping_of(_id, record(_framework, *_tag)),
    "kinds": mapping_of(one_of([kind.value for kind in Kind]), _tags),
    "topics": mapping_of(_id, _tags),
    "error_types": mapping_of(_id, _tags),
}
"""Forms of the lists of tags, in the order of the fields of Taxonomy."""


def _ignored(_node: Node, _report: Report) -> None:
    """Accept anything: the value is read elsewhere."""


def read_taxonomy(path: Path, text: str) -> TagLists:
    """Read the tags of one taxonomy.yaml. Raises ContentError."""
    lists = read_shared_file(path, text, read_fields, record({SITE: _ignored, **_LISTS}))
    return {
        name: {tag_id: Tag(tag_id, **values) for tag_id, values in tags.items()}
        for name, tags in lists.items()
        if name != SITE
    }


def merge_taxonomies(taxonomies: Iterable[TagLists]) -> Taxonomy:
    """Merge several taxonomies on top of the built-in kinds."""
    merged: dict[str, dict[str, Tag]] = {name: {} for name in _LISTS}
    built_in = BUILT_IN / "taxonomy.yaml"
    for lists in (read_taxonomy(built_in, built_in.read_text(encoding="utf-8")), *taxonomies):
        for name, tags in lists.items():
            merged[name] |= tags
    return Taxonomy(*merged.values())


def read_glossary(path: Path, text: str) -> tuple[GlossaryGroup, ...]:
    """Read the groups of one glossary.yaml. Raises ContentError."""
    groups: tuple[GlossaryGroup, ...] = read_shared_file(path, text, read_items, all_of(_group))
    return groups


def _group(node: Node, report: Report) -> GlossaryGroup:
    words = record(dict.fromkeys(map(str, Language), _words))(node, report)
    if not any(words.values()):
        raise YamlError(node.line, "the group is empty")
    return GlossaryGroup(**words)


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
    forms = {SITE: record(_SITE), **dict.fromkeys(_LISTS, _ignored)}
    merged: dict[str, Any] = {}
    for path, text in files:
        merged |= read_shared_file(path, text, read_fields, record(forms)).get(SITE, {})
    return SiteTexts(**merged)


_PLACEHOLDER = re.compile(r"\{(\w*)\}|[{}]")


def _lead(node: Node, report: Report) -> str:
    """Return a text with no other placeholders than `{count}` and `{frameworks}`."""
    text: str = stripped(node, report)
    for found in _PLACEHOLDER.finditer(text):
        if found[1] not in {"count", "frameworks"}:
            raise YamlError(node.line, f"{found[0]} is not one of {{count}}, {{frameworks}}")
    return text


_image = matching(
    re.compile(r"[\w-][\w.-]{0,80}\.(?:svg|png|webp|jpe?g|gif)"), "the name of an image in the folder `site`"
)
_color = matching(COLOR, "a colour such as '#0b6b52', in quotes")
_link = {"name": _texts, "url": _address}
_stage = {"name": _texts, "topics": all_of(word, fewest=1)}
_SITE: Mapping[str, Form] = {
    "name": _texts,
    "tagline": _texts,
    "lead": in_both_languages(_lead),
    "summary": _texts,
    "paste": _texts,
    "examples": in_both_languages(all_of(stripped)),
    "short": _texts,
    "logo": _image,
    "icon": _image,
    "accent": _color,
    "accent_dark": _color,
    "links": all_of(record(_link, *_link, make=FooterLink)),
    "stages": all_of(record(_stage, *_stage, make=Stage)),
    "credit": switch,
}
"""Forms of the fields of SiteTexts."""


def unknown_topics(stages: Iterable[Stage], taxonomy: Taxonomy) -> Iterator[str]:
    """Yield a message for each topic of a stage that the taxonomy lacks."""
    for topic in dict.fromkeys(topic for stage in stages for topic in stage.topics):
        if topic not in taxonomy.topic:
            yield f"`stages`: {topic!r} is not a topic; there are {', '.join(taxonomy.topic)}"


def pale_colors(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yield line and message for each accent colour of a file with too little contrast to its theme's background."""
    block = read_shared_file(path, text, read_fields, lambda fields, _: fields.values.get(SITE))
    for key, grounds in (("accent", LIGHT_GROUNDS), ("accent_dark", DARK_GROUNDS)):
        if isinstance(block, Fields) and key in block.values:
            lowest = lowest_contrast(_color(block.values[key], refuse), grounds)
            if lowest < READABLE:
                yield block.key_lines[key], f"`{key}` has a contrast of {lowest:.1f}, less than {READABLE}"


def read_shared_file(
    path: Path, text: str, parse: Callable[[str], Parsed], form: Callable[[Parsed, Report], Any]
) -> Any:
    """Return the value of a file's text, which must have a form. Raises ContentError for the first error."""
    try:
        return form(parse(text), refuse)
    except YamlError as error:
        raise ContentError(path, error.line, error.message) from error
