"""Reads the files that all entries share: the taxonomy with the site's texts, glossary and dictionary; and the
content's knowledge about logs, programs.yaml and failures.yaml, which extend the built-in files.

Reading is strict: the first error raises ContentError with its line. Files of several content directories are merged: a
later one replaces items of the same id or name, and removes knowledge that it names under `without`.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
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
    parsable,
    record,
    refuse,
    stripped,
    switch,
    text,
    word,
)
from jieda.content.read.yaml_reader import Fields, Items, Node, YamlError, read_fields, read_items
from jieda.entry import Kind, Language
from jieda.errors import ContentError
from jieda.log_knowledge import FailureReport, Failures, Family, LogKnowledge, Prefix, Program, Programs, Role
from jieda.signature import (
    FOLDERS,
    PREFIXES,
    REMOTE,
    REPEATS,
    Grammar,
    compile_signature_line,
    expression,
    folder_line,
    parts_of,
)
from jieda.site_texts import FooterLink, SiteTexts, Stage
from jieda.taxonomy import GlossaryGroup, Tag, Taxonomy

SITE = "site"

BUILT_IN = Path(__file__).parents[2] / "knowledge"
"""Built-in data that all content extends: the kinds, and knowledge about logs in any field."""

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
"""Forms of the lists of tags, in the order of Taxonomy's fields."""


def _ignored(_node: Node, _report: Report) -> None:
    """Accept anything: the value is read elsewhere."""


def read_taxonomy(files: Iterable[tuple[Path, str]]) -> Taxonomy:
    """Read the tags of files (path and text) on top of the built-in kinds. Raises ContentError."""
    merged: dict[str, dict[str, Tag]] = {name: {} for name in _LISTS}
    built_in = BUILT_IN / "taxonomy.yaml"
    for path, content in ((built_in, built_in.read_text(encoding="utf-8")), *files):
        lists = read_shared_file(path, content, read_fields, record({SITE: _ignored, **_LISTS}))
        for name in lists.keys() & merged:
            merged[name] |= {tag_id: Tag(tag_id, **values) for tag_id, values in lists[name].items()}
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


def read_site(files: Iterable[tuple[Path, str]], topics: Iterable[str]) -> SiteTexts:
    """Read the site's texts from files (path and text), whose stages have some of the `topics`. A later file replaces
    single texts. Raises ContentError."""
    stage = {"name": _texts, "topics": all_of(one_of(topics), minimum=1)}
    site = record({**_SITE, "stages": all_of(record(stage, *stage, make=Stage))})
    forms = {SITE: site, **dict.fromkeys(_LISTS, _ignored)}
    merged: dict[str, Any] = {}
    for path, content in files:
        merged |= read_shared_file(path, content, read_fields, record(forms)).get(SITE, {})
    return SiteTexts(**merged)


_PLACEHOLDER = re.compile(r"\{(\w*)\}|[{}]")


def _lead(node: Node, report: Report) -> str:
    """Return a text whose only placeholders are `{count}` and `{frameworks}`."""
    text: str = stripped(node, report)
    for match in _PLACEHOLDER.finditer(text):
        if match[1] not in {"count", "frameworks"}:
            raise YamlError(node.line, f"{match[0]} is not one of {{count}}, {{frameworks}}")
    return text


_image = matching(
    re.compile(r"[\w-][\w.-]{0,80}\.(?:svg|png|webp|jpe?g|gif)"), "the name of an image in the folder `site`"
)
_color = matching(COLOR, "a color such as '#0b6b52', in quotes")
_link = {"name": _texts, "url": _address}
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
    "credit": switch,
}
"""Forms of the fields of SiteTexts, but for its stages."""


def site_block(taxonomy: str) -> Fields:
    """Return the block `site` in the text of a valid taxonomy.yaml; empty if it has none."""
    block = read_fields(taxonomy).values.get(SITE)
    return block if isinstance(block, Fields) else Fields({}, {}, 1)


def low_contrast_colors(_path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yield line and message for each accent color with too little contrast to the background of its theme."""
    block = site_block(text)
    for key, backgrounds in (("accent", LIGHT_GROUNDS), ("accent_dark", DARK_GROUNDS)):
        if key in block.values:
            contrast = lowest_contrast(_color(block.values[key], refuse), backgrounds)
            if contrast < READABLE:
                yield block.key_lines[key], f"`{key}` has a contrast of {contrast:.1f}, less than {READABLE}"


def read_shared_file(
    path: Path, text: str, parse: Callable[[str], Parsed], form: Callable[[Parsed, Report], Any]
) -> Any:
    """Return the value of a file's text, as read by a form. Raises ContentError for the first error."""
    try:
        return form(parse(text), refuse)
    except YamlError as error:
        raise ContentError(path, error.line, error.message) from error


def unknown_frameworks(taxonomy: Taxonomy, path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yield line and message for each framework of a valid programs.yaml that the taxonomy lacks."""
    programs = read_shared_file(path, text, read_fields, lambda fields, _: fields.values.get("programs"))
    for name, node in programs.values.items() if programs else ():
        if node.values["role"].text == Role.FRAMEWORK and name not in taxonomy.framework:
            yield programs.key_lines[name], f"framework {name!r} is not in the taxonomy"


def unmatched_examples(path: Path, text: str) -> Iterator[tuple[int, str]]:
    """Yield line and message for each example in a valid failures.yaml that no line of its item matches."""
    items = read_shared_file(path, text, read_fields, lambda fields, _: fields.values)
    for key, form in _WITH_EXAMPLES.items():
        for node in items[key].items if key in items else ():
            item = form(node, refuse)
            for example in item.examples:
                if not any(_matches(line, example, prefix=key == "prefixes") for line in item.lines):
                    yield node.line, f"`{key}`: no line of {item.name!r} finds its example {example!r}"


def _matches(line: str, example: str, *, prefix: bool) -> bool:
    if not prefix:
        return compile_signature_line(line).matches(example)
    return bool(re.match(expression(parts_of(line.rstrip(), _ANY_LEVEL), _ANY_LEVEL), example))


PROGRAMS, FAILURES = "programs.yaml", "failures.yaml"
WITHOUT = "without"

SharedTexts = tuple[tuple[Path, str], ...]
"""Paths and texts of the files of one name, in the order of the content directories."""


@lru_cache(maxsize=4)  # every build needs it, and edits of entries do not change it
def read_log_knowledge(programs: SharedTexts, failures: SharedTexts) -> LogKnowledge:
    """Return the built-in knowledge with the changes that the files make. Raises ContentError."""
    merged = _merge_files(PROGRAMS, _PROGRAMS, programs)
    by_id = {name: _program(name, **values) for name, values in merged["programs"].items()}
    formats = Failures(**_merge_files(FAILURES, _FAILURES, failures))
    return LogKnowledge(Programs(by_id, merged["installed"], merged["standard"]), formats)


def _program(
    name: str, role: Role, names: Sequence[str] = (), folders: Sequence[str] = (), **others: Any
) -> Program:
    names = names or (name,)
    return Program(name, role, _casefolded(names), _casefolded(folders or names), **others)


def _casefolded(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str.casefold, names)))


def _merge_files(name: str, forms: Mapping[str, Form], files: SharedTexts) -> dict[str, Any]:
    """Return the values of the built-in file of a name, with `files` merged on top of it, by key."""
    merged: dict[str, Any] = {}
    built_in = BUILT_IN / name
    for path, content in ((built_in, built_in.read_text(encoding="utf-8")), *files):
        removable = {key: all_of(_name_among(_by_name(merged.get(key, ())))) for key in forms}
        values = read_shared_file(path, content, read_fields, record({**forms, WITHOUT: record(removable)}))
        without = values.pop(WITHOUT, {})
        for key in values.keys() | without.keys():
            merged[key] = _merge(merged.get(key, ()), values.get(key, ()), without.get(key, ()))
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


def _merge(old: Any, new: Any, without: Container[str]) -> Any:
    """Merge items by name: those in `without` are dropped from `old`, and `new` ones win, and come first in a list."""
    kept = {name: item for name, item in _by_name(old).items() if name not in without}
    added = _by_name(new)
    if isinstance(new or old, dict):
        return kept | added
    return (*added.values(), *(item for name, item in kept.items() if name not in added))


def _lines(grammar: Grammar) -> Form:
    # White space at the ends may be significant.
    return all_of(parsable(text, lambda line: parts_of(line, grammar)), minimum=1)


def _uniquely_named(item: Form) -> Form:
    """Return the form of a list of items with different names."""

    def read(node: Node, report: Report) -> Any:
        names: set[str] = set()

        def read_one(child: Node, report: Report) -> Any:
            value = item(child, report)
            if value.name in names:
                raise YamlError(child.line, f"{value.name!r} appears twice in the list")
            names.add(value.name)
            return value

        return all_of(read_one)(node, report)

    return read


def _words_by_language(node: Node, report: Report) -> tuple[str, ...]:
    """Return the words of all languages, which are listed by language."""
    return tuple(chain.from_iterable(mapping_of(word, _words)(node, report).values()))


_folders = all_of(parsable(word, lambda folder: parts_of(folder_line(folder), FOLDERS)))
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
_examples = all_of(text, minimum=1)
_prefix = {"name": text, "source": switch, "lines": _lines(PREFIXES), "examples": _examples}
_signature_lines = all_of(parsable(text, compile_signature_line), minimum=1)
_family = {"name": text, "meaning": text, "start": switch, "lines": _signature_lines, "examples": _examples}
_report = {
    "name": text,
    "lines": _signature_lines,
    "places": _signature_lines,
    "advice": _texts,
    "examples": _examples,
}
_WITH_EXAMPLES: Mapping[str, Form] = {
    "prefixes": record(_prefix, "name", "lines", "examples", make=Prefix),
    "reports": record(_report, "name", "lines", "advice", "examples", make=FailureReport),
    "families": record(_family, "name", "lines", "examples", make=Family),
}
"""Forms of items with examples."""
_ANY_LEVEL = replace(PREFIXES, closed={**PREFIXES.closed, "level": r"\w+"})
_FAILURES: Mapping[str, Form] = {
    **{name: _uniquely_named(form) for name, form in _WITH_EXAMPLES.items()},
    "levels": _words,
    "error_levels": _lines(PREFIXES),
    "repeats": _lines(REPEATS),
    "message_fields": _words,
    "level_fields": _words,
    "error_fields": _words,
    "wrappers": _words,
    "handled": _words,
    "caused": _words,
    "summaries": _words,
    "remote": _lines(REMOTE),
    "exception_endings": _words,
    "troubled": _words_by_language,
    "untroubled": _words_by_language,
    "word_endings": _words,
}
