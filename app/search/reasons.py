"""Why a hit was found, in words a reader understands."""

from collections.abc import Sequence

from app.analysis.pipeline import Analyzer
from app.analysis.token import text_of
from app.entry import Entry
from app.search.answers import Reason, ReasonType
from app.search.engine import Contribution, Source
from app.search.passages import Concordance
from app.search.query import ParsedQuery

SHOWN = 5
WORTH_SAYING = 0.04
"""Share of the score below which a contribution is no reason."""

BY_ZONE = {"title": ReasonType.TITLE, "alias": ReasonType.ALIAS, "signature": ReasonType.SIGNATURE}
BY_SOURCE = {
    Source.GLOSSARY: ReasonType.GLOSSARY,
    Source.TYPO: ReasonType.TYPO,
    Source.IDENTIFIER: ReasonType.IDENTIFIER,
}
ORDER = {kind: number for number, kind in enumerate(ReasonType)}


def reasons(
    parsed: ParsedQuery, contributions: Sequence[Contribution], concordance: Concordance
) -> tuple[Reason, ...]:
    """At most SHOWN, strongest kind first; a word of the query is named once, by its best reason."""
    total = sum(one.score for one in contributions)
    best: dict[str, Reason] = {}
    for one in contributions:
        if one.score < WORTH_SAYING * total:
            continue
        reason = _reason(one, parsed, concordance)
        if one.label not in best or ORDER[reason.type] < ORDER[best[one.label].type]:
            best[one.label] = reason
    return tuple(sorted(best.values(), key=lambda reason: ORDER[reason.type]))[:SHOWN]


def exact_reasons(parsed: ParsedQuery, entry: Entry, analyzer: Analyzer) -> tuple[Reason, ...]:
    """The titles and aliases that the whole query is."""
    keys = {text_of(key) for key in parsed.query.keys}
    named = [
        (kind, text)
        for edition in entry.editions.values()
        for kind, texts in ((ReasonType.TITLE, (edition.title,)), (ReasonType.ALIAS, edition.aliases))
        for text in texts
    ]
    return tuple(dict.fromkeys(Reason(kind, text) for kind, text in named if analyzer.key(text) in keys))


def _reason(one: Contribution, parsed: ParsedQuery, concordance: Concordance) -> Reason:
    kind = BY_SOURCE.get(one.source)
    if kind is ReasonType.GLOSSARY:
        via = concordance.surface(one.term)
        # A word inside a longer phrase of the glossary may well stand for itself.
        return (
            Reason(kind, one.label, via)
            if via.casefold() != one.label.casefold()
            else Reason(ReasonType.TEXT, via)
        )
    if kind is ReasonType.TYPO:
        typed = next((c.typed for c in parsed.corrections if c.word == one.label), one.label)
        return Reason(kind, typed, one.label)
    zone = one.zone.partition("_")[0]
    if kind is None:
        kind = BY_ZONE.get(zone, ReasonType.IDENTIFIER if zone == "code" else ReasonType.TEXT)
    return Reason(kind, one.label)
