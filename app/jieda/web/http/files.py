"""Static files, ours and Swagger UI's. Names are looked up, never joined to a directory."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import fastapi_offline
from anyio.to_thread import run_sync
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from jieda.presentation.urls import own_digests
from jieda.web.http.respond import FOREVER, REVALIDATE, Handler, Resource, respond

SWAGGER = Path(fastapi_offline.__file__).parent / "static"
"""Swagger UI from a package that follows its releases: no network access at run time, and no copy in git."""
IMPORT = re.compile(r'(?:(?<=from "\./)|(?<=import\("\./))[\w.-]+(?=")')
"""The name of a file that one of our scripts imports."""
COMMENTS: Mapping[str, re.Pattern[str]] = {
    ".css": re.compile(r"[ \t]*/\*.*?\*/\n?", re.DOTALL),
    ".js": re.compile(r"^[ \t]*(?://.*|/\*.*?\*/)\n", re.MULTILINE),
}
"""Comments, which are only for readers of the repository: a tenth of what a page loads. In scripts, only those on lines
of their own, since two slashes elsewhere may be part of a string."""
TYPES: Mapping[str, str] = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".jpg": "image/jpeg",
    **{f".{kind}": f"image/{kind}" for kind in ("png", "jpeg", "gif", "webp")},
}
"""Media types. Python's table depends on the machine: without /etc/mime.types it has another type for scripts."""
SWAGGER_FILES = ("swagger-ui.css", "swagger-ui-bundle.js")


Files = Mapping[str, tuple[str, Resource]]
"""Files by name, with the digest for their address."""


@cache
def load_own_files(directory: Path) -> Files:
    """Return the files below `directory` by their relative path, as they are when first asked for.

    Comments are dropped. Imports in scripts are rewritten to the addresses that pages use, or a browser would run those
    scripts twice.
    """
    digests = own_digests(directory)
    files: dict[str, tuple[str, Resource]] = {}
    for name, digest in digests.items():
        text = (directory / name).read_text(encoding="utf-8")
        if comment := COMMENTS.get(Path(name).suffix):
            text = comment.sub("", text)
        if name.endswith(".js"):
            text = IMPORT.sub(lambda match: f"{match[0]}?v={digests.get(match[0], '')}", text)
        files[name] = digest, Resource.of(text, media_type(name))
    return files


@cache
def load_swagger_files() -> Files:
    """Return the files that the API documentation needs, whose addresses have no digest."""
    files = {name: Resource.of((SWAGGER / name).read_bytes(), media_type(name)) for name in SWAGGER_FILES}
    return {name: (file.tag, file) for name, file in files.items()}


def media_type(name: str) -> str:
    """Return the media type of a file by its suffix."""
    return TYPES.get(Path(name).suffix.lower(), "application/octet-stream")


async def send_file(request: Request, path: Path, cache: str = REVALIDATE) -> Response:
    """Send a file of the content, read off the event loop. Raises a 404 if it was deleted after it was loaded."""
    try:
        content = await run_sync(path.read_bytes)
    except OSError:
        raise HTTPException(404) from None
    return await respond(request, content, media_type(path.name), cache=cache)


def serve(files: Files) -> Handler:
    """Create a handler for `files`.

    The response to a request with the current digest (`?v=`) may be cached forever; any other must be revalidated.
    """

    async def static_file(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in files:
            raise HTTPException(404)
        digest, resource = files[name]
        is_current = request.query_params.get("v") == digest
        return await respond(request, resource, cache=FOREVER if is_current else REVALIDATE)

    return static_file
