"""Exports the site as static files: every address with the same answer for all readers, and data for the search of
`static/export.js`, which lacks spelling correction, exact matching, semantic search and diagnosis."""

import json
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from fastapi import FastAPI
from starlette.types import Message

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.content.library import Library
from jieda.entry import Entry, Language
from jieda.locales.translations import translate
from jieda.presentation import paths
from jieda.search.index.document import document_of, keyed_texts
from jieda.search.snippet import opening
from jieda.search.weights import K1, weighted_frequencies
from jieda.web.site import Site
from jieda.web.templating import render

STEPS = 999
"""The integer for a saturation of 1."""
SNIPPET = 160
"""Characters of a snippet."""


def search_data(library: Library, analyzer: Analyzer, glossary: Glossary) -> dict[str, Any]:
    """Return the search data as JSON values.

    `entries`: id, framework, texts by language. `terms`: term to entry numbers, each followed by the saturation.
    `keys`: title or alias to entry number. `stems`: word to stem, if they differ. `members`: stems of a glossary word,
    separated by spaces, to the numbers of its groups. `frameworks`: name to id.
    """
    entries: list[Any] = []
    terms: dict[str, list[int]] = defaultdict(list)
    keys: dict[str, int] = {}
    stems: dict[str, str] = {}
    for number, entry in enumerate(library.entries.values()):
        entries.append([entry.id, entry.framework, _displayed_texts(entry)])
        document = document_of(entry, analyzer, glossary, library.taxonomy)
        for term, frequency in weighted_frequencies(document.zones).items():
            terms[term] += [number, round(STEPS * (frequency / (K1 + frequency)))]
        for title in keyed_texts(entry):
            keys.setdefault(analyzer.key(title), number)
        for text in document.texts:
            stems |= _stems(analyzer, " ".join(text.atoms))
    members: dict[str, list[int]] = defaultdict(list)
    for number, group in enumerate(glossary.groups):
        for word in group.words:
            members[" ".join(analyzer.analyze(word).stems)].append(number)
            stems |= _stems(analyzer, word)
    frameworks = library.taxonomy.framework.values()
    return {
        "entries": entries,
        "terms": terms,
        "keys": keys,
        "stems": stems,
        "members": members,
        "frameworks": {
            name.casefold(): tag.id for tag in frameworks for name in (tag.id, *tag.name.values())
        },
    }


def _displayed_texts(entry: Entry) -> dict[str, list[str]]:
    """Return title, `applies_to` and the start of the answer as HTML, by language."""
    return {
        lang.value: [edition.title, edition.applies_to, opening(edition, SNIPPET).html_with_code]
        for lang in Language
        if (edition := entry.editions.get(lang))
    }


def _stems(analyzer: Analyzer, text: str) -> dict[str, str]:
    analysis = analyzer.analyze(text)
    pairs = zip(analysis.words, analysis.stems, strict=True)
    return {word: stem for word, stem in pairs if word != stem}


ADDRESS = re.compile(r'(?<=href=")(/[^"?#]*)\?page=(\d+)(?=[#"])')
"""A link to a page of a list, which is replaced because a file has no query."""
ONE_TOPIC = re.compile(r'(?<=href=")(/[^"?#]*)/entries\?topic=([^"&#]+)(?=")')
"""A link to the entries of a topic, which has a page, too."""
INSIDE = re.compile(r' href="(/(?!/)[^"#]*)[^"]*"')
SEARCHED = re.compile(r"/(en|zh)/search\?q=")
"""Addresses that the exported script answers."""
LISTED = re.compile(r"  <url>[\s\S]*?</url>\n|^(?!- ).+\n\n", re.MULTILINE)
"""A page in a sitemap, or a paragraph of llms.txt."""
LINKS = re.compile(r'(?:href|src)="(/[^"#]*)')
NOWHERE = b"export.invalid"
"""Host of the requests, which never occurs in exported addresses."""
PART = "{path}/page-{number}"


async def export_site(app: FastAPI) -> AsyncIterator[tuple[str, bytes]]:
    """Yield path and content of each file of the site that `app` serves, whose content must be open.

    Follows links from page to page. Raises RuntimeError for a broken link, with the page that has it.
    """
    site: Site = app.state.site
    root = site.urls.root_path
    queue, seen = [(start, "") for start in start_addresses(site)], set()
    while queue:
        address, source = queue.pop()
        path = address.removeprefix(root)
        if address in seen or not is_exportable(path):
            continue
        seen.add(address)
        status, kind, body = await request_page(app, address)
        if status != 200:
            raise RuntimeError(f"{source or 'the site'} links to {address}, which answers {status}")
        if is_page := kind.startswith("text/html"):
            text = body.decode()
            queue += [(link, address) for link in LINKS.findall(text)]
            body = adapt_page(text, site).encode()
        elif path.endswith(("/sitemap.xml", "/llms.txt")):
            body = adapt_list(body.decode(), site).encode()
        yield file_path(path, is_page=is_page), body
    snapshot = site.service.current()
    library, analyzer = snapshot.library, snapshot.searcher.analyzer
    data = search_data(library, analyzer, Glossary(library.glossary, analyzer))
    yield "search.json", json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()
    main_lang = max(Language, key=lambda lang: len(library.published(lang)))
    yield "index.html", _redirect(site.urls.home(main_lang))
    # Hosts of files send it for every address that does not exist, and nothing tells the reader's language.
    texts = {"languages": tuple(Language), "t": translate}
    yield "404.html", render("missing.html", urls=site.urls, **texts).encode()
    for old, new in library.current_ids.items():
        for lang in Language:
            path = site.urls.entry(lang, old).removeprefix(root)
            yield file_path(path, is_page=True), _redirect(site.urls.entry(lang, new))


def _redirect(address: str) -> bytes:
    """Return a page that redirects to an address."""
    return (
        f'<!doctype html><link rel="canonical" href="{address}">'
        f'<meta http-equiv="refresh" content="0; url={address}">'
    ).encode()


def start_addresses(site: Site) -> Iterator[str]:
    """Yield the addresses to start from, including those that no page may link to."""
    urls = site.urls
    if urls.base_url:
        yield urls.sitemap()
    yield from (urls.llms(), urls.llms_full(), urls.static("export.js"), urls.static("export.css"))
    for lang in Language:
        yield from (urls.home(lang), urls.search(lang), urls.entries(lang), urls.about(lang))
        yield urls.llms_full(lang)
        yield from (urls.entry_markdown(lang, entry_id) for entry_id in site.service.current().library.ids)


def is_exportable(path: str) -> bool:
    """Whether an address can be exported as a file: not if it depends on a query or needs a server."""
    plain, _, query = path.partition("?")
    if plain.startswith((paths.API_FAMILY, paths.DOCS, paths.MCP)) or path.startswith("//"):
        return False
    if re.fullmatch(r"/(en|zh)/(diagnose|workbench|maintain|agents)(/.*)?", plain):
        return False
    return not query or query.startswith("v=") or bool(re.fullmatch(r"page=\d+", query))


async def request_page(app: FastAPI, address: str) -> tuple[int, str, bytes]:
    """Request an address from the application in this process; return status, media type and body."""
    path, _, query = address.partition("?")
    scope = {
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "path": unquote(path),
        "query_string": query.encode(),
        "headers": [(b"host", NOWHERE)],
        "client": ("127.0.0.1", 0),
    }
    messages: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        messages.append(message)

    await app(scope, receive, send)
    kind = dict(messages[0]["headers"]).get(b"content-type", b"").decode()
    return messages[0]["status"], kind, b"".join(message.get("body", b"") for message in messages)


def adapt_page(html: str, site: Site) -> str:
    """Return a page with the script and style of the export, without links to what is not exported."""
    script, style = site.urls.static("export.js"), site.urls.static("export.css")
    head = f'<head>\n<script src="{script}"></script>\n<link rel="stylesheet" href="{style}">'
    html = ADDRESS.sub(lambda link: PART.format(path=link[1].rstrip("/"), number=link[2]), html)
    html = ONE_TOPIC.sub(r"\1/topics/\2", html)

    def drop_dead_link(link: re.Match[str]) -> str:
        path = link[1].removeprefix(site.urls.root_path)
        return link[0] if is_exportable(path) or SEARCHED.match(path) else ""

    return INSIDE.sub(drop_dead_link, html).replace("<head>", head, 1)


def adapt_list(text: str, site: Site) -> str:
    """Return a list of addresses for programs without the pages and paragraphs that name one that was not exported."""
    address = re.compile(rf"(?<![^\s>]){re.escape(site.urls.absolute(site.urls.root_path))}(/[^\s<]*)")
    return LISTED.sub(lambda part: part[0] if all(map(is_exportable, address.findall(part[0]))) else "", text)


def file_path(path: str, *, is_page: bool) -> str:
    """Return the file path of an address; an HTML page is the `index.html` of a folder, as web servers expect."""
    plain, _, query = path.partition("?")
    if query.startswith("page="):
        plain = PART.format(path=plain.rstrip("/"), number=query.removeprefix("page="))
    plain = unquote(plain).strip("/")
    return str(Path(plain) / "index.html") if is_page else plain
