"""The lock files, the Makefile and the image agree with the project and with one another."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from jieda.settings import TABLE, env_of
from jieda.version import VERSION
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.server import COMMAND, Server, environment, free_port, wait_until_ready
from tests.support.shipped import copy_data

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("build.txt", "dev.txt", "lock.txt", "runtime.txt")
PIN = re.compile(r"^([a-z0-9][\w.-]*)==([^\s;]+)(?: ; (.+?))?(?: \\)?$", re.MULTILINE)


def lock(name: str) -> str:
    return (ROOT / "requirements" / name).read_text(encoding="utf-8")


def pins(name: str) -> dict[tuple[str, str], str]:
    """Version by package and marker."""
    return {
        (canonicalize_name(package), marker): version for package, version, marker in PIN.findall(lock(name))
    }


def declared(*groups: str) -> list[Requirement]:
    """What pyproject.toml asks for at run time and in `groups`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lines = list(project["project"]["dependencies"])
    for group in groups:
        lines += [line for line in project["dependency-groups"][group] if isinstance(line, str)]
    return [Requirement(line) for line in lines]


@pytest.mark.parametrize("name", LOCKS)
def test_every_pin_has_hashes_and_no_lock_names_an_index(name: str) -> None:
    blocks = re.split(r"^(?=[a-z0-9])", lock(name), flags=re.MULTILINE)[1:]
    assert [block.splitlines()[0] for block in blocks if "--hash=sha256:" not in block] == []
    assert not re.search(r"^-|https?://|file:", lock(name), re.MULTILINE)


@pytest.mark.parametrize(("name", "groups"), [("runtime.txt", ()), ("dev.txt", ("build", "dev"))])
def test_the_lock_satisfies_the_project(name: str, groups: tuple[str, ...]) -> None:
    locked = pins(name)
    for requirement in declared(*groups):
        versions = [
            version
            for (package, _), version in locked.items()
            if package == canonicalize_name(requirement.name)
        ]
        assert versions, f"{requirement.name} is not locked: make lock"
        assert all(requirement.specifier.contains(version) for version in versions), requirement


def test_the_locks_agree_with_one_another() -> None:
    development = pins("dev.txt")
    for name in ("build.txt", "runtime.txt"):
        assert pins(name).items() <= development.items(), (
            f"{name} has versions that dev.txt has not: make lock"
        )


def unnested() -> dict[str, str]:
    """The environment of a person who types make, rather than of the make that may be running these tests."""
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS", "PYTHON"))
    }
    return kept | {"LC_ALL": "C.UTF-8"}


def make(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = ["make", *arguments]
    return subprocess.run(command, cwd=cwd, env=unnested(), capture_output=True, text=True, check=False)


needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with nothing but what installing reads; its name has a blank and Han characters."""
    folder = tmp_path / "a 解答 checkout"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "requirements", folder / "requirements")
    return folder


@needs_make
def test_make_alone_lists_every_target() -> None:
    listed = make().stdout
    targets = re.findall(
        r"^\.PHONY: (.*) FORCE$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert re.findall(r"^  make ([\w-]+)", listed, re.MULTILINE) == targets[0].split()


@needs_make
def test_an_interpreter_that_is_too_old_is_refused_by_name(checkout: Path) -> None:
    old = checkout / "python3.8"
    pretend = "import sys; sys.version_info = (3, 8, 0); exec(sys.argv[2])"
    old.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{pretend}' \"$@\"\n", encoding="utf-8")
    old.chmod(0o755)
    run = make("install", f"PYTHON={old}", cwd=checkout)
    assert run.returncode != 0
    assert f"Jieda needs Python 3.11 or later; {old} is 3.8" in run.stderr
    assert not (checkout / ".venv").exists()


@needs_make
def test_no_interpreter_at_all_is_said_so(checkout: Path) -> None:
    run = make("install", "PYTHON=", cwd=checkout)
    assert run.returncode != 0
    assert "none was found" in run.stderr


@needs_make
def test_installing_again_does_nothing_and_a_moved_checkout_is_installed_anew(checkout: Path) -> None:
    # What was installed is stood in for by its stamp: a real installation takes half a minute.
    venv = checkout / ".venv"
    venv.mkdir()
    (venv / ".installed").write_text(str(checkout), encoding="utf-8")
    assert make("--dry-run", "install", cwd=checkout).stdout.count("pip") == 0
    moved = checkout.rename(checkout.with_name("moved"))
    assert "-r requirements/dev.txt" in make("--dry-run", "install", cwd=moved).stdout


@pytest.mark.slow
@needs_make
@pytest.mark.skipif(
    not (ROOT / ".venv" / ".installed").is_file(), reason="this checkout was not installed with make install"
)
def test_make_run_serves_what_the_readme_promises(tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    with log.open("wb") as output:
        environ = unnested() | {"JIEDA_DATA": str(copy_data(tmp_path / "data"))}
        command = ["make", "run", f"PORT={port}"]
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=output, stderr=output)
    server = Server(process, f"http://127.0.0.1:{port}", log, tmp_path / "data")
    try:
        wait_until_ready(server)
        with server.client() as client:
            answer = client.get("/api/v1/search", params={"q": "node2pg"}).json()
        assert [hit["id"] for hit in answer["hits"]][:1] == ["roll/node2pg-keyerror"]
    finally:
        server.stop()
    with socket.socket() as gone:
        assert gone.connect_ex(("127.0.0.1", port)) != 0, "the server outlived make"


def test_the_image_holds_only_what_it_is_told_to() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    copied = {
        word.partition("/")[0]
        for line in re.findall(r"^COPY (?!--from)(.*)$", dockerfile, re.MULTILINE)
        for word in line.split()[:-1]
    }
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {line[1:] for line in ignored if line.startswith("!")} == copied
    assert "*" in ignored


def test_everything_says_the_same_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["hatch"]["version"]["path"] == "app/jieda/version.py"
    assert version("jieda") == VERSION, "the package was installed before the version changed: make install"
    command = [*COMMAND, "--version"]
    told = subprocess.run(command, env=environment({}), capture_output=True, text=True, check=True)
    assert told.stdout == f"jieda {VERSION}\n"


def test_the_image_does_not_run_as_root() -> None:
    users = re.findall(r"^USER (\d+)", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    assert users
    assert users[-1] != "0"


def test_compose_mounts_what_the_image_declares_and_takes_every_privilege_away() -> None:
    service = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]["jieda"]
    declared_volumes = re.search(
        r"^VOLUME (.*)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert declared_volumes
    mounted = {re.sub(r".*:(/\w+?)(?::ro)?$", r"\1", volume) for volume in service["volumes"]}
    assert mounted == set(json.loads(declared_volumes.group(1)))
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["tmpfs"] == ["/tmp"]


def test_compose_builds_on_a_base_that_cannot_change_and_that_the_bot_finds() -> None:
    (tag,) = re.findall(
        r"^ARG PYTHON_IMAGE=(\S+)$", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE
    )
    compose = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    base = yaml.safe_load(compose)["services"]["jieda"]["build"]["args"]["PYTHON_IMAGE"]
    assert re.fullmatch(re.escape(tag) + "@sha256:[0-9a-f]{64}", base)
    (manager,) = json.loads((ROOT / "renovate.json").read_text(encoding="utf-8"))["customManagers"]
    (pattern,) = manager["matchStrings"]
    found = re.search(pattern.replace("(?<", "(?P<"), compose)
    assert found
    assert base == "{depName}:{currentValue}@{currentDigest}".format_map(found.groupdict())


def test_compose_passes_every_setting_with_the_defaults_of_the_image() -> None:
    service = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]["jieda"]
    image = dict(re.findall(r"(JIEDA_\w+)=(\S+)", (ROOT / "Dockerfile").read_text(encoding="utf-8")))
    decided = {"JIEDA_HOST", "JIEDA_PORT", "JIEDA_DATA"}
    passed = {name: value for name, value in service["environment"].items() if name.startswith("JIEDA_")}
    assert set(passed) == set(map(env_of, TABLE)) - decided
    # What is passed as nothing is not set, but takes the place of what the image says.
    wanted = {name: image.get(name, "") for name in passed} | {"JIEDA_RELOAD_CONTENT": "1"}
    assert passed == {name: f"${{{name}:-{value}}}" for name, value in wanted.items()}


def test_the_systemd_unit_is_one_and_starts_the_installed_command(tmp_path: Path) -> None:
    unit = (ROOT / "deploy" / "jieda.service").read_text(encoding="utf-8")
    known = set(map(env_of, TABLE))
    assert set(re.findall(r"^Environment=(\w+)=", unit, re.MULTILINE)) <= known
    (command,) = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    assert command == "/opt/jieda/bin/jieda serve"
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd is not installed")
    (tmp_path / "jieda.service").write_text(
        unit.replace("/opt/jieda/bin/jieda", sys.executable), encoding="utf-8"
    )
    judged = subprocess.run(
        [analyze, "verify", tmp_path / "jieda.service"], capture_output=True, text=True, check=False
    )
    assert (judged.returncode, judged.stderr) == (0, "")
