"""Plans an import of the questions of all pages: ids, links between them, proposals, and changes since the last one."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.content.authoring.writing import Create, carry_out
from jieda.content.markdown.body import parse_page
from jieda.content.read.corpus import Corpus
from jieda.content.read.load import Loaded
from jieda.drafting.guesses import SlugAllocator, doubt, finders_of
from jieda.entry import Language
from jieda.errors import ImportingError
from jieda.importing.page import PagePair, is_foreign
from jieda.importing.pairing import BilingualQuestion, find_candidates
from jieda.importing.propose import Proposal, Proposer, Status, draft_files
from jieda.importing.questions import WHOLE_PAGE_STYLES, LeftOut, find_left_out
from jieda.importing.records import (
    EditionTexts,
    EntryTexts,
    PageChange,
    Standing,
    current_id,
    find_changes,
    read_record,
    recognize,
    reuse_page_keys,
    write_record,
)
from jieda.importing.rewrite import WHOLE_PAGE, Targets, anchor_key, page_stem
from jieda.importing.sources import (
    ImportSources,
    PageFile,
    is_named_for_questions,
    page_files,
    page_keys,
    read_pair,
)
from jieda.importing.wording import WORDING, fold_title
from jieda.taxonomy import Tag

MOST_NAMED = 3
LEAST_ASKING = 0.5
"""Minimum share of titles that read like questions on a page not named for them; it must have at least two."""

Progress = Callable[[Sequence[Any]], Iterator[Any]]
"""Yields items and shows how many of them are done."""
Ids = Sequence[tuple[str, bool]]
"""For each candidate, its id, and whether that is descriptive."""


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What to import, with metadata for all of it. The last of `directories` is written to."""

    sources: ImportSources
    directories: tuple[Path, ...]
    framework: str
    license: str = ""
    updated: date | None = None
    accept: bool = False
    """Record the current pages as handled, so that a later import compares with them."""


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
class ImportPlan:
    """What an import does: rows in the order of the pages, and the record after the new entries are written.
    `passed_over`: pages skipped as unrelated; `empty`: named ones without questions; `left_out`: sections of others
    that are in no question, by page."""

    rows: tuple[PlanRow, ...]
    record: tuple[EntryTexts, ...]
    framework: Tag
    passed_over: tuple[str, ...]
    empty: tuple[str, ...]
    left_out: Mapping[str, Sequence[LeftOut]]

    @property
    def new(self) -> tuple[Proposal, ...]:
        """New entries, and those that lack an edition which the page has got since."""
        return tuple(
            row.proposal
            for row in self.rows
            if row.proposal and (row.status is Status.NEW or any(each.is_edition for each in row.changes))
        )

    def write(self, directory: Path) -> list[Path]:
        """Write new entries into a content directory, all or none, and the record; return the files of entries."""
        files = draft_files(directory, self.new)
        carry_out([Create(path, content) for path, content in files.items()])
        if self.record != read_record(directory, self.framework.id):
            write_record(directory, self.framework.id, self.record)
        return [*files]


def plan_import(request: ImportRequest, progress: Progress = iter) -> ImportPlan:
    """Plan an import without writing anything. Raises ImportingError and what loading the content raises."""
    content = Loaded(request.directories)
    known = content.vocabulary.taxonomy.framework
    framework = known.get(request.framework)
    if framework is None:
        names = ", ".join(known)
        raise ImportingError(f"framework {request.framework!r} is not in taxonomy.yaml, which has {names}")
    analyzer = Analyzer(content.vocabulary.dictionary)
    glossary = Glossary(content.vocabulary.glossary, analyzer)
    candidates, passed_over, empty, left_out = _read_candidates(request.sources, glossary, progress)
    record = read_record(request.directories[-1], framework.id)
    candidates = reuse_page_keys(candidates, record)
    recorded = recognize(candidates, record)
    ids = _assign_ids(candidates, recorded, record, content.corpus, framework.id)
    topics, error_types = finders_of(content.corpus, analyzer)
    proposer = Proposer(
        framework=framework,
        license=request.license,
        updated=request.updated,
        topics=topics,
        error_types=error_types,
        samples=content.samples,
        titles=_ids_by_title(candidates, ids, content.corpus),
    )
    targets = _targets(candidates, ids)
    proposals = [
        proposer.propose(candidate, entry_id, targets[candidate.pair.key], vague=not descriptive)
        for candidate, (entry_id, descriptive) in progress(list(zip(candidates, ids, strict=True)))
    ]
    _add_shared_doubts(proposals, content.corpus)
    rows = [_row(proposal, recorded.get(at), content) for at, proposal in enumerate(proposals)]
    gone = _rows_of_gone(candidates, record, {each.id for each in recorded.values()})
    accepted = {row.id for row in gone} if request.accept else set()
    record = tuple(each for each in record if each.id not in accepted)
    new_record = _update_record(record, rows, recorded, accept=request.accept)
    rows += gone
    return ImportPlan(tuple(rows), new_record, framework, tuple(passed_over), tuple(empty), left_out)


def _read_candidates(
    sources: ImportSources, glossary: Glossary, progress: Progress
) -> tuple[Sequence[BilingualQuestion], list[str], list[str], dict[str, list[LeftOut]]]:
    """Return the questions of all pages, the keys of pages passed over and of empty ones, and what is left out."""
    candidates: list[BilingualQuestion] = []
    passed_over: list[str] = []
    empty: list[str] = []
    left_out: dict[str, list[LeftOut]] = {}
    pages = page_files(sources)
    for files, key in progress(list(zip(pages, page_keys(pages), strict=True))):
        pair = read_pair(files, key, sources)
        on_page = find_candidates(pair, glossary)
        if on_page and _holds_questions(files, pair, on_page):
            candidates += on_page
            left_out[pair.key] = []
            for lang, page in pair.pages.items():
                questions = [each.questions[lang] for each in on_page if lang in each.questions]
                left_out[pair.key] += find_left_out(page, questions)
        elif all(file.below for file in files.values()):
            passed_over.append(pair.key)
        else:
            empty.append(pair.key)
    return candidates, passed_over, empty, left_out


def _holds_questions(
    files: Mapping[Language, PageFile], pair: PagePair, candidates: Sequence[BilingualQuestion]
) -> bool:
    """Whether a page is about questions: it was named explicitly, or its name or its titles show it.

    Raises ImportingError for one that was named and has neither language."""
    for lang, file in files.items():
        if file.lang is None and is_foreign(pair.pages[lang].text):
            if file.below:
                return False
            raise ImportingError(
                f"{file.path}: is neither English nor Chinese; name it with --en or --zh to import it all the same"
            )
    if any(is_named_for_questions(file) for file in files.values()):
        return True
    questions = [question for each in candidates for question in each.questions.values()]
    titles = [question.written for question in questions]
    if all(each.style in WHOLE_PAGE_STYLES for each in questions):
        return any(WORDING.likeness(each.written) >= WHOLE_PAGE_STYLES[each.style] for each in questions)
    asking = sum(WORDING.marked(title) or WORDING.asks(title) for title in titles)
    return len(candidates) >= 2 and asking >= LEAST_ASKING * len(titles)


def _ids_by_title(candidates: Sequence[BilingualQuestion], ids: Ids, corpus: Corpus) -> dict[str, str]:
    """Map each folded title or alias of the content, and each title that the import adds, to the first id with it."""
    titles: dict[str, str] = {}
    for file in corpus.files:
        for name in (file.front.title, *file.front.aliases):
            titles.setdefault(fold_title(name), file.id)
    for candidate, (entry_id, _) in zip(candidates, ids, strict=True):
        for title in candidate.titles.values():
            titles.setdefault(fold_title(title), entry_id)
    return titles


def _add_shared_doubts(proposals: Sequence[Proposal], corpus: Corpus) -> None:
    """Add a doubt to each proposal that shares a signature with another or with an entry."""
    holders: dict[str, set[str]] = defaultdict(set)
    for file in corpus.files:
        for signature in file.front.signatures:
            if len(signature.all) == 1:
                holders[signature.all[0]].add(file.id)
    for proposal in proposals:
        for signature in proposal.front.signatures:
            holders[signature.all[0]].add(proposal.id)
    for proposal in proposals:
        sharing = (holders[signature.all[0]] for signature in proposal.front.signatures)
        if others := sorted(set().union(*sharing) - {proposal.id}):
            names = ", ".join(others[:MOST_NAMED]) + (", …" if len(others) > MOST_NAMED else "")
            shared = doubt("shared", ids=names)
            for lang, edition in proposal.editions.items():
                proposal.editions[lang] = replace(edition, doubts=(*edition.doubts, shared))


def _row(proposal: Proposal, recorded: EntryTexts | None, content: Loaded) -> PlanRow:
    page, titles = proposal.candidate.pair.key, proposal.candidate.titles
    editions = content.corpus.by_id.get(proposal.id)
    if recorded is None or editions is None:
        status = Status.REMOVED if recorded else Status.NEW
        return PlanRow(proposal.id, status, page, titles, proposal)
    texts = {lang: EditionTexts(file.front.title, content.body(file)) for lang, file in editions.items()}
    changes = find_changes(recorded, _texts_of(proposal), EntryTexts(proposal.id, page, texts))
    status = Status.CHANGED if changes else Status.UNCHANGED
    return PlanRow(proposal.id, status, page, titles, proposal, changes)


def _update_record(
    record: Sequence[EntryTexts], rows: Sequence[PlanRow], recorded: Mapping[int, EntryTexts], *, accept: bool
) -> tuple[EntryTexts, ...]:
    """Return the record with new entries, and with changed ones if all their changes are done or accepted."""
    by_id = {each.id: each for each in record}
    for number, row in enumerate(rows):
        done = row.changes and (accept or all(each.standing is Standing.DONE for each in row.changes))
        if row.proposal and (row.status is Status.NEW or done):
            by_id[recorded[number].id if done else row.id] = _texts_of(row.proposal)
    return tuple(by_id.values())


def _rows_of_gone(
    candidates: Sequence[BilingualQuestion], record: Sequence[EntryTexts], seen: set[str]
) -> list[PlanRow]:
    """Return rows for recorded questions that are no longer on their page. `seen`: ids of those that are."""
    pages = {candidate.pair.key for candidate in candidates}
    return [
        PlanRow(each.id, Status.GONE, each.page, each.titles)
        for each in record
        if each.page in pages and each.id not in seen
    ]


def _texts_of(proposal: Proposal) -> EntryTexts:
    texts = {lang: EditionTexts(each.front.title, each.body) for lang, each in proposal.editions.items()}
    return EntryTexts(proposal.id, proposal.candidate.pair.key, texts)


def _assign_ids(
    candidates: Sequence[BilingualQuestion],
    recorded: Mapping[int, EntryTexts],
    record: Sequence[EntryTexts],
    corpus: Corpus,
    framework: str,
) -> Ids:
    recorded_ids = {number: current_id(entry, corpus) for number, entry in recorded.items()}
    taken = {current_id(entry, corpus) for entry in record}
    # The record lacks drafts of an import that was interrupted.
    drafts = {
        (file.lang, file.front.title): file.id
        for file in corpus.files
        if file.front.doubts and file.id.startswith(f"{framework}/") and file.id not in taken
    }
    used = [each for each in (*corpus.by_id, *taken) if each.startswith(f"{framework}/")]
    slugs = SlugAllocator(entry_id.partition("/")[2] for entry_id in used)
    ids: list[tuple[str, bool]] = []
    for number, candidate in enumerate(candidates):
        draft_ids = (drafts.get((lang, title)) for lang, title in candidate.titles.items())
        if entry_id := recorded_ids.get(number) or next(filter(None, draft_ids), None):
            drafts = {key: each for key, each in drafts.items() if each != entry_id}
            ids.append((entry_id, True))
            continue
        titles = candidate.titles
        anchor = next((each.anchor for each in candidate.questions.values() if each.anchor), "")
        en, zh = (titles.get(lang, "") for lang in Language)
        name, descriptive = slugs.take(en, zh, anchor, Path(candidate.pair.key).stem)
        ids.append((f"{framework}/{name}", descriptive))
    return ids


def _targets(candidates: Sequence[BilingualQuestion], ids: Ids) -> dict[str, dict[Language, Targets]]:
    """Return the link targets of every page; each knows the anchors of all pages."""
    pairs = {candidate.pair.key: candidate.pair for candidate in candidates}
    entries: dict[Path, dict[str, str]] = defaultdict(dict)
    for candidate, (entry_id, _) in zip(candidates, ids, strict=True):
        for lang, question in candidate.questions.items():
            anchors = entries[candidate.pair.pages[lang].path.resolve()]
            for anchor in (question.anchor, anchor_key(question.title), anchor_key(question.written)):
                if anchor:
                    anchors.setdefault(anchor, entry_id)
            if question.style in WHOLE_PAGE_STYLES:
                anchors.setdefault(WHOLE_PAGE, entry_id)
    for path, anchors in list(entries.items()):
        entries[page_stem(path)] = anchors | entries[page_stem(path)]
    return {
        key: {
            lang: Targets(
                path=page.path.resolve(),
                base=pair.addresses.get(lang, ""),
                entries=entries,
                references=parse_page(page.text).references,
            )
            for lang, page in pair.pages.items()
        }
        for key, pair in pairs.items()
    }
