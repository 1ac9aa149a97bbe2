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
    Zone("title_en", 16.0, 0.1),
    Zone("title_zh", 16.0, 0.1),
    Zone("alias_en", 6.0, 0.15),
    Zone("alias_zh", 6.0, 0.15),
    Zone("symptom_en", 2.0, 0.15),
    Zone("symptom_zh", 2.0, 0.15),
    Zone("heading_en", 1.7, 0.15),
    Zone("heading_zh", 1.7, 0.15),
    Zone("body_en", 0.5, 0.2),
    Zone("body_zh", 0.5, 0.2),
    Zone("aside_en", 0.2, 0.2),
    Zone("aside_zh", 0.2, 0.2),
    Zone("code", 1.0, 0.2),
    Zone("signature", 1.2, 0.15),
    Zone("tag", 1.2, 0.1),
)
"""What terms are scored in. A document has a list of terms for each. Asides are links to other entries, whose
titles say what those answer."""

KEY_FIELD = "key"
ATOM_FIELD = "atoms"

K1 = 3.4
"""BM25's saturation: how soon a word that occurs again stops counting; in the scale of the zones' weights."""

KIND_WEIGHTS = {
    TokenKind.EXACT: 0.4,
    TokenKind.TERM: 1.0,
    TokenKind.PART: 0.45,
    TokenKind.GRAM: 1.0,
    TokenKind.CONCEPT: 1.0,
}
"""How much an occurrence counts by the kind of token it is found through. A word as written is found through
its exact form and its stem at once, an inflected form through the stem alone, a word inside an identifier
as a part."""
