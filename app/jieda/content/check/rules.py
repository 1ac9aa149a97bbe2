"""The rules for editions, for twins and across entries, as three tables.

Problems of single files are found when the files are parsed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from jieda.content.markdown.links import SECTIONS, missing_section
from jieda.content.read.corpus import Corpus, Editions, Outline, link_fault, newest, stale_languages
from jieda.entry import Kind, Problem, fold_name

Violation = tuple[int, str]
"""A line of the edition that the rule is applied to, and a message."""


def unknown_tags(corpus: Corpus, file: Outline) -> Iterator[Violation]:
    """Find topics and error types that the taxonomy lacks."""
    front, taxonomy = file.front, corpus.taxonomy
    for field, tags, known in (
        ("topics", front.topics, taxonomy.topic),
        ("error_types", front.error_types, taxonomy.error_type),
    ):
        for tag in tags:
            if tag not in known:
                near = get_close_matches(tag, known, 1)
                hint = f"; {near[0]!r} is" if near else ""
                yield file.line(field), f"`{field}`: {tag!r} is not in the taxonomy{hint}"


def unfit_for_kind(_corpus: Corpus, file: Outline) -> Iterator[Violation]:
    """Find fields and sections that an entry of this kind must not have or lacks."""
    front, kind = file.front, file.front.kind
    if kind is not Kind.ERROR and front.error_types:
        yield file.line("error_types"), f"`error_types` belong to errors, and this is a {kind}"
    if kind is Kind.ERROR and not front.signatures and not front.symptoms:
        yield file.line("kind"), "an error entry needs `signatures`, or `symptoms` where nothing is printed"
    if message := missing_section(kind, file.section_keys):
        yield file.line("kind"), message


MAX_FIX_WORDS = 120


def long_fixes(_corpus: Corpus, file: Outline) -> Iterator[Violation]:
    """Find fixes that are too long for a reader whose run has just failed."""
    if (words := file.fix_words) > MAX_FIX_WORDS:
        line = next(
            placed.line for placed in file.headings if placed.section and placed.heading.anchor == "fix"
        )
        yield line, f"the fix has {words} words outside code blocks and tables, more than {MAX_FIX_WORDS}"


def unfinished(_corpus: Corpus, file: Outline) -> Iterator[Violation]:
    """Find placeholders of a skeleton, unless the draft has doubts, which say what is left to do."""
    if not (file.front.draft and file.front.doubts):
        for line in file.unfinished:
            yield line, "still has the skeleton's text: write it"


def odd_headings(_corpus: Corpus, file: Outline) -> Iterator[Violation]:
    """Find H1 headings, H2 titles that are unknown or used twice, and text before the first section."""
    seen: set[str] = set()
    if not file.starts_with_section:
        yield file.first_line, "the body must start with a section (## …)"
    for placed in file.headings:
        text = placed.heading.text
        if placed.level == 1:
            yield placed.line, f"# {text}: the title is the H1; sections are ##"
        elif placed.section and not placed.known:
            titles = ", ".join(titles[file.lang] for titles in SECTIONS.values())
            yield placed.line, f"## {text} is not one of {titles}"
        elif placed.section and text in seen:
            yield placed.line, f"## {text} appears twice"
        seen |= {text} if placed.section else set()


def bad_related(corpus: Corpus, file: Outline) -> Iterator[Violation]:
    """Find ids in `related` that do not exist, or are the entry itself."""
    allowed = corpus.by_id if file.front.draft else corpus.published
    for other in file.front.related:
        if other == file.id:
            yield file.line("related"), f"`related`: {other} is this entry"
        elif other not in allowed:
            state = "is a draft" if other in corpus.by_id else "does not exist"
            yield file.line("related"), f"`related`: {other} {state}"


AGREED = "kind topics error_types signatures related versions fixed_in verified applies_anywhere".split()
"""Fields that must be equal in twins, order included."""


def unequal_twins(editions: Editions) -> Iterator[RuleFinding]:
    """Find twins that contradict each other. They are reported for the older one: the newer one's values are served."""
    for newer, older in _twins(editions):
        lines = [
            (name, older.line(name))
            for name in AGREED
            if getattr(newer.front, name) != getattr(older.front, name)
        ]
        if newer.section_keys != older.section_keys:
            lines.append(("sections", older.first_line))
        for name, line in lines:
            yield older.where, line, f"`{name}` must be equal to that of {newer.where}"


def lost_identifiers(editions: Editions) -> Iterator[RuleFinding]:
    """Find code spans of one edition that occur in no code of the other."""
    for newer, older in _twins(editions):
        for file, twin in ((newer, older), (older, newer)):
            twin_code = "\n".join(twin.code)
            for span in sorted(set(file.code_spans)):
                if span not in twin_code:
                    message = f"`{span}` is in {file.where}, but in no code here"
                    yield twin.where, twin.first_line, message


def unsynced_twins(editions: Editions) -> Iterator[RuleFinding]:
    """Find twins that were never stamped as in sync, editions that are behind their twin, and stamps without a twin."""
    stale, has_twin = stale_languages(editions), len(editions) > 1
    for file in editions.values():
        line = file.line("synced_with")
        if has_twin and not file.front.synced_with:
            message = f"`synced_with` is missing: once the twins agree, run `jieda sync {file.id}`"
            yield file.where, 1, message
        elif file.lang in stale:
            message = f"the twin has changed since; once this agrees, run `jieda sync {file.id}`"
            yield file.where, line, message
        elif file.front.synced_with and not has_twin:
            message = (
                f"`synced_with` refers to a twin, but there is no {file.lang.other}/{file.id}.md: "
                "restore it, or remove the field"
            )
            yield file.where, line, message


def _twins(editions: Editions) -> Iterator[tuple[Outline, Outline]]:
    """Yield the newer twin with the older one, if there are two."""
    newer = newest(editions)
    for file in editions.values():
        if file is not newer:
            yield newer, file


def colliding_old_ids(corpus: Corpus) -> Iterator[RuleFinding]:
    """Find old ids that are in use, or that two entries claim."""
    claims: dict[str, str] = {}
    for file in corpus.files:
        for old in file.front.formerly:
            if old in corpus.by_id:
                message = f"`formerly`: {old} is the id of a current entry"
            elif claims.setdefault(old, file.id) != file.id:
                message = f"`formerly`: {old} is also claimed by {claims[old]}"
            else:
                continue
            yield file.where, file.line("formerly"), message


_cached_fold = lru_cache(maxsize=1 << 17)(fold_name)


def duplicate_names(corpus: Corpus) -> Iterator[RuleFinding]:
    """Find titles and aliases that more than one entry has."""
    owners: dict[str, str] = {}
    for file in corpus.files:
        for field, names in (("title", (file.front.title,)), ("aliases", file.front.aliases)):
            for name in names:
                owner = owners.setdefault(_cached_fold(name), file.id)
                if owner != file.id:
                    message = f"`{field}`: {name!r} is also a title or alias of {owner}"
                    yield file.where, file.line(field), message


FILE_RULES: Mapping[str, Callable[[Corpus, Outline], Iterable[Violation]]] = {
    "unknown-tag": unknown_tags,
    "kind": unfit_for_kind,
    "fix": lambda _corpus, file: file.outside_references,
    "long-fix": long_fixes,
    "unfinished": unfinished,
    # Doubts that `jieda import` left, until somebody resolves them and deletes the line.
    "doubt": lambda _corpus, file: ((file.line("doubts"), doubt) for doubt in file.front.doubts),
    "section": odd_headings,
    # Links, anchors and images that are broken or not allowed.
    "link": lambda corpus, file: (
        (link.line, fault) for link in file.links if (fault := link_fault(corpus, file, link))
    ),
    "related": bad_related,
}
"""Rules for one edition, by the name that problems show. They may read the entries and images it links to."""

TWIN_RULES: Mapping[str, Callable[[Editions], Iterable[RuleFinding]]] = {
    "twins": unequal_twins,
    "identifier": lost_identifiers,
    "sync": unsynced_twins,
}
"""Rules that compare the editions of an entry, so that their findings concern both."""

CORPUS_RULES: Mapping[str, Callable[[Corpus], Iterable[RuleFinding]]] = {
    "formerly": colliding_old_ids,
    "duplicate": duplicate_names,
    "sample": ownerless_samples,
}
"""Rules across entries, applied to all of them at once. They must take linear time."""


def check_entry(corpus: Corpus, entry_id: str) -> tuple[Problem, ...]:
    """Return all violations of rules in an entry. The entry is served nevertheless, without the faulty part."""
    editions = corpus.by_id[entry_id]
    has_drafts = editions.keys() != corpus.published.get(entry_id, {}).keys()
    problems: list[Problem] = []
    for name, find in FILE_RULES.items():
        for file in editions.values():
            findings = ((file.where, *violation) for violation in find(corpus, file))
            problems += [_make_problem(corpus, name, each) for each in findings]
    for name, compare in TWIN_RULES.items():
        problems += [_make_problem(corpus, name, each, draft=has_drafts) for each in compare(editions)]
    return tuple(problems)


def check_between(corpus: Corpus, holders: SignatureHolders, matches: Matches) -> tuple[Problem, ...]:
    """Return all violations of rules across entries, or between samples and signatures."""
    findings = [(name, finding) for name, find in CORPUS_RULES.items() for finding in find(corpus)]
    findings += [("sample", each) for each in unhelpful_samples(corpus, holders, matches)]
    findings += [("signature", each) for each in overreaching_signatures(corpus, holders, matches)]
    findings += [("signature", each) for each in long_signatures(holders)]
    findings += [("shared", each) for each in shared_signatures(corpus, holders, matches)]
    return tuple(_make_problem(corpus, rule, finding) for rule, finding in findings)


def _make_problem(corpus: Corpus, rule: str, finding: RuleFinding, *, draft: bool = False) -> Problem:
    where, line, message = finding
    draft = draft or names_draft(corpus, f"{where} {message}")
    return Problem(where, line, rule, message, served=True, draft=draft)


def names_draft(corpus: Corpus, text: str) -> bool:
    """Whether a text names a draft entry or edition, by its id or path."""
    for path in re.findall(r"[\w.-]+(?:/[\w.-]+)+", text, re.ASCII):
        parts = ("", *path.rstrip(".").removesuffix(".md").split("/"))
        for folder, framework, slug in zip(parts, parts[1:], parts[2:], strict=False):
            editions = corpus.by_id.get(f"{framework}/{slug}", {})
            published = corpus.published.get(f"{framework}/{slug}", {})
            if editions and (not published or folder in editions.keys() - published.keys()):
                return True
    return False
