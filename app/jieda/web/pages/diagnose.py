"""The page that takes a log and shows the entries that explain it, each with its fix."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from jieda.diagnosis.answers import Diagnosis, LogError, Verdict
from jieda.han import HAN
from jieda.presentation.diagnosis_text import as_markdown
from jieda.usecases.diagnose import Diagnosed, excerpt, kept_lines, telling_lines
from jieda.usecases.diagnose import diagnose as diagnose_for
from jieda.versions import find_versions
from jieda.web.http.respond import NO_STORE, choices, chosen_theme, respond, works_with
from jieda.web.pages.context import HTML, PageContext, context_of, page_answer, read_form, remember
from jieda.web.pages.layout import Head, data_block, render_page
from jieda.web.pages.parts import Choice, PageLink, name_of, tag_choices, tag_link
from jieda.web.pages.verdict import (
    MatchView,
    NearView,
    TiedView,
    external_links_for_log,
    match_view,
    near_view,
    shortened,
    tied_view,
)
from jieda.web.site import asker_of

FORM = "log-form"
BY_BROWSER = "private, no-cache"
WORD = re.compile(rf"[^\W\d_]{{2}}|[{HAN}]")
ERRORS = 6
VIEWER_WORDS = (
    "all copy_address copy_line edit failure fold folded frames hits jump label line lines match next none previous "
    "processes repeats root search unfold up wrapper"
).split()


@dataclass(frozen=True, slots=True)
class Paste:
    """A submitted log, the framework chosen for it, or empty, and its diagnosis; None for a blank log."""

    text: str
    framework: str
    left_out: int = 0
    """Bytes dropped from the middle of a log that was too long."""
    diagnosis: Diagnosis | None = None
    shared: str = ""
    """The few lines that suffice to get the same diagnosis again, or empty."""
    kept: str = ""
    """The lines left in the field where a browser may cache the page."""


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """An error reported in the log."""

    text: str
    line: int
    where: str
    times: str


@dataclass(frozen=True, slots=True)
class DiagnoseView:
    """The view of `diagnose.html`. `done`: a paste was diagnosed; `status` states the result in words."""

    text: str
    frameworks: tuple[Choice, ...]
    done: bool = False
    empty: bool = False
    status: str = ""
    outcome: str = ""
    tied: TiedView | None = None
    kept: Choice | None = None
    """The framework of the log, to be remembered for the session; None where it already is."""
    hint: str = ""
    left_out: str = ""
    """How much of the paste was not read, in words, or empty."""
    best: MatchView | None = None
    others: tuple[MatchView, ...] = ()
    shared: str = ""
    markdown: str = ""
    """The text that the copy buttons copy."""
    near_title: str = ""
    near: tuple[NearView, ...] = ()
    errors: tuple[ErrorLine, ...] = ()
    guessed: PageLink | None = None
    external_links: tuple[PageLink, ...] = ()
    ask: str = ""
    """Where the paste can be submitted as a question to the authors, or empty."""
    workbench: str = ""
    """Where an entry for the paste can be written, or empty."""
    search: str = ""
    """A search for the recognized terms. Offered as a form: nothing of a paste goes into an address."""
    layout: str = ""
    """JSON for the log viewer, escaped; empty where the page does not contain the whole log."""
    form: str = FORM


def diagnose_page(context: PageContext, paste: Paste | None = None) -> str:
    """Render the page before or after a log was submitted."""
    text, framework = (paste.text, paste.framework) if paste else ("", "")
    frameworks = tag_choices(context, "framework", context.library.taxonomy.framework, {framework})
    view = DiagnoseView(text, frameworks, empty=paste is not None)
    if paste and paste.diagnosis:
        view = _answer(context, paste, paste.diagnosis, frameworks)
    title = view.best.row.title.text if view.best else view.status
    head = Head(
        name="diagnose",
        title=" · ".join(filter(None, (title, context.t("diagnose.title"), context.t("site.name")))),
        description=context.t("diagnose.lead"),
        here=context.urls.diagnose,
        indexed=paste is None,
        form=FORM if paste else "",
    )
    return render_page(context, "diagnose.html", head, view)


def _answer(
    context: PageContext, paste: Paste, diagnosis: Diagnosis, frameworks: tuple[Choice, ...]
) -> DiagnoseView:
    t = context.t
    clean, known = diagnosis.verdict is Verdict.NO_ERROR, diagnosis.verdict is Verdict.KNOWN
    asks = bool(diagnosis.asks)
    matches = [] if asks else [match_view(context, match) for match in diagnosis.matches]
    view = DiagnoseView(
        text=paste.kept or paste.text,
        frameworks=frameworks,
        done=True,
        status=_status(context, diagnosis),
        outcome=diagnosis.verdict.value,
        tied=tied_view(context, diagnosis) if asks else None,
        kept=_framework_to_keep(context, paste, diagnosis),
        hint="" if matches or asks else t("diagnose.no_error_hint" if clean else "diagnose.unknown_hint"),
        left_out=t("diagnose.left_out", size=f"{paste.left_out >> 10:,} KiB") if paste.left_out else "",
        best=matches[0] if matches else None,
        others=tuple(matches[1:]),
        shared=paste.shared,
        markdown=as_markdown(
            diagnosis, t, lambda each: context.urls.absolute(context.urls.entry(context.lang, each))
        ),
        near_title=t("diagnose.similar" if clean else "diagnose.nearest"),
        near=tuple(near_view(context, near, diagnosis.framework) for near in diagnosis.near),
        search="" if known else " ".join(_words(diagnosis.query)),
        layout="" if paste.kept else _layout(context, diagnosis),
    )
    return view if clean or known else _with_next_steps(context, view, diagnosis)


def _with_next_steps(context: PageContext, view: DiagnoseView, diagnosis: Diagnosis) -> DiagnoseView:
    """Add what was recognized in a log that no entry surely explains, and where to ask."""
    urls, lang, settings = context.urls, context.lang, context.site.settings
    framework = diagnosis.framework
    is_known = framework in context.library.taxonomy.framework
    return replace(
        view,
        errors=tuple(_error(context, each) for each in (diagnosis.roots or diagnosis.errors)[:ERRORS]),
        guessed=tag_link(context, "framework", framework) if is_known else None,
        external_links=external_links_for_log(context, diagnosis),
        ask=urls.asked(lang) if settings.gaps and not diagnosis.asks else "",
        workbench=urls.workbench(lang) if settings.workbench else "",
    )


def _words(query: str) -> Iterator[str]:
    """Yield the distinct words of a query, without the numbers and separator lines of a log."""
    yield from (word for word in dict.fromkeys(query.split()) if WORD.search(word))


def _framework_to_keep(context: PageContext, paste: Paste, diagnosis: Diagnosis) -> Choice | None:
    """Return the framework and version found in the log, unless they are remembered already."""
    framework = paste.framework or diagnosis.framework
    if framework not in context.library.taxonomy.framework or diagnosis.asks:
        return None
    versions = sorted(find_versions(paste.text, framework, context.library.taxonomy.packages))
    version = str(versions[-1]) if versions else ""
    if framework == context.chosen and version in {"", context.version}:
        return None
    name = " ".join(filter(None, (name_of(context, "framework", framework), version)))
    return Choice(f"{framework}:{version}" if version else framework, name, chosen=False)


def _status(context: PageContext, diagnosis: Diagnosis) -> str:
    count = len(diagnosis.matches)
    if diagnosis.asks:
        return context.t("diagnose.ask")
    if diagnosis.verdict is Verdict.NO_ERROR:
        return context.t("diagnose.no_error")
    return context.t("diagnose.found", count=count) if count else context.t("diagnose.unknown")


def _error(context: PageContext, error: LogError) -> ErrorLine:
    text = f"{error.type}: {error.message}" if error.message and error.type else error.type or error.message
    often = context.t("list.parenthesis", text=context.t("diagnose.times", count=error.count))
    where = context.t("diagnose.line", line=error.line)
    return ErrorLine(shortened(text), error.line, where, often if error.count > 1 else "")


def _layout(context: PageContext, diagnosis: Diagnosis) -> Markup:
    """Return the data and labels with which `log-viewer.js` displays the log."""
    layout = diagnosis.layout
    return data_block(
        [
            {
                "style": context.urls.static("log-viewer.css"),
                "root": diagnosis.root.line if diagnosis.root else 0,
                "sources": layout.sources,
                "margins": layout.margins,
                "failures": layout.failures,
                "wrappers": layout.wrappers,
                "words": {name: context.t(f"viewer.{name}") for name in VIEWER_WORDS},
            }
        ]
    )


async def show_form(request: Request) -> Response:
    """Show the empty form."""
    context = await context_of(request)
    return await page_answer(request, context, diagnose_page(context))


async def answer_field(request: Request) -> Response:
    """Handle the field of the start page: one line is a search, several are a log."""
    context = await context_of(request)
    fields = await read_form(request, context.site.service.limits.log_bytes)
    text = fields.get("q", "").strip()
    if "\n" in text or len(text) > context.site.service.limits.query_chars:
        return await diagnose_text(request, context, {"text": text})
    target = context.urls.search(context.lang, q=text)
    return RedirectResponse(target, 303, {"Cache-Control": NO_STORE})


async def answer_form(request: Request) -> Response:
    """Show the entries that explain a log. The field of the start page calls it `q`."""
    context = await context_of(request)
    fields = await read_form(request, context.site.service.limits.log_bytes)
    return await diagnose_text(request, context, {"text": fields.get("q", "")} | fields)


async def diagnose_text(request: Request, context: PageContext, fields: Mapping[str, str]) -> Response:
    """Show the diagnosis of `text`. Nothing of it is stored, and caches are told so. Without a script the browser may
    cache the page, so that Back works; that page then contains only the relevant lines of the log."""
    service = context.site.service
    text, left_out = excerpt(service, fields["text"].replace("\r\n", "\n"))
    framework = works_with(fields["told"])[0] if fields.get("told") else fields.get("framework", "")
    # The form may be older than the taxonomy.
    paste = Paste(text, framework if framework in context.library.taxonomy.framework else "", left_out)
    # A choice from the list holds for this paste; the answer to the question holds for the session.
    chosen = choices({name: value for name, value in fields.items() if name != "framework"})
    if "told" in fields:
        chosen |= choices({"framework": fields["told"]})
        context = context.working_with(fields["told"])
    if "theme" in fields:
        context = replace(context, theme=chosen_theme(chosen))
    cache = NO_STORE
    if text.strip():
        found = await diagnose_for(
            service, text, context.lang, paste.framework, asker_of(request), usual=context.chosen
        )
        context = context.at(found.snapshot)
        paste = await service.offload(
            partial(_with_diagnosis, context, paste, found, plain_form=is_plain_form(request))
        )
        cache = BY_BROWSER if paste.kept else NO_STORE
    # The page contains the escaped text: a megabyte can become five.
    html = await service.offload(partial(diagnose_page, context, paste))
    response = await respond(request, html, HTML, lang=context.lang, cache=cache)
    remember(response, chosen, context.site)
    return response


def _with_diagnosis(context: PageContext, paste: Paste, found: Diagnosed, *, plain_form: bool) -> Paste:
    """Add a diagnosis and the few lines that lead to it again."""
    diagnosis, text, framework = found.diagnosis, paste.text, paste.framework
    shared, kept = telling_lines(found.snapshot, text, diagnosis, framework), ""
    if plain_form and diagnosis.verdict is Verdict.KNOWN:
        kept = shared
    elif plain_form:
        kept = kept_lines(context.site.service, found, text, framework, context.chosen)
    return replace(paste, diagnosis=diagnosis, shared=shared, kept=kept)


def is_plain_form(request: Request) -> bool:
    """Return whether the browser shows the response as a new page: our script requests one media type and inserts it
    itself."""
    return request.headers.get("accept", "").startswith("text/html,")
