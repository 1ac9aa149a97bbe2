"""Lists of entries: by tag, newest first, and all by framework and version."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from jieda.content.catalog import version_of
from jieda.search.answers import SearchRequest
from jieda.taxonomy import Tag, Window
from jieda.usecases.entries import CountedTag, TagListing, list_tagged, used_tags
from jieda.usecases.search import Found, browse
from jieda.web.http.routing import Handler
from jieda.web.pages.context import PageContext, asked_filters, asked_page, context_of, page_answer
from jieda.web.pages.filters import FilterBar, filter_bar
from jieda.web.pages.layout import Head, render_page
from jieda.web.pages.parts import (
    ListedEntry,
    PageLink,
    Pager,
    TagLink,
    build_pager,
    crumb_data,
    entry_row,
    tag_link,
)

TAG_PAGE_SIZE = 25
SECTIONS: Mapping[str, str] = {"framework": "frameworks", "topic": "topics", "error_type": "error-types"}
"""Anchors on the start page of the tag lists, by facet."""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A search that narrows this page by one more tag."""

    name: str
    count: int
    url: str


@dataclass(frozen=True, slots=True)
class TagView:
    """The view of `tag.html`."""

    crumbs: tuple[PageLink, ...]
    name: str
    description: str
    total: str
    homepage: str
    repository: str
    facet: str
    value: str
    kinds: tuple[Narrowing, ...]
    across: tuple[Narrowing, ...]
    across_label: str
    rows: tuple[ListedEntry, ...]
    pager: Pager | None
    siblings: tuple[TagLink, ...]
    siblings_label: str


def page_count(total: int, size: int) -> int:
    """Return the number of pages of `size` entries, at least one."""
    return max(1, -(-total // size))


def tag_page(context: PageContext, facet: str, tag: Tag, listing: TagListing, number: int) -> str:
    """Render page `number` (from 1, at most `page_count`) of the entries with a tag."""
    other = "topic" if facet == "framework" else "framework"
    crumbs = _crumbs(context, facet)
    view = TagView(
        crumbs=crumbs,
        name=tag.name[context.lang],
        description=tag.description[context.lang],
        total=context.t("count.entries", count=listing.total),
        homepage=tag.homepage,
        repository=tag.repository,
        facet=facet,
        value=tag.id,
        kinds=_narrowings(context, (facet, tag.id), "kind", listing.spread["kind"]),
        across=_narrowings(context, (facet, tag.id), other, listing.spread[other]),
        across_label=context.t(f"facet.{other}"),
        rows=tuple(entry_row(context, entry) for entry in listing.entries),
        pager=build_pager(
            context, number, page_count(listing.total, TAG_PAGE_SIZE), _address(context, facet, tag.id)
        ),
        siblings=_siblings(context, facet, tag.id),
        siblings_label=context.t(f"browse.other.{facet}"),
    )
    position = f" · {view.pager.text}" if view.pager else ""
    head = Head(
        name="tag",
        title=f"{view.name}{position} · {context.t('site.name')}",
        description=view.description,
        here=lambda lang: context.urls.tag(lang, facet, tag.id, page=number if number > 1 else None),
        data=(
            crumb_data(
                context, (*crumbs, PageLink(view.name, context.urls.tag(context.lang, facet, tag.id)))
            ),
        ),
    )
    return render_page(context, "tag.html", head, view)


def _crumbs(context: PageContext, facet: str) -> tuple[PageLink, ...]:
    home = context.urls.home(context.lang)
    listed = PageLink(context.t(f"facets.{facet}"), f"{home}#{SECTIONS[facet]}")
    return (PageLink(context.t("nav.home"), home), listed)


def _address(context: PageContext, facet: str, value: str) -> Callable[[int], str]:
    return lambda number: context.urls.tag(context.lang, facet, value, page=number if number > 1 else None)


def _narrowings(
    context: PageContext, chosen: tuple[str, str], by: str, spread: tuple[CountedTag, ...]
) -> tuple[Narrowing, ...]:
    facet, value = chosen
    if len(spread) < 2:
        return ()
    return tuple(
        Narrowing(
            each.tag.name[context.lang],
            each.count,
            context.urls.search(context.lang, **{facet: value, by: each.tag.id}),
        )
        for each in spread
    )


def _siblings(context: PageContext, facet: str, value: str) -> tuple[TagLink, ...]:
    tags = used_tags(context.library, facet)
    return tuple(tag_link(context, facet, each) for each in tags if each.tag.id != value)


ENTRIES_PAGE_SIZE = 50


@dataclass(frozen=True, slots=True)
class EntryGroup:
    """Entries of a framework or one of its versions. `framework` is None where the group continues the previous one."""

    framework: PageLink | None
    id: str
    version: str
    rows: tuple[ListedEntry, ...]


@dataclass(frozen=True, slots=True)
class EntriesView:
    """The view of `entries.html`."""

    total: str
    bar: FilterBar
    groups: tuple[EntryGroup, ...]
    pager: Pager | None


def entries_page(context: PageContext, found: Found) -> str:
    """Render a page of the entries that pass the request's filters."""
    request = found.request
    number = request.offset // ENTRIES_PAGE_SIZE + 1
    listed = context.library.shelved(request.filters, context.lang)
    shown = [entry_row(context, each) for each in listed[request.offset : request.offset + ENTRIES_PAGE_SIZE]]

    def address(page: int) -> str:
        return context.urls.entries_filtered(context.lang, request.filters, page=page if page > 1 else None)

    view = EntriesView(
        total=context.t("count.entries", count=len(listed)),
        bar=filter_bar(
            context,
            request,
            found.answer,
            lambda _, filters: context.urls.entries_filtered(context.lang, filters),
        ),
        groups=tuple(_groups(shown)),
        pager=build_pager(context, number, page_count(len(listed), ENTRIES_PAGE_SIZE), address),
    )
    head = Head(
        name="entries",
        title=f"{context.t('entries.title')} · {context.t('site.name')}",
        description=context.t("entries.lead"),
        here=lambda lang: context.urls.entries_filtered(
            lang, request.filters, page=number if number > 1 else None
        ),
        indexed=not request.filters,
    )
    return render_page(context, "entries.html", head, view)


def _groups(shown: Sequence[ListedEntry]) -> Iterator[EntryGroup]:
    last = ""
    for (framework, version), members in groupby(
        shown, key=lambda row: (row.id.partition("/")[0], version_of(row.applies_to))
    ):
        rows = tuple(members)
        named = ".".join(map(str, version))
        yield EntryGroup(
            framework=rows[0].framework if framework != last else None,
            id=f"{framework}-{named.replace('.', '-')}".rstrip("-"),
            version=named,
            rows=rows,
        )
        last = framework


async def show_entries(request: Request) -> Response:
    """Show all entries, or those that pass the filters."""
    context = await context_of(request)
    service = context.site.service
    number = asked_page(request)
    offset = (number - 1) * ENTRIES_PAGE_SIZE
    wanted = SearchRequest("", context.lang, asked_filters(request), limit=0, offset=offset)
    found = await browse(service, wanted)
    if number > page_count(found.answer.total, ENTRIES_PAGE_SIZE):
        raise HTTPException(404)

    def page() -> str:
        return entries_page(context.at(found.snapshot), found)

    return await page_answer(request, context, await service.offload(page))


def show_tag(facet: str) -> Handler:
    """Return the handler of the tag pages of a facet."""
    return partial(show_tagged, facet)


async def show_tagged(facet: str, request: Request) -> Response:
    """Show the entries with a tag."""
    context = await context_of(request)
    known = context.library.taxonomy.facet(facet).get(request.path_params["value"])
    number = asked_page(request)
    if known is None or number > page_count(context.library.counts(facet).get(known.id, 0), TAG_PAGE_SIZE):
        raise HTTPException(404)
    window = Window(TAG_PAGE_SIZE, (number - 1) * TAG_PAGE_SIZE)
    listing = await list_tagged(context.site.service, context.served, facet, known.id, window)
    html = await context.site.service.offload(partial(tag_page, context, facet, known, listing, number))
    return await page_answer(request, context, html)
