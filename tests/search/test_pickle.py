"""Nothing is unpickled: what builds, opens, searches and diagnoses runs in a process in which that is forbidden."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.server import ROOT
from tests.support.small_content import edition, write

FORBIDDEN = """
import pickle, sys

def refuse(*_, **__):
    raise AssertionError("something was unpickled")

class Refusing:
    __init__ = refuse

pickle.load = pickle.loads = pickle._load = pickle._loads = refuse
pickle.Unpickler = pickle._Unpickler = Refusing

from pathlib import Path
from jieda.entry import Language
from jieda.search.answers import SearchRequest
from jieda.snapshot.build.builder import Builder
from jieda.snapshot.snapshot import Analyzers
from jieda.snapshot.watch.follow import Follower

content, data = map(Path, sys.argv[1:])
entry, analyzers = content / "en/roll/a.md", Analyzers()
for before, title in (("Nothing", "Salmon run"), ("Salmon run", "Salmon 显存 run")):
    # A builder and a follower of their own: whatever can be kept of the build before is read from the disk.
    entry.write_text(entry.read_text(encoding="utf-8").replace(before, title), encoding="utf-8")
    Builder([content], data, analyzers).build()
    follower = Follower(data, analyzers, lambda: None)
    follower.catch_up()
    snapshot = follower.snapshot
    for query in (title, "salmn run", "title:run -herring", "sal*", "fish in the river"):
        found = snapshot.searcher.search(SearchRequest(query, Language.EN)).hits
        assert "roll/a" in [hit.entry.id for hit in found], query
    (match,) = snapshot.diagnoser.diagnose("ValueError: net 7 is torn", Language.EN).matches
    print(title, match.entry.id)
"""
"""Before anything else is imported, so that `from pickle import loads` has it as well."""


@pytest.mark.slow
def test_building_opening_searching_and_diagnosing_unpickle_nothing(tmp_path: Path) -> None:
    answer = "## Answer\n\nMany fish in the river.\n"
    content = write(
        tmp_path / "content",
        {f"en/roll/{slug}.md": edition(title, answer) for slug, title in (("a", "Nothing"), ("b", "Other"))}
        | {
            "en/roll/torn.md": edition(
                "Torn", "## Fix\n\nMend it.\n", kind="error", signatures="['net {int} is torn']"
            ),
            "samples/roll/torn/1.log": "ValueError: net 7 is torn\n",
        },
    )
    command = [sys.executable, "-c", FORBIDDEN, str(content), str(tmp_path / "data")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (
        0,
        "Salmon run roll/torn\nSalmon 显存 run roll/torn\n",
    ), done.stderr[-3000:]
