"""Who asks for a page."""

from dataclasses import dataclass
from datetime import date

from app.content.library import Library
from app.entry import Language
from app.web.dependencies import Site
from app.web.preferences import Theme
from app.web.urls import Urls


@dataclass(frozen=True, slots=True)
class Visit:
    """One request for a page: its reader's language and theme, and the library as it was at the start.

    `library` is None on a page that has to do without, such as an error before content is loaded.
    """

    site: Site
    lang: Language
    theme: Theme
    library: Library | None = None

    @property
    def urls(self) -> Urls:
        """The addresses of this site."""
        return self.site.urls

    def say(self, key: str, **args: str | int) -> str:
        """A text in the reader's language."""
        return self.site.translations.translate(self.lang, key, **args)

    def day(self, value: date) -> str:
        """A date as the reader writes it."""
        return self.site.translations.day(self.lang, value)
