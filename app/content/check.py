"""All rules over a corpus, as one table. What a single file shows by itself is found while it is parsed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.content import check_editions, check_samples, check_twins
from app.content.check_editions import Finding
from app.content.corpus import Corpus
from app.entry import Problem


@dataclass(frozen=True, slots=True)
class Rule:
    """`name` stands in the problem; `find` yields what breaks the rule."""

    name: str
    find: Callable[[Corpus], Iterable[Finding]]


RULES = (
    Rule("unknown-tag", check_editions.unknown_tags),
    Rule("kind", check_editions.unfit_for_kind),
    Rule("unfinished", check_editions.unfinished),
    Rule("section", check_editions.odd_headings),
    Rule("link", check_editions.broken_links),
    Rule("related", check_editions.unrelated),
    Rule("formerly", check_editions.colliding_old_ids),
    Rule("duplicate", check_editions.duplicate_names),
    Rule("twins", check_twins.unequal_twins),
    Rule("identifier", check_twins.lost_identifiers),
    Rule("sync", check_twins.unsynced_twins),
    Rule("sample", check_samples.unhelpful_samples),
    Rule("signature", check_samples.overreaching_signatures),
)


def check_corpus(corpus: Corpus) -> list[Problem]:
    """Everything that breaks a rule. The files are served all the same, without the faulty part."""
    return [
        Problem(finding.where, finding.line, rule.name, finding.message, served=True)
        for rule in RULES
        for finding in rule.find(corpus)
    ]
