"""What the browser searches: the terms of all entries, weighed as the server weighs them.

`static/export.js` reads it. What the server does beyond (corrections, exact writings, meaning, diagnosis) is not there.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from jieda.analysis.glossary import Glossary
from jieda.analysis.pipeline import Analyzer
from jieda.content.library import Library
from jieda.entry import Edition, Entry, Language
from jieda.search.index.document import Document, document_of, keyed_texts
from jieda.search.weights import K1, KIND_WEIGHTS, ZONE_WEIGHTS

STEPS = 999
"""What brings all that a term can bring, as a whole number."""
SNIPPET = 160
"""Characters of an answer that are shown."""


def search_data(library: Library, analyzer: Analyzer, glossary: Glossary) -> dict[str, Any]:
    """Return the data as JSON has it.

    `entries`: id, framework, what is shown by language. `terms`: by term, entry and saturation in turns. `keys`: titles
    and aliases to entries. `stems`: words as written, where their stem is another. `members`: of the glossary, stems
    with a space between, to the numbers of their groups. `frameworks`: names to ids.
    """
    entries: list[Any] = []
    terms: dict[str, list[int]] = defaultdict(list)
    keys: dict[str, int] = {}
    stems: dict[str, str] = {}
    for number, entry in enumerate(filter(None, map(library.entry, library.ids))):
        entries.append([entry.id, entry.framework, _shown(entry)])
        document = document_of(entry, analyzer, glossary, library.taxonomy)
        for term, saturation in _saturations(document).items():
            terms[term] += [number, round(STEPS * saturation)]
        for title in keyed_texts(entry):
            keys.setdefault(analyzer.key(title), number)
        for text in document.texts:
            stems |= _stems(analyzer, " ".join(text.atoms))
    members: dict[str, list[int]] = defaultdict(list)
    for number, group in enumerate(glossary.groups):
        for word in group.words:
            members[" ".join(analyzer.analyze(word).stems)].append(number)
            stems |= _stems(analyzer, word)
    return {
        "entries": entries,
        "terms": terms,
        "keys": keys,
        "stems": stems,
        "members": members,
        "frameworks": dict(_names(library)),
    }


def _names(library: Library) -> Iterator[tuple[str, str]]:
    for tag in library.taxonomy.framework.values():
        yield from ((name.casefold(), tag.id) for name in (tag.id, *tag.name.values()))


def _shown(entry: Entry) -> dict[str, list[str]]:
    """Title, what it applies to and the beginning of the answer, by language."""
    return {
        lang.value: [edition.title, edition.applies_to, _beginning(edition)]
        for lang in Language
        if (edition := entry.editions.get(lang))
    }


def _beginning(edition: Edition) -> str:
    text = " ".join(edition.answer.text.split()) if edition.answer else ""
    return text if len(text) <= SNIPPET else text[: SNIPPET - 1].rstrip() + "…"


def _saturations(document: Document) -> dict[str, float]:
    """What each term of a document brings, 0 to 1: see `jieda.search.rank.scoring`."""
    weighted: dict[str, float] = defaultdict(float)
    for zone, counts in document.zones.items():
        name = zone.partition("_")[0]
        of_zone, length = ZONE_WEIGHTS[name], sum(counts.values())
        norm = 1 - of_zone.b + of_zone.b * length / of_zone.pivot
        for term, count in counts.items():
            kind = KINDS[term.partition(":")[0]]
            weighted[term] += of_zone.weight * kind * count / norm
    return {term: weight / (K1 + weight) for term, weight in weighted.items()}


def _stems(analyzer: Analyzer, text: str) -> dict[str, str]:
    analysis = analyzer.analyze(text)
    pairs = zip(analysis.words, analysis.stems, strict=True)
    return {word: stem for word, stem in pairs if word != stem}


KINDS = {kind.value: weight for kind, weight in KIND_WEIGHTS.items()}
