"""A diagnosis as text for a terminal: the same from `curl` and from `jieda diagnose`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from app.search.answers import Diagnosis, Match

Say = Callable[..., str]
MAX_MATCHED = 3
"""Lines of the paste shown for a match: enough to recognize it by."""
MAX_LINE = 160
"""Characters of such a line."""


@dataclass(frozen=True, slots=True)
class Paint:
    """Escape sequences around parts of the text; all empty where nothing is to be colored."""

    strong: str = ""
    faint: str = ""
    sure: str = ""
    off: str = ""


PLAIN = Paint()
COLORS = Paint(strong="\x1b[1m", faint="\x1b[2m", sure="\x1b[32m", off="\x1b[0m")


def as_text(diagnosis: Diagnosis, say: Say, address: Callable[[str], str], paint: Paint = PLAIN) -> str:
    """The diagnosis in the language of `say`, ending in a line break.

    `address` gives the page of an entry id, or an empty string.
    """
    matches = enumerate(diagnosis.matches, 1)
    blocks = [_match(number, match, say, address, paint) for number, match in matches]
    return "\n\n".join("\n".join(block) for block in blocks or [_nothing(diagnosis, say, paint)]) + "\n"


def _match(number: int, match: Match, say: Say, address: Callable[[str], str], paint: Paint) -> Iterator[str]:
    confidence = say(f"diagnosis.confidence.{match.confidence}")
    yield f"{paint.strong}{number}. {match.edition.title}{paint.off}  [{paint.sure}{confidence}{paint.off}]"
    for each in match.matched[:MAX_MATCHED]:
        yield _line(each.line, printable(each.text), say, paint)
    if match.edition.answer:
        yield ""
        yield from (f"   {line}".rstrip() for line in match.edition.answer.markdown.strip().splitlines())
    yield ""
    yield f"   {paint.faint}{match.entry.id}{paint.off}  {address(match.entry.id)}".rstrip()


def _nothing(diagnosis: Diagnosis, say: Say, paint: Paint) -> Iterator[str]:
    yield f"{paint.strong}{say('diagnosis.none')}{paint.off}"
    for error in diagnosis.errors[:MAX_MATCHED]:
        message = f"{error.type}: {error.message}" if error.message else error.type
        times = f"  ×{error.count}" if error.count > 1 else ""
        yield _line(error.line, printable(message) + times, say, paint)
    if diagnosis.query:
        # As words, not as a link: what was pasted goes into no address.
        yield say("diagnosis.search_instead", query=printable(diagnosis.query))


def _line(number: int, text: str, say: Say, paint: Paint) -> str:
    return f"   {paint.faint}{say('diagnosis.line', line=str(number))}{paint.off}  {text}"


def printable(text: str) -> str:
    """A line of a paste without what a terminal would obey, cut to what one wants to read."""
    shown = "".join(character if character.isprintable() else " " for character in text).strip()
    return shown if len(shown) <= MAX_LINE else shown[: MAX_LINE - 1] + "…"
