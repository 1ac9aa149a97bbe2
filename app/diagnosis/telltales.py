"""Partial evidence: words and word sequences of an entry's signatures, and its rare identifiers, in a log.

It serves where no signature is there as a whole, because somebody shortened, quoted or retyped the message.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from app.analysis.stems import is_function_word
from app.diagnosis.generic import without_generic
from app.entry import Entry
from app.signature import GENERIC_WORDS

Key = TypeVar("Key")

RARE = 2
"""Identifiers and sequences that more entries share tell nothing."""
_RUN = 3
_OWN_WORDS = 2
"""Words of a sequence that are not in every log: "could not find the" tells nothing."""

_WORD = re.compile(r"[^\W\d]\w{1,80}")
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]{1,80}")
_CODE_WORD = re.compile(r"\w_\w|^_[a-z]{3}|^(?=\w{5}).*?(?:[a-z][A-Z]|[A-Z]{2}[a-z]{2})")
_BREAK = re.compile(r"(?<!\{)\{[a-z]+\}(?!\})|\x00")


@dataclass(frozen=True, slots=True)
class Telltale:
    """What of an entry stands in a log: identifiers, the number of word sequences, and the lines of either."""

    names: frozenset[str]
    runs: int
    lines: tuple[int, ...]


class TelltaleIndex:
    """Rare names and word sequences of some entries."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._names: dict[str, set[str]] = {}
        self._failing: dict[str, set[str]] = {}
        self._runs: dict[tuple[str, ...], set[str]] = {}
        for entry in entries:
            failure = frozenset(_names_in(_failure_texts(entry)))
            for name in failure.union(_names_in(_code(entry))):
                self._names.setdefault(name, set()).add(entry.id)
                if name in failure:
                    self._failing.setdefault(name, set()).add(entry.id)
            for line in entry.signature_lines:
                for run in _runs(without_generic(without_flags(line))):
                    self._runs.setdefault(run, set()).add(entry.id)

    def find(self, texts: Sequence[str], *, verbatim: bool) -> Mapping[str, Telltale]:
        """What the lines of a log show of each entry; entries that they show nothing of are left out.

        `verbatim`: a program printed them. Then only names that the entry tells the failure by are looked for:
        those of its remedy stand in the messages of many another failure.
        """
        known = self._failing if verbatim else self._names
        names: dict[str, set[str]] = {}
        runs: dict[str, set[tuple[str, ...]]] = {}
        lines: dict[str, set[int]] = {}
        for number, text in enumerate(texts):
            plain = without_generic(without_flags(text) if verbatim else text)
            for name in _names(plain):
                for entry_id in _few(self._names, name) & known.get(name, set()):
                    names.setdefault(entry_id, set()).add(name)
                    lines.setdefault(entry_id, set()).add(number)
            for run in _runs(without_flags(plain)):
                for entry_id in _few(self._runs, run):
                    runs.setdefault(entry_id, set()).add(run)
                    lines.setdefault(entry_id, set()).add(number)
        return {
            entry_id: Telltale(
                frozenset(names.get(entry_id, ())), len(runs.get(entry_id, ())), tuple(sorted(found))
            )
            for entry_id, found in lines.items()
        }


def _few(index: Mapping[Key, set[str]], key: Key) -> set[str]:
    found = index.get(key, set())
    return found if len(found) <= RARE else set()


def without_flags(text: str) -> str:
    """`text` with a break (NUL) in the place of options: in a message they are advice or circumstance."""
    return _FLAG.sub("\0", text) if "-" in text else text


def _failure_texts(entry: Entry) -> Iterator[str]:
    yield from entry.signature_lines
    for edition in entry.editions.values():
        yield edition.title
        yield from edition.aliases
        yield from edition.symptoms
        if section := edition.section("symptom"):
            yield section.text


def _code(entry: Entry) -> Iterator[str]:
    for edition in entry.editions.values():
        yield from edition.code


def _names_in(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from _names(without_generic(text))


def _names(text: str) -> Iterator[str]:
    """Words that somebody has coined: joined by underscores, or with a hump."""
    return (word.casefold() for word in _WORD.findall(text) if _CODE_WORD.search(word))


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    """Sequences of words that stand next to one another, values left out."""
    for piece in _BREAK.split(text):
        words = [word.casefold() for word in _WORD.findall(piece)]
        for start in range(len(words) - _RUN + 1):
            run = tuple(words[start : start + _RUN])
            if sum(not (word in GENERIC_WORDS or is_function_word(word)) for word in run) >= _OWN_WORDS:
                yield run
