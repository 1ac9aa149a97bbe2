"""Pairs questions with their translations, by shared code, names, numbers, addresses and structure."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.entry import Language
from jieda.han import HAN
from jieda.importing.page import MarkdownPage, PagePair, code_lines
from jieda.importing.questions import PageQuestion, find_questions
from jieda.importing.wording import Wording

MAX_TEXT_CHARS = 6000
"""Maximum of characters of an answer that are used for pairing."""

_TOKEN = re.compile(r"[A-Za-z_][\w.+-]*\w|\d+(?:\.\d+)*|[A-Za-z]")
_ADDRESS = re.compile(r"https?://[^\s)>\"'`，。）]+|\]\(([^)\s]+)")
_IMAGE = re.compile(r"!\[|<img\b")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")
_HAN = re.compile(f"[{HAN}]")


@dataclass(frozen=True, slots=True)
class Features:
    """Features for pairing. `title`, `body`: counts of shared tokens; `build`: fences, items, images, links, length."""

    title: Mapping[str, int]
    body: Mapping[str, int]
    build: tuple[float, ...]
    anchor: str


class Extractor:
    """Extracts features of questions, including words that the glossary and the general wording pair up."""

    def __init__(self, wording: Wording, analyzer: Analyzer, glossary: Glossary) -> None:
        self._wording = wording
        self._analyzer = analyzer
        self._glossary = glossary

    def features(self, page: MarkdownPage, question: PageQuestion) -> Features:
        """Return the features of one question of a page."""
        lines = page.lines[question.body : question.end]
        text = "\n".join((question.lead, *lines))
        title = Counter(_tokens(question.title))
        title.update(f"sort:{name}" for name in self._wording.sorts_of(question.title))
        mentions = self._glossary.mentions(self._analyzer.analyze(question.title))
        title.update(f"group:{mention.group}" for mention in mentions)
        body = Counter(_tokens(text[:MAX_TEXT_CHARS]))
        body.update(f"at:{address}" for address in _addresses(text))
        return Features(title, body, _build(lines), question.anchor)


def _tokens(text: str) -> list[str]:
    return [match[0].casefold() for match in _TOKEN.finditer(text)]


def _addresses(text: str) -> list[str]:
    """Return the last part of every address, which usually does not depend on the language."""
    found = (match[1] or match[0] for match in _ADDRESS.finditer(text))
    return [each.rstrip("/").rpartition("/")[2].casefold() for each in found]


def _build(lines: Sequence[str]) -> tuple[float, ...]:
    code = code_lines(lines)
    prose = [line for number, line in enumerate(lines) if number not in code]
    text = "\n".join(prose)
    han = len(_HAN.findall(text))
    length = han * 1.8 + (len(text) - han) * 0.75
    return (
        len(code) ** 0.5,
        sum(bool(_ITEM.match(line)) for line in prose) ** 0.5,
        float(len(_IMAGE.findall(text))),
        float(len(_ADDRESS.findall(text))) ** 0.5,
        float(text.count("|") > 6),
        sum(bool(line.strip()) for line in prose) ** 0.5,
        (length**0.5) / 8,
    )


BUILD_WEIGHT = 0.22
THRESHOLD = 0.12
"""Subtracted from the worth of a pair. It is low enough that equal structure and order alone can make a pair."""
USUAL_WEIGHT = 0.3
"""Share of the page's median that is also subtracted: if pairs usually share much, one that shares little is none."""
MOVE_MARGIN = 0.12
"""Minimum gain in worth for a pair that breaks the order of the pages."""
SURE = 0.2
TITLE, BODY, ALONE = 0.5, 0.5, 0.8

Worth = Sequence[Sequence[float]]
"""By English question, then Chinese question: how much they seem to be translations."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Indices into the questions of both languages; one is None if that language lacks the question.

    `shared`, 0 to 1: similarity of their code, names and general words. `sure`: no other pairing is nearly as similar.
    """

    en: int | None
    zh: int | None
    shared: float
    sure: bool


def pair_up(en: Sequence[Features], zh: Sequence[Features]) -> tuple[Pair, ...]:
    """Pair the questions of both languages, each once, in the order of the English page; Chinese-only ones last."""
    if not en:
        return tuple(Pair(None, j, 0.0, sure=True) for j in range(len(zh)))
    shared = _shared(en, zh)
    worth = [
        [
            value + BUILD_WEIGHT * _structure_likeness(one.build, other.build) - THRESHOLD
            for value, other in zip(row, zh, strict=True)
        ]
        for row, one in zip(shared, en, strict=True)
    ]
    usual = median([shared[i][j] for i, j in _align(worth).items()] or [0.0])
    strict = [[value - USUAL_WEIGHT * usual for value in row] for row in worth]
    matched = _improve(_align(strict), strict)
    matched |= dict(_fill_gaps(matched, worth))
    pairs = [Pair(i, matched.get(i), *_certainty(i, matched.get(i), shared)) for i in range(len(en))]
    alone = [j for j in range(len(zh)) if j not in matched.values()]
    return (*pairs, *(Pair(None, j, 0.0, sure=True) for j in alone))


def _fill_gaps(matched: Mapping[int, int], worth: Worth) -> Iterator[tuple[int, int]]:
    """Yield pairs by order where both pages have the same number of unmatched questions between two matched ones."""
    neighbors = [(-1, -1), *sorted(matched.items()), (len(worth), len(worth[0]))]
    for (i, j), (next_i, next_j) in pairwise(neighbors):
        left, right = range(i + 1, next_i), range(j + 1, next_j)
        if len(left) == len(right) and not set(right) & set(matched.values()):
            yield from ((a, b) for a, b in zip(left, right, strict=True) if worth[a][b] > 0)


def _certainty(i: int, j: int | None, shared: Worth) -> tuple[float, bool]:
    if j is None:
        return 0.0, True
    rivals = [value for other, value in enumerate(shared[i]) if other != j]
    rivals += [row[j] for other, row in enumerate(shared) if other != i]
    own = shared[i][j]
    return own, own >= SURE and own > max(rivals, default=0.0) + 0.02


def _shared(en: Sequence[Features], zh: Sequence[Features]) -> list[list[float]]:
    """Return the similarity of every two questions, from the tf-idf cosines of their titles and of their answers."""
    titles = _cosines([each.title for each in en], [each.title for each in zh])
    bodies = _cosines([each.body for each in en], [each.body for each in zh])
    return [
        [_together(titles[i][j], bodies[i][j], one, other) for j, other in enumerate(zh)]
        for i, one in enumerate(en)
    ]


def _together(title: float | None, body: float | None, one: Features, other: Features) -> float:
    """Combine the similarities of title and answer; if one is None, the other is used alone."""
    if one.anchor and one.anchor == other.anchor:
        return 1.0
    if title is None or body is None:
        return ALONE * (title or body or 0.0)
    return TITLE * title + BODY * body


def _cosines(en: Sequence[Mapping[str, int]], zh: Sequence[Mapping[str, int]]) -> list[list[float | None]]:
    """Return cosines of tf-idf vectors over words that occur in both languages; None if one side has no such word."""
    common = set().union(*en) & set().union(*zh)
    frequency = Counter(word for each in (*en, *zh) for word in each if word in common)
    total = len(en) + len(zh)
    weights = {word: math.log(1 + total / count) for word, count in frequency.items()}
    left, right = ([_vector(each, weights) for each in side] for side in (en, zh))
    return [[_product(one, other) if one and other else None for other in right] for one in left]


def _product(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return sum(value * other.get(word, 0.0) for word, value in one.items())


def _vector(counts: Mapping[str, int], weights: Mapping[str, float]) -> dict[str, float]:
    vector = {
        word: (1 + math.log(count)) * weights[word] for word, count in counts.items() if word in weights
    }
    # The constant keeps a vector of one weak word shorter than others.
    norm = math.sqrt(sum(value * value for value in vector.values()) + 4.0)
    return {word: value / norm for word, value in vector.items()}


def _structure_likeness(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the similarity of the structure of two answers, 0 to 1."""
    return math.exp(-0.5 * sum(abs(a - b) for a, b in zip(one, other, strict=True)))


def _align(worth: Worth) -> dict[int, int]:
    """Return the pairs, in the same order on both pages, with the maximum total worth."""
    rows, columns = len(worth), len(worth[0])
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + worth[i][j])
    matched: dict[int, int] = {}
    i = j = 0
    while i < rows and j < columns:
        if best[i][j] == best[i + 1][j + 1] + worth[i][j]:
            matched[i] = j
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return matched


def _improve(matched: dict[int, int], worth: Worth) -> dict[int, int]:
    """Apply to `matched` every exchange that raises the total worth by more than the margin, largest first."""
    for _ in range(len(worth) + len(worth[0])):
        gain, changed = max(_exchanges(matched, worth), key=lambda one: one[0], default=(0.0, {}))
        if gain <= MOVE_MARGIN:
            break
        kept = {i: j for i, j in matched.items() if i not in changed and j not in changed.values()}
        matched = kept | {i: j for i, j in changed.items() if j is not None}
    return matched


def _exchanges(matched: Mapping[int, int], worth: Worth) -> Iterator[tuple[float, dict[int, int | None]]]:
    """For every two unpaired questions, yield the gain of pairing them, and the pairs that it changes."""
    holder = {j: i for i, j in matched.items()}
    for i, row in enumerate(worth):
        mine = matched.get(i)
        for j, value in enumerate(row):
            if j == mine or value <= 0:
                continue
            lost, back = (row[mine] if mine is not None else 0.0), 0.0
            changed: dict[int, int | None] = {i: j}
            if (other := holder.get(j)) is not None:
                lost += worth[other][j]
                back = max(worth[other][mine], 0.0) if mine is not None else 0.0
                changed[other] = mine if back else None
            yield value + back - lost, changed


@dataclass(frozen=True, slots=True)
class BilingualQuestion:
    """A question in one or both languages. `shared` and `sure` as in `Pair`."""

    pair: PagePair
    found: Mapping[Language, PageQuestion]
    shared: float
    sure: bool

    @property
    def titles(self) -> dict[Language, str]:
        """Title in each language that has the question."""
        return {lang: question.title for lang, question in self.found.items()}


def find_candidates(pair: PagePair, wording: Wording, extractor: Extractor) -> tuple[BilingualQuestion, ...]:
    """Find the questions of a page in both languages and pair them; repeated ones are left out."""
    questions = {
        lang: _without_repeated(page, find_questions(page, wording)) for lang, page in pair.pages.items()
    }
    if len(questions) < 2:
        return tuple(
            BilingualQuestion(pair, {lang: each}, 0.0, sure=True)
            for lang, found in questions.items()
            for each in found
        )
    en, zh = ([extractor.features(pair.pages[lang], each) for each in questions[lang]] for lang in Language)
    candidates: list[BilingualQuestion] = []
    for matched in pair_up(en, zh):
        places = {Language.EN: matched.en, Language.ZH: matched.zh}
        found = {lang: questions[lang][at] for lang, at in places.items() if at is not None}
        candidates.append(BilingualQuestion(pair, found, matched.shared, matched.sure))
    return tuple(candidates)


def _without_repeated(page: MarkdownPage, questions: Sequence[PageQuestion]) -> list[PageQuestion]:
    """Leave out verbatim repetitions of earlier questions with their answers."""
    kept: dict[tuple[str, ...], PageQuestion] = {}
    for question in questions:
        lines = (line.strip() for line in page.lines[question.body : question.end])
        texts = (question.title, question.lead, *(line for line in lines if line.strip("-=<>br/ ")))
        kept.setdefault(texts, question)
    return list(kept.values())
