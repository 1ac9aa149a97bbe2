"""`jieda import --issues`: threads of an issue tracker become drafts of what no entry answers."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from jieda.cli.asking import local_client
from jieda.cli.chosen import content_directories
from jieda.cli.running import writing
from jieda.cli.thread_drafts import Drafter, ThreadDraft, ThreadGroup, grouped_threads, read_all
from jieda.content.authoring.writing import Create, carry_out
from jieda.content.read.load import Loaded
from jieda.entry import Language
from jieda.importing.threads import read_threads

MAX_TITLE = 60
WORDS: Mapping[str, Mapping[Language, str]] = {
    "head": {
        Language.EN: "threads  reactions  comments  solved  draft: title of the first thread",
        Language.ZH: "讨论数  赞同数  评论数  已解决  草稿：第一个讨论的标题",
    },
    "answered": {
        Language.EN: "{id} answers {count} already: {urls}",
        Language.ZH: "{id} 已能回答 {count} 个：{urls}",
    },
    "sum": {
        Language.EN: "{threads} threads in {groups} groups: {answered} groups answered already, {drafts} drafts,"
        " {solved} of them with a comment that helped",
        Language.ZH: "{threads} 个讨论合为 {groups} 组：{answered} 组已有条目能回答，{drafts} 份草稿，"
        "其中 {solved} 份找到了解决问题的评论",
    },
    "dry": {Language.EN: "nothing was written (--dry-run)", Language.ZH: "未写入任何文件（--dry-run）"},
    "written": {
        Language.EN: "{files} files written, all drafts; see `jieda check`",
        Language.ZH: "写入 {files} 个文件，全部是草稿；请看 `jieda check`",
    },
}

Progress = Callable[[Iterable[int], int], Iterator[int]]


def import_issues(  # noqa: PLR0913 - what the command line says
    file: Path,
    framework: str,
    directories: tuple[Path, ...],
    *,
    dry_run: bool,
    as_json: bool,
    lang: Language,
    progress: Progress,
) -> int:
    """Return the exit code: 0 where there were threads, 1 where there were none. Raises JiedaError."""
    threads = read_threads(file)
    snapshot = local_client(directories).service.current()
    chosen = content_directories(directories)
    content = Loaded(chosen, frozenset(Language))
    if framework not in content.corpus.taxonomy.framework:
        known = ", ".join(content.corpus.taxonomy.framework)
        raise click.UsageError(f"unknown framework {framework!r}; choose from {known}")
    groups = grouped_threads(snapshot, read_all(snapshot, content, threads, framework, progress))
    drafter = Drafter(content, framework, groups, datetime.now(UTC).date())
    open_groups = [group for group in groups if not group.entry]
    drafts = [
        drafter.draft(open_groups[place]) for place in progress(range(len(open_groups)), len(open_groups))
    ]
    steps = [
        Create(chosen[-1] / where, text.encode()) for each in drafts for where, text in each.files.items()
    ]
    if not dry_run:
        with writing():
            carry_out(tuple(steps))
    if as_json:
        click.echo(json.dumps(_as_data(groups, drafts, dry_run=dry_run), ensure_ascii=False, indent=2))
        return 0 if threads else 1
    for line in _report(groups, drafts, lang):
        click.echo(line)
    click.echo(WORDS["dry" if dry_run else "written"][lang].format(files=len(steps)), err=True)
    return 0 if threads else 1


def _report(groups: Sequence[ThreadGroup], drafts: Sequence[ThreadDraft], lang: Language) -> Iterator[str]:
    yield WORDS["head"][lang]
    for each in drafts:
        title, (count, reactions, comments) = each.group.first.thread.title, each.group.weight
        short = title if len(title) <= MAX_TITLE else f"{title[: MAX_TITLE - 1]}…"
        solved = "✓" if each.group.solved_by else ""
        yield f"{count:7}  {reactions:9}  {comments:8}  {solved:6}  {each.id}: {short}"
    answered: dict[str, list[str]] = {}
    for group in groups:
        if group.entry:
            answered.setdefault(group.entry, []).extend(each.thread.url for each in group.members)
    for entry_id, urls in sorted(answered.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        yield WORDS["answered"][lang].format(id=entry_id, count=len(urls), urls=" ".join(urls))
    yield WORDS["sum"][lang].format(
        threads=sum(len(group.members) for group in groups),
        groups=len(groups),
        answered=sum(bool(group.entry) for group in groups),
        drafts=len(drafts),
        solved=sum(each.group.solved_by is not None for each in drafts),
    )


def _as_data(
    groups: Sequence[ThreadGroup], drafts: Sequence[ThreadDraft], *, dry_run: bool
) -> dict[str, object]:
    """{groups, written}: a group with its threads, what it weighs, the entry that answers it or the draft."""
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
