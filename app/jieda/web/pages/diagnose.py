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
from jieda.usecases.diagnose import diagnose as diagnose_for
from jieda.usecases.diagnose import excerpt, kept_lines, telling_lines
from jieda.versions import told_versions
from jieda.web.http.respond import NO_STORE, choices, chosen_theme, respond, works_with
from jieda.web.pages.context import HTML, PageContext, context_of, page_answer, read_form, remember
from jieda.web.pages.layout import Head, Resubmit, data_block, render_page
from jieda.web.pages.parts import PageLink, name_of
from jieda.web.pages.verdict import (
    FrameworkChoice,
    MatchView,
    NearView,
    TiedView,
    exits,
    match_view,
    near_view,
    shortened,
    tied_view,
    unanswered_log,
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
class PastedLog:
    """The submitted log and the framework chosen for it, or empty."""

    text: str
    framework: str
    left_out: int = 0
    """Bytes dropped from the middle of a log that was too long."""


@dataclass(frozen=True, slots=True)
class DiagnosedLog:
    """A diagnosis, and the few lines of the paste that suffice to reach it again, or empty. `kept` are the lines left
    in the field where a browser may cache the page."""

    diagnosis: Diagnosis
    shared: str
    kept: str = ""


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

    form: str
    text: str
    frameworks: tuple[FrameworkChoice, ...]
    done: bool
    empty: bool
    status: str
    outcome: str
    tied: TiedView | None
    kept: FrameworkChoice | None
    """The framework of the log, to be remembered for the session; None where it already is."""
    hint: str
    left_out: str
    """How much of the paste was not read, in words, or empty."""
    best: MatchView | None
    others: tuple[MatchView, ...]
    shared: str
    markdown: str
    """The text that the copy buttons copy."""
    near_title: str
    near: tuple[NearView, ...]
    errors: tuple[ErrorLine, ...]
    guessed: PageLink | None
    exits: tuple[PageLink, ...]
    ask: str
    """Where the paste can be submitted as a question to the authors, or empty."""
    workbench: str
    """Where an entry for the paste can be written, or empty."""
    search: str
    """A search for the recognized terms. Offered as a form: nothing of a paste goes into an address."""
    layout: Markup
    """JSON for the log viewer; empty where the page does not contain the whole log."""


def diagnose_page(
    context: PageContext, paste: PastedLog | None = None, answered: DiagnosedLog | None = None
) -> str:
    """Render the page before or after a log was submitted; an empty log has no answer."""
    view = _answer(context, paste, answered) if paste and answered else _question(context, paste)
    title = view.best.row.title.text if view.best else view.status
    head = Head(
        name="diagnose",
        title=" · ".join(filter(None, (title, context.t("diagnose.title"), context.t("site.name")))),
        description=context.t("diagnose.lead"),
        here=context.urls.diagnose,
        indexed=paste is None,
        resubmit=Resubmit(FORM, context.urls.diagnose) if paste else None,
    )
    return render_page(context, "diagnose.html", head, view)


def _question(context: PageContext, paste: PastedLog | None) -> DiagnoseView:
    return DiagnoseView(
        form=FORM,
        text=paste.text if paste else "",
        frameworks=_frameworks(context, paste.framework if paste else ""),
        done=False,
        empty=paste is not None,
        status="",
        outcome="",
        tied=None,
        kept=None,
        hint="",
        left_out="",
        best=None,
        others=(),
        shared="",
        markdown="",
        near_title="",
        near=(),
        errors=(),
        guessed=None,
        exits=(),
        ask="",
        workbench="",
        search="",
        layout=Markup(""),
    )


def _answer(context: PageContext, paste: PastedLog, answered: DiagnosedLog) -> DiagnoseView:
    diagnosis = answered.diagnosis
    clean = diagnosis.verdict is Verdict.NO_ERROR
    unsure = not clean and diagnosis.verdict is not Verdict.KNOWN
    asks = bool(diagnosis.asks)
    matches = [] if asks else [match_view(context, match) for match in diagnosis.matches]
    left_out = context.t("diagnose.left_out", size=f"{paste.left_out >> 10:,} KiB") if paste.left_out else ""
    return DiagnoseView(
        form=FORM,
        text=answered.kept or paste.text,
        frameworks=_frameworks(context, paste.framework),
        done=True,
        empty=False,
        status=_status(context, diagnosis),
        outcome=diagnosis.verdict.value,
        tied=tied_view(context, diagnosis) if asks else None,
        kept=_to_keep(context, paste, diagnosis),
        hint="" if matches or asks else context.t(f"diagnose.{'no_error' if clean else 'unknown'}_hint"),
        left_out=left_out,
        best=matches[0] if matches else None,
        others=tuple(matches[1:]),
        shared=answered.shared,
        markdown=as_markdown(diagnosis, context.t, lambda each: _address(context, each)),
        near_title=context.t("diagnose.similar" if clean else "diagnose.nearest"),
        near=tuple(near_view(context, near, diagnosis.framework) for near in diagnosis.near),
        errors=tuple(_error(context, each) for each in (diagnosis.roots or diagnosis.errors)[:ERRORS])
        if unsure
        else (),
        guessed=_guessed(context, diagnosis.framework) if unsure else None,
        exits=exits(context, unanswered_log(context, diagnosis)) if unsure else (),
        ask=context.urls.asked(context.lang) if unsure and not asks and context.site.settings.gaps else "",
        workbench=context.urls.workbench(context.lang) if unsure and context.site.settings.workbench else "",
        search="" if diagnosis.verdict is Verdict.KNOWN else " ".join(_words(diagnosis.query)),
        layout=Markup("") if answered.kept else _layout(context, diagnosis),
    )


def _words(query: str) -> Iterator[str]:
    """Yield the distinct words of a query, without the numbers and separator lines of a log."""
    yield from (word for word in dict.fromkeys(query.split()) if WORD.search(word))


def _to_keep(context: PageContext, paste: PastedLog, diagnosis: Diagnosis) -> FrameworkChoice | None:
    """Return the framework and version found in the log, unless they are remembered already."""
    framework = paste.framework or diagnosis.framework
    if framework not in context.library.taxonomy.framework or diagnosis.asks:
        return None
    versions = sorted(told_versions(paste.text, framework, context.library.taxonomy.packages))
    version = str(versions[-1]) if versions else ""
    if framework == context.chosen and version in {"", context.version}:
        return None
    name = " ".join(filter(None, (name_of(context, "framework", framework), version)))
    return FrameworkChoice(f"{framework}:{version}" if version else framework, name, chosen=False)


def _address(context: PageContext, entry_id: str) -> str:
    return context.urls.absolute(context.urls.entry(context.lang, entry_id))


def _frameworks(context: PageContext, chosen: str) -> tuple[FrameworkChoice, ...]:
    tags = context.library.taxonomy.framework.values()
    return tuple(FrameworkChoice(tag.id, tag.name[context.lang], tag.id == chosen) for tag in tags)


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


def _guessed(context: PageContext, framework: str) -> PageLink | None:
    if framework not in context.library.taxonomy.framework:
        return None
    url = context.urls.tag(context.lang, "framework", framework)
    return PageLink(name_of(context, "framework", framework), url)


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
    paste = PastedLog(text, framework if framework in context.library.taxonomy.framework else "", left_out)
    # A choice from the list holds for this paste; the answer to the question holds for the session.
    chosen = choices({name: value for name, value in fields.items() if name != "framework"})
    if "told" in fields:
        chosen |= choices({"framework": fields["told"]})
        context = context.working_with(fields["told"])
    if "theme" in fields:
        context = replace(context, theme=chosen_theme(chosen))
    answered, cache = None, NO_STORE
    if text.strip():
        found = await diagnose_for(
            service, text, context.lang, paste.framework, asker_of(request), usual=context.chosen
        )
        context = context.at(found.snapshot)
        snapshot, diagnosis = found.snapshot, found.diagnosis
        shared = await service.offload(lambda: telling_lines(snapshot, text, diagnosis, paste.framework))
        answered = DiagnosedLog(diagnosis, shared)
        if is_plain_form(request):
            kept = shared
            if diagnosis.verdict is not Verdict.KNOWN:
                kept = await service.offload(
                    partial(kept_lines, service, found, text, paste.framework, context.chosen)
                )
            answered, cache = replace(answered, kept=kept), BY_BROWSER if kept else NO_STORE
    # The page contains the escaped text: a megabyte can become five.
    html = await service.offload(partial(diagnose_page, context, paste, answered))
    response = await respond(request, html, HTML, lang=context.lang, cache=cache)
    remember(response, chosen, context.site)
    return response


def is_plain_form(request: Request) -> bool:
    """Return whether the browser shows the response as a new page: our script requests one media type and inserts it
    itself."""
    return request.headers.get("accept", "").startswith("text/html,")
