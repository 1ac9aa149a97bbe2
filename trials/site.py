"""A small site that trials are run on, and what it must answer: content with a number that grows with every change."""

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jieda.entry import Language
from jieda.search.answers import SearchRequest
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.snapshot.snapshot import Analyzers

from bench.content import Maker

LOGS = ("x\nValueError: chunk 12 is lost\n", "Traceback (most recent call last):\nKeyError: 1\n")
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8
LEFTOVERS = (".building-*", ".damaged-*")
SECONDS_TO_LAST, LOOK_AGAIN = 5.0, 0.2
"""What is there for so long is left behind, and how often it is looked at meanwhile."""
CHANGING = "en/frame0/entry-0.md"
"""The file that every change changes; the line that it ends in tells the number of the change."""


@dataclass(frozen=True, slots=True)
class Place:
    """Content, and a data directory for it."""

    content: Path
    data: Path

    @classmethod
    def make(cls, folder: Path, entries: int, seed: int) -> "Place":
        """Writes made-up content below `folder`."""
        content = folder / "content"
        Maker(entries, seed).write(content)
        # What is said of its words takes longer than all that is tried here.
        (content / "glossary.yaml").write_text("[]\n", encoding="utf-8")
        (content / "en/frame0/picture.png").write_bytes(PICTURE)
        place = cls(content, folder / "data")
        place.change(0)
        return place

    def change(self, number: int) -> None:
        """Changes the content; whoever reads half of it has read something that was never meant."""
        path = self.content / CHANGING
        text = path.read_text(encoding="utf-8").partition("\nchange")[0]
        aside = path.with_name("aside~")
        aside.write_text(f"{text}\nchange{number:06}\n", encoding="utf-8")
        aside.replace(path)

    def environment(self, **settings: str) -> dict[str, str]:
        """What a process that serves the place is started with."""
        given = {"content": str(self.content), "data": str(self.data)} | settings
        others = {name: value for name, value in os.environ.items() if not name.startswith("JIEDA_")}
        return others | {f"JIEDA_{name.upper()}": value for name, value in given.items()}

    def knowledge(self, analyzers: Analyzers, **settings: str) -> Knowledge:
        """What a process that serves the place knows; not opened yet."""
        return Knowledge(Settings.load(self.environment(**settings)), analyzers=analyzers)

    def leftovers(self) -> list[str]:
        """What a builder should have removed."""
        found = [path for pattern in LEFTOVERS for path in self.data.rglob(pattern)]
        return [path.relative_to(self.data).as_posix() for path in found]


def lasting(look: Callable[[], Sequence[str]], seconds: float = SECONDS_TO_LAST) -> list[str]:
    """What is found at every look for so long: a server that runs writes files aside and renames them all the time."""
    found, until = set(look()), time.monotonic() + seconds
    while found and time.monotonic() < until:
        time.sleep(LOOK_AGAIN)
        found &= set(look())
    return sorted(found)


def answers(knowledge: Knowledge, words: Sequence[str]) -> str:
    """What is answered to some searches, to the logs, and by every entry and image: as one text, to be compared."""
    snapshot = knowledge.snapshot
    library = snapshot.library
    found = {
        word: [
            (hit.entry.id, hit.title, hit.snippet.html_with_code)
            for hit in snapshot.searcher.search(_request(word)).hits
        ]
        for word in words
    }
    told = [
        [
            (match.entry.id, str(match.confidence))
            for match in snapshot.diagnoser.diagnose(log, Language.EN).matches
        ]
        for log in LOGS
    ]
    entries = [
        [edition.title + edition.html for edition in library.entries[entry_id].editions.values()]
        for entry_id in library.ids
    ]
    picture = library.image(Language.EN, "frame0/picture.png")
    shown = picture.read_bytes().hex() if picture else None
    return json.dumps([found, told, entries, shown], ensure_ascii=False)


def _request(word: str) -> SearchRequest:
    return SearchRequest(text=word, lang=Language.EN, verbatim=True)
