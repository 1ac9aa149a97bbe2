"""Figures about the amount and state of the content, for maintainers."""

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
"""Age buckets, youngest first: name to maximum of days; None for no limit."""


@dataclass(frozen=True, slots=True)
class Group:
    """Counts of a group of entries. `entries`: visible to readers; `drafts`: with at least one draft edition;
    `editions` and `stale` by language; `samples`: their logs; `ages` by bucket."""

    entries: int
    drafts: int
    editions: Mapping[Language, int]
    stale: Mapping[Language, int]
    samples: int
    ages: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ContentFigures:
    """Counts of all entries, and of those of each framework and kind that has any."""

    all: Group
    frameworks: Mapping[str, Group]
    kinds: Mapping[str, Group]

    def groups(self) -> Iterator[tuple[str, Group]]:
        yield from self.frameworks.items()
        yield from self.kinds.items()
        yield "all", self.all


def figures_of(corpus: Corpus, today: date) -> ContentFigures:
    """Return the figures of a corpus; ages are relative to `today`."""
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
    days = [(today - max(file.updated for file in editions.values())).days for editions in shown]
    ages = [next(name for name, most in AGES.items() if most is None or each <= most) for each in days]
    return Group(
        entries=len(shown),
        drafts=sum(len(corpus.published.get(each, {})) < len(corpus.by_id[each]) for each in every),
        editions={lang: sum(lang in editions for editions in shown) for lang in Language},
        stale={lang: stale.count(lang) for lang in Language},
        samples=sum(len(corpus.samples.get(each, ())) for each in every),
        ages={name: ages.count(name) for name in AGES},
    )
