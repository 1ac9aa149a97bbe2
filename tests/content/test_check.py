"""`jieda check`, `sync` and `new`."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jieda.cli.main import main
from jieda.content.authoring.source_text import sync_twins
from jieda.content.read.load import Loaded
from jieda.entry import Language, Problem
from jieda.presentation.problem_text import problem_text

from tests.support.server import COMMAND, environment
from tests.support.small_content import TAXONOMY, edition, write

ERROR = {"kind": "error", "signatures": "['chunk {int} of the moon is missing']"}
FIX, FIX_ZH = "## Fix\n\nDo `x`.\n", "## 解决办法\n\n做 `x`。\n"
NOTES = "## Notes\n\nNot `TODO: x`.\n\n```\n# TODO: y\n```\n"
"""Code may have what a skeleton has."""
SAMPLES = {
    "samples/roll/a/1.log": "rank 3: chunk 7 of  the moon is missing\n",
    "samples/roll/a/2.log": "\x1b[31mCHUNK 12 of the moon is missing\x1b[0m\n",
}
GOOD = {
    "en/roll/a.md": edition("A moon error", FIX, **ERROR),
    "zh/roll/a.md": edition("月亮报错", FIX_ZH, **ERROR),
    "en/roll/b.md": edition("Only English", f"## Steps\n\n1. `run`\n\n{NOTES}", kind="how-to"),
} | SAMPLES

TAXONOMY_LINES = TAXONOMY.count("\n")


def jieda(*args: str | Path, **settings: str) -> Result:
    """The command, in this process."""
    environment = {name: None for name in os.environ if name.startswith("JIEDA_")} | settings
    return CliRunner().invoke(main, [str(arg) for arg in args], env=environment, prog_name="jieda")


def synced(folder: Path, files: dict[str, str]) -> Path:
    write(folder, files)
    corpus = Loaded([folder]).corpus
    sync_twins(corpus, [entry_id for entry_id, editions in corpus.by_id.items() if len(editions) == 2])
    return folder


def test_nothing_wrong_prints_nothing_and_exits_0(tmp_path: Path) -> None:
    run = jieda("check", "--content", synced(tmp_path, GOOD))
    assert (run.exit_code, run.stdout) == (0, "")
    assert run.stderr == "2 entries in 3 editions: no problems\n"


def test_the_directories_of_the_settings_are_checked(tmp_path: Path) -> None:
    assert jieda("check", JIEDA_CONTENT=str(synced(tmp_path, GOOD))).exit_code == 0


def test_problems_are_lines_in_order_and_exit_1(tmp_path: Path) -> None:
    folder = synced(tmp_path, GOOD | {"en/roll/c.md": edition("C", color="1"), "en/roll/B.md": "x"})
    run = jieda("check", "--content", folder)
    assert run.exit_code == 1
    lines = run.stdout.splitlines()
    assert lines == sorted(lines)
    assert [line.split(" ")[:2] for line in lines] == [
        ["en/roll/B.md:1:", "slug:"],
        ["en/roll/c.md:7:", "unknown-key:"],
    ]
    assert run.stderr.endswith("2 problems in 2 files\n")


def test_what_would_be_read_under_another_name_is_told_and_a_misspelt_tag_gets_the_nearest(
    tmp_path: Path,
) -> None:
    tag = {A_EN: error(topics="[memori]"), A_ZH: error(FIX_ZH, "月", topics="[memori]")}
    odd = {f"{folder}/roll/a.md": "x" for folder in ("zh-CN", "fr", "EN")} | {"db/notes.md": "x"}
    run = jieda("check", "--content", synced(tmp_path, GOOD | tag | odd | {"glossary.yml": "x"}))
    assert "glossary.yml:1: place: is not read: name it glossary.yaml\n" in run.stdout
    for folder in ("zh-CN", "fr", "EN"):
        assert f"{folder}:1: place: is not read: editions belong in en/ and zh/\n" in run.stdout
    assert "db" not in run.stdout, "it is not laid out as a language"
    assert "'memori' is not in the taxonomy; 'memory' is\n" in run.stdout


def test_a_broken_taxonomy_or_a_missing_directory_exits_2(tmp_path: Path) -> None:
    broken = write(tmp_path / "a", {"taxonomy.yaml": "kinds: [\n"})
    run = jieda("check", "--content", broken)
    assert run.exit_code == 2
    assert f"{broken / 'taxonomy.yaml'}:1:" in run.stderr
    assert "Traceback" not in run.stderr
    assert jieda("check", "--content", tmp_path / "none").exit_code == 2
    assert jieda("check", JIEDA_CONTENT=str(tmp_path / "none")).exit_code == 2


A_EN, A_ZH = "en/roll/a.md", "zh/roll/a.md"


def error(body: str = FIX, title: str = "A moon error", **fields: str) -> str:
    return edition(title, body, **(ERROR | fields))


BROKEN = {
    "section outside the table": (
        {A_EN: error("## Repair\n\nx\n")},
        "section: ## Repair is not one of Symptom,",
    ),
    "section of the other language": ({A_ZH: error(FIX, "月")}, "section: ## Fix is not one of 现象, 原因,"),
    "section twice": ({A_EN: error(FIX + "\n## Fix\n\nmore\n")}, "section: ## Fix appears twice"),
    "text before the first section": ({A_EN: error("Hello.\n\n" + FIX)}, "section: the body must start"),
    "skeleton put to use": (
        {A_EN: error("## Fix\n\nTODO: what to change.\n")},
        "en/roll/a.md:12: unfinished: has only the skeleton's text",
    ),
    "skeleton put to use in part": (
        {A_EN: error("## Fix\n\nTurn it.\n\nTODO: how far.\n")},
        "en/roll/a.md:15: unfinished: still has the skeleton's text: write it",
    ),
    "boxes to tick": (
        {A_EN: error(FIX + "\n- [ ] turn it\n")},
        "en/roll/a.md:15: markdown: a task-list box is shown as `[ ]`",
    ),
    "alert": (
        {A_EN: error(FIX + "\n> [!NOTE]\n> x\n")},
        "markdown: `[!NOTE]` is shown as it is: write `> **Note**",
    ),
    "footnote": (
        {A_EN: error(FIX + "\nSo it is.[^1]\n\n[^1]: By habit, `[^x]`.\n")},
        "en/roll/a.md:15: markdown: `[^1]` is shown as it is",
    ),
    "space in a file name": (
        {A_EN: error(FIX + "\n![x](<a b.png>) `![x](a b.png)` and ![two words](my shot.png) f[i](a b).\n")},
        "markdown: `![two words](my shot.png)` is shown as it is: write `![two words](<my shot.png>)`",
    ),
    "bare address": (
        {A_EN: error(FIX + "\n<http://a.b/c> [http://a.b](http://a.b) `http://a.b` (http://e.f/g).\n")},
        "en/roll/a.md:15: markdown: `http://e.f/g` is shown without a link: write `<http://e.f/g>`",
    ),
    "HTML": (
        {A_EN: error("## Fix\n\nDo `x`, not `<br>`, in <framework>:\n<details>\n\n- a\n")},
        "en/roll/a.md:14: markdown: `<details>` is shown as it is, because entries cannot contain HTML",
    ),
    "doubt of an import": (
        {A_EN: error(doubts="['kind: a guess']")},
        "en/roll/a.md:9: doubt: kind: a guess",
    ),
    "Chinese skeleton put to use": (
        {A_ZH: error("## 解决办法\n\n待填：先写命令。\n", "月")},
        "unfinished: has only the skeleton's text",
    ),
    "H1": ({A_EN: error(FIX + "\n# Big\n")}, "section: # Big: the title is the H1"),
    "error without fix": ({A_EN: error("## Cause\n\n`x`\n")}, "kind: an error entry needs the section `fix`"),
    "how-to that starts with notes": (
        {"en/roll/b.md": edition("B", "## Notes\n\nx\n", kind="how-to")},
        "kind: a how-to entry starts with the section `answer` or `steps`",
    ),
    "error that nobody can find": (
        {A_EN: error(signatures="[]"), A_ZH: error(FIX_ZH, "月", signatures="[]")},
        "kind: an error entry needs `signatures`, or `symptoms`",
    ),
    "unequal kind": ({A_ZH: edition("月", "## 回答\n\n`x`\n")}, "twins: `kind` must be equal"),
    "unequal topics": ({A_ZH: error(FIX_ZH, "月", topics="[]")}, "twins: `topics` must be equal"),
    "unequal error types": ({A_ZH: error(FIX_ZH, "月", error_types="[oom]")}, "twins: `error_types` must be"),
    "unequal signatures": (
        {A_ZH: error(FIX_ZH, "月", signatures="['moon chunk']")},
        "twins: `signatures` must",
    ),
    "unequal related": ({A_ZH: error(FIX_ZH, "月", related="[roll/b]")}, "twins: `related` must be equal"),
    "unequal sections": ({A_ZH: error(FIX_ZH + "\n## 说明\n\nx\n", "月")}, "twins: `sections` must be equal"),
    "identifier lost": (
        {A_EN: error("## Fix\n\nDo `x` with `--load`.\n")},
        "identifier: `--load` is in en/",
    ),
    "title twice": ({"en/roll/b.md": edition("a MOON  error")}, "duplicate: `title`: 'a MOON  error'"),
    "alias of another": ({"en/roll/b.md": edition("B", aliases="[A moon error]")}, "duplicate: `aliases`:"),
    "link to nowhere": ({A_EN: error(FIX + "\n[x](no.md)\n")}, "link: 'no.md': roll/no does not exist"),
    "link to a draft": (
        {"en/roll/d.md": edition("D", draft="true"), A_EN: error(FIX + "\n[x](d.md)\n")},
        "link: 'd.md': roll/d is a draft",
    ),
    "full-width colon": (
        {A_EN: error().replace("kind:", "kind：")},
        "en/roll/a.md:3: yaml: `：` is full-width",
    ),
    "full-width bracket": (
        {A_EN: error(topics="［a］", aliases="[x")},
        "yaml: `［` is full-width: write `[`",
    ),
    "full-width comma": (
        {A_EN: error(versions="{roll: '1'，x: '2'}")},
        "yaml: `，` is full-width: write `,`",
    ),
    "full-width bracket of a source": (
        {A_EN: error(source="｛title: T，url: 'https://x.org'｝")},
        "yaml: `｛` is full-width: write `{`",
    ),
    "full-width comma in a source": (
        {A_EN: error(source="\n  - {title: T，url：https://x.org}")},
        "`，` is full-width: write `,`",
    ),
    "full-width colon in a source": (
        {A_EN: error(source="\n  - {title: T, url：https://x.org}")},
        "`：` is full-width: write `:`",
    ),
    "image of elsewhere": (
        {A_EN: error(FIX + "\n![x](https://a.b/c.png)\n")},
        "link: 'https://a.b/c.png': there is no such image (.png, .jpg, .gif or .webp) beside the file",
    ),
    "logo of nowhere": (
        {"taxonomy.yaml": f"{TAXONOMY}site:\n  name: {{en: A, zh: 甲}}\n  logo: a.svg\n"},
        f"taxonomy.yaml:{TAXONOMY_LINES + 3}: link: there is no image site/a.svg",
    ),
    "unsafe link": ({A_EN: error(FIX + "\n[x](javascript:x)\n")}, "link: 'javascript:x' is not an http(s)"),
    "one sample only": (
        {"samples/roll/a/2.log": None},
        "sample: needs at least 2 samples in samples/roll/a/, has 1",
    ),
    "sample that is not found": ({"samples/roll/a/3.log": "sun"}, "sample: no signature of roll/a finds it"),
    "sample of no entry": (
        {"samples/roll/z/1.log": "x"},
        "samples/roll/z/1.log:1: sample: there is no entry roll/z",
    ),
    "signature that reaches too far": (
        {
            "en/roll/c.md": error(title="C", signatures="['sun {int} is dark']"),
            "samples/roll/c/1.log": "sun 1 is dark; chunk 2 of the moon is missing",
            "samples/roll/c/2.log": "sun 1 is dark",
        },
        "signature: 'chunk {int} of the moon is missing' also finds samples/roll/c/1.log",
    ),
    "signature that reaches too far as a diagnosis reads it": (
        {
            "en/roll/c.md": error(title="C", signatures="['sun.DarkError: sun {int} is dark']"),
            "samples/roll/c/1.log": "sun.DarkError: sun 1 is dark",
            "samples/roll/c/2.log": "sun.DarkError: sun 2 is dark",
            "samples/roll/a/1.log": "DarkError: sun 1 is dark\nchunk 2 of the moon is missing",
        },
        "signature: 'sun.DarkError: sun {int} is dark' also finds samples/roll/a/1.log",
    ),
    "edition in no framework folder": (
        {"en/lost.md": edition("L")},
        "en/lost.md:1: place: is neither an edition, <lang>",
    ),
    "sample in the wrong place": ({"samples/roll/a/notes.txt": "x"}, "place: samples belong in"),
    "program that is no framework": (
        {"programs.yaml": "programs:\n  rol: {role: framework}\n"},
        "programs.yaml:2: unknown-tag: framework 'rol' is not in the taxonomy",
    ),
    "example of a failure that is not found": (
        {"failures.yaml": "families:\n  - {name: pay, lines: [card_declined], examples: [declined]}\n"},
        "failures.yaml:2: example: `families`: no line of 'pay' finds its example 'declined'",
    ),
    "example of a prefix that is not found": (
        {"failures.yaml": "prefixes:\n  - {name: p, lines: ['<{level}> '], examples: [<INFO>, '<1 2>']}\n"},
        "failures.yaml:2: example: `prefixes`: no line of 'p' finds its example '<1 2>'",
    ),
    "file in the place of a logo": ({"site/logo.pdf": "x"}, "site/logo.pdf:1: place: is not an image that"),
    "log in a folder of the background": ({"background/a/b.log": "x"}, "background/a:1: place: logs that"),
    "folder in the place of a file": ({"programs.yaml/a": "x"}, "programs.yaml:1: place: is not a file"),
    "accent that is hard to read": (
        {"taxonomy.yaml": TAXONOMY + "site: {accent: '#ffee00'}\n"},
        f"taxonomy.yaml:{TAXONOMY_LINES + 1}: contrast: `accent` has a contrast of 1.",
    ),
    "sample in no folder of an entry": (
        {"samples/roll/stray.log": "x"},
        "samples/roll/stray.log:1: place: samples belong in",
    ),
}


@pytest.mark.parametrize(("files", "expected"), BROKEN.values(), ids=BROKEN)
def test_each_rule_says_what_is_wrong(tmp_path: Path, files: dict[str, str | None], expected: str) -> None:
    wanted = {path: text for path, text in (GOOD | files).items() if text is not None}
    run = jieda("check", "--content", synced(tmp_path, wanted))
    assert run.exit_code == 1
    assert expected in run.stdout
    # The system's own words stay as they are, and those of who imported the entry.
    ours = [line for line in run.stdout.splitlines() if not re.search(": (unreadable|doubt): ", line)]
    in_chinese = [problem_text(line.split(": ", 2)[2], Language.ZH, "terminal") for line in ours]
    assert not [message for message in in_chinese if message.isascii()]


@pytest.mark.parametrize("kind", ["error", "how-to", "concept"])
def test_a_skeleton_that_is_put_to_use_as_it_is_gets_reported(tmp_path: Path, kind: str) -> None:
    """Whatever `jieda new` writes today, each text to be filled in is found in both languages."""
    folder = write(tmp_path, GOOD)
    jieda("new", "roll/fresh", "--kind", kind, "--content", folder)
    for lang in ("en", "zh"):
        path = folder / lang / "roll/fresh.md"
        lines = path.read_text(encoding="utf-8").replace("draft: true\n", "").splitlines(keepends=True)
        path.write_text("".join(lines), encoding="utf-8")
        found = jieda("check", "--content", folder).stdout
        for number, line in enumerate(lines, 1):
            if "TODO" in line or "待填" in line:
                assert f"{lang}/roll/fresh.md:{number}: unfinished: " in found


def test_a_signature_that_two_entries_share_on_purpose_is_no_problem(tmp_path: Path) -> None:
    shared = {"signatures": "[{all: ['chunk {int} of the moon is missing'], confidence: likely}]"}
    files = GOOD | {
        A_EN: error(**shared),
        A_ZH: error(FIX_ZH, "月亮报错", **shared),
        "en/roll/c.md": error(title="C", **shared),
        "samples/roll/c/1.log": "chunk 2 of the moon is missing",
        "samples/roll/c/2.log": "chunk 3 of the moon is missing",
    }
    assert jieda("check", "--content", synced(tmp_path, files)).stdout == ""


def test_a_signature_that_other_programs_print_says_so_or_names_what_makes_it_its_own(tmp_path: Path) -> None:
    background = {f"background/{n}.log": f"chunk {n} of the moon is missing" for n in (1, 2, 3)}
    line = "chunk {int} of the moon is missing"
    for signatures, told in (
        (f"['{line}']", True),
        (f"[{{all: ['{line}'], confidence: likely}}]", False),
        (f"[{{all: ['{line}'], any: ['moon_worker.py']}}]", False),
        (f"[{{all: ['{line}'], any: ['moon.py']}}, {{all: ['{line}'], any: ['sun.py']}}]", False),
    ):
        files = (
            background
            | GOOD
            | {
                A_EN: error(signatures=signatures),
                A_ZH: error(FIX_ZH, "月亮报错", signatures=signatures),
            }
        )
        folder = tmp_path / str(len(signatures))
        assert ("shared: " in jieda("check", "--content", synced(folder, files)).stdout) == told, signatures


def test_a_line_that_is_not_found_everywhere_is_told_to_its_author(tmp_path: Path) -> None:
    said = {length: "moon " * (length // 5) for length in (400, 405)}
    found = {}
    for length, line in said.items():
        signatures = f"['{line[:-1]}.', 'chunk {{int}} of the moon is missing']"
        files = GOOD | {
            A_EN: error(signatures=signatures),
            A_ZH: error(FIX_ZH, "月亮报错", signatures=signatures),
        }
        found[length] = jieda("check", "--content", synced(tmp_path / str(length), files)).stdout.splitlines()
    assert found[400] == []
    assert [line.partition(": ")[2].partition(":")[0] for line in found[405]] == ["signature"]
    assert "405 characters" in found[405][0]
    in_chinese = problem_text(found[405][0].split(": ", 2)[2], Language.ZH, "terminal")
    assert "控制在 400 个以内，现在写的是 '" in in_chinese
    title = "'The server answered 500'"
    assert title in problem_text(
        f"title: {title} is also a title or alias of roll/b", Language.ZH, "terminal"
    )


@pytest.mark.parametrize("value", ["error; it is ", "title: a is a draft; "], ids=["nested", "alike"])
def test_a_message_with_a_value_of_any_length_is_translated(value: str) -> None:
    message = f"must be one of concept, error; it is '{value * 10_000}'"
    assert problem_text(message, Language.ZH).startswith("只能是 concept, error 之一，现在写的是 '")


@pytest.mark.parametrize("fault", ["is missing: say", "is '3', but must be"])
def test_what_a_line_without_a_proper_id_lacks_is_told_in_one_language(fault: str) -> None:
    message = f"{fault} <framework>/<slug>, the slug 1 to 80 of a-z, 0-9 and -, not starting with -"
    told = problem_text(message, Language.ZH, "terminal")
    assert told.endswith("<framework>/<slug>，slug 是 1 到 80 个 a-z、0-9 和 -，不以 - 开头")
    assert "but" not in told


def test_an_answer_that_is_code_is_no_skeleton(tmp_path: Path) -> None:
    folder = write(tmp_path, {"en/roll/a.md": edition("A", "## Answer\n\n`TODO: x`\n")})
    assert list(Loaded([folder]).corpus.by_id) == ["roll/a"]


# ---- sync


def test_sync_changes_one_line_and_keeps_every_other_byte(tmp_path: Path) -> None:
    folder = write(tmp_path, GOOD)
    english = folder / A_EN
    original = b"\xef\xbb\xbf" + english.read_bytes().replace(b"\n", b"\r\n") + b"no end of line"
    english.write_bytes(original)
    first = jieda("sync", "roll/a", "--content", folder)
    assert first.exit_code == 0
    assert set(first.stdout.splitlines()) == {str(folder / A_EN), str(folder / A_ZH)}
    stamped = english.read_bytes()
    lines = stamped.split(b"\r\n")
    added = next(line for line in lines if line.startswith(b"synced_with: '"))
    assert b"\r\n".join(line for line in lines if line != added) == original
    assert jieda("check", "--content", folder).exit_code == 0

    chinese = folder / A_ZH
    chinese.write_bytes(chinese.read_bytes() + "\n再说一句。\n".encode())
    assert jieda("sync", "roll/a", "--content", folder).stdout == f"{english}\n"
    again = english.read_bytes()
    changed = [
        (old, new)
        for old, new in zip(stamped.split(b"\r\n"), again.split(b"\r\n"), strict=True)
        if old != new
    ]
    assert [old for old, _ in changed] == [added]
    assert jieda("check", "--content", folder).exit_code == 0


def test_sync_all_leaves_alone_what_agrees(tmp_path: Path) -> None:
    folder = write(tmp_path, GOOD)
    assert len(jieda("sync", "--all", "--content", folder).stdout.splitlines()) == 2
    assert jieda("sync", "--all", "--content", folder).stdout == ""


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("roll/none",), "roll/none is not an entry"),
        (("roll/a", "roll/b"), "roll/b has one edition only"),
        ((), "either the entries or --all"),
        (("roll/a", "--all"), "either the entries or --all"),
        (("roll/a", "roll/c"), "en/roll/c.md: `synced_with` must be on lines of its own"),
    ],
)
def test_sync_refuses_what_it_cannot_do_and_writes_nothing(
    tmp_path: Path, args: tuple[str, ...], words: str
) -> None:
    indented = {f"{lang}/roll/c.md": edition("C").replace("\n", "\n  ", 5) for lang in ("en", "zh")}
    folder = write(tmp_path, GOOD | indented)
    before = (folder / A_EN).read_bytes()
    run = jieda("sync", *args, "--content", folder)
    assert run.exit_code == 2
    assert words in run.stderr
    assert "Traceback" not in run.stderr
    assert (folder / A_EN).read_bytes() == before


# ---- new


@pytest.mark.parametrize("kind", ["error", "how-to", "concept"])
def test_new_writes_drafts_of_both_editions_whose_open_points_are_told(tmp_path: Path, kind: str) -> None:
    folder = synced(tmp_path, GOOD)
    run = jieda("new", "roll/fresh", "--kind", kind, "--content", folder)
    assert run.exit_code == 0
    assert run.stdout.splitlines() == [str(folder / "en/roll/fresh.md"), str(folder / "zh/roll/fresh.md")]
    found = jieda("check", "--content", folder)
    assert found.stderr.startswith("2 entries in 3 editions"), "a draft is not served"
    told = [line.split(" ")[1:3] for line in found.stdout.splitlines()]
    to_write = sum(
        "TODO" in line or "待填" in line
        for lang in ("en", "zh")
        for line in (folder / lang / "roll/fresh.md").read_text(encoding="utf-8").splitlines()
    )
    assert told.count(["draft:", "sync:"]) == 2
    assert told.count(["draft:", "unfinished:"]) == to_write > 4
    assert (found.exit_code, found.stderr) == (
        0,
        f"2 entries in 3 editions: no problems; {len(told)} open points in 2 drafts\n",
    )
    (folder / "en/roll/fresh.md").write_text("---\ndraft: true\ntitle: [\n---\n", encoding="utf-8")
    assert jieda("check", "--content", folder).exit_code == 1, "a draft that cannot be read is wrong"


def test_new_writes_in_the_one_language_of_the_content(tmp_path: Path) -> None:
    folder = synced(tmp_path, {A_ZH: GOOD[A_ZH]} | SAMPLES)
    log = tmp_path / "train.log"
    log.write_text("RuntimeError: shard 7 of the optimizer is torn\n")
    made = [
        jieda("new", "roll/fresh", "--kind", "concept", "--content", folder),
        jieda(
            *("new", "roll/torn", "--from-log", log, "--content", folder),
            JIEDA_DATA=str(tmp_path / "data"),
            JIEDA_SEMANTIC="0",
        ),
    ]
    assert [run.exit_code for run in made] == [0, 0]
    assert not (folder / "en").exists()
    assert (folder / "zh/roll/fresh.md").is_file()
    drafted = (folder / "zh/roll/torn.md").read_text(encoding="utf-8")
    assert "shard" in drafted
    assert "synced_with" not in drafted, "it has no twin"


@pytest.mark.parametrize(
    ("entry_id", "words"),
    [
        ("roll/a", "already exists"),
        ("roll/Bad_Name", "must be <framework>/<slug>"),
        ("../../x", "must be <framework>/<slug>"),
        ("other/x", "is not in taxonomy.yaml, which has roll"),
    ],
)
def test_new_refuses_and_writes_nothing(tmp_path: Path, entry_id: str, words: str) -> None:
    folder = write(tmp_path, GOOD)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    run = jieda("new", entry_id, "--kind", "error", "--content", folder)
    assert run.exit_code == 2
    assert words in run.stderr
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    folder = write(tmp_path, {"en/roll": "a file where a folder should be\n"})
    run = jieda("new", "roll/fresh", "--kind", "concept", "--content", folder)
    assert run.exit_code == 2
    assert f"{folder}/en/roll: " in run.output


def test_new_writes_into_the_last_directory_and_quotes_what_needs_it(tmp_path: Path) -> None:
    base = write(tmp_path / "base", {})
    taxonomy = TAXONOMY.replace("{en: ROLL, zh: ROLL}", '{en: "O\'Clock", zh: 钟}')
    team = write(tmp_path / "team", {"taxonomy.yaml": taxonomy})
    jieda("new", "roll/x", "--kind", "concept", "--content", base, "--content", team)
    assert (team / "en/roll/x.md").is_file()
    assert not (base / "en").exists()
    found = jieda("check", "--content", team).stdout.splitlines()
    assert {line.split(" ")[2] for line in found} == {"sync:", "unfinished:"}


@pytest.mark.slow
def test_the_command_runs_as_a_process_from_anywhere(tmp_path: Path) -> None:
    folder = synced(
        tmp_path, GOOD | {"zh/roll/c.md": edition("丙", "## 回答\n\n是。\n", related="[roll/没有]")}
    )
    command = [*COMMAND, "check", "--content", "."]
    run = subprocess.run(
        command, cwd=folder, capture_output=True, env=environment({"LC_ALL": "C"}), check=False
    )
    assert run.returncode == 1
    assert run.stdout.decode().startswith("zh/roll/c.md:7: field: `related` must be an id: framework/")
    assert "roll/没有" in run.stdout.decode()


def test_a_file_name_cannot_write_to_the_terminal_of_who_checks() -> None:
    problem = Problem("en/roll/a\n\x1b[31m显存.md", 1, "slug", "is none", served=False)
    assert str(problem) == "en/roll/a\\n\\x1b[31m显存.md:1: slug: is none"


def test_a_fix_without_an_option_is_asked_whether_it_applies_anywhere(tmp_path: Path) -> None:
    run = jieda("check", "--search", "--content", synced(tmp_path, GOOD))
    assert "roll/a.md:1: note: anywhere: the fix names no option of roll" in run.stdout
    said = {name: text.replace("kind:", "applies_anywhere: false\nkind:") for name, text in GOOD.items()}
    assert "anywhere" not in jieda("check", "--search", "--content", synced(tmp_path / "b", said)).stdout


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "taxonomy.yaml",
            "topics:\n  a: {name: {zh: 甲}, description: {en: A, zh: 甲}}\n",
            ":2: `name` 要么只写一个值，要么写 `en` 和 `zh` 两项",
        ),
        ("taxonomy.yaml", "topics: [a\nkinds: b\n", ":2: 这里缺 `,` 或 `]`：请用空格缩进"),
        (
            "taxonomy.yaml",
            TAXONOMY + "site: {stages: [{name: {en: A, zh: 甲}, topics: [nothing]}]}\n",
            f":{TAXONOMY_LINES + 1}: `topics` 只能是 memory 之一，现在写的是 'nothing'",
        ),
        (
            "taxonomy.yaml",
            "site: {logo: a b}\n",
            ":1: `logo` 应该是目录 `site` 里的图片文件名，现在写的是 'a b'",
        ),
        ("taxonomy.yaml", "site: {accent: red}\n", ":1: `accent` 应该是颜色，例如 '#0b6b52'，要加引号，"),
        ("taxonomy.yaml", "site: {lead: '{n}'}\n", ":1: `lead` 没有占位符 {n}，只有 {count} 和 {frameworks}"),
        (
            "taxonomy.yaml",
            "topics:\n  月: {}\n",
            ":2: `topics` 应该是由字母、数字、`.`、`_` 和 `-` 组成的 id，",
        ),
        ("glossary.yaml", "- {en: []}\n", ":1:"),
        ("dictionary.txt", "一 二 三\n", ":1: 应该是一个词，或者一个词加词频"),
        ("programs.yaml", "without: {programs: [nobody]}\n", ":1: `without`：下层没有 'nobody'"),
    ],
)
def test_a_broken_file_beside_the_entries_is_told_in_the_language_asked_for(
    name: str, text: str, told: str, tmp_path: Path
) -> None:
    run = jieda("check", "--lang", "zh", "--content", write(tmp_path, GOOD | {name: text}))
    assert run.exit_code == 2
    said = run.stderr.partition(f"{name}:")[2]
    assert f":{said}".startswith(told)
    assert not said.isascii()


def test_a_folder_without_a_taxonomy_is_told_what_makes_one(tmp_path: Path) -> None:
    for lang, told in (
        ("en", "is missing, and the directory is empty; if"),
        ("zh", "没有这个文件，目录是空的；"),
    ):
        assert told in jieda("check", "--lang", lang, "--content", tmp_path).stderr
    (tmp_path / "README.md").touch()
    for lang, told in (
        ("en", "is missing; `jieda init` makes one"),
        ("zh", "没有这个文件；`jieda init` 可以新建"),
    ):
        assert told in jieda("check", "--lang", lang, "--content", tmp_path).stderr
