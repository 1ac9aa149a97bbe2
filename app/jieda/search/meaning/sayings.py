"""Splits an entry into sayings: pieces small enough to mean one thing each."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from jieda.content.library import Library
from jieda.entry import Edition, Entry, Language
from jieda.search.index.document import Document, body_lines, keyed_texts
from jieda.search.meaning.embedder import Embedder, Meaning

SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])\s*")
CLAUSE_END = re.compile(r"(?<=[,;:])\s+|(?<=[，、：])\s*")
BETWEEN = {Language.EN: " ", Language.ZH: ""}
LEAST = {Language.EN: 40, Language.ZH: 14}
"""Least characters of a clause: shorter ones say too little by themselves and are joined."""


def meaning_of(entry: Entry, embedder: Embedder) -> Meaning:
    """Return the vectors of an entry's sayings, some 60 per edition; each takes a millisecond or less."""
    titles = dict.fromkeys(keyed_texts(entry))
    told = titles | dict.fromkeys(sayings(entry))
    alone = [each for each in dict.fromkeys(standalone_sentences(entry)) if each not in told]
    return Meaning.of(embedder.embed([*told, *alone]), of_gist=len(told), titles=len(titles))


def with_meaning(
    library: Library, documents: Iterable[Document], embedder: Embedder | None
) -> Iterator[Document]:
    """Yield the documents of a library, with vectors if there is an embedder."""
    for document in documents:
        meaning = meaning_of(library.entries[document.id], embedder) if embedder else None
        yield replace(document, meaning=meaning)


def sayings(entry: Entry) -> Iterator[str]:
    """Yield the symptoms, and the sentences and blocks of the text, each after the title: a sentence by itself seldom
    says what it is about."""
    for edition in entry.editions.values():
        yield from edition.symptoms
        for line in body_lines(edition):
            yield from (f"{edition.title}: {piece}" for piece in (*_sentences(line), line))


def standalone_sentences(entry: Entry) -> Iterator[str]:
    """Yield the sentences without the title, and their clauses: a question is often about one of several facts in a
    sentence, and a title in front makes all sentences of an entry similar."""
    for edition in entry.editions.values():
        for line in body_lines(edition):
            for sentence in _sentences(line):
                yield sentence
                yield from _clauses(sentence, edition)


def _sentences(line: str) -> list[str]:
    return [each for each in SENTENCE_END.split(line) if each]


def _clauses(sentence: str, edition: Edition) -> list[str]:
    """Return clauses of at least LEAST characters; a shorter one is joined to the next, the last to the one before."""
    joined: list[str] = []
    open_ended = False
    for clause in filter(None, CLAUSE_END.split(sentence)):
        if open_ended:
            joined[-1] += BETWEEN[edition.lang] + clause
        else:
            joined.append(clause)
        open_ended = len(joined[-1]) < LEAST[edition.lang]
    if open_ended and len(joined) > 1:
        joined[-2:] = [BETWEEN[edition.lang].join(joined[-2:])]
    return joined
