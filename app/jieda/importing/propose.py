"""Makes proposals of entries from imported questions, and drafts of them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from os.path import lexists
from pathlib import Path

from jieda.content.authoring.edition_text import edition_text
from jieda.content.markdown.body import parse_body
from jieda.content.read.forms import MAX_TITLE_CHARS, FrontMatter
from jieda.content.read.parse import edition_digest
from jieda.drafting.guesses import Doubt, TagFinder, doubt, doubt_guess, propose_signatures
from jieda.entry import Kind, Language, Sample, Signature, Source
from jieda.importing.body import PageAnswer, compose, read_answer
from jieda.importing.pairing import BilingualQuestion
from jieda.importing.rewrite import Targets
from jieda.importing.wording import WORDING, fold_title
from jieda.taxonomy import Tag


class Status(StrEnum):
    """Status of a question in a repeated import of its page."""

    NEW = "new"
    UNCHANGED = "unchanged"
    CHANGED = "changed"
    REMOVED = "removed"
    """It was imported, and its entry was deleted since: it is not written again."""
    GONE = "gone"
    """It was imported, and is no longer on the page."""


@dataclass(frozen=True, slots=True)
class EditionDraft:
    """An edition, ready to be written with its doubts."""

    front: FrontMatter
    body: str
    doubts: tuple[Doubt, ...]
    images: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class Proposal:
    """An entry as it would be written."""

    id: str
    candidate: BilingualQuestion
    editions: dict[Language, EditionDraft]

    @property
    def front(self) -> FrontMatter:
        """Front matter whose kind, tags and signatures are those of every edition."""
        return next(iter(self.editions.values())).front

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        return tuple(dict.fromkeys(each for edition in self.editions.values() for each in edition.doubts))


NO_LICENSE = "TODO"
MAX_NAMED = 5
"""Maximum number of identifiers named in a doubt."""

_CONCEPTS = frozenset({"what", "why", "where", "can", "difference"})


@dataclass(frozen=True, slots=True)
class Proposer:
    """Makes proposals for one framework. `titles`: folded titles of the content to entry ids. `license`, `updated`:
    those of all pages; empty or None if not given."""

    framework: Tag
    license: str
    updated: date | None
    topics: TagFinder
    error_types: TagFinder
    samples: Sequence[Sample]
    titles: Mapping[str, str]

    def propose(
        self, candidate: BilingualQuestion, entry_id: str, targets: Mapping[Language, Targets], *, vague: bool
    ) -> Proposal:
        """Return the proposal for one candidate; `vague`: its slug does not say what it is about."""
        slug = entry_id.partition("/")[2]
        answers = {
            lang: read_answer(candidate.pair.pages[lang], question, targets[lang], slug)
            for lang, question in candidate.questions.items()
        }
        error_lines = self._error_lines(candidate, answers.values(), entry_id)
        kind, clear = self._kind(candidate, error_lines, answers.values())
        known = self._known(candidate, kind, error_lines if kind is Kind.ERROR else ())
        bodies = compose(answers, kind)
        common = (
            *([doubt("slug", slug=slug)] if vague else []),
            *([] if clear else [doubt("kind", kind=kind.value)]),
            doubt_guess("topics", known.topics),
            *_error_doubts(known, entry_id),
            *_code_doubts(bodies, self.framework.id),
        )
        editions = {
            lang: EditionDraft(
                front=self._front(lang, candidate, known, bodies),
                body=bodies[lang],
                doubts=(
                    *_pair_doubts(lang, candidate),
                    *common,
                    *self._page_doubts(lang, candidate, entry_id),
                    *_answer_doubts(answers[lang]),
                ),
                images=answers[lang].links.images,
            )
            for lang in candidate.questions
        }
        return Proposal(entry_id, candidate, editions)

    def _error_lines(
        self, candidate: BilingualQuestion, answers: Collection[PageAnswer], entry_id: str
    ) -> tuple[str, ...]:
        samples = [sample for sample in self.samples if sample.entry_id != entry_id]
        titles = [question.title for question in candidate.questions.values()]
        texts = [answer.text for answer in answers]
        symptoms = [text for answer in answers for key, text in answer.parts if key == "symptom"]
        return propose_signatures(titles, texts, samples, symptoms)

    def _kind(
        self, candidate: BilingualQuestion, error_lines: Sequence[str], answers: Collection[PageAnswer]
    ) -> tuple[Kind, bool]:
        """Return the kind, and whether the question or the parts of the answer make it clear."""
        titles = list(candidate.titles.values())
        sorts = frozenset(name for title in titles for name in WORDING.sorts_of(title))
        names_error = any(WORDING.names_error(title) for title in titles)
        states_problem = any(WORDING.states_problem(title) for title in titles)
        if names_error or (error_lines and states_problem) or all(map(_has_problem_and_fix, answers)):
            return Kind.ERROR, True
        if "how" in sorts:
            return Kind.HOW_TO, not states_problem
        if states_problem and not sorts & (_CONCEPTS - {"why"}):
            return Kind.ERROR, False
        return Kind.CONCEPT, bool(sorts & _CONCEPTS) and not states_problem

    def _known(self, candidate: BilingualQuestion, kind: Kind, signatures: Sequence[str]) -> FrontMatter:
        """Return the front matter that the editions share."""
        titles = list(candidate.titles.values())
        categories = [name for question in candidate.questions.values() for name in question.categories[1:]]
        types = self.error_types.find(" \n".join([*titles, *signatures])) if kind is Kind.ERROR else ()
        return FrontMatter(
            kind=kind,
            topics=self.topics.find(" \n".join([*titles, *categories])),
            error_types=types,
            signatures=tuple(Signature((_one_line(line),)) for line in signatures),
            draft=True,
        )

    def _front(
        self, lang: Language, candidate: BilingualQuestion, known: FrontMatter, bodies: Mapping[Language, str]
    ) -> FrontMatter:
        titles, page, other = candidate.titles, candidate.pair.pages[lang], lang.other
        fallback = self.framework.repository or self.framework.homepage or "https://example.com/"
        source = (page.title, candidate.pair.addresses.get(lang) or fallback, self.license or NO_LICENSE)
        return replace(
            known,
            title=titles[lang],
            symptoms=(titles[lang],) if known.kind is Kind.ERROR and not known.signatures else (),
            applies_to=_one_line(self.framework.name[lang]),
            source=(Source(*map(_one_line, source)),),
            updated=self.updated or page.updated,
            synced_with=edition_digest(titles[other], bodies[other]) if other in bodies else "",
        )

    def _page_doubts(self, lang: Language, candidate: BilingualQuestion, entry_id: str) -> Iterator[Doubt]:
        if len(candidate.questions[lang].title) > MAX_TITLE_CHARS:
            yield doubt("title")
        other = self.titles.get(fold_title(candidate.titles[lang]), entry_id)
        if other != entry_id:
            yield doubt("duplicate", id=other)
        if not candidate.pair.addresses.get(lang):
            yield doubt("source-address")
        if not self.license:
            yield doubt("source-license")
        if not self.updated and not candidate.pair.pages[lang].dated:
            yield doubt("updated")


def _has_problem_and_fix(answer: PageAnswer) -> bool:
    """Whether an answer has a part on what goes wrong or why, and a part on what to do about it."""
    keys = {key for key, _ in answer.parts}
    return "fix" in keys and bool(keys & {"symptom", "cause"})


def _answer_doubts(answer: PageAnswer) -> Iterator[Doubt]:
    if not answer.text:
        yield doubt("answer")
    yield from (doubt("link", target=target) for target in dict.fromkeys(answer.links.lost))
    yield from (doubt("image", target=target) for target in dict.fromkeys(answer.links.linked_images))


def _error_doubts(known: FrontMatter, entry_id: str) -> Iterator[Doubt]:
    if known.kind is Kind.ERROR:
        yield doubt_guess("error-types", known.error_types)
        yield doubt("sample", id=entry_id) if known.signatures else doubt("symptoms")
        yield doubt("fix")


def _pair_doubts(lang: Language, candidate: BilingualQuestion) -> Iterator[Doubt]:
    other = candidate.questions.get(lang.other)
    if lang.other not in candidate.pair.pages:
        return
    if other is None:
        yield doubt("alone")
    elif not candidate.sure:
        line = candidate.pair.pages[lang.other].line_of(other.first) + 1
        yield doubt("pair", line=line)


def _code_doubts(bodies: Mapping[Language, str], framework: str) -> Iterator[Doubt]:
    """Yield a doubt about code spans of one edition that the code of the other lacks, which `jieda check` reports."""
    if len(bodies) < 2:
        return
    parsed = [parse_body(body, lang, framework, 1) for lang, body in bodies.items()]
    missing: list[str] = []
    for this, other in (parsed, reversed(parsed)):
        other_code = "\n".join(other.code)
        missing += [span for span in dict.fromkeys(this.code_spans) if span not in other_code]
    if missing:
        names = ", ".join(missing[:MAX_NAMED]) + (" …" if len(missing) > MAX_NAMED else "")
        yield doubt("identifier", names=names)


def draft_files(directory: Path, proposals: Iterable[Proposal]) -> dict[Path, bytes]:
    """Return the editions and their images as files of a content directory, except those that exist, also as
    links that lead nowhere."""
    files: dict[Path, bytes] = {}
    for proposal in proposals:
        for lang, edition in proposal.editions.items():
            path = directory / lang / f"{proposal.id}.md"
            if lexists(path):
                continue
            doubts = tuple(_one_line(each.render(lang)) for each in edition.doubts)
            files[path] = edition_text(replace(edition.front, doubts=doubts), edition.body).encode()
            for name, source in edition.images.items():
                if not lexists(image := path.with_name(name)):
                    files[image] = source.read_bytes()
    return files


def _one_line(text: str) -> str:
    return " ".join(text.split())
