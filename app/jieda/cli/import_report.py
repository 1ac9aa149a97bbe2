"""What `jieda import` says of a plan: a table and its changes, a sum, or all of it as JSON."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from jieda.entry import Language
from jieda.importing.plan import Import, PlanRow
from jieda.importing.propose import Status
from jieda.importing.records import PageChange, Standing

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
