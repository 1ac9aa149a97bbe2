"""What a question and its answer share with their translation: code, names, numbers, addresses, and its build."""

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
"""Of an answer, that are read for pairing it."""

_TOKEN = re.compile(r"[A-Za-z_][\w.+-]*\w|\d+(?:\.\d+)*|[A-Za-z]")
_ADDRESS = re.compile(r"https?://[^\s)>\"'`，。）]+|\]\(([^)\s]+)")
_IMAGE = re.compile(r"!\[|<img\b")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")
_HAN = re.compile(f"[{HAN}]")


@dataclass(frozen=True, slots=True)
class Features:
    """`title` and `body` count words that both languages may have. `build`: fences, items, images, links, length."""

    title: Mapping[str, int]
    body: Mapping[str, int]
    build: tuple[float, ...]
    anchor: str
    categories: tuple[str, ...]


class Extractor:
    """Takes the features of questions, with the words that the glossary and the general wording pair up."""

    def __init__(self, wording: Wording, analyzer: Analyzer, glossary: Glossary) -> None:
        self._wording = wording
        self._analyzer = analyzer
        self._glossary = glossary

    def features(self, page: MarkdownPage, question: PageQuestion) -> Features:
        """The features of one question of a page."""
        lines = page.lines[question.body : question.end]
        text = "\n".join((question.lead, *lines))
        title = Counter(_tokens(question.title))
        title.update(f"sort:{name}" for name in self._wording.sorts_of(question.title))
        title.update(self._concepts(question.title))
        body = Counter(_tokens(text[:MAX_TEXT_CHARS]))
        body.update(f"at:{address}" for address in _addresses(text))
        return Features(title, body, _build(lines), question.anchor, question.categories)

    def _concepts(self, text: str) -> list[str]:
        """The groups of the glossary that stand in a text."""
        analysis = self._analyzer.analyze(text)
        return [f"group:{mention.group}" for mention in self._glossary.mentions(analysis)]


def _tokens(text: str) -> list[str]:
    return [match[0].casefold() for match in _TOKEN.finditer(text)]


def _addresses(text: str) -> list[str]:
    """The last part of every address, without what marks the language in it."""
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
"""A pair is worth what it shares less this; so what is built alike and stands in order is a pair by that alone."""
USUAL_WEIGHT = 0.3
"""Where pairs of a page usually share much, one that shares little is none: so much of the median is taken off."""
MOVE_MARGIN = 0.12
"""By how much more two questions must share to be a pair against the order."""
SURE = 0.2
TITLE, BODY, ALONE = 0.5, 0.5, 0.8


@dataclass(frozen=True, slots=True)
class Pair:
    """Indexes into the questions of either language, one of them None where a language lacks the question.

    `shared`, 0 to 1, is how much of what they say in code, names and general words is the same. `sure`: no other
    pairing comes near.
    """

    en: int | None
    zh: int | None
    shared: float
    sure: bool


def pair_up(en: Sequence[Features], zh: Sequence[Features]) -> tuple[Pair, ...]:
    """Every question of both languages, once, in the order of the English page, then what only Chinese has."""
    shared = _shared(en, zh)
    worth = [
        [
            shared[i][j] + BUILD_WEIGHT * _built_alike(en[i].build, zh[j].build) - THRESHOLD
            for j in range(len(zh))
        ]
        for i in range(len(en))
    ]
    usual = median([shared[i][j] for i, j in _aligned(worth, len(en), len(zh)).items()] or [0.0])
    strict = [[value - USUAL_WEIGHT * usual for value in row] for row in worth]
    matched = _exchanged(_aligned(strict, len(en), len(zh)), strict, len(en), len(zh))
    matched |= dict(_between(matched, worth, len(en), len(zh)))
    chinese = {j: i for i, j in matched.items()}
    pairs = [Pair(i, matched.get(i), *_certainty(i, matched.get(i), shared)) for i in range(len(en))]
    return (*pairs, *(Pair(None, j, 0.0, sure=True) for j in range(len(zh)) if j not in chinese))


def _between(
    matched: Mapping[int, int], worth: Sequence[Sequence[float]], rows: int, columns: int
) -> Iterator[tuple[int, int]]:
    """Where as many questions are left on either page between the same two neighbors, they are pairs by order."""
    neighbors = [(-1, -1), *sorted(matched.items()), (rows, columns)]
    for (i, j), (next_i, next_j) in pairwise(neighbors):
        left, right = range(i + 1, next_i), range(j + 1, next_j)
        if len(left) == len(right) and not set(right) & set(matched.values()):
            yield from ((a, b) for a, b in zip(left, right, strict=True) if worth[a][b] > 0)


def _certainty(i: int, j: int | None, shared: Sequence[Sequence[float]]) -> tuple[float, bool]:
    if j is None:
        return 0.0, True
    rivals = [value for other, value in enumerate(shared[i]) if other != j]
    rivals += [row[j] for other, row in enumerate(shared) if other != i]
    own = shared[i][j]
    return own, own >= SURE and own > max(rivals, default=0.0) + 0.02


def _shared(en: Sequence[Features], zh: Sequence[Features]) -> list[list[float]]:
    """For every two questions the cosine of what they share, titles and answers apart, rare words counting more."""
    titles = _cosines([each.title for each in en], [each.title for each in zh])
    bodies = _cosines([each.body for each in en], [each.body for each in zh])
    return [
        [_together(titles[i][j], bodies[i][j], one, other) for j, other in enumerate(zh)]
        for i, one in enumerate(en)
    ]


def _together(title: float | None, body: float | None, one: Features, other: Features) -> float:
    """What is shared in all; where a title or an answer has no words that could be shared, the other has to do."""
    if one.anchor and one.anchor == other.anchor:
        return 1.0
    if title is None or body is None:
        return ALONE * (title or body or 0.0)
    return TITLE * title + BODY * body


def _cosines(en: Sequence[Mapping[str, int]], zh: Sequence[Mapping[str, int]]) -> list[list[float | None]]:
    """Cosine of tf-idf vectors over the words that both languages use at all; None where one has no such word."""
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
    # A vector of one weak word would be as long as any other.
    norm = math.sqrt(sum(value * value for value in vector.values()) + 4.0)
    return {word: value / norm for word, value in vector.items()}


def _built_alike(one: Sequence[float], other: Sequence[float]) -> float:
    """How alike two answers are built, 0 to 1."""
    return math.exp(-0.5 * sum(abs(a - b) for a, b in zip(one, other, strict=True)))


def _aligned(worth: Sequence[Sequence[float]], rows: int, columns: int) -> dict[int, int]:
    """The pairs, in order on both pages, whose worth adds up to most."""
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


def _exchanged(
    matched: dict[int, int], worth: Sequence[Sequence[float]], rows: int, columns: int
) -> dict[int, int]:
    """`matched` after every exchange that raises the worth of all pairs by the margin, largest first."""
    for _ in range(rows + columns):
        gain, changed = max(
            _exchanges(matched, worth, rows, columns), key=lambda one: one[0], default=(0.0, {})
        )
        if gain <= MOVE_MARGIN:
            break
        kept = {i: j for i, j in matched.items() if i not in changed and j not in changed.values()}
        matched = kept | {i: j for i, j in changed.items() if j is not None}
    return matched


def _exchanges(
    matched: Mapping[int, int], worth: Sequence[Sequence[float]], rows: int, columns: int
) -> Iterator[tuple[float, dict[int, int | None]]]:
    """For every two questions that are not a pair: what making them one gains, and which pairs that changes."""
    holder = {j: i for i, j in matched.items()}
    for i in range(rows):
        mine = matched.get(i)
        now = worth[i][mine] if mine is not None else 0.0
        for j in range(columns):
            if j == mine or worth[i][j] <= 0:
                continue
            other = holder.get(j)
            lost = now + (worth[other][j] if other is not None else 0.0)
            changed: dict[int, int | None] = {i: j}
            back = 0.0
            if other is not None:
                back = worth[other][mine] if mine is not None else 0.0
                changed[other] = mine if back > 0 else None
                back = max(back, 0.0)
            yield worth[i][j] + back - lost, changed


@dataclass(frozen=True, slots=True)
class BilingualQuestion:
    """A question in one or both languages. `shared` and `sure`: see `Pair`."""

    pair: PagePair
    found: Mapping[Language, PageQuestion]
    shared: float
    sure: bool

    @property
    def titles(self) -> dict[Language, str]:
        """The question in each language it has."""
        return {lang: question.title for lang, question in self.found.items()}


def find_candidates(pair: PagePair, wording: Wording, extractor: Extractor) -> tuple[BilingualQuestion, ...]:
    """The questions of a page in both languages, paired; those that stand there twice are left out."""
    questions = {
        lang: unrepeated(page, find_questions(page, wording))[0] for lang, page in pair.pages.items()
    }
    if len(questions) < 2:
        return tuple(
            BilingualQuestion(pair, {lang: each}, 0.0, sure=True)
            for lang, found in questions.items()
            for each in found
        )
    en, zh = ([extractor.features(pair.pages[lang], each) for each in questions[lang]] for lang in Language)
    return tuple(
        BilingualQuestion(
            pair, _both(questions[Language.EN], questions[Language.ZH], each), each.shared, each.sure
        )
        for each in pair_up(en, zh)
    )


def _both(en: Sequence[PageQuestion], zh: Sequence[PageQuestion], pair: Pair) -> dict[Language, PageQuestion]:
    found: dict[Language, PageQuestion] = {}
    if pair.en is not None:
        found[Language.EN] = en[pair.en]
    if pair.zh is not None:
        found[Language.ZH] = zh[pair.zh]
    return found


def unrepeated(
    page: MarkdownPage, questions: Sequence[PageQuestion]
) -> tuple[tuple[PageQuestion, ...], tuple[PageQuestion, ...]]:
    """Questions, and apart from them those that stand on the page before, word for word."""
    seen: set[tuple[str, ...]] = set()
    kept: list[PageQuestion] = []
    repeated: list[PageQuestion] = []
    for question in questions:
        lines = (line.strip() for line in page.lines[question.body : question.end])
        said = (question.title, question.lead, *(line for line in lines if line.strip("-=<>br/ ")))
        (repeated if said in seen else kept).append(question)
        seen.add(said)
    return tuple(kept), tuple(repeated)
