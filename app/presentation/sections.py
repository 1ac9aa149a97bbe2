"""Sections of an entry as the API answers it: Markdown under its second-level headings."""

import re

from app.presentation.schemas import Entry

FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
SECOND_LEVEL = 2


def sections_of(entry: Entry) -> dict[str, str]:
    """The key of each section (`fix`, `cause`, …) to its Markdown, in their order; the heading is left out."""
    keys = {heading.text: heading.anchor for heading in entry.headings if heading.level == SECOND_LEVEL}
    lines: dict[str, list[str]] = {}
    key, fence = "", ""
    for line in entry.markdown.splitlines():
        mark = FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and line.strip() == mark[1]:
            fence = ""
        title = line.removeprefix("## ").strip() if line.startswith("## ") and not fence else ""
        if title in keys:
            key = keys[title]
            lines[key] = []
        elif key:
            lines[key].append(line)
    return {key: "\n".join(found).strip() for key, found in lines.items()}
