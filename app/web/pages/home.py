"""The start page: the search box, the place to paste an error, and ways in for who knows neither word."""

from collections.abc import Iterator
from dataclasses import dataclass
from unicodedata import east_asian_width

from app.content.library import Library, count_tags, latest_first
from app.entry import Kind
from app.web.pages.parts import EntryRow, Link, TagLink, entry_row, tag_link
from app.web.pages.shell import Head, render_page
from app.web.pages.visit import Visit

RECENT = 6
EXAMPLE = 27
"""Columns that an example takes best, a Han character counting two: long enough to be understood."""


@dataclass(frozen=True, slots=True)
class HomeView:
    """What `home.html` shows."""

    lead: str
    examples: tuple[Link, ...]
    frameworks: tuple[TagLink, ...]
    error_types: tuple[TagLink, ...]
    topics: tuple[TagLink, ...]
    recent: tuple[EntryRow, ...]


def home_page(visit: Visit, library: Library) -> str:
    """The start page in the reader's language."""
    urls = visit.urls
    names = _listed(visit, [tag.name[visit.lang] for tag in library.taxonomy.framework.values()])
    lead = visit.say("home.lead", count=len(library.entries), frameworks=names)
    recent = latest_first(library.entries.values())
    view = HomeView(
        lead=lead,
        examples=tuple(_examples(visit, library)),
        frameworks=_tags(visit, library, "framework"),
        error_types=_tags(visit, library, "error_type"),
        topics=_tags(visit, library, "topic"),
        recent=tuple(entry_row(visit, entry) for entry in recent[:RECENT]),
    )
    head = Head(
        name="home",
        title=f"{visit.say('site.name')} · {visit.say('site.tagline')}",
        description=lead,
        here=urls.home,
        data=(_site_data(visit, lead),),
    )
    return render_page(visit, "home.html", head, view)


def _examples(visit: Visit, library: Library) -> Iterator[Link]:
    """A question of each kind, over different frameworks where possible."""
    asked = [
        (alias, entry)
        for entry in library.entries.values()
        if visit.lang in entry.editions
        for alias in entry.editions[visit.lang].aliases
    ]
    asked.sort(key=lambda pair: (abs(_columns(pair[0]) - EXAMPLE), pair[0]))
    frameworks: set[str] = set()
    for kind in Kind:
        fitting = [(alias, entry.framework) for alias, entry in asked if entry.kind is kind]
        fitting.sort(key=lambda pair: pair[1] in frameworks)
        for alias, framework in fitting[:1]:
            frameworks.add(framework)
            yield Link(alias, visit.urls.search(visit.lang, q=alias))


def _columns(text: str) -> int:
    return len(text) + sum(east_asian_width(each) in "WF" for each in text)


def _tags(visit: Visit, library: Library, facet: str) -> tuple[TagLink, ...]:
    counts = count_tags(library.entries.values(), facet)
    tags = library.taxonomy.facet(facet).values()
    return tuple(tag_link(visit, facet, tag, counts[tag.id]) for tag in tags if counts.get(tag.id))


def _listed(visit: Visit, names: list[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return visit.say("list.join").join(names[:-1]) + visit.say("list.last") + names[-1]


def _site_data(visit: Visit, lead: str) -> dict[str, object]:
    target = visit.urls.absolute(visit.urls.search(visit.lang)) + "?q={search_term_string}"
    return {
        "@context": "https://schema.org",
        "@type": "WebSite",
        "name": visit.say("site.name"),
        "url": visit.urls.absolute(visit.urls.home(visit.lang)),
        "inLanguage": visit.lang.tag,
        "description": lead,
        "potentialAction": {
            "@type": "SearchAction",
            "target": target,
            "query-input": "required name=search_term_string",
        },
    }
