"""Routes outside the OpenAPI document."""

from collections.abc import Awaitable, Callable

from starlette import routing
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

Handler = Callable[[Request], Awaitable[Response]]


class Route(routing.Route):
    """A path of `presentation.paths` and its handler, hidden from the OpenAPI document. It puts itself into the scope,
    as FastAPI's routes do: requests are counted by it."""

    def __init__(self, path: str, handler: Handler, method: str = "GET") -> None:
        super().__init__(path, handler, methods=[method], include_in_schema=False)
        self.handler, self.method = handler, method

    def matches(self, scope: Scope) -> tuple[routing.Match, Scope]:
        match, child_scope = super().matches(scope)
        return match, {**child_scope, "route": self}
