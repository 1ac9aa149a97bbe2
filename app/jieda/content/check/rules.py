"""The rules for single entries and those between entries, as two tables.

Problems of single files are found when they are parsed.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from jieda.content.check.findings import (
    Matches,
    RuleFinding,
    SignatureHolders,
    long_signatures,
    overreaching_signatures,
    ownerless_samples,
    shared_signatures,
    unhelpful_samples,
)
from jieda.content.markdown.links import allowed_titles, missing_section
from jieda.content.read.corpus import Corpus, Editions, Outline, link_fault, newest, stale_languages
from jieda.entry import Kind, Problem


def unknown_tags(corpus: Corpus, entry_id: str) -> Iterator[RuleFinding]:
    """Topics and error types that the taxonomy lacks."""
    known = {"topics": corpus.taxonomy.topic, "error_types": corpus.taxonomy.error_type}
    for file in corpus.by_id[entry_id].values():
        for field, given in (("topics", file.front.topics), ("error_types", file.front.error_types)):
            for tag in given:
                if tag not in known[field]:
                    near = get_close_matches(tag, known[field], 1)
                    message = (
                        f"`{field}`: {tag!r} is not in the taxonomy{f'; {near[0]!r} is' if near else ''}"
                    )
                    yield RuleFinding(file.where, file.line(field), message)


def unfit_for_kind(corpus: Corpus, entry_id: str) -> Iterator[RuleFinding]:
    """Fields and sections that an entry of its kind must or must not have."""
    for file in corpus.by_id[entry_id].values():
        front, kind = file.front, file.front.kind or Kind.CONCEPT
        if kind is not Kind.ERROR and front.error_types:
            message = f"`error_types` belong to errors, and this is a {kind}"
            yield RuleFinding(file.where, file.line("error_types"), message)
        if kind is Kind.ERROR and not front.signatures and not front.symptoms:
            message = "an error entry needs `signatures`, or `symptoms` where nothing is printed"
            yield RuleFinding(file.where, file.line("kind"), message)
        if lack := missing_section(kind, file.section_keys):
            yield RuleFinding(file.where, file.line("kind"), lack)


def dependent_fixes(corpus: Corpus, entry_id: str) -> Iterator[RuleFinding]:
    """Fixes that rely on the rest of their page, as far as a program can detect it."""
    for file in corpus.by_id[entry_id].values():
        for line, message in file.leanings:
            yield RuleFinding(file.where, line, message)


MAX_FIX_WORDS = 120


def long_fixes(corpus: Corpus, entry_id: str) -> Iterator[RuleFinding]:
    """Fixes that are too long for a reader whose run has just failed."""
    for file in corpus.by_id[entry_id].values():
        if (words := file.fix_words) > MAX_FIX_WORDS:
            line = next(
                placed.line for placed in file.headings if placed.section and placed.heading.anchor == "fix"
            )
            message = f"the fix has {words} words outside code blocks and tables, more than {MAX_FIX_WORDS}"
            yield RuleFinding(file.where, line, message)


def unfinished(corpus: Corpus, entry_id: str) -> Iterator[RuleFinding]:
    """Placeholders of a skeleton, in a file that is no longer a draft."""
    for file in corpus.by_id[entry_id].values():
        if file.front.draft:
            continue
        for number in file.unfinished:
            message = "has text of the skeleton: write it, or keep the file a draft (`draft: true`)"
            yield RuleFinding(file.where, number, message)


def open_doubts(corpus: Corpus, entry_id: str) -> Iterator[RuleFinding]:
    """Doubts that `jieda import` left, until somebody resolves them and deletes the line."""
    for file in corpus.by_id[entry_id].values():
        for doubt in file.front.doubts:
            yield RuleFinding(file.where, file.line("doubts"), doubt)


def odd_headings(corpus: Corpus, entry_id: str) -> Iterator[RuleFinding]:
    """H1 headings, H2 titles that are unknown or used twice, and text before the first section."""
    for file in corpus.by_id[entry_id].values():
        seen: set[str] = set()
        if not file.starts_with_section:
            yield RuleFinding(file.where, file.first_line, "the body must start with a section (## …)")
        for placed in file.headings:
            text = placed.heading.text
            if placed.level == 1:
                yield RuleFinding(file.where, placed.line, f"# {text}: the title is the H1; sections are ##")
            elif placed.section and not placed.known:
                message = f"## {text} is not one of {allowed_titles(file.lang)}"
                yield RuleFinding(file.where, placed.line, message)
            elif placed.section and text in seen:
                yield RuleFinding(file.where, placed.line, f"## {text} stands twice")
            seen |= {text} if placed.section else set()


def broken_links(corpus: Corpus, entry_id: str) -> Iterator[RuleFinding]:
    """Links, anchors and images that are broken or not allowed."""
    for file in corpus.by_id[entry_id].values():
        for link in file.links:
            if fault := link_fault(corpus, file, link):
                yield RuleFinding(file.where, link.line, fault)


def unrelated(corpus: Corpus, entry_id: str) -> Iterator[RuleFinding]:
    """Ids in `related` that do not exist, or are the entry itself."""
    for file in corpus.by_id[entry_id].values():
        shown = corpus.by_id if file.front.draft else corpus.published
        for other in file.front.related:
            if other == file.id:
                yield RuleFinding(file.where, file.line("related"), f"`related`: {other} is this entry")
            elif other not in shown:
                state = "is a draft" if other in corpus.by_id else "does not exist"
                yield RuleFinding(file.where, file.line("related"), f"`related`: {other} {state}")


AGREED: tuple[tuple[str, Callable[[Outline], object]], ...] = (
    ("kind", lambda file: file.front.kind),
    ("topics", lambda file: file.front.topics),
    ("error_types", lambda file: file.front.error_types),
    ("signatures", lambda file: file.front.signatures),
    ("related", lambda file: file.front.related),
    ("versions", lambda file: file.front.versions),
    ("fixed_in", lambda file: file.front.fixed_in),
    ("verified", lambda file: file.front.verified),
    ("applies_anywhere", lambda file: file.front.applies_anywhere),
    ("sections", lambda file: file.section_keys),
)
"""Values that must be equal in twins, order included: name in messages, and how to get it."""


def unequal_twins(corpus: Corpus, entry_id: str) -> Iterator[RuleFinding]:
    """Twins that contradict each other; reported for the older one, since the newer one's values are served."""
    for newer, older in _twins(corpus.by_id[entry_id]):
        for name, value in AGREED:
            if value(newer) != value(older):
                line = older.first_line if name == "sections" else older.line(name)
                yield RuleFinding(older.where, line, f"`{name}` must be equal to that of {newer.where}")


def lost_identifiers(corpus: Corpus, entry_id: str) -> Iterator[RuleFinding]:
    """Code spans of one edition that occur in no code of the other."""
    for newer, older in _twins(corpus.by_id[entry_id]):
        for file, twin in ((newer, older), (older, newer)):
            there = "\n".join(twin.code)
            for span in sorted(set(file.code_spans)):
                if span not in there:
                    message = f"`{span}` stands in {file.where}, but in no code here"
                    yield RuleFinding(twin.where, twin.first_line, message)


def unsynced_twins(corpus: Corpus, entry_id: str) -> Iterator[RuleFinding]:
    """Twins that were never stamped as in sync, and editions that are behind their twin."""
    editions = corpus.by_id[entry_id]
    if len(editions) < 2:
        yield from _widowed(editions)
        return
    stale = stale_languages(editions)
    for file in editions.values():
        if not file.front.synced_with:
            message = f"`synced_with` is missing: once the twins agree, run `jieda sync {entry_id}`"
            yield RuleFinding(file.where, 1, message)
        elif file.lang in stale:
            message = f"the twin has changed since; once this agrees, run `jieda sync {entry_id}`"
            yield RuleFinding(file.where, file.line("synced_with"), message)


def _widowed(editions: Editions) -> Iterator[RuleFinding]:
    for file in editions.values():
        if file.front.synced_with:
            message = (
                f"`synced_with` tells of a twin, but there is no {file.lang.other}/{file.id}.md: "
                "bring it back, or take the field out"
            )
            yield RuleFinding(file.where, file.line("synced_with"), message)


def _twins(editions: Editions) -> Iterator[tuple[Outline, Outline]]:
    """Yield the newer twin with the older one, if there are two."""
    newer = newest(editions)
    for file in editions.values():
        if file is not newer:
            yield newer, file


def colliding_old_ids(corpus: Corpus) -> Iterator[RuleFinding]:
    """Old ids that are in use, or that two entries claim."""
    claims: dict[str, str] = {}
    for file in corpus.files:
        for old in file.front.formerly:
            if old in corpus.by_id:
                message = f"`formerly`: {old} is an entry of today"
            elif claims.setdefault(old, file.id) != file.id:
                message = f"`formerly`: {old} is claimed by {claims[old]}, too"
            else:
                continue
            yield RuleFinding(file.where, file.line("formerly"), message)


def duplicate_names(corpus: Corpus) -> Iterator[RuleFinding]:
    """Titles and aliases that more than one entry has."""
    shared = _shared_names(corpus)
    owners: dict[str, list[tuple[Outline, str, str]]] = defaultdict(list)
    for file in corpus.files if shared else ():
        for field, names in (("title", (file.front.title,)), ("aliases", file.front.aliases)):
            for name in names:
                if _fold(name) in shared:
                    owners[_fold(name)].append((file, field, name))
    for named in owners.values():
        first = named[0][0]
        for file, field, name in named[1:]:
            if file.id != first.id:
                message = f"`{field}`: {name!r} is a title or alias of {first.id}, too"
                yield RuleFinding(file.where, file.line(field), message)


def _shared_names(corpus: Corpus) -> frozenset[str]:
    """Return the folded names that more than one entry has."""
    owner: dict[str, str] = {}
    return frozenset(
        name
        for entry_id, editions in corpus.by_id.items()
        for file in editions.values()
        for name in map(_fold, (file.front.title, *file.front.aliases))
        if owner.setdefault(name, entry_id) != entry_id
    )


@lru_cache(maxsize=1 << 17)
def _fold(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


@dataclass(frozen=True, slots=True)
class EntryRule:
    """A rule for one entry. `name` appears in the problem; `find` yields violations. It may read that entry and those
    entries and images that it links to."""

    name: str
    find: Callable[[Corpus, str], Iterable[RuleFinding]]
    of_twins: bool = False
    """Whether the rule compares editions, so that its findings concern both."""


@dataclass(frozen=True, slots=True)
class CorpusRule:
    """A rule between entries, applied to all of them at once; it must take linear time."""

    name: str
    find: Callable[[Corpus], Iterable[RuleFinding]]


ENTRY_RULES = (
    EntryRule("unknown-tag", unknown_tags),
    EntryRule("kind", unfit_for_kind),
    EntryRule("fix", dependent_fixes),
    EntryRule("long-fix", long_fixes),
    EntryRule("unfinished", unfinished),
    EntryRule("doubt", open_doubts),
    EntryRule("section", odd_headings),
    EntryRule("link", broken_links),
    EntryRule("related", unrelated),
    EntryRule("twins", unequal_twins, of_twins=True),
    EntryRule("identifier", lost_identifiers, of_twins=True),
    EntryRule("sync", unsynced_twins, of_twins=True),
)

CORPUS_RULES = (
    CorpusRule("formerly", colliding_old_ids),
    CorpusRule("duplicate", duplicate_names),
    CorpusRule("sample", ownerless_samples),
)


def check_entry(corpus: Corpus, entry_id: str) -> tuple[Problem, ...]:
    """Return all violations of `ENTRY_RULES` in an entry. It is served nevertheless, without the faulty part."""
    half_drafted = corpus.by_id[entry_id].keys() != corpus.published.get(entry_id, {}).keys()
    found = ((rule, finding) for rule in ENTRY_RULES for finding in rule.find(corpus, entry_id))
    return tuple(
        _problem(corpus, rule.name, finding, draft=rule.of_twins and half_drafted) for rule, finding in found
    )


def check_between(corpus: Corpus, spoken: SignatureHolders, matches: Matches) -> tuple[Problem, ...]:
    """Return all violations of rules between entries, or between samples and signatures."""
    found = [(rule.name, finding) for rule in CORPUS_RULES for finding in rule.find(corpus)]
    found += [("sample", each) for each in unhelpful_samples(corpus, spoken, matches)]
    found += [("signature", each) for each in overreaching_signatures(corpus, spoken, matches)]
    found += [("signature", each) for each in long_signatures(spoken)]
    found += [("shared", each) for each in shared_signatures(corpus, spoken, matches)]
    return tuple(_problem(corpus, rule, finding) for rule, finding in found)


def _problem(corpus: Corpus, rule: str, finding: RuleFinding, *, draft: bool = False) -> Problem:
    draft = draft or names_draft(corpus, f"{finding.where} {finding.message}")
    return Problem(finding.where, finding.line, rule, finding.message, served=True, draft=draft)


def names_draft(corpus: Corpus, text: str) -> bool:
    """Whether a text names a draft entry or edition, by its id or its path."""
    for path in re.findall(r"[\w.-]+(?:/[\w.-]+)+", text, re.ASCII):
        parts = ("", *path.rstrip(".").removesuffix(".md").split("/"))
        for folder, framework, slug in zip(parts, parts[1:], parts[2:], strict=False):
            held = corpus.by_id.get(f"{framework}/{slug}", {})
            shown = corpus.published.get(f"{framework}/{slug}", {})
            if held and (not shown or folder in held.keys() - shown.keys()):
                return True
    return False
