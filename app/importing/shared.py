"""Signatures that several entries would have: each alone looked right, together they tell the entries apart no more."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from app.content.read.corpus import Corpus
from app.importing.doubts import doubt
from app.importing.proposal import Proposal

MOST_NAMED = 3


def with_shared_signatures_named(proposals: Sequence[Proposal], corpus: Corpus) -> list[Proposal]:
    """The proposals, in order, each with a doubt where another of them or an entry has one of its signatures too."""
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
