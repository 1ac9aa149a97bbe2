"""An Atom feed per language: entries that are new or have changed, latest first."""

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time

from app.content.library import Library
from app.entry import Edition, Entry
from app.web.links import rewrite
from app.web.pages.parts import name_of
from app.web.pages.visit import Visit
from app.web.urls import Urls

ITEMS = 50


@dataclass(frozen=True, slots=True)
class FeedItem:
    """An entry in the feed. `id` stays the same when the address changes."""

    id: str
    title: str
    url: str
    updated: str
    summary: str
    html: str
    lang: str
    categories: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FeedView:
    """What `feed.xml` shows. Addresses are absolute where a base address is configured."""

    id: str
    lang: str
    title: str
    subtitle: str
    url: str
    home: str
    updated: str
    author: str
    items: tuple[FeedItem, ...]


def feed(visit: Visit, library: Library) -> str:
    """The feed in the reader's language: the entries that have an edition in it."""
    lang = visit.lang
    held = [(entry, entry.editions[lang]) for entry in library.entries.values() if lang in entry.editions]
    held.sort(key=lambda pair: (-pair[1].updated.toordinal(), pair[0].id))
    latest = held[0][1].updated if held else date(1970, 1, 1)
    view = FeedView(
        id=f"urn:jieda:feed:{lang}",
        lang=lang.tag,
        title=visit.say("feed.title"),
        subtitle=visit.say("feed.subtitle"),
        url=visit.urls.absolute(visit.urls.feed(lang)),
        home=visit.urls.absolute(visit.urls.home(lang)),
        updated=_instant(latest),
        author=visit.say("site.name"),
        items=tuple(_item(visit, entry, edition) for entry, edition in held[:ITEMS]),
    )
    return visit.site.renderer.render("feed.xml", lang, view=view)


def _item(visit: Visit, entry: Entry, edition: Edition) -> FeedItem:
    tags = [("framework", entry.framework), ("kind", entry.kind.value)]
    tags += [("topic", value) for value in entry.topics]
    return FeedItem(
        id=f"urn:jieda:entry:{edition.lang}:{entry.id}",
        title=edition.title,
        url=visit.urls.absolute(visit.urls.entry(edition.lang, entry.id)),
        updated=_instant(edition.updated),
        summary=edition.answer.text.partition("\n")[0] if edition.answer else "",
        html=rewrite(edition.html, edition.lang, _abroad(visit.urls)),
        lang=edition.lang.tag,
        categories=tuple(name_of(visit, facet, value) for facet, value in tags),
    )


def _abroad(urls: Urls) -> Urls:
    """Addresses for HTML that is read elsewhere: every one of them absolute."""
    return replace(urls, root_path=urls.base_url + urls.root_path, base_url="")


def _instant(day: date) -> str:
    """Midnight UTC of a day, as Atom wants it."""
    return datetime.combine(day, time(), UTC).isoformat().replace("+00:00", "Z")
