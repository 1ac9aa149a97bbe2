"""Table of routes outside the OpenAPI document."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from fastapi import FastAPI
from starlette import routing
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Route:
    """A path of `presentation.paths` and its handler."""

    path: str
    handler: Handler
    method: str = "GET"


def add_routes(app: FastAPI, routes: Iterable[Route]) -> None:
    """Add routes to an application in order, hidden from the OpenAPI document."""
    for route in routes:
        app.router.routes.append(
            _NamedRoute(route.path, route.handler, methods=[route.method], include_in_schema=False)
        )


class _NamedRoute(routing.Route):
    """A plain route that puts itself into the scope, as FastAPI's do: requests are counted by it."""

    def matches(self, scope: Scope) -> tuple[routing.Match, Scope]:
        match, child_scope = super().matches(scope)
        return match, {**child_scope, "route": self}
