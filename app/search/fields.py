"""Where words stand in an entry and how much that counts: every weight of the ranking, in one place.

Tuned on judged queries; `jieda eval` tells what a change does.
"""

from dataclasses import dataclass

from app.analysis.token import TokenKind


@dataclass(frozen=True, slots=True)
class Zone:
    """A part of a document. `weight` multiplies term frequencies, `b` says how far length discounts them."""

    name: str
    weight: float
    b: float


ZONES: tuple[Zone, ...] = (
    Zone("title_en", 6.0, 0.3),
    Zone("title_zh", 6.0, 0.3),
    Zone("alias_en", 3.0, 0.4),
    Zone("alias_zh", 3.0, 0.4),
    Zone("symptom_en", 2.0, 0.4),
    Zone("symptom_zh", 2.0, 0.4),
    Zone("heading_en", 1.5, 0.4),
    Zone("heading_zh", 1.5, 0.4),
    Zone("body_en", 1.0, 0.6),
    Zone("body_zh", 1.0, 0.6),
    Zone("aside_en", 0.3, 0.6),
    Zone("aside_zh", 0.3, 0.6),
    Zone("code", 1.5, 0.5),
    Zone("signature", 2.5, 0.4),
    Zone("tag", 1.5, 0.2),
)
"""What terms are scored in. A document has a list of terms for each. Asides are links to other entries, whose
titles say what those answer."""

KEY_FIELD = "key"
ATOM_FIELD = "atoms"

K1 = 1.2
"""BM25's saturation: how soon a word that occurs again stops counting."""

KIND_WEIGHTS = {
    TokenKind.EXACT: 0.6,
    TokenKind.TERM: 1.0,
    TokenKind.PART: 0.5,
    TokenKind.GRAM: 1.0,
    TokenKind.CONCEPT: 1.0,
}
"""How much an occurrence counts by the kind of token it is found through. A word as written is found through
its exact form and its stem at once, an inflected form through the stem alone, a word inside an identifier
as a part."""
