"""Routes as rows of a table."""

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
    """A path of `presentation.paths` and what answers it."""

    path: str
    handler: Handler
    method: str = "GET"


def add_routes(app: FastAPI, routes: Iterable[Route]) -> None:
    """Put routes that the description of the API leaves out into an application, in order."""
    for route in routes:
        app.router.routes.append(
            _NamedRoute(route.path, route.handler, methods=[route.method], include_in_schema=False)
        )


class _NamedRoute(routing.Route):
    """A plain route that says in the scope which it is, as FastAPI's own do: requests are counted by it."""

    def matches(self, scope: Scope) -> tuple[routing.Match, Scope]:
        match, child_scope = super().matches(scope)
        return match, {**child_scope, "route": self}
