"""The bill of materials names what is shipped, all of it, and why each piece is there."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jieda.version import VERSION

ROOT = Path(__file__).resolve().parent.parent


def bill(*arguments: str) -> str:
    command = [sys.executable, str(ROOT / "requirements" / "sbom.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT.parent).stdout


@pytest.fixture(scope="module")
def shipped() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(bill())
    return found


def test_every_pin_of_the_lock_is_a_component_and_nothing_else_is(shipped: dict[str, Any]) -> None:
    lock = (ROOT / "requirements" / "runtime.txt").read_text(encoding="utf-8")
    pinned = re.findall(r"^([a-z0-9][\w.-]*)(?:\[[\w,-]+\])?==([^\s;]+)", lock, re.MULTILINE)
    assert sorted(pinned) == sorted((each["name"], each["version"]) for each in shipped["components"])
    purls = [each["purl"] for each in shipped["components"]]
    assert all(re.fullmatch(r"pkg:pypi/[a-z0-9-]+@[\w.]+", purl) for purl in purls)
    assert len(set(purls)) == len(purls)
    assert shipped["metadata"]["component"]["version"] == VERSION


def test_every_component_is_there_for_a_reason(shipped: dict[str, Any]) -> None:
    needs = {each["ref"]: each["dependsOn"] for each in shipped["dependencies"]}
    reached, waiting = set(), [shipped["metadata"]["component"]["bom-ref"]]
    while waiting:
        ref = waiting.pop()
        if ref not in reached:
            reached.add(ref)
            waiting += needs[ref]
    assert reached == set(needs)
    fastapi = next(ref for ref in needs if ref.startswith("pkg:pypi/fastapi@"))
    assert any(ref.startswith("pkg:pypi/starlette@") for ref in needs[fastapi])


def test_it_is_the_same_each_time_and_says_nothing_of_the_machine(tmp_path: Path) -> None:
    assert bill() == bill()
    assert str(ROOT) not in bill()
    other = tmp_path / "lock.txt"
    other.write_text(
        "a==1 \\\n    --hash=sha256:00\n    # via\n    #   b\n    #   jieda (pyproject.toml)\nb==2\n    # via a\n"
    )
    small = json.loads(bill(str(other)))
    assert small["serialNumber"] != json.loads(bill())["serialNumber"]
    assert small["dependencies"][1:] == [
        {"ref": "pkg:pypi/a@1", "dependsOn": ["pkg:pypi/b@2"]},
        {"ref": "pkg:pypi/b@2", "dependsOn": ["pkg:pypi/a@1"]},
    ]
