"""Why a hit was found, in words a reader understands."""

from collections.abc import Sequence

from app.analysis.pipeline import Analyzer
from app.analysis.token import text_of
from app.entry import Edition, Entry, Language
from app.search.answers import Reason, ReasonType
from app.search.query.parser import ParsedQuery
from app.search.query.types import Source
from app.search.rank.explain import Contribution
from app.search.show.passages import Concordance

SHOWN = 5
WORTH_SAYING = 0.04
"""Share of the score below which a contribution is not shown as a reason."""

BY_ZONE = {"title": ReasonType.TITLE, "alias": ReasonType.ALIAS, "signature": ReasonType.SIGNATURE}
BY_SOURCE = {
    Source.GLOSSARY: ReasonType.GLOSSARY,
    Source.TRANSLATION: ReasonType.GLOSSARY,
    Source.TYPO: ReasonType.TYPO,
    Source.IDENTIFIER: ReasonType.IDENTIFIER,
}
ORDER = {kind: number for number, kind in enumerate(ReasonType)}


def reasons(
    parsed: ParsedQuery,
    contributions: Sequence[Contribution],
    concordance: Concordance,
    *,
    alike: bool = False,
) -> tuple[Reason, ...]:
    """At most SHOWN, strongest kind first; a word of the query is named once, by its best reason. An entry that is
    `alike` was found by its meaning more than by these words: that is its reason, before them."""
    total = sum(one.score for one in contributions)
    best: dict[str, Reason] = {}
    for one in contributions:
        if one.score < WORTH_SAYING * total:
            continue
        reason, word = _reason(one, parsed, concordance), one.label.casefold()
        if word not in best or ORDER[reason.type] < ORDER[best[word].type]:
            best[word] = reason
    meant = [Reason(ReasonType.MEANING, "")] if alike else []
    return (*meant, *sorted(best.values(), key=lambda reason: ORDER[reason.type]))[:SHOWN]


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


def exact_elsewhere(exact: Sequence[Reason], edition: Edition) -> frozenset[str]:
    """The titles among `exact_reasons` that are not that of `edition`."""
    return frozenset(each.text for each in exact if each.type is ReasonType.TITLE) - {edition.title}


def in_other_title(contributions: Sequence[Contribution], lang: Language) -> frozenset[str]:
    """The words that the title in the other language has, and the one in `lang` has not."""
    here, there = f"title_{lang}", f"title_{lang.other}"
    titled = [(one.zone, one.label) for one in contributions if one.zone in {here, there}]
    return frozenset({label for zone, label in titled if zone == there}).difference(
        label for zone, label in titled if zone == here
    )


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
