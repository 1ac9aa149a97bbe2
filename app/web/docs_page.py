"""The documentation of the API: Swagger UI from an installed package, started by a script of our own.

Nothing in it is inline and nothing comes from another host, so it works in a closed network.
"""

from html import escape

from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from app.web.api.openapi import describe
from app.web.dependencies import page_language, site_of
from app.web.middleware import CONTENT_SECURITY_POLICY
from app.web.negotiation import conditional

# Swagger UI's style sheet draws its icons from data addresses.
POLICY = CONTENT_SECURITY_POLICY.replace("img-src 'self'", "img-src 'self' data:")

PAGE = """<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="{icon}">
<link rel="stylesheet" href="{style}">
<script src="{bundle}" defer></script>
<script src="{start}" defer></script>
</head>
<body>
<main id="swagger-ui" data-openapi="{openapi}">
<noscript><p>{noscript} <a href="{openapi}">openapi.json</a></p></noscript>
</main>
</body>
</html>
"""


async def docs(request: Request) -> Response:
    """The page; without JavaScript it leads to the description itself."""
    site = site_of(request)
    lang = page_language(request)
    say = site.renderer.words(lang)
    values = {
        "lang": lang.tag,
        "title": say("docs.title"),
        "noscript": say("docs.noscript"),
        "icon": site.urls.docs("favicon-32x32.png"),
        "style": site.urls.docs("swagger-ui.css"),
        "bundle": site.urls.docs("swagger-ui-bundle.js"),
        "start": site.urls.static("docs.js"),
        "openapi": site.urls.openapi(),
    }
    page = PAGE.format_map({name: escape(value) for name, value in values.items()})
    headers = {
        "Content-Security-Policy": POLICY,
        "Content-Language": lang.tag,
        "Vary": "Accept-Language, Cookie",
    }
    return conditional(request, HTMLResponse(page, headers=headers))


async def openapi(request: Request) -> Response:
    """The description, with examples of what is served now."""
    site = site_of(request)
    # The first time it takes a few searches and a diagnosis, for the examples.
    document = await run_sync(describe, request.app, site, site.knowledge.snapshot)
    return conditional(request, JSONResponse(document))
