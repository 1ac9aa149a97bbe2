"""Which questions of a page were imported before, whatever has been done to either since."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from app.content.read.corpus import Corpus
from app.entry import Language
from app.han import HAN
from app.importing.proposal import Candidate
from app.importing.records import Imported

SAME_QUESTION = 0.6
"""From this likeness of title and answer on, a question that was reworded is still the one imported before."""


def recognize(candidates: Sequence[Candidate], record: Sequence[Imported]) -> dict[int, Imported]:
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
    candidates: Sequence[Candidate], record: Sequence[Imported]
) -> tuple[Candidate, ...]:
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
    candidates: Sequence[Candidate],
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


def _likeness(candidate: Candidate, imported: Imported, lang: Language) -> float:
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
