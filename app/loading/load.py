"""The whole of a load: each line to its file, where that is the load's to write, and what is named no more away."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from app.content.authoring.edition_text import edition_text
from app.content.authoring.fields import values_of
from app.content.authoring.place import Place, opened
from app.content.read.front_matter import FrontMatter
from app.content.read.parse import SourceFile, parse_file
from app.errors import AuthoringError, LoadingError
from app.loading.given import Given, place_of, read_given, where_of
from app.loading.lines import RefusedLine, read_lines, read_object
from app.loading.record import Record, loaded_digest
from app.taxonomy import Taxonomy


class Outcome(StrEnum):
    """What became of a line, or of a file that no line names."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REMOVED = "removed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Event:
    """`number` is that of the line, 0 for a file that none names; `where` is empty where no line says it. `faults` are
    pairs of a field and what to do."""

    outcome: Outcome
    where: str = ""
    number: int = 0
    faults: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Loader:
    """A load into one content directory, a line at a time; what it holds of each is a path and a digest."""

    directory: Path
    taxonomy: Taxonomy
    record: Record
    dry_run: bool
    _seen: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By path the line that it was first named in, and the digest of what that said; empty where it was refused."""
    _loaded: int = 0
    _unnamed: int = 0

    def load(self, stream: BinaryIO) -> Iterator[Event]:
        """Loads all lines. Raises LoadingError where they cannot be read, or files not be written; OSError where the
        record cannot."""
        for number, line in read_lines(stream):
            yield self._line(number, line)

    def why_not_prune(self) -> str:
        """What speaks against removing what no line named; empty where nothing does."""
        if not self._loaded:
            return "no line was loaded"
        if self._unnamed:
            return f"{self._unnamed} refused lines do not tell which entry they mean: it may be there already"
        return ""

    def prune(self) -> Iterator[Event]:
        """Removes what earlier loads wrote and no line named."""
        for where in self.record.wheres():
            if where not in self._seen and (event := self._remove(where)):
                yield event

    def _line(self, number: int, line: bytes | None) -> Event:
        where = ""
        try:
            found = read_object(line)
            where = where_of(*place_of(found))
            first, _ = self._seen.setdefault(where, (number, ""))
            given = read_given(found, self.taxonomy)
            outcome = self._put(given, first)
        except RefusedLine as error:
            self._unnamed += not where
            return Event(Outcome.REFUSED, where, number, error.faults)
        self._loaded += 1
        return Event(outcome, where, number)

    def _put(self, given: Given, first: int) -> Outcome:
        text = edition_text(given.front, given.body).encode()
        wanted = loaded_digest(text)
        before = self._seen[given.where][1]
        if before and before != wanted:
            raise RefusedLine(
                ("id", f"line {first} has this edition already, and says something else: keep one")
            )
        with opened(self.directory) as place:
            present = _present(place, given.where)
            outcome = self._outcome(given, text, present)
            if outcome is not Outcome.UNCHANGED:
                front = given.front if present is None else _with_stamp(given.front, present)
                content = _checked(given.where, front, given.body)
                if not self.dry_run:
                    self.record.announce(given.where, wanted)
                    self._write(place, given.where, content)
        self._seen[given.where] = (first, wanted)
        if not self.dry_run:
            self.record.settle(given.where, wanted)
        return outcome

    def _write(self, place: Place, where: str, content: bytes) -> None:
        try:
            place.write({where: content})
        except AuthoringError as error:
            path = self.directory / where
            raise LoadingError(
                f"{path}: cannot be written: {error}; lines before it are loaded: start again once that is mended"
            ) from error

    def _outcome(self, given: Given, text: bytes, present: bytes | None) -> Outcome:
        """What is to become of a file. Raises RefusedLine where it is not the load's to write."""
        if present is None:
            return Outcome.NEW
        there, where = loaded_digest(present), given.where
        same = there == loaded_digest(text)
        if same and (present == text or not given.front.synced_with):
            return Outcome.UNCHANGED
        if not same and not self.record.has(where, there):
            edited = "has been edited since it was loaded: take the edit over into the source, then delete the file"
            foreign = "was not written by a load: move it away, or give the entry another id"
            raise RefusedLine(("id", f"{where} {edited if where in self.record else foreign}"))
        return Outcome.CHANGED

    def _remove(self, where: str) -> Event | None:
        fault = ""
        try:
            with opened(self.directory) as place:
                present = place.read(where)
                if present is None:
                    self._forget(where)
                    return None
                if not self.record.has(where, loaded_digest(present)):
                    fault = "has been edited since it was loaded: delete it if it is not wanted"
                elif not self.dry_run:
                    place.remove(where)
                    self._forget(where)
        except AuthoringError as error:
            fault = f"cannot be removed: {error}"
        if fault:
            return Event(Outcome.REFUSED, where, faults=(("", fault),))
        return Event(Outcome.REMOVED, where)

    def _forget(self, where: str) -> None:
        if not self.dry_run:
            self.record.forget(where)


def _with_stamp(front: FrontMatter, present: bytes) -> FrontMatter:
    """With what `jieda sync` has written since, where the line says nothing of it: the text of the twin that this one
    agrees with."""
    if front.synced_with:
        return front
    stamps = values_of(present.decode("utf-8", "replace"), "synced_with")
    return replace(front, synced_with=next(iter(stamps), ""))


def _present(place: Place, where: str) -> bytes | None:
    try:
        return place.read(where)
    except AuthoringError as error:
        raise RefusedLine(("id", f"something is in the way: {error}: move it away")) from error


def _checked(where: str, front: FrontMatter, body: str) -> bytes:
    """The file, once it has been read the way it will be served from. Raises RefusedLine."""
    content = edition_text(front, body).encode()
    parsed, problems = parse_file(SourceFile(where, Path(where), content, 0.0))
    if parsed is None:
        raise RefusedLine(*(("markdown", each.message) for each in problems))
    if parsed.outline.front != front:
        raise RefusedLine(
            ("", "would not read the same in a file: look for unusual characters in its fields")
        )
    return content
