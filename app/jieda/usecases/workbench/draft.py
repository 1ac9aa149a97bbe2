"""An entry being written, as submitted by a form, and changes to both its editions at once."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jieda.content.authoring.source_text import values_of, with_item, with_list, with_stamp, with_value
from jieda.content.read.corpus import FileOutline
from jieda.content.read.directory import SourceFile
from jieda.content.read.forms import ENTRY_ID
from jieda.content.read.parse import parse_file
from jieda.entry import Kind, Language
from jieda.errors import AuthoringError


@dataclass(frozen=True, slots=True)
class Draft:
    """`texts`: the whole file of each non-empty edition; `sample`: a log to be stored with the entry."""

    id: str
    texts: Mapping[Language, str]
    sample: str = ""

    @property
    def is_named(self) -> bool:
        return ENTRY_ID.fullmatch(self.id) is not None

    def files(self) -> dict[str, str]:
        """Return the files to write, by path below the content directory: the editions, then the sample."""
        found = {where_of(self.id, lang): text for lang, text in self.texts.items()}
        return found | ({self.sample_place: self.sample} if self.sample else {})

    @property
    def sample_place(self) -> str:
        """Path of the sample; different logs have different names."""
        return f"samples/{self.id}/{fingerprint(self.sample)}.log"

    def sources(self, directory: Path, modified: float) -> tuple[SourceFile, ...]:
        """Return the editions as files of a directory; `modified` is in seconds since the epoch."""
        return tuple(
            source(directory, where_of(self.id, lang), text, modified) for lang, text in self.texts.items()
        )

    def samples(self, directory: Path, modified: float) -> tuple[SourceFile, ...]:
        return (source(directory, self.sample_place, self.sample, modified),) if self.sample else ()

    def shown(self) -> "Draft":
        """Return a copy whose editions are no longer drafts."""
        return Draft(self.id, {lang: _published(text) for lang, text in self.texts.items()}, self.sample)


def where_of(entry_id: str, lang: Language) -> str:
    """Return the path of an edition below its content directory."""
    return f"{lang}/{entry_id}.md"


def source(directory: Path, where: str, text: str, modified: float) -> SourceFile:
    """Return a text as a file below a directory."""
    return SourceFile(where, directory / where, text.encode("utf-8", "replace"), modified)


def tidied(text: str) -> str:
    """Normalize a text from a form: line ends LF, and one at the end; empty if it is blank."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"{lines.rstrip(chr(10))}\n" if lines.strip() else ""


def fingerprint(text: str) -> str:
    """Return a short name that is unique to a text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:10]


def _published(text: str) -> str:
    try:
        return with_value(text, "draft", "false") if values_of(text, "draft") else text
    except AuthoringError:
        return text


Texts = Mapping[Language, str]


def with_kind(texts: Texts, kind: str) -> dict[Language, str]:
    """Set the kind of both editions. Raises AuthoringError if it is unknown or a front matter cannot be read."""
    if kind not in set(Kind):
        raise AuthoringError(f"kind {kind!r} is not one of {', '.join(Kind)}")
    return {lang: with_value(text, "kind", kind) for lang, text in texts.items() if text}


def with_tag(texts: Texts, key: str, tag: str) -> dict[Language, str]:
    """Add a tag to the list `key` of both editions; remove it if either has it. Raises AuthoringError."""
    if not tag:
        return dict(texts)
    held = any(tag in values_of(text, key) for text in texts.values())
    changed = {}
    for lang, text in texts.items():
        others = tuple(each for each in values_of(text, key) if each != tag)
        if text:
            changed[lang] = with_list(text, key, others if held else (*others, tag))
    return changed


def with_wording(texts: Texts, lang: str, wording: str) -> dict[Language, str]:
    """Return both editions, with an alias added to the one in `lang`. Raises AuthoringError."""
    changed = {each: text for each, text in texts.items() if text}
    if wording and lang in changed:
        edition = Language(lang)
        changed[edition] = with_item(changed[edition], "aliases", wording)
    return changed


def agreed(texts: Texts, entry_id: str) -> dict[Language, str]:
    """Stamp both editions with each other's digest, as `jieda sync` does. Raises AuthoringError."""
    if not all(texts.get(lang) for lang in Language):
        raise AuthoringError("only two editions can agree")
    read = {lang: _outline(texts[lang], where_of(entry_id, lang)) for lang in Language}
    return {lang: with_stamp(texts[lang].encode(), read[lang.other].digest).decode() for lang in Language}


def _outline(text: str, where: str) -> FileOutline:
    parsed, problems = parse_file(source(Path(), where, text, 0.0))
    if parsed is None:
        raise AuthoringError("; ".join(str(problem) for problem in problems))
    return parsed.outline
