"""Changes of both editions at once: what is equal in twins is changed in both, in their texts and nowhere else."""

from collections.abc import Mapping
from pathlib import Path

from app.content.authoring.fields import values_of, with_item, with_list, with_value
from app.content.authoring.sync import stamped
from app.content.read.outline import FileOutline
from app.content.read.parse import parse_file
from app.entry import Kind, Language
from app.errors import AuthoringError
from app.usecases.workbench.draft import source, where_of

AFTER = {"topics": "kind", "error_types": "topics"}
"""Behind which field one that is missing is put in."""

Texts = Mapping[Language, str]


def with_kind(texts: Texts, kind: str) -> dict[Language, str]:
    """Both editions with this kind. Raises AuthoringError where it is none or a front matter cannot be read."""
    if kind not in set(Kind):
        raise AuthoringError(f"kind {kind!r} is not one of {', '.join(Kind)}")
    return {lang: with_value(text, "kind", kind, "title") for lang, text in texts.items() if text}


def with_tag(texts: Texts, key: str, tag: str) -> dict[Language, str]:
    """Both editions with a tag in the list `key`, or without it where one of them has it. Raises AuthoringError."""
    if not tag:
        return dict(texts)
    held = any(tag in values_of(text, key) for text in texts.values())
    changed = {}
    for lang, text in texts.items():
        others = tuple(each for each in values_of(text, key) if each != tag)
        if text:
            changed[lang] = with_list(text, key, others if held else (*others, tag), AFTER[key])
    return changed


def with_wording(texts: Texts, lang: str, wording: str) -> dict[Language, str]:
    """Both editions, one of them with an alias more. Raises AuthoringError."""
    changed = {each: text for each, text in texts.items() if text}
    if wording and lang in changed:
        edition = Language(lang)
        changed[edition] = with_item(changed[edition], "aliases", wording, "title")
    return changed


def agreed(texts: Texts, entry_id: str) -> dict[Language, str]:
    """Both editions, each with the digest of the other, as `jieda sync` stamps them. Raises AuthoringError."""
    if not all(texts.get(lang) for lang in Language):
        raise AuthoringError("only two editions can agree")
    read = {lang: _outline(texts[lang], where_of(entry_id, lang)) for lang in Language}
    return {
        lang: stamped(
            texts[lang].encode(), read[lang].lines.get("synced_with", 0), read[lang.other].digest
        ).decode()
        for lang in Language
    }


def _outline(text: str, where: str) -> FileOutline:
    parsed, problems = parse_file(source(Path(), where, text, 0.0))
    if parsed is None:
        raise AuthoringError("; ".join(str(problem) for problem in problems))
    return parsed.outline
