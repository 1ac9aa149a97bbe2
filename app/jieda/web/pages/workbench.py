"""The workbench: opens an entry and runs the actions of its form's buttons."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from jieda.content.authoring.edition_text import skeletons
from jieda.content.authoring.source_text import values_of
from jieda.content.authoring.writing import Author
from jieda.content.read.directory import MAX_FILE_BYTES
from jieda.content.read.forms import ENTRY_ID, MAX_TITLE_CHARS, FrontMatter
from jieda.entry import Kind, Language
from jieda.errors import AuthoringError, GitError, UnknownEntry
from jieda.feedback import today
from jieda.presentation.problem_text import failure_text
from jieda.search.answers import SearchRequest
from jieda.snapshot.knowledge import RELOAD_FAILURES
from jieda.usecases.diagnose import excerpt, turn
from jieda.usecases.gaps.redact import as_log
from jieda.usecases.secrets import masked
from jieda.usecases.workbench.desk import (
    Draft,
    OpenedEdition,
    WrittenFiles,
    agreed,
    error_draft,
    patch,
    tidied,
    with_kind,
    with_tag,
    with_wording,
    write,
)
from jieda.usecases.workbench.review import Review, review
from jieda.web.http.maintainers import user_of
from jieda.web.http.problems import FieldError, HttpProblem
from jieda.web.http.respond import NO_STORE, UNCACHED, respond
from jieda.web.pages.context import HTML, MARKDOWN, PageContext, context_of, read_form
from jieda.web.pages.parts import PageLink
from jieda.web.pages.workbench_page import ActionResult, Form, workbench_page
from jieda.web.site import site_of


async def draft_of(context: PageContext, form: Form) -> Draft:
    """Return the draft in a form; secrets in a log are masked before it is kept as a sample."""
    sample = ""
    if form.keep and form.log.strip():
        # Masking a megabyte takes a while.
        sample = tidied(await context.site.service.offload(partial(masked, form.log)))
    return Draft(form.id, {lang: text for lang, text in form.texts.items() if text}, sample)


async def review_form(context: PageContext, form: Form) -> Review | None:
    """Review a draft; None without id or text. Raises TooBusy, and ContentError if shared content is broken."""
    draft = await draft_of(context, form)
    if not draft.is_named or not draft.texts:
        return None
    log, _ = excerpt(context.site.service, form.log)
    return await review(context.site.service, context.site.desk, draft, log, context.lang)


async def show_bench(
    request: Request, context: PageContext, form: Form, result: ActionResult | None = None
) -> Response:
    """Respond with the page and the review of the draft."""
    form = with_user(request, form)
    found = await review_form(context, form)
    html = await context.site.service.offload(lambda: workbench_page(context, form, found, result))
    return await respond(request, html, HTML, lang=context.lang, cache=NO_STORE)


async def warn(request: Request, context: PageContext, form: Form, warning: str) -> Response:
    """Respond with the unchanged page and a warning."""
    return await show_bench(request, context, form, ActionResult(warning=warning))


async def send(request: Request, text: str, media_type: str, name: str) -> Response:
    """Send a text as a download with a file name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    content = text.encode("utf-8", "surrogateescape")
    return await respond(request, content, media_type, cache=NO_STORE, headers=headers)


PATCH = "text/x-diff"

Action = Callable[[Request, PageContext, Form, Mapping[str, str]], Awaitable[Response]]
TAG_LISTS = {"topic": "topics", "error-type": "error_types", "related": "related"}
"""Lists in the front matter, by the button that adds or removes a value."""
FIELDS = {**TAG_LISTS, "kind": "kind", "wording": "aliases"}
"""Fields of the front matter, by the button that changes them."""


async def check(request: Request, context: PageContext, form: Form, _fields: Mapping[str, str]) -> Response:
    """Review the draft without changing it."""
    return await show_bench(request, context, form)


async def begin(request: Request, context: PageContext, form: Form, fields: Mapping[str, str]) -> Response:
    """Create the skeleton of a new entry; an existing entry is opened instead."""
    taxonomy, kind = context.library.taxonomy, fields.get("kind", "")
    if form.framework not in taxonomy.framework or not ENTRY_ID.fullmatch(form.id):
        return await warn(request, context, replace(form, texts={}), context.t("bench.bad_id"))
    service, desk = context.site.service, context.site.desk
    if await service.offload(lambda: desk.open(form.id)):
        address = context.urls.workbench(context.lang, entry=form.id)
        return RedirectResponse(address, 303, UNCACHED)
    chosen = Kind(kind) if kind in set(Kind) else Kind.ERROR
    corpus = (await service.offload(partial(desk.material, context.served))).loaded.corpus
    texts = skeletons(corpus, form.framework, FrontMatter(kind=chosen, updated=today()))
    begun = replace(form, entry="", draft=form.id, texts=texts, opened={})
    return await show_bench(request, context, begun, ActionResult(begun=True))


async def begin_from_log(
    request: Request, context: PageContext, form: Form, fields: Mapping[str, str]
) -> Response:
    """Create a skeleton from a log, which the diagnosis page calls `text`, or from a gap."""
    from_gap = fields.get("do") == "gap"
    service, desk = context.site.service, context.site.desk
    log, _ = excerpt(service, fields.get("text", form.log).replace("\r\n", "\n"))
    if not log.strip():
        return await warn(request, context, Form(), context.t("diagnose.empty"))
    snapshot = context.served

    def make_draft() -> Draft:
        material = desk.material(snapshot)
        if from_gap:
            return error_draft(snapshot, material, as_log(log), "", redacted=log)
        return error_draft(snapshot, material, log, form.framework)

    async with turn(service, len(log)):
        draft = await service.offload(make_draft)
    framework, _, slug = draft.id.partition("/")
    begun = Form(
        draft=f"{draft.id} {draft.sample_place.rpartition('/')[2]}",
        framework=framework,
        slug=slug,
        texts=draft.texts,
        log=draft.sample,
        keep=True,
    )
    note = context.t("bench.from_gap_done" if from_gap else "bench.from_log_done")
    return await show_bench(request, context, begun, ActionResult(note=note, begun=True))


async def edit(request: Request, context: PageContext, form: Form, fields: Mapping[str, str]) -> Response:
    """Change the texts of the editions with the pressed button."""
    try:
        # Comparing the two editions parses both.
        texts = await context.site.service.offload(lambda: edited_texts(form, fields))
    except AuthoringError as error:
        return await warn(
            request, context, form, context.t("bench.unreadable", reason=failure_text(error, context.lang))
        )
    key = FIELDS.get(fields["do"], "")
    values = dict.fromkeys(value for text in texts.values() for value in values_of(text, key))
    note = f"{key}: {', '.join(values)}" if key else ""
    return await show_bench(request, context, replace(form, texts=texts), ActionResult(note))


def edited_texts(form: Form, fields: Mapping[str, str]) -> Mapping[Language, str]:
    """Return the texts, changed by the pressed button and the field of the same name. Raises AuthoringError."""
    button = fields["do"]
    value = fields.get(button, "").strip()
    if button == "kind":
        return with_kind(form.texts, value)
    if button == "wording":
        lang, _, text = value.partition(" ")
        return with_wording(form.texts, lang, " ".join(text.split())[:MAX_TITLE_CHARS])
    if button in TAG_LISTS:
        return with_tag(form.texts, TAG_LISTS[button], value)
    return agreed(form.texts, form.id)


async def download(request: Request, context: PageContext, form: Form, fields: Mapping[str, str]) -> Response:
    """Send the draft as a patch, or one of its files as it is."""
    draft, file = await draft_of(context, form), fields["do"].partition("-")[2]
    if not draft.is_named or not draft.texts:
        return await show_bench(request, context, form)
    name = draft.id.replace("/", "-")
    if file in set(Language):
        lang = Language(file)
        if lang not in draft.texts:
            return await warn(request, context, form, context.t("bench.no_preview", name=lang.own_name))
        return await send(request, draft.texts[lang], MARKDOWN, f"{lang}-{name}.md")
    try:
        text = await context.site.service.offload(lambda: patch(context.site.desk, draft))
    except AuthoringError as error:
        return await warn(request, context, form, failure_text(error, context.lang))
    if not text:
        return await show_bench(request, context, form, ActionResult(note=context.t("bench.unchanged")))
    return await send(request, text, PATCH, f"{name}.patch")


async def commit(request: Request, context: PageContext, form: Form, _fields: Mapping[str, str]) -> Response:
    """Write the draft into its content directory and commit it, if that is allowed."""
    if not context.site.settings.workbench_write:
        raise HttpProblem(403, "problem.write_closed")
    if "\0" in form.message:
        invalid = FieldError("message", "problem.field.invalid")
        raise HttpProblem(422, "problem.bad_parameter", errors=(invalid,))
    found = await review_form(context, form)
    try:
        author = Author(form.author, form.email)
    except ValueError:
        return await warn(request, context, form, context.t("bench.no_author"))
    if found is None or found.checked.unserved or found.read is None:
        return await warn(request, context, form, context.t("bench.not_written"))
    for lang in Language:
        if form.opened.get(lang) and not form.texts.get(lang):
            return await warn(request, context, form, context.t("bench.emptied", name=lang.own_name))
    expected = {
        lang: frozenset({form.opened.get(lang, ""), form.seen.get(lang, form.opened.get(lang, ""))})
        for lang in Language
    }
    desk, draft = context.site.desk, await draft_of(context, form)
    try:
        done = await context.site.service.offload(lambda: write(desk, draft, expected, author, form.message))
    except (AuthoringError, GitError) as error:
        return await warn(
            request, context, form, context.t("bench.failed", reason=failure_text(error, context.lang))
        )
    if done.theirs:
        result = ActionResult(warning=context.t("bench.conflict"), theirs=done.theirs)
        return await show_bench(request, context, form, result)
    return await reopen(request, context, form, done)


async def reopen(request: Request, context: PageContext, form: Form, done: WrittenFiles) -> Response:
    """Have all workers serve the written files, and show the page with the entry as it is on disk."""
    reason = await serve_written(context)
    editions = await context.site.service.offload(lambda: context.site.desk.open(form.id))
    saved = with_files(replace(form, entry=form.id, draft=form.id, keep=False, message=""), editions)
    context = context.at(context.site.service.current())
    files = context.t("list.join").join(done.files)
    if done.reason:
        note, warning = "", context.t("bench.uncommitted", files=files, reason=done.reason)
    else:
        key = "bench.committed" if done.commit else "bench.unchanged"
        note = context.t(key, commit=done.commit, files=files)
        warning = context.t("bench.not_taken_up", reason=reason) if reason else ""
    address = context.urls.entry(context.lang, form.id)
    served = form.id in context.library and not reason
    link = PageLink(context.t("bench.read_it"), address) if served else None
    return await show_bench(request, context, saved, ActionResult(note, warning, link, done=form.draft))


def with_files(form: Form, editions: Mapping[Language, OpenedEdition]) -> Form:
    """Return the form with the texts that the files have on disk."""
    texts = {lang: each.text for lang, each in editions.items()}
    return replace(form, texts=texts, opened={lang: each.digest for lang, each in editions.items()}, seen={})


async def serve_written(context: PageContext) -> str:
    """Have every worker serve the written files; return the reason of a failure, or an empty string."""
    try:
        # Not on a pool thread: requests waiting for one build would fill the pool.
        await asyncio.wrap_future(context.site.knowledge.reload())
    except RELOAD_FAILURES as error:
        return failure_text(error, context.lang)
    return ""


ACTIONS: Mapping[str, Action] = {
    "check": check,
    "new": begin,
    "log": begin_from_log,
    "gap": begin_from_log,
    "kind": edit,
    "topic": edit,
    "error-type": edit,
    "related": edit,
    "wording": edit,
    "agree": edit,
    "take-patch": download,
    "take-en": download,
    "take-zh": download,
    "commit": commit,
}
"""Actions by the value of the button `do`. Enter in a field reviews the draft."""


async def open_entry(request: Request) -> Response:
    """Show the page, with the entry if one is requested. Raises UnknownEntry."""
    context = await context_of(request)
    entry_id = request.query_params.get("entry", "")
    if not entry_id:
        return await show_bench(request, context, Form())
    if not ENTRY_ID.fullmatch(entry_id):
        return await find_entry(request, context, entry_id[:MAX_TITLE_CHARS])
    try:
        editions = await context.site.service.offload(lambda: context.site.desk.open(entry_id))
    except AuthoringError as error:
        return await warn(request, context, Form(), failure_text(error, context.lang))
    if not editions:
        current = context.library.resolve(entry_id)
        if current in {None, entry_id}:
            raise UnknownEntry(id=entry_id)
        return RedirectResponse(context.urls.workbench(context.lang, entry=current), 303, UNCACHED)
    framework, _, slug = entry_id.partition("/")
    form = with_files(Form(entry=entry_id, draft=entry_id, framework=framework, slug=slug), editions)
    return await show_bench(request, context, form, ActionResult(begun=True))


async def find_entry(request: Request, context: PageContext, words: str) -> Response:
    """Redirect to the entry whose title has these words, or respond with the start page and a warning."""
    query = SearchRequest(words, context.lang, limit=1)
    found = await context.site.service.offload(partial(context.served.searcher.search, query))
    if not found.hits or found.weak:
        return await warn(
            request, context, Form(entry=words), context.t("problem.unknown_entry.detail", id=words)
        )
    address = context.urls.workbench(context.lang, entry=found.hits[0].entry.id)
    return RedirectResponse(address, 303, UNCACHED)


def with_user(request: Request, form: Form) -> Form:
    """Return the form with the user named by a trusted proxy, if any, as its author."""
    user = user_of(request.headers, site_of(request).settings)
    email = form.email or (user if "@" in user else "")
    return replace(form, user=user, author=user, email=email) if user else form


async def act(request: Request) -> Response:
    """Run the action of a button, and respond with the page or a file. Raises TooLarge."""
    context = await context_of(request)
    most = 2 * MAX_FILE_BYTES + context.site.service.settings.max_log_bytes
    fields = await read_form(request, most)
    action = ACTIONS.get(fields.get("do", ""), check)
    return await action(request, context, with_user(request, form_of(fields)), fields)


def form_of(fields: Mapping[str, str]) -> Form:
    """Parse the fields of a form."""
    entry = fields.get("entry", "")
    framework, _, slug = entry.partition("/") if ENTRY_ID.fullmatch(entry) else ("", "", "")
    return Form(
        entry=entry if framework else "",
        draft=fields.get("draft", "")[:200],
        framework=framework or fields.get("framework", "")[:80],
        slug=slug or fields.get("slug", "").strip()[:80],
        texts={lang: tidied(fields.get(lang, "")) for lang in Language},
        opened={lang: fields.get(f"opened-{lang}", "") for lang in Language},
        seen={lang: fields[f"seen-{lang}"] for lang in Language if f"seen-{lang}" in fields},
        log=fields.get("log", "").replace("\r\n", "\n"),
        keep=fields.get("keep", "") == "1",
        beside="text" if fields.get("beside") == "text" else "",
        author=fields.get("author", "").strip(),
        email=fields.get("email", "").strip(),
        message=fields.get("message", "").strip(),
    )
