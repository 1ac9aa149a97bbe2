"""`python requirements/release_notes.py v0.1.0 CHANGELOG.md CHANGELOG.zh-CN.md`: prints what changelogs say
of a version.

Fails where the tag names another version than the code, or a changelog has no day for it.
"""

import re
import sys
from pathlib import Path

from jieda.version import VERSION


def notes(version: str, changelog: str) -> str:
    """The section of a version, without its heading. Raises SystemExit where there is none with a day."""
    section = re.search(
        rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## |\Z)",
        changelog,
        re.MULTILINE | re.DOTALL,
    )
    if section is None:
        raise SystemExit(
            f"a changelog has no section of {version} with a day, such as ## [{version}] - 2026-11-24"
        )
    return section[1].strip()


def main(tag: str, *changelogs: str) -> None:
    """Print the notes."""
    if tag != f"v{VERSION}":
        raise SystemExit(f"the tag {tag} is not that of version {VERSION}")
    parts = (notes(VERSION, Path(name).read_text(encoding="utf-8")) for name in changelogs)
    sys.stdout.write("\n\n---\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
