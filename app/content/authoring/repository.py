"""The one door to git: commits some files of a content directory, never more than those and never a push."""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.errors import AuthoringError

SECONDS = 30
"""For one command; hooks of the repository take their time."""
MOST_TOLD = 600
"""Characters of what git says that are told."""
_NOT_HANDED_ON = ("JIEDA_", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
_NAME = re.compile(r"[^\x00-\x1f\x7f<>]{1,100}")
_EMAIL = re.compile(r"[^\s\x00-\x1f\x7f<>@]{1,100}@[^\s\x00-\x1f\x7f<>@]{1,100}")


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes. Raises ValueError for what git would take for something else."""

    name: str
    email: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or not self.name.strip() or not _EMAIL.fullmatch(self.email):
            raise ValueError("a name and an e-mail address are needed")


def commit(directory: Path, wheres: Sequence[str], author: Author, message: str) -> str:
    """Commits these files below a directory and nothing else that may be staged; the commit's short name.

    Raises AuthoringError with what git says. The files are left as they are.
    """
    environ = {
        **_environ(),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": author.name,
        "GIT_AUTHOR_EMAIL": author.email,
        "GIT_COMMITTER_NAME": author.name,
        "GIT_COMMITTER_EMAIL": author.email,
        # A file name is a name, whatever characters git gives a meaning.
        "GIT_LITERAL_PATHSPECS": "1",
    }
    check_repository(directory, environ)
    _git(directory, environ, "add", "--", *wheres)
    try:
        _git(directory, environ, "commit", "--quiet", "--only", "-m", message, "--", *wheres)
    except AuthoringError:
        _run(directory, environ, "reset", "--quiet", "--", *wheres)
        raise
    return _git(directory, environ, "rev-parse", "--short", "HEAD").strip()


def check_repository(directory: Path, environ: Mapping[str, str] | None = None) -> None:
    """Raises AuthoringError where git is missing or a directory is in no repository."""
    _git(directory, environ or _environ(), "rev-parse", "--git-dir")


def _environ() -> dict[str, str]:
    """The environment without our settings, some of which are secrets: hooks are programs of others. Nor does it name
    another repository than the directory's."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_NOT_HANDED_ON)}


def _git(directory: Path, environ: Mapping[str, str], *arguments: str) -> str:
    done = _run(directory, environ, *arguments)
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-MOST_TOLD:]
        raise AuthoringError(f"git {arguments[0]}: {said or f'ended with {done.returncode}'}")
    return done.stdout


def _run(directory: Path, environ: Mapping[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(  # noqa: S603 - a list, no shell; what is not ours stands behind `--` or is checked
            ["git", *arguments],  # noqa: S607 - whichever git the server has
            cwd=directory,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        raise AuthoringError("the command git is not installed on this server") from error
    except subprocess.TimeoutExpired as error:
        raise AuthoringError(f"git {arguments[0]} took longer than {SECONDS} s and was stopped") from error
