"""A client that answers from the content that this process has opened."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from jieda.entry import Language, Summary
from jieda.errors import UnknownEntry
from jieda.feedback import TriedOutcome
from jieda.presentation import schemas
from jieda.presentation.shaper import Shapers
from jieda.search.answers import SearchRequest
from jieda.taxonomy import Filters, Window
from jieda.usecases.diagnose import diagnose_log, extracted
from jieda.usecases.entries import MovedTo, all_tags
from jieda.usecases.entries import read as read_for
from jieda.usecases.entries import report as report_for
from jieda.usecases.search import search as search_for
from jieda.usecases.service import Service


@dataclass(frozen=True, slots=True)
class Local:
    """Answers as the REST API does. Every method of this and of `Remote` may raise RequestError, there for a refusal of
    the server, too, and JiedaError if a server does not answer."""

    service: Service
    shapers: Shapers
    counts: Callable[[str], bool] = lambda _id: True
    """Whether a report about an entry, given by id, is to be counted."""

    async def diagnose(self, text: str, lang: Language, framework: str) -> schemas.ApiDiagnosis:
        """Find the entries that explain a log. `framework`: its stated origin, or empty."""
        log = await self.service.offload(partial(extracted, self.service, text))
        found = await diagnose_log(self.service, log, lang, framework)
        return self.shapers.of(found.snapshot, lang).diagnosis(found.diagnosis)

    async def search(self, request: SearchRequest) -> schemas.SearchResult:
        """Raises UnknownTag, BadVersion."""
        found = await search_for(self.service, request)
        return self.shapers.of(found.snapshot, request.lang).search(found)

    async def read(self, entry_id: str, lang: Language) -> schemas.ApiEntry:
        """Read an entry, also by an old id."""
        snapshot = self.service.current()
        found = await read_for(self.service, snapshot, entry_id)
        if isinstance(found, MovedTo):
            return await self.read(found.id, lang)
        return self.shapers.of(snapshot, lang).entry(found)

    async def entries(
        self, filters: Filters, lang: Language, window: Window, since: date | None = None
    ) -> schemas.SummaryList:
        """List a part of the entries that pass the filters and changed on or after `since`, latest change first."""
        snapshot = self.service.current()
        read = snapshot.library.read_filters(filters)

        def part() -> tuple[int, Sequence[Summary]]:
            found = snapshot.library.listed(read, since)
            return len(found), window.of(found)

        total, entries = await self.service.offload(part)
        shape = self.shapers.of(snapshot, lang)
        return schemas.SummaryList(
            items=tuple(shape.summary(each) for each in entries),
            total=total,
            limit=window.limit,
            offset=window.offset,
            generation=snapshot.generation,
        )

    async def tags(self, facet: str, lang: Language) -> tuple[schemas.ApiTag, ...]:
        """List all tags of one of `taxonomy.FACETS`, in the order of the taxonomy."""
        snapshot = self.service.current()
        shape = self.shapers.of(snapshot, lang)
        return tuple(shape.tag(facet, each) for each in all_tags(snapshot.library, facet))

    async def report(
        self, entry_id: str, lang: Language, outcome: TriedOutcome, text: str
    ) -> schemas.Reported:
        """Report whether an entry helped, also by an old id, optionally with a line about it."""
        library = self.service.current().library
        today = library.resolve(entry_id)
        if today is None:
            raise UnknownEntry(id=entry_id[:200])
        kept = self.counts(today) and await report_for(
            self.service, library.summary(today), lang, outcome, text
        )
        return schemas.Reported(id=today, outcome=outcome, kept=kept)

    def absolute(self, url: str) -> str:
        """Return the absolute address of a `url` in an answer; empty if it is not served anywhere."""
        return url if self.shapers.urls.base_url else ""
