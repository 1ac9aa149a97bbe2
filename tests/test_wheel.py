"""What others install: the wheel and the source distribution, built without a network, in an environment that has
nothing of this checkout; and what a repository that holds only content is given: hooks and a workflow."""

import json
import os
import re
import shlex
import site
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit
from zipfile import ZipFile

import html5lib
import httpx
import pytest
import yaml

from tests.content.test_check_for_programs import commit
from tests.support.git import git
from tests.support.server import ROOT, Server, free_port, wait_until_ready
from tests.support.shipped import ENTRIES, copy_data
from tests.support.small_content import edition, write

pytestmark = pytest.mark.server

PAGES = (
    "",
    "search?q=out+of+memory",
    "search?q=zzzz",
    "entries",
    "entries/roll/node2pg-keyerror",
    "frameworks/roll",
    "topics/memory",
    "about",
    "agents",
    "workbench",
    "maintain",
    "no-such-page",
)
"""One of each type, in either language."""
OTHERS = (
    "/docs",
    "/openapi.json",
    "/sitemap.xml",
    "/robots.txt",
    "/llms.txt",
    "/llms-full.txt",
)


HOOKS: dict[str, dict[str, Any]] = {
    each["id"]: each for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
}
WORKFLOW = yaml.safe_load((ROOT / "deploy/content-check.yaml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in WORKFLOW["jobs"]["check"]["steps"] if "name" in step}
OURS = edition("Our own question", topics="[]")


@dataclass(frozen=True)
class Installed:
    """An environment with Jieda from the wheel and its dependencies, and a home directory of its own."""

    python: Path
    home: Path

    def environ(self, **settings: str) -> dict[str, str]:
        """That of somebody who has set nothing but `settings`."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("JIEDA_", "PYTHON", "XDG_"))
        }
        return (
            kept | {"HOME": str(self.home), "PYTHONDONTWRITEBYTECODE": "1", "JIEDA_SEMANTIC": "0"} | settings
        )

    def run_in(self, folder: Path, *command: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """A command that finds `jieda` among the others, in a folder."""
        path = f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"
        environ = self.environ(PATH=path, **settings)
        return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)

    def run(self, *arguments: str, given: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
        """The command `jieda`, in the home directory."""
        command = [str(self.python.with_name("jieda")), *arguments]
        environ = self.environ(**settings)
        return subprocess.run(
            command, input=given, cwd=self.home, env=environ, capture_output=True, text=True, check=False
        )


def build(source: Path, target: Path, *kinds: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(target)]
    command += [word for kind in kinds for word in ("-t", kind)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder, "sdist", "wheel")
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    python = folder / "env" / "bin" / "python"
    (wheel,) = built.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check", "install"]
    # Compiled here: nothing that runs afterwards may write.
    subprocess.run([*pip, "--quiet", "--no-index", "--no-deps", wheel], check=True)
    # The dependencies are those of this environment; a line in a .pth file of theirs, which names this checkout, is
    # not read in a directory that is added this way.
    (packages,) = (folder / "env").glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()), encoding="utf-8")
    # What has been worked out of the entries is there, an index is not.
    (copy_data(folder / "home" / ".local" / "share" / "jieda") / "current").unlink()
    return Installed(python, folder / "home")


def files_below(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def server(installed: Installed) -> Iterator[Server]:
    port = free_port()
    environ = installed.environ(JIEDA_PORT=str(port), JIEDA_WORKBENCH="1", JIEDA_GAPS="1")
    output = installed.home / "output.log"
    with output.open("wb") as sink:
        command = [str(installed.python.with_name("jieda")), "serve"]
        process = subprocess.Popen(command, cwd=installed.home, env=environ, stdout=sink, stderr=sink)
    server = Server(process, f"http://127.0.0.1:{port}", output, installed.home)
    wait_until_ready(server)
    yield server
    assert server.stop() == 0
    assert "Traceback" not in server.log()


def test_the_wheel_installs_one_package_and_nothing_of_the_checkout(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = ZipFile(wheel).namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"jieda"}
    assert "jieda/py.typed" in names
    shipped = {name.removeprefix("jieda/shipped/") for name in names if name.startswith("jieda/shipped/")}
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "content", "deploy", "static"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split("\0")
    assert not set(filter(None, tracked)) - shipped
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name]


def test_the_source_distribution_builds_the_same_wheel(built: Path, tmp_path: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    assert not (source / "tests").exists()
    build(source, tmp_path / "dist", "wheel")
    (wheel,) = built.glob("*.whl")
    assert (tmp_path / "dist" / wheel.name).read_bytes() == wheel.read_bytes()


def addresses(page: str, base: str) -> set[str]:
    """Whatever a page of ours links to or loads from the same site."""
    tree = html5lib.parse(page, treebuilder="etree", namespaceHTMLElements=False)
    found = {
        urljoin(base, element.get(name, ""))
        for element in tree.iter()
        for name in ("href", "src")
        if element.get(name) and element.tag != "base"
    }
    return {each.partition("#")[0] for each in found if urlsplit(each).netloc == urlsplit(base).netloc}


def fetched(client: httpx.Client, url: str, found: dict[str, httpx.Response]) -> httpx.Response:
    if url not in found:
        found[url] = client.get(url)
    return found[url]


def test_every_link_and_file_of_every_kind_of_page_is_served(server: Server) -> None:
    found: dict[str, httpx.Response] = {}
    starts = [f"{server.base}/{lang}/{page}" for lang in ("en", "zh") for page in PAGES]
    with server.client(follow_redirects=True) as client:
        assert client.get("/readyz").json()["entries"] == ENTRIES
        linked = {address for url in starts for address in addresses(fetched(client, url, found).text, url)}
        linked |= {server.base + path for path in OTHERS}
        linked |= {
            urljoin(url, name)
            for url in sorted(linked)
            if urlsplit(url).path.endswith(".css")
            for name in re.findall(r"url\([\"']?([^)\"']+)", fetched(client, url, found).text)
            if not name.startswith("data:")
        }
        # Of the addresses of entries, and of those that differ in their query, one stands for all.
        kinds = {re.sub(r"/entries/[^/]+/[^/.]+|\?.*", "*", url): url for url in linked}
        failed = {
            url: answer.status_code
            for url in kinds.values()
            if (answer := fetched(client, url, found)).is_error
        }
        diagnosed = client.post("/en/diagnose", data={"text": "KeyError: 1\n  self.node2pg[node_rank]"})
    refused = {url: found[url].status_code for url in starts if found[url].is_error}
    missing = {url: 404 for url in starts if url.endswith("no-such-page")}
    assert refused == missing
    assert failed.items() <= missing.items()
    assert {Path(urlsplit(url).path).suffix for url in linked} >= {
        ".css",
        ".js",
        ".svg",
        ".xml",
        ".txt",
        ".md",
    }
    assert len(linked) > 150
    assert "/entries/roll/node2pg-keyerror" in diagnosed.text


def test_commands_work_from_it_and_write_to_the_home_directory_alone(installed: Installed) -> None:
    packages = installed.python.parents[1]
    before = files_below(packages)
    found = installed.run("search", "node2pg")
    assert "roll/node2pg-keyerror" in found.stdout, found.stderr
    log = "Traceback (most recent call last):\n  a = self.node2pg[node_rank]\nKeyError: 1\n"
    assert "roll/node2pg-keyerror" in installed.run("diagnose", "--json", given=log).stdout
    team = write(installed.home / "team", {"en/roll/ours.md": edition("Our own question")})
    pages = installed.home / "faq.md"
    pages.write_text("# FAQ\n\n## Why is it slow?\n\nIt waits for the disk.\n", encoding="utf-8")
    imported = installed.run("import", "faq.md", "--framework", "roll", "--content", str(team))
    assert imported.returncode == 0, imported.stdout + imported.stderr
    assert len(list(team.glob("en/roll/*.md"))) == 2
    assert files_below(packages) == before
    assert (installed.home / ".local" / "share" / "jieda" / "current").is_file()


def test_an_agent_can_ask_it(installed: Installed) -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    process = subprocess.Popen(
        [installed.python.with_name("jieda"), "mcp"],
        env=installed.environ(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("".join(f"{json.dumps(each)}\n" for each in asked))
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
    assert {tool["name"] for tool in answers[1]["result"]["tools"]} >= {"search", "diagnose"}


def test_the_python_api_works_from_it_and_its_types_are_seen(installed: Installed, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import jieda\nassert 'site-packages' in jieda.__file__\n"
        "with jieda.open() as base:\n    print(base.search('node2pg').hits[0].id)\n",
        encoding="utf-8",
    )
    run = subprocess.run(
        [installed.python, program], env=installed.environ(), capture_output=True, text=True, check=False
    )
    assert run.stdout == "roll/node2pg-keyerror\n", run.stderr
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import jieda\njieda.open().search(1)\n", encoding="utf-8")
    # No types but those of the API are read: all of them take much longer.
    few = tmp_path / "mypy.ini"
    few.write_text(
        "[mypy]\nfollow_imports = skip\n[mypy-jieda,jieda.api.*]\nfollow_imports = silent\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "mypy", "--config-file", str(few)]
    command += ["--cache-dir", os.devnull, "--python-executable", str(installed.python)]
    typed = subprocess.run([*command, wrong], capture_output=True, text=True, check=False)
    assert 'incompatible type "int"; expected "str"' in typed.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A team's repository: one entry of a shipped framework, pages that are none, and no taxonomy of its own."""
    entry = tmp_path / "en" / "slime" / "ours.md"
    entry.parent.mkdir(parents=True)
    entry.write_text(OURS, encoding="utf-8")
    page = tmp_path / "docs" / "zh" / "guide" / "start.md"
    page.parent.mkdir(parents=True)
    page.write_text("Entries of our team\n", encoding="utf-8")
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit(tmp_path)
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD")
    return tmp_path


def hook(name: str, folder: Path, installed: Installed) -> subprocess.CompletedProcess[str]:
    """As pre-commit runs it, without names of files."""
    given = HOOKS[name]
    assert not given["pass_filenames"]
    return installed.run_in(folder, *shlex.split(given["entry"]), *given["args"])


def step(name: str, folder: Path, installed: Installed) -> subprocess.CompletedProcess[str]:
    return installed.run_in(folder, "sh", "-ec", STEPS[name]["run"], BASE="main")


def test_the_package_has_what_the_hooks_need(repository: Path, installed: Installed) -> None:
    packages = installed.python.parents[1]
    before = files_below(packages)
    found = hook("jieda-check", repository, installed)
    assert (found.returncode, found.stdout) == (0, ""), found.stderr
    editions = 1 + len([*(ROOT / "content").glob("[ez][nh]/*/*.md")])
    assert found.stderr == f"{ENTRIES + 1} entries in {editions} editions: no problems\n"
    found = hook("jieda-fmt", repository, installed)
    assert (found.returncode, found.stdout) == (0, ""), found.stderr
    # One of the steps is what the hook runs, word by word.
    checked = HOOKS["jieda-check"]
    assert STEPS["Check everything"]["run"].split() == [*shlex.split(checked["entry"]), *checked["args"]]
    for name in list(STEPS)[1:]:
        if name == "Check everything":
            continue
        found = step(name, repository, installed)
        assert (found.returncode, found.stdout) == (0, ""), found.stderr
    assert files_below(packages) == before


def test_hooks_and_workflow_fail_where_something_is_wrong(repository: Path, installed: Installed) -> None:
    entry = repository / "en/slime/ours.md"
    swapped = OURS.replace("kind: concept\n", "").replace("updated:", "kind: concept\nupdated:")
    entry.write_text(swapped.replace("topics: []", "topics: [unheard]"), encoding="utf-8")
    commit(repository)
    for found in (
        hook("jieda-check", repository, installed),
        step("Check what the change is answerable for", repository, installed),
    ):
        assert found.returncode == 1
        assert "en/slime/ours.md:3: unknown-tag" in found.stdout
    found = step("See whether front matter is in order", repository, installed)
    assert (found.returncode, found.stdout) == (1, "en/slime/ours.md\n")
    assert hook("jieda-fmt", repository, installed).stdout == "en/slime/ours.md\n"
    assert step("See whether front matter is in order", repository, installed).returncode == 0
