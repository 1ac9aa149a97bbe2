"""What a request says about where it leads and the language of its reader."""

from starlette.requests import Request
from starlette.types import Scope

from app.entry import Language
from app.web.http.negotiation import parse_language, preferred_language
from app.web.http.preferences import chosen_language


def own_path(scope: Scope) -> str:
    """The path of a request without the hosting prefix."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def api_language(request: Request) -> Language:
    """The language an API answer is shown in: of `lang`, Accept-Language, then English."""
    asked = parse_language(request.query_params.get("lang", ""))
    return asked or preferred_language(request.headers.get("accept-language", "")) or Language.EN


def page_language(request: Request) -> Language:
    """The language of a page: of its address, the reader's choice, Accept-Language, then English."""
    segment = own_path(request.scope).split("/")[1:2]
    if segment and segment[0] in set(Language):
        return Language(segment[0])
    chosen = chosen_language(request.cookies)
    return chosen or preferred_language(request.headers.get("accept-language", "")) or Language.EN
