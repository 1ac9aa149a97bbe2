"""`jieda mv`: an entry gets another id, and everything that names it follows."""

import shutil
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from jieda.content.authoring.moving import plan_move
from jieda.content.authoring.writing import carry_out
from jieda.content.read.load import Loaded

from tests.content.test_check import ERROR, FIX, FIX_ZH, SAMPLES, jieda, synced
from tests.support.git import git
from tests.support.shipped import CONTENT
from tests.support.small_content import TAXONOMY, edition, write

FRAMEWORKS = TAXONOMY.replace(
    "kinds:",
    "  slime:\n    name: {en: slime, zh: slime}\n    description: {en: Another., zh: 另一个。}\nkinds:",
)
LINKS = """\
## Notes

See [one](a.md), [two](./a.md#fix "title (a.md)"), [three](<a.md#fix>), [four](../roll/a.md), [five][ref],
[Chinese](../../zh/roll/a.md), [other](ab.md), ![x](x.png) and [![x](x.png)](a.md#fix). `[no](a.md)` \\[no](a.md)

- [six](a.md)[seven](a.md)

```markdown
[no](a.md)
[ref]: a.md
```

[ref]: ../roll/a.md#fix
"""
LINKED = """\
## Notes

See [one](new.md), [two](./new.md#fix "title (a.md)"), [three](<new.md#fix>), [four](../roll/new.md), [five][ref],
[Chinese](../../zh/roll/new.md), [other](ab.md), ![x](x.png) and [![x](x.png)](new.md#fix). `[no](a.md)` \\[no](a.md)

- [six](new.md)[seven](new.md)

```markdown
[no](a.md)
[ref]: a.md
```

[ref]: ../roll/new.md#fix
"""
FILES = {
    "taxonomy.yaml": FRAMEWORKS,
    "en/roll/a.md": edition(
        "A moon error", FIX + "\n## Notes\n\n[b](b.md#notes) [self](a.md#fix)\n", **ERROR
    ),
    "zh/roll/a.md": edition("月亮报错", FIX_ZH + "\n## 说明\n\n[b](b.md#notes) [self](a.md#fix)\n", **ERROR),
    "en/roll/ab.md": edition("Ab"),
    "en/roll/b.md": edition("B", "## Answer\n\nYes.\n\n" + LINKS, related="[roll/ab, 'roll/a'] # two"),
    "en/roll/c.md": edition("C", related="\n  # the first\n  - roll/a  # here"),
    "zh/roll/c.md": edition("丙", "## 回答\n\n[甲](a.md)\n", related="\n  - roll/a"),
    "en/slime/d.md": edition("D", "## Answer\n\n[a](../roll/a.md#fix)\n"),
    "en/roll/x.png": "not looked into",
} | SAMPLES


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def content(folder: Path) -> Path:
    synced(folder, FILES)
    assert jieda("check", "--content", folder).stdout == ""
    return folder


def move(folder: Path, old: str, new: str, *more: str, code: int = 0) -> str:
    run = jieda("mv", old, new, "--content", folder, *more)
    assert run.exit_code == code, run.output
    return run.output


def test_everything_that_names_an_entry_follows_and_no_other_byte_changes(tmp_path: Path) -> None:
    folder = content(tmp_path)
    before = tree(folder)
    move(folder, "roll/a", "roll/new")
    after = tree(folder)
    assert jieda("check", "--content", folder).exit_code == 0, "also the twins are still in step"
    assert after.keys() == {
        name.replace("/roll/a.md", "/roll/new.md").replace("/roll/a/", "/roll/new/") for name in before
    }
    assert after["en/roll/b.md"] == before["en/roll/b.md"].replace(LINKS.encode(), LINKED.encode()).replace(
        b"[roll/ab, 'roll/a'] # two", b"[roll/ab, 'roll/new'] # two"
    )
    assert b"\n  # the first\n  - roll/new  # here\n" in after["en/roll/c.md"]
    assert "[甲](new.md)".encode() in after["zh/roll/c.md"]
    assert b"[a](../roll/new.md#fix)" in after["en/slime/d.md"]
    assert after["en/roll/ab.md"] == before["en/roll/ab.md"]
    for name in ("en/roll/new.md", "zh/roll/new.md"):
        assert b"\nformerly:\n  - roll/a\n" in after[name]
        assert b"[b](b.md#notes) [self](new.md#fix)" in after[name]


def test_line_ends_a_byte_order_mark_and_an_end_without_a_line_end_are_kept(tmp_path: Path) -> None:
    folder = content(tmp_path)
    path = folder / "en/slime/d.md"
    original = b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n") + b"no end of line"
    path.write_bytes(original)
    english = folder / "en/roll/a.md"
    english.write_bytes(english.read_bytes().replace(b"\n", b"\r\n"))
    kept = path.stat().st_mtime_ns
    move(folder, "roll/a", "roll/new")
    assert path.read_bytes() == original.replace(b"../roll/a.md", b"../roll/new.md")
    assert path.stat().st_mtime_ns == kept, "which twin is newer may hang on it"
    assert b"\r\nformerly:\r\n  - roll/a\r\n" in (folder / "en/roll/new.md").read_bytes()
    assert b"\n" not in (folder / "en/roll/new.md").read_bytes().replace(b"\r\n", b"")
    assert jieda("check", "--content", folder).stdout == ""


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("[roll/first]", b"formerly: [roll/first, roll/a]\n"),
        ("\n  - roll/first # why", b"formerly: \n  - roll/first # why\n  - roll/a\n"),
        ("\n- 'roll/first'", b"formerly: \n- 'roll/first'\n- roll/a\n"),
        ("\n  - >-\n    roll/first", b"formerly: \n  - >-\n    roll/first\n  - roll/a\n"),
        ("[]", b"formerly:\n  - roll/a\n"),
    ],
)
def test_old_addresses_are_kept_and_moving_back_takes_one_out(
    tmp_path: Path, written: str, expected: bytes
) -> None:
    files = FILES | {
        "en/roll/a.md": edition("A", FIX, **ERROR, formerly=written),
        "en/roll/e.md": edition("E", related="[roll/a, roll/new]"),
    }
    del files["zh/roll/a.md"], files["zh/roll/c.md"]
    folder = synced(tmp_path, files)
    move(folder, "roll/a", "roll/new")
    assert expected in (folder / "en/roll/new.md").read_bytes()
    move(folder, "roll/new", "roll/a")
    fields = Loaded([folder]).corpus.by_id["roll/a"]
    assert {old for file in fields.values() for old in file.front.formerly} - {"roll/first"} == {"roll/new"}
    told = jieda("check", "--content", folder).stdout
    assert told == "en/roll/e.md:7: field: `related` appears twice in the list\n", "it named both ids"


def test_another_framework_takes_images_along_and_leads_the_entrys_own_links_back(tmp_path: Path) -> None:
    body = "\n\n![x](x.png) ![y](<é (1).png>) [b](b.md#notes) [self](a.md#fix) [d](../slime/d.md)\n"
    decomposed = "e\u0301 (1)"
    folder = synced(
        tmp_path,
        FILES
        | {
            "en/roll/a.md": edition("A moon error", FIX + "\n## Notes" + body, **ERROR),
            "zh/roll/a.md": edition("月亮报错", FIX_ZH + "\n## 说明" + body, **ERROR),
            **{f"{lang}/roll/{name}.png": name for lang in ("en", "zh") for name in ("x", decomposed)},
            "en/roll/b.md": FILES["en/roll/b.md"].replace("(x.png)", "(%78.png)"),
        },
    )
    assert jieda("check", "--content", folder).stdout == ""
    told = move(folder, "roll/a", "slime/new")
    assert jieda("check", "--content", folder).stdout == ""
    expected = "![x](x.png) ![y](<é (1).png>) [b](../roll/b.md#notes) [self](new.md#fix) [d](../slime/d.md)"
    assert expected.encode() in (folder / "zh/slime/new.md").read_bytes()
    assert b"[one](../slime/new.md)" in (folder / "en/roll/b.md").read_bytes()
    assert b"[a](new.md#fix)" in (folder / "en/slime/d.md").read_bytes()
    assert (folder / "en/roll/x.png").is_file(), "b shows it, too"
    assert not (folder / f"en/roll/{decomposed}.png").exists()
    assert f"rename {folder}/samples/roll/a to {folder}/samples/slime/new" in told
    assert not (folder / "samples/roll").exists()


def test_a_dry_run_says_the_same_and_changes_nothing(tmp_path: Path) -> None:
    folder = content(tmp_path)
    before = tree(folder)
    told = move(folder, "roll/a", "slime/new", "--dry-run")
    assert tree(folder) == before
    assert sorted(path.name for path in folder.rglob(".*")) == []
    assert move(folder, "roll/a", "slime/new").splitlines() == told.splitlines()[:-1]


def test_an_edition_that_was_stale_stays_stale(tmp_path: Path) -> None:
    folder = content(tmp_path)
    path = folder / "en/roll/c.md"
    path.write_bytes(path.read_bytes() + b"\nOne thing more.\n")
    before = jieda("check", "--content", folder).stdout
    assert "zh/roll/c.md" in before
    move(folder, "roll/a", "roll/new")
    assert jieda("check", "--content", folder).stdout == before


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("roll/none", "roll/new", "there is no entry roll/none"),
        ("roll/a", "roll/c", "en/roll/c.md already exists"),
        ("roll/a", "roll/a", "has that name already"),
        ("roll/a", "roll/Bad", "must be <framework>/<slug>"),
        ("roll/a", "../../x", "must be <framework>/<slug>"),
        ("roll/a", "vllm/a", "is not in taxonomy.yaml, which has roll, slime"),
        ("roll/a", "roll/gone", "gone is an old address of roll/e: choose another name"),
        ("roll/gone", "roll/new", "roll/gone is called roll/e now"),
        ("roll/a", "roll/kept", "samples/roll/kept already exists"),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_reason(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    folder = content(tmp_path)
    write(folder, {"taxonomy.yaml": FRAMEWORKS, "samples/roll/kept/1.log": "x"})
    write(folder, {"taxonomy.yaml": FRAMEWORKS, "en/roll/e.md": edition("E", formerly="[roll/gone]")})
    before = tree(folder)
    told = move(folder, old, new, code=2)
    assert words in told
    assert "Traceback" not in told
    assert tree(folder) == before


@pytest.mark.parametrize("where", ["en/roll/a.md", "samples/roll/a", "en/roll/b.md", "zh/roll"])
def test_what_lies_behind_a_symbolic_link_is_not_touched(tmp_path: Path, where: str) -> None:
    folder = content(tmp_path / "content")
    inside = folder / "en" / "slime" / "behind.md" if where.endswith(".md") else folder / "behind"
    shutil.move(folder / where, inside)
    (folder / where).symlink_to(inside)
    before = tree(folder)
    told = move(folder, "roll/a", "roll/new", code=2)
    assert f"{folder / where} is a symbolic link" in told
    assert tree(folder) == before


def test_a_folder_that_cannot_be_made_leaves_everything_as_it_was(tmp_path: Path) -> None:
    folder = content(tmp_path)
    (folder / "samples/slime").write_text("a file where a folder should be", encoding="utf-8")
    before = tree(folder)
    told = move(folder, "roll/a", "slime/new", code=2)
    assert f"{folder}/samples/slime" in told
    assert tree(folder) == before
    assert not (folder / "zh/slime").exists()


def test_a_collision_in_the_middle_takes_everything_back(tmp_path: Path) -> None:
    folder = content(tmp_path)
    path = folder / "en/roll/a.md"
    path.write_bytes(path.read_bytes() + b"\n![an image that b shows, too](x.png)\n")
    steps, _ = plan_move([folder], Loaded([folder]).corpus, "roll/a", "slime/new")
    # Somebody else was quicker, with the last thing that is renamed.
    (folder / "samples/slime/new").mkdir(parents=True)
    before = tree(folder)
    modified = {path: path.stat().st_mtime_ns for path in folder.rglob("*.md")}
    with pytest.raises(FileExistsError):
        carry_out(steps)
    assert tree(folder) == before
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.md")} == modified
    assert not (folder / "zh/slime").exists()
    assert list(folder.rglob(".*")) == []


def test_links_in_every_content_directory_follow(tmp_path: Path) -> None:
    shipped = content(tmp_path / "shipped")
    team = write(tmp_path / "team", {"en/roll/t.md": edition("T", "## Answer\n\n[a](a.md)\n")})
    (team / "taxonomy.yaml").unlink()
    run = jieda("mv", "roll/a", "roll/new", "--content", shipped, "--content", team)
    assert run.exit_code == 0, run.output
    assert "[a](new.md)" in (team / "en/roll/t.md").read_text(encoding="utf-8")
    assert jieda("check", "--content", shipped, "--content", team).exit_code == 0


def test_a_file_that_cannot_be_read_is_named_and_left(tmp_path: Path) -> None:
    folder = content(tmp_path)
    broken = folder / "en/roll/broken.md"
    broken.write_text("---\ntitle: [a.md\n---\n[a](a.md)\n", encoding="utf-8")
    told = move(folder, "roll/a", "roll/new")
    assert f"{broken}: cannot be read" in told
    assert "[a](a.md)" in broken.read_text(encoding="utf-8")


def test_git_sees_renames(tmp_path: Path) -> None:
    folder = content(tmp_path)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "All")
    move(folder, "roll/a", "roll/new")
    git(folder, "add", ".")
    told = git(folder, "diff", "--cached", "--name-status", "--find-renames")
    renamed = {line.split("\t")[1] for line in told.splitlines() if line.startswith("R")}
    assert renamed == {"en/roll/a.md", "zh/roll/a.md", "samples/roll/a/1.log", "samples/roll/a/2.log"}


def test_the_old_address_leads_to_the_new_one(tmp_path: Path, serve: Callable[..., httpx.Client]) -> None:
    folder = content(tmp_path / "content")
    move(folder, "roll/a", "slime/new")
    client = serve(folder)
    answer = client.get("/en/entries/roll/a")
    assert (answer.status_code, answer.headers["location"]) == (308, "/en/entries/slime/new")
    assert client.get("/zh/entries/slime/new").status_code == 200
    assert client.get("/api/v1/problems").json()["total"] == 0


@pytest.mark.slow
def test_a_shipped_entry_can_be_moved_and_moved_back(tmp_path: Path) -> None:
    """That which most others link to, to another framework and back."""
    folder = tmp_path / "content"
    shutil.copytree(CONTENT, folder)
    texts = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.md"))
    linked = max(Loaded([folder]).corpus.by_id, key=lambda each: texts.count(f"{each.partition('/')[2]}.md"))
    there = f"{'slime' if linked.startswith('roll') else 'roll'}/moved"
    move(folder, linked, there)
    assert jieda("check", "--content", folder).stdout == ""
    move(folder, there, linked)
    assert bodies(folder) == bodies(CONTENT)


def bodies(folder: Path) -> dict[str, bytes]:
    """What stands below the front matter; the longer way to a neighbor is as good as the short one."""
    return {
        name: text.split(b"\n---\n", 1)[1].replace(f"](../{name.split('/')[1]}/".encode(), b"](")
        for name, text in tree(folder).items()
        if name.endswith(".md")
    }
