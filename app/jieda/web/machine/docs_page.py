"""The API documentation: Swagger UI from an installed package inside our own page, started by a script of ours.

Nothing is inline and nothing comes from another host, so it works in a closed network. Without JavaScript, and until a
reader opens Swagger UI, the page lists the routes.
"""

import json
from collections.abc import Iterator
from shlex import quote

from starlette.requests import Request
from starlette.responses import Response

from jieda.web.api.openapi import describe
from jieda.web.api.routes import ROUTES
from jieda.web.http.middleware import CONTENT_SECURITY_POLICY
from jieda.web.http.respond import Resource, respond
from jieda.web.pages.agents import origin
from jieda.web.pages.context import PageContext, context_anywhere
from jieda.web.pages.layout import Head, render_page
from jieda.web.site import site_of

# Swagger UI's style sheet uses data URLs for its icons.
POLICY = CONTENT_SECURITY_POLICY.replace("img-src 'self'", "img-src 'self' data:")

BEGINNING = 8
"""Characters of a question in the completion example."""


async def docs(request: Request) -> Response:
    """Show the page; Swagger UI is loaded on demand."""
    site = site_of(request)
    context = context_anywhere(request)
    urls = site.urls
    title, lead = context.t("docs.title"), context.t("docs.lead")
    head = Head("docs", title, lead, lambda _: urls.docs(), languages=frozenset())
    headers = {"Content-Security-Policy": POLICY}
    vary = ("Accept-Language", "Cookie")
    page = render_page(
        context,
        head,
        commands=tuple(_example_commands(context)),
        routes=ROUTES,
        openapi=urls.openapi(),
        bundle=urls.docs("swagger-ui-bundle.js"),
        start=urls.static("docs.js"),
        swagger_style=urls.docs("swagger-ui.css"),
        style=urls.static("docs.css"),
    )
    return await respond(request, page, "text/html", lang=context.lang, vary=vary, headers=headers)


def _example_commands(context: PageContext) -> Iterator[tuple[str, str]]:
    """Yield five commands with this server's address, each after its description."""
    urls, host = context.urls, origin(context)
    entry, question = _example_question(context)
    beginning = " ".join(question.split())[:BEGINNING].strip()
    commands = {
        "diagnose_text": f"curl --data-binary @run.log {host}{urls.api_diagnose(text=True)}",
        "search": f"curl -G --data-urlencode {quote(f'q={question}')} {host}{urls.api_search()}",
        "get_entry": f"curl {host}{urls.api_entry(entry)}",
        "get_entry_markdown": f"curl {host}{urls.api_entry(entry, markdown=True)}",
        "suggest": f"curl -G --data-urlencode {quote(f'q={beginning}')} {host}{urls.api_suggest()}",
    }
    for operation, command in commands.items():
        yield context.t(f"docs.route.{operation}"), command


def _example_question(context: PageContext) -> tuple[str, str]:
    """Return an entry and a question: the content's first example of one line, or else the title of the entry."""
    if not context.snapshot or not context.library.ids:
        return "", ""
    entry = context.library.ids[0]
    examples = context.library.site.examples.get(context.lang, ())
    title = context.library.summary(entry).edition(context.lang).title
    return entry, next((example for example in examples if "\n" not in example), title)


async def openapi(request: Request) -> Response:
    """Send the OpenAPI document, with examples from the served content."""
    site = site_of(request)
    snapshot = site.service.current()

    def build() -> Resource:
        document = describe(request.app, site, snapshot)
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        return Resource.of(text, "application/json")

    key = ("openapi", site.urls.base_url)
    return await respond(request, await site.resources.get(snapshot.generation, key, build))
