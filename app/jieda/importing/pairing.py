"""Pairs questions with their translations, by shared code, names, numbers, addresses and layout."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np
from numpy.typing import NDArray

from jieda.analysis.pipeline import Glossary
from jieda.content.read.forms import MAX_TITLE_CHARS
from jieda.entry import Language
from jieda.han import count_han
from jieda.importing.outline import code_lines
from jieda.importing.page import MarkdownPage, PagePair
from jieda.importing.questions import PageQuestion, find_questions
from jieda.importing.wording import WORDING

MAX_TEXT_CHARS = 6000
"""Maximum number of characters of an answer that are used for pairing."""

_TOKEN = re.compile(r"[A-Za-z_][\w.+-]*\w|\d+(?:\.\d+)*|[A-Za-z]")
_ADDRESS = re.compile(r"https?://[^\s)>\"'`，。）]+|\]\(([^)\s]+)")
_IMAGE = re.compile(r"!\[|<img\b")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")
_CODE = re.compile(r"(?<!`)(`++) ?(?=\S)(.+?)(?<=\S) ?\1(?!`)")


@dataclass(frozen=True, slots=True)
class Features:
    """Features for pairing. `title`, `body`: counts of shared tokens; `layout`: code, items, images, links, length."""

    title: Mapping[str, int]
    body: Mapping[str, int]
    layout: tuple[float, ...]
    anchor: str


def features_of(page: MarkdownPage, question: PageQuestion, glossary: Glossary) -> Features:
    """Return the features of a question, among them words that the glossary or the general wording pairs up."""
    lines = page.lines[question.body : question.end]
    text = "\n".join((question.lead, *lines))
    title = Counter(_tokens(question.title))
    title.update(f"sort:{name}" for name in WORDING.sorts_of(question.title))
    title.update(f"group:{concept.term}" for concept in glossary.read(question.title).concepts)
    body = Counter(_tokens(text[:MAX_TEXT_CHARS]))
    # The last part of an address is usually the same in both languages.
    addresses = ((match[1] or match[0]).rstrip("/").rpartition("/")[2] for match in _ADDRESS.finditer(text))
    body.update(f"at:{address.casefold()}" for address in addresses)
    return Features(title, body, _layout(lines), question.anchor)


def _tokens(text: str) -> list[str]:
    return [match[0].casefold() for match in _TOKEN.finditer(text)]


def _layout(lines: Sequence[str]) -> tuple[float, ...]:
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


LAYOUT_WEIGHT = 0.22
ORDER_WEIGHT = 0.3
"""Subtracted from the score of a pair of the first question of one page and the last of the other."""
RIVAL_WEIGHT = 0.5
"""Share of the similarity of a pair's best rival that is subtracted from its rank."""
THRESHOLD = 0.12
"""Subtracted from the score of a pair. It is so low that equal layout and order alone can make a pair."""
TYPICAL_WEIGHT = 0.3
"""Share of the page's median similarity that is also subtracted: a pair must be similar enough for its page."""
SURE_SIMILARITY, SURE_MARGIN = 0.2, 0.02
TITLE_WEIGHT, BODY_WEIGHT, SINGLE_WEIGHT = 0.5, 0.5, 0.8

Matrix = NDArray[np.float64]
"""Values by English question, then by Chinese question."""


def pair_up(en: Sequence[Features], zh: Sequence[Features]) -> tuple[dict[int, int], Matrix, Matrix]:
    """Return the pairs of questions by number; the similarity of every two by code, names and words, 0 to 1; and the
    highest similarity of either of them to another question."""
    if not (en and zh):
        return {}, np.zeros((0, 0)), np.zeros((0, 0))
    similarity = _similarities(en, zh)
    rivals = np.maximum(_best_others(similarity), _best_others(similarity.T).T)
    layouts = np.array([each.layout for each in en])[:, None] - np.array([each.layout for each in zh])
    distances = np.linspace(0, 1, len(en))[:, None] - np.linspace(0, 1, len(zh))
    scores = similarity + LAYOUT_WEIGHT * np.exp(-0.5 * np.abs(layouts).sum(axis=2)) - THRESHOLD
    ordered = scores - ORDER_WEIGHT * np.abs(distances)
    typical = median([float(similarity[pair]) for pair in _choose(ordered, ordered).items()] or [0.0])
    strict = ordered - TYPICAL_WEIGHT * typical
    matched = _choose(strict, strict - RIVAL_WEIGHT * rivals)
    return matched | dict(_fill_gaps(matched, scores)), similarity, rivals


def _best_others(values: Matrix) -> Matrix:
    """Return for each value the highest other one of its row."""
    order = np.sort(np.pad(values, ((0, 0), (1, 0))), axis=1)
    first, second = order[:, -1:], order[:, -2:-1]
    best: Matrix = np.where(values == first, second, first)
    return best


def _choose(scores: Matrix, rank: Matrix) -> dict[int, int]:
    """Return pairs with a score above 0, choosing the highest by `rank` first, each question in at most one."""
    matched: dict[int, int] = {}
    for place in np.argsort(-rank, axis=None, kind="stable").tolist():
        i, j = divmod(place, scores.shape[1])
        if scores[i, j] > 0 and i not in matched and j not in matched.values():
            matched[i] = j
    return matched


def _fill_gaps(matched: Mapping[int, int], scores: Matrix) -> Iterator[tuple[int, int]]:
    """Yield pairs in order if both pages have the same number of unmatched questions between two matched ones."""
    neighbors = [(-1, -1), *sorted(matched.items()), (len(scores), len(scores[0]))]
    for (i, j), (next_i, next_j) in pairwise(neighbors):
        left, right = range(i + 1, next_i), range(j + 1, next_j)
        if len(left) == len(right) and not set(right) & set(matched.values()):
            yield from ((a, b) for a, b in zip(left, right, strict=True) if scores[a][b] > 0)


def _similarities(en: Sequence[Features], zh: Sequence[Features]) -> Matrix:
    """Return the similarity of every two questions: the cosines of titles and answers, or only the known one."""
    titles = _cosines([each.title for each in en], [each.title for each in zh])
    bodies = _cosines([each.body for each in en], [each.body for each in zh])
    both = TITLE_WEIGHT * titles + BODY_WEIGHT * bodies
    similarity = np.where(np.isnan(both), SINGLE_WEIGHT * np.nan_to_num(np.fmax(titles, bodies)), both)
    same_anchor = [[bool(left.anchor) and left.anchor == right.anchor for right in zh] for left in en]
    return np.where(same_anchor, 1.0, similarity)


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
    """A question in one or both languages. `similarity`: of code, names and general words, 0 to 1. `sure`: no other
    pairing is nearly as similar."""

    pair: PagePair
    questions: Mapping[Language, PageQuestion]
    similarity: float = 0.0
    sure: bool = True

    @property
    def titles(self) -> dict[Language, str]:
        """Titles of the questions as entries have them: plain text, without the marks of code, of limited length."""
        titles = {lang: _CODE.sub(r"\2", question.title) for lang, question in self.questions.items()}
        return {lang: " ".join(title[:MAX_TITLE_CHARS].split()) for lang, title in titles.items()}


def find_candidates(pair: PagePair, glossary: Glossary) -> tuple[BilingualQuestion, ...]:
    """Find and pair the questions of a page, in English order, Chinese-only ones last, without repeated ones."""
    questions = {lang: _without_repetitions(page, find_questions(page)) for lang, page in pair.pages.items()}
    features = {
        lang: [features_of(pair.pages[lang], each, glossary) for each in questions.get(lang, ())]
        for lang in Language
    }
    matched, similarities, rivals = pair_up(features[Language.EN], features[Language.ZH])
    candidates: list[BilingualQuestion] = []
    for i, question in enumerate(questions.get(Language.EN, ())):
        by_lang = {Language.EN: question}
        if (j := matched.get(i)) is None:
            candidates.append(BilingualQuestion(pair, by_lang))
        else:
            by_lang[Language.ZH] = questions[Language.ZH][j]
            similarity = float(similarities[i, j])
            sure = similarity >= SURE_SIMILARITY and similarity > float(rivals[i, j]) + SURE_MARGIN
            candidates.append(BilingualQuestion(pair, by_lang, similarity, sure))
    for j, question in enumerate(questions.get(Language.ZH, ())):
        if j not in matched.values():
            candidates.append(BilingualQuestion(pair, {Language.ZH: question}))
    return tuple(candidates)


def _without_repetitions(page: MarkdownPage, questions: Sequence[PageQuestion]) -> list[PageQuestion]:
    unique: dict[tuple[str, ...], PageQuestion] = {}
    for question in questions:
        lines = (line.strip() for line in page.lines[question.body : question.end])
        texts = (question.title, question.lead, *(line for line in lines if line.strip("-=<>br/ ")))
        unique.setdefault(texts, question)
    return list(unique.values())
