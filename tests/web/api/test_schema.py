"""Schemathesis over the description of the API: what it promises is what is answered.

Its own pytest plugin is passed by: it reaches into parts of pytest that have changed. `SCHEMA_CASES=250` in the
environment has it make as many cases of each kind for each operation instead of 10, and `pytest -s` tells how many
there were in all.
"""

import os
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from jieda.version import VERSION
from jieda.web.api.openapi import PROPERTIES
from jieda.web.api.routes import ROUTES, ApiRoute
from jieda.web.http.middleware import SECURITY_HEADERS
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    positive_data_acceptance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.support.server import Server
from tests.web.api.test_protocol import assert_problem

pytestmark = pytest.mark.slow


def what_is_allowed_is_answered(
    context: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case[Any]
) -> bool | None:
    """A description cannot say which tags there are and what programs are called, nor what bytes are text."""
    unsaid = {f"urn:jieda:problem:{name}" for name in ("unknown-tag", "bad-version", "no-log")}
    if response.status_code in {415, 422} and response.json()["type"] in unsaid:
        return None
    return positive_data_acceptance(context, response, case)


CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
    what_is_allowed_is_answered,
    # What it says is not allowed is refused.
    negative_data_rejection,
]


EACH = int(os.environ.get("SCHEMA_CASES", "5"))


@pytest.fixture(scope="module")
def cases() -> Iterator[list[str]]:
    """The operations of all cases that were tried."""
    tried: list[str] = []
    yield tried
    print(f"\n{len(tried)} cases over {len(set(tried))} operations")


@pytest.fixture(scope="module")
def described(server: Server) -> schemathesis.BaseSchema:
    """The API of the shared server as it describes itself."""
    return schemathesis.openapi.from_url(f"{server.base}/openapi.json")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=lambda mode: mode.value)
def test_every_operation_keeps_its_description(
    described: schemathesis.BaseSchema, route: ApiRoute, mode: schemathesis.GenerationMode, cases: list[str]
) -> None:
    operation = described[route.path][route.method]

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EACH,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def keeps(case: schemathesis.Case[Any]) -> None:
        cases.append(route.operation)
        case.call_and_validate(checks=CHECKS)

    keeps()


@pytest.mark.parametrize(
    "query",
    [
        *(
            "entries?updated_since=0",
            "entries?updated_since=1767225600",
            "entries?updated_since=2026-01-02T00:00:00",
        ),
        *("entries?updated_since=2026-1-2", "entries?offset=0.0", "entries?limit=1e1", "search?limit=%201"),
        *(
            "search?limit=1_0",
            "search?limit=%2B5",
            "search?limit=\u0665",
            "search?verbatim=yes",
            "search?unfinished=on",
        ),
        "entries/slime/resume-training.md?source=yes",
        *("search?framework=nope", "search?kind=Error", "search?edition=zh-CN", "kinds?lang=en%0A"),
    ],
)
def test_what_is_written_in_another_way_than_described_is_refused(client: httpx.Client, query: str) -> None:
    assert_problem(client.get(f"/api/v1/{query}"), 422)


@pytest.mark.parametrize("value", ["true", "True", "1", "false", "0"])
def test_a_switch_is_set_as_programs_write_it(client: httpx.Client, value: str) -> None:
    assert client.get(f"/api/v1/search?q=oom&verbatim={value}").status_code == 200
    is_file = client.get(f"/api/v1/entries/slime/resume-training.md?source={value}").text.startswith("---\n")
    assert is_file == (value.lower() in {"true", "1"})
    page = client.get(f"/en/entries/slime/resume-training.md?source={value}").text
    assert page.startswith("---\n") == is_file


def test_filters_that_a_form_leaves_empty_filter_nothing(client: httpx.Client) -> None:
    every = client.get("/api/v1/entries").json()["total"]
    empty = "edition=&framework=&kind=&topic=&error_type=&version="
    assert client.get(f"/api/v1/entries?{empty}").json()["total"] == every


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "application/x-www-form-urlencoded"])
def test_an_empty_log_is_refused(client: httpx.Client, kind: str) -> None:
    """A file that is missing or a forgotten `2>&1` sends nothing: that no entry explains it would be no help."""
    body = b'{"text": ""}' if kind == "application/json" else b""
    answer = client.post("/api/v1/diagnose?lang=en", content=body, headers={"Content-Type": kind})
    assert assert_problem(answer, 422)["errors"][0]["message"] == "is empty"


OF_HTTP = {
    "cache-control",
    "content-encoding",
    "content-language",
    "content-length",
    "content-type",
    "date",
    "vary",
}
"""Headers that are described by HTTP itself; those of `SECURITY_HEADERS` are for browsers."""


def test_all_that_is_asked_and_answered_is_described_and_each_status_has_one_form(
    client: httpx.Client,
) -> None:
    document = client.get("/openapi.json").json()
    assert document["info"]["title"] == "Jieda API"
    models = document["components"]["schemas"]
    named = {
        (model, name): each for model in models for name, each in models[model].get("properties", {}).items()
    }
    operations = {
        (path, method): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }
    parameters = {
        (*route, each["name"]): each
        for route, operation in operations.items()
        for each in operation.get("parameters", [])
        if each["in"] == "query"
    }
    answers = {
        (*route, status): answer
        for route, operation in operations.items()
        for status, answer in operation["responses"].items()
    }
    headers = {
        (*route, name): each for route, answer in answers.items() for name, each in answer["headers"].items()
    }
    assert [
        each for each, said in (named | parameters | headers).items() if not said.get("description")
    ] == []
    assert min(len(named), len(parameters), len(headers)) > 30
    assert [each for each, said in answers.items() if len(said.get("content", {})) > 1] == []
    unused = {name for name in PROPERTIES if "." not in name} - {name for _, name in named}
    assert (
        unused | {each for each in PROPERTIES if "." in each and tuple(each.split(".")) not in named} == set()
    )
    for method, path, body in (
        ("get", "/api/v1/search?q=oom", None),
        ("post", "/api/v1/diagnose", {"text": "x"}),
        ("post", "/api/v1/diagnose.txt", {"text": "x"}),
    ):
        sent = client.request(method, path, json=body)
        told = answers[path.partition("?")[0], method, "200"]["headers"]
        assert set(sent.headers) <= OF_HTTP | {each.lower() for each in (*SECURITY_HEADERS, *told)}


def test_clients_made_today_take_tomorrows_tags_and_know_the_headers(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    assert document["info"]["x-jieda-version"] == VERSION
    search = document["paths"]["/api/v1/search"]["get"]
    assert not [each["name"] for each in search["parameters"] if "enum" in each["schema"].get("items", {})]
    assert "enum" not in document["components"]["schemas"]["DiagnoseBody"]["properties"]["framework"]
    assert {"ETag", "X-Request-ID", "RateLimit-Remaining"} <= search["responses"]["200"]["headers"].keys()
    assert "Retry-After" in search["responses"]["429"]["headers"]
    answered = client.get("/api/v1/search?q=oom").headers
    assert {"etag", "x-request-id"} <= set(answered)
    assert "ratelimit-limit" not in answered, "nobody on this machine is limited"
