"""Schemathesis over the description of the API: what it promises is what is answered.

Its own pytest plugin is passed by: it reaches into parts of pytest that have changed.
"""

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app.web.api.routes import ROUTES, ApiRoute
from tests.support.server import Server

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def described(server: Server) -> schemathesis.BaseSchema:
    """The API of the shared server as it describes itself."""
    return schemathesis.openapi.from_url(f"{server.base}/openapi.json")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation)
@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=lambda mode: mode.value)
def test_every_operation_keeps_its_description(
    described: schemathesis.BaseSchema, route: ApiRoute, mode: schemathesis.GenerationMode
) -> None:
    operation = described[route.path][route.method]

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=15,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def keeps(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(checks=CHECKS)

    keeps()
