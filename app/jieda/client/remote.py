"""A client that asks a remote server over its REST API."""

import asyncio
import json
import re
import urllib.error
import urllib.request
from dataclasses import dataclass
from datetime import date
from email.message import Message
from functools import partial
from http.client import HTTPException
from typing import Self, TypeVar
from urllib.parse import urljoin

from pydantic import BaseModel, ValidationError

from jieda.client.local import Local
from jieda.entry import Language
from jieda.errors import RemoteError, RemoteRefusal
from jieda.feedback import TriedOutcome
from jieda.presentation import schemas
from jieda.presentation.urls import Urls, filter_parameters
from jieda.search.answers import SearchRequest
from jieda.taxonomy import Filters, Window

SECONDS = 60.0
JSON, TEXT = "application/json", "text/plain"
MOST_QUERY = 4000
"""Maximum of query characters in an address; servers read half of it."""
PAGE = 50
"""Maximum of items per request to a list."""

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Remote:
    """Asks the server at `urls` what `Local` answers itself. Requests wait in threads and do not block the event loop;
    whatever goes wrong with them is a RemoteError."""

    urls: Urls

    @classmethod
    def at(cls, address: str) -> Self:
        """Make a client for an address such as `https://faq.example.com/kb`. Raises RemoteError for any other text."""
        if not re.fullmatch(r"https?://[^/?#\s]+(/[^?#\s]*)?", address):
            raise RemoteError(f"{address!r} is not the address of a server, such as https://faq.example.com")
        return cls(Urls(base_url=address.rstrip("/")))

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
        request = urllib.request.Request(  # noqa: S310 - http and https only, as `at` has checked
            self.urls.absolute(url), data=body, headers={"Content-Type": sent} if body is not None else {}
        )
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as response:  # noqa: S310 - see above
                return response.read().decode("utf-8", errors="replace"), response.headers
        except urllib.error.HTTPError as error:
            raise self._refused(error) from error
        except OSError as error:
            # Of errors while connecting, the library wraps the one that says why.
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            said = getattr(reason, "strerror", None) or reason
            raise RemoteError(f"{self.urls.base_url} did not answer: {said}") from error
        except HTTPException as error:
            raise RemoteError(f"{self.urls.base_url} did not answer as a web server does") from error

    def _refused(self, error: urllib.error.HTTPError) -> RemoteError:
        said = f"{self.urls.base_url} answered {error.code} {error.reason}"
        try:
            problem = json.loads(error.read())
            reasons = [
                problem["detail"],
                *(f"{each['field']}: {each['message']}" for each in problem["errors"]),
            ]
        except (ValueError, KeyError, TypeError):
            # The answer does not have the form of Jieda's errors.
            return RemoteError(said, error.code)
        return RemoteRefusal(f"{said}: {' '.join(reasons)}", error.code)


Client = Local | Remote
