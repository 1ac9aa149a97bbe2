"""`jieda import`: drafts of entries from pages of questions and answers, or from issue tracker threads."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

import click

from jieda.cli.asking import lang_option, local_client
from jieda.cli.running import content_option, day, print_json
from jieda.cli.thread_drafts import Drafter, ThreadDraft, ThreadGroup, diagnose_threads, group_threads
from jieda.content.authoring.writing import Create, carry_out
from jieda.content.read.load import Loaded
from jieda.entry import Language
from jieda.importing.plan import ImportPlan, ImportRequest, PlanRow, plan_import
from jieda.importing.propose import Status
from jieda.importing.sources import ImportSources
from jieda.importing.threads import read_threads
from jieda.locales.translations import Translate, translator
from jieda.presentation.diagnosis_text import cut
from jieda.settings import content_directories

T = TypeVar("T")

MAX_TITLE = 60
MOST_LEFT_OUT = 5
"""Sections per page that are named as left out; `--json` names all."""

ROWS = {Language.EN: "{:<10} {:<8} {:>6}  {}", Language.ZH: "{:<8} {:<6} {:>4}  {}"}
"""Status, kind, doubts and entry of a question. A Chinese character is as wide as two letters."""

PAGE = click.Path(exists=True, path_type=Path)


@click.command("import")
@click.argument("pages", metavar="[PAGE]...", nargs=-1, type=PAGE)
@click.option("--en", type=PAGE, help="English page, or directory of pages.")
@click.option("--zh", type=PAGE, help="Chinese page, directory of pages, or gettext catalog.")
@click.option(
    "--framework", required=True, help="The framework (of taxonomy.yaml) that the entries are about."
)
@click.option("--url-en", default="", metavar="URL", help="Web address of the English page or directory.")
@click.option("--url-zh", default="", metavar="URL", help="Web address of the Chinese page or directory.")
@click.option(
    "--license", "license_", default="", metavar="ID", help="License of the pages, such as Apache-2.0."
)
@click.option("--updated", type=day, help="Date of the pages, such as 2026-01-31.")
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
def command(  # noqa: PLR0913 - one parameter for each option
    *,
    pages: tuple[Path, ...],
    en: Path | None,
    zh: Path | None,
    framework: str,
    url_en: str,
    url_zh: str,
    license_: str,
    updated: date | None,
    issues: Path | None,
    dry_run: bool,
    accept: bool,
    as_json: bool,
    lang: Language,
    directories: tuple[Path, ...],
) -> int:
    """Turn question-and-answer pages into drafts of entries in the (last) content directory.

    PAGE is a file or a directory: Markdown, MDX, HTML, reStructuredText or a gettext catalog; --en and --zh name
    pages that are translations of each other. Existing files are never overwritten; of a page that was imported before,
    the changes are shown. Exit code: 0 if questions were found, 1 if there were none or a named page has none, 2 if a
    page cannot be read.
    """
    roots = {Language(name): root for name, root in (("en", en), ("zh", zh)) if root}
    if issues:
        if pages or roots or accept or url_en or url_zh or license_ or updated:
            raise click.UsageError(
                "--issues cannot be combined with pages or with their options: import them separately."
            )
        return import_threads(issues, framework, directories, lang, dry_run=dry_run, as_json=as_json)
    if not pages and not roots:
        raise click.UsageError("Name pages, or use --en and --zh.")
    sources = ImportSources(roots, pages, {Language.EN: url_en, Language.ZH: url_zh})
    request = ImportRequest(sources, content_directories(directories), framework, license_, updated, accept)
    return import_pages(request, lang, dry_run=dry_run, as_json=as_json)


def report_translator(lang: Language) -> Translate:
    """Return the translator of the report, with keys below `importing`."""
    t = translator(lang)
    return lambda name, **values: t(f"importing.{name}", **values)


class ProgressBar:
    """A progress bar for the first long step (pages or threads), then for the second (entries)."""

    def __init__(self, t: Translate, first: str = "pages") -> None:
        self._labels = iter((t(f"reading.{first}"), t("reading.drafts")))

    def __call__(self, items: Sequence[T], /) -> Iterator[T]:
        with click.progressbar(items, label=next(self._labels, ""), file=sys.stderr) as bar:
            yield from bar


def import_pages(
    request: ImportRequest, lang: Language, *, dry_run: bool = False, as_json: bool = False
) -> int:
    """Import pages and print a report; return 0 if all named pages have questions, else 1. Raises JiedaError."""
    t = report_translator(lang)
    found = plan_import(request, ProgressBar(t))
    written = [] if dry_run else [str(path) for path in found.write(request.directories[-1])]
    if as_json:
        left_out = [
            {"page": page} | asdict(section)
            for page, sections in found.left_out.items()
            for section in sections
        ]
        data: dict[str, Any] = {"entries": list(map(_row_data, found.rows)), "left_out": left_out}
        data |= {"passed_over": found.passed_over, "empty": found.empty, "written": written}
        print_json(data)
    else:
        for line in (*_page_lines(found, lang, t), *written):
            click.echo(line)
        click.echo(_page_summary(found, t), err=True)
        _print_written(len(written), t, dry_run=dry_run)
    return 0 if found.rows and not found.empty else 1


def _print_written(files: int, t: Translate, *, dry_run: bool) -> None:
    if dry_run or files:
        click.echo(t("dry") if dry_run else t("written", files=files), err=True)


def _page_lines(found: ImportPlan, lang: Language, t: Translate) -> Iterator[str]:
    """Yield the table; the changes of a changed entry follow its row."""
    columns = ROWS[lang]
    yield columns.format(*(t(f"head.{name}") for name in ("status", "kind", "doubts", "id")))
    for row in found.rows:
        title = row.titles.get(lang) or next(iter(row.titles.values()))
        kind, doubts = (row.proposal.front.kind.value, len(row.proposal.doubts)) if row.proposal else ("", "")
        yield columns.format(t(f"status.{row.status}"), kind, doubts, f"{row.id}: {cut(title, MAX_TITLE)}")
        for change in row.changes:
            yield f"    {change.lang}/{row.id}.md: {t(f'standing.{change.standing}')}"
            yield from (f"      - {line}" for line in change.then)
            yield from (f"      + {line}" for line in change.now)
    yield from _left_out_lines(found, t)
    yield from (t("pages.passed_over", page=page) for page in found.passed_over)
    yield from (t("pages.empty", page=page) for page in found.empty)


def _left_out_lines(found: ImportPlan, t: Translate) -> Iterator[str]:
    for page, sections in found.left_out.items():
        for why in ("around", "outside"):
            titles = [cut(each.title, MAX_TITLE) for each in sections if each.outside == (why == "outside")]
            more = f" … ({len(titles)})" if len(titles) > MOST_LEFT_OUT else ""
            if titles:
                text = " · ".join(titles[:MOST_LEFT_OUT]) + more
                yield t(f"pages.{why}", page=page, titles=text)


def _page_summary(found: ImportPlan, t: Translate) -> str:
    rows = found.rows
    return t(
        "pages.sum",
        **{status.value: sum(row.status is status for row in rows) for status in Status},
        pages=len({row.page for row in rows}),
        questions=sum(row.status is not Status.GONE for row in rows),
        doubts=sum(len(row.proposal.doubts) for row in rows if row.proposal),
        pairs=sum(len(row.titles) == len(Language) for row in rows),
    )


def _row_data(row: PlanRow) -> dict[str, Any]:
    data: dict[str, Any] = {"id": row.id, "status": row.status, "page": row.page, "titles": dict(row.titles)}
    if row.proposal is None:
        return data
    proposal, candidate = row.proposal, row.proposal.candidate
    pages = candidate.pair.pages
    return data | {
        "kind": proposal.front.kind,
        "topics": proposal.front.topics,
        "error_types": proposal.front.error_types,
        "signatures": [signature.all[0] for signature in proposal.front.signatures],
        "shared": round(candidate.similarity, 3),
        "sure": candidate.sure,
        "editions": {
            lang: {
                "title": question.title,
                "file": str(pages[lang].path),
                "line": pages[lang].line_of(question.first) + 1,
                "end": pages[lang].line_of(question.end - 1) + 1,
                "categories": question.categories,
                "anchor": question.anchor,
                "style": question.style,
                "doubts": [each.render(lang) for each in proposal.editions[lang].doubts],
            }
            for lang, question in candidate.questions.items()
        },
        "changes": [asdict(change) for change in row.changes],
    }


def import_threads(  # noqa: PLR0913 - one parameter for each option
    file: Path, framework: str, directories: tuple[Path, ...], lang: Language, *, dry_run: bool, as_json: bool
) -> int:
    """Import threads and print a report; return 0 if there were any threads, else 1. Raises JiedaError."""
    t = report_translator(lang)
    progress = ProgressBar(t, "threads")
    threads = read_threads(file)
    snapshot = local_client(directories).service.current()
    chosen = content_directories(directories)
    content = Loaded(chosen)
    if framework not in content.corpus.taxonomy.framework:
        known = ", ".join(content.corpus.taxonomy.framework)
        raise click.UsageError(f"unknown framework {framework!r}; choose from {known}")
    groups = group_threads(snapshot, diagnose_threads(snapshot, content, threads, framework, progress))
    drafter = Drafter(content, framework, groups)
    drafts = [drafter.draft(group) for group in progress([group for group in groups if not group.entry])]
    files = {chosen[-1] / where: text for each in drafts for where, text in each.files.items()}
    if not dry_run:
        carry_out([Create(path, text.encode()) for path, text in files.items()])
    written = [] if dry_run else [*map(str, files)]
    if as_json:
        print_json({"groups": _group_data(groups, drafts), "written": written})
    else:
        for line in (*_thread_lines(groups, drafts, t), *written):
            click.echo(line)
        _print_written(len(written), t, dry_run=dry_run)
    return 0 if threads else 1


def _thread_lines(
    groups: Sequence[ThreadGroup], drafts: Sequence[ThreadDraft], t: Translate
) -> Iterator[str]:
    yield t("threads.head")
    for each in drafts:
        title, (count, reactions, comments) = each.group.first.thread.title, each.group.weight
        solved = "✓" if each.group.solved_by else ""
        yield f"{count:7}  {reactions:9}  {comments:8}  {solved:6}  {each.id}: {cut(title, MAX_TITLE)}"
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
        answered=len(groups) - len(drafts),
        drafts=len(drafts),
        solved=sum(each.group.solved_by is not None for each in drafts),
    )


def _group_data(groups: Sequence[ThreadGroup], drafts: Sequence[ThreadDraft]) -> list[dict[str, object]]:
    ids = {id(each.group): each.id for each in drafts}
    return [
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
    ]
