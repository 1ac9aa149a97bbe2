"""The questions that can be asked of this process and of a server elsewhere."""

from datetime import date
from typing import Protocol

from jieda.entry import Language
from jieda.feedback import TriedOutcome
from jieda.presentation import schemas
from jieda.search.answers import SearchRequest
from jieda.taxonomy import Filters, Window


class Client(Protocol):
    """Answers as the REST API does. Whatever is asked may raise RequestError, a server's refusal included, and
    JiedaError where a server does not answer."""

    async def diagnose(self, text: str, lang: Language, framework: str) -> schemas.ApiDiagnosis:
        """The entries that explain a log. `framework`: where it is said to come from, or empty."""

    async def search(self, request: SearchRequest) -> schemas.SearchResult:
        """What a query finds."""

    async def read(self, entry_id: str, lang: Language) -> schemas.ApiEntry:
        """An entry, also by an id that it had before."""

    async def entries(
        self, filters: Filters, lang: Language, window: Window, since: date | None = None
    ) -> schemas.SummaryList:
        """A part of the entries that pass the filters and changed on or after `since`, latest change first."""

    async def tags(self, facet: str, lang: Language) -> tuple[schemas.ApiTag, ...]:
        """The tags of one of `entry.FACETS`, in the order of the taxonomy."""

    async def report(
        self, entry_id: str, lang: Language, outcome: TriedOutcome, text: str
    ) -> schemas.Reported:
        """Say what came of an entry, also by an id that it had before, perhaps with a line about it."""

    def absolute(self, url: str) -> str:
        """The whole address of a `url` of an answer; empty where nobody serves it."""
