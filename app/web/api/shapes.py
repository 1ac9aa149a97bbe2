"""From what search and the library answer to what the API says. Pure functions over finished values."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from app.content.library import Library
from app.entry import FACETS, Edition, Entry, Language
from app.search.answers import (
    Completion,
    CompletionType,
    Hit,
    SearchAnswer,
    SearchRequest,
    Suggestion,
    SuggestionType,
)
from app.web.api import schemas
from app.web.links import rewrite
from app.web.urls import Urls

MAX_CARDS = 4096
"""Entries whose fields are kept ready: as many as a few megabytes hold."""


@dataclass(frozen=True, slots=True)
class Shaper:
    """Shapes answers for readers of one language and generation; `say` translates into that language."""

    library: Library
    generation: str
    urls: Urls
    lang: Language
    say: Callable[..., str]
    cards: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What `card` has said about entries before: a third of a search's time went into saying it again."""

    def search(self, request: SearchRequest, answer: SearchAnswer) -> schemas.SearchResult:
        """A search result."""
        return schemas.SearchResult(
            query=answer.query,
            total=answer.total,
            limit=request.limit,
            offset=request.offset,
            hits=tuple(self.hit(hit) for hit in answer.hits),
            facets=schemas.Facets(**{name: self.facet(name, answer) for name in FACETS}),
            suggestions=tuple(self.suggestion(each, request) for each in answer.suggestions),
            correction=answer.correction,
            phrase_dropped=answer.phrase_dropped,
            weak=answer.weak,
            generation=self.generation,
        )

    def hit(self, hit: Hit) -> schemas.Hit:
        """A hit."""
        return schemas.Hit(
            **self.card(hit.entry),
            snippet=hit.snippet,
            score=hit.score,
            reasons=tuple(
                schemas.Reason(type=each.type, text=each.text, via=each.via) for each in hit.reasons
            ),
        )

    def facet(self, name: str, answer: SearchAnswer) -> tuple[schemas.Facet, ...]:
        """The counts of a facet."""
        return tuple(
            schemas.Facet(value=each.value, label=self.label(name, each.value), count=each.count)
            for each in answer.facets.get(name, ())
        )

    def suggestion(self, suggestion: Suggestion, request: SearchRequest) -> schemas.Suggestion:
        """A way out, with the page that follows it."""
        if suggestion.type is SuggestionType.NEAR_MISS and suggestion.entry:
            text = suggestion.entry.edition(self.lang).title
            url = self.urls.entry(self.lang, suggestion.entry.id)
        elif suggestion.type is SuggestionType.SPELLING:
            text = suggestion.query
            url = self.urls.search_filtered(self.lang, suggestion.query, request.filters)
        else:
            text = self.without_filter(suggestion, request)
            url = self.urls.search_filtered(self.lang, request.text, suggestion.filters)
        return schemas.Suggestion(type=suggestion.type, text=text, url=url)

    def without_filter(self, suggestion: Suggestion, request: SearchRequest) -> str:
        """What a search finds with one filter less, or with none, in words."""
        if not suggestion.facet:
            return self.say("search.drop_filters")
        if suggestion.facet == "edition":
            names = [f"edition={request.filters.edition}"]
        else:
            chosen = request.filters.facet(suggestion.facet)
            names = [self.label(suggestion.facet, value) for value in chosen]
        joined = self.say("list.join").join(names)
        return self.say("api.drop_filter", filter=joined, count=suggestion.count)

    def completion(self, completion: Completion) -> schemas.Completion:
        """A completion, with the page it leads to."""
        target = completion.target
        if completion.type is CompletionType.TITLE and target:
            url = self.urls.entry(self.lang, target)
        elif completion.type is CompletionType.TAG and target:
            url = self.urls.tag(self.lang, *target.split("/", 1))
        else:
            url = self.urls.search(self.lang, q=completion.text)
        return schemas.Completion(text=completion.text, type=completion.type, url=url)

    def summary(self, entry: Entry) -> schemas.Summary:
        """An entry in a list."""
        return schemas.Summary(**self.summary_fields(entry))

    def entry(self, entry: Entry) -> schemas.Entry:
        """A whole entry."""
        edition = entry.edition(self.lang)
        return schemas.Entry(
            **self.summary_fields(entry),
            html=rewrite(edition.html, self.lang, self.urls),
            markdown=edition.markdown,
            fix=fix_of(edition),
            headings=tuple(
                schemas.Heading(level=each.level, text=each.text, anchor=each.anchor)
                for each in edition.headings
            ),
            related=tuple(self.related(other) for other in self.library.related(entry)),
            source=tuple(
                schemas.Source(title=each.title, url=each.url, license=each.license)
                for each in edition.source
            ),
            generation=self.generation,
        )

    def related(self, entry: Entry) -> schemas.Related:
        """A neighbor."""
        edition = entry.edition(self.lang)
        return schemas.Related(id=entry.id, lang=edition.lang, title=edition.title, **self.addresses(entry))

    def summary_fields(self, entry: Entry) -> dict[str, Any]:
        """The fields that a summary and a whole entry share."""
        edition = entry.edition(self.lang)
        return {**self.card(entry), "updated": edition.updated, "stale": edition.lang in entry.stale}

    def card(self, entry: Entry) -> dict[str, Any]:
        """The fields that a hit, a summary and a whole entry share."""
        kept = self.cards.get(entry.id)
        if kept is None:
            if len(self.cards) >= MAX_CARDS:
                self.cards.clear()
            kept = self.cards[entry.id] = self.new_card(entry)
        return kept

    def new_card(self, entry: Entry) -> dict[str, Any]:
        """`card`, made anew."""
        edition = entry.edition(self.lang)
        return {
            "id": entry.id,
            "framework": entry.framework,
            "kind": entry.kind,
            "topics": entry.topics,
            "error_types": entry.error_types,
            "lang": edition.lang,
            "title": edition.title,
            "applies_to": edition.applies_to,
            "editions": self.editions(entry),
            **self.addresses(entry),
        }

    def addresses(self, entry: Entry) -> dict[str, str]:
        """Where an entry is read, by people and by programs."""
        return {"url": self.urls.entry(self.lang, entry.id), "api_url": self.urls.api_entry(entry.id)}

    def editions(self, entry: Entry) -> tuple[schemas.EditionLink, ...]:
        """The editions that an entry has, in the order of `Language`."""
        return tuple(
            schemas.EditionLink(
                lang=lang,
                title=entry.editions[lang].title,
                url=self.urls.entry(lang, entry.id),
                stale=lang in entry.stale,
            )
            for lang in Language
            if lang in entry.editions
        )

    def label(self, facet: str, value: str) -> str:
        """The name of a tag; its id where the taxonomy lacks it."""
        tags = self.library.taxonomy.facet(facet)
        return tags[value].name[self.lang] if value in tags else value


def fix_of(edition: Edition) -> str:
    """The part of an edition that a reader came for, as Markdown; empty where it has none."""
    return edition.answer.markdown if edition.answer else ""
