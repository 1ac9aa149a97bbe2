"""`jieda import`: pages of questions and answers become drafts of entries."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from jieda.cli.chosen import content_directories
from jieda.cli.import_issues import import_issues
from jieda.cli.running import content_option, run, terminal_language, writing
from jieda.entry import Language
from jieda.importing.plan import Import, ImportRequest, PlanRow, plan_import
from jieda.importing.propose import Status
from jieda.importing.records import PageChange, Standing
from jieda.importing.sources import ImportSources

MAX_TITLE = 60

WORDS: Mapping[str, Mapping[Language, str]] = {
    "head": {
        Language.EN: "{status:<10} {kind:<8} {doubts:>6}  {id}",
        Language.ZH: "{status:<8} {kind:<6} {doubts:>4}  {id}",
    },
    "status": {Language.EN: "status", Language.ZH: "状态"},
    "kind": {Language.EN: "kind", Language.ZH: "类型"},
    "doubts": {Language.EN: "doubts", Language.ZH: "疑问"},
    "id": {Language.EN: "entry: question", Language.ZH: "条目：问题"},
    Status.NEW: {Language.EN: "new", Language.ZH: "新增"},
    Status.UNCHANGED: {Language.EN: "unchanged", Language.ZH: "未变"},
    Status.CHANGED: {Language.EN: "changed", Language.ZH: "有变"},
    Status.REMOVED: {Language.EN: "removed", Language.ZH: "已删"},
    Status.GONE: {Language.EN: "gone", Language.ZH: "已撤"},
    Standing.OPEN: {
        Language.EN: "the entry still says what the page said: carry the change over",
        Language.ZH: "条目仍是页面原来的说法：可以照改",
    },
    Standing.DONE: {Language.EN: "the entry says so already", Language.ZH: "条目已经这样写了"},
    Standing.CONFLICT: {
        Language.EN: "the entry was edited here, too: look at both",
        Language.ZH: "条目这里也改过：需要人工对照",
    },
    "passed": {
        Language.EN: "{page}: passed over, it holds no questions; name the file itself to import it",
        Language.ZH: "{page}：没有问答，已跳过；确要导入请直接指定该文件",
    },
    "empty": {
        Language.EN: "{page}: no questions were found in it",
        Language.ZH: "{page}：没有找到任何问题",
    },
    "sum": {
        Language.EN: "{pages} pages, {questions} questions: {new} new, {changed} changed, {unchanged} unchanged,"
        " {gone} gone, {removed} removed; {doubts} doubts, {pairs} in both languages",
        Language.ZH: "{pages} 个页面，{questions} 个问题：新增 {new}，有变 {changed}，未变 {unchanged}，已撤 {gone}，"
        "已删 {removed}；疑问 {doubts} 处，双语 {pairs} 条",
    },
    "dry": {Language.EN: "nothing was written (--dry-run)", Language.ZH: "未写入任何文件（--dry-run）"},
    "written": {
        Language.EN: "{files} files written, all drafts; see `jieda check`",
        Language.ZH: "写入 {files} 个文件，全部是草稿；请看 `jieda check`",
    },
    "reading": {Language.EN: "Reading pages", Language.ZH: "读取页面"},
    "threads": {Language.EN: "Reading threads", Language.ZH: "读取讨论"},
    "drafting": {Language.EN: "Drafting entries", Language.ZH: "生成草稿"},
}


def report(found: Import, lang: Language) -> Iterator[str]:
    """The table, and below each entry that has changed its changes."""
    form = WORDS["head"][lang]
    yield form.format(**{name: WORDS[name][lang] for name in ("status", "kind", "doubts", "id")})
    for row in found.plan.rows:
        title = row.titles.get(lang) or next(iter(row.titles.values()))
        short = title if len(title) <= MAX_TITLE else f"{title[: MAX_TITLE - 1]}…"
        kind = row.proposal.kind.value if row.proposal else ""
        doubts = len(row.proposal.doubts) if row.proposal else ""
        yield form.format(status=WORDS[row.status][lang], kind=kind, doubts=doubts, id=f"{row.id}: {short}")
        for change in row.changes:
            yield from _change(row, change, lang)
    for word, pages in (("passed", found.passed_over), ("empty", found.empty)):
        yield from (WORDS[word][lang].format(page=page) for page in pages)


def _change(row: PlanRow, change: PageChange, lang: Language) -> Iterator[str]:
    place = f"{change.lang}/{row.id}.md"
    yield f"    {place}: {WORDS[change.standing][lang]}"
    yield from (f"      - {line}" for line in change.then)
    yield from (f"      + {line}" for line in change.now)


def summary(found: Import, lang: Language, files: int | None) -> Iterator[str]:
    """How many of what, and what was written; `files` is None where nothing was to be."""
    rows = found.plan.rows
    count = {status.value: sum(row.status is status for row in rows) for status in Status}
    numbers = {
        "pages": len({row.page for row in rows}),
        "questions": sum(row.status is not Status.GONE for row in rows),
        "doubts": sum(len(row.proposal.doubts) for row in rows if row.proposal),
        "pairs": sum(len(row.titles) == len(Language) for row in rows),
    }
    yield WORDS["sum"][lang].format(**count, **numbers)
    yield WORDS["dry" if files is None else "written"][lang].format(files=files)


def as_data(found: Import, written: Iterable[Path]) -> dict[str, Any]:
    """The plan as JSON can say it: {entries, passed_over, empty, written}, an entry with its editions and lines."""
    return {
        "entries": [_row_data(row) for row in found.plan.rows],
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
        "changes": [
            {
                "lang": change.lang,
                "then": change.then,
                "now": change.now,
                "standing": change.standing,
                "line": change.line,
            }
            for change in row.changes
        ],
    }


PAGE = click.Path(exists=True, path_type=Path)


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says, by the names of the command's parameters."""

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

    def shown(self) -> Language:
        return Language(self.lang) if self.lang else terminal_language()

    def request(self) -> ImportRequest:
        """What is to be imported. Raises UsageError where no page is named."""
        roots = {Language(name): root for name, root in (("en", self.en), ("zh", self.zh)) if root}
        if not roots and not self.pages:
            raise click.UsageError("Name pages, or give --en and --zh.")
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
@click.option(
    "--url-en", default="", metavar="URL", help="Where the English page or directory is on the web."
)
@click.option(
    "--url-zh", default="", metavar="URL", help="Where the Chinese page or directory is on the web."
)
@click.option(
    "--license", "license_", default="", metavar="ID", help="License of the pages, such as Apache-2.0."
)
@click.option("--updated", type=click.DateTime(["%Y-%m-%d"]), help="The day that the pages are from.")
@click.option(
    "--issues",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Threads of an issue tracker instead of pages: what gh issue list --json prints, or GitLab or Gitee exports.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be done; write nothing.")
@click.option("--accept", is_flag=True, help="Mark the changes shown as dealt with, and stop showing them.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object for all.")
@click.option(
    "--lang",
    type=click.Choice([lang.value for lang in Language]),
    help="Language of the messages; by default the terminal's.",
)
@content_option
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Turn pages of questions and answers into drafts of entries, in the (last) content directory.

    PAGE is a file or a directory: Markdown, MDX, HTML, reStructuredText or a gettext catalogue; --en and --zh say which
    page is the other's translation. What is there already is never overwritten; on a page that was imported before,
    what changed is shown. Exit code: 0 where questions were found, 1 where none
    were or a page that was named has none, 2 where a page cannot be read.
    """
    options = Options(**given)
    if options.issues:
        context.exit(_threads(options.issues, options))
    request, shown = options.request(), options.shown()
    found = plan_import(request, ProgressBar(shown))
    with writing():
        written = [] if options.dry_run else found.write(request.directories[-1])
    if options.as_json:
        click.echo(json.dumps(as_data(found, written), ensure_ascii=False, indent=2))
    else:
        for line in (*report(found, shown), *map(str, written)):
            click.echo(line)
        for line in summary(found, shown, None if options.dry_run else len(written)):
            click.echo(line, err=True)
    context.exit(0 if found.plan.rows and not found.empty else 1)


def _threads(file: Path, options: Options) -> int:
    if options.pages or options.en or options.zh or options.accept:
        raise click.UsageError("--issues takes no pages: import them by themselves.")
    return import_issues(
        file,
        options.framework,
        options.directories,
        dry_run=options.dry_run,
        as_json=options.as_json,
        lang=options.shown(),
        progress=ProgressBar(options.shown(), "threads"),
    )


class ProgressBar:
    """A bar on the terminal for the first long run (pages or threads), then for the second (entries)."""

    def __init__(self, lang: Language, first: str = "reading") -> None:
        self._labels = iter((WORDS[first][lang], WORDS["drafting"][lang]))

    def __call__(self, numbers: Iterable[int], total: int) -> Iterator[int]:
        with click.progressbar(numbers, length=total, label=next(self._labels, ""), file=sys.stderr) as bar:
            yield from bar


if __name__ == "__main__":
    run(command)
