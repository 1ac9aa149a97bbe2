"""The description of the API: from the route table, with examples of what is served now."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app.snapshot.snapshot import Snapshot
from app.taxonomy import FACETS, Taxonomy
from app.version import VERSION
from app.web.api.examples import examples
from app.web.api.parameters import DiagnoseBody
from app.web.api.routes import ROUTES, ApiRoute
from app.web.http.problems import MEDIA_TYPE, ProblemBody
from app.web.site import Site

Json = dict[str, Any]
INTERFACE = "1.2.0"
"""Of the interface, not of the package: the middle number grows with every field that is added."""

ABOUT = """Answers to errors and questions, in English and Chinese. Lists are `{total, limit, offset, items}`,
`generation` names the content that an answer was taken from. Every GET answers HEAD and If-None-Match, every failure is
`application/problem+json`. Parameters that a route does not know are ignored.

常见报错与问题的中英双语解答。列表一律是 `{total, limit, offset, items}`，\
`generation` 表示回答取自哪一版内容；每个 GET 都支持 HEAD 和 If-None-Match，\
出错一律返回 `application/problem+json`。接口不认识的参数会被忽略。
"""
TAGS: Mapping[str, tuple[str, ...]] = {
    "Find": ("search", "suggest", "diagnose"),
    "Read": ("list_entries", "get_entry", "get_entry_markdown"),
    "Tags": ("list_frameworks", "list_kinds", "list_topics", "list_error_types"),
    "Content": ("list_problems", "list_translations", "reload"),
}
"""The operations by what they are for."""
REFERENCE = "#/components/schemas/{model}"


def describe(app: FastAPI, site: Site, snapshot: Snapshot) -> Json:
    """The OpenAPI document of `app`, with examples of a snapshot: a few searches and a diagnosis."""
    document = get_openapi(
        title="Jieda 解答",
        version=INTERFACE,
        description=ABOUT,
        routes=app.routes,
        servers=[{"url": site.urls.root_path}] if site.urls.root_path else None,
    )
    document["info"]["x-jieda-version"] = VERSION
    paths: Json = document["paths"]
    document["paths"] = {route.path: paths[route.path] for route in ROUTES}
    components = document.setdefault("components", {})
    for model, name in ((ProblemBody, "Problem"), (DiagnoseBody, "DiagnoseBody")):
        schema = model.model_json_schema(ref_template=REFERENCE, mode="validation")
        components["schemas"] |= {**schema.pop("$defs", {}), name: schema}
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    found = examples(site, snapshot)
    for route in ROUTES:
        operation = document["paths"][route.path][route.method.lower()]
        complete(operation, route, found.get(route.operation, {}))
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "query":
                name_tags(parameter["name"], parameter["schema"], snapshot.library.taxonomy)
    name_tags(
        "framework",
        components["schemas"]["DiagnoseBody"]["properties"]["framework"],
        snapshot.library.taxonomy,
    )
    return document


def name_tags(name: str, schema: Json, taxonomy: Taxonomy) -> None:
    """Says in the schema of a field that takes tags which there are: those that the content knows now, or nothing."""
    if name in FACETS:
        schema.get("items", schema)["enum"] = ["", *taxonomy.facet(name)]


def complete(operation: Json, route: ApiRoute, example: Json) -> None:
    """Add to an operation what the framework cannot know."""
    operation["tags"] = [tag for tag, names in TAGS.items() if route.operation in names]
    responses: Json = operation["responses"]
    responses.pop("422", None)
    content: Json = responses["200"].setdefault("content", {})
    if route.text:
        content.pop("text/plain", None)
        content[route.text] = {"schema": {"type": "string"}}
    if "answer" in example:
        content["application/json"]["example"] = example["answer"]
    if "text" in example:
        content[route.text]["example"] = example["text"]
    if route.method == "GET":
        responses["304"] = {"description": "The client has it already (If-None-Match)."}
    for status in (*route.refusals, 429, 500):
        responses[str(status)] = refusal(status)
    parameters: list[Json] = operation.get("parameters", [])
    parameters.sort(key=lambda parameter: parameter["name"] != "q")  # what one looks for comes first
    for parameter in parameters:
        if parameter["name"] in example.get("parameters", {}):
            parameter["example"] = example["parameters"][parameter["name"]]
    if route.operation == "diagnose":
        operation["requestBody"] = diagnose_body(example)
    if route.operation == "reload":
        operation["security"] = [{"token": []}]


def refusal(status: int) -> Json:
    """How a refusal with a status looks."""
    schema = {"$ref": REFERENCE.format(model="Problem")}
    return {"description": HTTPStatus(status).phrase, "content": {MEDIA_TYPE: {"schema": schema}}}


def diagnose_body(example: Json) -> Json:
    """The two forms in which a log is sent."""
    as_json: Json = {"schema": {"$ref": REFERENCE.format(model="DiagnoseBody")}}
    as_text: Json = {"schema": {"type": "string", "minLength": 1}}
    if "body" in example:
        as_json["example"] = example["body"]
        as_text["example"] = example["body"]["text"]
    return {"required": True, "content": {"application/json": as_json, "text/plain": as_text}}
