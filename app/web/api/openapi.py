"""The description of the API: from the route table, with examples of what is served now.

Version 3.0, because the Swagger UI that its package ships reads nothing newer.
"""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app.knowledge import Snapshot
from app.web.api.examples import examples
from app.web.api.parameters import DiagnoseBody
from app.web.api.routes import ROUTES, Route
from app.web.dependencies import Site
from app.web.problems import MEDIA_TYPE, ProblemBody
from app.web.urls import API

Json = dict[str, Any]
VERSION = "1.0.0"
"""Of the interface, not of the package: the middle number grows with every field that is added."""

ABOUT = """Answers for people who train large models with reinforcement learning frameworks, in English and
Chinese. Lists are `{total, limit, offset, items}`, `generation` names the content that an answer was taken from,
every GET answers HEAD and If-None-Match, every failure is `application/problem+json`. Parameters that a route
does not know are ignored.

为用强化学习框架训练大模型的人准备的中英双语问答。列表一律是 `{total, limit, offset, items}`，`generation` 表示回答
取自哪一版内容，每个 GET 都支持 HEAD 和 If-None-Match，出错一律返回 `application/problem+json`。
接口不认识的参数会被忽略。
"""
REFERENCE = "#/components/schemas/{model}"


def describe(app: FastAPI, site: Site, snapshot: Snapshot) -> Json:
    """The OpenAPI document of `app`, kept until another generation is served."""
    kept: dict[str, Json] = app.state.openapi
    if snapshot.generation not in kept:
        kept.clear()
        kept[snapshot.generation] = build(app, site, snapshot)
    return kept[snapshot.generation]


def build(app: FastAPI, site: Site, snapshot: Snapshot) -> Json:
    """The OpenAPI document with examples of a snapshot."""
    document = get_openapi(
        title="Jieda 解答",
        version=VERSION,
        openapi_version="3.0.3",
        description=ABOUT,
        routes=app.routes,
        servers=[{"url": site.urls.root_path}] if site.urls.root_path else None,
    )
    paths: Json = document["paths"]
    document["paths"] = {f"{API}{route.path}": paths[f"{API}{route.path}"] for route in ROUTES}
    components = document.setdefault("components", {})
    for model, name in ((ProblemBody, "Problem"), (DiagnoseBody, "DiagnoseBody")):
        schema = model.model_json_schema(ref_template=REFERENCE, mode="validation")
        components["schemas"] |= {**schema.pop("$defs", {}), name: schema}
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    found = examples(site, snapshot)
    for route in ROUTES:
        operation = document["paths"][f"{API}{route.path}"][route.method.lower()]
        complete(operation, route, found.get(route.operation, {}))
    plain: Json = to_version_3_0(document)
    return plain


def complete(operation: Json, route: Route, example: Json) -> None:
    """Add to an operation what the framework cannot know."""
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
    for status in (*route.refusals, 500):
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
    as_text: Json = {"schema": {"type": "string"}}
    if "body" in example:
        as_json["example"] = example["body"]
        as_text["example"] = example["body"]["text"]
    return {"required": True, "content": {"application/json": as_json, "text/plain": as_text}}


def to_version_3_0(value: Any) -> Any:
    """JSON Schema of 2020 in the words that OpenAPI 3.0 has for it; examples are left as they are."""
    if isinstance(value, list):
        return [to_version_3_0(each) for each in value]
    if not isinstance(value, dict):
        return value
    fields = {name: each if name == "example" else to_version_3_0(each) for name, each in value.items()}
    if "const" in fields:
        fields["enum"] = [fields.pop("const")]
    choices = fields.get("anyOf")
    if isinstance(choices, list) and {"type": "null"} in choices:
        real = [choice for choice in choices if choice != {"type": "null"}]
        fields.pop("anyOf")
        # A reference stands alone in 3.0: what is said beside it would be ignored.
        fields |= {"allOf": real} if "$ref" in real[0] else real[0]
    return fields
