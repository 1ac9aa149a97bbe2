"""“Did this solve it?”: a vote is counted where it can be, and lost without harm where it cannot."""

import logging

from app.entry import Language
from app.feedback import FeedbackStore, FeedbackUnusable, VoteCount
from app.usecases.service import Service

log = logging.getLogger(__name__)


async def vote(service: Service, entry: str, lang: Language, *, solved: bool) -> bool:
    """Counts what a reader of an edition said; whether it could be kept."""
    store = FeedbackStore(service.knowledge.data)
    try:
        await service.offload(lambda: store.vote(entry, lang, solved=solved))
    except FeedbackUnusable as error:
        log.warning("a vote was lost: %s", error)
        return False
    return True


def vote_counts(service: Service) -> tuple[VoteCount, ...]:
    """All votes, read from disk; none where they cannot be read."""
    try:
        return FeedbackStore(service.knowledge.data).votes()
    except FeedbackUnusable as error:
        log.warning("votes cannot be read: %s", error)
        return ()
