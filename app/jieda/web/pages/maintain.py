"""The maintenance page: first the questions without an answer, then problems of the entries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from jieda.entry import Language, Problem, Summary
from jieda.feedback import GapOutcome, GapSource, Report, first_day
from jieda.presentation.problem_text import problem_text
from jieda.usecases.gaps.awaited import line_of
from jieda.usecases.gaps.grouping import GapGroup
from jieda.usecases.gaps.maintenance import Maintenance, VotedDown, maintenance
from jieda.web.pages.context import PageContext, context_of, page_answer
from jieda.web.pages.layout import Head, render_page
from jieda.web.pages.parts import Fragment, PageLink, entry_link, fragments_of, lang_attribute

WEEK = 7
BAR_HEIGHT = 20
BAR_WIDTH = 8


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a chart, in its units, from the top left."""

    x: int
    y: int
    height: int


def bar_spans(days: int) -> Sequence[tuple[str, str]]:
    """Return the first and last day of each bar, oldest first: weeks ending today, or single days within a week."""
    length = WEEK if days > WEEK else 1
    last = date.fromisoformat(first_day(1))
    ends = [last - timedelta(days=back) for back in range(0, days, length)]
    return [((end - timedelta(days=length - 1)).isoformat(), end.isoformat()) for end in reversed(ends)]


def counts_of(group: GapGroup, days: int) -> Sequence[int]:
    """Return how often a question was asked in each span."""
    return [
        sum(count for day, count in group.days.items() if first <= day <= last)
        for first, last in bar_spans(days)
    ]


def bars_of(counts: Sequence[int]) -> tuple[Bar, ...]:
    """Return counts as bars, oldest first, scaled to the highest."""
    most = max(counts, default=0) or 1
    heights = [-(-count * BAR_HEIGHT // most) for count in counts]
    return tuple(
        Bar(place * BAR_WIDTH, BAR_HEIGHT - height, height) for place, height in enumerate(heights) if height
    )


PERIODS = (7, 30, 90)
"""Periods to choose from, in days; the last is the default."""
SHOWN, FOLDED = 10, 200
"""Items of a list that are visible, and those that are collapsed."""


@dataclass(frozen=True, slots=True)
class GapView:
    """A question without an answer. `log` is what the workbench drafts from, empty for a search. `course` puts the bars
    into words; `waiting` counts people who hold a link; `answered` links to the entry that now answers it."""

    count: str
    words: tuple[Fragment, ...]
    lang: str
    asked_in: str
    outcomes: str
    langs: tuple[str, ...]
    last: str
    last_iso: str
    others: tuple[tuple[Fragment, ...], ...]
    bars: tuple[Bar, ...]
    course: str
    waiting: str
    answered: PageLink | None
    log: str


@dataclass(frozen=True, slots=True)
class Task:
    """An entry or file to work on, a note beside it, and the address where it is edited, or empty."""

    main: PageLink
    beside: str
    edit: str


@dataclass(frozen=True, slots=True)
class TaskList:
    """A list of the page. `what` says what to do, `total` counts all items, `unknown` says why they are not known."""

    key: str
    title: str
    what: str
    total: int
    shown: tuple[Task, ...]
    folded: tuple[Task, ...]
    left_out: str
    unknown: str


@dataclass(frozen=True, slots=True)
class MaintainView:
    """The view of `maintain.html`. `notices` explain missing data."""

    notices: tuple[str, ...]
    periods: tuple[tuple[PageLink, bool], ...]
    gap_total: int
    gaps: tuple[GapView, ...]
    more_gaps: tuple[GapView, ...]
    left_out: str
    lists: tuple[TaskList, ...]
    done: str
    """Names of the empty lists, or empty."""
    width: int
    height: int = BAR_HEIGHT


async def show_maintenance(request: Request) -> Response:
    """Show the page to maintainers."""
    context = await context_of(request)
    given = request.query_params.get("days", "")
    days = next((each for each in PERIODS if str(each) == given), PERIODS[-1])
    html = await context.site.service.offload(partial(maintain_page, context, days))
    return await page_answer(request, context, html)


def maintain_page(context: PageContext, days: int) -> str:
    """Render the page with the questions of the last `days`. Reads the store of feedback: call it off the event
    loop."""
    found = maintenance(context.site.service, context.served, days)
    head = Head(
        name="maintain",
        title=f"{context.t('maintain.title')} · {context.t('site.name')}",
        description=context.t("maintain.lead"),
        here=lambda lang: context.urls.maintain(lang, days=days if days != PERIODS[-1] else None),
        indexed=False,
    )
    return render_page(context, "maintain.html", head, _view(context, found))


def _view(context: PageContext, found: Maintenance) -> MaintainView:
    gaps = tuple(_gap(context, each, found.days) for each in found.gaps[: SHOWN + FOLDED])
    lists = tuple(_lists(context, found))
    return MaintainView(
        notices=tuple(_notices(context, found)),
        periods=tuple((_period(context, each), each == found.days) for each in PERIODS),
        gap_total=len(found.gaps),
        gaps=gaps[:SHOWN],
        more_gaps=gaps[SHOWN:],
        left_out=_left_out(context, len(found.gaps)),
        lists=tuple(each for each in lists if each.total or each.unknown),
        done=context.t("list.join").join(each.title for each in lists if not (each.total or each.unknown)),
        width=BAR_WIDTH * len(bar_spans(found.days)),
    )


def _period(context: PageContext, days: int) -> PageLink:
    return PageLink(context.t("maintain.days", days=days), context.urls.maintain(context.lang, days=days))


def _notices(context: PageContext, found: Maintenance) -> Iterator[str]:
    if not context.site.settings.gaps:
        yield context.t("maintain.off")
    if found.unreadable:
        yield context.t("maintain.unreadable", reason=found.unreadable)


def _left_out(context: PageContext, total: int) -> str:
    rest = total - SHOWN - FOLDED
    return context.t("maintain.too_many", count=rest, limit=str(total)) if rest > 0 else ""


def _gap(context: PageContext, group: GapGroup, days: int) -> GapView:
    t, is_log = context.t, group.source is GapSource.LOG
    last = date.fromisoformat(group.last)
    lang = max(group.langs, key=lambda each: (group.langs[each], each))
    counts = counts_of(group, days)
    said = line_of(context.served, group.kind, group.text) if is_log else group.text
    outcomes = (t(f"maintain.outcome.{each}") for each in GapOutcome if each in group.outcomes)
    return GapView(
        count=f"{group.count:,}",
        words=fragments_of(said, t),
        lang=lang_attribute(context, lang),
        asked_in=t("maintain.asked_log" if is_log else "maintain.asked_search"),
        outcomes=t("list.join").join(outcomes),
        langs=tuple(f"{each.own_name} {group.langs[each]:,}" for each in Language if each in group.langs),
        last=t("maintain.last", day=context.day(last)),
        last_iso=group.last,
        others=tuple(fragments_of(each, t) for each in group.others),
        bars=bars_of(counts),
        course=t(
            "maintain.course" if days > WEEK else "maintain.course_days",
            counts=t("list.join").join(map(str, counts)),
        ),
        waiting=t("maintain.waiting", count=group.waiting) if group.waiting else "",
        answered=entry_link(context, context.library.summary(group.answered)) if group.answered else None,
        log=said if is_log else "",
    )


def _lists(context: PageContext, found: Maintenance) -> Iterator[TaskList]:
    yield _list(context, "voted", [_voted(context, each) for each in found.voted_down])
    yield _list(context, "reported", [_reported(context, each) for each in found.reports])
    unread = [_item(context, each) for each in found.never_read or ()]
    unknown = context.t("maintain.unread_unknown") if found.never_read is None else ""
    yield _list(context, "unread", unread, unknown)
    yield _list(context, "stale", [_item(context, each, lang.own_name) for each, lang in found.stale])
    yield _list(
        context, "missing", [_item(context, each, f"+ {lang.own_name}") for each, lang in found.missing]
    )
    yield _list(context, "problems", [_problem(context, each) for each in found.problems])
    yield _list(context, "unverified", [_unverified(context, each) for each in found.unverified])
    yield _list(context, "drafts", [_draft(context, each) for each in found.drafts])


def _list(context: PageContext, key: str, items: Sequence[Task], unknown: str = "") -> TaskList:
    return TaskList(
        key=key,
        title=context.t(f"maintain.{key}"),
        what=context.t(f"maintain.{key}_what"),
        total=len(items),
        shown=tuple(items[:SHOWN]),
        folded=tuple(items[SHOWN : SHOWN + FOLDED]),
        left_out=_left_out(context, len(items)),
        unknown=unknown,
    )


def _item(context: PageContext, summary: Summary, beside: str = "") -> Task:
    edit = context.urls.workbench(context.lang, entry=summary.id)
    return Task(entry_link(context, summary), beside or summary.id, edit)


def _voted(context: PageContext, voted: VotedDown) -> Task:
    counts = context.t("maintain.voted_counts", no=voted.unsolved, yes=voted.solved)
    return _item(context, voted.entry, f"{voted.lang.own_name} · {counts}")


def _reported(context: PageContext, report: Report) -> Task:
    said = ": ".join(filter(None, (context.t(f"vote.why.{report.outcome}"), report.text)))
    beside = f"{report.lang.own_name} · {context.day(date.fromisoformat(report.day))} · {said}"
    return _item(context, context.library.summary(report.entry), beside)


def _unverified(context: PageContext, summary: Summary) -> Task:
    verified = summary.validity.verified
    return _item(context, summary, context.day(verified.on) if verified else "")


def _problem(context: PageContext, problem: Problem) -> Task:
    text = problem_text(problem.message, context.lang)
    return Task(PageLink(f"{problem.path}:{problem.line}", ""), f"{problem.rule}: {text}", "")


def _draft(context: PageContext, where: str) -> Task:
    entry_id = where.partition("/")[2].removesuffix(".md")
    return Task(PageLink(where, ""), "", context.urls.workbench(context.lang, entry=entry_id))
