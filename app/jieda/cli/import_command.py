"""`jieda import`: pages of questions and answers become drafts of entries."""

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from jieda.cli.chosen import content_directories
from jieda.cli.import_issues import import_issues
from jieda.cli.import_report import WORDS, as_data, report, summary
from jieda.cli.running import content_option, run, terminal_language, writing
from jieda.entry import Language
from jieda.importing.plan import Import, ImportRequest, plan_import
from jieda.importing.propose import write_drafts
from jieda.importing.records import read_record, write_record
from jieda.importing.sources import ImportSources

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
    found = plan_import(request, _Progress(shown))
    with writing():
        written = [] if options.dry_run else _write(found, request.directories[-1], options.framework)
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
        progress=_Progress(options.shown(), "threads"),
    )


class _Progress:
    """A bar on the terminal for the first long run (pages or threads), then for the second (entries)."""

    def __init__(self, lang: Language, first: str = "reading") -> None:
        self._labels = iter((WORDS[first][lang], WORDS["drafting"][lang]))

    def __call__(self, numbers: Iterable[int], total: int) -> Iterator[int]:
        with click.progressbar(numbers, length=total, label=next(self._labels, ""), file=sys.stderr) as bar:
            yield from bar


def _write(found: Import, directory: Path, framework: str) -> list[Path]:
    written = list(write_drafts(directory, found.plan.new, found.framework))
    if found.plan.record != read_record(directory, framework):
        write_record(directory, framework, found.plan.record)
    return written


if __name__ == "__main__":
    run(command)
