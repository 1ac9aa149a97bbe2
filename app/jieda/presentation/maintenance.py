"""Open work for maintainers, as JSON and as text for a terminal."""

from collections.abc import Iterator, Sequence

from jieda.entry import Language, Summary
from jieda.feedback import GapOutcome
from jieda.usecases.gaps.maintenance import UNVERIFIED_DAYS, GapGroup, Maintenance

WIDTH = 100
"""Characters printed of a gap."""
LISTS = "gaps voted_down reports never_read stale missing problems drafts unverified".split()
"""Fields of `Maintenance` that list work."""


def as_data(found: Maintenance, data: str, limit: int) -> dict[str, object]:
    """Return JSON data; each list has at most `limit` items, `totals` counts all."""
    return {
        "data": data,
        "days": found.days,
        "unreadable": found.unreadable,
        "totals": {
            "asked": sum(each.count for each in found.gaps),
            **{name: len(getattr(found, name) or ()) for name in LISTS},
        },
        "gaps": [_gap(each) for each in found.gaps[:limit]],
        "voted_down": [
            {"id": each.entry.id, "lang": each.lang, "solved": each.solved, "unsolved": each.unsolved}
            for each in found.voted_down[:limit]
        ],
        "reports": [each._asdict() for each in found.reports[:limit]],
        "never_read": None if found.never_read is None else [each.id for each in found.never_read[:limit]],
        "stale": _editions(found.stale[:limit]),
        "missing": _editions(found.missing[:limit]),
        "problems": [
            {"path": each.path, "line": each.line, "rule": each.rule, "message": each.message}
            for each in found.problems[:limit]
        ],
        "drafts": list(found.drafts[:limit]),
        "unverified": [each.id for each in found.unverified[:limit]],
    }


def _gap(group: GapGroup) -> dict[str, object]:
    return {
        "source": group.source,
        "failure": group.kind,
        "text": group.text,
        "others": list(group.others),
        "count": group.count,
        "waiting": group.waiting,
        "answered": group.answered,
        "last": group.last,
        "days": dict(sorted(group.days.items())),
        "langs": {lang: group.langs[lang] for lang in Language if lang in group.langs},
        "outcomes": {each: group.outcomes[each] for each in GapOutcome if each in group.outcomes},
    }


def _editions(editions: Sequence[tuple[Summary, Language]]) -> list[dict[str, str]]:
    return [{"id": summary.id, "lang": lang} for summary, lang in editions]


def as_text(found: Maintenance, limit: int) -> str:
    """Return a table of the gaps, then one block per kind of task, with its command."""
    blocks = [_table(found, limit)]
    for title, command, lines in _blocks(found):
        if lines:
            more = [f"  … and {len(lines) - limit} more"] if len(lines) > limit else []
            blocks.append("\n".join([f"{title} ({len(lines)}): {command}", *lines[:limit], *more]))
    return "\n\n".join(blocks)


def _table(found: Maintenance, limit: int) -> str:
    if not found.gaps:
        return f"No unanswered question was recorded in the last {found.days} days."
    total = sum(each.count for each in found.gaps)
    asked = f"{total} times, {len(found.gaps)} questions"
    head = f"Unanswered questions of the last {found.days} days ({asked}): jieda new ID --kind KIND"
    rows = [f"{'times':>7}  {'last':10}  {'en':>5} {'zh':>5}  asked in  question"]
    for each in found.gaps[:limit]:
        langs = " ".join(f"{each.langs.get(lang, 0):5}" for lang in Language)
        rows.append(f"{each.count:7}  {each.last}  {langs}  {each.source:8}  {title_of(each)[:WIDTH]}")
    if len(found.gaps) > limit:
        rows.append(f"  … and {len(found.gaps) - limit} more")
    return "\n".join([head, *rows])


def title_of(group: GapGroup) -> str:
    """Return what was asked: the type of the root error, the words."""
    return ": ".join(filter(None, (group.kind.partition(" ")[0], group.text)))


def _blocks(found: Maintenance) -> Iterator[tuple[str, str, list[str]]]:
    voted = [
        f"{each.unsolved:7} no {each.solved:6} yes  {each.lang}  {each.entry.id}" for each in found.voted_down
    ]
    yield "Found, but voted down", "read and improve them", voted
    reports = [
        f"  {each.day}  {each.outcome:13}  {each.lang}  {each.entry}  {each.text}" for each in found.reports
    ]
    yield "Reported as no help", "see what is wrong with them", reports
    yield "Never read", "ask whether they are found", [f"  {each.id}" for each in found.never_read or ()]
    yield "Stale editions", "bring up to date, then jieda sync ID", _lines(found.stale)
    yield "Missing editions", "write the other language", _lines(found.missing)
    yield "Problems", "jieda check", [f"  {each}" for each in found.problems]
    unverified = [f"  {each.id}" for each in found.unverified]
    yield f"Not verified for {UNVERIFIED_DAYS} days", "try them, then set `verified`", unverified
    yield "Drafts", "finish them and remove `draft: true`", [f"  {each}" for each in found.drafts]


def _lines(editions: Sequence[tuple[Summary, Language]]) -> list[str]:
    return [f"  {lang}  {summary.id}" for summary, lang in editions]
