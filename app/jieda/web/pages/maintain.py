"""The maintenance page: unanswered questions, then problems of the entries."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import partial

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from jieda.entry import Problem, Summary
from jieda.feedback import GapOutcome, GapSource, Report, VoteCount, first_day
from jieda.presentation.problem_text import problem_text
from jieda.usecases.gaps.maintenance import GapGroup, Maintenance, line_of, maintenance
from jieda.web.pages.context import PageContext, context_of, page_answer
from jieda.web.pages.layout import Head, render_page
from jieda.web.pages.parts import PageLink, entry_link, redacted

WEEK = 7
BAR_HEIGHT = 20
BAR_WIDTH = 8


def bar_spans(days: int) -> Sequence[tuple[str, str]]:
    """Return the first and last day of each bar, oldest first: weeks up to today, or days if there is just one week."""
    length = WEEK if days > WEEK else 1
    last = date.fromisoformat(first_day(1))
    ends = [last - timedelta(days=back) for back in range(0, days, length)]
    return [((end - timedelta(days=length - 1)).isoformat(), end.isoformat()) for end in reversed(ends)]


PERIODS = (7, 30, 90)
"""Periods to choose from, in days; the last is the default."""
SHOWN, FOLDED = 10, 200
"""Items of a list that are visible, and those that are collapsed."""


Task = tuple[PageLink, str, str]
"""An entry or file to work on, a note on it, and the id of the entry to edit, or empty."""


async def show_maintenance(request: Request) -> Response:
    """Show the page to maintainers."""
    context = await context_of(request)
    requested = request.query_params.get("days", "")
    days = next((period for period in PERIODS if str(period) == requested), PERIODS[-1])
    html = await context.site.service.offload(partial(maintain_page, context, days))
    return await page_answer(request, context, html)


def maintain_page(context: PageContext, days: int) -> str:
    """Render the page for the last `days`. Reads the store of feedback: call it off the event loop."""
    found = maintenance(context.site.service, context.served, days)
    lists = dict(_lists(context, found))
    # Without a record of reads, that list is empty but not done.
    unknown = {"unread"} if found.never_read is None else set()
    title, lead = context.t("maintain.title"), context.t("maintain.lead")
    here = partial(context.urls.maintain, days=days if days != PERIODS[-1] else None)
    head = Head("maintain", title, lead, here, indexed=False)
    return render_page(
        context,
        head,
        recorded=context.site.settings.gaps,
        unreadable=found.unreadable,
        days=days,
        periods=PERIODS,
        gaps=[_gap(context, each, days) for each in found.gaps[: SHOWN + FOLDED]],
        total=len(found.gaps),
        lists={key: tasks for key, tasks in lists.items() if tasks or key in unknown},
        done=[key for key, tasks in lists.items() if not tasks and key not in unknown],
        shown=SHOWN,
        most=SHOWN + FOLDED,
        bar_width=BAR_WIDTH,
        height=BAR_HEIGHT,
        by_week=days > WEEK,
        outcomes=tuple(GapOutcome),
    )


def _gap(context: PageContext, group: GapGroup, days: int) -> Mapping[str, object]:
    """Return an unanswered question. `words` is its most frequent wording; `log` is what the workbench drafts from,
    empty for a search; `counts` say how often it was asked in each span; `answered` is the entry that now answers
    it."""
    is_log = group.source is GapSource.LOG
    counts = [
        sum(count for day, count in group.days.items() if first <= day <= last)
        for first, last in bar_spans(days)
    ]
    most = max(counts, default=0) or 1
    text = line_of(context.served, group.failure, group.text) if is_log else group.text
    return {
        "group": group,
        "words": redacted(context, text),
        "others": [redacted(context, each) for each in group.others],
        "lang": max(group.langs, key=lambda each: (group.langs[each], each)),
        "log": text if is_log else "",
        "last": date.fromisoformat(group.last),
        "counts": counts,
        "heights": [-(-count * BAR_HEIGHT // most) for count in counts],
        "answered": entry_link(context, context.library.summary(group.answered)) if group.answered else None,
    }


def _lists(context: PageContext, found: Maintenance) -> Iterator[tuple[str, list[Task]]]:
    """Yield the lists of the page, each with the key of its texts."""
    yield "voted", [_voted(context, each) for each in found.voted_down]
    yield "reported", [_reported(context, each) for each in found.reports]
    yield "unread", [_task(context, each, each.id) for each in found.never_read or ()]
    yield "stale", [_task(context, each, lang.own_name) for each, lang in found.stale]
    yield "missing", [_task(context, each, f"+ {lang.own_name}") for each, lang in found.missing]
    yield "problems", [_problem(context, each) for each in found.problems]
    yield "unverified", [_unverified(context, each) for each in found.unverified]
    yield "drafts", [_draft(each) for each in found.drafts]


def _task(context: PageContext, summary: Summary, beside: str) -> Task:
    return entry_link(context, summary), beside, summary.id


def _voted(context: PageContext, voted: VoteCount) -> Task:
    counts = context.t("maintain.voted_counts", no=voted.unsolved, yes=voted.solved)
    return _task(context, context.library.summary(voted.entry), f"{voted.lang.own_name} · {counts}")


def _reported(context: PageContext, report: Report) -> Task:
    day, reason = context.day(date.fromisoformat(report.day)), context.t(f"vote.why.{report.outcome}")
    beside = Markup(" · ").join((report.lang.own_name, day, reason))
    if report.text:
        beside += context.t("list.colon") + redacted(context, report.text)
    return _task(context, context.library.summary(report.entry), beside)


def _unverified(context: PageContext, summary: Summary) -> Task:
    verified = summary.validity.verified
    return _task(context, summary, context.day(verified.on) if verified else summary.id)


def _problem(context: PageContext, problem: Problem) -> Task:
    text = problem_text(problem.message, context.lang)
    return PageLink(f"{problem.path}:{problem.line}", ""), f"{problem.rule}: {text}", ""


def _draft(path: str) -> Task:
    return PageLink(path, ""), "", path.partition("/")[2].removesuffix(".md")
