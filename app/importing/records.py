"""What was imported from which page, so that a second import knows what it has seen.

A record lies beside the content, `imports/<framework>.json`, and belongs into git with it. It keeps the body of
every edition as it was written: between that, the page as it is now and the entry as it is now a change is judged.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.entry import Language
from app.errors import ImportingError

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Imported:
    """An entry as it was imported: the page it came from, and title and body of its editions."""

    id: str
    page: str
    titles: Mapping[Language, str]
    bodies: Mapping[Language, str]


def record_path(directory: Path, framework: str) -> Path:
    """Where the record of a framework lies in a content directory."""
    return directory / "imports" / f"{framework}.json"


def read_record(directory: Path, framework: str) -> tuple[Imported, ...]:
    """What was imported before, in order; nothing where there is no record. Raises ImportingError."""
    path = record_path(directory, framework)
    if not path.is_file():
        return ()
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw["format"] != FORMAT:
            raise ImportingError(f"{path} has format {raw['format']}; this version of Jieda reads {FORMAT}")
        return tuple(_imported(each) for each in raw["entries"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ImportingError(
            f"{path} cannot be read ({error!r}): restore it, or delete it to import anew"
        ) from error


def write_record(directory: Path, framework: str, entries: tuple[Imported, ...]) -> None:
    """Replaces the record, written aside and renamed."""
    path = record_path(directory, framework)
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = {"format": FORMAT, "entries": [_raw(each) for each in entries]}
    aside = path.with_name(f".{path.name}.new")
    aside.write_text(json.dumps(raw, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n")
    aside.replace(path)


def _imported(raw: Mapping[str, Any]) -> Imported:
    editions = {Language(lang): each for lang, each in raw["editions"].items()}
    return Imported(
        id=str(raw["id"]),
        page=str(raw["page"]),
        titles={lang: str(each["title"]) for lang, each in editions.items()},
        bodies={lang: str(each["body"]) for lang, each in editions.items()},
    )


def _raw(imported: Imported) -> dict[str, Any]:
    return {
        "id": imported.id,
        "page": imported.page,
        "editions": {
            lang.value: {"title": title, "body": imported.bodies[lang]}
            for lang, title in imported.titles.items()
        },
    }
