"""Parsed files to entries: twins joined, faulty parts left out, drafts left behind."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from app.content.corpus import Corpus, Editions, link_fault
from app.content.links import Link, LinkKind
from app.content.parse import ParsedFile
from app.content.staleness import newest, stale_languages
from app.entry import Entry, Kind


def make_entries(corpus: Corpus) -> dict[str, Entry]:
    """The entries that are served, by id in order. What twins contradict each other in, the newer says."""
    old_ids = claimed_ids(corpus)
    published = corpus.published.items()
    return {entry_id: _entry(corpus, entry_id, editions, old_ids) for entry_id, editions in published}


def claimed_ids(corpus: Corpus) -> dict[str, str]:
    """Old id to the entry it leads to now: the first that claims it; an id in use leads to itself."""
    claims: dict[str, str] = {}
    for entry_id, editions in corpus.published.items():
        for file in editions.values():
            for old in file.front.formerly:
                if old not in corpus.by_id:
                    claims.setdefault(old, entry_id)
    return claims


def _entry(corpus: Corpus, entry_id: str, editions: Editions, old_ids: dict[str, str]) -> Entry:
    front = newest(editions).front
    kind = front.kind or Kind.CONCEPT
    topics, error_types = corpus.taxonomy.topic, corpus.taxonomy.error_type
    return Entry(
        id=entry_id,
        kind=kind,
        topics=_only(front.topics, topics.__contains__),
        error_types=_only(front.error_types, lambda tag: tag in error_types and kind is Kind.ERROR),
        signatures=front.signatures,
        related=_only(front.related, lambda other: other in corpus.published and other != entry_id),
        formerly=tuple(old for old, current in old_ids.items() if current == entry_id),
        editions={lang: file.edition(_keeper(corpus, file)) for lang, file in editions.items()},
        stale=stale_languages(editions),
    )


def _only(values: Iterable[str], wanted: Callable[[str], bool]) -> tuple[str, ...]:
    return tuple(value for value in values if wanted(value))


def _keeper(corpus: Corpus, file: ParsedFile) -> Callable[[Link], Link | None]:
    def keep(link: Link) -> Link | None:
        if not link_fault(corpus, file, link):
            image = corpus.images[f"{file.lang}/{link.target}"] if link.kind is LinkKind.IMAGE else None
            return replace(link, size=image.size) if image else link
        without_anchor = replace(link, anchor="")
        if link.kind is LinkKind.ENTRY and not link_fault(corpus, file, without_anchor):
            return without_anchor
        return None

    return keep
