"""Runs git in test repositories."""

import os
import subprocess
from pathlib import Path


def git(folder: Path, *arguments: str) -> str:
    """Run a git command with a test identity and return its output."""
    identity = {
        f"GIT_{who}_{what}": "t@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    run = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env=os.environ | identity,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout
