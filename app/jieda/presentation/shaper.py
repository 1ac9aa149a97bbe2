"""Shapes results of the use cases into API responses. Pure functions over immutable values."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from jieda.content.authoring.edition_text import signature_data, validity_data
from jieda.diagnosis.answers import Diagnosis, Match, Near, Verdict
from jieda.entry import Edition, Entry, Language, Summary
from jieda.presentation import schemas
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
from jieda.taxonomy import FACETS
from jieda.usecases.entries import CountedTag, ReadEntry
from jieda.usecases.search import Found
from jieda.versions import doubtful_version

OLD_VERDICTS: Mapping[Verdict, Literal["matched", "near", "unknown", "no_error"]] = {
    Verdict.KNOWN: "matched",
    Verdict.POSSIBLE: "matched",
    Verdict.NEAR: "near",
    Verdict.UNKNOWN: "unknown",
    Verdict.NO_ERROR: "no_error",
}
"""Values of the deprecated API field `verdict`, kept for one more version."""
MAX_CARDS = 4096
"""Entries whose fields are cached: a few megabytes' worth."""


def edition_links(summary: Summary, urls: Urls) -> tuple[schemas.EditionLink, ...]:
    """Return the editions of an entry, in the order of `Language`."""
    return tuple(
        schemas.EditionLink(
            lang=lang, title=edition.title, url=urls.entry(lang, summary.id), stale=edition.stale
        )
        for lang in Language
        if (edition := summary.editions.get(lang))
    )


def edition_state(summary: Summary, lang: Language) -> Literal["present", "missing", "stale"]:
    """Return whether an edition is present, missing, or older than its twin."""
    edition = summary.editions.get(lang)
    if edition is None:
        return "missing"
    return "stale" if edition.stale else "present"


def _ranges(spans: Iterable[Span]) -> tuple[schemas.MarkRange, ...]:
    return tuple(schemas.MarkRange(start=start, end=end) for start, end in spans)


def fix_of(edition: Edition) -> str:
    """Return the answer section of an edition as Markdown; empty where it has none."""
    return edition.answer.markdown if edition.answer else ""


def file_fields(entry: Entry, edition: Edition) -> dict[str, Any]:
    """Return the remaining fields of an edition's file, in the form that `jieda load` takes."""
    return {
        "signatures": tuple(signature_data(each) for each in entry.signatures),
        "symptoms": edition.symptoms,
        "aliases": edition.aliases,
        "formerly": entry.formerly,
        "synced_with": edition.synced_with,
        **validity_data(entry.validity),
        "applies_anywhere": entry.applies_anywhere,
    }


@dataclass(frozen=True, slots=True)
class Shaper:
    """Shapes responses for one language and snapshot; `t` translates into that language."""

    snapshot: Snapshot
    urls: Urls
    lang: Language
    t: Callable[..., str]
    cards: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Cache of `card`: building these fields anew took a third of a search's time."""

    def search(self, found: Found) -> schemas.SearchResult:
        """Shape a search result."""
        request, answer = found.request, found.answer
        judgement = self.diagnosis(found.diagnosis) if found.diagnosis else None
        return schemas.SearchResult(
            query=answer.query,
            total=answer.total,
            limit=request.limit,
            offset=request.offset,
            hits=tuple(self.hit(hit, answer.query) for hit in answer.hits),
            facets=schemas.Facets(**{name: self.facet(name, answer) for name in FACETS}),
            suggestions=tuple(self.suggestion(each, request) for each in answer.suggestions),
            correction=answer.correction,
            phrase_dropped=answer.phrase_dropped,
            operators=tuple(
                schemas.QueryOperator(text=one.text, without=one.without) for one in answer.operators
            ),
            weak=answer.weak,
            absent_words=answer.absent_words,
            judgement=judgement,
            diagnosis=judgement.matches if judgement and judgement.is_program_output else (),
            generation=self.snapshot.generation,
        )

    def hit(self, hit: Hit, query: str) -> schemas.ApiHit:
        """Shape a search hit."""
        card = self.card(self.snapshot.library.summary(hit.entry.id))
        return schemas.ApiHit(
            **card,
            snippet=hit.snippet.html,
            snippet_text=hit.snippet.text,
            snippet_marks=_ranges(hit.snippet.marks),
            snippet_code=_ranges(hit.snippet.code),
            may_not_apply_to=doubtful_version(
                hit.entry.validity, query, self.snapshot.library.taxonomy.packages
            ),
            score=hit.score,
            reasons=hit.reasons,
        )

    def facet(self, name: str, answer: SearchAnswer) -> tuple[schemas.Facet, ...]:
        """Shape the counts of a facet."""
        return tuple(
            schemas.Facet(value=each.value, label=self.label(name, each.value), count=each.count)
            for each in answer.facets.get(name, ())
        )

    def suggestion(self, suggestion: Suggestion, request: SearchRequest) -> schemas.ApiSuggestion:
        """Shape a suggestion, with the address that follows it."""
        if suggestion.type is SuggestionType.NEAR_MISS and suggestion.entry:
            edition = suggestion.entry.edition(self.lang)
            url = self.urls.entry(self.lang, suggestion.entry.id)
            return schemas.ApiSuggestion(
                type=suggestion.type, text=edition.title, url=url, applies_to=edition.applies_to
            )
        if suggestion.type is SuggestionType.SPELLING:
            text = suggestion.query
            url = self.urls.search_filtered(self.lang, suggestion.query, request.filters)
        else:
            text = self.without_filter(suggestion, request)
            url = self.urls.search_filtered(self.lang, request.text, suggestion.filters)
        return schemas.ApiSuggestion(type=suggestion.type, text=text, url=url)

    def without_filter(self, suggestion: Suggestion, request: SearchRequest) -> str:
        """Describe what a search finds with one filter removed, or with all."""
        if not suggestion.facet:
            return self.t("search.drop_filters")
        if suggestion.facet == "edition":
            names = [f"edition={request.filters.edition}"]
        elif suggestion.facet == "version":
            names = list(request.filters.version)
        else:
            chosen = request.filters.facet(suggestion.facet)
            names = [self.label(suggestion.facet, value) for value in chosen]
        joined = self.t("list.join").join(names)
        return self.t("api.drop_filter", filter=joined, count=suggestion.count)

    def completion(self, completion: Completion) -> schemas.ApiCompletion:
        """Shape a completion, with the address it leads to."""
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

    def summary(self, summary: Summary) -> schemas.ApiSummary:
        """Shape a list item, with the date that lists are sorted and filtered by."""
        return schemas.ApiSummary(**self.summary_fields(summary) | {"updated": summary.updated})

    def entry(self, read: ReadEntry) -> schemas.ApiEntry:
        """Shape a whole entry."""
        edition = read.entry.edition(self.lang)
        return schemas.ApiEntry(
            **self.summary_fields(read.summary),
            html=rewrite(edition.html, self.lang, self.urls),
            markdown=edition.markdown,
            fix=fix_of(edition),
            headings=edition.headings,
            related=tuple(self.related(other, read.summary.related) for other in read.related),
            source=edition.source,
            generation=self.snapshot.generation,
            **file_fields(read.entry, edition),
        )

    def diagnosis(self, diagnosis: Diagnosis) -> schemas.ApiDiagnosis:
        """Shape a diagnosis. It contains no fix until the framework is known."""
        return schemas.ApiDiagnosis(
            outcome=diagnosis.verdict,
            verdict=OLD_VERDICTS[diagnosis.verdict],
            asks=diagnosis.asks,
            matches=tuple(self.match(match, fixed=not diagnosis.asks) for match in diagnosis.matches),
            near=tuple(self.near(near) for near in diagnosis.near),
            errors=diagnosis.errors,
            framework=diagnosis.framework,
            read=tuple(schemas.LineRange(first=first, last=last) for first, last in diagnosis.parts),
            generation=self.snapshot.generation,
        )

    def match(self, match: Match, *, fixed: bool = True) -> schemas.ApiMatch:
        """Shape an entry that explains a log."""
        return schemas.ApiMatch(
            id=match.entry.id,
            framework=match.entry.framework,
            title=match.edition.title,
            applies_to=match.edition.applies_to,
            lang=match.edition.lang,
            confidence=match.confidence,
            may_not_apply_to=match.may_not_apply_to,
            matched=match.matched,
            fix=fix_of(match.edition) if fixed else "",
            **self.addresses(match.entry.id),
        )

    def near(self, near: Near) -> schemas.ApiNear:
        """Shape an entry that shares words with a log."""
        return schemas.ApiNear(
            id=near.entry.id,
            framework=near.entry.framework,
            foreign=near.foreign,
            title=near.edition.title,
            applies_to=near.edition.applies_to,
            lang=near.edition.lang,
            words=near.words,
            **self.addresses(near.entry.id),
        )

    def related(self, summary: Summary, named: Collection[str]) -> schemas.Related:
        """Shape a related entry; `named` are the ids that the entry itself lists."""
        edition = summary.edition(self.lang)
        return schemas.Related(
            id=summary.id,
            lang=summary.shown(self.lang),
            title=edition.title,
            applies_to=edition.applies_to,
            named=summary.id in named,
            **self.addresses(summary.id),
        )

    def summary_fields(self, summary: Summary) -> dict[str, Any]:
        """Return the fields shared by a summary and a whole entry."""
        edition = summary.edition(self.lang)
        return {**self.card(summary), "updated": edition.updated, "stale": edition.stale}

    def card(self, summary: Summary) -> dict[str, Any]:
        """Return the cached fields shared by a hit, a summary and a whole entry."""
        kept = self.cards.get(summary.id)
        if kept is None:
            if len(self.cards) >= MAX_CARDS:
                self.cards.clear()
            kept = self.cards[summary.id] = self.new_card(summary)
        return kept

    def new_card(self, summary: Summary) -> dict[str, Any]:
        """Build the fields of `card`."""
        edition = summary.edition(self.lang)
        return {
            "id": summary.id,
            "framework": summary.framework,
            "kind": summary.kind,
            "topics": summary.topics,
            "error_types": summary.error_types,
            "lang": summary.shown(self.lang),
            "title": edition.title,
            "applies_to": edition.applies_to,
            "editions": edition_links(summary, self.urls),
            **self.addresses(summary.id),
        }

    def tag(self, facet: str, counted: CountedTag) -> schemas.ApiTag:
        """Shape a tag; a framework has its homepage and repository as well."""
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

    def translation(self, summary: Summary) -> schemas.Translation:
        """Shape the state of an entry's editions."""
        en, zh = (edition_state(summary, lang) for lang in Language)
        return schemas.Translation(id=summary.id, en=en, zh=zh, **self.addresses(summary.id))

    def addresses(self, entry_id: str) -> dict[str, str]:
        """Return the page URL and the API URL of an entry."""
        return {"url": self.urls.entry(self.lang, entry_id), "api_url": self.urls.api_entry(entry_id)}

    def label(self, facet: str, value: str) -> str:
        """Return the name of a tag; its id where the taxonomy lacks it."""
        return self.snapshot.library.taxonomy.name_of(facet, value, self.lang)


@dataclass(frozen=True, slots=True)
class Shapers:
    """One shaper per language for the served snapshot."""

    urls: Urls
    translator: Callable[[Language], Callable[..., str]]
    """Returns the translator into a language."""
    held: dict[Language, Shaper] = field(default_factory=dict)

    def of(self, snapshot: Snapshot, lang: Language) -> Shaper:
        """Return the shaper of a snapshot; the shaper of an earlier snapshot is dropped."""
        found = self.held.get(lang)
        if found is None or found.snapshot is not snapshot:
            found = self.held[lang] = Shaper(snapshot, self.urls.abroad, lang, self.translator(lang))
        return found
