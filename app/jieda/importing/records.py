"""Records of imports, `imports/<framework>.json`: every edition as it was imported, with which a repeated import
compares the current page and the current entry."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cache
from heapq import heapify, heappop, heappush
from itertools import count
from pathlib import Path

from jieda.content.read.corpus import Corpus
from jieda.disk import write_aside
from jieda.entry import Language
from jieda.errors import ImportingError
from jieda.han import HAN
from jieda.importing.pairing import BilingualQuestion

FORMAT = 1


@dataclass(frozen=True, slots=True)
class EditionTexts:
    """Title and body of an edition."""

    title: str
    body: str


@dataclass(frozen=True, slots=True)
class EntryTexts:
    """The texts of an entry: as imported, as now on the page, or as in the content."""

    id: str
    page: str
    editions: Mapping[Language, EditionTexts]

    @property
    def titles(self) -> dict[Language, str]:
        return {lang: edition.title for lang, edition in self.editions.items()}


def record_path(directory: Path, framework: str) -> Path:
    """Return the path of a framework's record in a content directory."""
    return directory / "imports" / f"{framework}.json"


def read_record(directory: Path, framework: str) -> tuple[EntryTexts, ...]:
    """Read what was imported before, in order; nothing if there is no record. Raises ImportingError."""
    path = record_path(directory, framework)
    if not path.is_file():
        return ()
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw["format"] != FORMAT:
            raise ImportingError(f"{path} has format {raw['format']}; this version of Jieda reads {FORMAT}")
        return tuple(
            EntryTexts(
                str(each["id"]),
                str(each["page"]),
                {
                    Language(lang): EditionTexts(str(edition["title"]), str(edition["body"]))
                    for lang, edition in each["editions"].items()
                },
            )
            for each in raw["entries"]
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ImportingError(
            f"{path} cannot be read ({error!r}): restore it, or delete it to import anew"
        ) from error


def write_record(directory: Path, framework: str, entries: tuple[EntryTexts, ...]) -> None:
    """Replace the record atomically."""
    path = record_path(directory, framework)
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = {"format": FORMAT, "entries": [asdict(each) for each in entries]}
    write_aside(path, (json.dumps(raw, ensure_ascii=False, indent=1) + "\n").encode())


SAME_QUESTION = 0.6
"""Minimum similarity of title and answer for a reworded question to count as the one imported before."""


def recognize(candidates: Sequence[BilingualQuestion], record: Sequence[EntryTexts]) -> dict[int, EntryTexts]:
    """Map the numbers of candidates to their records, first by equal titles, then by similarity."""
    known: dict[int, EntryTexts] = {}
    by_page: dict[str, list[EntryTexts]] = defaultdict(list)
    for imported in record:
        by_page[imported.page].append(imported)
    for number, candidate in enumerate(candidates):
        remaining, titles = by_page[candidate.pair.key], candidate.titles.items()
        same = (each for title in titles for each in remaining if title in each.titles.items())
        if match := next(same, None):
            remaining.remove(match)
            known[number] = match
    pairs = list(_similar(candidates, by_page, known))
    queue = [(-bound, -number, place, False) for place, (bound, number, *_) in enumerate(pairs)]
    heapify(queue)
    taken: set[str] = set()
    while queue:
        _, _, place, is_exact = heappop(queue)
        _, number, imported, half, wordings = pairs[place]
        if number in known or imported.id in taken:
            continue
        if is_exact:
            known[number] = imported
            taken.add(imported.id)
        # Comparing titles is slow, so it is put off until no other pair can be more similar.
        elif (similarity := half + 0.5 * SequenceMatcher(None, *wordings).ratio()) >= SAME_QUESTION:
            heappush(queue, (-similarity, -number, place, True))
    return known


def reuse_page_keys(
    candidates: Sequence[BilingualQuestion], record: Sequence[EntryTexts]
) -> tuple[BilingualQuestion, ...]:
    """Return the candidates, with the recorded key for a moved page, if most of the recorded titles are on it."""
    recorded: dict[str, set[str]] = defaultdict(set)
    pages_with: dict[str, dict[str, None]] = defaultdict(dict)
    for imported in record:
        for title in imported.titles.values():
            recorded[imported.page].add(title)
            pages_with[title][imported.page] = None
    current: dict[str, dict[str, None]] = defaultdict(dict)
    for candidate in candidates:
        current[candidate.pair.key] |= dict.fromkeys(candidate.titles.values())
    names = {key: key for key in current}
    for key in [key for key in current if key not in recorded]:
        shared = Counter(name for title in current[key] for name in pages_with[title] if name not in names)
        best, count = next(iter(shared.most_common(1)), ("", 0))
        if 2 * count > len(recorded[best]):
            names[key] = names[best] = best
    return tuple(replace(each, pair=replace(each.pair, key=names[each.pair.key])) for each in candidates)


def current_id(imported: EntryTexts, corpus: Corpus) -> str:
    """Return the current id of an imported entry, which may have been renamed."""
    if imported.id in corpus.by_id:
        return imported.id
    renamed = (file.id for file in corpus.files if imported.id in file.front.formerly)
    return next(renamed, imported.id)


def _similar(
    candidates: Sequence[BilingualQuestion], rest: Mapping[str, Sequence[EntryTexts]], known: Collection[int]
) -> Iterator[tuple[float, int, EntryTexts, float, tuple[str, str]]]:
    """Yield each candidate not yet known with each record of its page in `rest` that may be similar enough: the upper
    bound of their similarity, its number, the record, half the similarity of the answers, and the titles, whose
    similarity is the other half."""
    letters = cache(_occurrences)
    words = cache(lambda text: _occurrences(_words(text)))
    for number, candidate in enumerate(candidates):
        for lang, question in candidate.questions.items() if number not in known else ():
            lines = candidate.pair.pages[lang].lines[question.body : question.end]
            answer = words("\n".join((question.lead, *lines)))
            for imported in rest[candidate.pair.key]:
                if then := imported.editions.get(lang):
                    # Ignores the order of words: links and headings were rewritten.
                    half = 0.5 * _overlap(answer, words(then.body))
                    bound = half + 0.5 * _overlap(letters(question.title), letters(then.title))
                    if bound >= SAME_QUESTION:
                        yield bound, number, imported, half, (question.title, then.title)


def _occurrences(items: Iterable[str]) -> frozenset[str]:
    """Return the items, each with the number of its occurrence: sets are compared fast, and a page has many pairs."""
    seen: dict[str, Iterator[int]] = defaultdict(count)
    return frozenset(f"{next(seen[item])} {item}" for item in items)


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


def _words(text: str) -> list[str]:
    """Return the words and single Han characters, without those of section titles."""
    prose = re.sub(r"^## .*$", "", text, flags=re.MULTILINE)
    return re.findall(rf"[{HAN}]|[^\W{HAN}]+", prose)


class Standing(StrEnum):
    """State of an entry with respect to a change of its page."""

    OPEN = "open"
    """It has the old text of the page: the change can be applied as it is."""
    DONE = "done"
    """It has the new text of the page."""
    CONFLICT = "conflict"
    """It has neither: a person has to compare them."""


@dataclass(frozen=True, slots=True)
class PageChange:
    """Lines of the page then and now; either may be empty. `line`: their line in the entry's body, from 1, or 0."""

    lang: Language
    then: tuple[str, ...]
    now: tuple[str, ...]
    standing: Standing
    line: int

    @property
    def is_edition(self) -> bool:
        """Whether it is a whole edition, which the entry lacks."""
        return self.standing is Standing.OPEN and not (self.then or self.line)


def find_changes(imported: EntryTexts, page: EntryTexts, entry: EntryTexts) -> tuple[PageChange, ...]:
    """Return every change of the page since it was imported, compared with the entry as it is now; an edition that was
    deleted since is ignored."""
    changes: list[PageChange] = []
    for lang, now in page.editions.items():
        then, current = imported.editions.get(lang), entry.editions.get(lang)
        if then is None:
            standing = Standing.DONE if current else Standing.OPEN
            changes.append(PageChange(lang, (), (now.title, *_body_lines(now.body)), standing, 0))
        elif current is not None:
            if now.title != then.title:
                standing = _standing([then.title], [now.title], [current.title])
                changes.append(PageChange(lang, (then.title,), (now.title,), standing, 0))
            changes += _body_changes(lang, *(_body_lines(each.body) for each in (then, now, current)))
    return tuple(changes)


def _body_changes(
    lang: Language, then: Sequence[str], now: Sequence[str], entry: Sequence[str]
) -> Iterator[PageChange]:
    for tag, a, b, c, d in SequenceMatcher(None, then, now, autojunk=False).get_opcodes():
        if tag != "equal":
            old, new = then[a:b], now[c:d]
            # A line of context, because an addition has no old text to search for.
            old_or_context = old or [*then[max(a - 1, 0) : a], *then[b : b + 1]]
            standing = _standing(old_or_context, new, entry)
            yield PageChange(lang, tuple(old), tuple(new), standing, _find(old_or_context, entry))


def _standing(old: Sequence[str], new: Sequence[str], entry: Sequence[str]) -> Standing:
    if _find(new, entry) or not (_nonblank(new) or _find(old, entry)):
        return Standing.DONE
    return Standing.OPEN if _find(old, entry) else Standing.CONFLICT


def _find(passage: Sequence[str], lines: Sequence[str]) -> int:
    """Return the line, from 1, on which `passage` starts, ignoring blank lines; 0 if it does not occur."""
    needle, haystack = _nonblank(passage), _nonblank(lines)
    numbers = (number for number, line in enumerate(lines, 1) if line.strip())
    starts = (at for at, start in enumerate(numbers) if haystack[at : at + len(needle)] == needle)
    return next(starts, 0) if needle else 0


def _nonblank(lines: Sequence[str]) -> list[str]:
    return [line.strip() for line in lines if line.strip()]


def _body_lines(text: str) -> list[str]:
    return text.strip("\n").split("\n")
