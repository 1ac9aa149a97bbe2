"""Which documents hold a phrase: atoms one behind the other."""

from collections.abc import Callable, Mapping, Sequence

Positions = Mapping[int, frozenset[int]]
"""Document number to the places an atom stands at in it."""


def holders(atoms: Sequence[str], positions_of: Callable[[str], Positions]) -> list[int]:
    """Numbers of the documents in which `atoms` stand next to each other in this order; none for no atoms.

    Takes the rarest atom first, so that a common one costs little.
    """
    if not atoms:
        return []
    postings = sorted(
        ((positions_of(atom), offset) for offset, atom in enumerate(atoms)), key=lambda p: len(p[0])
    )
    rarest, first_offset = postings[0]
    found = []
    for document, places in rarest.items():
        starts = {place - first_offset for place in places}
        for positions, offset in postings[1:]:
            places_here = positions.get(document, frozenset())
            starts = {start for start in starts if start + offset in places_here}
            if not starts:
                break
        if starts:
            found.append(document)
    return found
