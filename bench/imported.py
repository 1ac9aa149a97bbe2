"""A content directory made of question-and-answer pages by `jieda import`, and queries for it.

The pages are a corpus of `bench.importing`: `manifest.json` names pairs of pages. Where a project has two versions of a
page, the one with queries is imported. `imported.jsonl` has the queries, each with the question that it means, as
PAGE:LANGUAGE:LINE, the line of the question: that does not depend on how the importer names and pairs what it finds.
The queries were written from the pages before any engine had run on them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jieda.entry import Language
from jieda.evaluation.figures import JudgedQuery, read_judged
from jieda.importing.plan import ImportRequest, plan_import
from jieda.importing.propose import Proposal
from jieda.importing.sources import ImportSources

from bench.importing import Marked, read_marked

QUERIES = Path(__file__).with_name("imported.jsonl")
LICENSE = "Apache-2.0"
"""Set for all pages: a source needs one, and no search reads it."""


def imported(source: Path, folder: Path, framework: str) -> tuple[JudgedQuery, ...]:
    """Import the pages that queries ask about into the content directory `folder`, which has a taxonomy; return
    queries.

    Raises ValueError where a query means a question that the importer has not found.
    """
    asked = read_judged(QUERIES)
    wanted = {place.partition(":")[0] for one in asked for place in one.expected}
    entries: dict[str, str] = {}
    for marked in read_marked(source):
        if marked.doc in wanted:
            entries.update(_import(marked, folder, framework))
    if missing := {place for one in asked for place in one.expected} - entries.keys():
        raise ValueError(f"not among the imported questions: {', '.join(sorted(missing))}")
    return tuple(replace(one, expected=_ids(entries, one.expected)) for one in asked)


def _ids(entries: Mapping[str, str], places: Sequence[str]) -> tuple[str, ...]:
    return tuple(entries[place] for place in places)


def _import(marked: Marked, folder: Path, framework: str) -> Iterator[tuple[str, str]]:
    """Yield the places of the questions of a pair of pages, each with the id of its entry."""
    given = ImportSources(
        marked.files, (), {lang: f"https://example.com/{lang}/{marked.doc}.md" for lang in Language}
    )
    request = ImportRequest(given, (folder,), framework, LICENSE)
    found = plan_import(request)
    found.write(folder)
    for proposal in found.new:
        for place in _places(proposal):
            yield f"{marked.doc}:{place}", proposal.id


def _places(proposal: Proposal) -> Iterator[str]:
    pages = proposal.candidate.pair.pages
    for lang, question in proposal.candidate.questions.items():
        yield f"{lang}:{pages[lang].line_of(question.first) + 1}"
