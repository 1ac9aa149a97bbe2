"""The search page: results with reasons, filters, and alternatives where little was found."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import unescape

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from jieda.entry import Language
from jieda.search.answers import (
    MOST_WEAK,
    Hit,
    Reason,
    ReasonType,
    SearchAnswer,
    SearchRequest,
    Span,
    SuggestionType,
)
from jieda.usecases.search import Found, browse, clip
from jieda.usecases.search import search as search_for
from jieda.web.pages.context import PageContext, context_of, page_answer, requested_filters, requested_page
from jieda.web.pages.filters import FilterBar, filter_bar
from jieda.web.pages.layout import SENTENCE_GAPS, Head, render_page
from jieda.web.pages.parts import (
    ListedEntry,
    PageLink,
    Pager,
    TagLink,
    build_pager,
    doubt_of,
    entry_row,
    lang_attribute,
    name_of,
    tag_links,
)
from jieda.web.pages.verdict import (
    MatchView,
    NearView,
    TiedView,
    external_links,
    match_view,
    near_view,
    tied_view,
)
from jieda.web.site import asker_of
from jieda.web.templating import whole_flags

PAGE_SIZE = 10
LONGEST_QUERY = 200
"""Characters of a query in links to other sites, which reject longer ones."""
MARKED = re.compile("<mark>(.*?)</mark>")
NAME_PART = re.compile(r"(?<=[a-z0-9]_)(?=[a-z0-9])", re.ASCII | re.IGNORECASE)
"""Where a title may break a line inside an identifier."""
LONG_NAME = re.compile(r"[\w.]{20,}", re.ASCII)


@dataclass(frozen=True, slots=True)
class ReasonView:
    """What the query matched in one field of an entry; `code` sets it as code."""

    label: str
    text: str
    code: bool


@dataclass(frozen=True, slots=True)
class Card:
    """A result. `title` and `snippet` are escaped HTML with marks; the snippet may contain code as well."""

    row: ListedEntry
    title: Markup
    snippet: Markup
    snippet_lang: str
    reasons: tuple[ReasonView, ...]


@dataclass(frozen=True, slots=True)
class SuggestedSearch:
    """A search that would find something: its text, and its result count in words."""

    text: str
    detail: str
    url: str


@dataclass(frozen=True, slots=True)
class SearchView:
    """The view of `search.html`."""

    query: str
    status: str
    """The number of results in words, announced to screen readers."""
    outcome: str
    """The verdict of a finished query on its first page, or empty."""
    verdict: MatchView | None
    """The entry that explains an error line; it is shown above the results."""
    tied: TiedView | None
    """Instead, candidates from several frameworks, between which the reader has to choose first."""
    foreign: tuple[NearView, ...]
    here: str
    """The address of this page."""
    bar: FilterBar
    cards: tuple[Card, ...]
    titles: int
    """Number of weak results shown by title only; the others are collapsed."""
    correction: str
    verbatim: str
    """The address that searches the query as typed, where it was corrected."""
    phrase_dropped: bool
    weak: bool
    absent_words: str
    """Query words that no entry contains; empty where there are none or nothing was found."""
    nothing: str
    """Why nothing was found, in words; empty where something was."""
    offers: tuple[SuggestedSearch, ...]
    near: tuple[ListedEntry, ...]
    topics: tuple[TagLink, ...]
    """Topics to browse where nothing was found."""
    pager: Pager | None
    external_links: tuple[PageLink, ...]


def search_page(context: PageContext, found: Found) -> str:
    """Render the results of a search."""
    request = found.request
    view = _view(context, found)
    title = context.t("search.title_query", query=request.text) if request.text else context.t("search.title")
    head = Head(
        name="search",
        title=f"{title} · {context.t('site.name')}",
        description=context.t("search.description"),
        here=lambda lang: _page_url(context, request, lang, _number(request)),
        indexed=not request.text and not request.filters and not request.offset,
    )
    return render_page(context, "search.html", head, view)


def _view(context: PageContext, found: Found) -> SearchView:
    request, answer = found.request, found.answer
    diagnosis = found.diagnosis if found.diagnosis and found.diagnosis.printed else None
    matches = diagnosis.matches if diagnosis else ()
    asks = diagnosis is not None and bool(diagnosis.asks)
    foreign = [near for near in diagnosis.near if near.foreign] if diagnosis else []
    above = {match.entry.id for match in (matches if asks else matches[:1])}
    above |= {near.entry.id for near in foreign}
    lost = answer.weak or (not answer.total and not request.filters and not matches)
    hits = [hit for hit in answer.hits if hit.entry.id not in above]
    page_url = partial(_page_url, context, request, context.lang)
    number, as_typed = _number(request), replace(request, verbatim=True)
    doubts = {hit.entry.id: doubt_of(context, hit.entry, answer.query) for hit in answer.hits}
    near = [each.entry for each in answer.suggestions if each.type is SuggestionType.NEAR_MISS and each.entry]
    nothing = "search.nothing_filtered" if request.filters else "search.nothing_hint"
    return SearchView(
        query=request.text,
        status=_status(context, request, answer),
        outcome=found.diagnosis.verdict.value if found.diagnosis else "",
        verdict=match_view(context, matches[0]) if matches and not asks else None,
        tied=tied_view(context, diagnosis) if diagnosis and asks else None,
        foreign=tuple(near_view(context, near, diagnosis.framework) for near in foreign) if diagnosis else (),
        here=page_url(number),
        bar=filter_bar(context, request, answer, doubts=doubts.values()),
        cards=tuple(_card(context, answer, hit, doubts[hit.entry.id]) for hit in hits),
        titles=MOST_WEAK if answer.weak and not request.offset else 0,
        correction=answer.correction,
        verbatim=_page_url(context, as_typed, context.lang, 1) if answer.correction else "",
        phrase_dropped=answer.phrase_dropped,
        weak=answer.weak,
        absent_words=_absent_words(context, answer) if answer.total and not matches else "",
        nothing="" if answer.total else context.t(nothing),
        offers=tuple(_offers(context, request, answer)),
        topics=tag_links(context, "topic") if not answer.total and not request.filters else (),
        near=tuple(entry_row(context, context.library.summary(entry.id)) for entry in near),
        pager=build_pager(context, number, answer.total, PAGE_SIZE, page_url),
        external_links=_external_links(context, request) if lost else (),
    )


def _external_links(context: PageContext, request: SearchRequest) -> tuple[PageLink, ...]:
    frameworks = request.filters.framework
    words = request.text.strip()[:LONGEST_QUERY]
    return external_links(context, words, frameworks[0] if len(frameworks) == 1 else "")


def _number(request: SearchRequest) -> int:
    return request.offset // PAGE_SIZE + 1


def _page_url(context: PageContext, request: SearchRequest, lang: Language, number: int) -> str:
    return context.urls.search_filtered(
        lang,
        request.text,
        request.filters,
        page=number if number > 1 else None,
        verbatim=request.verbatim,
    )


def _status(context: PageContext, request: SearchRequest, answer: SearchAnswer) -> str:
    if not request.text.strip():
        return context.t("count.entries", count=answer.total)
    return context.t("search.status", count=answer.total) if answer.total else context.t("search.nothing")


def _absent_words(context: PageContext, answer: SearchAnswer) -> str:
    """Name what no entry covers of the query: the framework that it names, or words."""
    names = context.t("list.join").join(name_of(context, "framework", each) for each in answer.frameworks)
    words = context.t("list.join").join(answer.absent_words)
    sentences = [context.t("search.none_of", names=names)] if answer.is_of_others else []
    sentences += [context.t("search.absent_words", words=words)] if words else []
    return SENTENCE_GAPS[context.lang].join(sentences)


def _card(context: PageContext, answer: SearchAnswer, hit: Hit, doubt: str) -> Card:
    snippet = LONG_NAME.sub(lambda name: NAME_PART.sub("<wbr>", name[0]), hit.snippet.html_with_code)
    return Card(
        row=entry_row(context, context.library.summary(hit.entry.id), doubt),
        title=whole_flags(NAME_PART.sub("<wbr>", hit.title)),
        snippet=whole_flags(snippet),
        snippet_lang=lang_attribute(context, hit.edition.lang),
        reasons=_reason_views(context, answer, hit),
    )


def _offers(context: PageContext, request: SearchRequest, answer: SearchAnswer) -> Iterator[SuggestedSearch]:
    t, search_url = context.t, partial(context.urls.search_filtered, context.lang)
    for each in answer.suggestions:
        if each.type is SuggestionType.SPELLING:
            text = t("search.try_spelling", query=each.query)
            yield SuggestedSearch(text, "", search_url(each.query, request.filters))
        elif each.type is SuggestionType.DROP_FILTER:
            text = t("search.drop_filters")
            if each.facet:
                text = t("search.drop_filter", facet=t(f"facet.{each.facet}"))
            count = t("search.status", count=each.count)
            yield SuggestedSearch(text, count, search_url(request.text, each.filters))


CODE = frozenset({ReasonType.IDENTIFIER, ReasonType.SIGNATURE})


def _reason_views(context: PageContext, answer: SearchAnswer, hit: Hit) -> tuple[ReasonView, ...]:
    """Return the reasons of `hit` that its title and snippet do not show already, in order, grouped by type.

    Chinese is also searched by character pairs, so that 显存不足 may be found by 显存, 存不 and 不足. The middle pair
    is no word and is left out; adjacent pairs are joined again.
    """
    query, reasons = answer.query, _unseen_reasons(hit)
    texts = {reason.text for each in answer.hits for reason in each.reasons}
    words = [span for text in texts if (span := _find_span(query, text))]
    spans = {reason: span for reason in reasons if (span := _find_span(query, reason.text))}
    kept = _best_reasons([each for each in reasons if not _is_filler(spans.get(each), words)], spans)
    groups: dict[tuple[ReasonType, str], list[Reason]] = {}
    for reason in kept:
        groups.setdefault((reason.type, _label(reason, hit.elsewhere)), []).append(reason)
    return tuple(
        ReasonView(context.t(label), context.t("list.join").join(_texts(query, members, spans)), kind in CODE)
        for (kind, label), members in groups.items()
    )


def _unseen_reasons(hit: Hit) -> list[Reason]:
    marked = [hit.snippet.text[start:end] for start, end in hit.snippet.marks]
    seen = "\n".join([*map(unescape, MARKED.findall(hit.title)), *marked]).casefold()
    return [each for each in hit.reasons if each.via or not each.text or each.text.casefold() not in seen]


def _label(reason: Reason, elsewhere: Collection[str]) -> str:
    """Return the message key for the place of a match."""
    is_other = reason.type is ReasonType.TITLE and reason.text in elsewhere
    return "reason.other_title" if is_other else f"reason.{reason.type.value}"


def _find_span(query: str, text: str) -> Span | None:
    start = query.casefold().find(text.casefold())
    return (start, start + len(text)) if start >= 0 and len(query.casefold()) == len(query) else None


def _is_filler(span: Span | None, words: Iterable[Span]) -> bool:
    """Return whether a character pair begins in one matched word and ends in the next."""
    if span is None or span[1] - span[0] != 2:
        return False
    start, end = span
    others = [word for word in words if word != span]
    return any(right == start + 1 for _, right in others) and any(left == end - 1 for left, _ in others)


def _best_reasons(reasons: Sequence[Reason], spans: Mapping[Reason, Span]) -> list[Reason]:
    """Return `reasons` without those that half overlap a better match, and without glossary senses lacking a word."""
    kept: list[Reason] = []
    for reason in reasons:
        better = [spans[each] for each in kept if each in spans and each.type is not reason.type]
        crosses = reason in spans and any(_half_overlap(spans[reason], span) for span in better)
        vague = reason.type is ReasonType.GLOSSARY and not reason.via and len(reasons) > 1
        if not crosses and not vague:
            kept.append(reason)
    return kept


def _half_overlap(one: Span, other: Span) -> bool:
    return one[0] < other[0] < one[1] < other[1] or other[0] < one[0] < other[1] < one[1]


def _texts(query: str, reasons: Iterable[Reason], spans: Mapping[Reason, Span]) -> list[str]:
    """Return the texts as written in the query, adjacent Chinese matches joined, each with the equivalent that
    matched."""
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


def requested_search(request: Request, context: PageContext) -> SearchRequest:
    """Return the search that an address requests. Raises BadParameter."""
    params = request.query_params
    return SearchRequest(
        text=params.get("q", ""),
        lang=context.lang,
        filters=requested_filters(request),
        limit=PAGE_SIZE,
        offset=(requested_page(request) - 1) * PAGE_SIZE,
        verbatim=params.get("verbatim", "") in {"1", "true"},
        unfinished=params.get("unfinished", "") in {"1", "true"},
        frameworks=(context.chosen,) if context.chosen else (),
    )


async def show_search(request: Request) -> Response:
    """Show the results for `q` under filters; without words, all entries that pass the filters."""
    context = await context_of(request)
    service = context.site.service
    wanted = requested_search(request, context)
    if clip(service, wanted.text).strip():
        found = await search_for(service, wanted, asker_of(request))
        request.state.outcome, request.state.note = found.outcome, found.note
        html = search_page(context.at(found.snapshot), found)
    else:
        found = await browse(service, wanted)
        # Rendering a full list with all its filters takes some milliseconds.
        html = await service.offload(partial(search_page, context.at(found.snapshot), found))
    return await page_answer(request, context, html)
