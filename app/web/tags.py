"""Tags that a client names, held against the taxonomy: for pages and API alike."""

from app.content.library import Library
from app.entry import FACETS
from app.errors import UnknownTag
from app.search.answers import Filters


def check_filters(filters: Filters, library: Library) -> None:
    """Raises UnknownTag for the first value that the taxonomy lacks."""
    for facet in FACETS:
        for value in filters.facet(facet):
            check_tag(facet, value, library)


def check_tag(facet: str, value: str, library: Library) -> None:
    """Raises UnknownTag where the taxonomy lacks the value."""
    if value not in library.taxonomy.facet(facet):
        raise UnknownTag(facet=facet, value=value[:100])
