"""All rules over a corpus, as two tables. What a single file shows by itself is found while it is parsed."""

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
    EntryRule("twins", twins.unequal_twins),
    EntryRule("identifier", twins.lost_identifiers),
    EntryRule("sync", twins.unsynced_twins),
)

CORPUS_RULES = (
    CorpusRule("formerly", names.colliding_old_ids),
    CorpusRule("duplicate", names.duplicate_names),
    CorpusRule("sample", samples.ownerless_samples),
)


def check_entry(corpus: Corpus, entry_id: str) -> tuple[Problem, ...]:
    """Everything that breaks a rule of `ENTRY_RULES` in an entry. It is served all the same, without the faulty
    part."""
    return tuple(
        _problem(rule.name, finding) for rule in ENTRY_RULES for finding in rule.find(corpus, entry_id)
    )


def check_between(corpus: Corpus, spoken: Spoken, matches: Matches) -> tuple[Problem, ...]:
    """Everything that breaks a rule between entries, or between samples and signatures."""
    found = [_problem(rule.name, finding) for rule in CORPUS_RULES for finding in rule.find(corpus)]
    found += [_problem("sample", each) for each in samples.unhelpful_samples(corpus, spoken, matches)]
    found += [
        _problem("signature", each) for each in samples.overreaching_signatures(corpus, spoken, matches)
    ]
    found += [_problem("shared", each) for each in limits.shared_signatures(corpus, spoken, matches)]
    return tuple(found)


def _problem(rule: str, finding: Finding) -> Problem:
    return Problem(finding.where, finding.line, rule, finding.message, served=True)
