"""What was imported from which page, so that a second import knows what it has seen.

A record lies beside the content, `imports/<framework>.json`, and belongs into git with it. It keeps the body of
every edition as it was written: between that, the page as it is now and the entry as it is now a change is judged.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from pathlib import Path
from typing import Any

from jieda.content.read.corpus import Corpus
from jieda.disk import write_aside
from jieda.entry import Language
from jieda.errors import ImportingError
from jieda.han import HAN
from jieda.importing.pairing import BilingualQuestion
from jieda.importing.propose import Proposal

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Imported:
    """An entry as it was imported: the page it came from, and title and body of its editions."""

    id: str
    page: str
    titles: Mapping[Language, str]
    bodies: Mapping[Language, str]


def record_path(directory: Path, framework: str) -> Path:
    """Where the record of a framework lies in a content directory."""
    return directory / "imports" / f"{framework}.json"


def read_record(directory: Path, framework: str) -> tuple[Imported, ...]:
    """What was imported before, in order; nothing where there is no record. Raises ImportingError."""
    path = record_path(directory, framework)
    if not path.is_file():
        return ()
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw["format"] != FORMAT:
            raise ImportingError(f"{path} has format {raw['format']}; this version of Jieda reads {FORMAT}")
        return tuple(_imported(each) for each in raw["entries"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ImportingError(
            f"{path} cannot be read ({error!r}): restore it, or delete it to import anew"
        ) from error


def write_record(directory: Path, framework: str, entries: tuple[Imported, ...]) -> None:
    """Replaces the record, written aside and renamed."""
    path = record_path(directory, framework)
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = {"format": FORMAT, "entries": [_raw(each) for each in entries]}
    write_aside(path, (json.dumps(raw, ensure_ascii=False, indent=1) + "\n").encode())


def _imported(raw: Mapping[str, Any]) -> Imported:
    editions = {Language(lang): each for lang, each in raw["editions"].items()}
    return Imported(
        id=str(raw["id"]),
        page=str(raw["page"]),
        titles={lang: str(each["title"]) for lang, each in editions.items()},
        bodies={lang: str(each["body"]) for lang, each in editions.items()},
    )


def _raw(imported: Imported) -> dict[str, Any]:
    return {
        "id": imported.id,
        "page": imported.page,
        "editions": {
            lang.value: {"title": title, "body": imported.bodies[lang]}
            for lang, title in imported.titles.items()
        },
    }


SAME_QUESTION = 0.6
"""From this likeness of title and answer on, a question that was reworded is still the one imported before."""


def recognize(candidates: Sequence[BilingualQuestion], record: Sequence[Imported]) -> dict[int, Imported]:
    """By the number of the candidate: what it was imported as. Same titles count first, then likeness."""
    known: dict[int, Imported] = {}
    used: set[int] = set()
    by_title = _by_title(record)
    for number, candidate in enumerate(candidates):
        same = (
            at
            for lang, title in candidate.titles.items()
            for at in by_title.get((candidate.pair.key, lang, title), ())
            if at not in used
        )
        if (found := next(same, None)) is not None:
            known[number] = record[found]
            used.add(found)
    for score, number, at in sorted(_alike(candidates, record, known, used), reverse=True):
        if score >= SAME_QUESTION and number not in known and at not in used:
            known[number] = record[at]
            used.add(at)
    return known


def under_recorded_pages(
    candidates: Sequence[BilingualQuestion], record: Sequence[Imported]
) -> tuple[BilingualQuestion, ...]:
    """The candidates of a page that has moved, under the name that it was recorded by: most titles are the same."""
    recorded: dict[str, set[str]] = defaultdict(set)
    for imported in record:
        recorded[imported.page] |= set(imported.titles.values())
    given: dict[str, set[str]] = defaultdict(set)
    for candidate in candidates:
        given[candidate.pair.key] |= set(candidate.titles.values())
    names = {key: key for key in given}
    for key in given.keys() - recorded.keys():
        free = [name for name in recorded if name not in names.values()]
        best = max(free, key=lambda name: len(recorded[name] & given[key]), default="")
        if best and 2 * len(recorded[best] & given[key]) > len(recorded[best]):
            names[key] = best
    return tuple(replace(each, pair=replace(each.pair, key=names[each.pair.key])) for each in candidates)


def present_id(imported: Imported, corpus: Corpus) -> str:
    """The id of the entry today, for it may have been renamed."""
    if imported.id in corpus.by_id:
        return imported.id
    renamed = (file.id for file in corpus.files if imported.id in file.front.formerly)
    return next(renamed, imported.id)


def _by_title(record: Sequence[Imported]) -> Mapping[tuple[str, Language, str], list[int]]:
    found: dict[tuple[str, Language, str], list[int]] = {}
    for at, imported in enumerate(record):
        for lang, title in imported.titles.items():
            found.setdefault((imported.page, lang, title), []).append(at)
    return found


def _alike(
    candidates: Sequence[BilingualQuestion],
    record: Sequence[Imported],
    known: Mapping[int, Imported],
    used: set[int],
) -> Iterator[tuple[float, int, int]]:
    """Likeness of every candidate and every record of one page that are still without each other."""
    for number, candidate in enumerate(candidates):
        if number in known:
            continue
        for at, imported in enumerate(record):
            if at not in used and imported.page == candidate.pair.key:
                yield max(_likeness(candidate, imported, lang) for lang in candidate.found), number, at


def _likeness(candidate: BilingualQuestion, imported: Imported, lang: Language) -> float:
    """0 to 1, half of it the title's, half the answer's."""
    if lang not in imported.titles:
        return 0.0
    question, page = candidate.found[lang], candidate.pair.pages[lang]
    words = _words("\n".join((question.lead, *page.lines[question.body : question.end])))
    named = SequenceMatcher(None, question.title, imported.titles[lang]).ratio()
    # Whatever their order: links and headings were rewritten, and all of a large page may have to be compared.
    said = SequenceMatcher(None, words, _words(imported.bodies[lang])).quick_ratio()
    return 0.5 * named + 0.5 * said


def _words(text: str) -> list[str]:
    """Words and single Han characters, without the titles of sections."""
    prose = re.sub(r"^## .*$", "", text, flags=re.MULTILINE)
    return re.findall(rf"[{HAN}]|[^\W{HAN}]+", prose)


class Standing(StrEnum):
    """How the entry stands to a change of its source."""

    OPEN = "open"
    """It still says what the page said: the change can be carried over as it is."""
    DONE = "done"
    """It says what the page says now."""
    CONFLICT = "conflict"
    """It says something else: somebody has to look at both."""


@dataclass(frozen=True, slots=True)
class PageChange:
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
) -> tuple[PageChange, ...]:
    """Every change of the page since `imported`; `current` are the editions as they are now.

    An edition that was deleted since is left alone.
    """
    found: list[PageChange] = []
    for lang, edition in proposal.editions.items():
        present = current.get(lang)
        if lang not in imported.titles:
            standing = Standing.DONE if present else Standing.OPEN
            found.append(PageChange(lang, (), (edition.title, *_body_lines(edition.body)), standing, 0))
        elif present:
            if edition.title != imported.titles[lang]:
                then, now = [imported.titles[lang]], [edition.title]
                standing = _stands(then, now, [present.title])
                found.append(PageChange(lang, tuple(then), tuple(now), standing, 0))
            body = _body_lines(present.body)
            found += _between(lang, _body_lines(imported.bodies[lang]), _body_lines(edition.body), body)
    return tuple(found)


def _between(
    lang: Language, then: Sequence[str], now: Sequence[str], entry: Sequence[str]
) -> Iterator[PageChange]:
    for tag, a, b, c, d in SequenceMatcher(None, then, now, autojunk=False).get_opcodes():
        if tag != "equal":
            old, new = then[a:b], now[c:d]
            # A line of context, for an addition has no old text to be looked for.
            around = list(then[max(a - 1, 0) : a]) + list(old) + list(then[b : b + 1])
            standing = _stands(old or around, new, entry)
            yield PageChange(lang, tuple(old), tuple(new), standing, _find(old or around, entry))


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


def _body_lines(text: str) -> list[str]:
    return text.strip("\n").split("\n")
