"""Why a result was found, as a line to be read: words together by where they stand, as the reader wrote them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from app.search.answers import Hit, Reason, ReasonType
from app.web.pages.context import PageContext

CODE = frozenset({ReasonType.IDENTIFIER, ReasonType.SIGNATURE})

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ReasonView:
    """What of a search was found in one place of an entry; `code`: it is set as code."""

    label: str
    text: str
    code: bool


def reason_views(
    context: PageContext, query: str, hit: Hit, all_texts: Iterable[str]
) -> tuple[ReasonView, ...]:
    """The reasons of `hit` in their order, those of a kind in one. `all_texts`: those of all reasons of all results.

    Chinese is also searched by pairs of characters, so that 显存不足 may be found by 显存, 存不 and 不足. The pair
    in between is not a word; it is left out, and neighbors are put together again.
    """
    reasons = hit.reasons
    words = [span for text in set(all_texts) if (span := _place(query, text))]
    spans = {reason: span for reason in reasons if (span := _place(query, reason.text))}
    kept = _kept([reason for reason in reasons if not _is_filler(spans.get(reason), words)], spans)
    groups: dict[tuple[ReasonType, str], list[Reason]] = {}
    for reason in kept:
        groups.setdefault((reason.type, _label(reason, hit.elsewhere)), []).append(reason)
    return tuple(
        ReasonView(context.t(label), context.t("list.join").join(_texts(query, members, spans)), kind in CODE)
        for (kind, label), members in groups.items()
    )


def _label(reason: Reason, elsewhere: Collection[str]) -> str:
    """The key of the words that say where something was found."""
    is_other = reason.type is ReasonType.TITLE and reason.text in elsewhere
    return "reason.other_title" if is_other else f"reason.{reason.type.value}"


def _place(query: str, text: str) -> Span | None:
    start = query.casefold().find(text.casefold())
    return (start, start + len(text)) if start >= 0 and len(query.casefold()) == len(query) else None


def _is_filler(span: Span | None, words: Iterable[Span]) -> bool:
    """Whether a pair of characters begins in one word that was found and ends in the next."""
    if span is None or span[1] - span[0] != 2:
        return False
    start, end = span
    others = [word for word in words if word != span]
    return any(right == start + 1 for _, right in others) and any(left == end - 1 for left, _ in others)


def _kept(reasons: Sequence[Reason], spans: Mapping[Reason, Span]) -> list[Reason]:
    """`reasons` without what is half inside a word that says more, and without a sense that has no word."""
    kept: list[Reason] = []
    for reason in reasons:
        better = [spans[each] for each in kept if each in spans and each.type is not reason.type]
        crosses = reason in spans and any(_cross(spans[reason], span) for span in better)
        vague = reason.type is ReasonType.GLOSSARY and not reason.via and len(reasons) > 1
        if not crosses and not vague:
            kept.append(reason)
    return kept


def _cross(one: Span, other: Span) -> bool:
    return one[0] < other[0] < one[1] < other[1] or other[0] < one[0] < other[1] < one[1]


def _texts(query: str, reasons: Iterable[Reason], spans: Mapping[Reason, Span]) -> list[str]:
    """Each text as the query has it, stretches of Chinese that touch made one; with what stands for it."""
    texts: list[str] = []
    last: Span = (-1, -1)
    for reason in sorted(reasons, key=lambda each: spans.get(each, (len(query), 0))):
        start, end = spans.get(reason, (-2, -2))
        written = query[start:end] if start >= 0 else reason.text
        if reason.via:
            texts.append(f"{written} ↔ {reason.via}")
            continue
        if texts and start >= 0 and start <= last[1] and not written.isascii():
            last = (last[0], max(end, last[1]))
            texts[-1] = query[last[0] : last[1]]
            continue
        texts.append(written)
        last = (start, end)
    return texts
