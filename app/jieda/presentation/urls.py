"""All URLs of this application, with the path prefix of a proxy, and issue searches of other sites. Only this module
builds URLs."""

import hashlib
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from html import escape, unescape
from pathlib import Path
from typing import Concatenate, Self
from urllib.parse import quote, unquote, urlencode, urlsplit

from jieda.content.markdown.links import LinkKind, read_image, read_link
from jieda.entry import Language
from jieda.presentation import paths
from jieda.taxonomy import FACETS, Filters

Parameter = str | int | bool | Collection[str] | None

# Rendered content escapes quotes, so this matches only whole attributes that the renderer itself wrote.
PLACEHOLDER = re.compile(r'\b(href|src)="entry(?:-image)?:([^"]*)"')
TARGET = re.compile(r"(\]\(|^ {0,3}\[[^\]\n]+\]: *)(?:<([^<>\n]+)>|([^\s()<>]+))", re.MULTILINE)
"""The beginning of a link, an image or a definition of one in Markdown, and what it leads to."""
ISSUE_SEARCH: Mapping[str, str] = {
    "github": "{repository}/issues?q={query}",
    "gitlab": "{repository}/-/issues?search={query}&state=all",
    "gitee": "{repository}/issues?search={query}",
    "codeberg": "{repository}/issues?q={query}&state=all",
}
"""Issue search URLs, by the first label of a repository's host."""

InLanguage = Callable[Concatenate["Urls", Language, ...], str]
"""Returns the URL of a page in a language; empty parameters are left out, iterables repeat their parameter."""
WithoutLanguage = Callable[Concatenate["Urls", ...], str]
"""Returns a URL without a language; parameters as for `InLanguage`."""


def _in_language(template: str) -> InLanguage:
    def url(self: "Urls", lang: Language, **params: Parameter) -> str:
        return self.path(template, lang=lang) + _query(params)

    return url


def _without_language(template: str) -> WithoutLanguage:
    def url(self: "Urls", **params: Parameter) -> str:
        return self.path(template) + _query(params)

    return url


@dataclass(frozen=True, slots=True)
class Urls:
    """Root-relative URLs with the hosting prefix; those of `external` are absolute.

    `static_digests` maps the name of each static file to a digest of its content.
    """

    root_path: str = ""
    base_url: str = ""
    static_digests: Mapping[str, str] = field(default_factory=dict)

    home = _in_language(paths.HOME)
    search = _in_language(paths.SEARCH)
    diagnose = _in_language(paths.DIAGNOSE)
    asked = _in_language(paths.ASKED)
    entries = _in_language(paths.ENTRIES)
    about = _in_language(paths.ABOUT)
    workbench = _in_language(paths.WORKBENCH)
    maintain = _in_language(paths.MAINTAIN)
    feed = _in_language(paths.FEED)
    opensearch = _in_language(paths.OPENSEARCH)
    root = _without_language(paths.ROOT)
    sitemap = _without_language(paths.SITEMAP)
    preferences = _without_language(paths.PREFERENCES)
    mcp = _without_language(paths.MCP)
    openapi = _without_language(paths.OPENAPI)
    api_search = _without_language(paths.API_SEARCH)
    api_suggest = _without_language(paths.API_SUGGEST)
    api_entries = _without_language(paths.API_ENTRIES)
    api_outcomes = _without_language(paths.API_OUTCOMES)

    def path(self, template: str, **values: str) -> str:
        """Fill in the `{names}` of a template in `paths` and return the URL."""
        return self.root_path + quote(template.format_map(values), safe="/~")

    def absolute(self, path: str) -> str:
        """Return the absolute form of a URL; root-relative if no base is known."""
        return self.base_url + path

    @property
    def external(self) -> Self:
        """The same URLs for use outside the site: all absolute, if a base is known."""
        return replace(self, root_path=self.base_url + self.root_path, base_url="")

    def search_filtered(self, lang: Language, text: str, filters: Filters, **params: Parameter) -> str:
        return self.search(lang, **filter_parameters(text, filters), **params)

    def entry(self, lang: Language, entry_id: str, anchor: str = "") -> str:
        """Return the page of an entry, at the heading `anchor` if given; for `<framework>/<file name>`, an image beside
        the entries."""
        framework, _, name = entry_id.partition("/")
        url = self.path(paths.ENTRY, lang=lang, framework=framework, name=name)
        return url + (f"#{quote(anchor)}" if anchor else "")

    def entry_markdown(self, lang: Language, entry_id: str) -> str:
        return self.entry(lang, f"{entry_id}.md")

    def brand(self, name: str, version: str) -> str:
        """Return the logo, icon or colors of the content; `version` busts caches."""
        return self.path(paths.BRAND, name=name) + _query({"v": version})

    def tag(self, lang: Language, facet: str, value: str, **params: Parameter) -> str:
        """Return the page of a tag, or a search filtered by it if the facet has no pages."""
        if facet not in paths.TAG_PAGES:
            return self.search(lang, **{facet: value}, **params)
        return self.path(paths.TAG_PAGES[facet], lang=lang, value=value) + _query(params)

    def entries_filtered(self, lang: Language, filters: Filters, **params: Parameter) -> str:
        return self.entries(lang, **filter_parameters("", filters), **params)

    def llms(self, lang: Language | None = None) -> str:
        """Return llms.txt in a language, or the one for all languages."""
        return self.path(paths.LLMS, lang=lang) if lang else self.path(paths.LLMS_ALL)

    def llms_full(self, lang: Language | None = None, part: int = 1) -> str:
        """Return a part of llms-full.txt, counted from 1."""
        path = self.path(paths.LLMS_FULL, lang=lang) if lang else self.path(paths.LLMS_FULL_ALL)
        return path + (f"?part={part}" if part > 1 else "")

    def sitemap_part(self, number: int) -> str:
        """Return a part of the sitemap, counted from 1."""
        return self.path(paths.SITEMAP_PART, number=str(number))

    def static(self, name: str) -> str:
        """Return the URL of a static file, which changes with its content."""
        digest = self.static_digests.get(name, "")
        return self.path(paths.STATIC, name=name) + _query({"v": digest})

    def agents(self, lang: Language, name: str = "") -> str:
        """Return the setup page for coding agents, or a file for teams to copy."""
        template = paths.AGENTS_FILE if name else paths.AGENTS
        return self.path(template, lang=lang, **({"name": name} if name else {}))

    def docs(self, name: str = "") -> str:
        """Return the API documentation, or a file of Swagger UI."""
        return self.path(paths.DOCS_FILE, name=name) if name else self.path(paths.DOCS)

    def api_entry(self, entry_id: str, *, markdown: bool = False, **params: Parameter) -> str:
        """Return an entry in the API, as JSON or as Markdown."""
        framework, _, slug = entry_id.partition("/")
        template = paths.API_ENTRY_MARKDOWN if markdown else paths.API_ENTRY
        return self.path(template, framework=framework, slug=slug) + _query(params)

    def api_tags(self, facet: str, **params: Parameter) -> str:
        return self.path(paths.API_TAGS[facet]) + _query(params)

    def api_diagnose(self, *, text: bool = False, **params: Parameter) -> str:
        """Return the API route that diagnoses a log and responds with JSON or with plain text."""
        return self.path(paths.API_DIAGNOSE_TEXT if text else paths.API_DIAGNOSE) + _query(params)


def filter_parameters(text: str, filters: Filters) -> dict[str, Parameter]:
    """Return the query parameters for `text` under `filters`, for the search page and the API alike."""
    return {"q": text} | {name: getattr(filters, name) for name in (*FACETS, "edition", "version")}


def rewrite(html: str, lang: Language, urls: Urls) -> str:
    """Replace `entry:` and `entry-image:` addresses in `html` with URLs in the reader's language."""

    def address(match: re.Match[str]) -> str:
        attribute, value = match.groups()
        path, _, anchor = unescape(value).partition("#")
        return f'{attribute}="{escape(urls.entry(lang, unquote(path), unquote(anchor)))}"'

    return PLACEHOLDER.sub(address, html)


def link_pages(markdown: str, entry_id: str, address: Callable[[str], str]) -> str:
    """Return Markdown of an entry for use outside the site: its links to entries, headings and images begin with what
    `address` returns for an id."""
    framework = entry_id.partition("/")[0]

    def target(match: re.Match[str]) -> str:
        opening, href = match[1], match[2] or match[3]
        # A link to the other language names the same entry.
        link = read_link(href, Language.EN, framework, 0)
        if link.kind is LinkKind.REFUSED:
            link = read_image(href, framework, 0)
        if link.kind not in {LinkKind.ENTRY, LinkKind.ANCHOR, LinkKind.IMAGE}:
            return match[0]
        return opening + address(link.target or entry_id) + (f"#{quote(link.anchor)}" if link.anchor else "")

    return TARGET.sub(target, markdown)


def linked_entries(html: str) -> set[str]:
    """Return the ids of the entries that `html` links to, before `rewrite`."""
    return {unquote(unescape(value).partition("#")[0]) for _, value in PLACEHOLDER.findall(html)}


def issue_search(repository: str, query: str) -> str:
    """Return the issue search of a repository for `query`; empty if its host is unknown."""
    host = (urlsplit(repository).hostname or "").removeprefix("www.")
    template = ISSUE_SEARCH.get(host.partition(".")[0], "")
    return template.replace("{repository}", repository.rstrip("/")).replace("{query}", quote(query, safe=""))


def fill_in(template: str, **values: str) -> str:
    """Replace each `{name}` in `template` by its URL-quoted value; an empty template stays empty."""
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", quote(value, safe=""))
    return template


def own_digests(directory: Path) -> dict[str, str]:
    """Return the digests of our static files by their path below `directory`. All scripts share one: they import one
    another, so they must match."""
    files = (path for path in sorted(directory.rglob("*")) if path.is_file())
    digests = {path.relative_to(directory).as_posix(): _digest(path.read_bytes()) for path in files}
    scripts = [name for name in digests if name.endswith(".js")]
    together = _digest("".join(digests[name] for name in scripts).encode())
    return digests | dict.fromkeys(scripts, together)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def _query(params: Mapping[str, Parameter]) -> str:
    """Return the query without empty parameters; the first page of a list is its plain address."""
    filled = ((name, value) for name, value in params.items() if value and (name, value) != ("page", 1))
    values = {name: "1" if value is True else value for name, value in filled}
    return f"?{urlencode(values, doseq=True)}" if values else ""
