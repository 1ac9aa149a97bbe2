"""Clients of Jieda, for this process or for a remote server over its REST API, with the same answers."""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from email.message import Message
from functools import cache, partial
from http.client import HTTPException, InvalidURL
from typing import Any, TypeVar
from urllib.parse import urljoin

from pydantic import BaseModel, ValidationError

from jieda.entry import Language
from jieda.errors import RemoteError, RemoteRefusal, UnknownEntry
from jieda.feedback import TriedOutcome
from jieda.presentation import schemas
from jieda.presentation.shaper import Shapers
from jieda.presentation.urls import Urls, filter_parameters
from jieda.search.answers import SearchRequest
from jieda.taxonomy import Filters, Window
from jieda.usecases.diagnose import diagnose_log, extracted
from jieda.usecases.entries import all_tags
from jieda.usecases.entries import read as read_for
from jieda.usecases.entries import report as report_for
from jieda.usecases.search import search as search_for
from jieda.usecases.service import Service

SECONDS = 60.0
JSON, TEXT = "application/json", "text/plain"
MOST_QUERY = 4000
"""Maximum number of query characters in an address; servers read half of that."""
PAGE_SIZE = 50
"""Items per request to a list."""

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Local:
    """Answers as the REST API does. Methods may raise RequestError and, as those of `Remote` do if the server does not
    answer or refuses, JiedaError."""

    service: Service
    shapers: Shapers
    may_count: Callable[[str], bool] = lambda _id: True
    """Whether to count a report about the entry with an id."""

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
        if isinstance(found, str):
            return await self.read(found, lang)
        return self.shapers.of(snapshot, lang).entry(found)

    async def entries(
        self, filters: Filters, lang: Language, window: Window, since: date | None = None
    ) -> schemas.SummaryList:
        """List a window of the entries that pass the filters and changed on or after `since`, latest change first."""
        snapshot = self.service.current()
        shaper, checked_filters = self.shapers.of(snapshot, lang), snapshot.library.read_filters(filters)

        def select() -> schemas.SummaryList:
            listed = snapshot.library.listed(checked_filters, since)  # a lazy list over a database
            return shaper.page(schemas.SummaryList, window, listed, shaper.summary)

        return await self.service.offload(select)

    async def tags(self, facet: str, lang: Language) -> tuple[schemas.ApiTag, ...]:
        """List all tags of one of `taxonomy.FACETS`, in the order of the taxonomy."""
        snapshot = self.service.current()
        shaper = self.shapers.of(snapshot, lang)
        return tuple(shaper.tag(facet, tag) for tag in all_tags(snapshot.library, facet))

    async def report(
        self, entry_id: str, lang: Language, outcome: TriedOutcome, text: str
    ) -> schemas.Reported:
        """Report whether an entry helped, also by an old id, optionally with a line about it."""
        library = self.service.current().library
        current_id = library.resolve(entry_id)
        if current_id is None:
            raise UnknownEntry(id=entry_id[:200])
        kept = self.may_count(current_id) and await report_for(
            self.service, library.summary(current_id), lang, outcome, text
        )
        return schemas.Reported(id=current_id, outcome=outcome, kept=kept)

    def absolute(self, url: str) -> str:
        """Return the absolute address of a `url` in an answer; empty if no server is known."""
        return url if self.shapers.urls.base_url else ""


@dataclass(frozen=True, slots=True)
class Remote:
    """Asks the server at `urls` what `Local` answers itself. Requests run in threads, so that they do not block the
    event loop; whatever goes wrong is a RemoteError."""

    urls: Urls

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
        tags: list[schemas.ApiTag] = []
        while True:
            url = self.urls.api_tags(facet, lang=lang.value, limit=PAGE_SIZE, offset=len(tags))
            page = await self._ask(schemas.TagList, url)
            tags += page.items
            if len(tags) >= page.total or not page.items:
                return tuple(tags)

    async def report(
        self, entry_id: str, lang: Language, outcome: TriedOutcome, text: str
    ) -> schemas.Reported:
        fields = {"id": entry_id, "lang": lang.value, "outcome": outcome.value, "text": text}
        url, body = self.urls.api_outcomes(), json.dumps(fields).encode()
        return await self._ask(schemas.Reported, url, body, content_type=JSON)

    def absolute(self, url: str) -> str:
        """Return the absolute address of a root-relative one in an answer of this server."""
        return urljoin(self.urls.base_url + "/", url)

    async def _ask(self, model: type[T], url: str, body: bytes | None = None, content_type: str = TEXT) -> T:
        text, _ = await asyncio.to_thread(partial(self.fetch, url, body, content_type=content_type))
        try:
            return model.model_validate_json(text)
        except ValidationError as error:
            reason = "its answer does not fit this version of Jieda"
            raise RemoteError(f"{self.urls.base_url}: {reason}") from error

    def fetch(self, url: str, body: bytes | None = None, *, content_type: str = TEXT) -> tuple[str, Message]:
        """Return the text and the headers of the server's answer. Raises RemoteError."""
        headers = {"Content-Type": content_type} if body is not None else {}
        try:
            request = urllib.request.Request(self.urls.absolute(url), body, headers)  # noqa: S310 - http(s), see `url_option`
            with _opener().open(request, timeout=SECONDS) as response:
                return response.read().decode("utf-8", errors="replace"), response.headers
        except urllib.error.HTTPError as error:
            with error:  # reading an incomplete answer does not close it
                raise self._refused(error) from error
        except OSError as error:
            # The library wraps the error that says why it cannot connect.
            cause = error.reason if isinstance(error, urllib.error.URLError) else error
            reason = getattr(cause, "strerror", None) or cause
            raise RemoteError(f"{self.urls.base_url} did not answer: {reason}") from error
        except (ValueError, InvalidURL) as error:
            raise RemoteError(f"{self.urls.base_url} cannot be reached: {error}") from error
        except HTTPException as error:
            raise RemoteError(f"{self.urls.base_url} did not answer like a web server") from error

    def _refused(self, error: urllib.error.HTTPError) -> RemoteError:
        moved_to = f", to {error.headers['Location']}" if "Location" in error.headers else ""
        status = f"{self.urls.base_url} answered {error.code} {error.reason}{moved_to}"
        try:
            problem = json.loads(error.read())
            detail, errors = problem["detail"], problem["errors"]
            reasons = (f"{each['field']}: {each['message']}" for each in errors if each["message"] != detail)
            return RemoteRefusal(f"{status}: {' '.join([detail, *reasons])}", error.code)
        except (ValueError, KeyError, TypeError, OSError, HTTPException):
            # The answer does not have the form of Jieda's errors, or is incomplete.
            return RemoteError(status, error.code)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect of a request with a body, which the library would leave out."""

    def redirect_request(self, req: urllib.request.Request, *rest: Any) -> urllib.request.Request | None:
        return None if req.data else super().redirect_request(req, *rest)


_opener = cache(partial(urllib.request.build_opener, _Redirects))

Client = Local | Remote
