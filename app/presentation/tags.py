"""Tags as the API shows them."""

from typing import Any

from app.entry import Language
from app.presentation.urls import Urls
from app.usecases.tags import CountedTag


def tag_fields(facet: str, counted: CountedTag, lang: Language, urls: Urls) -> dict[str, Any]:
    """The fields of a tag; those that only frameworks have are left out for others."""
    tag = counted.tag
    fields: dict[str, Any] = {
        "id": tag.id,
        "name": tag.name[lang],
        "description": tag.description[lang],
        "count": counted.count,
        "url": urls.tag(lang, facet, tag.id),
    }
    home = {"homepage": tag.homepage, "repository": tag.repository} if facet == "framework" else {}
    return fields | home
