"""The workflows of GitHub: they run nowhere here, so they are linted, and what they rely on is tried."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from jieda.version import VERSION

from tests.support.server import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_actionlint_finds_nothing() -> None:
    found = shutil.which("actionlint") or shutil.which("actionlint", path=Path.home() / "go" / "bin")
    if found is None:
        pytest.skip(
            "actionlint is not installed: go install github.com/rhysd/actionlint/cmd/actionlint@latest"
        )
    run = subprocess.run([found, *WORKFLOWS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout + run.stderr) == (0, "")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_and_jobs_have_only_the_permissions_that_they_name(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    used = re.findall(r"uses: (\S+)(.*)", text)
    assert used
    for action, comment in used:
        if not action.startswith("./"):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), action
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in text
    assert "secrets." not in text


def test_release_notes_are_the_section_of_the_changelog_and_want_a_day(tmp_path: Path) -> None:
    changelog = tmp_path / "CHANGELOG.md"

    def notes(tag: str, heading: str) -> subprocess.CompletedProcess[str]:
        changelog.write_text(
            f"# Changelog\n\n## {heading}\n\n### Added\n\n- B\n\n## [0.0.1] - 2026-01-01\n\n- A\n"
        )
        command = [sys.executable, str(ROOT / "requirements" / "release_notes.py"), tag, str(changelog)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert notes(f"v{VERSION}", f"[{VERSION}] - 2026-12-01").stdout == "### Added\n\n- B\n"
    assert f"no section of {VERSION} with a day" in notes(f"v{VERSION}", f"[{VERSION}] - unreleased").stderr
    assert "not that of version" in notes("v9.9.9", f"[{VERSION}] - 2026-12-01").stderr
