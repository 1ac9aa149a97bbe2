"""A whole Jieda copied over its API, by the loop that docs/importing.md shows, from a server to files."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from jieda.content.read.corpus import Outline
from jieda.content.read.load import Loaded
from jieda.entry import Language

from tests.support import shipped
from tests.support.command import jieda
from tests.support.inside import Inside
from tests.support.server import ROOT, Server, environment
from tests.support.small_content import edition, write

LOOP = re.search(
    r"```sh\n(set -e\n.*?)```", (ROOT / "docs/importing.md").read_text(encoding="utf-8"), re.DOTALL
)

pytestmark = pytest.mark.skipif(
    not (shutil.which("curl") and shutil.which("jq")), reason="the loop needs curl and jq"
)


def copy(site: str, folder: Path, content: Path) -> subprocess.CompletedProcess[str]:
    """Runs the loop in a folder, where it makes `loaded`."""
    assert LOOP
    script = LOOP[1].replace("https://faq.example.com", site)
    script = script.replace(".venv/bin/jieda", f"{sys.executable} -m jieda.cli.main")
    return subprocess.run(
        ["sh", "-c", script],
        cwd=folder,
        env=environment({"JIEDA_CONTENT": str(content), "NO_PROXY": "*"}),
        capture_output=True,
        text=True,
        check=False,
    )


def editions(content: Path) -> dict[tuple[str, Language], Outline]:
    return {
        (entry_id, lang): file
        for entry_id, found in Loaded([content]).corpus.by_id.items()
        for lang, file in found.items()
    }


def test_a_copy_has_the_same_entries_and_nothing_wrong_with_them(server: Server, tmp_path: Path) -> None:
    done = copy(server.base, tmp_path, shipped.CONTENT)
    loaded = tmp_path / "loaded"
    again = jieda("load", tmp_path / "entries.jsonl", "--into", loaded, "--prune")
    for path in shipped.CONTENT.iterdir():
        if path.name in {"samples", "background"}:
            shutil.copytree(path, loaded / path.name)
        elif path.is_file():
            shutil.copy(path, loaded)
    before, after = editions(shipped.CONTENT), editions(loaded)
    assert done.returncode == again.returncode == 0, done.stderr + again.stderr
    assert f"{len(before)} new, 0 changed" in done.stderr
    assert f"0 new, 0 changed, {len(before)} unchanged, 0 removed" in again.stderr
    assert before.keys() == after.keys()
    for key, file in before.items():
        assert after[key].front == file.front, key
        assert after[key].digest == file.digest, key
        assert after[key].section_keys == file.section_keys, key


def test_a_copy_takes_what_an_entry_names_and_not_its_neighbors(
    inside: Callable[..., AbstractContextManager[Inside]], tmp_path: Path
) -> None:
    """The API tells six neighbors at least where there are so many; this one names eight of nine."""
    others = [f"roll/other-{number}" for number in range(9)]
    content = write(
        tmp_path / "content",
        {f"en/{each}.md": edition(f"About {each}", formerly=f"[{each}-old]") for each in others}
        | {
            "en/roll/a.md": edition("A", related=f"[{', '.join(others[1:])}]", aliases="[one]"),
            "en/roll/b.md": edition("B", related="[roll/a]"),
        },
    )
    with inside(content) as server:
        done = copy(server.base, tmp_path, content)
    assert done.returncode == 0, done.stderr
    shutil.copy(content / "taxonomy.yaml", tmp_path / "loaded")
    before, after = editions(content), editions(tmp_path / "loaded")
    assert {key: file.front for key, file in after.items()} == {
        key: file.front for key, file in before.items()
    }
