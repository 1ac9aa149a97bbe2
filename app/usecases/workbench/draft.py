"""An entry that is being written, as it comes from a form."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.content.authoring.fields import values_of, with_value
from app.content.read.forms import ENTRY_ID
from app.content.read.parse import SourceFile
from app.entry import Language
from app.errors import AuthoringError


@dataclass(frozen=True, slots=True)
class Draft:
    """`texts` has the whole file of each edition that is not empty; `sample` is a log to be kept with the entry."""

    id: str
    texts: Mapping[Language, str]
    sample: str = ""

    @property
    def is_named(self) -> bool:
        """Whether its id is one."""
        return ENTRY_ID.fullmatch(self.id) is not None

    def files(self) -> dict[str, str]:
        """What would be written, by path below the content directory: the editions, then the sample."""
        found = {where_of(self.id, lang): text for lang, text in self.texts.items()}
        return found | ({self.sample_place: self.sample} if self.sample else {})

    @property
    def sample_place(self) -> str:
        """Where the sample would lie; another log has another name."""
        return f"samples/{self.id}/{fingerprint(self.sample)}.log"

    def sources(self, directory: Path, modified: float) -> tuple[SourceFile, ...]:
        """The editions as files of a directory, changed at a moment in seconds since the epoch."""
        return tuple(
            source(directory, where_of(self.id, lang), text, modified) for lang, text in self.texts.items()
        )

    def samples(self, directory: Path, modified: float) -> tuple[SourceFile, ...]:
        """The sample as a file of a directory, if there is one."""
        return (source(directory, self.sample_place, self.sample, modified),) if self.sample else ()

    def shown(self) -> "Draft":
        """The same as it is once its editions are no drafts any more."""
        return Draft(self.id, {lang: _published(text) for lang, text in self.texts.items()}, self.sample)


def where_of(entry_id: str, lang: Language) -> str:
    """The path of an edition below its content directory."""
    return f"{lang}/{entry_id}.md"


def source(directory: Path, where: str, text: str, modified: float) -> SourceFile:
    """A text as a file that lies below a directory."""
    return SourceFile(where, directory / where, text.encode("utf-8", "replace"), modified)


def tidied(text: str) -> str:
    """A text as a form sent it, with line ends LF and one at its end; empty where nothing is in it."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"{lines.rstrip(chr(10))}\n" if lines.strip() else ""


def fingerprint(text: str) -> str:
    """A short name that another text does not have."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:10]


def _published(text: str) -> str:
    try:
        return with_value(text, "draft", "false", "updated") if values_of(text, "draft") else text
    except AuthoringError:
        return text
