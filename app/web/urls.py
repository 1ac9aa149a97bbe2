"""Every address of this application, under whatever path a proxy serves it. Nobody else builds one."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from urllib.parse import quote, urlencode

from app.entry import Language
from app.search.answers import Filters
from app.settings import Settings

API = "/api/v1"
TAG_PAGES: Mapping[str, str] = {"framework": "frameworks", "topic": "topics", "error_type": "error-types"}
"""Facets that have pages, and the path segment of each. A kind has none: it is a search with a filter."""

Parameter = str | int | bool | Iterable[str] | None


@dataclass(frozen=True, slots=True)
class Urls:
    """Root-relative addresses with the hosting prefix; `absolute` puts `base_url` before one.

    `static_digests` maps the name of each static file to a digest of its content.
    """

    root_path: str = ""
    base_url: str = ""
    static_digests: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The addresses that `settings` lead to; reads the static files once."""
        return cls(settings.root_path, settings.base_url, digest_files(settings.static))

    def path(self, route: str) -> str:
        """`route` (which starts with a slash, unquoted) as an address."""
        return self.root_path + quote(route, safe="/~")

    def absolute(self, path: str) -> str:
        """An address of this class for readers elsewhere; root-relative where no base is configured."""
        return self.base_url + path

    def root(self) -> str:
        """The address that leads to a language."""
        return self.path("/")

    def home(self, lang: Language) -> str:
        """The start page in a language."""
        return self.path(f"/{lang}/")

    def search(self, lang: Language, **params: Parameter) -> str:
        """The search page; empty parameters are left out, iterables repeat their parameter."""
        return self.path(f"/{lang}/search") + _query(params)

    def search_filtered(self, lang: Language, text: str, filters: Filters, **params: Parameter) -> str:
        """The search page for `text` under `filters`."""
        return self.search(lang, **filter_parameters(text, filters), **params)

    def entry(self, lang: Language, entry_id: str, anchor: str = "") -> str:
        """The page of an entry, at one of its headings if `anchor` is given."""
        return self.path(f"/{lang}/entries/{entry_id}") + (f"#{quote(anchor)}" if anchor else "")

    def entry_markdown(self, lang: Language, entry_id: str) -> str:
        """An entry's Markdown with its front matter."""
        return self.path(f"/{lang}/entries/{entry_id}.md")

    def image(self, lang: Language, path: str) -> str:
        """An image beside the entries; `path` is `<framework>/<file name>`."""
        return self.path(f"/{lang}/entries/{path}")

    def tag(self, lang: Language, facet: str, value: str, **params: Parameter) -> str:
        """The page of a tag, or the search filtered by it where the facet has no pages."""
        if facet not in TAG_PAGES:
            return self.search(lang, **{facet: value}, **params)
        return self.path(f"/{lang}/{TAG_PAGES[facet]}/{value}") + _query(params)

    def diagnose(self, lang: Language) -> str:
        """The page that takes a log."""
        return self.path(f"/{lang}/diagnose")

    def feed(self, lang: Language) -> str:
        """New and changed entries, as Atom."""
        return self.path(f"/{lang}/feed.xml")

    def opensearch(self, lang: Language) -> str:
        """The OpenSearch description."""
        return self.path(f"/{lang}/opensearch.xml")

    def llms(self, lang: Language | None = None) -> str:
        """The list of entries for machine readers, of a language or over all."""
        return self.path(f"/{lang}/llms.txt" if lang else "/llms.txt")

    def llms_full(self, lang: Language) -> str:
        """All entries in one text for machine readers."""
        return self.path(f"/{lang}/llms-full.txt")

    def sitemap(self) -> str:
        """The sitemap."""
        return self.path("/sitemap.xml")

    def preferences(self) -> str:
        """Where the form for language and theme is sent."""
        return self.path("/preferences")

    def static(self, name: str) -> str:
        """A static file under an address that changes with its content."""
        digest = self.static_digests.get(name, "")
        return self.path(f"/static/{name}") + _query({"v": digest})

    def docs(self, name: str = "") -> str:
        """The documentation of the API, or a file of Swagger UI that it needs."""
        return self.path(f"/docs/{name}" if name else "/docs")

    def openapi(self) -> str:
        """The OpenAPI description of the API."""
        return self.path("/openapi.json")

    def api_search(self, **params: Parameter) -> str:
        """The search of the API."""
        return self.path(f"{API}/search") + _query(params)

    def api_suggest(self, **params: Parameter) -> str:
        """The completion of the API."""
        return self.path(f"{API}/suggest") + _query(params)

    def api_entry(self, entry_id: str, *, markdown: bool = False, **params: Parameter) -> str:
        """An entry of the API, as JSON or as Markdown."""
        return self.path(f"{API}/entries/{entry_id}{'.md' if markdown else ''}") + _query(params)

    def api_diagnose(self, **params: Parameter) -> str:
        """Where the API takes a log."""
        return self.path(f"{API}/diagnose") + _query(params)


def filter_parameters(text: str, filters: Filters) -> dict[str, Parameter]:
    """The query parameters that ask for `text` under `filters`, on the search page and in the API alike."""
    return {
        "q": text,
        "framework": filters.framework,
        "kind": filters.kind,
        "topic": filters.topic,
        "error_type": filters.error_type,
        "edition": filters.edition,
    }


def digest_files(directory: Path, names: Iterable[str] | None = None) -> dict[str, str]:
    """The path below `directory` to 12 hex digits of SHA-256, for `names` or every file there is."""
    found = sorted(directory.rglob("*")) if names is None else [directory / name for name in names]
    return {
        path.relative_to(directory).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        for path in found
        if path.is_file()
    }


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
