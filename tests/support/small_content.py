"""Minimal content directories for tests."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from jieda.content.library import Library
from jieda.content.read.load import Loaded
from jieda.usecases.check import check_content

TAXONOMY = """\
frameworks:
  roll:
    name: {en: ROLL, zh: ROLL}
    description: {en: A framework., zh: 一个框架。}
    homepage: https://example.com/roll
    repository: https://example.com/roll.git
kinds:
  error: {name: {en: Error, zh: 报错}, description: {en: A failure., zh: 出错。}}
  how-to: {name: {en: How-to, zh: 操作}, description: {en: A task., zh: 一件事。}}
  concept: {name: {en: Concept, zh: 概念}, description: {en: A notion., zh: 一个概念。}}
topics:
  memory: {name: {en: Memory, zh: 显存}, description: {en: About memory., zh: 关于显存。}}
error_types:
  oom: {name: {en: Out of memory, zh: 显存不足}, description: {en: No memory left., zh: 没有显存了。}}
"""


def edition(title: str, body: str = "## Answer\n\nYes.\n", **fields: str) -> str:
    """Return the text of an edition of kind `concept`; `fields` add or replace front matter."""
    front = {
        "title": repr(title),
        "kind": "concept",
        "topics": "[memory]",
        "source": "[{title: T, url: 'https://example.com/', license: Apache-2.0}]",
        "updated": "2026-01-02",
    } | fields
    lines = "\n".join(f"{name}: {value}" for name, value in front.items())
    return f"---\n{lines}\n---\n\n{body}"


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Write a content directory with a taxonomy, an empty glossary and `files`, by relative path; return it."""
    whole = {"taxonomy.yaml": TAXONOMY, "glossary.yaml": "[]\n"} | dict(files)
    for name, text in whole.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def load_checked(*directories: Path) -> Library:
    """Load the library of content directories, with the problems found by a whole check."""
    return replace(Loaded(directories).library(), problems=check_content(directories).problems)
