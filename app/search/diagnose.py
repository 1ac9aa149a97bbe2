"""Logs to matches. So far by ranked text only; signatures and frames follow."""

from app.content.library import Library
from app.entry import Language
from app.search.answers import Confidence, Diagnosis, Match, SearchRequest
from app.search.searcher import Searcher


class Diagnoser:
    """Explains logs by the entries of a library."""

    def __init__(self, library: Library, searcher: Searcher) -> None:
        self._library = library
        self._searcher = searcher

    def diagnose(self, text: str, lang: Language, framework: str = "") -> Diagnosis:
        """At most three entries, best first."""
        answer = self._searcher.search(SearchRequest(text, lang, limit=3))
        found = () if answer.weak else answer.hits
        matches = tuple(Match(hit.entry, hit.edition, Confidence.POSSIBLE, ()) for hit in found)
        return Diagnosis(matches, (), framework, text.strip().splitlines()[-1][:200] if text.strip() else "")
