"""What the last version left opens in this one, and the recipes of docs/operations.md do what they say."""

import os
import re
import shutil
import sqlite3
import subprocess
import tarfile
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest
from jieda.feedback import GAPS, VOTES
from jieda.version import VERSION

from tests.support.command import jieda
from tests.support.inside import Inside
from tests.support.server import COMMAND, ROOT, environment
from tests.support.small_content import edition, write

VERSIONS = ROOT / "tests" / "fixtures" / "versions"
OWN_NAME = re.compile(r"(?<=row\.|elf\.)places(?=[.\[])|places(?=: Mapping|={lang)")
"""A field of `EntryRow`, wherever it is used."""


Serving = Callable[..., AbstractContextManager[Inside]]


@pytest.mark.parametrize("archive", sorted(VERSIONS.glob("*.tar.gz")), ids=lambda path: path.name)
def test_content_and_data_of_an_earlier_version_open_in_this_one(
    inside: Serving, tmp_path: Path, archive: Path
) -> None:
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    # Gaps are forgotten after 90 days unless somebody says otherwise.
    chosen = {"data": str(tmp_path / "data"), "gaps": "1", "gaps_days": "3650"}
    with inside(tmp_path / "content", **chosen) as server, server.client() as client:
        ready = client.get("/readyz").json()
        assert (ready["status"], ready["entries"], ready["version"]) == ("ready", 2, VERSION)
        log = "Traceback (most recent call last):\n  f()\ntorch.OutOfMemoryError: Tried to allocate 7 MiB\n"
        found = client.post("/api/v1/diagnose", json={"text": log}).json()
        assert [match["id"] for match in found["matches"]] == ["roll/oom"]
        assert "采样" in client.get("/zh/search", params={"q": "采样"}).text
    settings = {"content": str(tmp_path / "content"), **chosen}
    given = {f"JIEDA_{name.upper()}": value for name, value in settings.items()}
    assert re.search(r"^ *0 no · +1 yes +en +roll/oom$", jieda("votes", **given).stdout, re.MULTILINE)
    assert "how to change the learning rate" in jieda("gaps", **given).stdout
    checked = jieda("check", "--content", settings["content"])
    assert (checked.returncode, checked.stdout) == (0, "")


@pytest.mark.slow
def test_an_index_of_other_code_is_no_part_of_the_next(tmp_path: Path) -> None:
    """Although the content is the same, and the code before wrote its files in another form."""
    old = tmp_path / "old" / "app"
    shutil.copytree(ROOT / "app" / "jieda", old / "jieda")
    form = old / "jieda" / "search" / "completion.py"
    before = form.read_text(encoding="utf-8")
    form.write_text(before.replace('"start.', '"begin.'), encoding="utf-8")
    assert form.read_text(encoding="utf-8") != before
    renamed = 0
    for module in (old / "jieda" / "snapshot").rglob("*.py"):
        text, times = OWN_NAME.subn("spots", module.read_text(encoding="utf-8"))
        module.write_text(text, encoding="utf-8")
        renamed += times
    assert renamed == 5
    content = write(tmp_path / "content", {"en/roll/oom.md": edition("Out of memory")})
    chosen = {"JIEDA_CONTENT": str(content), "JIEDA_DATA": str(tmp_path / "data"), "JIEDA_SEMANTIC": "0"}
    environ = environment(chosen)
    for path in (str(old), environ["PYTHONPATH"]):
        ran = subprocess.run(
            [*COMMAND, "search", "memory"],
            env=environ | {"PYTHONPATH": path},
            capture_output=True,
            check=False,
        )
        assert (ran.returncode, b"Out of memory" in ran.stdout) == (0, True), ran.stderr


def test_there_is_a_fixture_of_this_version() -> None:
    """So that the next one is tried with it; `python -m tests.fixtures.versions.make` makes it."""
    assert (VERSIONS / f"{VERSION}.tar.gz").is_file()
    assert all(path.stat().st_size < 200 << 10 for path in VERSIONS.iterdir())


def counts(data: Path) -> dict[str, list[tuple[object, ...]]]:
    told = {}
    for name, table in ((VOTES, "votes"), (GAPS, "asked")):
        with closing(sqlite3.connect(data / name)) as connection:
            told[name] = connection.execute(f"SELECT * FROM {table}").fetchall()
    return told


@pytest.mark.slow
def test_the_recipes_bring_votes_and_gaps_back(inside: Serving, tmp_path: Path) -> None:
    blocks, chinese = (
        re.findall(r"```sh\n(.*?)```", (ROOT / f"docs/operations{each}.md").read_text("utf-8"), re.DOTALL)
        for each in ("", ".zh-CN")
    )
    assert blocks == chinese
    content = write(tmp_path / "content", {"en/roll/one.md": edition("One")})
    # By default, content of one's own has a folder of its own below the data directory.
    served, fresh = (tmp_path / each / "a1b2c3" for each in ("served", "fresh"))
    fresh.mkdir(parents=True)
    with inside(content, data=str(served), gaps="1") as server, server.client() as client:
        client.post("/en/entries/roll/one", data={"solved": "yes"})
        client.get("/en/search", params={"q": "how to change the learning rate"})

    def follow(recipe: str, data: Path) -> str:
        environ = os.environ | {"DATA": str(data)}
        command = ["sh", "-eu", "-c", recipe]
        return subprocess.run(
            command, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
        ).stderr

    # While it serves. An unanswered question is written a moment later.
    with inside(content, data=str(served), gaps="1"):
        assert follow(blocks[0], served.parent) == ""
    kept = counts(tmp_path / "backup" / served.name)
    assert all(kept.values())
    assert follow(blocks[0], fresh.parent) == f"nothing to back up below {fresh.parent}\n"
    # As a server that was killed leaves it.
    (fresh / f"{GAPS}-wal").write_bytes(b"of another database")
    assert follow(blocks[1], fresh.parent) == ""
    with inside(content, data=str(fresh), gaps="1") as restored, restored.client() as client:
        assert client.get("/readyz").json()["status"] == "ready"
    assert counts(fresh) == kept
