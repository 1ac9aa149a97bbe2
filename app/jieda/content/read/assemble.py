"""Outlines to entries: twins joined, faulty parts left out, drafts left behind."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from jieda.content.markdown.links import Link, LinkKind
from jieda.content.read.corpus import Corpus, link_fault, newest, stale_languages
from jieda.content.read.outline import Outline
from jieda.entry import Edition, EditionSummary, Entry, Kind, Language, Signature, Summary

Decisions = tuple[tuple[Link, Link | None], ...]
"""For every link to an entry, an anchor or an image, what is to be written instead; None: its text alone."""


@dataclass(frozen=True, slots=True)
class EntryHead:
    """An entry without the text of its editions."""

    summary: Summary
    signatures: tuple[Signature, ...]
    formerly: tuple[str, ...]
    applies_anywhere: bool = False

    def entry(self, editions: Mapping[Language, Edition]) -> Entry:
        summary = self.summary
        stale = frozenset(lang for lang, edition in summary.editions.items() if edition.stale)
        return Entry(
            id=summary.id,
            kind=summary.kind,
            topics=summary.topics,
            error_types=summary.error_types,
            signatures=self.signatures,
            related=summary.related,
            formerly=self.formerly,
            editions=editions,
            stale=stale,
            validity=summary.validity,
            applies_anywhere=self.applies_anywhere,
        )


def claimed_ids(corpus: Corpus) -> dict[str, str]:
    """Old id to the entry it leads to now: the first that claims it; an id in use leads to itself."""
    claims: dict[str, str] = {}
    for entry_id, editions in corpus.published.items():
        for file in editions.values():
            for old in file.front.formerly:
                if old not in corpus.by_id:
                    claims.setdefault(old, entry_id)
    return claims


def old_ids(claims: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Of every entry that has any, the ids that lead to it."""
    held: dict[str, tuple[str, ...]] = {}
    for old, entry_id in claims.items():
        held[entry_id] = (*held.get(entry_id, ()), old)
    return held


def make_head(corpus: Corpus, entry_id: str, formerly: tuple[str, ...]) -> EntryHead:
    """A published entry as it is served. What twins contradict each other in, the newer says."""
    editions = corpus.published[entry_id]
    front = newest(editions).front
    kind = front.kind or Kind.CONCEPT
    topics, error_types = corpus.taxonomy.topic, corpus.taxonomy.error_type
    stale = stale_languages(editions)
    summary = Summary(
        id=entry_id,
        kind=kind,
        topics=_only(front.topics, topics.__contains__),
        error_types=_only(front.error_types, lambda tag: tag in error_types and kind is Kind.ERROR),
        related=_only(front.related, lambda other: other in corpus.published and other != entry_id),
        updated=max(file.updated for file in editions.values()),
        editions={lang: _edition_summary(file, stale=lang in stale) for lang, file in editions.items()},
        validity=front.validity,
    )
    return EntryHead(summary, front.signatures, formerly, front.applies_anywhere)


def _edition_summary(file: Outline, *, stale: bool) -> EditionSummary:
    return EditionSummary(
        lang=file.lang,
        title=file.front.title,
        applies_to=file.front.applies_to,
        updated=file.updated,
        stale=stale,
        digest=file.digest,
        path=str(file.path),
    )


def _only(values: Iterable[str], wanted: Callable[[str], bool]) -> tuple[str, ...]:
    return tuple(value for value in values if wanted(value))


def decide_links(corpus: Corpus, file: Outline) -> Decisions:
    """What becomes of the links of a published edition, each distinct one once."""
    inner = (LinkKind.ENTRY, LinkKind.ANCHOR, LinkKind.IMAGE)
    links = dict.fromkeys(link for link in file.links if link.kind in inner)
    return tuple((link, _kept(corpus, file, link)) for link in links)


def _kept(corpus: Corpus, file: Outline, link: Link) -> Link | None:
    if not link_fault(corpus, file, link):
        image = corpus.images[f"{file.lang}/{link.target}"] if link.kind is LinkKind.IMAGE else None
        return replace(link, size=image.size) if image else link
    without_anchor = replace(link, anchor="")
    if link.kind is LinkKind.ENTRY and not link_fault(corpus, file, without_anchor):
        return without_anchor
    return None
