"""What answers the workbench: an entry is opened, and what its form sends."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from app.content.read.forms import ENTRY_ID
from app.content.read.parse import MAX_FILE_BYTES
from app.entry import Language
from app.errors import AuthoringError, UnknownEntry
from app.usecases.workbench.draft import tidied
from app.web.pages.context import context_of
from app.web.pages.requests import read_form
from app.web.pages.workbench_actions import ACTIONS, check
from app.web.pages.workbench_answers import shown
from app.web.pages.workbench_views import Form, Said


async def ask(request: Request) -> Response:
    """The page, with the entry that is asked for, if any is. Raises UnknownEntry."""
    context = await context_of(request)
    wanted = request.query_params.get("entry", "")
    if not wanted:
        return await shown(request, context, Form())
    if not ENTRY_ID.fullmatch(wanted):
        raise UnknownEntry(id=wanted[:200])
    try:
        held = await context.site.service.offload(lambda: context.site.desk.open(wanted))
    except AuthoringError as error:
        return await shown(request, context, Form(), Said(warning=str(error)))
    if not held:
        raise UnknownEntry(id=wanted)
    framework, _, slug = wanted.partition("/")
    form = Form(
        entry=wanted,
        draft=wanted,
        framework=framework,
        slug=slug,
        texts={lang: each.text for lang, each in held.items()},
        opened={lang: each.digest for lang, each in held.items()},
    )
    return await shown(request, context, form, Said(begun=True))


async def answer(request: Request) -> Response:
    """What a button of the page does; the page as it is after it, or what was asked for. Raises TooLarge."""
    context = await context_of(request)
    most = 2 * MAX_FILE_BYTES + context.site.service.limits.log_bytes
    fields = await read_form(request, most)
    action = ACTIONS.get(fields.get("do", ""), check)
    return await action(request, context, form_of(fields), fields)


def form_of(fields: Mapping[str, str]) -> Form:
    """What a form sent."""
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
        author=fields.get("author", "").strip(),
        email=fields.get("email", "").strip(),
        message=fields.get("message", "").strip(),
    )
