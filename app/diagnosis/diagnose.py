"""A pasted log to the entries that explain it. Nothing of the paste is kept, logged or put into an exception."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from app.analysis.glossary import Glossary
from app.content.library import Library
from app.diagnosis.all_clear import without_all_clear
from app.diagnosis.evidence import CONFIDENCES, PARTLY, Evidence, Said, of_signatures, of_words
from app.diagnosis.frameworks import Detective, Origin, engines_in
from app.diagnosis.generic import without_generic
from app.diagnosis.gist import Gist, gist_of, telling_lines
from app.diagnosis.log_lines import physical_lines, strip_codes
from app.diagnosis.signatures import Place, SignatureIndex, owners
from app.diagnosis.telltales import Telltale, TelltaleIndex, without_flags
from app.diagnosis.traceback import ParsedLog, parse
from app.diagnosis.wording import Wording
from app.entry import Entry, Language
from app.search.answers import Confidence, Diagnosis, LogError, Match, MatchedLine, MatchReason
from app.search.searcher import Searcher

MOST_MATCHES = 5
MOST_POSSIBLE = 3
"""Weak matches shown: more of them are no help."""
MOST_LINES = 8
"""Matched lines shown for an entry."""
MOST_ERRORS = 20
SHOWN_LINE = 240
"""Characters of a matched line that are shown, around what matched."""
ALL_OF_IT = 0.999
WORDING_SHARE = 0.5
"""What the words around a signature count, against 1 for a line that only this entry's signature explains."""


class Diagnoser:
    """Explains logs by the entries of a library. Safe to share between threads."""

    def __init__(self, library: Library, searcher: Searcher) -> None:
        explaining = {
            entry_id: entry
            for entry_id, entry in library.entries.items()
            if entry.signatures or any(edition.symptoms for edition in entry.editions.values())
        }
        glossary = Glossary(library.glossary, searcher.analyzer)
        self._entries: Mapping[str, Entry] = explaining
        self._engines = {
            entry_id: engines_in("".join(edition.raw for edition in entry.editions.values()))
            for entry_id, entry in explaining.items()
        }
        self._detective = Detective(library.taxonomy.framework)
        self._signatures = SignatureIndex(explaining.values())
        self._telltales = TelltaleIndex(explaining.values())
        self._wording = Wording(explaining.values(), searcher.analyzer, glossary)

    def diagnose(self, text: str, lang: Language, framework: str = "") -> Diagnosis:
        """What `text`, a log of any size, is about; `framework` is what its owner says it comes from."""
        parsed = parse(text)
        origin = self._detective.origin(parsed, framework)
        gist = gist_of(parsed)
        found = self._by_signature(parsed, origin, gist)
        if gist.troubled and all(one.confidence is Confidence.POSSIBLE for one in found):
            known = {one.entry_id for one in found}
            found += [one for one in self._by_words(parsed, origin, gist) if one.entry_id not in known]
        raw = physical_lines(text)
        return Diagnosis(
            matches=tuple(self._match(one, parsed, raw, lang) for one in _best(found)),
            errors=tuple(
                LogError(one.type, one.message, one.line, one.count) for one in parsed.raised[-MOST_ERRORS:]
            ),
            framework=origin.name,
            query=gist.query,
        )

    def _by_signature(self, parsed: ParsedLog, origin: Origin, gist: Gist) -> list[Evidence]:
        hits = owners(self._signatures.find([line.text for line in parsed.lines], parsed.processes))
        said = self._wording.coverage(self._wording.units(gist.text)) if len(hits) > 1 else {}
        found = []
        for entry_id, own in hits.items():
            rivals = [hit for other, theirs in hits.items() if other != entry_id for hit in theirs]
            wording = WORDING_SHARE * said[entry_id].whole if entry_id in said else 0.0
            foreign = self._is_foreign(entry_id, origin)
            evidence = of_signatures(own, rivals, origin, foreign=foreign, wording=wording)
            supported = any(hit.support for hit in own)
            if supported or not origin.apart or evidence.confidence is not Confidence.POSSIBLE:
                found.append(evidence)
        return found

    def _by_words(self, parsed: ParsedLog, origin: Origin, gist: Gist) -> Iterator[Evidence]:
        places = telling_lines(parsed)
        telltales = self._telltales.find(
            without_all_clear([parsed.lines[place].text for place in places]), verbatim=gist.verbatim
        )
        kin = self._kin(gist)
        for entry_id, said in self._said(gist).items():
            telltale = telltales.get(entry_id, Telltale(frozenset(), 0, ()))
            foreign = self._is_foreign(entry_id, origin)
            confidence = of_words(
                said, telltale, foreign=foreign, verbatim=gist.verbatim, kin=entry_id in kin
            )
            if confidence is None:
                continue
            named = [(Place(places[line], 0, 0), MatchReason.IDENTIFIER) for line in telltale.lines]
            told = MatchReason.EXCEPTION if gist.verbatim else MatchReason.SYMPTOM
            read = [(Place(line, 0, 0), told) for line in gist.lines]
            strength = said.whole.whole + 0.5 * said.whole.sentence + 0.1 * len(telltale.names)
            yield Evidence(entry_id, confidence, strength, tuple(named or read))

    def _said(self, gist: Gist) -> Mapping[str, Said]:
        """How much of the gist each entry says; of its lead alone, where that has a name of the entry's in it."""
        said = self._share(gist.text, verbatim=gist.verbatim)
        if not gist.verbatim:
            return said
        leading = self._telltales.find([gist.lead], verbatim=True)
        for entry_id, share in self._share(gist.lead, verbatim=True).items():
            if entry_id in leading and leading[entry_id].names:
                said[entry_id] = max(share, said.get(entry_id, share), key=lambda one: one.least)
        return said

    def _kin(self, gist: Gist) -> frozenset[str]:
        """The entries that speak of an exception that the gist is about; all, where it is about none."""
        if not gist.types:
            return frozenset(self._entries)
        tellers = (self._wording.coverage(self._wording.units(name), ALL_OF_IT) for name in gist.types)
        return frozenset(chain.from_iterable(tellers))

    def _share(self, text: str, *, verbatim: bool) -> dict[str, Said]:
        printed = without_generic(without_flags(text) if verbatim else text)
        own = self._wording.coverage(self._wording.units(printed))
        return {
            entry_id: Said(whole, own[entry_id].whole if entry_id in own else 0.0)
            for entry_id, whole in self._wording.coverage(self._wording.units(text), PARTLY).items()
        }

    def _is_foreign(self, entry_id: str, origin: Origin) -> bool:
        return origin.foreign_to(self._entries[entry_id].framework, self._engines[entry_id])

    def _match(self, one: Evidence, parsed: ParsedLog, raw: Sequence[str], lang: Language) -> Match:
        entry = self._entries[one.entry_id]
        lines: dict[int, MatchedLine] = {}
        for place, reason in one.places[: 2 * MOST_LINES]:
            line = parsed.lines[place.line]
            if line.number not in lines:
                shown = _around(raw[line.number - 1], line.text[place.start : place.end])
                lines[line.number] = MatchedLine(line.number, shown, reason)
        matched = tuple(lines[number] for number in sorted(lines)[:MOST_LINES])
        return Match(entry, entry.edition(lang), one.confidence, matched)


def _best(found: Sequence[Evidence]) -> list[Evidence]:
    """The matches to show: best first, weak ones only a few."""
    ranked = sorted(found, key=lambda one: (CONFIDENCES.index(one.confidence), -one.strength))
    sure = [one for one in ranked if one.confidence is not Confidence.POSSIBLE]
    weak = ranked[len(sure) :]
    return (sure + weak[: max(0, MOST_POSSIBLE - len(sure))])[:MOST_MATCHES]


def _around(raw: str, matched: str) -> str:
    """The line as pasted, cut to SHOWN_LINE characters around what matched."""
    line = strip_codes(raw).rstrip("\r").expandtabs(4)
    if len(line) <= SHOWN_LINE:
        return line
    at = max(0, line.find(matched[:SHOWN_LINE]) if matched else 0)
    start = max(0, min(at - SHOWN_LINE // 4, len(line) - SHOWN_LINE))
    cut = line[start : start + SHOWN_LINE]
    return ("…" if start else "") + cut + ("…" if start + SHOWN_LINE < len(line) else "")
