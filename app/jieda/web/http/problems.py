"""Turns every error into a response: problem+json for programs, a page for browsers."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from fastapi.routing import iter_route_contexts
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from jieda.entry import Language
from jieda.errors import ContentError, RequestError
from jieda.locales.translations import translator
from jieda.presentation import paths
from jieda.presentation.problem_text import failure_text
from jieda.web.http.respond import (
    NO_STORE,
    api_language,
    own_path,
    page_language,
    parse_language,
    preferred_media_type,
    respond,
)
from jieda.web.site import site_of

MEDIA_TYPE = "application/problem+json"
HTML = "text/html"


class FieldBody(BaseModel):
    """What is wrong with one field."""

    field: str
    message: str


class ProblemBody(BaseModel):
    """Why a request failed (RFC 9457). `title` and `detail` are in the language of the request."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: tuple[FieldBody, ...] = ()


@dataclass(frozen=True, slots=True)
class FieldError:
    """An error in a field: the key of a message and its arguments."""

    name: str
    key: str
    arguments: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(eq=False)
class HttpProblem(Exception):
    """A refusal or error before translation. `key` is that of the title; with `.detail`, that of the sentence."""

    status: int
    key: str
    arguments: Mapping[str, str | int] = field(default_factory=dict)
    errors: tuple[FieldError, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)


KEY_BY_STATUS = {404: "problem.not_found", 405: "problem.method_not_allowed"}
"""Message keys of errors that the framework raises."""

FIELD_MESSAGES: Mapping[str, str] = {
    error: f"problem.field.{key}"
    for key, errors in {
        "missing": "missing",
        "language": "language",
        "integer": "int_parsing int_parsing_size int_from_float int_type",
        "at_least": "greater_than_equal",
        "at_most": "less_than_equal",
        "one_of": "enum literal_error",
        "boolean": "bool_parsing bool_type",
        "date": "date_parsing date_from_datetime_parsing date_from_datetime_inexact",
        "too_many": "too_long",
        "string": "string_type",
        "empty": "string_too_short",
        "too_long": "string_too_long",
        "unknown": "extra_forbidden",
        "object": "model_type model_attributes_type",
    }.items()
    for error in errors.split()
}
"""Message keys by pydantic error type."""


def field_errors(errors: Sequence[Any]) -> tuple[FieldError, ...]:
    """Convert pydantic's errors. An error within a list counts as one of the list."""
    return tuple(
        FieldError(
            name=str(error["loc"][0]) if error["loc"] else "body",
            key=FIELD_MESSAGES.get(error["type"], "problem.field.invalid"),
            arguments={
                # Pydantic lists values in English: `'en' or 'zh'`.
                name: value if isinstance(value, int) else str(value).replace("' or '", "', '")
                for name, value in error.get("ctx", {}).items()
            },
        )
        for error in errors
    )


def from_request_error(error: RequestError) -> HttpProblem:
    """Convert an error of a lower layer. Its argument `field` or `facet`, if any, names the field."""
    name = error.arguments.get("field") or error.arguments.get("facet")
    errors = (FieldError(str(name), f"{error.key}.detail", error.arguments),) if name else ()
    headers = {"Retry-After": str(error.retry_after)} if error.retry_after else {}
    return HttpProblem(error.status, error.key, error.arguments, errors, headers)


def from_http_exception(error: HTTPException, request: Request) -> HttpProblem:
    """Convert an exception of the framework."""
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(sorted(methods_of(request)))
    key = KEY_BY_STATUS.get(error.status_code, "problem.bad_request")
    if error.status_code == 404 and own_path(request.scope).startswith(paths.API_FAMILY):
        key = "problem.unknown_address"
    arguments = {"docs": site_of(request).urls.external.docs()}
    return HttpProblem(error.status_code, key, arguments, headers=headers)


def methods_of(request: Request) -> set[str]:
    """Return the methods that all routes allow at this address; the framework only names those of one route."""
    path = own_path(request.scope)
    routes = iter_route_contexts(request.app.routes)
    methods = {method for route in routes if route.path_regex.match(path) for method in route.methods or ()}
    return methods | ({"HEAD"} if "GET" in methods else set())


def problem_of(error: Exception, request: Request) -> HttpProblem:
    """Return the problem that an exception of a class in `HANDLED` means. Raises any other."""
    match error:
        case HttpProblem():
            return error
        case RequestError():
            return from_request_error(error)
        case HTTPException():
            return from_http_exception(error, request)
        case ContentError():
            # Only maintainers reload content, so the reason may name files.
            return HttpProblem(
                409, "problem.reload_failed", {"reason": failure_text(error, _language(request))}
            )
    raise error


def _language(request: Request) -> Language:
    return api_language(request) if wants_json(request) else page_language(request)


async def on_failure(request: Request, error: Exception) -> Response:
    """Handle an exception of any class in `HANDLED`."""
    problem = problem_of(error, request)
    target = corrected_address(request) if problem.status == 404 and request.method in {"GET", "HEAD"} else ""
    return RedirectResponse(target, 308) if target else await render(request, problem)


def corrected_address(request: Request) -> str:
    """Return the address that a nearly right one means: `/zh/…` for `/zh-CN/…`, `/en/…` for `/EN/…`, `/en/` for `/en`,
    `/en/x` for `/en/x/`, `/docs` for `/docs/`; empty for any other."""
    path, query = own_path(request.scope), request.url.query
    first, *rest = path.strip("/").split("/")
    lang = parse_language(first)
    corrected = "/".join(["", lang or first, *(rest or ([""] if lang else []))])
    routes = iter_route_contexts(request.app.routes)
    fixed = {f"{route.path}/" for route in routes if "GET" in (route.methods or ())}
    if corrected == path or (lang is None and path not in fixed):
        return ""
    return f"{site_of(request).urls.root_path}{quote(corrected)}{'?' if query else ''}{query}"


HANDLED: tuple[type[Exception], ...] = (RequestError, HTTPException, HttpProblem, ContentError)


async def render(request: Request, problem: HttpProblem) -> Response:
    """Render `problem` as JSON for programs or as a page for browsers."""
    for_program = wants_json(request)
    lang, site = _language(request), site_of(request)
    t = translator(lang)
    if for_program:
        body, media_type, vary = problem_json(request, problem, t), MEDIA_TYPE, ("Accept-Language",)
    else:
        detail = t(f"{problem.key}.detail", **problem.arguments)
        body, media_type = site.error_page(request, problem.status, t(problem.key), detail), HTML
        vary = ("Cookie",)
    return await respond(
        request,
        body,
        media_type,
        status=problem.status,
        lang=lang,
        vary=vary,
        cache=NO_STORE,
        headers=problem.headers,
    )


def problem_json(request: Request, problem: HttpProblem, t: Callable[..., str]) -> str:
    """Serialize `problem` as RFC 9457 JSON; for chat clients, also in the form that they expect."""
    body = ProblemBody(
        type=f"urn:jieda:{problem.key.replace('.', ':').replace('_', '-')}",
        title=t(problem.key),
        status=problem.status,
        detail=t(f"{problem.key}.detail", **problem.arguments),
        instance=quote(request.scope["path"], errors="replace"),
        errors=tuple(
            FieldBody(field=error.name, message=t(error.key, **error.arguments)) for error in problem.errors
        ),
    )
    if not own_path(request.scope).startswith(paths.CHAT_FAMILY):
        return body.model_dump_json()
    kind = "invalid_request_error" if body.status < 500 else "server_error"
    error = {"message": body.detail, "type": kind, "param": None, "code": None}
    return json.dumps(body.model_dump() | {"error": error}, ensure_ascii=False)


def wants_json(request: Request) -> bool:
    """Return whether an error is sent as JSON: at addresses of the API, or if Accept prefers JSON."""
    offers = (HTML, MEDIA_TYPE, "application/json")
    accepted = preferred_media_type(request.headers.get("accept", ""), offers)
    return own_path(request.scope).startswith(paths.FOR_PROGRAMS) or accepted in offers[1:]
