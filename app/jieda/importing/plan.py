"""Plans an import of the questions of all pages: ids, links between them, proposals, and changes since the last one."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.content.markdown.body import parse_page
from jieda.content.markdown.links import slug
from jieda.content.read.corpus import Corpus
from jieda.content.read.forms import MAX_TITLE_CHARS
from jieda.content.read.load import Loaded
from jieda.drafting.doubts import doubt
from jieda.drafting.guesses import SlugAllocator, finders_of
from jieda.entry import Language
from jieda.errors import ImportingError
from jieda.importing.outline import ASKING
from jieda.importing.page import PagePair
from jieda.importing.pairing import BilingualQuestion, Extractor, find_candidates
from jieda.importing.propose import Proposal, Proposer, Status, write_drafts
from jieda.importing.records import (
    CurrentEdition,
    Imported,
    PageChange,
    Standing,
    changes_of,
    present_id,
    read_record,
    recognize,
    under_recorded_pages,
    write_record,
)
from jieda.importing.rewrite import Targets
from jieda.importing.sources import ImportSources, PageFile, is_named_for_questions, page_files, read_pair
from jieda.importing.wording import Wording, fold_title
from jieda.taxonomy import Tag

MOST_NAMED = 3


def with_shared_signatures_named(proposals: Sequence[Proposal], corpus: Corpus) -> list[Proposal]:
    """Return the proposals, in order, with a doubt added to each that shares a signature with another or an entry."""
    holders: dict[str, set[str]] = defaultdict(set)
    for file in corpus.files:
        for signature in file.front.signatures:
            if len(signature.all) == 1:
                holders[signature.all[0]].add(file.id)
    for proposal in proposals:
        for line in proposal.signatures:
            holders[line].add(proposal.id)
    return [_named(proposal, holders) for proposal in proposals]


def _named(proposal: Proposal, holders: dict[str, set[str]]) -> Proposal:
    others = sorted(set().union(*(holders[line] for line in proposal.signatures)) - {proposal.id})
    if not others:
        return proposal
    shared = doubt("shared", ids=", ".join(others[:MOST_NAMED]) + (", …" if len(others) > MOST_NAMED else ""))
    editions = {
        lang: replace(edition, doubts=(*edition.doubts, shared))
        for lang, edition in proposal.editions.items()
    }
    return replace(proposal, editions=editions)


Watch = Callable[[Iterable[int], int], Iterable[int]]
"""Yields the given numbers and shows progress; its second argument is their count."""

Ids = Mapping[int, tuple[str, bool]]
"""By number of the candidate: its id, and whether the id is descriptive."""


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One question of an import. A question that is no longer on the page has no proposal."""

    id: str
    status: Status
    page: str
    titles: Mapping[Language, str]
    proposal: Proposal | None = None
    changes: tuple[PageChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """Rows in the order of the pages, and the record as it will be after the new entries are written."""

    rows: tuple[PlanRow, ...]
    record: tuple[Imported, ...]

    @property
    def new(self) -> tuple[Proposal, ...]:
        """Proposals to be written."""
        return tuple(row.proposal for row in self.rows if row.proposal and row.status is Status.NEW)


def make_plan(  # noqa: PLR0913 - inputs from different places
    candidates: Sequence[BilingualQuestion],
    record: Sequence[Imported],
    content: Loaded,
    proposer: Proposer,
    watch: Watch,
    *,
    accept: bool = False,
) -> Plan:
    """Plan what to do with the candidates of all pages.

    With `accept`, the pages as they are now are recorded as handled, so that a later import compares with them.
    """
    candidates = under_recorded_pages(candidates, record)
    known = recognize(candidates, record)
    ids = _ids(candidates, known, content.corpus, proposer.framework.id)
    proposer = replace(proposer, titles=dict(proposer.titles) | _titles(candidates, ids, proposer.titles))
    targets = _all_targets(candidates, ids, proposer.framework.id)
    kept = {each.id: each for each in record}
    proposals: list[Proposal] = []
    for number in watch(range(len(candidates)), len(candidates)):
        candidate = candidates[number]
        entry_id, named = ids[number]
        aimed = {lang: targets[candidate.pair.key, lang] for lang in candidate.found}
        proposals.append(proposer.propose(candidate, entry_id, aimed, named=named))
    rows: list[PlanRow] = []
    for number, proposal in enumerate(with_shared_signatures_named(proposals, content.corpus)):
        row = _row(proposal, known.get(number), content)
        rows.append(row)
        if row.status is Status.NEW:
            kept[proposal.id] = _imported(proposal)
        elif row.changes and (accept or all(each.standing is Standing.DONE for each in row.changes)):
            kept[known[number].id] = _imported(proposal)
    rows += _gone(candidates, record, {each.id for each in known.values()})
    return Plan(tuple(rows), tuple(kept.values()))


def _titles(candidates: Sequence[BilingualQuestion], ids: Ids, taken: Mapping[str, str]) -> dict[str, str]:
    """Map each folded title that the import adds to the first entry that has it."""
    titles: dict[str, str] = {}
    for number, candidate in enumerate(candidates):
        for title in candidate.titles.values():
            folded = fold_title(title[:MAX_TITLE_CHARS])
            if folded not in taken:
                titles.setdefault(folded, ids[number][0])
    return titles


def _row(proposal: Proposal, imported: Imported | None, content: Loaded) -> PlanRow:
    page, titles = proposal.candidate.pair.key, proposal.candidate.titles
    if imported is None:
        return PlanRow(proposal.id, Status.NEW, page, titles, proposal)
    editions = content.corpus.by_id.get(proposal.id)
    if editions is None:
        return PlanRow(proposal.id, Status.REMOVED, page, titles, proposal)
    current = {lang: CurrentEdition(file.front.title, content.body(file)) for lang, file in editions.items()}
    changes = changes_of(imported, proposal, current)
    status = Status.CHANGED if changes else Status.UNCHANGED
    return PlanRow(proposal.id, status, page, titles, proposal, changes)


def _gone(
    candidates: Sequence[BilingualQuestion], record: Sequence[Imported], seen: set[str]
) -> list[PlanRow]:
    pages = {candidate.pair.key for candidate in candidates}
    return [
        PlanRow(each.id, Status.GONE, each.page, each.titles)
        for each in record
        if each.page in pages and each.id not in seen
    ]


def _imported(proposal: Proposal) -> Imported:
    return Imported(
        id=proposal.id,
        page=proposal.candidate.pair.key,
        titles={lang: edition.title for lang, edition in proposal.editions.items()},
        bodies={lang: edition.body for lang, edition in proposal.editions.items()},
    )


def _ids(
    candidates: Sequence[BilingualQuestion], known: Mapping[int, Imported], corpus: Corpus, framework: str
) -> Ids:
    old = {number: present_id(imported, corpus) for number, imported in known.items()}
    old |= _unrecorded(candidates, old, corpus, framework)
    here = [entry_id for entry_id in [*corpus.by_id, *old.values()] if entry_id.startswith(f"{framework}/")]
    slugs = SlugAllocator(entry_id.partition("/")[2] for entry_id in here)
    ids: dict[int, tuple[str, bool]] = {}
    for number, candidate in enumerate(candidates):
        if number in old:
            ids[number] = (old[number], True)
            continue
        titles = candidate.titles
        anchor = next((each.anchor for each in candidate.found.values() if each.anchor), "")
        fallback = Path(candidate.pair.key).stem
        english, chinese = titles.get(Language.EN, ""), titles.get(Language.ZH, "")
        name, named = slugs.take(english, chinese, anchor, fallback)
        ids[number] = (f"{framework}/{name}", named)
    return ids


def _unrecorded(
    candidates: Sequence[BilingualQuestion], known: Mapping[int, str], corpus: Corpus, framework: str
) -> dict[int, str]:
    """Return the ids of candidates whose draft exists but is not in the record, because an import was interrupted."""
    drafts = {
        (file.lang, file.front.title): file.id
        for file in corpus.files
        if file.front.doubts and file.id.startswith(f"{framework}/") and file.id not in known.values()
    }
    found: dict[int, str] = {}
    for number, candidate in enumerate(candidates):
        ids = (drafts.get((lang, title)) for lang, title in candidate.titles.items())
        entry_id = next(filter(None, ids), None)
        if number not in known and entry_id and entry_id not in found.values():
            found[number] = entry_id
    return found


def _all_targets(
    candidates: Sequence[BilingualQuestion], ids: Ids, framework: str
) -> dict[tuple[str, Language], Targets]:
    """Return the link targets of every page; each knows the anchors of all pages."""
    pairs = {candidate.pair.key: candidate.pair for candidate in candidates}
    entries: dict[Path, dict[str, str]] = defaultdict(dict)
    for number, candidate in enumerate(candidates):
        for lang, question in candidate.found.items():
            anchors = entries[candidate.pair.pages[lang].path.resolve()]
            for anchor in (question.anchor, slug(question.title), slug(question.written)):
                if anchor:
                    anchors.setdefault(anchor, ids[number][0])
    return {
        (key, lang): _targets(pair, lang, framework, entries)
        for key, pair in pairs.items()
        for lang in pair.pages
    }


def _targets(
    pair: PagePair, lang: Language, framework: str, entries: Mapping[Path, Mapping[str, str]]
) -> Targets:
    page = pair.pages[lang]
    return Targets(
        path=page.path.resolve(),
        base=pair.addresses.get(lang, ""),
        lang=lang,
        framework=framework,
        entries=entries,
        references=parse_page(page.text).references,
    )


LEAST_ASKING = 0.5
"""Minimum share of titles that read like questions on a page not named for questions; it must have two or more."""


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What to import, with metadata for all of it. The last of `directories` is written to."""

    given: ImportSources
    directories: tuple[Path, ...]
    framework: str
    license: str = ""
    updated: date | None = None
    accept: bool = False


@dataclass(frozen=True, slots=True)
class Import:
    """A plan. `passed_over`: pages skipped as unrelated; `empty`: pages that were given explicitly but have no
    questions."""

    plan: Plan
    framework: Tag
    passed_over: tuple[str, ...]
    empty: tuple[str, ...]

    def write(self, directory: Path) -> list[Path]:
        """Write new entries into a content directory, and the record; return the files of entries."""
        written = list(write_drafts(directory, self.plan.new, self.framework))
        if self.plan.record != read_record(directory, self.framework.id):
            write_record(directory, self.framework.id, self.plan.record)
        return written


def plan_import(request: ImportRequest, watch: Watch) -> Import:
    """Plan an import without writing anything. Raises ImportingError and what loading the content raises."""
    content = Loaded(request.directories, frozenset(Language))
    known = content.vocabulary.taxonomy.framework
    framework = known.get(request.framework)
    if framework is None:
        names = ", ".join(known)
        raise ImportingError(f"framework {request.framework!r} is not in taxonomy.yaml, which has {names}")
    analyzer = Analyzer(content.vocabulary.dictionary)
    wording = Wording.load()
    extractor = Extractor(wording, analyzer, Glossary(content.vocabulary.glossary, analyzer))
    candidates: list[BilingualQuestion] = []
    passed_over: list[str] = []
    empty: list[str] = []
    groups = page_files(request.given)
    for at in watch(range(len(groups)), len(groups)):
        pair = read_pair(groups[at], request.given, wording)
        found = find_candidates(pair, wording, extractor)
        if found and _holds_questions(groups[at], found, wording):
            candidates += found
        elif all(file.below for file in groups[at].values()):
            passed_over.append(pair.key)
        else:
            empty.append(pair.key)
    proposer = _proposer(request, framework, content, analyzer, wording)
    record = read_record(request.directories[-1], framework.id)
    plan = make_plan(candidates, record, content, proposer, watch, accept=request.accept)
    return Import(plan, framework, tuple(passed_over), tuple(empty))


def _holds_questions(
    files: Mapping[Language, PageFile], found: Sequence[BilingualQuestion], wording: Wording
) -> bool:
    """Whether a page is about questions: it was given explicitly, or its name or its titles show it."""
    if any(is_named_for_questions(file, wording) for file in files.values()):
        return True
    questions = [question for each in found for question in each.found.values()]
    titles = [question.written for question in questions]
    if all(each.style == "page" for each in questions):
        return any(wording.likeness(title) >= ASKING for title in titles)
    asking = sum(wording.marked(title) or wording.asks(title) for title in titles)
    return len(found) >= 2 and asking >= LEAST_ASKING * len(titles)


def _proposer(
    request: ImportRequest, framework: Tag, content: Loaded, analyzer: Analyzer, wording: Wording
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
