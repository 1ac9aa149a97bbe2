"""Choose the passages of a log whose words are compared with those of the entries."""

from collections.abc import Iterable
from dataclasses import dataclass

from jieda.log.formats import Formats
from jieda.log.placeholders import codes_in, without_values
from jieda.log.traceback import ParsedLog, Raised

SHORT_PASTE = 12
"""A paste of up to so many lines is read whole: somebody chose these lines, or wrote them."""
LOOKED_AT = 400
"""Lines at either end of a log in which words of trouble are looked for."""
LONGEST_PASSAGE = 600
LONGEST_QUERY = 200
LOUDEST = 5
MOST_FAILURES = 6
"""The last failures are read: what came before is most often another's."""

UNREADABLE = "\ufffd"
"""What stands for bytes that are not UTF-8."""
MOST_UNREADABLE = 0.1
"""With a larger share of them it is not text at all, or text in another encoding."""


MOST_CODES = 2
"""Codes of a passage that are searched for: a dump is full of them."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Text without values, from the folded lines of the indexes `lines`; `failure`: a program printed it so."""

    text: str
    lines: tuple[int, ...]
    failure: bool
    codes: tuple[str, ...] = ()
    """Codes that were taken out of `text` with the values."""


@dataclass(frozen=True, slots=True)
class Shown:
    """`passages`, the last failure first; `troubled`: the log is about something that went wrong."""

    passages: tuple[Passage, ...]
    troubled: bool

    @property
    def query(self) -> str:
        """A search for it: a few words, or empty where it is not text."""
        text = " ".join(" ".join((passage.text, *passage.codes)) for passage in self.passages[:2])
        unread = text.count(UNREADABLE)
        if unread > MOST_UNREADABLE * len(text):
            return ""
        text = " ".join(text.replace(UNREADABLE, " ").split())
        return text if len(text) <= LONGEST_QUERY else text[:LONGEST_QUERY].rpartition(" ")[0]


def shown_by(parsed: ParsedLog, formats: Formats) -> Shown:
    """What a log shows: a short paste as a whole, the failures of a long one, or its loudest lines."""
    meanings = " ".join(dict.fromkeys(formats.meanings.get(one.type, "") for one in parsed.raised))
    if len(parsed.texts) <= SHORT_PASTE and not any(one.frames for one in parsed.raised):
        text = "\n".join((*parsed.texts, meanings))
        verbatim = any(one.verbatim for one in parsed.raised)
        passages = [_passage(text, tuple(range(len(parsed.texts))), failure=verbatim)]
    elif parsed.raised:
        causes = [one for one in parsed.raised if one.name not in formats.wrappers] or parsed.raised
        passages = [
            _passage(_words(one, formats), _indexes(parsed, {one.line}), failure=True)
            for one in causes[-MOST_FAILURES:][::-1]
        ]
    else:
        loud = _loudest(parsed, formats)
        text = "\n".join(parsed.texts[index] for index in loud)
        passages = [_passage(text, loud, failure=False)]
    looked_at = (*parsed.texts[:LOOKED_AT], *parsed.texts[-LOOKED_AT:])
    troubled = bool(parsed.raised) or any(map(formats.tells_of_trouble, looked_at))
    return Shown(tuple(passages), troubled)


def _passage(text: str, lines: tuple[int, ...], *, failure: bool) -> Passage:
    begins = text[: 4 * LONGEST_PASSAGE]
    return Passage(without_values(begins)[:LONGEST_PASSAGE], lines, failure, codes_in(begins)[:MOST_CODES])


def _words(one: Raised, formats: Formats) -> str:
    inner = one.frames[-1] if one.frames else None
    place = f"{inner.function} {inner.source}" if inner and not inner.source.startswith("raise") else ""
    return f"{one.name} {one.message} {place} {formats.meanings.get(one.type, '')}"


def _loudest(parsed: ParsedLog, formats: Formats) -> tuple[int, ...]:
    """The last lines that speak of trouble, or else just the last lines."""
    last = range(len(parsed.texts))[-LOOKED_AT:]
    loud = [index for index in last if formats.tells_of_trouble(parsed.texts[index])]
    return tuple(loud[-LOUDEST:]) or tuple(last[-LOUDEST:])


def _indexes(parsed: ParsedLog, numbers: Iterable[int]) -> tuple[int, ...]:
    wanted = frozenset(numbers)
    return tuple(index for index, number in enumerate(parsed.numbers) if number in wanted)
