"""How much of a query is prose, which can be said in other words, and how much is code, which means only itself."""

from collections.abc import Callable

from app.analysis.token import Analysis, SegmentKind, TokenKind
from app.search.weights import CODE_OVER_PROSE


def prose_of(analysis: Analysis, is_word: Callable[[str], bool]) -> float:
    """1 − CODE_OVER_PROSE · (share of the query's atoms that stand in code), 0 at least; 0 too where nothing of it is
    a word of any language that a general dictionary knows (`is_word`): a slip of the hand means nothing."""
    code = sum(len(piece.atoms) for piece in analysis.pieces if piece.of_kind(TokenKind.PART))
    says = any(piece.kind is SegmentKind.HAN or is_word(piece.tokens[0].text) for piece in analysis.pieces)
    return max(0.0, 1 - CODE_OVER_PROSE * code / len(analysis.atoms)) if says else 0.0
