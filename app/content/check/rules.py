"""All rules over a corpus, as two tables. What a single file shows by itself is found while it is parsed."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.content.check import editions, limits, names, samples, twins
from app.content.check.finding import Finding
from app.content.check.samples import Matches, Spoken
from app.content.read.corpus import Corpus
from app.entry import Problem


@dataclass(frozen=True, slots=True)
class EntryRule:
    """`name` stands in the problem; `find` yields what breaks the rule in one entry. It may look at that entry
    and at what this names: the entries and images it links to."""

    name: str
    find: Callable[[Corpus, str], Iterable[Finding]]
    of_twins: bool = False
    """Whether it holds editions against each other: what it finds tells of both."""


@dataclass(frozen=True, slots=True)
class CorpusRule:
    """A rule between entries, applied to all of them at once; its cost is a few steps for each."""

    name: str
    find: Callable[[Corpus], Iterable[Finding]]


ENTRY_RULES = (
    EntryRule("unknown-tag", editions.unknown_tags),
    EntryRule("kind", editions.unfit_for_kind),
    EntryRule("fix", editions.dependent_fixes),
    EntryRule("unfinished", editions.unfinished),
    EntryRule("doubt", editions.open_doubts),
    EntryRule("section", editions.odd_headings),
    EntryRule("link", editions.broken_links),
    EntryRule("related", editions.unrelated),
    EntryRule("twins", twins.unequal_twins, of_twins=True),
    EntryRule("identifier", twins.lost_identifiers, of_twins=True),
    EntryRule("sync", twins.unsynced_twins, of_twins=True),
)

CORPUS_RULES = (
    CorpusRule("formerly", names.colliding_old_ids),
    CorpusRule("duplicate", names.duplicate_names),
    CorpusRule("sample", samples.ownerless_samples),
)


def check_entry(corpus: Corpus, entry_id: str) -> tuple[Problem, ...]:
    """Everything that breaks a rule of `ENTRY_RULES` in an entry. It is served all the same, without the faulty
    part."""
    half_drafted = corpus.by_id[entry_id].keys() != corpus.published.get(entry_id, {}).keys()
    found = ((rule, finding) for rule in ENTRY_RULES for finding in rule.find(corpus, entry_id))
    return tuple(
        _problem(corpus, rule.name, finding, draft=rule.of_twins and half_drafted) for rule, finding in found
    )


def check_between(corpus: Corpus, spoken: Spoken, matches: Matches) -> tuple[Problem, ...]:
    """Everything that breaks a rule between entries, or between samples and signatures."""
    found = [(rule.name, finding) for rule in CORPUS_RULES for finding in rule.find(corpus)]
    found += [("sample", each) for each in samples.unhelpful_samples(corpus, spoken, matches)]
    found += [("signature", each) for each in samples.overreaching_signatures(corpus, spoken, matches)]
    found += [("signature", each) for each in limits.long_signatures(spoken)]
    found += [("shared", each) for each in limits.shared_signatures(corpus, spoken, matches)]
    return tuple(_problem(corpus, rule, finding) for rule, finding in found)


def _problem(corpus: Corpus, rule: str, finding: Finding, *, draft: bool = False) -> Problem:
    draft = draft or names_draft(corpus, f"{finding.where} {finding.message}")
    return Problem(finding.where, finding.line, rule, finding.message, served=True, draft=draft)


def names_draft(corpus: Corpus, text: str) -> bool:
    """Whether a text names an entry that nobody can read yet, or an edition of one, by its id or its path."""
    for path in re.findall(r"[\w.-]+(?:/[\w.-]+)+", text, re.ASCII):
        parts = ("", *path.rstrip(".").removesuffix(".md").split("/"))
        for folder, framework, slug in zip(parts, parts[1:], parts[2:], strict=False):
            held = corpus.by_id.get(f"{framework}/{slug}", {})
            shown = corpus.published.get(f"{framework}/{slug}", {})
            if held and (not shown or folder in held.keys() - shown.keys()):
                return True
    return False
