"""`jieda import` as it is run: pages in, drafts and reports out, and the content directory as it was but for them."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from jieda.cli.main import main

from bench.importing import check, unnamed_problems
from tests.support.server import COMMAND, environment
from tests.support.small_content import write

ENGLISH = """\
# FAQ

## Errors

### RuntimeError: out of memory on device 17

**Cause**: the batch is too large.

**Solution**: make `batch_size` smaller, see [resuming](#how-do-i-resume) and the [guide](guide.md#x).

```text
RuntimeError: out of memory on device 17
```

## Use

### How do I resume?

Set `--load`. ![plan](plan.png) ![far](img/far.png)

### What is `mode`?

Either of two.

### Is it free?

It is.
"""
CHINESE = """\
# 常见问题

## 使用

### `mode` 是什么？

二选一。

### 怎么续训？

设置 `--load`。![plan](plan.png)

## 报错

### RuntimeError: out of memory on device 17

**原因**：batch 太大。

**解决办法**：调小 `batch_size`，另见[续训](#怎么续训)。

```text
RuntimeError: out of memory on device 17
```
"""
PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010806000000")


class Desk:
    """A content directory, two pages, and the command."""

    def __init__(self, folder: Path) -> None:
        self.content = write(folder / "content", {})
        self.en, self.zh = folder / "en" / "faq.md", folder / "zh" / "faq.md"
        for path, text in ((self.en, ENGLISH), (self.zh, CHINESE)):
            path.parent.mkdir()
            path.write_text(text, encoding="utf-8")
            path.with_name("plan.png").write_bytes(PNG)

    def run(self, *arguments: str, code: int = 0) -> Result:
        given = ["--content", str(self.content), "--framework", "roll", *arguments]
        result = CliRunner().invoke(main, ["import", *given])
        assert result.exit_code == code, result.output
        return result

    def both(self, *arguments: str) -> Result:
        return self.run("--en", str(self.en), "--zh", str(self.zh), *arguments)

    def data(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.both("--json", "--dry-run", *arguments).stdout)
        return found

    def files(self) -> dict[str, bytes]:
        found = (path for path in self.content.rglob("*") if path.is_file())
        return {path.relative_to(self.content).as_posix(): path.read_bytes() for path in found}

    def read(self, name: str) -> str:
        return (self.content / name).read_text(encoding="utf-8")

    def edit(self, path: Path, old: str, new: str) -> None:
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


OOM = "roll/runtime-error-out-memory-device-17"


@pytest.mark.quick
def test_twins_are_found_though_the_pages_have_another_order(desk: Desk) -> None:
    titles = {entry["id"]: entry["titles"] for entry in desk.data()["entries"]}
    assert titles["roll/resume"] == {"en": "How do I resume?", "zh": "怎么续训？"}
    assert titles["roll/mode"] == {"en": "What is mode?", "zh": "mode 是什么？"}
    assert set(titles[OOM]) == {"en", "zh"}
    assert titles["roll/free"] == {"en": "Is it free?"}


@pytest.mark.quick
def test_a_draft_says_what_is_known_and_passes_the_check_but_for_its_doubts(desk: Desk) -> None:
    desk.both(
        "--url-en", "https://example.com/en/faq.md", "--license", "Apache-2.0", "--updated", "2026-01-31"
    )
    text = desk.read(f"en/{OOM}.md")
    assert "title: 'RuntimeError: out of memory on device 17'\nkind: error\n" in text
    assert "- 'RuntimeError: out of memory on device {int}'" in text
    assert "url: 'https://example.com/en/faq.md'\n    license: 'Apache-2.0'\nupdated: 2026-01-31\n" in text
    assert "\n## Cause\n\nthe batch is too large.\n\n## Fix\n\nmake `batch_size` smaller" in text
    assert "[resuming](resume.md) and the [guide](https://example.com/en/guide.md#x)" in text
    assert "draft: true\n" in text
    report = check(desk.content)
    assert report.entries == 0
    assert {problem.rule for problem in report.problems} >= {"doubt"}
    assert unnamed_problems(report.problems) == ()


def test_a_signature_that_two_questions_quote_is_a_doubt_of_both(desk: Desk) -> None:
    for page in (desk.en, desk.zh):
        block = "```text\nRuntimeError: out of memory on device 17\n```\n"
        text = page.read_text(encoding="utf-8")
        page.write_text(
            f"{text}\n### RuntimeError: again\n\n**Solution**: wait.\n\n{block}", encoding="utf-8"
        )
    desk.both()
    drafts = [desk.read(name) for name in desk.files() if name.startswith("en/") and "again" in name]
    assert "shared: roll/" in drafts[0]
    assert unnamed_problems(check(desk.content).problems) == ()


def test_doubts_are_said_in_the_language_of_the_draft(desk: Desk) -> None:
    desk.both()
    assert "- 'source: the license of the page was not given: fill in `source`'" in desk.read(
        "en/roll/mode.md"
    )
    assert "- 'source: 没有指定页面的许可证：请补全 `source`'" in desk.read("zh/roll/mode.md")
    assert "- 'alone: no Chinese page has this question" in desk.read("en/roll/free.md")


def test_a_page_of_one_language_lacks_no_other(desk: Desk) -> None:
    desk.run("--zh", str(desk.zh))
    drafts = [desk.read(name) for name in desk.files() if name.startswith("zh/") and name.endswith(".md")]
    assert drafts
    assert not any("alone:" in draft for draft in drafts)


def test_what_is_left_out_is_named_with_the_reason(desk: Desk) -> None:
    long_text = CHINESE.replace("## 使用\n", f"## 使用\n\n{'先读这里。' * 90}\n")
    desk.zh.write_text(
        f"{long_text}\n## 目录\n\n- [报错](#报错)\n\n## 联系我们\n\n群号 1。\n", encoding="utf-8"
    )
    assert (
        "zh/faq.md：以下小节不是问题，未导入：使用 · 联系我们\n"
        in desk.run(str(desk.zh), "--lang", "zh").output
    )
    parts = "".join(f"## Part {each}\n\nText.\n\n" for each in range(9))
    guide = desk.en.with_name("guide.md")
    guide.write_text(
        f"# Guide\n\n{parts}## FAQ\n\n### Is it free?\n\nYes.\n\n### Is it old?\n\nNo.\n", encoding="utf-8"
    )
    named = json.loads(desk.run(str(guide), "--json", "--dry-run").stdout)["left_out"]
    assert [(each["title"], each["line"], each["outside"]) for each in named][:1] == [("Part 0", 3, True)]
    said = desk.run(str(guide), "--dry-run").output
    assert (
        "are outside its FAQ section and were left out: Part 0 · Part 1 · Part 2 · Part 3 · Part 4 … (9)\n"
        in said
    )


def test_a_draft_says_what_to_do_where_nothing_was_guessed(desk: Desk) -> None:
    desk.zh.write_text("# 常见问题\n\n## 为什么这样？\n\n因为。\n", encoding="utf-8")
    desk.run("--zh", str(desk.zh))
    (draft,) = (desk.read(name) for name in desk.files() if name.startswith("zh/roll/faq"))
    assert "topics: 标题里看不出来：请补上合适的" in draft
    assert "请用 `jieda mv` 改名" in draft


def test_images_beside_the_page_are_copied_and_others_become_links(desk: Desk) -> None:
    desk.edit(desk.en, "Either of two.", "Either [![far](img/far.png)](https://a.b/) of two.")
    desk.both("--url-en", "https://example.com/en/faq.md")
    text = desk.read("en/roll/resume.md")
    assert "![plan](resume-plan.png)" in text
    assert "[far](https://example.com/en/img/far.png)" in text
    assert "Either [far](https://a.b/) of two." in desk.read("en/roll/mode.md")
    assert (desk.content / "en/roll/resume-plan.png").read_bytes() == PNG


def test_images_with_chinese_names_are_copied_and_a_lost_one_is_not_called_a_link(desk: Desk) -> None:
    images = {"图/面板.png": PNG, "图/拓扑.png": PNG + b"2"}
    for name, data in images.items():
        (desk.zh.parent / name).parent.mkdir(exist_ok=True)
        (desk.zh.parent / name).write_bytes(data)
    desk.edit(
        desk.zh,
        "![plan](plan.png)",
        "![plan](plan.png) ![面板](图/面板.png) ![拓扑](图/拓扑.png) ![缺](图/缺.png)",
    )
    desk.both()
    text = desk.read("zh/roll/resume.md")
    assert "![面板](resume-image.png) ![拓扑](resume-image-2.png) 缺" in text
    assert (desk.content / "zh/roll/resume-image-2.png").read_bytes() == PNG + b"2"
    assert "图/缺.png 没有复制过来" in text


def test_images_of_one_name_stay_two(desk: Desk) -> None:
    for folder in ("a", "b"):
        (desk.en.parent / folder).mkdir()
        (desk.en.parent / folder / "plan.png").write_bytes(PNG + folder.encode())
    desk.edit(desk.en, "![far](img/far.png)", "![a](a/plan.png) ![b](b/plan.png) ![a](a/plan.png)")
    desk.both()
    text = desk.read("en/roll/resume.md")
    assert "![a](resume-plan-2.png) ![b](resume-plan-3.png) ![a](resume-plan-2.png)" in text
    assert (desk.content / "en/roll/resume-plan-3.png").read_bytes() == PNG + b"b"


def test_names_of_files_may_be_long_and_need_not_be_utf_8(desk: Desk, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"\xb3\xa3")
    folder.mkdir()
    name = f"{'a' * 249}.png"
    (folder / name).write_bytes(PNG)
    page = folder / os.fsdecode(b"\xbc\xfb.md")
    page.write_text(
        f"## How to set it up?\n\nSee ![it]({name}).\n\n## Is it free?\n\nYes.\n", encoding="utf-8"
    )
    desk.run(str(page))
    assert len(list(desk.content.glob("en/roll/*.*"))) == 3
    assert "2 unchanged" in desk.run(str(page)).output
    shutil.copy(page, folder / os.fsdecode(b"\xbc\xfc.md"))
    data = json.loads(desk.run(str(folder), "--url-en", "https://example.com", "--json").stdout)
    assert {entry["page"].rpartition("/")[2] for entry in data["entries"]} == {"见.md", "键.md"}
    assert any(
        "https://example.com/%BC%FC.md" in text.decode() for text in desk.files().values() if b"url:" in text
    )


def test_a_page_in_another_script_is_skipped_and_one_that_is_named_says_so(
    desk: Desk, tmp_path: Path
) -> None:
    page = tmp_path / "docs" / "faq.md"
    page.parent.mkdir()
    page.write_text(
        "## どうすれば動きますか？\n\n起動してください。\n\n## 無料ですか？\n\nはい。\n", encoding="utf-8"
    )
    others = (
        "## What is α + β?\n\nΣ.\n\n```\nПривет, как дела\n```\n\n## ＡＰＩ，ＨＴＴＰ是什么？\n\n接口。\n"
    )
    page.with_name("q.md").write_text(others, encoding="utf-8")
    assert "skipped" not in desk.run(str(page.with_name("q.md"))).output
    shutil.copy(desk.zh, page.with_name("q.md"))
    assert "faq.md: skipped" in desk.run(str(page.parent)).output
    assert not list(desk.content.glob("*/roll/faq*"))
    assert "neither English nor Chinese" in desk.run(str(page), code=2).output
    desk.run("--zh", str(page))


def test_pages_of_one_path_in_two_projects_stay_two(desk: Desk, tmp_path: Path) -> None:
    for project, title in (("one", "Why is it yellow?"), ("two", "Why is it blue?")):
        folder = tmp_path / project / "docs/faq"
        folder.mkdir(parents=True)
        (folder / "faq.md").write_text(f"# FAQ\n\n## {title}\n\nSo: ![p](plan.png)\n", encoding="utf-8")
        (folder / "plan.png").write_bytes(PNG + project.encode())
    (tmp_path / "one/docs/faq/faq.zh.md").write_text("# 问答\n\n## 为什么黄？\n\n因为。\n", encoding="utf-8")
    folders = [str(tmp_path / each) for each in ("one", "two", "two/docs/faq/faq.md")]
    desk.run(*folders)
    for project, name in (("one", "yellow"), ("two", "blue")):
        assert (desk.content / f"en/roll/{name}-plan.png").read_bytes() == PNG + project.encode()
    again = json.loads(desk.run(*folders, "--json", "--dry-run").stdout)["entries"]
    assert [each["status"] for each in again] == ["unchanged"] * len(again)


def test_many_images_in_brackets_are_read(desk: Desk) -> None:
    desk.edit(desk.en, "Either of two.", f"Either of two: [{'![a](b.png) ' * 40}]")
    desk.both()
    assert "Either of two: [a" in desk.read("en/roll/mode.md")


def test_a_link_to_the_root_of_the_site_is_completed(desk: Desk) -> None:
    desk.edit(desk.en, "Either of two.", "Either of two, see [home](/).")
    desk.both("--url-en", "https://example.com/en/faq.md")
    assert "see [home](https://example.com/)." in desk.read("en/roll/mode.md")


def test_links_find_titles_however_the_generator_wrote_their_anchors(desk: Desk) -> None:
    desk.edit(desk.en, "### Is it free?", "### What's `a_b:c`, is it free?")
    desk.edit(
        desk.en, "Either of two.", "See [one](#whats-a_bc-is-it-free), [two](#what-s-a-b-c-is-it-free)."
    )
    desk.both()
    name = r"[\w-]+\.md"
    assert re.search(rf"See \[one\]\({name}\), \[two\]\({name}\)\.", desk.read("en/roll/mode.md"))


def test_an_address_that_is_a_link_as_it_stands_stays_one(desk: Desk) -> None:
    given = "Either; see https://a.b/c?d=1&region=2. `https://a.b` <https://a.b/> [https://a.b](https://a.b/e) [f](https://a.b/(c(d)))"
    desk.edit(desk.en, "Either of two.", given)
    desk.both()
    text = desk.read("en/roll/mode.md")
    assert given.replace("https://a.b/c?d=1&region=2.", "<https://a.b/c?d=1&region=2>.") in text


def test_code_and_lines_that_define_no_address_stay_as_they_are(desk: Desk) -> None:
    given = """\
    ---
    <div>https://a.b</div>
    <!-- kept --> [a](b.md)

Write `<!-- more -->`.

[INFO]: up and running
[next]:

See[^a].

[^a]: Below.

1. ```sh
   curl <host>
   ```
2. See <https://a.b>"""
    desk.edit(desk.en, "Either of two.", f"{given}<!-- gone --> [home][].\n\n[home]: https://a.b/c")
    desk.both()
    assert f"## Answer\n\n{given} [home](https://a.b/c).\n" in desk.read("en/roll/mode.md")


@pytest.mark.quick
def test_a_second_import_changes_nothing(desk: Desk) -> None:
    assert "jieda check" in desk.both().stderr
    before = desk.files()
    assert {entry["status"] for entry in desk.data()["entries"]} == {"unchanged"}
    assert "jieda check" not in desk.both().stderr, "drafts to look at, though none were written"
    assert desk.files() == before


def test_a_translation_that_was_added_becomes_drafts_of_its_entries(desk: Desk) -> None:
    desk.run("--en", str(desk.en))
    desk.edit(desk.content / "en/roll/mode.md", "Either of two.", "One of the two.")
    desk.both()
    assert "title: 'mode 是什么？'" in desk.read("zh/roll/mode.md")
    assert "One of the two." in desk.read("en/roll/mode.md")
    desk.both()
    assert {entry["status"] for entry in desk.data()["entries"]} == {"unchanged"}


@pytest.mark.quick
def test_a_page_that_has_moved_is_still_the_same_page(desk: Desk, tmp_path: Path) -> None:
    desk.both()
    before = desk.files()
    for lang in ("en", "zh"):
        (tmp_path / "moved" / lang / "help").mkdir(parents=True)
    desk.en = desk.en.rename(tmp_path / "moved/en/help/questions.md")
    desk.zh = desk.zh.rename(tmp_path / "moved/zh/help/questions.md")
    for page in (desk.en, desk.zh):
        page.with_name("plan.png").write_bytes(PNG)
    desk.both()
    assert desk.files() == before


def test_an_import_that_was_interrupted_is_taken_up_again(desk: Desk) -> None:
    desk.both()
    whole = desk.files()
    (desk.content / "imports/roll.json").unlink()
    (desk.content / "zh/roll/resume.md").unlink()
    desk.both()
    assert desk.files() == whole


def test_a_question_of_another_page_never_takes_the_draft_of_one_with_its_title(
    desk: Desk, tmp_path: Path
) -> None:
    texts = {
        "pa": "备份保留多久？\n\n四份。\n\n## 怎么恢复？\n\n照手册。\n\n## 谁能看？\n\n值班的人。",
        "pc": "备份保留多久？\n\n另一个页面说：五份。\n\n## 端口是多少？\n\n9092。",
    }
    for folder, text in texts.items():
        path = tmp_path / folder / "faq.md"
        path.parent.mkdir()
        path.write_text(f"# 常见问题\n\n## {text}\n", encoding="utf-8")
        desk.run(str(path), "--lang", "zh")
    drafts = sorted(text.decode() for name, text in desk.files().items() if name.startswith("zh/roll/"))
    assert len(drafts) == 5
    assert all(any(answer in draft for draft in drafts) for answer in ("\n四份。\n", "五份。"))
    assert any("duplicate: " in draft for draft in drafts)
    for folder in texts:
        again = desk.run(str(tmp_path / folder / "faq.md"), "--json", "--dry-run")
        assert {each["status"] for each in json.loads(again.stdout)["entries"]} == {"unchanged"}, folder


def test_a_record_that_cannot_be_read_is_not_replaced(desk: Desk) -> None:
    desk.both()
    record = desk.content / "imports/roll.json"
    record.write_text("{", encoding="utf-8")
    assert "imports/roll.json cannot be read" in desk.run(str(desk.en), code=2).output
    assert record.read_text(encoding="utf-8") == "{"


@pytest.mark.quick
def test_a_dry_run_writes_nothing(desk: Desk) -> None:
    before = desk.files()
    result = desk.both("--dry-run", "--lang", "zh")
    assert "新增" in result.stdout
    assert "roll/resume: 怎么续训？" in result.stdout
    assert desk.files() == before


def test_a_file_that_is_there_is_never_overwritten(desk: Desk) -> None:
    (desk.content / "en/roll").mkdir(parents=True)
    (desk.content / "en/roll/resume.md").write_text("mine", encoding="utf-8")
    (desk.content / "en/roll/mode.md").symlink_to("elsewhere.md")
    desk.both()
    assert desk.read("en/roll/resume.md") == "mine"
    assert (desk.content / "zh/roll/mode.md").is_file()


def test_a_change_of_the_page_is_shown_with_what_the_entry_says_now(desk: Desk) -> None:
    desk.both()
    desk.edit(desk.content / "en/roll/mode.md", "Either of two.", "One of the two.")
    before = desk.files()
    desk.edit(desk.en, "Set `--load`.", "Set `--load` and `--save`.")
    desk.edit(desk.en, "Either of two.", "Any of three.")
    rows = {entry["id"]: entry for entry in desk.data()["entries"]}
    assert [(each["standing"], each["now"]) for each in rows["roll/mode"]["changes"]] == [
        ("conflict", ["Any of three."])
    ]
    (change,) = rows["roll/resume"]["changes"]
    assert change["standing"] == "open"
    assert change["now"][0].startswith("Set `--load` and `--save`.")
    shown = desk.both("--lang", "en").stdout
    assert "      - Either of two.\n      + Any of three.\n" in shown
    assert desk.files() == before


def test_a_change_that_was_carried_over_is_done_with(desk: Desk) -> None:
    desk.both()
    desk.edit(desk.en, "Either of two.", "Any of three.")
    desk.edit(desk.content / "en/roll/mode.md", "Either of two.", "Any of three.")
    rows = {entry["id"]: entry for entry in desk.data()["entries"]}
    assert [each["standing"] for each in rows["roll/mode"]["changes"]] == ["done"]
    desk.both()
    assert {entry["status"] for entry in desk.data()["entries"]} == {"unchanged"}


def test_a_change_that_is_accepted_is_shown_no_more(desk: Desk) -> None:
    desk.both()
    desk.edit(desk.en, "Either of two.", "Any of three.")
    desk.both("--accept")
    assert {entry["status"] for entry in desk.data()["entries"]} == {"unchanged"}
    assert "Either of two." in desk.read("en/roll/mode.md")


def test_a_reworded_question_is_still_the_same_entry(desk: Desk) -> None:
    desk.both()
    desk.edit(desk.en, "### How do I resume?", "### How can I resume training?")
    desk.edit(desk.zh, "### 怎么续训？", "### 怎样续训？")
    rows = {entry["id"]: entry["status"] for entry in desk.data()["entries"]}
    assert rows["roll/resume"] == "changed"
    assert "new" not in rows.values()


def test_what_was_deleted_here_or_there_is_not_written_again(desk: Desk) -> None:
    desk.both()
    for lang in ("en", "zh"):
        (desk.content / lang / "roll/mode.md").unlink()
    desk.edit(desk.en, "### Is it free?\n\nIt is.\n", "")
    rows = {entry["id"]: entry["status"] for entry in desk.data()["entries"]}
    assert rows["roll/mode"] == "removed"
    assert rows["roll/free"] == "gone"
    desk.both("--accept")
    assert not (desk.content / "en/roll/mode.md").exists()
    assert "gone" not in {entry["status"] for entry in desk.data()["entries"]}


@pytest.mark.quick
def test_an_unknown_framework_and_a_page_that_cannot_be_read_exit_with_2(desk: Desk) -> None:
    unknown = desk.run(str(desk.en), "--framework", "x", code=2)
    assert "framework 'x' is not in taxonomy.yaml" in unknown.output
    desk.en.write_bytes(b"# FAQ\n\n\xff\xfe\n")
    assert "faq.md:3: is not UTF-8" in desk.run(str(desk.en), code=2).output


def test_a_page_without_questions_exits_with_1(desk: Desk) -> None:
    desk.en.write_text("Nothing here.\n", encoding="utf-8")
    desk.run(str(desk.en), code=1)


def test_where_the_disk_is_full_no_half_of_a_draft_stays(tmp_path: Path) -> None:
    """Files can have no more than a few KiB here. An empty file would count as a draft that is there already."""
    content = write(tmp_path / "content", {})
    page = tmp_path / "faq.md"
    page.write_text(
        f"# FAQ\n\n## How do I resume?\n\nSet `--load`.\n\n## What is a mode?\n\n{'One. ' * 9000}\n"
    )
    command = [*COMMAND, "import", str(page), "--framework", "roll", "--content", str(content)]
    run = subprocess.run(
        ["sh", "-c", 'ulimit -f 16; exec "$@"', "sh", *command],
        env=environment({"PYTHONDONTWRITEBYTECODE": "1"}),
        capture_output=True,
        check=False,
    )
    assert (run.returncode, b"File too large" in run.stderr) == (2, True), run.stderr
    assert not list(content.rglob("*.md"))
