"""Clients of Jieda, for this process or for a remote server over its REST API, with the same answers."""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from email.message import Message
from functools import partial
from http.client import HTTPException, InvalidURL
from typing import Self, TypeVar
from urllib.parse import urljoin

from pydantic import BaseModel, ValidationError

from jieda.address import server_address
from jieda.entry import Language, Summary
from jieda.errors import RemoteError, RemoteRefusal, UnknownEntry
from jieda.feedback import TriedOutcome
from jieda.presentation import schemas
from jieda.presentation.shaper import Shapers
from jieda.presentation.urls import Urls, filter_parameters
from jieda.search.answers import SearchRequest
from jieda.taxonomy import Filters, Window
from jieda.usecases.diagnose import diagnose_log, extracted
from jieda.usecases.entries import MovedTo, all_tags
from jieda.usecases.entries import read as read_for
from jieda.usecases.entries import report as report_for
from jieda.usecases.search import search as search_for
from jieda.usecases.service import Service

SECONDS = 60.0
JSON, TEXT = "application/json", "text/plain"
MOST_QUERY = 4000
"""Maximum of query characters in an address; servers read half of it."""
PAGE = 50
"""Maximum of items per request to a list."""

T = TypeVar("T", bound=BaseModel)


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


@dataclass(frozen=True, slots=True)
class Remote:
    """Asks the server at `urls` what `Local` answers itself. Requests wait in threads and do not block the event loop;
    whatever goes wrong with them is a RemoteError."""

    urls: Urls

    @classmethod
    def at(cls, address: str) -> Self:
        """Make a client for an address such as `https://faq.example.com/kb`. Raises RemoteError for any other text."""
        try:
            return cls(Urls(base_url=server_address(address)))
        except ValueError as error:
            raise RemoteError(str(error)) from error

    async def diagnose(self, text: str, lang: Language, framework: str) -> schemas.ApiDiagnosis:
        body = text.encode("utf-8", "replace")
        url = self.urls.api_diagnose(lang=lang.value, framework=framework)
        return await self._ask(schemas.ApiDiagnosis, url, body)

    async def search(self, request: SearchRequest) -> schemas.SearchResult:
        url = self.urls.api_search(
            **filter_parameters(request.text[:MOST_QUERY], request.filters),
            lang=request.lang.value,
            limit=request.limit,
            offset=request.offset,
            verbatim="true" if request.verbatim else "",
        )
        return await self._ask(schemas.SearchResult, url)

    async def read(self, entry_id: str, lang: Language) -> schemas.ApiEntry:
        return await self._ask(schemas.ApiEntry, self.urls.api_entry(entry_id, lang=lang.value))

    async def entries(
        self, filters: Filters, lang: Language, window: Window, since: date | None = None
    ) -> schemas.SummaryList:
        url = self.urls.api_entries(
            **filter_parameters("", filters),
            lang=lang.value,
            limit=window.limit,
            offset=window.offset,
            updated_since=since.isoformat() if since else "",
        )
        return await self._ask(schemas.SummaryList, url)

    async def tags(self, facet: str, lang: Language) -> tuple[schemas.ApiTag, ...]:
        found: list[schemas.ApiTag] = []
        while True:
            url = self.urls.api_tags(facet, lang=lang.value, limit=PAGE, offset=len(found))
            page = await self._ask(schemas.TagList, url)
            found += page.items
            if len(found) >= page.total or not page.items:
                return tuple(found)

    async def report(
        self, entry_id: str, lang: Language, outcome: TriedOutcome, text: str
    ) -> schemas.Reported:
        said = {"id": entry_id, "lang": lang.value, "outcome": outcome.value, "text": text}
        url, body = self.urls.api_outcomes(), json.dumps(said).encode()
        return await self._ask(schemas.Reported, url, body, sent=JSON)

    def absolute(self, url: str) -> str:
        """Return the absolute address of a root-relative one in an answer of this server."""
        return urljoin(self.urls.base_url + "/", url)

    async def _ask(self, answer: type[T], url: str, body: bytes | None = None, sent: str = TEXT) -> T:
        text, _ = await asyncio.to_thread(partial(self.fetch, url, body, sent=sent))
        try:
            return answer.model_validate_json(text)
        except ValidationError as error:
            reason = "its answer does not fit this version of Jieda"
            raise RemoteError(f"{self.urls.base_url}: {reason}") from error

    def fetch(self, url: str, body: bytes | None = None, *, sent: str = TEXT) -> tuple[str, Message]:
        """Return the text and the headers of the server's answer. Raises RemoteError."""
        headers = {"Content-Type": sent} if body is not None else {}
        try:
            request = urllib.request.Request(self.urls.absolute(url), body, headers)  # noqa: S310 - http(s), see `at`
            with urllib.request.urlopen(request, timeout=SECONDS) as response:  # noqa: S310 - see above
                return response.read().decode("utf-8", errors="replace"), response.headers
        except urllib.error.HTTPError as error:
            with error:  # an answer that broke off is not closed by reading it
                raise self._refused(error) from error
        except OSError as error:
            # Of errors while connecting, the library wraps the one that says why.
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            said = getattr(reason, "strerror", None) or reason
            raise RemoteError(f"{self.urls.base_url} did not answer: {said}") from error
        except (ValueError, InvalidURL) as error:
            raise RemoteError(f"{self.urls.base_url} cannot be asked: {error}") from error
        except HTTPException as error:
            raise RemoteError(f"{self.urls.base_url} did not answer as a web server does") from error

    def _refused(self, error: urllib.error.HTTPError) -> RemoteError:
        said = f"{self.urls.base_url} answered {error.code} {error.reason}"
        try:
            problem = json.loads(error.read())
            told, errors = problem["detail"], problem["errors"]
            reasons = (f"{each['field']}: {each['message']}" for each in errors if each["message"] != told)
            return RemoteRefusal(f"{said}: {' '.join([told, *reasons])}", error.code)
        except (ValueError, KeyError, TypeError, OSError, HTTPException):
            # The answer does not have the form of Jieda's errors, or breaks off.
            return RemoteError(said, error.code)


Client = Local | Remote
