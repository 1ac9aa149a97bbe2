"""A pasted log to the entries that explain it. Nothing of the paste is kept, logged or put into an exception."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from jieda.content.library import Library
from jieda.diagnosis.answers import (
    Confidence,
    Diagnosis,
    LogError,
    Match,
    MatchedLine,
    MatchReason,
    Near,
    Verdict,
)
from jieda.diagnosis.facts import Known
from jieda.diagnosis.origin import Detective
from jieda.diagnosis.scoring import MOST_WORDS, Scored, Scorer
from jieda.diagnosis.signatures import Place, SignatureIndex, owners
from jieda.diagnosis.words import WordReader
from jieda.entry import Entry, Language
from jieda.log.formats import compile_formats
from jieda.log.lines import physical_lines, strip_codes
from jieda.log.shown import shown_by
from jieda.log.traceback import ParsedLog, parse
from jieda.versions import doubtful_version

MOST_LINES = 8
"""Matched lines shown for an entry."""
MOST_ERRORS = 20
SHOWN_LINE = 240
"""Characters of a matched line that are shown, around what matched."""
FIRST_WORDS = 40
"""Characters of a line without its prefixes by which it is found in the line as pasted."""


class Diagnoser:
    """Explains logs by the entries of a library. Safe to share between threads."""

    def __init__(
        self, library: Library, known: Known, words: WordReader, signatures: SignatureIndex | None = None
    ) -> None:
        """`known` is about the library's entries, by the same analysis and glossary as `words`. `signatures` are those
        that it knows, where somebody has them compiled already."""
        self.known = known
        self.words = words
        self._formats = compile_formats(known.knowledge.failures)
        self._detective = Detective(library.taxonomy.framework, known.knowledge.programs)
        self._entries: Mapping[str, Entry] = library.entries
        self.signatures = signatures or SignatureIndex(known.signatures.items())
        """Those of all entries, compiled."""
        self._scorer = Scorer(known, words)

    def reads_like_error(self, text: str) -> bool:
        """Whether a line is something that a program printed when it failed: a failure, or a known error text."""
        parsed = parse(text, self._formats)
        return bool(parsed.raised) or bool(self.signatures.find(parsed))

    def diagnose(self, text: str, lang: Language, framework: str = "") -> Diagnosis:
        """What `text`, a log of any size, is about; `framework` is what its owner says it comes from."""
        parsed = parse(text, self._formats)
        origin = self._detective.origin(parsed, framework)
        shown = shown_by(parsed, self._formats)
        hits = owners(self.signatures.find(parsed))
        scores = self._scorer.scores(shown, hits, origin)
        raw = physical_lines(text)
        matches = by_version(text, (self._match(each, parsed, raw, lang) for each in scores.best()))
        near = () if matches else tuple(self._near(each, lang) for each in scores.nearest())
        return Diagnosis(
            matches=matches,
            near=near,
            verdict=_verdict(matches, near, troubled=shown.troubled),
            errors=tuple(
                LogError(one.type, one.message, one.line, one.times, one.name in self._formats.wrappers)
                for one in parsed.raised[-MOST_ERRORS:]
            ),
            framework=origin.name,
            query=shown.query,
        )

    def _match(self, one: Scored, parsed: ParsedLog, raw: Sequence[str], lang: Language) -> Match:
        entry = self._entries[one.entry_id]
        places = [(place, MatchReason.SIGNATURE) for hit in one.hits for place in (*hit.places, *hit.support)]
        if one.told and not places:
            reason = MatchReason.EXCEPTION if one.told.by.passage.failure else MatchReason.SYMPTOM
            places = [(Place(line, 0, 0), reason) for line in one.told.by.passage.lines]
        lines: dict[int, MatchedLine] = {}
        telling: dict[int, tuple[str, ...]] = {}
        for place, reason in places[: 2 * MOST_LINES]:
            line, number = parsed.texts[place.line], parsed.numbers[place.line]
            if number not in lines:
                found = line[place.start : place.end]
                telling[number] = (found,) if found else self._shared(one)
                text = _around(raw[number - 1], found)
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
            telling,
        )

    def _near(self, one: Scored, lang: Language) -> Near:
        entry = self._entries[one.entry_id]
        words = self._shared(one)[:MOST_WORDS]
        return Near(entry, entry.edition(lang), words, one.score, one.evidence)

    def _shared(self, one: Scored) -> tuple[str, ...]:
        """The words of the log that speak for an entry, as the log spells them."""
        if not one.told:
            return ()
        spelled = self.words.spelled(one.told.by.passage.text)
        return tuple(dict.fromkeys(spelled.get(word, word) for word in one.told.shared))


def by_version(text: str, matches: Iterable[Match]) -> tuple[Match, ...]:
    """Matches with what the versions of a text say against them: of those that are equally sure, these come last."""
    told = [replace(each, may_not_apply_to=doubtful_version(each.entry.validity, text)) for each in matches]
    sureness = list(Confidence)
    return tuple(
        sorted(told, key=lambda each: (sureness.index(each.confidence), bool(each.may_not_apply_to)))
    )


def _verdict(matches: Sequence[Match], near: Sequence[Near], *, troubled: bool) -> Verdict:
    if matches:
        return Verdict.MATCHED
    if not troubled:
        return Verdict.NO_ERROR
    return Verdict.NEAR if near else Verdict.UNKNOWN


def _around(raw: str, matched: str) -> str:
    """The line as pasted, cut to SHOWN_LINE characters around what matched."""
    line = strip_codes(raw).rstrip("\r").expandtabs(4)
    if len(line) <= SHOWN_LINE:
        return line
    at = max(0, line.find(matched[:SHOWN_LINE]) if matched else 0)
    start = max(0, min(at - SHOWN_LINE // 4, len(line) - SHOWN_LINE))
    cut = line[start : start + SHOWN_LINE]
    return ("…" if start else "") + cut + ("…" if start + SHOWN_LINE < len(line) else "")
