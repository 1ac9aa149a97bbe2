"""The interface of clients, which ask either this process or a server."""

from datetime import date
from typing import Protocol

from jieda.entry import Language
from jieda.feedback import TriedOutcome
from jieda.presentation import schemas
from jieda.search.answers import SearchRequest
from jieda.taxonomy import Filters, Window


class Client(Protocol):
    """Answers as the REST API does. Every method may raise RequestError, also for a server's refusal, and JiedaError if
    a server does not answer."""

    async def diagnose(self, text: str, lang: Language, framework: str) -> schemas.ApiDiagnosis:
        """Find the entries that explain a log. `framework`: its stated origin, or empty."""

    async def search(self, request: SearchRequest) -> schemas.SearchResult:
        """Search for a query."""

    async def read(self, entry_id: str, lang: Language) -> schemas.ApiEntry:
        """Read an entry, also by an old id."""

    async def entries(
        self, filters: Filters, lang: Language, window: Window, since: date | None = None
    ) -> schemas.SummaryList:
        """List a part of the entries that pass the filters and changed on or after `since`, latest change first."""

    async def tags(self, facet: str, lang: Language) -> tuple[schemas.ApiTag, ...]:
        """List the tags of one of `taxonomy.FACETS`, in the order of the taxonomy."""

    async def report(
        self, entry_id: str, lang: Language, outcome: TriedOutcome, text: str
    ) -> schemas.Reported:
        """Report whether an entry helped, also by an old id, optionally with a line about it."""

    def absolute(self, url: str) -> str:
        """Return the absolute address of a `url` in an answer; empty if it is not served anywhere."""
