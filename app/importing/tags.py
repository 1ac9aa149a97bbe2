"""Which tags of the taxonomy a question is about, by the words of the tags and of the entries that have them."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from app.analysis.pipeline import Analyzer
from app.analysis.token import TokenKind
from app.content.read.corpus import Corpus
from app.taxonomy import Tag

ENOUGH = 3.0
"""How much the words of a tag must weigh together, at least two of them or one of its name."""
MOST = 2


class TagFinder:
    """Finds tags of one list. `titles` are those of entries that have a tag, by tag."""

    def __init__(
        self, tags: Mapping[str, Tag], titles: Mapping[str, Iterable[str]], analyzer: Analyzer
    ) -> None:
        self._analyzer = analyzer
        words: dict[str, set[str]] = defaultdict(set)
        for tag in tags.values():
            texts = [*tag.name.values(), *tag.description.values(), tag.id.replace("-", " ")]
            for text in (*texts, *titles.get(tag.id, ())):
                words[tag.id] |= self._terms(text)
        self._names = {
            tag.id: self._terms(" ".join([*tag.name.values(), tag.id.replace("-", " ")]))
            for tag in tags.values()
        }
        self._words = words
        frequency = Counter(term for terms in words.values() for term in terms)
        self._weight = {term: math.log((1 + len(tags)) / count) for term, count in frequency.items()}

    def find(self, text: str) -> tuple[str, ...]:
        """The ids of the tags that fit best, at most two; none where nothing fits well."""
        terms = self._terms(text)
        scores = {
            tag: sum(self._weight[term] * (2 if term in self._names[tag] else 1) for term in terms & words)
            for tag, words in self._words.items()
        }
        named = {
            tag for tag, words in self._words.items() if len(terms & words) > 1 or terms & self._names[tag]
        }
        best = max(scores.values(), default=0.0)
        fit = [tag for tag, score in scores.items() if score >= max(ENOUGH, 0.7 * best) and tag in named]
        return tuple(sorted(fit, key=lambda tag: -scores[tag])[:MOST])

    def _terms(self, text: str) -> set[str]:
        tokens = self._analyzer.analyze(text).tokens
        return {token.text for token in tokens if token.kind is TokenKind.TERM and len(token.text) > 1}


def finders_of(corpus: Corpus, analyzer: Analyzer) -> tuple[TagFinder, TagFinder]:
    """What finds topics and what finds error types, by the taxonomy and the titles of a corpus."""
    topics: dict[str, list[str]] = {}
    types: dict[str, list[str]] = {}
    for file in corpus.files:
        for known, tags in ((topics, file.front.topics), (types, file.front.error_types)):
            for tag in tags:
                known.setdefault(tag, []).append(file.front.title)
    taxonomy = corpus.taxonomy
    return TagFinder(taxonomy.topic, topics, analyzer), TagFinder(taxonomy.error_type, types, analyzer)
