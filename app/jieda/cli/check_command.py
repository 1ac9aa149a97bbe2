"""`jieda check`: all content problems, for people, editors and continuous integration."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from jieda.cli.asking import lang_option
from jieda.cli.running import content_option, print_json
from jieda.entry import Language, Problem, escape_controls
from jieda.errors import ContentError
from jieda.locales.translations import Translate, translator
from jieda.places import CONTENT
from jieda.presentation.problem_text import problem_text
from jieda.settings import Settings, content_directories
from jieda.snapshot.knowledge import Knowledge
from jieda.usecases.check import CheckReport, check_content, check_out


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
@lang_option("terminal", "messages")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(  # noqa: PLR0913 - one parameter for each option
    *,
    directories: tuple[Path, ...],
    searches: bool,
    revision: str,
    shipped: bool,
    lang: Language,
    as_json: bool,
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
    text = _ReportText(report, lang, translator(lang))
    if as_json:
        print_json(text.data(chosen, revision))
    else:
        for line in text.lines():
            click.echo(line)
    click.echo(text.summary(revision, whole - len(report.problems)), err=True)
    return 1 if report.wrong else 0


def run_check(directories: tuple[Path, ...], *, searches: bool) -> CheckReport:
    """Run the whole check, with an index in a temporary directory if it `searches`. Raises JiedaError."""
    if not searches:
        return check_content(directories)
    with TemporaryDirectory(prefix="jieda-") as data:
        knowledge = Knowledge(Settings.load(os.environ, content=directories, data=data))
        knowledge.build()
        return check_content(directories, knowledge.snapshot)


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


@dataclass(frozen=True, slots=True)
class _ReportText:
    """A report in a language; `t` translates into it."""

    report: CheckReport
    lang: Language
    t: Translate

    def lines(self) -> Iterator[str]:
        """Yield the lines for the terminal."""
        wrong = set(self.report.wrong)
        for problem in self.report.problems:
            yield self._line(problem, "" if problem in wrong else "draft: ")
        for note in self.report.notes:
            yield self._line(note, "note: ")

    def _line(self, problem: Problem, mark: str) -> str:
        return escape_controls(
            f"{problem.path}:{problem.line}: {mark}{problem.rule}: {self._message(problem)}"
        )

    def _message(self, problem: Problem) -> str:
        return problem_text(problem.message, self.lang, "terminal")

    def summary(self, revision: str, older: int) -> str:
        """Return the result in one line, from which `older` problems, those from before `revision`, are left out."""
        report, wrong = self.report, self.report.wrong
        found = self.t("check.none")
        if wrong:
            files = self._count("files", len({problem.path for problem in wrong}))
            found = self.t("check.found", problems=self._count("problems", len(wrong)), files=files)
        if revision:
            found = self.t("check.since", found=found, revision=revision, older=older)
        if left := len(report.problems) - len(wrong):
            drafts = self._count("drafts", len({problem.path for problem in report.problems} & report.drafts))
            found = self.t("check.lacking", found=found, points=self._count("points", left), drafts=drafts)
        entries, editions = self._count("entries", report.entries), self._count("editions", report.editions)
        return self.t("check.summary", entries=entries, editions=editions, found=found)

    def _count(self, what: str, count: int) -> str:
        return self.t(f"count.{what}", count=count)

    def data(self, directories: tuple[Path, ...], revision: str) -> dict[str, Any]:
        """Return the report for programs."""
        report = self.report
        return {
            "entries": report.entries,
            "editions": report.editions,
            "changed_since": revision or None,
            "problems": [
                self._problem(each, directories, _severity(each, report)) for each in report.problems
            ],
            "notes": [self._problem(each, directories, "note") for each in report.notes],
        }

    def _problem(self, problem: Problem, directories: tuple[Path, ...], severity: str) -> dict[str, Any]:
        existing = [each for each in directories if os.path.lexists(each / problem.path)]
        return {
            "file": problem.path,
            "path": str((existing or directories)[-1] / problem.path),
            "line": problem.line,
            "severity": severity,
            "rule": problem.rule,
            "message": self._message(problem),
            "hint": self.t(f"check.hint.{problem.rule}"),
            "draft": problem.draft,
        }


def _severity(problem: Problem, report: CheckReport) -> str:
    if not problem.served:
        return "error"
    return "note" if problem.path in report.drafts else "warning"
