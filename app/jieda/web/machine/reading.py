"""Texts for programs that read the site, which depend only on the generation: feed, sitemap, llms files, OpenSearch."""

import re
from collections.abc import Collection, Iterator
from datetime import date
from functools import partial

from jieda.content.catalog import without_framework
from jieda.content.library import Library
from jieda.entry import Edition, Entry, Language, Summary
from jieda.presentation.entry_text import applies_to_text, reading_form
from jieda.presentation.fence import derived_fence
from jieda.presentation.paths import TAG_PAGES
from jieda.presentation.urls import Urls, rewrite
from jieda.web.pages.context import PageContext
from jieda.web.pages.layout import Here, alternates, icon_url
from jieda.web.pages.parts import page_count
from jieda.web.templating import render

ITEMS = 50
MIDNIGHT = "{}T00:00:00Z"
"""The start of a day in Atom's format."""
ENTRIES_A_PART = 200
"""Entries per part of llms-full.txt: some 300 KB."""


def feed(context: PageContext) -> str:
    """Render the feed in a language: the entries that have an edition in it."""
    lang, urls = context.lang, context.urls.external
    summaries = context.library.published(lang)[:ITEMS]
    latest = summaries[0].editions[lang].updated if summaries else date(1970, 1, 1)
    entries = (context.library.entries[summary.id] for summary in summaries)
    return render(
        "feed.xml",
        t=context.t,
        id=f"urn:jieda:feed:{lang}",
        tag=lang.tag,
        url=urls.feed(lang),
        home=urls.home(lang),
        updated=MIDNIGHT.format(latest),
        items=[_item(context, entry, entry.editions[lang]) for entry in entries],
    )


def _item(context: PageContext, entry: Entry, edition: Edition) -> dict[str, object]:
    """Return an entry for the feed; its id does not depend on the address."""
    urls = context.urls.external
    tags = [("framework", entry.framework), ("kind", entry.kind.value)]
    tags += [("topic", value) for value in entry.topics]
    return {
        "id": f"urn:jieda:entry:{edition.lang}:{entry.id}",
        "title": edition.title,
        "url": urls.entry(edition.lang, entry.id),
        "updated": MIDNIGHT.format(edition.updated),
        "summary": _summary(context, edition),
        "html": rewrite(edition.html, edition.lang, urls),
        "lang": edition.lang.tag,
        "categories": [context.name_of(facet, value) for facet, value in tags],
    }


def _summary(context: PageContext, edition: Edition) -> str:
    first = edition.answer.text.partition("\n")[0] if edition.answer else ""
    applies_to = applies_to_text(edition.applies_to, {}, context.t)
    return f"{applies_to}\n{first}".strip()


def opensearch(context: PageContext) -> str:
    """Render the OpenSearch description as XML."""
    urls, lang = context.urls.external, context.lang
    return render(
        "opensearch.xml",
        t=context.t,
        tag=lang.tag,
        icon=context.urls.absolute(icon_url(context)),
        search=urls.search(lang),
        own_address=urls.opensearch(lang),
    )


ENTRIES_A_FILE = 20_000
Page = tuple[Here, str, Collection[Language]]
"""A page: its address by language, the ISO date of its last change, or empty, and the languages that have it."""


def robots(context: PageContext) -> str:
    """Allow everything except endless combinations of filters."""
    urls = context.urls
    filtered = [address(lang) for lang in Language for address in (urls.search, urls.entries)]
    lines = ["User-agent: *", *(f"Disallow: {path}?" for path in filtered)]
    lines += ["", f"Sitemap: {urls.external.sitemap()}"] if urls.base_url else []
    return "\n".join([*lines, ""])


def sitemap(context: PageContext) -> str:
    """Render the sitemap as XML, or the index of its parts."""
    parts = page_count(len(context.library), ENTRIES_A_FILE)
    if parts == 1:
        return sitemap_part(context, 1)
    addresses = list(map(context.urls.external.sitemap_part, range(1, parts + 1)))
    return render("sitemaps.xml", addresses=addresses)


def sitemap_part(context: PageContext, number: int) -> str:
    """Render part `number`, from 1, as XML."""
    urls, library = context.urls, context.library
    pages = [*_general(urls, library)] if number == 1 else []
    for entry_id in library.ids[(number - 1) * ENTRIES_A_FILE : number * ENTRIES_A_FILE]:
        entry = library.summary(entry_id)
        pages.append((partial(urls.entry, entry_id=entry_id), entry.updated.isoformat(), entry.editions))
    located = [(alternates(urls, address, langs), changed) for address, changed, langs in pages]
    return render(
        "sitemap.xml", pages=[(url, changed, links) for links, changed in located for _, url in links[:-1]]
    )


def _general(urls: Urls, library: Library) -> Iterator[Page]:
    for address in (urls.home, urls.entries, urls.diagnose, urls.agents, urls.about):
        yield address, "", tuple(Language)
    for facet in TAG_PAGES:
        for value in library.taxonomy.facet(facet):
            if entries := library.tagged(facet, value):
                address = partial(urls.tag, facet=facet, value=value)
                yield address, entries[0].updated.isoformat(), tuple(Language)


def llms_list(context: PageContext) -> str:
    """Render llms.txt: title, summary, and a section of links per framework."""
    urls, lang, library = context.urls.external, context.lang, context.library
    lines = [f"# {context.t('site.name')}", "", f"> {context.t('llms.summary')}", ""]
    addresses = {
        "mcp": urls.mcp(),
        "page": urls.agents(lang),
        "skill": urls.agents(lang, "SKILL.md"),
        "search": urls.api_search(q="QUERY"),
        "diagnose": urls.api_diagnose(),
        "openapi": urls.openapi(),
    }
    lines += [context.t("llms.search_text", **addresses), "", context.t("llms.agents", **addresses), ""]
    for framework in library.taxonomy.framework.values():
        entries = sorted(library.tagged("framework", framework.id), key=lambda each: each.id)
        if entries:
            lines += [f"## {framework.name[lang]}", "", framework.description[lang], ""]
            lines += [*(_line(context, entry) for entry in entries), ""]
    lines += ["## Optional", ""]
    lines += [f"- [{context.t('llms.full')}]({urls.llms_full(lang)})"]
    lines += [f"- [{lang.other.own_name}]({urls.llms(lang.other)})", ""]
    return "\n".join(lines)


def llms_full(context: PageContext, part: int) -> str:
    """Render a part of llms-full.txt, counted from 1, each entry inside a fence that no entry can close."""
    library, urls, lang, t = context.library, context.urls.external, context.lang, context.t
    texts: dict[str, str] = {}
    for entry_id in library.ids[(part - 1) * ENTRIES_A_PART : part * ENTRIES_A_PART]:
        entry = library.entries[entry_id]
        texts[entry_id] = reading_form(entry.edition(lang), entry.validity, t).rstrip()
    fence = derived_fence("\n".join(texts.values()))
    note = t("llms.fence", opening=f"<entry {fence.mark} …>", closing=fence.closing)
    parts = [f"# {t('site.name')}\n\n> {t('llms.summary')}\n\n{note}"]
    parts += [
        fence.around(f"{entry_id} {urls.entry(lang, entry_id)}", text) for entry_id, text in texts.items()
    ]
    if part < page_count(len(library), ENTRIES_A_PART):
        parts.append(t("llms.next", url=urls.llms_full(lang, part + 1)))
    return "\n\n".join(parts) + "\n"


def _line(context: PageContext, entry: Summary) -> str:
    edition, shown = entry.edition(context.lang), entry.shown(context.lang)
    tags = [context.name_of("kind", entry.kind.value)]
    tags += [context.name_of("topic", value) for value in entry.topics]
    framework = context.name_of("framework", entry.framework)
    applies_to = without_framework(framework, edition.applies_to)
    title = re.sub(r"[\\\[\]]", r"\\\g<0>", " ".join(edition.title.split()))
    address = context.urls.external.entry_markdown(shown, entry.id)
    notes = [applies_to] if applies_to else []
    notes += [] if shown is context.lang else [shown.own_name]
    note = "".join(context.t("list.parenthesis", text=text) for text in notes)
    return f"- [{title}]({address}): {context.t('list.join').join(tags)}{note}"
