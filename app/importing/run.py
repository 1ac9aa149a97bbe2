"""The whole of an import, from what was asked for to a plan, over the content as it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from app.analysis.glossary import Glossary
from app.analysis.pipeline import Analyzer
from app.content.read.load import Loaded
from app.entry import Language
from app.errors import ImportingError
from app.importing.candidates import find_candidates
from app.importing.features import Extractor
from app.importing.plan import Plan, Watch, make_plan
from app.importing.proposal import Candidate
from app.importing.propose import Proposer
from app.importing.records import read_record
from app.importing.sources import File, Given, is_named_for_questions, page_files, read_pair
from app.importing.tags import finders_of
from app.importing.wording import Wording, fold_title
from app.taxonomy import Tag

LEAST_ASKING = 0.5
"""Of the titles of a page whose name says nothing, so many must read like questions, and at least two."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to import, and what is said about all of it. The last of `directories` is written to."""

    given: Given
    directories: tuple[Path, ...]
    framework: str
    license: str
    updated: date | None
    accept: bool


@dataclass(frozen=True, slots=True)
class Import:
    """The plan, and the pages that were passed over because they hold no questions."""

    plan: Plan
    framework: Tag
    passed_over: tuple[str, ...]


def plan_import(request: Request, watch: Watch) -> Import:
    """Reads everything and writes nothing. Raises ImportingError and what loading the content raises."""
    content = Loaded(request.directories, frozenset(Language))
    known = content.vocabulary.taxonomy.framework
    framework = known.get(request.framework)
    if framework is None:
        names = ", ".join(known)
        raise ImportingError(f"framework {request.framework!r} is not in taxonomy.yaml, which has {names}")
    analyzer = Analyzer(content.vocabulary.dictionary)
    wording = Wording.load()
    extractor = Extractor(wording, analyzer, Glossary(content.vocabulary.glossary, analyzer))
    candidates: list[Candidate] = []
    passed_over: list[str] = []
    groups = page_files(request.given)
    for at in watch(range(len(groups)), len(groups)):
        pair = read_pair(groups[at], request.given, wording)
        found = find_candidates(pair, wording, extractor)
        if found and _holds_questions(groups[at], found, wording):
            candidates += found
        else:
            passed_over.append(pair.key)
    proposer = _proposer(request, framework, content, analyzer, wording)
    record = read_record(request.directories[-1], framework.id)
    plan = make_plan(candidates, record, content, proposer, watch, accept=request.accept)
    return Import(plan, framework, tuple(passed_over))


def _holds_questions(files: Mapping[Language, File], found: Sequence[Candidate], wording: Wording) -> bool:
    """Whether a page was meant: it was given by itself, or its name or its titles say so."""
    if any(is_named_for_questions(file, wording) for file in files.values()):
        return True
    titles = [question.written for each in found for question in each.found.values()]
    asking = sum(wording.marked(title) or wording.asks(title) for title in titles)
    return len(found) >= 2 and asking >= LEAST_ASKING * len(titles)


def _proposer(
    request: Request, framework: Tag, content: Loaded, analyzer: Analyzer, wording: Wording
) -> Proposer:
    titles: dict[str, str] = {}
    for file in content.corpus.files:
        for name in (file.front.title, *file.front.aliases):
            titles.setdefault(fold_title(name), file.id)
    topics, error_types = finders_of(content.corpus, analyzer)
    return Proposer(
        framework=framework,
        license=request.license,
        updated=request.updated,
        wording=wording,
        topics=topics,
        error_types=error_types,
        samples=content.samples,
        titles=titles,
    )
