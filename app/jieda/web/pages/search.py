"""The search page: results with reasons, filters, and alternatives if little was found."""

import re
from collections.abc import Callable, Iterable, Mapping, Set
from functools import partial
from html import unescape

from starlette.requests import Request
from starlette.responses import Response

from jieda.diagnosis.answers import Diagnosis, Verdict
from jieda.presentation.diagnosis_text import elsewhere_text
from jieda.presentation.shaper import edition_links
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
from jieda.usecases.search import Found, browse
from jieda.usecases.search import search as search_for
from jieda.web.pages.context import (
    PageContext,
    context_of,
    is_switched_on,
    page_answer,
    requested_filters,
    requested_page,
)
from jieda.web.pages.filters import filter_bar
from jieda.web.pages.layout import SENTENCE_GAPS, Head, render_page
from jieda.web.pages.parts import build_pager, doubt_of, entry_row, tag_links, whole_names
from jieda.web.pages.verdict import external_links, match_view, near_row, tied_rows
from jieda.web.site import asker_of

PAGE_SIZE = 10
MAX_PAGE = 1000
"""Results are ranked anew for each page."""
LONGEST_QUERY = 200
"""Characters of a query in links to other sites, which refuse longer ones."""
MARKED = re.compile("<mark>(.*?)</mark>")
NO_DIAGNOSIS = Diagnosis((), (), Verdict.UNKNOWN, (), "", "")


def search_page(context: PageContext, found: Found) -> str:
    """Render the results of a search, below the entry that explains an error line, candidates from several frameworks
    of which the reader has to choose one, or entries for other frameworks."""
    request, diagnosis = found.request, found.diagnosis
    title = context.t("search.title_query", query=request.text) if request.text else context.t("search.title")
    head = Head(
        name="search",
        title=title,
        description=context.t("search.description"),
        here=partial(_address(context, request), page=_number(request)),
        indexed=not request.text and not request.filters and not request.offset,
    )
    outcome = diagnosis.verdict if diagnosis else ""  # empty for an unfinished query and on later pages
    if diagnosis is None or not diagnosis.is_program_output:
        diagnosis = NO_DIAGNOSIS
    known = () if diagnosis.asks else diagnosis.matches[:1]
    foreign = [near for near in diagnosis.near if near.foreign]
    above = {each.entry.id for each in known or diagnosis.matches} | {near.entry.id for near in foreign}
    return render_page(
        context,
        head,
        request=request,
        answer=found.answer,
        outcome=outcome,
        verdict=match_view(context, known[0]) if known else None,
        asks=diagnosis.asks,
        tied=tied_rows(context, diagnosis),
        foreign=[near_row(context, near, diagnosis.framework) for near in foreign],
        elsewhere=elsewhere_text(diagnosis, context.t),
        **_results(context, request, found.answer, above, explained=bool(diagnosis.matches)),
    )


def _results(
    context: PageContext, request: SearchRequest, answer: SearchAnswer, above: Set[str], *, explained: bool
) -> dict[str, object]:
    """Return the results that are not `above` already, or what to do if there are none. `titles`: number of weak
    results shown as titles; the others are collapsed. `verbatim`: the address that searches a corrected query as
    typed."""
    lost = answer.weak or (not answer.total and not request.filters and not explained)
    doubts = {hit.entry.id: doubt_of(context, hit.entry, answer.query) for hit in answer.hits}
    hits = [hit for hit in answer.hits if hit.entry.id not in above]
    near = [each.entry for each in answer.suggestions if each.type is SuggestionType.NEAR_MISS and each.entry]
    page_url = partial(_address(context, request), context.lang)
    words, frameworks = request.text[:LONGEST_QUERY], request.filters.framework
    framework = frameworks[0] if len(frameworks) == 1 else ""
    return {
        "bar": filter_bar(context, request, answer, doubts=doubts.values()),
        "cards": [_card(context, answer, hit, doubts[hit.entry.id]) for hit in hits],
        "titles": MOST_WEAK if answer.weak and not request.offset else 0,
        "verbatim": page_url(verbatim=True),
        "absent_words": _absent_words(context, answer) if answer.total and not explained else "",
        "offers": [each for each in answer.suggestions if each.type is not SuggestionType.NEAR_MISS],
        "topics": tag_links(context, "topic") if not answer.total and not request.filters else (),
        "near": [entry_row(context, context.library.summary(entry.id)) for entry in near],
        "pager": build_pager(
            context, _number(request), min(answer.total, PAGE_SIZE * MAX_PAGE), PAGE_SIZE, page_url
        ),
        "external_links": external_links(context, words, framework) if lost else (),
    }


def _number(request: SearchRequest) -> int:
    return request.offset // PAGE_SIZE + 1


def _address(context: PageContext, request: SearchRequest) -> Callable[..., str]:
    """Return a function from a language and, by name, a page to the address of the results there."""
    address = partial(context.urls.search_filtered, text=request.text, filters=request.filters)
    return partial(address, page=1, verbatim=request.verbatim)


def _absent_words(context: PageContext, answer: SearchAnswer) -> str:
    """Say which part of the query no entry covers: the framework that it names, or words."""
    names = context.t("list.join").join(context.name_of("framework", each) for each in answer.frameworks)
    words = context.t("list.join").join(answer.absent_words)
    sentences = [context.t("search.none_of", names=names)] if answer.is_of_others else []
    sentences += [context.t("search.absent_words", words=words)] if words else []
    return SENTENCE_GAPS[context.lang].join(sentences)


def _card(context: PageContext, answer: SearchAnswer, hit: Hit, doubt: str) -> Mapping[str, object]:
    """Return a result. `title` and `snippet` are escaped HTML with marks; the snippet may also contain code."""
    return {
        "row": entry_row(context, context.library.summary(hit.entry.id), doubt),
        "title": whole_names(hit.title),
        "snippet": whole_names(hit.snippet.html_with_code),
        "lang": hit.edition.lang,
        "editions": edition_links(context.library.summary(hit.entry.id), context.urls),
        "reasons": _reasons(context, answer, hit),
    }


def _reasons(context: PageContext, answer: SearchAnswer, hit: Hit) -> dict[tuple[ReasonType, str], str]:
    """Return the reasons of `hit` that its title and snippet do not show, in order, grouped by type. Besides other
    reasons, a glossary sense without the word that has it says nothing. Maps each type, with the key of its label, to
    the words that matched."""
    query, marked = answer.query, [hit.snippet.text[start:end] for start, end in hit.snippet.marks]
    seen = "\n".join([*map(unescape, MARKED.findall(hit.title)), *marked]).casefold()
    reasons = [each for each in hit.reasons if each.via or not each.text or each.text.casefold() not in seen]
    spans = {reason: span for reason in reasons if (span := _find_span(query, reason.text))}
    groups: dict[tuple[ReasonType, str], list[Reason]] = {}
    for reason in reasons:
        if reason.type is not ReasonType.GLOSSARY or reason.via or len(reasons) == 1:
            is_other = reason.type is ReasonType.TITLE and reason.text in hit.elsewhere
            label = "other_title" if is_other else reason.type.value
            groups.setdefault((reason.type, f"reason.{label}"), []).append(reason)
    return {
        key: context.t("list.join").join(_texts(query, members, spans)) for key, members in groups.items()
    }


def _find_span(query: str, text: str) -> Span | None:
    start = query.casefold().find(text.casefold())
    return (start, start + len(text)) if start >= 0 and len(query.casefold()) == len(query) else None


def _texts(query: str, reasons: Iterable[Reason], spans: Mapping[Reason, Span]) -> list[str]:
    """Return the texts as they are in the query, with the equivalents that matched; joins adjacent Chinese matches."""
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


async def show_search(request: Request) -> Response:
    """Show the results for `q` under filters; without words, all entries that pass the filters."""
    context = await context_of(request)
    service = context.site.service
    search_request = SearchRequest(
        text=request.query_params.get("q", "").strip(),
        lang=context.lang,
        filters=requested_filters(request),
        limit=PAGE_SIZE,
        offset=(requested_page(request, MAX_PAGE) - 1) * PAGE_SIZE,
        verbatim=is_switched_on(request, "verbatim"),
        unfinished=is_switched_on(request, "unfinished"),
        frameworks=(context.framework,) if context.framework else (),
    )
    if search_request.text:
        found = await search_for(service, search_request, asker_of(request))
        request.state.outcome, request.state.note = found.outcome, found.note
        html = search_page(context.at(found.snapshot), found)
    else:
        found = await browse(service, search_request)
        # Rendering a full list with all its filters takes several milliseconds.
        html = await service.offload(partial(search_page, context.at(found.snapshot), found))
    return await page_answer(request, context, html)
