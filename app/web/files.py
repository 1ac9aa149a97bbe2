"""Static files: ours and Swagger UI's. Names are looked up, never joined to a folder."""

import mimetypes
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import swagger_ui_bundle
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from app.web.compression import pack, takes_gzip
from app.web.negotiation import has_tag
from app.web.squeeze import squeezed
from app.web.urls import digest_files

SWAGGER_FILES = ("swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png")
FOREVER = "public, max-age=31536000, immutable"
EACH_TIME = "no-cache"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file on disk and the digest of what is in it."""

    path: Path
    digest: str
    media_type: str
    content: bytes = b""
    """What is sent instead of the file, if anything."""
    packed: bytes = b""
    """`content` as gzip."""


def own_files(directory: Path) -> dict[str, StaticFile]:
    """The files below `directory`, by their path in it. They are small text, made smaller here once for all."""
    files = {name: _file(directory / name, digest) for name, digest in digest_files(directory).items()}
    return {name: _small(file) for name, file in files.items()}


def _small(file: StaticFile) -> StaticFile:
    content = squeezed(file.path.suffix, file.path.read_text(encoding="utf-8")).encode()
    return replace(file, content=content, packed=pack(content))


def swagger_files() -> dict[str, StaticFile]:
    """The files of the installed Swagger UI that its page needs; the package has a sample page besides."""
    directory = Path(swagger_ui_bundle.swagger_ui_path)
    digests = digest_files(directory, SWAGGER_FILES)
    return {name: _file(directory / name, digest) for name, digest in digests.items()}


def _file(path: Path, digest: str) -> StaticFile:
    return StaticFile(path, digest, mimetypes.guess_type(path.name)[0] or "application/octet-stream")


def serve(files: Mapping[str, StaticFile]) -> Callable[[Request, str], Awaitable[Response]]:
    """A handler for the files in a mapping.

    Asked for with its digest (`?v=`), a file may be kept for good; otherwise it is asked for anew each time.
    """

    async def static_file(request: Request, name: str) -> Response:
        found = files.get(name)
        if found is None:
            raise HTTPException(404)
        tag = f'"{found.digest}"'
        current = request.query_params.get("v") == found.digest
        headers = {"ETag": tag, "Cache-Control": FOREVER if current else EACH_TIME}
        if has_tag(request.headers.get("if-none-match", ""), tag):
            return Response(status_code=304, headers=headers)
        if not found.content:
            return FileResponse(found.path, media_type=found.media_type, headers=headers)
        headers["Vary"] = "Accept-Encoding"
        if takes_gzip(request):
            headers["Content-Encoding"] = "gzip"
            return Response(found.packed, media_type=found.media_type, headers=headers)
        return Response(found.content, media_type=found.media_type, headers=headers)

    return static_file
