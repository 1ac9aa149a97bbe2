"""A pasted log to the entries that explain it. Nothing of the paste is kept, logged or put into an exception."""

import re
from collections.abc import Iterator, Mapping, Sequence

from app.analysis.glossary import Glossary
from app.content.library import Library
from app.entry import Entry, Language
from app.search.answers import Confidence, Diagnosis, LogError, Match, MatchedLine
from app.search.evidence import CONFIDENCES, PARTLY, Evidence, Said, of_signatures, of_words
from app.search.frameworks import Detective, Origin, engines_in
from app.search.generic import is_generic, without_generic
from app.search.log_lines import physical_lines, strip_codes
from app.search.placeholders import without_values
from app.search.searcher import Searcher
from app.search.signatures import Place, SignatureIndex, owners
from app.search.telltales import TelltaleIndex
from app.search.traceback import ParsedLog, Raised, parse
from app.search.wording import Wording

MOST_MATCHES = 5
MOST_POSSIBLE = 3
"""Weak matches shown: more of them are no help."""
MOST_LINES = 8
"""Matched lines shown for an entry."""
MOST_ERRORS = 20
SHOWN_LINE = 240
"""Characters of a matched line that are shown, around what matched."""
SHORT_PASTE = 12
"""A paste of up to so many lines is searched whole: somebody chose these lines, or wrote them."""
TELLING_LINES = 400
LONGEST_QUERY = 600

MEANINGS = {"gradient norm": "high grad norm", "Xid": "GPU hardware fault", "ECC": "ECC error"}
"""Words for what a line of numbers or codes says, by family (`line_kinds.FAMILIES`)."""

_PROBLEM = re.compile(
    r"error|fail|crash|exception|hang|hung|stuck|kill|abort|timeout|timed out|\boom\b|out of memory|\bnan\b|\binf\b"
    r"|refused|cannot|can't|could not|unable|invalid|mismatch|not match|not safe|garbl|gibberish|explod|diverg|collapse"
    r"|slow|wrong|assert|pending|broken|dies\b|died|huge|spike|blows up|no output|nonsense|forever|instab|unstable"
    r"|报错|错误|失败|崩|挂了|挂掉|卡住|卡在|卡死|一直卡|卡着|超时|爆|乱码|异常|不动|很慢|太慢|特别慢|变慢|中断|断言|退出|不一致"
    r"|不匹配|对不上|不收敛|不稳定|发散|起不来|不连续|找不到|没反应|没有反应|没有输出|溢出|不足|冲突|被杀|掉卡|飞了|跑飞|偶发"
    r"|没有进展|不成功|显示成功|过大|很久|特别久",
    re.IGNORECASE,
)
_ALARMING = re.compile(r"\b(?:error|err|critical|fatal|warning|warn|exception|failed)\b", re.IGNORECASE)


class Diagnoser:
    """Explains logs by the entries of a library. Safe to share between threads."""

    def __init__(self, library: Library, searcher: Searcher) -> None:
        explaining = {
            entry_id: entry
            for entry_id, entry in library.entries.items()
            if entry.signatures or any(edition.symptoms for edition in entry.editions.values())
        }
        self._entries: Mapping[str, Entry] = explaining
        self._wording = Wording(
            explaining.values(), searcher.analyzer, Glossary(library.glossary, searcher.analyzer)
        )
        self._signatures = SignatureIndex(explaining.values())
        self._telltales = TelltaleIndex(explaining.values())
        self._engines = {
            entry_id: engines_in("".join(edition.raw for edition in entry.editions.values()))
            for entry_id, entry in explaining.items()
        }
        self._detective = Detective(library.taxonomy.framework)

    def diagnose(self, text: str, lang: Language, framework: str = "") -> Diagnosis:
        """What `text`, a log of any size, is about; `framework` is what its owner says it comes from."""
        parsed = parse(text)
        origin = self._detective.origin(parsed, framework)
        telling = _telling_text(parsed)
        found = self._by_signature(parsed, origin)
        if all(one.confidence is Confidence.POSSIBLE for one in found):
            known = {one.entry_id for one in found}
            found += [one for one in self._by_words(parsed, origin, telling) if one.entry_id not in known]
        raw = physical_lines(text)
        return Diagnosis(
            matches=tuple(self._match(one, parsed, raw, lang) for one in _best(found)),
            errors=tuple(
                LogError(one.type, one.message, one.line, one.count) for one in parsed.raised[-MOST_ERRORS:]
            ),
            framework=origin.name,
            query=telling[:200].rpartition(" ")[0] if len(telling) > 200 else telling,
        )

    def _by_signature(self, parsed: ParsedLog, origin: Origin) -> list[Evidence]:
        hits = owners(self._signatures.find([line.text for line in parsed.lines]))
        found = []
        for entry_id, own in hits.items():
            rivals = [hit for other, theirs in hits.items() if other != entry_id for hit in theirs]
            found.append(of_signatures(own, rivals, origin, foreign=self._is_foreign(entry_id, origin)))
        return found

    def _is_foreign(self, entry_id: str, origin: Origin) -> bool:
        return origin.foreign_to(self._entries[entry_id].framework, self._engines[entry_id])

    def _by_words(self, parsed: ParsedLog, origin: Origin, telling: str) -> Iterator[Evidence]:
        prose = not parsed.raised and len(parsed.lines) <= SHORT_PASTE
        if not parsed.raised and not _PROBLEM.search(
            "\n".join(line.text for line in parsed.lines[:TELLING_LINES])
        ):
            return
        places = _telling_lines(parsed)
        telltales = self._telltales.find([parsed.lines[place].text for place in places])
        own_words = self._wording.coverage(self._wording.units(without_generic(telling)))
        for entry_id, whole in self._wording.coverage(self._wording.units(telling), PARTLY).items():
            own = own_words.get(entry_id)
            said = Said(whole, own.whole if own else 0.0)
            telltale = telltales.get(entry_id)
            foreign = self._is_foreign(entry_id, origin)
            confidence = of_words(said, telltale, foreign=foreign, prose=prose)
            if confidence is not None:
                yield Evidence(
                    entry_id,
                    confidence,
                    said.whole.whole
                    + 0.5 * whole.sentence
                    + (0.1 * len(telltale.names) if telltale else 0.0),
                    tuple((Place(places[line], 0, 0), "identifier") for line in telltale.lines)
                    if telltale
                    else (),
                )

    def _match(self, one: Evidence, parsed: ParsedLog, raw: Sequence[str], lang: Language) -> Match:
        entry = self._entries[one.entry_id]
        lines: dict[int, MatchedLine] = {}
        for place, reason in one.places:
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


def _telling_text(parsed: ParsedLog) -> str:
    """What to search for: a short paste itself, otherwise its failures, in words without values."""
    if len(parsed.lines) <= SHORT_PASTE and not any(one.frames for one in parsed.raised):
        parts = [line.text for line in parsed.lines]
    elif parsed.raised:
        parts = [_failure_text(one) for one in _telling_failures(parsed.raised)]
    else:
        parts = [line.text for line in parsed.lines if _ALARMING.search(line.text)][-5:]
        parts = parts or [line.text for line in parsed.lines[-5:]]
    meanings = [MEANINGS[one.type] for one in parsed.raised if one.type in MEANINGS]
    return without_values("\n".join((*parts, *dict.fromkeys(meanings)))[: 4 * LONGEST_QUERY])[:LONGEST_QUERY]


def _telling_failures(raised: Sequence[Raised]) -> list[Raised]:
    """The last failures, those first that more than one program could not have had."""
    last = raised[-6:][::-1]
    return sorted(
        last, key=lambda one: is_generic((one.message, *(frame.source for frame in one.frames[-1:])))
    )[:2]


def _failure_text(one: Raised) -> str:
    inner = one.frames[-1] if one.frames else None
    place = f"{inner.function} {inner.source}" if inner and not inner.source.startswith("raise") else ""
    return f"{one.name} {one.message} {place}"


def _telling_lines(parsed: ParsedLog) -> list[int]:
    """Indexes of the lines that can be evidence: failures and frames, and where those are few, what is near the end."""
    if len(parsed.lines) <= TELLING_LINES:
        return list(range(len(parsed.lines)))
    numbers = {one.line for one in parsed.raised} | {frame.number for frame in parsed.frames[-TELLING_LINES:]}
    chosen = [index for index, line in enumerate(parsed.lines) if line.number in numbers]
    return sorted({*chosen[-TELLING_LINES:], *range(len(parsed.lines) - 50, len(parsed.lines))})


def _around(raw: str, matched: str) -> str:
    """The line as pasted, cut to SHOWN_LINE characters around what matched."""
    line = strip_codes(raw).rstrip("\r").expandtabs(4)
    if len(line) <= SHOWN_LINE:
        return line
    at = max(0, line.find(matched[:SHOWN_LINE]) if matched else 0)
    start = max(0, min(at - SHOWN_LINE // 4, len(line) - SHOWN_LINE))
    cut = line[start : start + SHOWN_LINE]
    return ("…" if start else "") + cut + ("…" if start + SHOWN_LINE < len(line) else "")
