"""The page of figures: what benchmarks have measured, in both languages.

    python -m bench.figures

Takes what the last runs left in `bench/results/` into `bench/figures.json`, which is kept with the code, and writes
`docs/figures.md` and `docs/figures.zh-CN.md` from that, without the rows that few readers need. Nothing on these pages
is written by hand.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NotRequired, TypedDict

from bench.tables import FOLDER, markdown

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "bench/figures.json"
PAGES = {"en": ROOT / "docs/figures.md", "zh": ROOT / "docs/figures.zh-CN.md"}


class Measured(TypedDict):
    """A table from a benchmark: the day, the load average at its end if noted, and the cells."""

    measured: str
    load: float | None
    columns: list[str]
    rows: list[list[str]]


class Caption(TypedDict):
    """A heading and an explanation in each language, the command that measures, and the first cells of the rows that
    the page shows, where it does not show all; `plain`: what stands in brackets is left out."""

    command: str
    title: dict[str, str]
    text: dict[str, str]
    shown: NotRequired[list[str]]
    plain: NotRequired[bool]


class Texts(TypedDict):
    """Texts around the tables: the head of a page, the lines for date and load, the captions in order."""

    head: dict[str, str]
    when: dict[str, str]
    busy: dict[str, str]
    tables: dict[str, Caption]


TEXTS: Texts = json.loads((ROOT / "bench/captions.json").read_text(encoding="utf-8"))

SPACE = {"en": " ", "zh": ""}
"""Between two sentences."""


def page(lang: str, tables: Mapping[str, Measured]) -> str:
    """Return the page of figures in a language."""
    parts = [TEXTS["head"][lang]]
    for name, caption in TEXTS["tables"].items():
        if table := tables.get(name):
            sentences = [
                caption["text"][lang],
                TEXTS["when"][lang].format(command=caption["command"], **table),
                TEXTS["busy"][lang].format(**table) if table["load"] is not None else "",
            ]
            shown = caption.get("shown")
            rows = [row for row in table["rows"] if not shown or row[0] in shown]
            if caption.get("plain"):
                rows = [[cell.partition(" (")[0] for cell in row] for row in rows]
            cells = markdown(table["columns"], rows)
            parts.append(
                f"## {caption['title'][lang]}\n\n{SPACE[lang].join(sentences).rstrip()}\n\n{cells}\n"
            )
    return "\n".join(parts)


def kept() -> dict[str, Measured]:
    """Return the tables stored with the code."""
    tables: dict[str, Measured] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    return tables


def main() -> None:
    """Merge the last measurements into the stored tables, and write the pages."""
    measured = {
        name: json.loads(path.read_text(encoding="utf-8"))
        for name in TEXTS["tables"]
        if (path := FOLDER / f"{name}.json").exists()
    }
    tables = kept() | measured
    KEPT.write_text(json.dumps(tables, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    for lang, path in PAGES.items():
        path.write_text(page(lang, tables), encoding="utf-8")


if __name__ == "__main__":
    main()
