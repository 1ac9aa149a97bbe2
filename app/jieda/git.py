"""Runs the `git` command for all other modules, without a shell; git never prompts."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jieda.errors import GitError

SECONDS = 60.0
"""Timeout: a command that takes longer has hung."""

MOST_OUTPUT = 600
"""Most characters of git's output in an error message."""

_QUIET = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_MESSAGES": "C"}
_NOT_INHERITED = ("JIEDA_", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
"""Variables that git does not inherit: our settings, since some are secrets and hooks are foreign programs, and those
that name a repository other than the folder's."""
# A repository may configure a program that git runs when it checks for changes.
_OPTIONS = ("--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", "core.quotepath=false")

MOST_COMMITS = 500
"""Most commits of a history."""
_WORD = b"[[:alnum:]_]+|[\xc0-\xff][\x80-\xbf]+|[^[:space:]]"
"""A word, a character of more than one byte, or any other sign."""
_HISTORY = (
    *("log", f"--max-count={MOST_COMMITS}", "--format=%x00%h %cs %s"),
    *"--relative --find-renames=80% --diff-filter=MR -p -U0 --no-ext-diff --no-textconv --no-color".split(),
    *(
        "--src-prefix=a/",
        "--dst-prefix=b/",
        "--word-diff=porcelain",
        f"--word-diff-regex={os.fsdecode(_WORD)}",
    ),
)


@dataclass(frozen=True, slots=True)
class Repository:
    """A work tree; `root` is its top folder, links resolved."""

    root: Path

    @classmethod
    def around(cls, folder: Path) -> "Repository":
        """Return the repository of a folder. Raises GitError if there is none, or git is not installed."""
        output = run(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n")
        return cls(Path(os.fsdecode(output)).resolve())

    def fork_point(self, revision: str) -> str:
        """Return the last common commit of `revision` and HEAD. Raises GitError if there is none."""
        name = f"{revision}^{{commit}}"
        try:
            commit = run(self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
        except GitError as error:
            raise GitError(
                f"{revision!r} is not a revision of {self.root}: fetch it first (in a workflow: fetch-depth: 0)"
            ) from error
        try:
            return run(self.root, "merge-base", commit.decode().strip(), "HEAD").decode().strip()
        except GitError as error:
            raise GitError(
                f"{revision!r} and HEAD have no commit in common in {self.root}: fetch the whole history"
                " (in a workflow: fetch-depth: 0)"
            ) from error

    def check_out(self, commit: str, folder: Path, target: Path) -> Path:
        """Write the files that were below a folder of the work tree in a commit to the same place below `target`, a
        new folder; return that place. Raises GitError."""
        place = target / folder.relative_to(self.root)
        place.mkdir(parents=True)
        index = {"GIT_INDEX_FILE": str(target / ".index")}
        run(folder, "read-tree", commit, environ=index)
        run(folder, "checkout-index", "--all", "--quiet", f"--prefix={target}/", environ=index)
        return place

    def latest(self) -> str:
        """Return the commit that is checked out. Raises GitError if there is none yet."""
        return run(self.root, "rev-parse", "--verify", "HEAD").decode().strip()


def word_changes(folder: Path, commit: str) -> str:
    """Return the word-by-word changes of files below `folder`, latest commit first: for each commit a NUL, its hash,
    day and subject, and the output of `git log -p --word-diff=porcelain`. Paths are relative to `folder`, whose own
    path may have characters that git would quote. Raises GitError."""
    output = run(folder, *_HISTORY, commit, "--", ".", environ={"LC_ALL": "C"})
    return output.decode("utf-8", "replace")


def run(folder: Path, *arguments: str, environ: Mapping[str, str] | None = None, called: str = "") -> bytes:
    """Return the output of a git command in a folder; errors name the folder, or `called`. Raises GitError."""
    where = called or str(folder)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_INHERITED)}
    try:
        done = subprocess.run(  # noqa: S603 - our own arguments; revisions and paths cannot be options
            ["git", "-C", str(folder), *_OPTIONS, *arguments],  # noqa: S607 - the one on PATH is the one meant
            env={**inherited, **_QUIET, **(environ or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        raise GitError("the command git is not installed, or not on PATH") from error
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:  # ValueError: an argument with a NUL
        raise GitError(f"git does not answer in {where}: {type(error).__name__}") from error
    if done.returncode:
        output = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-MOST_OUTPUT:]
        raise GitError(f"git {arguments[0]} in {where}: {output or f'ended with {done.returncode}'}")
    return done.stdout
