"""“Did this solve it?”: a vote is counted where it can be, and lost without harm where it cannot."""

import logging

from app.entry import Language
from app.usecases.service import Service
from app.votes import VoteCount, Votes, VotesUnreadable

log = logging.getLogger(__name__)


async def vote(service: Service, entry: str, lang: Language, *, solved: bool) -> bool:
    """Counts what a reader of an edition said; whether it could be kept."""
    votes = Votes(service.knowledge.data)
    try:
        await service.offload(lambda: votes.add(entry, lang, solved=solved))
    except VotesUnreadable as error:
        log.warning("a vote was lost: %s", error)
        return False
    return True


def vote_counts(service: Service) -> tuple[VoteCount, ...]:
    """All votes, read from disk; none where they cannot be read."""
    try:
        return Votes(service.knowledge.data).totals()
    except VotesUnreadable as error:
        log.warning("votes cannot be read: %s", error)
        return ()
