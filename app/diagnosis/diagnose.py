"""A pasted log to the entries that explain it. Nothing of the paste is kept, logged or put into an exception."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from app.content.library import Library
from app.diagnosis.answers import (
    Confidence,
    Diagnosis,
    Evidence,
    LogError,
    Match,
    MatchedLine,
    MatchReason,
    Near,
    Verdict,
)
from app.diagnosis.facts import Known
from app.diagnosis.model import BASE, SignatureRates, Told, WordModel
from app.diagnosis.origin import Detective, Origin
from app.diagnosis.signatures import Place, SignatureHit, SignatureIndex, owners
from app.diagnosis.words import WordReader
from app.entry import Entry, Language
from app.log.formats import compile_formats
from app.log.lines import physical_lines, strip_codes
from app.log.shown import shown_by
from app.log.traceback import ParsedLog, parse

# Scores from which an entry is an answer: log-odds, see `model`.
LIKELY = 0.0
"""Likelier right than wrong."""
POSSIBLE = -5.0
"""With a signature: somebody chose that line to tell this failure by."""
WORDS_ALONE = -2.75
UNTROUBLED = -1.5
"""Where words alone speak for an entry, in a log that tells of nothing that went wrong."""

MOST_MATCHES = 5
MOST_POSSIBLE = 3
"""Weak matches shown: more of them would not help."""
MOST_NEAR = 3
LEAST_SHARED = 2
"""Words that an entry must share with a log to be near."""
MOST_WORDS = 6
MOST_LINES = 8
"""Matched lines shown for an entry."""
MOST_ERRORS = 20
SHOWN_LINE = 240
"""Characters of a matched line that are shown, around what matched."""
CONFIDENCES = tuple(Confidence)
"""Strongest first."""


@dataclass(frozen=True, slots=True)
class _Scored:
    """An entry with what speaks for it; `confidence` is None where that is too little."""

    entry_id: str
    score: float
    confidence: Confidence | None
    known: Sequence[Evidence]
    hits: Sequence[SignatureHit]
    told: Told | None

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What speaks for and against it, words included."""
        if self.told is None:
            return tuple(self.known)
        words = Evidence("words", ", ".join(self.told.shared[:MOST_WORDS]), self.told.log_odds)
        against = (("background", self.told.rival, self.told.against), ("unheard", "", self.told.unheard))
        return (*self.known, words, *(Evidence(*each) for each in against if each[2]))


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
        self._rates = SignatureRates(known)
        self._words = WordModel(known.words, known.background, words)

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
        told = self._words.told(shown.passages)
        scored = [self._score(each, hits, told, origin, troubled=shown.troubled) for each in {**hits, **told}]
        raw = physical_lines(text)
        matches = tuple(self._match(each, parsed, raw, lang) for each in _best(scored))
        near = () if matches else tuple(self._near(each, lang) for each in _nearest(scored))
        return Diagnosis(
            matches=matches,
            near=near,
            verdict=_verdict(matches, near, troubled=shown.troubled),
            errors=tuple(
                LogError(one.type, one.message, one.line, one.count) for one in parsed.raised[-MOST_ERRORS:]
            ),
            framework=origin.name,
            query=shown.query,
        )

    def _score(
        self,
        entry_id: str,
        hits: Mapping[str, list[SignatureHit]],
        told: Mapping[str, Told],
        origin: Origin,
        *,
        troubled: bool,
    ) -> _Scored:
        own, said = hits.get(entry_id, []), told.get(entry_id)
        framework = entry_id.partition("/")[0]
        rated = [(self._rates.log_odds(entry_id, hit.event), hit) for hit in own]
        best, first = max(rated, key=lambda pair: pair[0], default=(0.0, None))
        known = [
            Evidence("base", "", BASE),
            Evidence("origin", origin.name, origin.prior(framework)),
        ]
        if first:
            known.append(Evidence("signature", first.text, best))
        score = sum(each.log_odds for each in known)
        if said:
            score += said.log_odds + said.against + said.unheard
        rivals = [hit for other, theirs in hits.items() if own and other != entry_id for hit in theirs]
        # A signature of the entry's own that nobody else prints: for that one its author vouches.
        telling = any(
            not (hit.likely or self._rates.is_shared(hit.event) or any(rival.covers(hit) for rival in rivals))
            for hit in own
        )
        foreign = origin.is_foreign(framework)
        heard = score - said.unheard if said else score
        confidence = _confidence(score, heard, found=bool(own), foreign=foreign, troubled=troubled)
        if telling:
            confidence = Confidence.LIKELY if foreign else Confidence.EXACT
        return _Scored(entry_id, score, confidence, known, own, said)

    def _match(self, one: _Scored, parsed: ParsedLog, raw: Sequence[str], lang: Language) -> Match:
        entry = self._entries[one.entry_id]
        places = [(place, MatchReason.SIGNATURE) for hit in one.hits for place in (*hit.places, *hit.support)]
        if one.told and not places:
            reason = MatchReason.EXCEPTION if one.told.passage.failure else MatchReason.SYMPTOM
            places = [(Place(line, 0, 0), reason) for line in one.told.passage.lines]
        lines: dict[int, MatchedLine] = {}
        telling: dict[int, tuple[str, ...]] = {}
        for place, reason in places[: 2 * MOST_LINES]:
            line = parsed.lines[place.line]
            if line.number not in lines:
                found = line.text[place.start : place.end]
                telling[line.number] = (found,) if found else self._shared(one)
                lines[line.number] = MatchedLine(line.number, _around(raw[line.number - 1], found), reason)
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

    def _near(self, one: _Scored, lang: Language) -> Near:
        entry = self._entries[one.entry_id]
        words = self._shared(one)[:MOST_WORDS]
        return Near(entry, entry.edition(lang), words, one.score, one.evidence)

    def _shared(self, one: _Scored) -> tuple[str, ...]:
        """The words of the log that speak for an entry, as the log spells them."""
        if not one.told:
            return ()
        spelled = self.words.spelled(one.told.passage.text)
        return tuple(dict.fromkeys(spelled.get(word, word) for word in one.told.shared))


def _confidence(
    score: float, heard: float, *, found: bool, foreign: bool, troubled: bool
) -> Confidence | None:
    """What a score is worth where no signature of the entry's own was `found` that nobody else prints.

    `heard` is the score without the words that nobody says: they make an answer less sure and take none away. What
    other programs print as well proves little in their logs, and words prove little where nothing went wrong.
    """
    if heard < (POSSIBLE if found else WORDS_ALONE if troubled else UNTROUBLED):
        return None
    weak = score < LIKELY or (found and foreign) or not (found or troubled)
    return Confidence.POSSIBLE if weak else Confidence.LIKELY


def _verdict(matches: Sequence[Match], near: Sequence[Near], *, troubled: bool) -> Verdict:
    if matches:
        return Verdict.MATCHED
    if not troubled:
        return Verdict.NO_ERROR
    return Verdict.NEAR if near else Verdict.UNKNOWN


def _best(scored: Iterable[_Scored]) -> list[_Scored]:
    """The matches to show: best first, weak ones only a few."""
    found = [each for each in scored if each.confidence]
    found.sort(key=lambda each: (CONFIDENCES.index(each.confidence), -each.score, each.entry_id))
    weak = [each for each in found if each.confidence is Confidence.POSSIBLE]
    sure = found[: len(found) - len(weak)]
    return (sure + weak[: max(0, MOST_POSSIBLE - len(sure))])[:MOST_MATCHES]


def _nearest(scored: Iterable[_Scored]) -> list[_Scored]:
    ranked = sorted(scored, key=lambda each: (-each.score, each.entry_id))
    near = (each for each in ranked if each.told and len(each.told.shared) >= LEAST_SHARED)
    return list(islice(near, MOST_NEAR))


def _around(raw: str, matched: str) -> str:
    """The line as pasted, cut to SHOWN_LINE characters around what matched."""
    line = strip_codes(raw).rstrip("\r").expandtabs(4)
    if len(line) <= SHOWN_LINE:
        return line
    at = max(0, line.find(matched[:SHOWN_LINE]) if matched else 0)
    start = max(0, min(at - SHOWN_LINE // 4, len(line) - SHOWN_LINE))
    cut = line[start : start + SHOWN_LINE]
    return ("…" if start else "") + cut + ("…" if start + SHOWN_LINE < len(line) else "")
