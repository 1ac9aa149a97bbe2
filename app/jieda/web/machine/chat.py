"""`POST /v1/chat/completions` without a model: answers the last message in the format of chat clients.

For chat bridges that can only ask a model. The format is OpenAI's Chat Completions API (API reference, "Create chat
completion", "The chat completion chunk object"). No model writes the answer, as the name of the model says.
"""

import json
import time
from collections.abc import Iterator
from functools import partial
from secrets import token_hex
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from jieda.diagnosis.answers import Diagnosis, Verdict
from jieda.entry import Entry, Language
from jieda.locales.translations import translator
from jieda.presentation.diagnosis_text import as_markdown, cut, describe_near, elsewhere_text
from jieda.presentation.urls import link_pages
from jieda.search.answers import SearchRequest
from jieda.usecases.diagnose import diagnose_log, extracted
from jieda.usecases.search import Found, search
from jieda.web.api.body import read_json_bytes
from jieda.web.http.body import check_structure
from jieda.web.http.problems import HttpProblem
from jieda.web.http.respond import UNCACHED
from jieda.web.site import Site, asker_of, site_of

MODEL = "jieda-answers-without-a-model"
MAX_STRINGS, MAX_OUTSIDE = 4000, 1 << 16
"""A conversation of a thousand messages."""
MOST_HITS = 3
LONGEST_FIX = 4000
"""Characters of a fix in an answer; the linked page has the rest."""
USAGE = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


class ChatMessage(BaseModel):
    """A message of the conversation, whole or in parts, of which only text is read."""

    role: str
    content: str | list[dict[str, Any]] | None = None


class ChatRequest(BaseModel):
    """A conversation; other fields are meant for models, and ignored."""

    messages: list[ChatMessage]
    stream: bool | None = None
    stream_options: dict[str, Any] | None = None

    def text(self) -> str:
        last = next((each.content for each in reversed(self.messages) if each.role == "user"), None)
        return (
            last if isinstance(last, str) else "\n".join(str(part.get("text") or "") for part in last or ())
        )


async def models(_request: Request) -> Response:
    """List the one model, which is not a model at all."""
    model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "jieda"}
    return JSONResponse({"object": "list", "data": [model]}, headers=UNCACHED)


async def chat(request: Request) -> Response:
    """Answer the last message, at once or streamed. Raises RequestError and HttpProblem, which `problems` turns into
    errors of that API."""
    service = site_of(request).service
    raw = await read_json_bytes(request, service.settings.max_log_bytes)
    conversation = await service.offload(partial(read_request, raw))
    if conversation is None or not (text := conversation.text().strip()):
        raise HttpProblem(400, "problem.no_message")
    answer = await answer_to(request, text)
    respond_with = partial(completion, f"chatcmpl-{token_hex(12)}", int(time.time()))
    if not conversation.stream:
        choice = {"message": {"role": "assistant", "content": answer}}
        body = respond_with("chat.completion", choice, "stop") | {"usage": USAGE}
        return JSONResponse(body, headers=UNCACHED)
    # Some clients expect a first delta that names the role, and read no text from it.
    deltas: tuple[dict[str, str], ...] = ({"role": "assistant", "content": ""}, {"content": answer}, {})
    chunks = [
        respond_with("chat.completion.chunk", {"delta": delta}, None if delta else "stop") for delta in deltas
    ]
    if (conversation.stream_options or {}).get("include_usage"):
        chunks.append(chunks[-1] | {"choices": [], "usage": USAGE})
    events = "".join(f"data: {line}\n\n" for line in [*map(json.dumps, chunks), "[DONE]"])
    return Response(events, media_type="text/event-stream", headers=UNCACHED)


def read_request(raw: bytes) -> ChatRequest | None:
    """Parse a request body; None if it is not a conversation."""
    try:
        check_structure(raw, strings=MAX_STRINGS, outside=MAX_OUTSIDE)
        return ChatRequest.model_validate(json.loads(raw.decode("utf-8-sig", "replace")))
    except (HttpProblem, ValueError, RecursionError):
        return None


def completion(
    completion_id: str, created: int, kind: str, choice: dict[str, Any], reason: str | None
) -> dict[str, Any]:
    """Return an answer, or a chunk of one."""
    choices = [{"index": 0, **choice, "finish_reason": reason}]
    return {"id": completion_id, "object": kind, "created": created, "model": MODEL, "choices": choices}


async def answer_to(request: Request, text: str) -> str:
    """Return what is known about a text, as Markdown in its language. Raises RequestError."""
    site = site_of(request)
    lang = request.state.lang = Language.of(text)
    if "\n" in text or len(text) > site.service.settings.max_query_chars:
        log = await site.service.offload(partial(extracted, site.service, text))
        diagnosed = await diagnose_log(site.service, log, lang, "", asker_of(request))
        return "\n\n".join(verdict_paragraphs(site, diagnosed.diagnosis, lang))
    found = await search(site.service, SearchRequest(text, lang, limit=MOST_HITS), asker_of(request))
    diagnosis = found.diagnosis
    if diagnosis and diagnosis.verdict is not Verdict.NO_ERROR:
        return "\n\n".join(verdict_paragraphs(site, diagnosis, lang))
    return "\n\n".join(hit_paragraphs(site, found, lang))


def verdict_paragraphs(site: Site, diagnosis: Diagnosis, lang: Language) -> Iterator[str]:
    """Yield the verdict, with the fix of the first match, the entries to choose between, or similar entries."""
    t = translator(lang)
    if diagnosis.asks:
        yield t("diagnosis.ask")
        yield "\n".join(f"- {link_entry(site, match.entry, lang)}" for match in diagnosis.matches)
        return
    yield t(f"diagnosis.verdict.{diagnosis.verdict}")
    if elsewhere := elsewhere_text(diagnosis, t):
        yield elsewhere
    if diagnosis.matches:
        yield cut(as_markdown(diagnosis, t, partial(site.urls.external.entry, lang)), LONGEST_FIX)
        return
    for near in diagnosis.near:
        shared = describe_near(near, diagnosis.framework, t)
        yield f"- {link_entry(site, near.entry, lang)}{t('list.parenthesis', text=shared) if shared else ''}"


def hit_paragraphs(site: Site, found: Found, lang: Language) -> Iterator[str]:
    """Yield the answer of the first hit and links to the others; of a weak result, a warning and links to all."""
    t, hits = translator(lang), found.answer.hits
    if not hits or found.answer.weak:
        yield t("search.weak" if hits else "search.nothing")
    elif hits[0].edition.answer:
        yield f"**{link_entry(site, hits[0].entry, lang)}**"
        answer = hits[0].edition.answer.markdown.strip()
        yield cut(link_pages(answer, hits[0].entry.id, partial(site.urls.external.entry, lang)), LONGEST_FIX)
        hits = hits[1:]
    if hits:
        yield "\n".join(f"- {link_entry(site, hit.entry, lang)}" for hit in hits)


def link_entry(site: Site, entry: Entry, lang: Language) -> str:
    """Return the title of an entry, linked to its page."""
    return f"[{entry.edition(lang).title}]({site.urls.external.entry(lang, entry.id)})"
