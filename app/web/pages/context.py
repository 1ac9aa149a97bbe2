"""Who asks for a page: language, theme, and what is served to them."""

from dataclasses import dataclass, replace
from datetime import date

from starlette.exceptions import HTTPException
from starlette.requests import Request

from app.content.library import Library
from app.entry import Language
from app.locales.translations import filled
from app.presentation.site_words import said_by
from app.presentation.urls import Urls
from app.snapshot.snapshot import Snapshot
from app.web.http.preferences import Theme, chosen_theme
from app.web.site import Site, site_of

WHERE_GAPS_ARE_KEPT = {
    "about.privacy_paste": "about.privacy_paste.gaps",
    "about.privacy_search": "about.privacy_search.gaps",
    "agents.safety_text": "agents.safety_text.gaps",
    "diagnose.privacy": "diagnose.privacy.gaps",
}
"""What is said about what visitors send, and what is true instead where redacted gaps are kept."""


@dataclass(frozen=True, slots=True)
class PageContext:
    """One request for a page: its reader's language and theme, and the snapshot as it was at the start.

    `snapshot` is None on a page that has to do without, such as an error before content is loaded.
    """

    site: Site
    lang: Language
    theme: Theme
    snapshot: Snapshot | None = None

    @property
    def urls(self) -> Urls:
        """The addresses of this site."""
        return self.site.urls

    @property
    def served(self) -> Snapshot:
        """The snapshot. Raises RuntimeError on a page that has to do without."""
        if self.snapshot is None:
            raise RuntimeError("this page is made without content")
        return self.snapshot

    @property
    def library(self) -> Library:
        """The entries of the snapshot."""
        return self.served.library

    @property
    def digest(self) -> str:
        """Names its generation."""
        return self.served.generation

    def at(self, snapshot: Snapshot) -> "PageContext":
        """The same request, answered from the snapshot that a use case took."""
        return replace(self, snapshot=snapshot)

    def t(self, key: str, **args: str | int) -> str:
        """A text in the reader's language, the content's own where it has one."""
        if self.site.settings.gaps:
            key = WHERE_GAPS_ARE_KEPT.get(key, key)
        said = said_by(self.library.site, self.lang, key) if self.snapshot else ""
        return filled(said, args) if said else self.site.translations.translate(self.lang, key, **args)

    def day(self, value: date) -> str:
        """A date as the reader writes it."""
        return self.site.translations.day(self.lang, value)


async def context_of(request: Request) -> PageContext:
    """Who asks for a page under `/{lang}/`. Raises 404 for a language that there are no pages in."""
    lang = request.path_params["lang"]
    if lang not in set(Language):
        raise HTTPException(404)
    site = site_of(request)
    return PageContext(site, Language(lang), chosen_theme(request.cookies), site.service.current())
