"""What a repository that holds only content is given: hooks and a workflow, run from the installed package."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.content.test_check_for_programs import commit
from tests.content.test_moving import git
from tests.support.server import ROOT
from tests.support.small_content import edition

HOOKS: dict[str, dict[str, Any]] = {
    each["id"]: each for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
}
WORKFLOW = yaml.safe_load((ROOT / "deploy/content-check.yaml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in WORKFLOW["jobs"]["check"]["steps"] if "name" in step}
OURS = edition("Our own question", topics="[]")


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which `jieda` is the package, installed from a wheel, and nothing of this checkout."""
    folder = tmp_path_factory.mktemp("package")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    wheel = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(wheel, check=True)
    site = folder / "site"
    built = [str(path) for path in folder.glob("*.whl")]
    subprocess.run([*pip, "install", "--no-deps", "--no-compile", "--target", str(site), *built], check=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JIEDA_", "PYTHON"))}
    return kept | {"PYTHONPATH": str(site), "PATH": f"{site / 'bin'}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A team's repository: one entry of a shipped framework, a README, and no taxonomy of its own."""
    entry = tmp_path / "en" / "slime" / "ours.md"
    entry.parent.mkdir(parents=True)
    entry.write_text(OURS, encoding="utf-8")
    (tmp_path / "README.md").write_text("Entries of our team\n", encoding="utf-8")
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit(tmp_path)
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD")
    return tmp_path


def run(command: list[str], folder: Path, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)


def hook(name: str, folder: Path, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """As pre-commit runs it: the entry, its arguments, and the files that its pattern takes."""
    given = HOOKS[name]
    names = git(folder, "ls-files").splitlines() if given.get("pass_filenames", True) else []
    files = [path for path in names if re.search(given["files"], path)]
    return run([*shlex.split(given["entry"]), *given.get("args", ()), *files], folder, environ)


def step(name: str, folder: Path, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return run(["sh", "-ec", STEPS[name]["run"]], folder, environ | {"BASE": "main"})


@pytest.mark.slow
def test_the_package_has_what_the_hooks_need(repository: Path, environ: dict[str, str]) -> None:
    where = run([sys.executable, "-c", "import jieda; print(jieda.__file__)"], repository, environ).stdout
    assert not Path(where).is_relative_to(ROOT)
    found = hook("jieda-check", repository, environ)
    assert (found.returncode, found.stdout) == (0, ""), found.stderr
    shipped = [*(ROOT / "content").glob("[ez][nh]/*/*.md")]
    entries = 1 + len({path.relative_to(ROOT / "content").parts[1:] for path in shipped})
    assert found.stderr == f"{entries} entries in {len(shipped) + 1} editions: no problems\n"
    found = hook("jieda-fmt", repository, environ)
    assert (found.returncode, found.stdout) == (0, ""), found.stderr
    # One of the steps is what the hook runs, word by word.
    checked = HOOKS["jieda-check"]
    assert STEPS["Check everything"]["run"].split() == [*shlex.split(checked["entry"]), *checked["args"]]
    for name in list(STEPS)[1:]:
        if name == "Check everything":
            continue
        found = step(name, repository, environ)
        assert (found.returncode, found.stdout) == (0, ""), found.stderr


@pytest.mark.slow
def test_hooks_and_workflow_fail_where_something_is_wrong(repository: Path, environ: dict[str, str]) -> None:
    entry = repository / "en/slime/ours.md"
    swapped = OURS.replace("kind: concept\n", "").replace("updated:", "kind: concept\nupdated:")
    entry.write_text(swapped.replace("topics: []", "topics: [unheard]"), encoding="utf-8")
    commit(repository)
    for found in (
        hook("jieda-check", repository, environ),
        step("Check what the change is answerable for", repository, environ),
    ):
        assert found.returncode == 1
        assert "en/slime/ours.md:3: unknown-tag" in found.stdout
    found = step("See whether front matter is in order", repository, environ)
    assert (found.returncode, found.stdout) == (1, "en/slime/ours.md\n")
    assert hook("jieda-fmt", repository, environ).stdout == "en/slime/ours.md\n"
    assert step("See whether front matter is in order", repository, environ).returncode == 0


def test_the_hooks_look_at_content_and_at_nothing_else() -> None:
    content = (
        "en/slime/a.md",
        "content/zh/roll/a.md",
        "taxonomy.yaml",
        "samples/roll/a/1.log",
        "dictionary.txt",
    )
    other = ("README.md", "docs/a.md", "mytaxonomy.yaml", "en.md")
    check = HOOKS["jieda-check"]["files"]
    assert [path for path in (*content, *other) if re.search(check, path)] == list(content)
    fmt = HOOKS["jieda-fmt"]["files"]
    assert [path for path in (*content, *other) if re.search(fmt, path)] == list(content[:2])
