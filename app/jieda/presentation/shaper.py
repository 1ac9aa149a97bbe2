"""Shapes results of the use cases into API responses."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from jieda.content.authoring.edition_text import signature_data, validity_data
from jieda.diagnosis.answers import Diagnosis, Verdict
from jieda.entry import Edition, EditionSummary, Language, Summary
from jieda.locales.translations import Translate, translator
from jieda.presentation import schemas
from jieda.presentation.diagnosis_text import elsewhere_text
from jieda.presentation.urls import Urls, rewrite
from jieda.search.answers import (
    Completion,
    CompletionType,
    Hit,
    SearchAnswer,
    SearchRequest,
    Span,
    Suggestion,
    SuggestionType,
)
from jieda.snapshot.snapshot import Snapshot
from jieda.taxonomy import FACETS, Filters, Window
from jieda.usecases.entries import CountedTag, ReadEntry
from jieda.usecases.search import Found
from jieda.versions import doubtful_version

T = TypeVar("T")
P = TypeVar("P", bound=schemas.Page)

OLD_VERDICTS: Mapping[Verdict, Literal["matched", "near", "unknown", "no_error"]] = {
    Verdict.KNOWN: "matched",
    Verdict.POSSIBLE: "matched",
    Verdict.NEAR: "near",
    Verdict.UNKNOWN: "unknown",
    Verdict.NO_ERROR: "no_error",
}
"""Values of the deprecated API field `verdict`, kept for one more version."""
MAX_CARDS = 4096
"""Entries whose fields are cached, in a few megabytes."""


def edition_links(summary: Summary, urls: Urls) -> tuple[schemas.EditionLink, ...]:
    """Return the editions of an entry, in the order of `Language`."""
    return tuple(
        schemas.EditionLink(
            lang=lang, title=edition.title, url=urls.entry(lang, summary.id), stale=edition.stale
        )
        for lang in Language
        if (edition := summary.editions.get(lang))
    )


def _ranges(spans: Iterable[Span]) -> tuple[schemas.MarkRange, ...]:
    return tuple(schemas.MarkRange(start=start, end=end) for start, end in spans)


def _fix_of(edition: Edition) -> str:
    """Return the answer section of an edition as Markdown; empty if there is none."""
    return edition.answer.markdown if edition.answer else ""


@dataclass(frozen=True, slots=True)
class Shaper:
    """Shapes responses for one language and snapshot; `t` translates into that language."""

    snapshot: Snapshot
    urls: Urls
    lang: Language
    t: Translate
    cards: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Cache of `_card`: building these fields anew took a third of a search's time."""

    def search(self, found: Found) -> schemas.SearchResult:
        request, answer = found.request, found.answer
        judgement = self.diagnosis(found.diagnosis) if found.diagnosis else None
        return schemas.SearchResult(
            query=answer.query,
            total=answer.total,
            limit=request.limit,
            offset=request.offset,
            hits=tuple(self._hit(hit, answer.query) for hit in answer.hits),
            facets=schemas.Facets(**{name: self._facet(name, answer) for name in FACETS}),
            suggestions=tuple(self._suggestion(each, request) for each in answer.suggestions),
            correction=answer.correction,
            phrase_dropped=answer.phrase_dropped,
            operators=answer.operators,
            weak=answer.weak,
            absent_words=answer.absent_words,
            judgement=judgement,
            diagnosis=judgement.matches if judgement and judgement.is_program_output else (),
            generation=self.snapshot.generation,
        )

    def _hit(self, hit: Hit, query: str) -> schemas.ApiHit:
        library, snippet = self.snapshot.library, hit.snippet
        return schemas.ApiHit(
            **self._card(library.summary(hit.entry.id)),
            snippet=snippet.html,
            snippet_text=snippet.text,
            snippet_marks=_ranges(snippet.marks),
            snippet_code=_ranges(snippet.code),
            may_not_apply_to=doubtful_version(hit.entry.validity, query, library.taxonomy.packages),
            score=hit.score,
            reasons=hit.reasons,
        )

    def _facet(self, name: str, answer: SearchAnswer) -> tuple[schemas.Facet, ...]:
        return tuple(
            schemas.Facet(value=each.value, label=self._label(name, each.value), count=each.count)
            for each in answer.facets.get(name, ())
        )

    def _label(self, facet: str, value: str) -> str:
        """Return the name of a tag, or its id if the taxonomy lacks it."""
        return self.snapshot.library.taxonomy.name_of(facet, value, self.lang)

    def _suggestion(self, suggestion: Suggestion, request: SearchRequest) -> schemas.ApiSuggestion:
        applies_to = ""
        if suggestion.type is SuggestionType.NEAR_MISS and suggestion.entry:
            edition = suggestion.entry.edition(self.lang)
            text, applies_to = edition.title, edition.applies_to
            url = self.urls.entry(self.lang, suggestion.entry.id)
        elif suggestion.type is SuggestionType.SPELLING:
            text = suggestion.query
            url = self.urls.search_filtered(self.lang, text, request.filters)
        else:
            text = self._dropped_filter(suggestion, request.filters)
            url = self.urls.search_filtered(self.lang, request.text, suggestion.filters)
        return schemas.ApiSuggestion(type=suggestion.type, text=text, url=url, applies_to=applies_to)

    def _dropped_filter(self, suggestion: Suggestion, filters: Filters) -> str:
        facet = suggestion.facet
        if not facet:
            return self.t("search.drop_filters")
        if facet == "edition":
            names = [f"edition={each}" for each in filters.edition]
        elif facet == "version":
            names = list(filters.version)
        else:
            names = [self._label(facet, value) for value in filters.facet(facet)]
        return self.t("api.drop_filter", filter=self.t("list.join").join(names), count=suggestion.count)

    def completion(self, completion: Completion) -> schemas.ApiCompletion:
        target, applies_to = completion.target, ""
        if completion.type is CompletionType.TITLE and target:
            url = self.urls.entry(self.lang, target)
            if target in self.snapshot.library:
                applies_to = self.snapshot.library.summary(target).edition(self.lang).applies_to
        elif completion.type is CompletionType.TAG and target:
            url = self.urls.tag(self.lang, *target.split("/", 1))
        else:
            url = self.urls.search(self.lang, q=completion.text)
        return schemas.ApiCompletion(
            text=completion.text, type=completion.type, url=url, applies_to=applies_to
        )

    def diagnosis(self, diagnosis: Diagnosis) -> schemas.ApiDiagnosis:
        """Shape a diagnosis, without fixes until the framework is known."""
        return schemas.ApiDiagnosis(
            outcome=diagnosis.verdict,
            verdict=OLD_VERDICTS[diagnosis.verdict],
            asks=diagnosis.asks,
            matches=tuple(
                schemas.ApiMatch(
                    **self._mention(match.entry.id, match.edition),
                    confidence=match.confidence,
                    may_not_apply_to=match.may_not_apply_to,
                    matched=match.matched,
                    fix="" if diagnosis.asks else _fix_of(match.edition),
                )
                for match in diagnosis.matches
            ),
            near=tuple(
                schemas.ApiNear(
                    **self._mention(near.entry.id, near.edition), foreign=near.foreign, words=near.words
                )
                for near in diagnosis.near
            ),
            errors=diagnosis.errors,
            framework=diagnosis.framework,
            elsewhere=elsewhere_text(diagnosis, self.t),
            read=diagnosis.parts,
            generation=self.snapshot.generation,
        )

    def entry(self, read: ReadEntry) -> schemas.ApiEntry:
        """Shape a whole entry, with all fields of its file in the form that `jieda load` accepts."""
        entry, edition = read.entry, read.entry.edition(self.lang)
        front_matter: dict[str, Any] = {
            "signatures": tuple(signature_data(each) for each in entry.signatures),
            **validity_data(entry.validity),
        }
        return schemas.ApiEntry(
            **self._card(read.summary),
            updated=edition.updated,
            stale=read.summary.edition(self.lang).stale,
            html=rewrite(edition.html, self.lang, self.urls),
            markdown=edition.markdown,
            fix=_fix_of(edition),
            headings=edition.headings,
            related=tuple(
                schemas.Related(
                    **self._mention(other.id, other.edition(self.lang)),
                    named=other.id in read.summary.related,
                )
                for other in read.related
            ),
            source=edition.source,
            generation=self.snapshot.generation,
            symptoms=edition.symptoms,
            aliases=edition.aliases,
            formerly=entry.formerly,
            synced_with=edition.synced_with,
            applies_anywhere=entry.applies_anywhere,
            **front_matter,
        )

    def summary(self, summary: Summary) -> schemas.ApiSummary:
        """Shape a list item, with the date by which lists are sorted and filtered."""
        stale = summary.edition(self.lang).stale
        return schemas.ApiSummary(**self._card(summary), updated=summary.updated, stale=stale)

    def _card(self, summary: Summary) -> dict[str, Any]:
        """Return the cached fields shared by a hit, a summary and a whole entry."""
        card = self.cards.get(summary.id)
        if card is None:
            if len(self.cards) >= MAX_CARDS:
                self.cards.clear()
            card = self.cards[summary.id] = {
                **self._mention(summary.id, summary.edition(self.lang)),
                "kind": summary.kind,
                "topics": summary.topics,
                "error_types": summary.error_types,
                "editions": edition_links(summary, self.urls),
            }
        return card

    def _mention(self, entry_id: str, edition: Edition | EditionSummary) -> dict[str, Any]:
        return {
            "id": entry_id,
            "framework": entry_id.partition("/")[0],
            "lang": edition.lang,
            "title": edition.title,
            "applies_to": edition.applies_to,
            **self._addresses(entry_id),
        }

    def _addresses(self, entry_id: str) -> dict[str, Any]:
        return {"url": self.urls.entry(self.lang, entry_id), "api_url": self.urls.api_entry(entry_id)}

    def tag(self, facet: str, counted: CountedTag) -> schemas.ApiTag:
        """Shape a tag, for a framework with its homepage and repository."""
        tag = counted.tag
        fields: dict[str, Any] = {
            "id": tag.id,
            "name": tag.name[self.lang],
            "description": tag.description[self.lang],
            "count": counted.count,
            "url": self.urls.tag(self.lang, facet, tag.id),
        }
        if facet != "framework":
            return schemas.ApiTag(**fields)
        return schemas.Framework(**fields, homepage=tag.homepage, repository=tag.repository)

    def page(self, model: type[P], window: Window, found: Sequence[T], shape: Callable[[T], object]) -> P:
        """Return the window of a list; `shape` turns a result into an item."""
        fields = {"items": [shape(each) for each in window.of(found)], "total": len(found)}
        fields |= {"limit": window.limit, "offset": window.offset, "generation": self.snapshot.generation}
        return model.model_validate(fields)

    def translation(self, entry_id: str) -> schemas.Translation:
        editions = self.snapshot.library.summary(entry_id).editions
        states: dict[str, Any] = dict.fromkeys(Language, "missing")
        states |= {lang: "stale" if each.stale else "present" for lang, each in editions.items()}
        return schemas.Translation(id=entry_id, **states, **self._addresses(entry_id))


@dataclass(frozen=True, slots=True)
class Shapers:
    """One shaper per language for the served snapshot."""

    urls: Urls
    cached: dict[Language, Shaper] = field(default_factory=dict)

    def of(self, snapshot: Snapshot, lang: Language) -> Shaper:
        """Return the shaper of a snapshot, and drop the one of an earlier snapshot."""
        shaper = self.cached.get(lang)
        if shaper is None or shaper.snapshot is not snapshot:
            shaper = self.cached[lang] = Shaper(snapshot, self.urls.external, lang, translator(lang))
        return shaper
