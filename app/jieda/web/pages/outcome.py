"""Votes on an entry: whether it helped, and why not."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from jieda.feedback import TriedOutcome
from jieda.usecases.entries import report
from jieda.web.http.respond import UNCACHED, cookies_of
from jieda.web.pages.context import FORM_LIMIT, context_of, read_form, set_cookie

VOTED = "jieda_voted"
"""Cookie that prevents a second vote on the entry at its path: `yes`, `no`, or `why` after a reason."""
VOTES = frozenset({"yes", "no", "why"})
REASONS = tuple(each for each in TriedOutcome if each is not TriedOutcome.SOLVED)
VOTE = "vote"
"""Anchor of the question whether the entry helped."""


async def record_vote(request: Request) -> Response:
    """Count, once per session, whether an entry solved the problem, and then why not; redirect back to the entry."""
    context = await context_of(request)
    entry_id = "{framework}/{name}".format_map(request.path_params)
    if entry_id not in context.library:
        raise HTTPException(404)
    fields = await read_form(request, FORM_LIMIT)
    address = context.urls.entry(context.lang, entry_id)
    response = RedirectResponse(f"{address}#{VOTE}", 303, UNCACHED)
    vote, reason, previous = fields.get("solved", ""), fields.get("reason", ""), previous_vote(request)
    outcome: TriedOutcome | None
    if reason in REASONS and previous == "no":
        vote, outcome = "why", TriedOutcome(reason)
    elif vote in {"yes", "no"} and not previous:
        outcome = TriedOutcome.SOLVED if vote == "yes" else None
    else:
        return response
    summary, service, line = context.library.summary(entry_id), context.site.service, fields.get("line", "")
    is_counted = context.site.askers.may_vote(request, f"{entry_id} why" if vote == "why" else entry_id)
    if is_counted and await report(service, summary, context.lang, outcome, line, voted=vote == "why"):
        set_cookie(response, VOTED, vote, context.site, path=address)
    return response


def previous_vote(request: Request) -> str:
    """Return the reader's vote in this session, or empty."""
    vote = cookies_of(request).get(VOTED, "")
    return vote if vote in VOTES else ""
