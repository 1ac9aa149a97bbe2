"""Texts for programs that read the site: feed, sitemap, llms files, OpenSearch. All depend on the generation only."""

import re
from collections.abc import Callable, Collection, Iterator
from datetime import date
from functools import partial
from itertools import chain

from jieda.content.catalog import beside_framework
from jieda.content.library import Library
from jieda.entry import Edition, Entry, Language, Summary
from jieda.presentation.entry_text import applies_to_text, reading_form
from jieda.presentation.fence import derived_fence
from jieda.presentation.paths import TAG_PAGES
from jieda.presentation.urls import Urls, rewrite
from jieda.web.pages.context import PageContext
from jieda.web.pages.layout import Alternate, alternates, icon_url
from jieda.web.pages.parts import page_count

ITEMS = 50
MIDNIGHT = "{}T00:00:00Z"
"""The start of a day in Atom's format."""
ENTRIES_A_PART = 200
"""Entries per part of llms-full.txt: some 300 KB."""


def feed(context: PageContext) -> str:
    """Render the feed in a language: the entries that have an edition in it."""
    lang = context.lang
    held = context.library.published(lang)[:ITEMS]
    latest = held[0].editions[lang].updated if held else date(1970, 1, 1)
    whole = (context.library.entries[each.id] for each in held)
    return context.site.renderer.render(
        "feed.xml",
        lang,
        t=context.t,
        id=f"urn:jieda:feed:{lang}",
        tag=lang.tag,
        url=context.urls.absolute(context.urls.feed(lang)),
        home=context.urls.absolute(context.urls.home(lang)),
        updated=MIDNIGHT.format(latest),
        items=[_item(context, entry, entry.editions[lang]) for entry in whole],
    )


def _item(context: PageContext, entry: Entry, edition: Edition) -> dict[str, object]:
    """Return an entry for the feed; its id does not depend on the address."""
    tags = [("framework", entry.framework), ("kind", entry.kind.value)]
    tags += [("topic", value) for value in entry.topics]
    return {
        "id": f"urn:jieda:entry:{edition.lang}:{entry.id}",
        "title": edition.title,
        "url": context.urls.absolute(context.urls.entry(edition.lang, entry.id)),
        "updated": MIDNIGHT.format(edition.updated),
        "summary": _summary(context, edition),
        "html": rewrite(edition.html, edition.lang, context.urls.abroad),
        "lang": edition.lang.tag,
        "categories": [context.name_of(facet, value) for facet, value in tags],
    }


def _summary(context: PageContext, edition: Edition) -> str:
    first = edition.answer.text.partition("\n")[0] if edition.answer else ""
    applies_to = applies_to_text(edition.applies_to, {}, context.t)
    return f"{applies_to}\n{first}".strip()


def opensearch(context: PageContext) -> str:
    """Render the OpenSearch description as XML."""
    urls, lang = context.urls, context.lang
    return context.site.renderer.render(
        "opensearch.xml",
        lang,
        t=context.t,
        tag=lang.tag,
        icon=urls.absolute(icon_url(context)),
        search=urls.absolute(urls.search(lang)),
        own_address=urls.absolute(urls.opensearch(lang)),
    )


ENTRIES_A_FILE = 20_000
Page = tuple[str, str, tuple[Alternate, ...]]
"""The address of a page in one language, the ISO date of its change or an empty text, and all its addresses."""


def robots(context: PageContext) -> str:
    """Allow everything except endless combinations of filters."""
    urls = context.urls
    closed = [filtered(lang) for lang in Language for filtered in (urls.search, urls.entries)]
    known = [f"\nSitemap: {urls.absolute(urls.sitemap())}"] if urls.base_url else []
    return "\n".join(["User-agent: *", *(f"Disallow: {path}?" for path in closed), *known, ""])


def sitemap(context: PageContext) -> str:
    """Render the sitemap as XML, or the index of its parts."""
    parts = page_count(len(context.library), ENTRIES_A_FILE)
    if parts == 1:
        return sitemap_part(context, 1)
    addresses = [context.urls.absolute(context.urls.sitemap_part(number + 1)) for number in range(parts)]
    return context.site.renderer.render("sitemaps.xml", context.lang, addresses=addresses)


def sitemap_part(context: PageContext, number: int) -> str:
    """Render part `number`, from 1, as XML."""
    urls, library = context.urls, context.library
    pages = chain(_general(urls, library) if number == 1 else (), _entries(urls, library, number))
    return context.site.renderer.render("sitemap.xml", context.lang, pages=pages)


def _general(urls: Urls, library: Library) -> Iterator[Page]:
    both = tuple(Language)
    for address in (urls.home, urls.entries, urls.diagnose, urls.agents, urls.about):
        yield from _page(urls, address, both, "")
    for facet in TAG_PAGES:
        for value in library.taxonomy.facet(facet):
            entries = library.tagged(facet, value)
            if entries:
                changed = entries[0].updated.isoformat()
                yield from _page(urls, partial(urls.tag, facet=facet, value=value), both, changed)


def _entries(urls: Urls, library: Library, number: int) -> Iterator[Page]:
    for entry_id in library.ids[(number - 1) * ENTRIES_A_FILE : number * ENTRIES_A_FILE]:
        entry = library.summary(entry_id)
        changed = entry.updated.isoformat()
        yield from _page(urls, partial(urls.entry, entry_id=entry.id), entry.editions, changed)


def _page(
    urls: Urls, address: Callable[[Language], str], langs: Collection[Language], changed: str
) -> Iterator[Page]:
    listed = alternates(urls, address, langs)
    return ((each.url, changed, listed) for each in listed[:-1])


def llms_list(context: PageContext) -> str:
    """Render llms.txt: title, summary, and a section of links per framework."""
    urls, lang, library = context.urls, context.lang, context.library
    lines = [f"# {context.t('site.name')}", "", f"> {context.t('llms.summary')}", ""]
    addresses = _addresses(context)
    lines += [context.t("llms.search_text", **addresses), "", context.t("llms.agents", **addresses), ""]
    for framework in library.taxonomy.framework.values():
        entries = sorted(library.tagged("framework", framework.id), key=lambda each: each.id)
        if entries:
            lines += [f"## {framework.name[lang]}", "", framework.description[lang], ""]
            lines += [*(_line(context, entry) for entry in entries), ""]
    lines += ["## Optional", ""]
    lines += [f"- [{context.t('llms.full')}]({urls.absolute(urls.llms_full(lang))})"]
    lines += [f"- [{lang.other.own_name}]({urls.absolute(urls.llms(lang.other))})", ""]
    return "\n".join(lines)


def llms_full(context: PageContext, part: int) -> str:
    """Render a part of llms-full.txt, counted from 1, each entry inside a fence that no entry can close."""
    library = context.library
    ids = library.ids[(part - 1) * ENTRIES_A_PART : part * ENTRIES_A_PART]
    whole = {
        each.id: reading_form(each.edition(context.lang), each.validity, context.t).rstrip()
        for each in map(library.entries.__getitem__, ids)
    }
    fence = derived_fence("\n".join(whole.values()))
    told = context.t("llms.fence", opening=f"<entry {fence.mark} …>", closing=fence.closing)
    parts = [f"# {context.t('site.name')}\n\n> {context.t('llms.summary')}\n\n{told}"]
    for entry_id, text in whole.items():
        address = context.urls.absolute(context.urls.entry(context.lang, entry_id))
        parts.append(fence.around(f"{entry_id} {address}", text))
    if part < page_count(len(library), ENTRIES_A_PART):
        following = context.urls.absolute(context.urls.llms_full(context.lang, part + 1))
        parts.append(context.t("llms.next", url=following))
    return "\n\n".join(parts) + "\n"


def _line(context: PageContext, entry: Summary) -> str:
    edition, shown = entry.edition(context.lang), entry.shown(context.lang)
    tags = [context.name_of("kind", entry.kind.value)]
    tags += [context.name_of("topic", value) for value in entry.topics]
    framework = context.name_of("framework", entry.framework)
    applies_to = beside_framework(framework, edition.applies_to)
    title = re.sub(r"[\\\[\]]", r"\\\g<0>", " ".join(edition.title.split()))
    address = context.urls.absolute(context.urls.entry_markdown(shown, entry.id))
    notes = [applies_to] if applies_to else []
    notes += [] if shown is context.lang else [shown.own_name]
    note = "".join(context.t("list.parenthesis", text=text) for text in notes)
    return f"- [{title}]({address}): {context.t('list.join').join(tags)}{note}"


def _addresses(context: PageContext) -> dict[str, str]:
    urls, lang = context.urls, context.lang
    paths = {
        "mcp": urls.mcp(),
        "page": urls.agents(lang),
        "skill": urls.agents(lang, "SKILL.md"),
        "search": urls.api_search(q="QUERY"),
        "diagnose": urls.api_diagnose(),
        "openapi": urls.openapi(),
    }
    return {name: urls.absolute(path) for name, path in paths.items()}
