"""Why a hit was found, in words a reader understands."""

from collections.abc import Iterator, Sequence

from app.analysis.pipeline import Analyzer
from app.entry import Edition, Entry
from app.search.answers import Reason, ReasonType
from app.search.engine import Contribution
from app.search.passages import Passages
from app.search.query import ParsedQuery

SHOWN = 5
WORTH_SAYING = 0.04
"""Share of the score below which a contribution is no reason."""

BY_ZONE = {"title": ReasonType.TITLE, "alias": ReasonType.ALIAS, "signature": ReasonType.SIGNATURE}
BY_SOURCE = {
    "glossary": ReasonType.GLOSSARY,
    "typo": ReasonType.TYPO,
    "identifier": ReasonType.IDENTIFIER,
}
ORDER = {type: number for number, type in enumerate(ReasonType)}


def reasons(
    parsed: ParsedQuery,
    contributions: Sequence[Contribution],
    entry: Entry,
    edition: Edition,
    passages: Passages,
    analyzer: Analyzer,
) -> tuple[Reason, ...]:
    """At most SHOWN, strongest kind first; a word of the query is named once, by its best reason."""
    found = [*_exact(parsed, entry, analyzer)]
    total = sum(one.score for one in contributions)
    best: dict[str, Reason] = {}
    for one in contributions:
        if one.score < WORTH_SAYING * total:
            continue
        reason = _reason(one, parsed, edition, passages)
        if one.label not in best or ORDER[reason.type] < ORDER[best[one.label].type]:
            best[one.label] = reason
    found += sorted(best.values(), key=lambda reason: ORDER[reason.type])
    return tuple(dict.fromkeys(found))[:SHOWN]


def _exact(parsed: ParsedQuery, entry: Entry, analyzer: Analyzer) -> Iterator[Reason]:
    """The title or alias that the whole query is."""
    keys = {key.partition(":")[2] for key in parsed.query.keys}
    for edition in entry.editions.values():
        if analyzer.key(edition.title) in keys:
            yield Reason(ReasonType.TITLE, edition.title)
        for alias in edition.aliases:
            if analyzer.key(alias) in keys:
                yield Reason(ReasonType.ALIAS, alias)


def _reason(one: Contribution, parsed: ParsedQuery, edition: Edition, passages: Passages) -> Reason:
    type = BY_SOURCE.get(one.source)
    if type is ReasonType.GLOSSARY:
        return Reason(type, one.label, passages.surface(edition, one.term))
    if type is ReasonType.TYPO:
        typed = next((c.typed for c in parsed.corrections if c.word == one.label), one.label)
        return Reason(type, typed, one.label)
    zone = one.zone.partition("_")[0]
    if type is None:
        type = BY_ZONE.get(zone, ReasonType.IDENTIFIER if zone == "code" else ReasonType.TEXT)
    return Reason(type, one.label)
