"""What changed on a page since it was imported, and what of that its entry already says."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

from app.entry import Language
from app.importing.proposal import Proposal
from app.importing.records import Imported


class Standing(StrEnum):
    """How the entry stands to a change of its source."""

    OPEN = "open"
    """It still says what the page said: the change can be carried over as it is."""
    DONE = "done"
    """It says what the page says now."""
    CONFLICT = "conflict"
    """It says something else: somebody has to look at both."""


@dataclass(frozen=True, slots=True)
class Change:
    """Lines of the page then and now; either may be none. `line` is where in the entry's body, from 1, or 0."""

    lang: Language
    then: tuple[str, ...]
    now: tuple[str, ...]
    standing: Standing
    line: int


@dataclass(frozen=True, slots=True)
class Present:
    """What an edition says now; `body` is Markdown."""

    title: str
    body: str


def changes_of(
    imported: Imported, proposal: Proposal, current: Mapping[Language, Present]
) -> tuple[Change, ...]:
    """Every change of the page since `imported`; `current` are the editions as they are now.

    An edition that was deleted since is left alone.
    """
    found: list[Change] = []
    for lang, edition in proposal.editions.items():
        present = current.get(lang)
        if lang not in imported.titles:
            standing = Standing.DONE if present else Standing.OPEN
            found.append(Change(lang, (), (edition.title, *_lines(edition.body)), standing, 0))
        elif present:
            if edition.title != imported.titles[lang]:
                then, now = [imported.titles[lang]], [edition.title]
                standing = _stands(then, now, [present.title])
                found.append(Change(lang, tuple(then), tuple(now), standing, 0))
            body = _lines(present.body)
            found += _between(lang, _lines(imported.bodies[lang]), _lines(edition.body), body)
    return tuple(found)


def _between(
    lang: Language, then: Sequence[str], now: Sequence[str], entry: Sequence[str]
) -> Iterator[Change]:
    for tag, a, b, c, d in SequenceMatcher(None, then, now, autojunk=False).get_opcodes():
        if tag != "equal":
            old, new = then[a:b], now[c:d]
            # A line of context, for an addition has no old text to be looked for.
            around = list(then[max(a - 1, 0) : a]) + list(old) + list(then[b : b + 1])
            standing = _stands(old or around, new, entry)
            yield Change(lang, tuple(old), tuple(new), standing, _find(old or around, entry))


def _stands(old: Sequence[str], new: Sequence[str], entry: Sequence[str]) -> Standing:
    if _filled(new) and _find(new, entry):
        return Standing.DONE
    if not _filled(new) and not _find(old, entry):
        return Standing.DONE
    return Standing.OPEN if _find(old, entry) else Standing.CONFLICT


def _find(wanted: Sequence[str], lines: Sequence[str]) -> int:
    """The line, from 1, on which `wanted` starts, blank lines aside; 0 where it does not occur."""
    needle = _filled(wanted)
    places = [number for number, line in enumerate(lines, 1) if line.strip()]
    hay = _filled(lines)
    for start in range(len(hay) - len(needle) + 1) if needle else ():
        if hay[start : start + len(needle)] == needle:
            return places[start]
    return 0


def _filled(lines: Sequence[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip()]


def _lines(text: str) -> list[str]:
    return text.strip("\n").split("\n")
