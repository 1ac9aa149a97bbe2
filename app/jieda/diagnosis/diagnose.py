"""Finds the entries that explain a pasted log. Nothing of the paste is stored, logged or put into an exception."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from jieda.content.library import Library
from jieda.diagnosis.answers import (
    CauseElsewhere,
    Confidence,
    Diagnosis,
    LogError,
    Match,
    MatchedLine,
    MatchReason,
    Near,
    Verdict,
)
from jieda.diagnosis.origin import OriginFinder
from jieda.diagnosis.scoring import CONFIDENCES, MOST_WORDS, TIE, DiagnosisData, Scored, Scorer
from jieda.diagnosis.signatures import Place, SignatureHit, SignatureIndex
from jieda.diagnosis.words import WordReader
from jieda.entry import Entry, Language
from jieda.log.failures import LoggedFailure
from jieda.log.formats import compile_formats
from jieda.log.traceback import ParsedLog, find_passages, layout_of, parse
from jieda.signature import GENERIC_WORDS, compile_signature_line, normalize
from jieda.versions import Packages, doubtful_version

MOST_LINES = 8
"""Most matched lines shown for an entry."""
MOST_ERRORS = 20
WORD = re.compile(r"\w+")
REPORT_LINES = 12
"""Lines of a report in which its process is named."""
SHOWN_LINE = 240
"""Characters shown of a matched line, around the match."""
FIRST_WORDS = 40
"""Characters of a line without its prefixes that locate it in the pasted line."""


class Diagnoser:
    """Explains logs with the entries of a library. Safe to share between threads."""

    def __init__(
        self,
        library: Library,
        known: DiagnosisData,
        words: WordReader,
        signatures: SignatureIndex | None = None,
    ) -> None:
        """`known` holds facts about the library's entries, from the same analyzer and glossary as `words`. `signatures`
        are those of `known`, if they are compiled already."""
        self.known = known
        self.words = words
        self.formats = compile_formats(known.knowledge.failures)
        self._origins = OriginFinder(library.taxonomy.framework, known.knowledge.programs)
        self._entries: Mapping[str, Entry] = library.entries
        self._packages = library.taxonomy.packages
        self.signatures = signatures or SignatureIndex(known.signatures.items())
        """The compiled signatures of all entries."""
        self._scorer = Scorer(known, words)

    def diagnose(self, text: str, lang: Language, framework: str = "") -> Diagnosis:
        """Diagnose `text`, a log of any size; `framework` is the one that the user names, if any."""
        parsed = parse(text, self.formats)
        origin = self._origins.find(parsed, framework)
        shown = find_passages(parsed, self.formats)
        hits: dict[str, list[SignatureHit]] = {}
        for hit in self._doubt_wrappers(self.signatures.find(parsed), parsed):
            hits.setdefault(hit.entry_id, []).append(hit)
        scores = self._scorer.scores(shown, hits, origin, self._root(parsed))
        best = scores.best()
        asks = () if origin.known else self._asks(best)
        if asks:
            best = [replace(each, confidence=Confidence.POSSIBLE) for each in best]
        matches = _sort_by_version(
            "\n".join(parsed.physical), (self._match(each, parsed, lang) for each in best), self._packages
        )
        near = () if matches else tuple(self._near(each, lang) for each in scores.nearest(self._is_near))
        elsewhere = self._cause_elsewhere(parsed, lang)
        troubled = shown.troubled or elsewhere is not None
        verdict = _verdict(matches, near, troubled=troubled)
        return Diagnosis(
            matches=matches,
            near=near,
            verdict=verdict,
            asks=asks,
            errors=_errors(parsed.raised),
            elsewhere=None if verdict is Verdict.KNOWN else elsewhere,
            framework=origin.name,
            query=shown.query,
            layout=layout_of(parsed),
        )

    def _match(self, one: Scored, parsed: ParsedLog, lang: Language) -> Match:
        entry = self._entries[one.entry_id]
        places = [(place, MatchReason.SIGNATURE) for hit in one.hits for place in hit.shown]
        if one.words and not places:
            passage = one.words.passage
            reason = MatchReason.EXCEPTION if passage.failure else MatchReason.SYMPTOM
            places = [(Place(line, 0, 0), reason) for line in passage.lines]
        lines: dict[int, MatchedLine] = {}
        highlights: dict[int, tuple[str, ...]] = {}
        for place, reason in places[: 2 * MOST_LINES]:
            line, number = parsed.texts[place.line], parsed.numbers[place.line]
            if number not in lines:
                found = line[place.start : place.end]
                highlights[number] = (found,) if found else self._shared_words(one)
                text = _around(parsed.physical[number - 1], highlights[number])
                begins = max(0, text.find(line.strip()[:FIRST_WORDS]))
                lines[number] = MatchedLine(number, text, reason, begins)
        matched = tuple(lines[number] for number in sorted(lines)[:MOST_LINES])
        return Match(
            entry,
            entry.edition(lang),
            one.confidence or Confidence.POSSIBLE,
            matched,
            one.score,
            one.evidence,
            highlights,
        )

    def _near(self, one: Scored, lang: Language) -> Near:
        entry = self._entries[one.entry_id]
        words = self._shared_words(one)[:MOST_WORDS]
        return Near(entry, entry.edition(lang), words, one.score, one.evidence, one.foreign)

    def _doubt_wrappers(self, hits: Iterable[SignatureHit], parsed: ParsedLog) -> Iterator[SignatureHit]:
        """Yield the hits, marked as `likely` only if all their lines name wrappers, which pass on any failure."""
        wrappers = self.formats.wrappers
        for hit in hits:
            said = (parsed.texts[place.line][place.start : place.end] for place in hit.places)
            only = all(wrappers.intersection(WORD.findall(text)) for text in said)
            yield replace(hit, likely=True) if only else hit

    def _root(self, parsed: ParsedLog) -> frozenset[int]:
        """Return the indices of the lines of the first failure that wraps no other."""
        roots = (one for one in parsed.raised if not one.wraps)
        numbers = {n for one in islice(roots, 1) for n in (one.line, *(frame.number for frame in one.frames))}
        return frozenset(index for index, number in enumerate(parsed.numbers) if number in numbers)

    def _cause_elsewhere(self, parsed: ParsedLog, lang: Language) -> CauseElsewhere | None:
        """Return where the cause is if only wrappers and reports tell of a failure in the log; None otherwise."""
        reports = self.known.knowledge.failures.reports
        lines = [(compile_signature_line(line), each) for each in reports for line in each.lines]
        # Each line once, however many failures it tells of.
        for number in {one.line for one in parsed.raised if not one.wraps}:
            if not any(line.matches(parsed.physical[number - 1]) for line, _ in lines):
                return None
        # Normalized only now: most logs have a failure of their own.
        text = normalize("\n".join(parsed.physical))
        folded = text.casefold()
        for line, report in lines:
            if line.anchor in folded and (found := line.find(text)):
                first = text.count("\n", 0, found.start())
                near = "\n".join(text.split("\n")[first : first + REPORT_LINES])
                told = (compile_signature_line(place).find(near) for place in report.places)
                places = tuple(" ".join(place[0].split()).rstrip(":") for place in told if place)
                return CauseElsewhere(places, report.advice[lang])
        return CauseElsewhere() if parsed.raised else None

    def _asks(self, best: Sequence[Scored]) -> tuple[str, ...]:
        """Return the frameworks of the best entries if there are several and the log does not tell which is meant."""
        rivals = [
            each.entry_id.partition("/")[0]
            for each in best
            if best[0].confidence is each.confidence
            and best[0].score - each.score < TIE
            and each.entry_id not in self.known.anywhere
        ]
        found = tuple(dict.fromkeys(rivals))
        return found if len(found) > 1 else ()

    def _is_near(self, one: Scored) -> bool:
        """Whether an entry shares a signature with the log, or a rare whole word and no log that it does not explain
        shares more."""
        if one.hits or one.words is None:
            return bool(one.hits)
        told = sum(each.log_odds for each in one.evidence if each.kind in {"words", "background"})
        spelled = self._spelled_words(one).items()
        telling = (word for word, text in spelled if len(text) > 1 and text.casefold() not in GENERIC_WORDS)
        return told > 0 and any(map(self._scorer.words.is_rare, telling))

    def _spelled_words(self, one: Scored) -> dict[str, str]:
        """Return the words of the log that support an entry, each with its spelling there: no parts of names, no words
        common in logs."""
        if one.words is None:
            return {}
        spelled, is_common = one.words.spelled(), self._scorer.words.is_common
        return {word: spelled[word] for word in one.shared if word in spelled and not is_common(word)}

    def _shared_words(self, one: Scored) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._spelled_words(one).values()))


def _errors(raised: Sequence[LoggedFailure]) -> tuple[LogError, ...]:
    """Return the last ones of many failures, after the root."""
    first = next((place for place, one in enumerate(raised) if not one.wraps), len(raised))
    last = max(0, len(raised) - MOST_ERRORS)
    shown = (raised[first], *raised[last + 1 :]) if first < last else raised[last:]
    return tuple(LogError(one.type, one.message, one.line, one.times, one.wraps) for one in shown)


def _sort_by_version(text: str, matches: Iterable[Match], packages: Packages) -> tuple[Match, ...]:
    """Mark the matches that do not hold for the versions named in `text`; sort these last among equally sure ones."""
    told = [
        replace(each, may_not_apply_to=doubtful_version(each.entry.validity, text, packages))
        for each in matches
    ]
    return tuple(
        sorted(told, key=lambda each: (CONFIDENCES.index(each.confidence), bool(each.may_not_apply_to)))
    )


def _verdict(matches: Sequence[Match], near: Sequence[Near], *, troubled: bool) -> Verdict:
    if matches:
        return Verdict.POSSIBLE if matches[0].confidence is Confidence.POSSIBLE else Verdict.KNOWN
    if not troubled and not any(each.foreign for each in near):
        return Verdict.NO_ERROR
    return Verdict.NEAR if near else Verdict.UNKNOWN


def _around(line: str, highlights: Iterable[str]) -> str:
    """Return the line, cut to SHOWN_LINE characters around the first of the `highlights` parts."""
    line = line.rstrip("\r").expandtabs(4)
    if len(line) <= SHOWN_LINE:
        return line
    at = next((at for part in highlights if (at := line.find(part[:SHOWN_LINE])) >= 0), 0)
    start = max(0, min(at - SHOWN_LINE // 4, len(line) - SHOWN_LINE))
    cut = line[start : start + SHOWN_LINE]
    return ("…" if start else "") + cut + ("…" if start + SHOWN_LINE < len(line) else "")
