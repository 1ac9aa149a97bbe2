"""What twins must agree on, and whether they still do."""

from collections.abc import Callable, Iterator

from app.content.check.finding import Finding
from app.content.read.corpus import Corpus, Editions
from app.content.read.outline import Outline
from app.content.read.staleness import newest, stale_languages

AGREED: tuple[tuple[str, Callable[[Outline], object]], ...] = (
    ("kind", lambda file: file.front.kind),
    ("topics", lambda file: file.front.topics),
    ("error_types", lambda file: file.front.error_types),
    ("signatures", lambda file: file.front.signatures),
    ("related", lambda file: file.front.related),
    ("sections", lambda file: file.section_keys),
)
"""What is equal in twins, order included: the name shown, and where to find it."""


def unequal_twins(corpus: Corpus, entry_id: str) -> Iterator[Finding]:
    """Twins that contradict each other; the older one is blamed, for the newer one's word is served."""
    for newer, older in _twins(corpus.by_id[entry_id]):
        for name, value in AGREED:
            if value(newer) != value(older):
                line = older.file.first_line if name == "sections" else older.line(name)
                yield Finding(older.where, line, f"`{name}` must be equal to that of {newer.where}")


def lost_identifiers(corpus: Corpus, entry_id: str) -> Iterator[Finding]:
    """What stands in backticks in one edition and in no code of the other."""
    for newer, older in _twins(corpus.by_id[entry_id]):
        for file, twin in ((newer, older), (older, newer)):
            there = "\n".join(twin.file.code)
            for span in sorted(set(file.file.code_spans)):
                if span not in there:
                    message = f"`{span}` stands in {file.where}, but in no code here"
                    yield Finding(twin.where, twin.file.first_line, message)


def unsynced_twins(corpus: Corpus, entry_id: str) -> Iterator[Finding]:
    """Twins that were never declared equal, and editions whose twin has moved on."""
    editions = corpus.by_id[entry_id]
    if len(editions) < 2:
        yield from _widowed(editions)
        return
    stale = stale_languages(editions)
    for file in editions.values():
        if not file.front.synced_with:
            message = f"`synced_with` is missing: once the twins agree, run `jieda sync {entry_id}`"
            yield Finding(file.where, 1, message)
        elif file.lang in stale:
            message = f"the twin has changed since; once this agrees, run `jieda sync {entry_id}`"
            yield Finding(file.where, file.line("synced_with"), message)


def _widowed(editions: Editions) -> Iterator[Finding]:
    for file in editions.values():
        if file.front.synced_with:
            message = (
                f"`synced_with` tells of a twin, but there is no {file.lang.other}/{file.id}.md: "
                "bring it back, or take the field out"
            )
            yield Finding(file.where, file.line("synced_with"), message)


def _twins(editions: Editions) -> Iterator[tuple[Outline, Outline]]:
    """The twin that counts with the one that does not, where there are two."""
    newer = newest(editions)
    for file in editions.values():
        if file is not newer:
            yield newer, file
