"""The page that takes a log and shows the entries that explain it, each with its fix."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from jieda.diagnosis.answers import Diagnosis, Verdict
from jieda.han import HAN
from jieda.presentation.diagnosis_text import as_markdown, cut, elsewhere_text, error_text
from jieda.usecases.diagnose import Diagnosed, excerpt, kept_lines, telling_lines
from jieda.usecases.diagnose import diagnose as diagnose_for
from jieda.versions import find_versions
from jieda.web.http.respond import (
    NO_STORE,
    UNCACHED,
    chosen_cookies,
    chosen_theme,
    framework_and_version,
    respond,
)
from jieda.web.pages.context import HTML, PageContext, context_of, read_form, remember
from jieda.web.pages.layout import Head, data_block, render_page
from jieda.web.pages.verdict import WIDTH, external_links_for_log, match_view, near_row, tied_rows
from jieda.web.site import asker_of

FORM = "log-form"
BY_BROWSER = "private, no-cache"
WORD = re.compile(rf"[^\W\d_]{{2}}|[{HAN}]")
"""What a word has, unlike the numbers and separators of a log."""
ERRORS = 6
VIEWER_WORDS = (
    "all copy_address copy_line edit failure fold folded frames hits jump label line lines match next none previous "
    "processes repeats root search unfold up wrapper"
).split()


@dataclass(frozen=True, slots=True)
class Paste:
    """A submitted log, the framework chosen for it, or empty, and its diagnosis, None for a blank log."""

    text: str
    framework: str
    left_out: int = 0
    """Bytes dropped from the middle of a log that was too long."""
    diagnosis: Diagnosis | None = None
    shared: str = ""
    """The few lines that suffice for the same diagnosis, or empty."""
    kept: str = ""
    """The lines left in the field if a browser may cache the page, or empty."""


def diagnose_page(context: PageContext, paste: Paste | None = None) -> str:
    """Render the page before or after a log was submitted."""
    diagnosis = paste.diagnosis if paste else None
    status = _status(context, diagnosis) if diagnosis else ""
    known = diagnosis.matches if diagnosis and not diagnosis.asks else ()
    title = known[0].edition.title if known else status
    head = Head(
        name="diagnose",
        title=" · ".join(filter(None, (title, context.t("nav.diagnose")))),
        description=context.t("diagnose.lead"),
        here=context.urls.diagnose,
        indexed=paste is None,
        form=FORM if paste else "",
    )
    return render_page(
        context,
        head,
        form=FORM,
        paste=paste,
        diagnosis=diagnosis,
        frameworks=context.library.taxonomy.framework,
        status=status,
        matches=[match_view(context, match) for match in known],
        **(_answer(context, paste, diagnosis) if paste and diagnosis else {}),
    )


def _status(context: PageContext, diagnosis: Diagnosis) -> str:
    if diagnosis.asks:
        return context.t("diagnose.ask")
    if diagnosis.verdict is Verdict.NO_ERROR:
        return context.t("diagnose.no_error")
    count = len(diagnosis.matches)
    return context.t("diagnose.found", count=count) if count else context.t("diagnose.unknown")


def _answer(context: PageContext, paste: Paste, diagnosis: Diagnosis) -> dict[str, object]:
    """Return what the page shows of a diagnosis besides its matches. `unanswered`: no entry surely explains the log, so
    the page shows what was recognized in it and where to ask."""
    urls, lang = context.urls, context.lang
    known = diagnosis.verdict is Verdict.KNOWN
    unanswered = diagnosis.verdict not in {Verdict.KNOWN, Verdict.NO_ERROR}
    errors = (diagnosis.roots or diagnosis.errors)[:ERRORS] if unanswered else ()
    return {
        "tied": tied_rows(context, diagnosis),
        "keep": _framework_to_keep(context, paste, diagnosis),
        # What the copy buttons copy.
        "markdown": as_markdown(diagnosis, context.t, partial(urls.external.entry, lang)),
        "near": [near_row(context, near, diagnosis.framework) for near in diagnosis.near],
        "unanswered": unanswered,
        "elsewhere": elsewhere_text(diagnosis, context.t),
        "errors": [(cut(error_text(error.type, error.message), WIDTH), error) for error in errors],
        "external_links": external_links_for_log(context, diagnosis) if unanswered else (),
        "may_ask": unanswered and context.site.settings.gaps and not diagnosis.asks,
        # Offered as a form, since nothing of a pasted log goes into an address.
        "search": "" if known else " ".join(filter(WORD.search, dict.fromkeys(diagnosis.query.split()))),
        "layout": "" if paste.kept else _layout(context, diagnosis),
    }


def _framework_to_keep(context: PageContext, paste: Paste, diagnosis: Diagnosis) -> tuple[str, str] | None:
    """Return the framework and version of the log, as a form value and as text; None if the reader has chosen them."""
    framework = paste.framework or diagnosis.framework
    if framework not in context.library.taxonomy.framework or diagnosis.asks:
        return None
    versions = sorted(find_versions(paste.text, framework, context.library.taxonomy.packages))
    version = str(versions[-1]) if versions else ""
    if framework == context.framework and version in {"", context.version}:
        return None
    name = context.name_of("framework", framework)
    return (f"{framework}:{version}", f"{name} {version}") if version else (framework, name)


def _layout(context: PageContext, diagnosis: Diagnosis) -> Markup:
    """Return the data and labels for `log-viewer.js`, as escaped JSON."""
    layout = diagnosis.layout
    data: dict[str, object] = {
        "style": context.urls.static("log-viewer.css"),
        "root": diagnosis.root.line if diagnosis.root else 0,
        "sources": layout.sources,
        "margins": layout.margins,
        "failures": layout.failures,
        "wrappers": layout.wrappers,
        "words": {name: context.t(f"viewer.{name}") for name in VIEWER_WORDS},
    }
    return data_block([data])


async def answer_field(request: Request) -> Response:
    """Handle the field of the start page: one line is a search, several are a log."""
    context = await context_of(request)
    fields = await read_form(request, context.site.service.settings.max_log_bytes)
    text = fields.get("q", "").strip()
    if "\n" in text or len(text) > context.site.service.settings.max_query_chars:
        return await diagnose_text(request, context, {"text": text})
    target = context.urls.search(context.lang, q=text)
    return RedirectResponse(target, 303, UNCACHED)


async def answer_form(request: Request) -> Response:
    """Show the entries that explain a log, which the field of the start page calls `q`."""
    context = await context_of(request)
    fields = await read_form(request, context.site.service.settings.max_log_bytes)
    return await diagnose_text(request, context, {"text": fields.get("q", "")} | fields)


async def diagnose_text(request: Request, context: PageContext, fields: Mapping[str, str]) -> Response:
    """Show the diagnosis of `text`, which is neither stored nor cached. Only without a script may the browser cache the
    page, so that Back works; it then contains only the relevant lines of the log."""
    service = context.site.service
    text, left_out = excerpt(service, fields["text"].replace("\r\n", "\n"))
    # A framework from the list holds for this log; the answer to the question, `told`, holds for the session.
    framework = fields.get("framework", "")
    cookies = chosen_cookies({name: value for name, value in fields.items() if name != "framework"})
    if "told" in fields:
        framework, _ = framework_and_version(fields["told"])
        cookies |= chosen_cookies({"framework": fields["told"]})
        context = context.for_framework(fields["told"])
    if "theme" in fields:
        context = replace(context, theme=chosen_theme(cookies))
    # The form may be older than the taxonomy.
    paste = Paste(text, framework if framework in context.library.taxonomy.framework else "", left_out)
    cache = NO_STORE
    if text.strip():
        found = await diagnose_for(
            service, text, context.lang, paste.framework, asker_of(request), usual=context.framework
        )
        context = context.at(found.snapshot)
        # The browser shows the response as a new page: our script accepts just one media type.
        plain_form = request.headers.get("accept", "").startswith("text/html,")
        paste = await service.offload(partial(_with_diagnosis, context, paste, found, plain_form=plain_form))
        cache = BY_BROWSER if paste.kept else NO_STORE
    # The page contains the log, of which escaping can make five times as much.
    html = await service.offload(partial(diagnose_page, context, paste))
    response = await respond(request, html, HTML, lang=context.lang, cache=cache)
    remember(response, cookies, context.site)
    return response


def _with_diagnosis(context: PageContext, paste: Paste, found: Diagnosed, *, plain_form: bool) -> Paste:
    diagnosis, text, framework = found.diagnosis, paste.text, paste.framework
    kept = shared = telling_lines(found.snapshot, text, diagnosis, framework)
    if not plain_form:
        kept = ""
    elif diagnosis.verdict is not Verdict.KNOWN:
        kept = kept_lines(context.site.service, found, text, framework, context.framework)
    return replace(paste, diagnosis=diagnosis, shared=shared, kept=kept)
