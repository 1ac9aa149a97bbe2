"""What a server is asked after whatever happened to it, and what it must answer."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from jieda.entry import Language
from jieda.search.answers import SearchRequest
from jieda.snapshot.snapshot import Snapshot

from trials.site import LOGS, PICTURE

WORDS = ("entry0", "error", "lost", "训练")


@dataclass(frozen=True, slots=True)
class Question:
    """A request, and what the answer must be: the ids of hits or matches, or all of the content."""

    path: str
    body: bytes | None = None
    ids: Sequence[str] | None = None
    content: bytes = b""

    def is_answered_by(self, content: bytes) -> bool:
        """Whether that is the answer."""
        if self.ids is None:
            return content == self.content
        answer = json.loads(content)
        return [each["id"] for each in answer.get("hits", answer.get("matches", ()))] == list(self.ids)


def questions(snapshot: Snapshot, *words: str) -> Iterator[Question]:
    """Searches, logs, every entry and an image, with the answers of a snapshot that nothing happened to."""
    library = snapshot.library
    for word in (*WORDS, *words):
        hits = snapshot.searcher.search(SearchRequest(text=word, lang=Language.EN, verbatim=True)).hits
        path = f"/api/v1/search?lang=en&verbatim=1&q={quote(word)}"
        yield Question(path, ids=[hit.entry.id for hit in hits])
    for log in LOGS:
        matches = snapshot.diagnoser.diagnose(log, Language.EN).matches
        body = json.dumps({"text": log, "lang": "en"}).encode()
        yield Question("/api/v1/diagnose", body, ids=[match.entry.id for match in matches])
    for entry_id in library.ids:
        for lang, edition in library.entries[entry_id].editions.items():
            yield Question(
                f"/api/v1/entries/{entry_id}.md?source=1&lang={lang}", content=edition.raw.encode()
            )
    yield Question("/en/entries/frame0/picture.png", content=PICTURE)
