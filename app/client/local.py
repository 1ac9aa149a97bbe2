"""Answers from the content that this process has opened."""

from dataclasses import dataclass

from app.entry import Language
from app.filters import Filters
from app.presentation import reports, schemas
from app.presentation.shaper import Shapers
from app.presentation.tags import tag_fields
from app.search.answers import SearchRequest
from app.usecases.diagnose import check_size
from app.usecases.diagnose import diagnose as diagnose_for
from app.usecases.entries import MovedTo, list_entries
from app.usecases.entries import read as read_for
from app.usecases.search import search as search_for
from app.usecases.service import Service
from app.usecases.tags import all_tags, check_filters
from app.usecases.window import Window


@dataclass(frozen=True, slots=True)
class Local:
    """A `Client` over the use cases."""

    service: Service
    shapers: Shapers

    async def diagnose(self, text: str, lang: Language, framework: str) -> reports.Diagnosis:
        """Raises TooLarge, UnknownTag."""
        check_size(self.service, text)
        found = await diagnose_for(self.service, text, lang, framework)
        return self.shapers.of(found.snapshot, lang).diagnosis(found)

    async def search(self, request: SearchRequest) -> schemas.SearchResult:
        """Raises UnknownTag."""
        found = await search_for(self.service, request)
        return self.shapers.of(found.snapshot, request.lang).search(found)

    async def read(self, entry_id: str, lang: Language) -> schemas.Entry:
        """Raises UnknownEntry."""
        snapshot = self.service.current()
        found = await read_for(self.service, snapshot, entry_id)
        if isinstance(found, MovedTo):
            return await self.read(found.id, lang)
        return self.shapers.of(snapshot, lang).entry(found)

    async def entries(self, filters: Filters, lang: Language, window: Window) -> schemas.SummaryList:
        """Raises UnknownTag."""
        snapshot = self.service.current()
        check_filters(filters, snapshot.library)
        found = await list_entries(self.service, snapshot, filters, None, window)
        shape = self.shapers.of(snapshot, lang)
        return schemas.SummaryList(
            items=tuple(shape.summary(each) for each in found.entries),
            total=found.total,
            limit=window.limit,
            offset=window.offset,
            generation=snapshot.generation,
        )

    async def tags(self, facet: str, lang: Language) -> tuple[reports.Tag, ...]:
        """All of them, those that no entry carries included."""
        snapshot = self.service.current()
        fields = (
            tag_fields(facet, each, lang, self.shapers.urls) for each in all_tags(snapshot.library, facet)
        )
        return tuple(reports.Tag.model_validate(each) for each in fields)

    def absolute(self, url: str) -> str:
        """With the base address of the settings; empty without one, for nobody says where this is served."""
        urls = self.shapers.urls
        return urls.absolute(url) if urls.base_url else ""
