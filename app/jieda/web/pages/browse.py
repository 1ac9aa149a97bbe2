"""Lists of entries: with a tag, latest first, and all by framework and version."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from jieda.content.catalog import version_of
from jieda.search.answers import SearchRequest
from jieda.taxonomy import Filters, Tag
from jieda.usecases.entries import used_tags
from jieda.usecases.search import Found, browse
from jieda.web.pages.context import PageContext, context_of, page_answer, requested_filters, requested_page
from jieda.web.pages.filters import Chip, FilterBar, filter_bar
from jieda.web.pages.layout import Head, render_page
from jieda.web.pages.parts import (
    ListedEntry,
    PageLink,
    build_pager,
    crumb_data,
    entry_row,
    tag_link,
    tag_links,
)

TAG_PAGE_SIZE = 25
SECTIONS: Mapping[str, str] = {"framework": "frameworks", "topic": "topics", "error_type": "error-types"}
"""Anchors of the tag lists on the start page, by facet."""


def tag_page(context: PageContext, facet: str, tag: Tag, number: int) -> str:
    """Render page `number`, from 1, of the entries with a tag, latest change first."""
    entries, start = context.library.tagged(facet, tag.id), (number - 1) * TAG_PAGE_SIZE
    name, description = tag.name[context.lang], tag.description[context.lang]
    home = context.urls.home(context.lang)
    listed = PageLink(context.t(f"facets.{facet}"), f"{home}#{SECTIONS[facet]}")
    crumbs = (PageLink(context.t("nav.home"), home), listed)
    address = partial(context.urls.tag, facet=facet, value=tag.id)
    pager = build_pager(context, number, len(entries), TAG_PAGE_SIZE, partial(address, context.lang))
    head = Head(
        name="tag",
        title=name,
        description=description,
        here=partial(address, page=number),
        data=(crumb_data(context, (*crumbs, tag_link(context, facet, tag.id))),),
    )
    return render_page(
        context,
        head,
        crumbs=crumbs,
        facet=facet,
        tag=tag,
        total=len(entries),
        bar=FilterBar(
            {
                by: chips
                for by in ("kind", "topic" if facet == "framework" else "framework")
                if len(chips := _narrower_searches(context, facet, tag, by)) > 1
            }
        ),
        rows=[entry_row(context, entry) for entry in entries[start : start + TAG_PAGE_SIZE]],
        pager=pager,
        siblings=[each for each in tag_links(context, facet) if each.id != tag.id],
    )


def _narrower_searches(context: PageContext, facet: str, tag: Tag, by: str) -> list[Chip]:
    """Return searches that narrow the page by one more tag, those with most entries first."""
    return [
        Chip(
            label=each.tag.name[context.lang],
            count=f"{each.count:,}",
            url=context.urls.search(context.lang, **{facet: tag.id, by: each.tag.id}),
            key=f"{by}:{each.tag.id}",
        )
        for each in sorted(
            used_tags(context.library, by, Filters().with_only(facet, tag.id)), key=lambda each: -each.count
        )
    ]


ENTRIES_PAGE_SIZE = 50


def entries_page(context: PageContext, found: Found) -> str:
    """Render a page of the entries that pass the request's filters."""
    request, size = found.request, ENTRIES_PAGE_SIZE
    filters, number = request.filters, request.offset // size + 1
    listed = context.library.shelved(filters, context.lang)
    shown = [entry_row(context, each) for each in listed[request.offset : request.offset + size]]
    address = partial(context.urls.entries_filtered, filters=filters)
    entries_url = partial(context.urls.entries_filtered, context.lang)
    title, lead = context.t("entries.title"), context.t("entries.lead")
    head = Head("entries", title, lead, partial(address, page=number), indexed=not filters)
    return render_page(
        context,
        head,
        total=len(listed),
        bar=filter_bar(context, request, found.answer, lambda _, filters: entries_url(filters)),
        groups=_groups(shown),
        pager=build_pager(context, number, len(listed), size, partial(address, context.lang)),
    )


def _groups(shown: Sequence[ListedEntry]) -> Iterator[Mapping[str, object]]:
    """Yield the entries of each framework or version of it; a group that continues a framework does not name it."""
    previous = ""
    for (framework, numbers), members in groupby(
        shown, key=lambda row: (row.summary.framework, version_of(row.applies_to))
    ):
        rows, version = tuple(members), ".".join(map(str, numbers))
        yield {
            "framework": rows[0].framework if framework != previous else None,
            "id": f"{framework}-{version.replace('.', '-')}".rstrip("-"),
            "version": version,
            "rows": rows,
        }
        previous = framework


async def show_entries(request: Request) -> Response:
    """Show all entries, or those that pass the filters."""
    context = await context_of(request)
    service = context.site.service
    offset = (requested_page(request) - 1) * ENTRIES_PAGE_SIZE
    wanted = SearchRequest("", context.lang, requested_filters(request), limit=0, offset=offset)
    found = await browse(service, wanted)
    html = await service.offload(partial(entries_page, context.at(found.snapshot), found))
    return await page_answer(request, context, html)


async def show_tag(facet: str, request: Request) -> Response:
    """Show the entries with a tag."""
    context = await context_of(request)
    tag = context.library.taxonomy.facet(facet).get(request.path_params["value"])
    if tag is None:
        raise HTTPException(404)
    page = partial(tag_page, context, facet, tag, requested_page(request))
    html = await context.site.service.offload(page)
    return await page_answer(request, context, html)
