"""Framework, topic and error-type pages: what carries a tag, newest first, page by page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.taxonomy import Tag
from app.usecases.tags import CountedTag, TagListing, used_tags
from app.web.pages.context import PageContext
from app.web.pages.layout import Head, render_page
from app.web.pages.parts import (
    EntryRow,
    Link,
    Pager,
    TagLink,
    build_pager,
    crumb_data,
    entry_row,
    tag_link,
)

PAGE_SIZE = 25
SECTIONS: Mapping[str, str] = {"framework": "frameworks", "topic": "topics", "error_type": "error-types"}
"""The part of the start page that lists the tags of a facet."""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A search for the entries of this page that carry one more tag."""

    name: str
    count: int
    url: str


@dataclass(frozen=True, slots=True)
class TagView:
    """What `tag.html` shows."""

    crumbs: tuple[Link, ...]
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
    rows: tuple[EntryRow, ...]
    pager: Pager | None
    siblings: tuple[TagLink, ...]
    siblings_label: str


def page_count(total: int) -> int:
    """How many pages list so many entries, at least one."""
    return max(1, -(-total // PAGE_SIZE))


def tag_page(context: PageContext, facet: str, tag: Tag, listing: TagListing, number: int) -> str:
    """Page `number` (from 1, at most `page_count`) of the entries that carry a tag."""
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
        pager=build_pager(context, number, page_count(listing.total), _address(context, facet, tag.id)),
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
            crumb_data(context, (*crumbs, Link(view.name, context.urls.tag(context.lang, facet, tag.id)))),
        ),
    )
    return render_page(context, "tag.html", head, view)


def _crumbs(context: PageContext, facet: str) -> tuple[Link, ...]:
    home = context.urls.home(context.lang)
    listed = Link(context.t(f"facets.{facet}"), f"{home}#{SECTIONS[facet]}")
    return (Link(context.t("nav.home"), home), listed)


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
