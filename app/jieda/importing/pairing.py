"""Pairs questions with their translations, by shared code, names, numbers, addresses and structure."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np
from numpy.typing import NDArray

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.entry import Language
from jieda.han import count_han
from jieda.importing.outline import code_lines
from jieda.importing.page import MarkdownPage, PagePair
from jieda.importing.questions import PageQuestion, find_questions
from jieda.importing.wording import WORDING

MAX_TEXT_CHARS = 6000
"""Maximum of characters of an answer that are used for pairing."""

_TOKEN = re.compile(r"[A-Za-z_][\w.+-]*\w|\d+(?:\.\d+)*|[A-Za-z]")
_ADDRESS = re.compile(r"https?://[^\s)>\"'`，。）]+|\]\(([^)\s]+)")
_IMAGE = re.compile(r"!\[|<img\b")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")
_CODE = re.compile(r"(?<!`)(`++) ?(?=\S)(.+?)(?<=\S) ?\1(?!`)")


@dataclass(frozen=True, slots=True)
class Features:
    """Features for pairing. `title`, `body`: counts of shared tokens; `build`: fences, items, images, links, length."""

    title: Mapping[str, int]
    body: Mapping[str, int]
    build: tuple[float, ...]
    anchor: str


class Extractor:
    """Extracts features of questions, including words that the glossary and the general wording pair up."""

    def __init__(self, analyzer: Analyzer, glossary: Glossary) -> None:
        self._analyzer = analyzer
        self._glossary = glossary

    def features(self, page: MarkdownPage, question: PageQuestion) -> Features:
        lines = page.lines[question.body : question.end]
        text = "\n".join((question.lead, *lines))
        title = Counter(_tokens(question.title))
        title.update(f"sort:{name}" for name in WORDING.sorts_of(question.title))
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
    han = count_han(text)
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
ORDER_WEIGHT = 0.3
"""Subtracted from the worth of a pair of the first question of a page and the last of the other."""
RIVAL_WEIGHT = 0.5
"""Share of the similarity of a pair's best rival by which the pair is chosen later."""
THRESHOLD = 0.12
"""Subtracted from the worth of a pair. It is low enough that equal structure and order alone can make a pair."""
USUAL_WEIGHT = 0.3
"""Share of the page's median that is also subtracted: if pairs usually share much, one that shares little is none."""
SURE, SURE_MARGIN = 0.2, 0.02
TITLE, BODY, ALONE = 0.5, 0.5, 0.8

Matrix = NDArray[np.float64]
"""By English question, then Chinese question."""


def pair_up(en: Sequence[Features], zh: Sequence[Features]) -> tuple[dict[int, int], Matrix, Matrix]:
    """Return the pairs of questions, by numbers; the similarity of every two by code, names and words, 0 to 1; and
    that of the best rival of every two."""
    if not (en and zh):
        return {}, np.zeros((0, 0)), np.zeros((0, 0))
    shared = _similarities(en, zh)
    rivals = np.maximum(_best_others(shared), _best_others(shared.T).T)
    builds = np.array([each.build for each in en])[:, None] - np.array([each.build for each in zh])
    places = np.linspace(0, 1, len(en))[:, None] - np.linspace(0, 1, len(zh))
    worth = shared + BUILD_WEIGHT * np.exp(-0.5 * np.abs(builds).sum(axis=2)) - THRESHOLD
    ordered = worth - ORDER_WEIGHT * np.abs(places)
    usual = median([float(shared[pair]) for pair in _choose(ordered, ordered).items()] or [0.0])
    strict = ordered - USUAL_WEIGHT * usual
    matched = _choose(strict, strict - RIVAL_WEIGHT * rivals)
    return matched | dict(_fill_gaps(matched, worth)), shared, rivals


def _best_others(values: Matrix) -> Matrix:
    """Return for each value the highest other one of its row."""
    order = np.sort(np.pad(values, ((0, 0), (1, 0))), axis=1)
    first, second = order[:, -1:], order[:, -2:-1]
    best: Matrix = np.where(values == first, second, first)
    return best


def _choose(worth: Matrix, rank: Matrix) -> dict[int, int]:
    """Return pairs that are worth something, the highest by `rank` first, each question in one at most."""
    matched: dict[int, int] = {}
    for place in np.argsort(-rank, axis=None, kind="stable").tolist():
        i, j = divmod(place, worth.shape[1])
        if worth[i, j] > 0 and i not in matched and j not in matched.values():
            matched[i] = j
    return matched


def _fill_gaps(matched: Mapping[int, int], worth: Matrix) -> Iterator[tuple[int, int]]:
    """Yield pairs by order where both pages have the same number of unmatched questions between two matched ones."""
    neighbors = [(-1, -1), *sorted(matched.items()), (len(worth), len(worth[0]))]
    for (i, j), (next_i, next_j) in pairwise(neighbors):
        left, right = range(i + 1, next_i), range(j + 1, next_j)
        if len(left) == len(right) and not set(right) & set(matched.values()):
            yield from ((a, b) for a, b in zip(left, right, strict=True) if worth[a][b] > 0)


def _similarities(en: Sequence[Features], zh: Sequence[Features]) -> Matrix:
    """Return the similarity of every two questions: cosines of titles and answers, or one alone if one is unknown."""
    titles = _cosines([each.title for each in en], [each.title for each in zh])
    bodies = _cosines([each.body for each in en], [each.body for each in zh])
    both = TITLE * titles + BODY * bodies
    shared = np.where(np.isnan(both), ALONE * np.nan_to_num(np.fmax(titles, bodies)), both)
    anchored = [[bool(one.anchor) and one.anchor == other.anchor for other in zh] for one in en]
    return np.where(anchored, 1.0, shared)


def _cosines(en: Sequence[Mapping[str, int]], zh: Sequence[Mapping[str, int]]) -> Matrix:
    """Return cosines of tf-idf vectors over words that occur in both languages; NaN if one side has no such word."""
    columns = {word: at for at, word in enumerate(sorted(set().union(*en) & set().union(*zh)))}
    counts = np.zeros((len(en) + len(zh), len(columns)))
    for row, words in zip(counts, (*en, *zh), strict=True):
        for word in words.keys() & columns.keys():
            row[columns[word]] = words[word]
    weights = np.log(1 + len(counts) / np.count_nonzero(counts, axis=0))
    vectors = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0) * weights
    # The constant keeps a vector of one weak word shorter than others.
    vectors /= np.sqrt((vectors**2).sum(axis=1, keepdims=True) + 4.0)
    cosines: Matrix = vectors[: len(en)] @ vectors[len(en) :].T
    empty = np.count_nonzero(counts, axis=1) == 0
    cosines[empty[: len(en)]] = cosines[:, empty[len(en) :]] = np.nan
    return cosines


@dataclass(frozen=True, slots=True)
class BilingualQuestion:
    """A question in one or both languages.

    `shared`, 0 to 1: similarity of code, names and general words. `sure`: no other pairing is nearly as similar.
    """

    pair: PagePair
    found: Mapping[Language, PageQuestion]
    shared: float = 0.0
    sure: bool = True

    @property
    def titles(self) -> dict[Language, str]:
        """Those of the questions without the marks of code: titles of entries are plain text."""
        return {lang: _CODE.sub(r"\2", question.title) for lang, question in self.found.items()}


def find_candidates(pair: PagePair, extractor: Extractor) -> tuple[BilingualQuestion, ...]:
    """Find and pair the questions of a page, in the English order, Chinese-only ones last, each only once."""
    questions = {lang: _without_repeated(page, find_questions(page)) for lang, page in pair.pages.items()}
    features = {
        lang: [extractor.features(pair.pages[lang], each) for each in questions.get(lang, ())]
        for lang in Language
    }
    matched, shared, rivals = pair_up(features[Language.EN], features[Language.ZH])
    candidates: list[BilingualQuestion] = []
    for i, question in enumerate(questions.get(Language.EN, ())):
        found = {Language.EN: question}
        if (j := matched.get(i)) is None:
            candidates.append(BilingualQuestion(pair, found))
        else:
            found[Language.ZH] = questions[Language.ZH][j]
            own = float(shared[i, j])
            sure = own >= SURE and own > float(rivals[i, j]) + SURE_MARGIN
            candidates.append(BilingualQuestion(pair, found, own, sure))
    for j, question in enumerate(questions.get(Language.ZH, ())):
        if j not in matched.values():
            candidates.append(BilingualQuestion(pair, {Language.ZH: question}))
    return tuple(candidates)


def _without_repeated(page: MarkdownPage, questions: Sequence[PageQuestion]) -> list[PageQuestion]:
    kept: dict[tuple[str, ...], PageQuestion] = {}
    for question in questions:
        lines = (line.strip() for line in page.lines[question.body : question.end])
        texts = (question.title, question.lead, *(line for line in lines if line.strip("-=<>br/ ")))
        kept.setdefault(texts, question)
    return list(kept.values())
