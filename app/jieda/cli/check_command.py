"""`jieda check`: all content problems, for people, editors and continuous integration."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from jieda.cli.running import content_option, print_json, run
from jieda.content.check.everything import CheckReport, TriedAnswers, check_content, check_out
from jieda.content.check.findings import HINTS
from jieda.diagnosis.answers import Confidence
from jieda.entry import Language, Problem, printable
from jieda.errors import ContentError
from jieda.places import CONTENT
from jieda.search.answers import SearchRequest
from jieda.settings import Settings, content_directories
from jieda.snapshot.knowledge import Knowledge
from jieda.usecases.judge import judge


@click.command("check")
@content_option
@click.option(
    "--search",
    "searches",
    is_flag=True,
    help="Also build an index and note samples that are not diagnosed as their entry or match another one exactly,"
    " symptoms and aliases that do not find their entry, and glossary groups whose words find nothing. Takes longer.",
)
@click.option(
    "--changed-since",
    "revision",
    metavar="REV",
    default="",
    help="Report only what was caused by the work since it branched off from git revision REV: problems in changed"
    " files, uncommitted ones included, and problems elsewhere that did not exist before.",
)
@click.option(
    "--shipped",
    is_flag=True,
    help="Check the content directories together with the entries that come with Jieda, as if theirs were the first"
    " directory.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    *, directories: tuple[Path, ...], searches: bool, revision: str, shipped: bool, as_json: bool
) -> int:
    """Report the problems in the content as `path:line: rule: message`; exit with 1 if there are any.

    What a draft still lacks is printed as `path:line: draft: rule: message`, and what --search notes as
    `path:line: note: rule: message`; neither counts as a problem.
    """
    chosen = (*((CONTENT,) if shipped else ()), *content_directories(directories))
    report = run_check(chosen, searches=searches)
    whole = len(report.problems)
    if revision:
        report = _answerable_for(report, chosen, revision, searches=searches)
    if as_json:
        print_json(_as_data(report, chosen, revision))
    else:
        wrong = set(report.wrong)
        for problem in report.problems:
            click.echo(str(problem) if problem in wrong else _with_mark(problem, "draft"))
        for note in report.notes:
            click.echo(_with_mark(note, "note"))
    click.echo(_summary(report, revision, whole - len(report.problems)), err=True)
    return 1 if report.wrong else 0


def _with_mark(problem: Problem, mark: str) -> str:
    return printable(f"{problem.path}:{problem.line}: {mark}: {problem.rule}: {problem.message}")


def run_check(directories: tuple[Path, ...], *, searches: bool) -> CheckReport:
    """Run the whole check. Raises ContentError, JiedaError."""
    with trial_answers(directories) if searches else nullcontext() as answers:
        return check_content(directories, answers)


@contextmanager
def trial_answers(directories: tuple[Path, ...]) -> Iterator[TriedAnswers]:
    """Yield functions that search and diagnose the content, using an index in a temporary directory.

    Raises ContentError as `check_content` does, JiedaError where nothing can be written there.
    """
    with TemporaryDirectory(prefix="jieda-") as data:
        knowledge = Knowledge(Settings.load(os.environ, content=directories, data=data))
        knowledge.build()
        snapshot = knowledge.snapshot

        def diagnosed(log: str, framework: str) -> dict[str, bool]:
            found = judge(snapshot, SearchRequest(log, frameworks=(framework,) if framework else ()))
            return {match.entry.id: match.confidence is Confidence.EXACT for match in found.matches}

        def answered(text: str, lang: Language) -> list[str]:
            return [match.entry.id for match in judge(snapshot, SearchRequest(text, lang)).matches]

        yield TriedAnswers(snapshot.searcher.has_words, diagnosed, answered)


def _answerable_for(
    report: CheckReport, directories: tuple[Path, ...], revision: str, *, searches: bool
) -> CheckReport:
    with check_out(directories, revision) as earlier:
        try:
            before = run_check(earlier.directories, searches=searches)
        except ContentError:
            # Nothing was served then, so every problem is new.
            return report
        return replace(
            report,
            problems=earlier.select_new(report.problems, before.problems),
            notes=earlier.select_new(report.notes, before.notes),
        )


def _summary(report: CheckReport, revision: str, older: int) -> str:
    wrong = report.wrong
    files = len({problem.path for problem in wrong})
    found = f"{_count(len(wrong), 'problem')} in {_count(files, 'file')}" if files else "no problems"
    since = f" since {revision}; {older} older ones are not shown" if revision else ""
    left = len(report.problems) - len(wrong)
    drafts = len({problem.path for problem in report.problems} & report.drafts)
    lacking = f"; {_count(left, 'open point')} in {_count(drafts, 'draft')}" if left else ""
    served = f"{_count(report.entries, 'entry')} in {_count(report.editions, 'edition')}"
    return f"{served}: {found}{since}{lacking}"


def _count(count: int, what: str) -> str:
    several = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{count} {what if count == 1 else several}"


def _as_data(report: CheckReport, directories: tuple[Path, ...], revision: str) -> dict[str, Any]:
    return {
        "entries": report.entries,
        "editions": report.editions,
        "changed_since": revision or None,
        "problems": [_problem_data(each, directories, _severity(each, report)) for each in report.problems],
        "notes": [_problem_data(each, directories, "note") for each in report.notes],
    }


def _severity(problem: Problem, report: CheckReport) -> str:
    if not problem.served:
        return "error"
    return "note" if problem.path in report.drafts else "warning"


def _problem_data(problem: Problem, directories: tuple[Path, ...], severity: str) -> dict[str, Any]:
    holders = [each for each in directories if os.path.lexists(each / problem.path)]
    return {
        "file": problem.path,
        "path": str((holders or directories)[-1] / problem.path),
        "line": problem.line,
        "severity": severity,
        "rule": problem.rule,
        "message": problem.message,
        "hint": HINTS.get(problem.rule, ""),
        "draft": problem.draft,
    }


if __name__ == "__main__":
    run(command)
