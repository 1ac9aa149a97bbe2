"""An Atom feed per language: entries that are new or have changed, latest first."""

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time

from app.entry import Edition, Entry
from app.presentation.urls import Urls, rewrite
from app.web.pages.context import PageContext
from app.web.pages.parts import name_of

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


def feed(context: PageContext) -> str:
    """The feed in the reader's language: the entries that have an edition in it."""
    lang = context.lang
    held = context.library.published(lang)[:ITEMS]
    latest = held[0].editions[lang].updated if held else date(1970, 1, 1)
    whole = (context.library.entry(each.id) for each in held)
    view = FeedView(
        id=f"urn:jieda:feed:{lang}",
        lang=lang.tag,
        title=context.t("feed.title"),
        subtitle=context.t("feed.subtitle"),
        url=context.urls.absolute(context.urls.feed(lang)),
        home=context.urls.absolute(context.urls.home(lang)),
        updated=_instant(latest),
        author=context.t("site.name"),
        items=tuple(_item(context, entry, entry.editions[lang]) for entry in whole if entry),
    )
    return context.site.renderer.render("feed.xml", lang, view=view)


def _item(context: PageContext, entry: Entry, edition: Edition) -> FeedItem:
    tags = [("framework", entry.framework), ("kind", entry.kind.value)]
    tags += [("topic", value) for value in entry.topics]
    return FeedItem(
        id=f"urn:jieda:entry:{edition.lang}:{entry.id}",
        title=edition.title,
        url=context.urls.absolute(context.urls.entry(edition.lang, entry.id)),
        updated=_instant(edition.updated),
        summary=_summary(context, edition),
        html=rewrite(edition.html, edition.lang, _abroad(context.urls)),
        lang=edition.lang.tag,
        categories=tuple(name_of(context, facet, value) for facet, value in tags),
    )


def _summary(context: PageContext, edition: Edition) -> str:
    first = edition.answer.text.partition("\n")[0] if edition.answer else ""
    applies_to = context.t("diagnosis.applies_to", text=edition.applies_to) if edition.applies_to else ""
    return f"{applies_to}\n{first}".strip()


def _abroad(urls: Urls) -> Urls:
    """Addresses for HTML that is read elsewhere: every one of them absolute."""
    return replace(urls, root_path=urls.base_url + urls.root_path, base_url="")


def _instant(day: date) -> str:
    """Midnight UTC of a day, as Atom wants it."""
    return datetime.combine(day, time(), UTC).isoformat().replace("+00:00", "Z")
