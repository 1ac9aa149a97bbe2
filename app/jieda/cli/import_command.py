"""`jieda import`: drafts of entries from pages of questions and answers, or from issue tracker threads."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from jieda.cli.asking import local_client
from jieda.cli.languages import lang_option, terminal_language
from jieda.cli.running import content_option, run, writing
from jieda.cli.thread_drafts import Drafter, ThreadDraft, ThreadGroup, diagnose_threads, group_threads
from jieda.content.authoring.writing import Create, carry_out
from jieda.content.read.load import Loaded
from jieda.entry import Language
from jieda.importing.plan import ImportPlan, ImportRequest, PlanRow, plan_import
from jieda.importing.propose import Status
from jieda.importing.sources import ImportSources
from jieda.importing.threads import read_threads
from jieda.locales.translations import Translations
from jieda.settings import content_directories

T = TypeVar("T")

MAX_TITLE = 60

WIDTHS = {Language.EN: (10, 8, 6), Language.ZH: (8, 6, 4)}
"""Column widths of status, kind and doubts: a Chinese character is as wide as two letters."""


def translator(lang: Language) -> Callable[..., str]:
    """Return the translator of the report, with keys below `importing`."""
    t = Translations.load().translator(lang)
    return lambda name, **values: t(f"importing.{name}", **values)


def _shorten(title: str) -> str:
    return title if len(title) <= MAX_TITLE else f"{title[: MAX_TITLE - 1]}…"


def report_lines(found: ImportPlan, lang: Language) -> Iterator[str]:
    """Yield the table; the changes of a changed entry follow its row."""
    t = translator(lang)
    yield _table_row([t(f"head.{name}") for name in ("status", "kind", "doubts", "id")], lang)
    for row in found.rows:
        title = row.titles.get(lang) or next(iter(row.titles.values()))
        kind = row.proposal.kind.value if row.proposal else ""
        doubts = str(len(row.proposal.doubts)) if row.proposal else ""
        yield _table_row([t(f"status.{row.status}"), kind, doubts, f"{row.id}: {_shorten(title)}"], lang)
        for change in row.changes:
            yield f"    {change.lang}/{row.id}.md: {t(f'standing.{change.standing}')}"
            yield from (f"      - {line}" for line in change.then)
            yield from (f"      + {line}" for line in change.now)
    for name, pages in (("pages.passed_over", found.passed_over), ("pages.empty", found.empty)):
        yield from (t(name, page=page) for page in pages)


def _table_row(cells: Sequence[str], lang: Language) -> str:
    (status, kind, doubts, said), (first, second, third) = cells, WIDTHS[lang]
    return f"{status:<{first}} {kind:<{second}} {doubts:>{third}}  {said}"


def summary_lines(found: ImportPlan, lang: Language, files: int | None) -> Iterator[str]:
    """Yield the totals and what was written; `files` is None for a dry run."""
    rows = found.rows
    count = {status.value: sum(row.status is status for row in rows) for status in Status}
    numbers = {
        "pages": len({row.page for row in rows}),
        "questions": sum(row.status is not Status.GONE for row in rows),
        "doubts": sum(len(row.proposal.doubts) for row in rows if row.proposal),
        "pairs": sum(len(row.titles) == len(Language) for row in rows),
    }
    t = translator(lang)
    yield t("pages.sum", **count, **numbers)
    yield t("dry") if files is None else t("written", files=files)


def print_import(found: ImportPlan, lang: Language, written: Sequence[Path] | None) -> None:
    """Print the table and the written files, None for a dry run."""
    for line in (*report_lines(found, lang), *map(str, written or ())):
        click.echo(line)
    for line in summary_lines(found, lang, None if written is None else len(written)):
        click.echo(line, err=True)


def import_data(found: ImportPlan, written: Iterable[Path]) -> dict[str, Any]:
    """Return the plan as JSON data: {entries, passed_over, empty, written}, each entry with its editions and lines."""
    return {
        "entries": [_row_data(row) for row in found.rows],
        "passed_over": list(found.passed_over),
        "empty": list(found.empty),
        "written": [str(path) for path in written],
    }


def _row_data(row: PlanRow) -> dict[str, Any]:
    data: dict[str, Any] = {"id": row.id, "status": row.status, "page": row.page}
    data["titles"] = {lang.value: title for lang, title in row.titles.items()}
    if row.proposal is None:
        return data
    proposal, candidate = row.proposal, row.proposal.candidate
    pages = candidate.pair.pages
    return data | {
        "kind": proposal.kind,
        "topics": proposal.topics,
        "error_types": proposal.error_types,
        "signatures": proposal.signatures,
        "shared": round(candidate.shared, 3),
        "sure": candidate.sure,
        "editions": {
            lang.value: {
                "title": question.title,
                "file": str(pages[lang].path),
                "line": pages[lang].line_of(question.first) + 1,
                "end": pages[lang].line_of(question.end - 1) + 1,
                "categories": question.categories,
                "anchor": question.anchor,
                "style": question.style,
                "doubts": [each.say(lang) for each in proposal.editions[lang].doubts],
            }
            for lang, question in candidate.found.items()
        },
        "changes": [asdict(change) for change in row.changes],
    }


PAGE = click.Path(exists=True, path_type=Path)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the command line, by parameter name."""

    pages: tuple[Path, ...]
    en: Path | None
    zh: Path | None
    framework: str
    url_en: str
    url_zh: str
    license_: str
    updated: datetime | None
    dry_run: bool
    accept: bool
    as_json: bool
    lang: str | None
    issues: Path | None
    directories: tuple[Path, ...]

    def language(self) -> Language:
        return Language(self.lang) if self.lang else terminal_language()

    def request(self) -> ImportRequest:
        """Return what to import. Raises UsageError where no page is named."""
        roots = {Language(name): root for name, root in (("en", self.en), ("zh", self.zh)) if root}
        if not roots and not self.pages:
            raise click.UsageError("Name pages, or use --en and --zh.")
        addresses = {Language.EN: self.url_en, Language.ZH: self.url_zh}
        return ImportRequest(
            given=ImportSources(roots, self.pages, addresses),
            directories=content_directories(self.directories),
            framework=self.framework,
            license=self.license_,
            updated=self.updated.date() if self.updated else None,
            accept=self.accept,
        )


@click.command("import")
@click.argument("pages", metavar="[PAGE]...", nargs=-1, type=PAGE)
@click.option("--en", type=PAGE, help="English page, or directory of pages.")
@click.option("--zh", type=PAGE, help="Chinese page, directory of pages, or gettext catalogue.")
@click.option(
    "--framework", required=True, help="The framework (of taxonomy.yaml) that the entries are about."
)
@click.option("--url-en", default="", metavar="URL", help="Web address of the English page or directory.")
@click.option("--url-zh", default="", metavar="URL", help="Web address of the Chinese page or directory.")
@click.option(
    "--license", "license_", default="", metavar="ID", help="License of the pages, such as Apache-2.0."
)
@click.option("--updated", type=click.DateTime(["%Y-%m-%d"]), help="Date of the pages.")
@click.option(
    "--issues",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Issue tracker threads instead of pages: the output of gh issue list --json, or a GitLab or Gitee export.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be done; write nothing.")
@click.option("--accept", is_flag=True, help="Mark the changes shown as dealt with, and stop showing them.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@lang_option("terminal", "messages")
@content_option
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Turn question-and-answer pages into drafts of entries in the (last) content directory.

    PAGE is a file or a directory: Markdown, MDX, HTML, reStructuredText or a gettext catalogue; --en and --zh name
    pages that are translations of each other. Existing files are never overwritten; of a page that was imported before,
    the changes are shown. Exit code: 0 if questions were found, 1 if there were none or a named page has none, 2 if a
    page cannot be read.
    """
    options = Options(**given)
    if options.issues:
        context.exit(_import_threads(options.issues, options))
    request, language = options.request(), options.language()
    found = plan_import(request, ProgressBar(language))
    with writing():
        written = [] if options.dry_run else found.write(request.directories[-1])
    if options.as_json:
        click.echo(json.dumps(import_data(found, written), ensure_ascii=False, indent=2))
    else:
        print_import(found, language, None if options.dry_run else written)
    context.exit(0 if found.rows and not found.empty else 1)


class ProgressBar:
    """A progress bar for the first long run (pages or threads), then for the second (entries)."""

    def __init__(self, lang: Language, first: str = "pages") -> None:
        t = translator(lang)
        self._labels = iter((t(f"reading.{first}"), t("reading.drafts")))

    def __call__(self, items: Sequence[T], /) -> Iterator[T]:
        with click.progressbar(items, label=next(self._labels, ""), file=sys.stderr) as bar:
            yield from bar


def _import_threads(file: Path, options: Options) -> int:
    """Import threads and return the exit code: 0 where there were threads, else 1. Raises JiedaError."""
    if options.pages or options.en or options.zh or options.accept:
        raise click.UsageError("--issues cannot be combined with pages: import these separately.")
    framework, lang, dry_run = options.framework, options.language(), options.dry_run
    progress = ProgressBar(lang, "threads")
    threads = read_threads(file)
    snapshot = local_client(options.directories).service.current()
    chosen = content_directories(options.directories)
    content = Loaded(chosen)
    if framework not in content.corpus.taxonomy.framework:
        known = ", ".join(content.corpus.taxonomy.framework)
        raise click.UsageError(f"unknown framework {framework!r}; choose from {known}")
    groups = group_threads(snapshot, diagnose_threads(snapshot, content, threads, framework, progress))
    drafter = Drafter(content, framework, groups, datetime.now(UTC).date())
    open_groups = [group for group in groups if not group.entry]
    drafts = [drafter.draft(group) for group in progress(open_groups)]
    steps = [
        Create(chosen[-1] / where, text.encode()) for each in drafts for where, text in each.files.items()
    ]
    if not dry_run:
        with writing():
            carry_out(tuple(steps))
    if options.as_json:
        click.echo(json.dumps(_threads_data(groups, drafts, dry_run=dry_run), ensure_ascii=False, indent=2))
        return 0 if threads else 1
    for line in _thread_lines(groups, drafts, lang):
        click.echo(line)
    t = translator(lang)
    click.echo(t("dry") if dry_run else t("written", files=len(steps)), err=True)
    return 0 if threads else 1


def _thread_lines(
    groups: Sequence[ThreadGroup], drafts: Sequence[ThreadDraft], lang: Language
) -> Iterator[str]:
    t = translator(lang)
    yield t("threads.head")
    for each in drafts:
        title, (count, reactions, comments) = each.group.first.thread.title, each.group.weight
        solved = "✓" if each.group.solved_by else ""
        yield f"{count:7}  {reactions:9}  {comments:8}  {solved:6}  {each.id}: {_shorten(title)}"
    answered: dict[str, list[str]] = {}
    for group in groups:
        if group.entry:
            answered.setdefault(group.entry, []).extend(each.thread.url for each in group.members)
    for entry_id, urls in sorted(answered.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        yield t("threads.answered", id=entry_id, count=len(urls), urls=" ".join(urls))
    yield t(
        "threads.sum",
        threads=sum(len(group.members) for group in groups),
        groups=len(groups),
        answered=sum(bool(group.entry) for group in groups),
        drafts=len(drafts),
        solved=sum(each.group.solved_by is not None for each in drafts),
    )


def _threads_data(
    groups: Sequence[ThreadGroup], drafts: Sequence[ThreadDraft], *, dry_run: bool
) -> dict[str, object]:
    """Return {groups, written}: each group with its threads, weight, and the entry that answers it or its draft."""
    ids = {id(each.group): each.id for each in drafts}
    return {
        "groups": [
            {
                "threads": [each.thread.url for each in group.members],
                "failure": group.first.shape,
                "reactions": group.weight[1],
                "comments": group.weight[2],
                "answered_by": group.entry,
                "solved_by": group.solved_by.url if group.solved_by else "",
                "draft": ids.get(id(group), ""),
            }
            for group in groups
        ],
        "written": [] if dry_run else [where for each in drafts for where in each.files],
    }


if __name__ == "__main__":
    run(command)
