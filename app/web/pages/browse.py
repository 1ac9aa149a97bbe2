"""Framework, topic and error-type pages: what carries a tag, newest first, page by page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.content.library import Library, count_tags
from app.entry import Tag
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
from app.web.pages.shell import Head, render_page
from app.web.pages.visit import Visit

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


def page_count(library: Library, facet: str, value: str) -> int:
    """How many pages list the entries of a tag, at least one."""
    return max(1, -(-len(library.tagged(facet, value)) // PAGE_SIZE))


def tag_page(visit: Visit, library: Library, facet: str, tag: Tag, number: int) -> str:
    """Page `number` (from 1, at most `page_count`) of the entries that carry a tag."""
    entries = library.tagged(facet, tag.id)
    shown = entries[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
    other = "topic" if facet == "framework" else "framework"
    crumbs = _crumbs(visit, facet)
    view = TagView(
        crumbs=crumbs,
        name=tag.name[visit.lang],
        description=tag.description[visit.lang],
        total=visit.say("count.entries", count=len(entries)),
        homepage=tag.homepage,
        repository=tag.repository,
        facet=facet,
        value=tag.id,
        kinds=_narrowings(visit, library, (facet, tag.id), "kind"),
        across=_narrowings(visit, library, (facet, tag.id), other),
        across_label=visit.say(f"facet.{other}"),
        rows=tuple(entry_row(visit, entry) for entry in shown),
        pager=build_pager(visit, number, page_count(library, facet, tag.id), _address(visit, facet, tag.id)),
        siblings=_siblings(visit, library, facet, tag.id),
        siblings_label=visit.say(f"browse.other.{facet}"),
    )
    position = f" · {view.pager.text}" if view.pager else ""
    head = Head(
        name="tag",
        title=f"{view.name}{position} · {visit.say('site.name')}",
        description=view.description,
        here=lambda lang: visit.urls.tag(lang, facet, tag.id, page=number if number > 1 else None),
        data=(crumb_data(visit, (*crumbs, Link(view.name, visit.urls.tag(visit.lang, facet, tag.id)))),),
    )
    return render_page(visit, "tag.html", head, view)


def _crumbs(visit: Visit, facet: str) -> tuple[Link, ...]:
    home = visit.urls.home(visit.lang)
    listed = Link(visit.say(f"facets.{facet}"), f"{home}#{SECTIONS[facet]}")
    return (Link(visit.say("nav.home"), home), listed)


def _address(visit: Visit, facet: str, value: str) -> Callable[[int], str]:
    return lambda number: visit.urls.tag(visit.lang, facet, value, page=number if number > 1 else None)


def _narrowings(visit: Visit, library: Library, chosen: tuple[str, str], by: str) -> tuple[Narrowing, ...]:
    facet, value = chosen
    counts = count_tags(library.tagged(facet, value), by)
    if len(counts) < 2:
        return ()
    return tuple(
        Narrowing(
            tag.name[visit.lang], counts[tag.id], visit.urls.search(visit.lang, **{facet: value, by: tag.id})
        )
        for tag in library.taxonomy.facet(by).values()
        if counts.get(tag.id)
    )


def _siblings(visit: Visit, library: Library, facet: str, value: str) -> tuple[TagLink, ...]:
    counts = count_tags(library.entries.values(), facet)
    tags = library.taxonomy.facet(facet).values()
    return tuple(
        tag_link(visit, facet, tag, counts[tag.id]) for tag in tags if counts.get(tag.id) and tag.id != value
    )
