"""How much content there is and in what state, for those who maintain it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from jieda.content.read.corpus import Corpus, newest, stale_languages
from jieda.entry import Kind, Language

AGES: Mapping[str, int | None] = {
    "<= 30 days": 30,
    "<= 90 days": 90,
    "<= 180 days": 180,
    "<= 365 days": 365,
    "older": None,
}
"""Buckets of age, youngest first: name and the most days; None for any number of them."""


@dataclass(frozen=True, slots=True)
class Group:
    """Some entries, counted. `entries` are those that readers see, `drafts` those with an edition that they do not
    see yet; `editions` and `stale` by language, `samples` their logs, `ages` by bucket."""

    entries: int
    drafts: int
    editions: Mapping[Language, int]
    stale: Mapping[Language, int]
    samples: int
    ages: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ContentFigures:
    """All entries, and those of each framework and kind of which there are any."""

    all: Group
    frameworks: Mapping[str, Group]
    kinds: Mapping[str, Group]

    def groups(self) -> Iterator[tuple[str, Group]]:
        """Each group with its name, the whole last."""
        yield from self.frameworks.items()
        yield from self.kinds.items()
        yield "all", self.all


def figures_of(corpus: Corpus, today: date) -> ContentFigures:
    """The figures of a corpus; ages are counted from `today`."""
    frameworks: dict[str, list[str]] = {name: [] for name in corpus.taxonomy.framework}
    kinds: dict[str, list[str]] = {kind.value: [] for kind in Kind}
    for entry_id, editions in corpus.by_id.items():
        frameworks[entry_id.partition("/")[0]].append(entry_id)
        kinds[newest(editions).front.kind or Kind.CONCEPT].append(entry_id)
    return ContentFigures(
        _group(corpus, corpus.by_id, today),
        {name: _group(corpus, ids, today) for name, ids in frameworks.items() if ids},
        {name: _group(corpus, ids, today) for name, ids in kinds.items() if ids},
    )


def _group(corpus: Corpus, ids: Iterable[str], today: date) -> Group:
    every = list(ids)
    shown = [corpus.published[each] for each in every if each in corpus.published]
    stale = [lang for editions in shown for lang in stale_languages(editions)]
    ages = [_age((today - max(file.updated for file in editions.values())).days) for editions in shown]
    return Group(
        entries=len(shown),
        drafts=sum(len(corpus.published.get(each, {})) < len(corpus.by_id[each]) for each in every),
        editions={lang: sum(lang in editions for editions in shown) for lang in Language},
        stale={lang: stale.count(lang) for lang in Language},
        samples=sum(len(corpus.samples.get(each, ())) for each in every),
        ages={name: ages.count(name) for name in AGES},
    )


def _age(days: int) -> str:
    return next(name for name, most in AGES.items() if most is None or days <= most)
