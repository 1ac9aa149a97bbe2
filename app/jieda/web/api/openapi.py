"""The OpenAPI document, built from the route table, with examples from the served entries."""

import json
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from itertools import chain
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from jieda.content.library import Library
from jieda.entry import Entry, Kind, Language
from jieda.presentation import schemas
from jieda.presentation.brand import ascii_name
from jieda.presentation.diagnosis_text import CONFIDENCE_HEADER, as_text
from jieda.presentation.entry_text import reading_form
from jieda.presentation.shaper import Shaper
from jieda.search.answers import SearchRequest
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.entries import ReadEntry
from jieda.usecases.judge import judge, search_and_judge
from jieda.usecases.search import Found
from jieda.version import VERSION
from jieda.web.api.parameters import DiagnoseBody
from jieda.web.api.routes import ROUTES, ApiRoute
from jieda.web.http.problems import MEDIA_TYPE, ProblemBody
from jieda.web.site import Site

Json = dict[str, Any]
MAX_LOG = 2000
"""Characters of an example log."""
INTERFACE = "2.0.0"
"""Version of the API, not of the package: the minor number grows with every new field."""

ABOUT = """Answers to errors and questions, in English and Chinese. Lists are `{total, limit, offset, items}`,
`generation` identifies the version of the content. Every GET also answers HEAD and If-None-Match, every error is
`application/problem+json`. Unknown parameters are refused.

常见报错与问题的中英双语解答。列表一律是 `{total, limit, offset, items}`，\
`generation` 表示回答取自哪一版内容；每个 GET 都支持 HEAD 和 If-None-Match，\
出错一律返回 `application/problem+json`。接口不认识的参数会被拒绝（422）。
"""


def _header(description: str, type_: str = "string") -> Json:
    return {"description": description, "schema": {"type": type_}}


LIMITED: Json = {
    "X-Request-ID": _header("Id of the request in the server's log: the client's own where it sent one."),
    "RateLimit-Limit": _header("Requests of this kind per minute, for a client with limits.", "integer"),
    "RateLimit-Remaining": _header("How many of them are left, for a client with limits.", "integer"),
    "RateLimit-Reset": _header("Seconds until all are available again, for a client with limits.", "integer"),
}
"""Headers of every response."""
CACHED: Json = {"ETag": _header("Version of this response; send it back as If-None-Match.")}
CONFIDENCE: Json = {
    CONFIDENCE_HEADER: _header("Confidence of the first match; `none` where nothing matches.")
}
LOCATION: Json = {"Location": _header("The entry's current address.")}
MOVED: Json = {"308": {"description": "The id is an old one.", "headers": {**LIMITED, **LOCATION}}}
RETRY: Json = {"Retry-After": _header("Seconds to wait before trying again.", "integer")}
RETRIED = {429, 503}
REFERENCE = "#/components/schemas/{model}"
PROPERTIES: Mapping[str, str] = json.loads((Path(__file__).parent / "properties.json").read_text("utf-8"))
"""Descriptions of response properties, by name or, if the meaning differs, by model and name. Agents would receive them
with each schema if the models had them."""


def describe(app: FastAPI, site: Site, snapshot: Snapshot) -> Json:
    """Return the OpenAPI document of `app`, with examples from a snapshot: a few searches and a diagnosis."""
    document = get_openapi(
        title=f"{ascii_name(snapshot.library.site)} API",
        version=INTERFACE,
        description=ABOUT,
        routes=app.routes,
        servers=[{"url": site.urls.root_path}] if site.urls.root_path else None,
    )
    document = drop_prefixes(document)
    document["info"]["x-jieda-version"] = VERSION
    paths: Json = document["paths"]
    document["paths"] = {route.path: paths[route.path] for route in ROUTES}
    components = document.setdefault("components", {})
    models: dict[str, type[BaseModel]] = {"Problem": ProblemBody}
    models |= {route.body.__name__: route.body for route in ROUTES if route.body}
    for name, model in models.items():
        schema = model.model_json_schema(ref_template=REFERENCE, mode="validation")
        for field_schema in schema["properties"].values():
            field_schema.pop("default", None)  # TypeScript generators would make the field required
        components["schemas"] |= {**schema.pop("$defs", {}), name: schema | {"title": name}}
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    for name, schema in components["schemas"].items():
        for field, described in schema.get("properties", {}).items():
            if "description" not in described:
                described["description"] = PROPERTIES.get(f"{name}.{field}") or PROPERTIES[field]
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    by_operation = examples(site, snapshot)
    for route in ROUTES:
        operation = document["paths"][route.path][route.method.lower()]
        complete_operation(operation, route, by_operation.get(route.operation, {}))
    return document


def drop_prefixes(document: Json) -> Json:
    """Return the document with the public names of its models."""
    reference = REFERENCE.format(model="")
    renamed: Json = json.loads(json.dumps(document).replace(reference + schemas.PREFIX, reference))
    models = renamed["components"]["schemas"]
    renamed["components"]["schemas"] = dict(
        sorted((name.removeprefix(schemas.PREFIX), model) for name, model in models.items())
    )
    return renamed


def complete_operation(operation: Json, route: ApiRoute, example: Json) -> None:
    """Add what FastAPI cannot know to an operation."""
    responses: Json = operation["responses"]
    responses.pop("422", None)
    content: Json = responses["200"].setdefault("content", {})
    if route.text:
        content.clear()
        content[route.text] = {"schema": {"type": "string"}}
    if "answer" in example:
        content["application/json"]["example"] = example["answer"]
    if "text" in example:
        content[route.text]["example"] = example["text"]
    diagnosed = CONFIDENCE if route.operation.startswith("diagnose") else {}
    responses["200"]["headers"] = {**LIMITED, **(CACHED if route.method == "GET" else diagnosed)}
    if route.method == "GET":
        responses["304"] = {
            "description": "The client already has this response (If-None-Match).",
            "headers": {**LIMITED, **CACHED},
        }
        responses |= MOVED if 404 in route.refusals else {}
    for status in (*route.refusals, 429, 500):
        responses[str(status)] = error_answer(status)
    parameters: list[Json] = operation.get("parameters", [])
    parameters.sort(key=lambda parameter: parameter["name"] != "q")  # the query comes first
    for parameter in parameters:
        if parameter["name"] in example.get("parameters", {}):
            parameter["example"] = example["parameters"][parameter["name"]]
    if route.body:
        operation["requestBody"] = request_body(route.body, example)
    if route.operation == "reload":
        operation["security"] = [{"token": []}]


def error_answer(status: int) -> Json:
    """Describe the error response of a status."""
    schema = {"$ref": REFERENCE.format(model="Problem")}
    return {
        "description": HTTPStatus(status).phrase,
        "content": {MEDIA_TYPE: {"schema": schema}},
        "headers": LIMITED | (RETRY if status in RETRIED else {}),
    }


def request_body(model: type[BaseModel], example: Json) -> Json:
    """Describe a JSON body, or the two forms in which a log can be sent."""
    as_json: Json = {"schema": {"$ref": REFERENCE.format(model=model.__name__)}}
    if "body" in example:
        as_json["example"] = example["body"]
    content = {"application/json": as_json}
    if model is DiagnoseBody:
        # Any media type but JSON is a raw log. Generators support this one; few support text/plain.
        content["application/octet-stream"] = {
            "schema": {"type": "string", "format": "binary", "minLength": 1}
        }
    return {"required": True, "content": content}


def examples(site: Site, snapshot: Snapshot) -> dict[str, Json]:
    """Return examples by operation: `parameters`, the `body` sent, the JSON `answer`, or the `text` response.

    The searches, reads and diagnoses are not counted, since no visitor made them.
    """
    library = snapshot.library
    chosen = choose_example(library)
    if chosen is None:
        return {}
    shape = site.client.shapers.of(snapshot, Language.EN)
    title = chosen.edition(Language.EN).title
    search: Json = {"parameters": {"q": title}}
    if not snapshot.searcher.waits:
        request = SearchRequest(text=title, limit=1)
        diagnosis, answer = search_and_judge(snapshot, request)
        search["answer"] = shape.search(Found(request, answer, snapshot, diagnosis)).model_dump(mode="json")
    read = ReadEntry(chosen, library.summary(chosen.id), library.related(chosen.id))
    completions = snapshot.completer.complete(title[:8], Language.EN, 3)
    path = {"framework": chosen.framework, "slug": chosen.slug}
    markdown = reading_form(chosen.edition(Language.EN), chosen.validity, shape.t)
    return {
        "search": search,
        "suggest": {
            "parameters": {"q": title[:8]},
            "answer": [shape.completion(each).model_dump(mode="json") for each in completions],
        },
        "list_entries": {"parameters": {"framework": [chosen.framework]}},
        "get_entry": {"parameters": path, "answer": shape.entry(read).model_dump(mode="json")},
        "get_entry_markdown": {"parameters": path, "text": markdown},
        **diagnosis_examples(shape, snapshot, chosen),
    }


def diagnosis_examples(shape: Shaper, snapshot: Snapshot, entry: Entry) -> dict[str, Json]:
    """Return a sample log of an entry and its diagnosis; nothing if the entry has no sample."""
    logs = [sample.text for sample in snapshot.library.samples(entry.id)]
    if not logs:
        return {}
    text = min(logs, key=len)[:MAX_LOG]
    answer = judge(snapshot, SearchRequest(text))
    body = {"text": text, "lang": "en"}
    report = as_text(answer, shape.t, partial(shape.urls.entry, Language.EN))
    return {
        "diagnose": {"body": body, "answer": shape.diagnosis(answer).model_dump(mode="json")},
        "diagnose_text": {"body": body, "text": report},
    }


def choose_example(library: Library) -> Entry | None:
    """Return an error entry with a sample if there is one, otherwise any entry."""
    sampled = map(library.summary, sorted(library.sampled))
    errors = (each.id for each in sampled if each.kind is Kind.ERROR)
    return next(map(library.entries.get, chain(errors, sorted(library.sampled), library.ids)), None)
