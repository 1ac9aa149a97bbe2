"""The start page: search box, log field, and lists to browse."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import date
from heapq import nsmallest
from unicodedata import east_asian_width

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from jieda.content.library import Library
from jieda.entry import Kind, Summary
from jieda.taxonomy import Filters
from jieda.web.http.respond import REVALIDATE, Resource, page_language
from jieda.web.pages.context import HTML, PageContext, context_of, page_answer
from jieda.web.pages.layout import Head, render_page
from jieda.web.pages.parts import TagLink, entry_row, tag_links
from jieda.web.site import site_of

RECENT = 6
MAX_NAMES = 6
"""Most frameworks that the introduction names."""
STAGE_ERROR_TYPES = 3
"""Error types shown per stage."""
OTHERS = tuple(kind for kind in Kind if kind is not Kind.ERROR)
EXAMPLE_SOURCES = 200
"""Number of entries from which examples are chosen, evenly spaced over all entries."""
EXAMPLE_WIDTH = 27
"""Preferred width of an example in columns, two for a Han character: long enough to be understood."""


def home_page(context: PageContext) -> str:
    """Render the start page. Reads entries for the examples: call it off the event loop."""
    library = context.library
    names = _join_names(context, [tag.name[context.lang] for tag in library.taxonomy.framework.values()])
    lead = context.t("home.lead", count=len(library), frameworks=names)
    stages = tuple(_stages(context))
    mapped = {topic for stage in library.site.stages for topic in stage.topics}
    head = Head(
        name="home",
        title=f"{context.t('site.name')} · {context.t('site.tagline')}",
        description=lead,
        here=context.urls.home,
        data=(_site_data(context, lead),),
        names_site=True,
    )
    return render_page(
        context,
        head,
        lead=lead,
        # The content's own, which may be logs, or else questions from its entries.
        examples=library.site.examples.get(context.lang) or tuple(_typical_questions(context)),
        frameworks=tag_links(context, "framework"),
        stages=stages,
        error_types=() if stages else sorted(_tags(context, "error_type"), key=lambda tag: -tag.count),
        topics=tuple(_tags(context, "topic", without=mapped)),
        recent=[entry_row(context, entry) for entry in _recent(library)],
        total=len(library),
    )


def _typical_questions(context: PageContext) -> Iterator[str]:
    """Yield one question per kind, from different frameworks where possible."""
    library, used = context.library, set[str]()
    step = -(-len(library.ids) // EXAMPLE_SOURCES) or 1
    entries = [library.entries[entry_id] for entry_id in library.ids[::step]]
    for kind in Kind:
        candidates = [
            (entry.framework in used, abs(_columns(alias) - EXAMPLE_WIDTH), alias, entry.framework)
            for entry in entries
            if entry.kind is kind and context.lang in entry.editions
            for alias in entry.editions[context.lang].aliases
        ]
        if candidates:
            _, _, alias, framework = min(candidates)
            used.add(framework)
            yield alias


def _recent(library: Library) -> tuple[Summary, ...]:
    """Return the entries changed last; those of one day by frameworks in turn."""
    latest = library.listed()
    if not latest or latest[0].updated == latest[-1].updated:
        return ()
    turns: Counter[tuple[date, str]] = Counter()
    placed = []
    for framework in library.counts("framework"):
        # Earlier changes in a framework cannot be in the result.
        for entry in library.tagged("framework", framework)[:RECENT]:
            turns[entry.updated, framework] += 1
            placed.append((-entry.updated.toordinal(), turns[entry.updated, framework], entry.id))
    return tuple(library.summary(entry_id) for _, _, entry_id in nsmallest(RECENT, placed))


def _columns(text: str) -> int:
    return len(text) + sum(east_asian_width(each) in "WF" for each in text)


def _tags(context: PageContext, facet: str, without: Collection[str] = ()) -> Iterator[TagLink]:
    """Yield the tags of a facet; if the reader has chosen a framework, those of its entries, with links to these."""
    within = _for_reader(context)
    counts = context.library.counts(facet, within)
    for link in tag_links(context, facet):
        if link.id in counts and link.id not in without:
            url = context.urls.entries_filtered(context.lang, within.with_only(facet, link.id))
            yield replace(link, count=counts[link.id], url=url) if within else link


def _for_reader(context: PageContext) -> Filters:
    return Filters(framework=(context.framework,) if context.framework else ())


def _stages(context: PageContext) -> Iterator[Mapping[str, object]]:
    """Yield the stages of the map: the filters that the entries of each pass, counts of them, each with the key of its
    text and its filters, and the most frequent error types."""
    for stage in context.library.site.stages:
        within = _for_reader(context).with_only("topic", *stage.topics)
        kinds = context.library.counts("kind", within)
        failures = kinds.get(Kind.ERROR, 0)
        others = sum(kinds.values()) - failures
        error_types = context.library.counts("error_type", within)
        if kinds:
            yield {
                "name": stage.name[context.lang],
                "filters": within,
                "counts": (
                    ("home.stage.failures", failures, within.with_only("kind", Kind.ERROR)),
                    ("home.stage.others", others, within.with_only("kind", *OTHERS)),
                ),
                "error_types": nsmallest(STAGE_ERROR_TYPES, error_types, key=lambda each: -error_types[each]),
            }


def _join_names(context: PageContext, names: list[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    if len(names) <= MAX_NAMES:
        return context.t("list.last", names=context.t("list.join").join(names[:-1]), rest=names[-1])
    shown = names[: MAX_NAMES - 1]
    return context.t("list.more", names=context.t("list.join").join(shown), rest=len(names) - len(shown))


def _site_data(context: PageContext, lead: str) -> dict[str, object]:
    urls = context.urls.external
    return {
        "@context": "https://schema.org",
        "@type": "WebSite",
        "name": context.t("site.name"),
        "url": urls.home(context.lang),
        "inLanguage": context.lang.tag,
        "description": lead,
        "potentialAction": {
            "@type": "SearchAction",
            "target": urls.search(context.lang) + "?q={search_term_string}",
            "query-input": "required name=search_term_string",
        },
    }


async def redirect_to_language(request: Request) -> Response:
    """Redirect to the start page in the reader's language."""
    headers = {"Vary": "Accept-Language, Cookie", "Cache-Control": REVALIDATE}
    return RedirectResponse(site_of(request).urls.home(page_language(request)), 307, headers)


async def show_home(request: Request) -> Response:
    """Show the start page, rendered once per generation, language, theme and reader's framework."""
    context = await context_of(request)
    resource = await context.site.resources.get(
        context.generation,
        ("home", context.urls.base_url, context.lang, context.theme, context.framework, context.version),
        lambda: Resource.of(home_page(context), HTML),
    )
    return await page_answer(request, context, resource)
