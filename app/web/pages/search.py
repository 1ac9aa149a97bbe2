"""The search page: results with their reasons, filters, and ways out where little was found."""

from dataclasses import dataclass

from markupsafe import Markup

from app.content.library import Library, count_tags
from app.search.answers import (
    Hit,
    SearchAnswer,
    SearchRequest,
    Suggestion,
    SuggestionType,
)
from app.web.pages.filters import FilterBar, filter_bar
from app.web.pages.parts import EntryRow, Pager, TagLink, build_pager, entry_row, tag_link
from app.web.pages.reasons import ReasonView, reason_views
from app.web.pages.shell import Head, render_page
from app.web.pages.visit import Visit
from app.web.templating import safe

PAGE_SIZE = 10


@dataclass(frozen=True, slots=True)
class Card:
    """A result. `snippet` is escaped HTML with marks."""

    row: EntryRow
    snippet: Markup
    snippet_lang: str
    reasons: tuple[ReasonView, ...]


@dataclass(frozen=True, slots=True)
class Offer:
    """A search that would find something: its text and how much it finds, in words."""

    text: str
    detail: str
    url: str


@dataclass(frozen=True, slots=True)
class SearchView:
    """What `search.html` shows."""

    query: str
    status: str
    """How much was found, in words; announced to screen readers."""
    bar: FilterBar
    cards: tuple[Card, ...]
    correction: str
    verbatim: str
    """The address that searches for what was typed, where something else was searched."""
    phrase_dropped: bool
    weak: bool
    nothing: str
    """Why nothing was found, in words; empty where something was."""
    offers: tuple[Offer, ...]
    near: tuple[EntryRow, ...]
    topics: tuple[TagLink, ...]
    """Other ways in, where nothing was found."""
    pager: Pager | None
    diagnose: str


def search_page(visit: Visit, library: Library, request: SearchRequest, answer: SearchAnswer) -> str:
    """The answer to a search as a page."""
    view = _view(visit, library, request, answer)
    title = visit.say("search.title_query", query=request.text) if request.text else visit.say("search.title")
    head = Head(
        name="search",
        title=f"{title} · {visit.say('site.name')}",
        description=visit.say("search.description"),
        here=lambda lang: visit.urls.search_filtered(
            lang,
            request.text,
            request.filters,
            page=_number(request) if request.offset else None,
            verbatim=request.verbatim,
        ),
        indexed=not request.text and not request.filters and not request.offset,
    )
    return render_page(visit, "search.html", head, view)


def _view(visit: Visit, library: Library, request: SearchRequest, answer: SearchAnswer) -> SearchView:
    pages = -(-answer.total // PAGE_SIZE)
    near = [found.entry for found in answer.suggestions if found.type is SuggestionType.NEAR_MISS]
    return SearchView(
        query=request.text,
        status=_status(visit, request, answer),
        bar=filter_bar(visit, library, request, answer),
        cards=tuple(_card(visit, answer, hit) for hit in answer.hits),
        correction=answer.correction,
        verbatim=visit.urls.search_filtered(visit.lang, request.text, request.filters, verbatim=True)
        if answer.correction
        else "",
        phrase_dropped=answer.phrase_dropped,
        weak=answer.weak and bool(answer.hits),
        nothing=_nothing(visit, request) if not answer.total else "",
        offers=tuple(_offers(visit, request, answer)),
        topics=_topics(visit, library) if not answer.total and not request.filters else (),
        near=tuple(entry_row(visit, entry) for entry in near if entry),
        pager=build_pager(visit, _number(request), pages, lambda number: _page(visit, request, number)),
        diagnose=visit.urls.diagnose(visit.lang),
    )


def _number(request: SearchRequest) -> int:
    return request.offset // PAGE_SIZE + 1


def _page(visit: Visit, request: SearchRequest, number: int) -> str:
    return visit.urls.search_filtered(
        visit.lang,
        request.text,
        request.filters,
        page=number if number > 1 else None,
        verbatim=request.verbatim,
    )


def _status(visit: Visit, request: SearchRequest, answer: SearchAnswer) -> str:
    if not request.text.strip():
        return visit.say("count.entries", count=answer.total)
    return visit.say("search.status", count=answer.total) if answer.total else visit.say("search.nothing")


def _nothing(visit: Visit, request: SearchRequest) -> str:
    return visit.say("search.nothing_filtered" if request.filters else "search.nothing_hint")


def _topics(visit: Visit, library: Library) -> tuple[TagLink, ...]:
    counts = count_tags(library.entries.values(), "topic")
    tags = library.taxonomy.topic.values()
    return tuple(tag_link(visit, "topic", tag, counts[tag.id]) for tag in tags if counts.get(tag.id))


def _card(visit: Visit, answer: SearchAnswer, hit: Hit) -> Card:
    heard = (reason.text for each in answer.hits for reason in each.reasons)
    return Card(
        row=entry_row(visit, hit.entry),
        snippet=safe(hit.snippet),
        snippet_lang="" if hit.edition.lang is visit.lang else hit.edition.lang.tag,
        reasons=reason_views(visit, answer.query, hit.reasons, heard),
    )


def _offers(visit: Visit, request: SearchRequest, answer: SearchAnswer) -> list[Offer]:
    offers = []
    for found in answer.suggestions:
        if found.type is SuggestionType.SPELLING:
            url = visit.urls.search_filtered(visit.lang, found.query, request.filters)
            offers.append(Offer(visit.say("search.try_spelling", query=found.query), "", url))
        elif found.type is SuggestionType.DROP_FILTER:
            offers.append(_without_filter(visit, request.text, found))
    return offers


def _without_filter(visit: Visit, text: str, found: Suggestion) -> Offer:
    facet = found.facet
    return Offer(
        visit.say("search.drop_filter", facet=visit.say(f"facet.{facet}"))
        if facet
        else visit.say("search.drop_filters"),
        visit.say("search.status", count=found.count),
        visit.urls.search_filtered(visit.lang, text, found.filters),
    )
