"""Every address of this application, under whatever path a proxy serves it, and those at other sites where somebody may
know what no entry says. Nobody else builds one."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from html import escape, unescape
from pathlib import Path
from typing import Protocol, Self, cast
from urllib.parse import quote, unquote, urlencode, urlsplit

from jieda.entry import Language
from jieda.presentation import paths
from jieda.settings import Settings
from jieda.taxonomy import Filters

Parameter = str | int | bool | Iterable[str] | None

# Quotes in text and in attribute values are escaped in the HTML that content renders, so this matches
# nothing but a whole attribute that content wrote itself.
PLACEHOLDER = re.compile(r'\b(href|src)="(entry|entry-image):([^"]*)"')
ISSUE_SEARCH: Mapping[str, str] = {
    "github": "{repository}/issues?q={query}",
    "gitlab": "{repository}/-/issues?search={query}&state=all",
    "gitee": "{repository}/issues?search={query}",
    "codeberg": "{repository}/issues?q={query}&state=all",
}
"""By the name that the host of a repository begins with: how its issues are searched."""


class InLanguage(Protocol):
    """Gives the address of a page in a language; empty parameters are left out, iterables repeat their parameter."""

    def __call__(self, lang: Language, **params: Parameter) -> str: ...


class InAll(Protocol):
    """Gives an address that is the same in all languages; parameters as those of a page."""

    def __call__(self, **params: Parameter) -> str: ...


def _page(template: str) -> InLanguage:
    def address(self: "Urls", lang: Language, **params: Parameter) -> str:
        return self.path(template, lang=lang) + _query(params)

    return cast("InLanguage", address)


def _same(template: str) -> InAll:
    def address(self: "Urls", **params: Parameter) -> str:
        return self.path(template) + _query(params)

    return cast("InAll", address)


@dataclass(frozen=True, slots=True)
class Urls:
    """Root-relative addresses with the hosting prefix; `absolute` puts `base_url` before one, `abroad` before all.

    `static_digests` maps the name of each static file to a digest of its content.
    """

    root_path: str = ""
    base_url: str = ""
    static_digests: Mapping[str, str] = field(default_factory=dict)

    home = _page(paths.HOME)
    search = _page(paths.SEARCH)
    diagnose = _page(paths.DIAGNOSE)
    entries = _page(paths.ENTRIES)
    about = _page(paths.ABOUT)
    workbench = _page(paths.WORKBENCH)
    maintain = _page(paths.MAINTAIN)
    feed = _page(paths.FEED)
    opensearch = _page(paths.OPENSEARCH)
    root = _same(paths.ROOT)
    sitemap = _same(paths.SITEMAP)
    preferences = _same(paths.PREFERENCES)
    mcp = _same(paths.MCP)
    openapi = _same(paths.OPENAPI)
    api_search = _same(paths.API_SEARCH)
    api_suggest = _same(paths.API_SUGGEST)
    api_entries = _same(paths.API_ENTRIES)
    api_outcomes = _same(paths.API_OUTCOMES)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The addresses that `settings` lead to; reads the static files once."""
        return cls(settings.root_path, settings.base_url, own_digests(settings.static))

    def path(self, template: str, **values: str) -> str:
        """One of `paths`, its `{names}` filled in, as an address."""
        return self.root_path + quote(template.format_map(values), safe="/~")

    def absolute(self, path: str) -> str:
        """An address of this class for readers elsewhere; root-relative where no base is known."""
        return self.base_url + path

    @property
    def abroad(self) -> Self:
        """The same addresses for what is read elsewhere: each of them absolute, where a base is known."""
        return replace(self, root_path=self.base_url + self.root_path, base_url="")

    def search_filtered(self, lang: Language, text: str, filters: Filters, **params: Parameter) -> str:
        """The search page for `text` under `filters`."""
        return self.search(lang, **filter_parameters(text, filters), **params)

    def entry(self, lang: Language, entry_id: str, anchor: str = "") -> str:
        """The page of an entry, at one of its headings if `anchor` is given."""
        return self._entry_page(lang, entry_id) + (f"#{quote(anchor)}" if anchor else "")

    def entry_markdown(self, lang: Language, entry_id: str) -> str:
        """An entry's Markdown with its front matter."""
        return self._entry_page(lang, f"{entry_id}.md")

    def image(self, lang: Language, path: str) -> str:
        """An image beside the entries; `path` is `<framework>/<file name>`."""
        return self._entry_page(lang, path)

    def _entry_page(self, lang: Language, path: str) -> str:
        framework, _, name = path.partition("/")
        return self.path(paths.ENTRY, lang=lang, framework=framework, name=name)

    def brand(self, name: str, version: str) -> str:
        """The logo, the icon or the colours of the content; another `version` is another address."""
        return self.path(paths.BRAND, name=name) + _query({"v": version})

    def tag(self, lang: Language, facet: str, value: str, **params: Parameter) -> str:
        """The page of a tag, or the search filtered by it where the facet has no pages."""
        if facet not in paths.TAG_PAGES:
            return self.search(lang, **{facet: value}, **params)
        return self.path(paths.TAG_PAGES[facet], lang=lang, value=value) + _query(params)

    def asked(self, lang: Language, key: str = "") -> str:
        """Where a log is put before those who write entries; with a key, what became of it. No access log has it."""
        return self.path(paths.ASKED, lang=lang) + _query({"key": key})

    def entries_filtered(self, lang: Language, filters: Filters, **params: Parameter) -> str:
        """The page that lists the entries under `filters`."""
        return self.entries(lang, **filter_parameters("", filters), **params)

    def llms(self, lang: Language | None = None) -> str:
        """The list of entries for machine readers, of a language or over all."""
        return self.path(paths.LLMS, lang=lang) if lang else self.path(paths.LLMS_ALL)

    def llms_full(self, lang: Language | None = None, part: int = 1) -> str:
        """A part of the text of all entries for machine readers, counted from 1."""
        path = self.path(paths.LLMS_FULL, lang=lang) if lang else self.path(paths.LLMS_FULL_ALL)
        return path + (f"?part={part}" if part > 1 else "")

    def sitemap_part(self, number: int) -> str:
        """A part of the sitemap, counted from 1."""
        return self.path(paths.SITEMAP_PART, number=str(number))

    def static(self, name: str) -> str:
        """A static file under an address that changes with its content."""
        digest = self.static_digests.get(name, "")
        return self.path(paths.STATIC, name=name) + _query({"v": digest})

    def agents(self, lang: Language, name: str = "") -> str:
        """How a coding agent is set up, or a file that a team copies."""
        template = paths.AGENTS_FILE if name else paths.AGENTS
        return self.path(template, lang=lang, **({"name": name} if name else {}))

    def docs(self, name: str = "") -> str:
        """The documentation of the API, or a file of Swagger UI that it needs."""
        return self.path(paths.DOCS_FILE, name=name) if name else self.path(paths.DOCS)

    def api_entry(self, entry_id: str, *, markdown: bool = False, **params: Parameter) -> str:
        """An entry of the API, as JSON or as Markdown."""
        framework, _, slug = entry_id.partition("/")
        template = paths.API_ENTRY_MARKDOWN if markdown else paths.API_ENTRY
        return self.path(template, framework=framework, slug=slug) + _query(params)

    def api_tags(self, facet: str, **params: Parameter) -> str:
        """The tags of one of `entry.FACETS` in the API."""
        return self.path(paths.API_TAGS[facet]) + _query(params)

    def api_diagnose(self, *, text: bool = False, **params: Parameter) -> str:
        """Where the API takes a log, and answers with JSON or with a text to read."""
        return self.path(paths.API_DIAGNOSE_TEXT if text else paths.API_DIAGNOSE) + _query(params)


def filter_parameters(text: str, filters: Filters) -> dict[str, Parameter]:
    """The query parameters that ask for `text` under `filters`, on the search page and in the API alike."""
    return {
        "q": text,
        "framework": filters.framework,
        "kind": filters.kind,
        "topic": filters.topic,
        "error_type": filters.error_type,
        "edition": filters.edition,
        "version": filters.version,
    }


def rewrite(html: str, lang: Language, urls: Urls) -> str:
    """`html` with `entry:` and `entry-image:` addresses made real, in the reader's language."""

    def address(match: re.Match[str]) -> str:
        attribute, scheme, value = match.groups()
        path, _, anchor = unescape(value).partition("#")
        is_image = scheme == "entry-image"
        url = urls.image(lang, unquote(path)) if is_image else urls.entry(lang, path, unquote(anchor))
        return f'{attribute}="{escape(url)}"'

    return PLACEHOLDER.sub(address, html)


def issue_search(repository: str, query: str) -> str:
    """Where the issues of a repository are searched for `query`; empty where its host is not known."""
    host = (urlsplit(repository).hostname or "").removeprefix("www.")
    template = ISSUE_SEARCH.get(host.partition(".")[0], "")
    return template.replace("{repository}", repository.rstrip("/")).replace("{query}", quote(query, safe=""))


def filled(template: str, **values: str) -> str:
    """`template` with each `{name}` replaced by its value, fit for an address; empty where there is no template."""
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", quote(value, safe=""))
    return template


def digest_files(directory: Path, names: Iterable[str] | None = None) -> dict[str, str]:
    """The path below `directory` to 12 hex digits of SHA-256, for `names` or every file there is."""
    found = sorted(directory.rglob("*")) if names is None else [directory / name for name in names]
    return {
        path.relative_to(directory).as_posix(): _digest(path.read_bytes()) for path in found if path.is_file()
    }


def own_digests(directory: Path) -> dict[str, str]:
    """`digest_files` of our own static files. The scripts have one digest between them: they import one another,
    so that a browser must take all of them from one release."""
    digests = digest_files(directory)
    scripts = [name for name in digests if name.endswith(".js")]
    together = _digest("".join(digests[name] for name in scripts).encode())
    return digests | dict.fromkeys(scripts, together)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def _query(params: Mapping[str, Parameter]) -> str:
    pairs = [(name, _texts(value)) for name, value in params.items()]
    text = urlencode([(name, text) for name, texts in pairs for text in texts if text])
    return f"?{text}" if text else ""


def _texts(value: Parameter) -> tuple[str, ...]:
    if value is None or value is False or value == 0:
        return ()
    if value is True:
        return ("1",)
    if isinstance(value, str | int):
        return (str(value),)
    return tuple(str(part) for part in value)
