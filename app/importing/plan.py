"""An import from its candidates to a plan: what would be written, what is known already, and what has changed."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.content.markdown.body import parse_page
from app.content.markdown.sections import slug
from app.content.read.corpus import Corpus
from app.content.read.forms import MAX_TITLE_CHARS
from app.content.read.load import Loaded
from app.entry import Language
from app.importing.changes import Change, Present, Standing, changes_of
from app.importing.links import Targets
from app.importing.naming import Slugs
from app.importing.proposal import Candidate, PagePair, Proposal, Status
from app.importing.propose import Proposer
from app.importing.recognize import present_id, recognize, under_recorded_pages
from app.importing.records import Imported
from app.importing.shared import with_shared_signatures_named
from app.importing.wording import fold_title

Watch = Callable[[Iterable[int], int], Iterable[int]]
"""Hands on the numbers it is given, so many as it is told, and shows how far it has come."""

Ids = Mapping[int, tuple[str, bool]]
"""By the number of the candidate: its id, and whether that says what it is about."""


@dataclass(frozen=True, slots=True)
class Row:
    """One question of an import. One that is on the page no more has no proposal."""

    id: str
    status: Status
    page: str
    titles: Mapping[Language, str]
    proposal: Proposal | None = None
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The rows in the order of the pages, and the record as it will be once the new ones are written."""

    rows: tuple[Row, ...]
    record: tuple[Imported, ...]

    @property
    def new(self) -> tuple[Proposal, ...]:
        """What there is to write."""
        return tuple(row.proposal for row in self.rows if row.proposal and row.status is Status.NEW)


def make_plan(  # noqa: PLR0913 - what an import needs to know, each from another place
    candidates: Sequence[Candidate],
    record: Sequence[Imported],
    content: Loaded,
    proposer: Proposer,
    watch: Watch,
    *,
    accept: bool = False,
) -> Plan:
    """What to do about the candidates of all pages.

    With `accept` the pages as they are now count as dealt with, so that a later import compares with them.
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
    rows: list[Row] = []
    for number, proposal in enumerate(with_shared_signatures_named(proposals, content.corpus)):
        row = _row(proposal, known.get(number), content)
        rows.append(row)
        if row.status is Status.NEW:
            kept[proposal.id] = _imported(proposal)
        elif row.changes and (accept or all(each.standing is Standing.DONE for each in row.changes)):
            kept[known[number].id] = _imported(proposal)
    rows += _gone(candidates, record, {each.id for each in known.values()})
    return Plan(tuple(rows), tuple(kept.values()))


def _titles(candidates: Sequence[Candidate], ids: Ids, taken: Mapping[str, str]) -> dict[str, str]:
    """Folded titles that the import brings, each with the first entry that has it."""
    titles: dict[str, str] = {}
    for number, candidate in enumerate(candidates):
        for title in candidate.titles.values():
            folded = fold_title(title[:MAX_TITLE_CHARS])
            if folded not in taken:
                titles.setdefault(folded, ids[number][0])
    return titles


def _row(proposal: Proposal, imported: Imported | None, content: Loaded) -> Row:
    page, titles = proposal.candidate.pair.key, proposal.candidate.titles
    if imported is None:
        return Row(proposal.id, Status.NEW, page, titles, proposal)
    editions = content.corpus.by_id.get(proposal.id)
    if editions is None:
        return Row(proposal.id, Status.REMOVED, page, titles, proposal)
    current = {lang: Present(file.front.title, content.body(file)) for lang, file in editions.items()}
    changes = changes_of(imported, proposal, current)
    status = Status.CHANGED if changes else Status.UNCHANGED
    return Row(proposal.id, status, page, titles, proposal, changes)


def _gone(candidates: Sequence[Candidate], record: Sequence[Imported], seen: set[str]) -> list[Row]:
    pages = {candidate.pair.key for candidate in candidates}
    return [
        Row(each.id, Status.GONE, each.page, each.titles)
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
    candidates: Sequence[Candidate], known: Mapping[int, Imported], corpus: Corpus, framework: str
) -> Ids:
    old = {number: present_id(imported, corpus) for number, imported in known.items()}
    old |= _unrecorded(candidates, old, corpus, framework)
    here = [entry_id for entry_id in [*corpus.by_id, *old.values()] if entry_id.startswith(f"{framework}/")]
    slugs = Slugs(entry_id.partition("/")[2] for entry_id in here)
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
    candidates: Sequence[Candidate], known: Mapping[int, str], corpus: Corpus, framework: str
) -> dict[int, str]:
    """Candidates whose draft is there though the record does not say so: an import was interrupted."""
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
    candidates: Sequence[Candidate], ids: Ids, framework: str
) -> dict[tuple[str, Language], Targets]:
    """For every page what its links lead to; the anchors of all pages are known to each."""
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
