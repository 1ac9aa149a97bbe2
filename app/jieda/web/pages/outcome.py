"""Votes on an entry: whether it helped, and why not."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from jieda.feedback import TriedOutcome
from jieda.usecases.entries import report
from jieda.web.http.respond import UNCACHED, cookies_of
from jieda.web.pages.context import FORM_LIMIT, context_of, read_form, set_cookie

VOTED = "jieda_voted"
"""Cookie that prevents a second vote on the entry of its path: `yes`, `no`, or `why` where a reason was given."""
VOTES = frozenset({"yes", "no", "why"})
REASONS = tuple(each for each in TriedOutcome if each is not TriedOutcome.SOLVED)
VOTE = "vote"
"""Anchor of the question whether the entry helped."""


async def record_vote(request: Request) -> Response:
    """Count once per session whether an entry solved the problem, then optionally why not; redirect back to it."""
    context = await context_of(request)
    entry_id = "{framework}/{name}".format_map(request.path_params)
    if entry_id not in context.library:
        raise HTTPException(404)
    fields = await read_form(request, FORM_LIMIT)
    address = context.urls.entry(context.lang, entry_id)
    response = RedirectResponse(f"{address}#{VOTE}", 303, UNCACHED)
    said, reason, before = fields.get("solved", ""), fields.get("reason", ""), previous_vote(request)
    outcome: TriedOutcome | None
    if reason in REASONS and before == "no":
        said, outcome = "why", TriedOutcome(reason)
    elif said in {"yes", "no"} and not before:
        outcome = TriedOutcome.SOLVED if said == "yes" else None
    else:
        return response
    found, service, line = context.library.summary(entry_id), context.site.service, fields.get("line", "")
    is_counted = context.site.askers.may_vote(request, f"{entry_id} why" if said == "why" else entry_id)
    if is_counted and await report(service, found, context.lang, outcome, line, voted=said == "why"):
        set_cookie(response, VOTED, said, context.site, path=address)
    return response


def previous_vote(request: Request) -> str:
    """Return the reader's vote in this session, or empty."""
    said = cookies_of(request).get(VOTED, "")
    return said if said in VOTES else ""
