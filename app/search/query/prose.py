"""How much of a query is prose, which can be said in other words, and how much is code, which means only itself."""

from app.analysis.token import Analysis, TokenKind
from app.search.weights import CODE_OVER_PROSE


def prose_of(analysis: Analysis) -> float:
    """1 − CODE_OVER_PROSE · (share of the query's atoms that stand in code), 0 at least."""
    atoms = len(analysis.atoms)
    code = sum(len(piece.atoms) for piece in analysis.pieces if piece.of_kind(TokenKind.PART))
    return max(0.0, 1 - CODE_OVER_PROSE * code / atoms) if atoms else 0.0
