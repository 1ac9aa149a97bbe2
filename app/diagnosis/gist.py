"""What of a log is worth reading on: the words to compare and to search for, and the lines they come from."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.diagnosis.all_clear import without_all_clear
from app.diagnosis.generic import is_generic
from app.diagnosis.line_kinds import FAMILIES
from app.diagnosis.placeholders import without_values
from app.diagnosis.traceback import WRAPPERS, ParsedLog, Raised

SHORT_PASTE = 12
"""A paste of up to so many lines is read whole: somebody chose these lines, or wrote them."""
TELLING_LINES = 400
"""Lines looked at for partial evidence, at most."""
LONGEST_GIST = 600
LONGEST_QUERY = 200
_LAST_FAILURES = 6
METRICS = 3
"""So many numbers, each with its name, make a line one of metrics."""

UNREADABLE = "\ufffd"
"""What stands for bytes that are no UTF-8."""
MOST_UNREADABLE = 0.1
"""With a larger share of them it is no text at all, or one in another encoding."""

MEANINGS = {"gradient norm": "high grad norm", "Xid": "GPU hardware fault"}
"""Words for what a line of numbers or codes says, by family (`line_kinds.FAMILIES`)."""

FAMILY_NAMES = frozenset(family.name for family in FAMILIES)

_PROBLEM = re.compile(
    r"error|fail|crash|exception|hang|hung|stuck|kill|abort|timeout|timed out|\boom\b|out of memory|\bnan\b|\binf\b"
    r"|refused|cannot|can't|could not|unable|invalid|mismatch|not match|not safe|garbl|gibberish|explod|diverg|collapse"
    r"|slow|wrong|assert|pending|broken|dies\b|died|huge|spike|blows up|no output|nonsense|forever|instab|unstable"
    r"|报错|错误|失败|崩|挂了|挂掉|卡住|卡在|卡死|一直卡|卡着|超时|爆|乱码|异常|不动|很慢|太慢|特别慢|变慢|中断|断言|退出|不一致"
    r"|不匹配|对不上|不收敛|不稳定|发散|起不来|不连续|找不到|没反应|没有反应|没有输出|溢出|不足|冲突|被杀|掉卡|飞了|跑飞|偶发"
    r"|没有进展|不成功|显示成功|过大|很久|特别久"
    r"|報錯|錯誤|失敗|崩潰|掛了|卡著|超時|亂碼|異常|不動|中斷|斷言|對不上|不穩定|發散|起不來|不連續|衝突|顯示成功",
    re.IGNORECASE,
)
# What no person types: a connection with its host and port, an object with its address, a program's own name.
_MACHINE = re.compile(
    r"\bHTTPS?Connection(?:Pool)?\(host=|<[\w.]{1,100} object at 0x|^\s{0,20}\S{1,200}: error: "
)
_METRIC = re.compile(r"[\w)]['\"]?\s?[:=]\s{0,8}[-+]?\d[\w.+-]{0,40}\s{0,8}[|,}]")
_SENTENCE = re.compile(r"[.;!?]\s{1,4}(?=[A-Z])")
_LOGGED = re.compile(r"\s{0,20}\[?(?:DEBUG|INFO|WARN(?:ING)?|ERR(?:OR)?|CRITICAL|FATAL)\]?[:\s]")
_ALARMING = re.compile(r"\b(?:error|err|critical|fatal|warning|warn|exception|failed)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Gist:
    """`text` is without values; `lines` are the indexes of the folded lines that it was made from.

    `lead` is the first sentence of each failure that `text` tells of: what happened, before the explanations;
    `types` are the names of their exceptions.
    `verbatim`: a program wrote the log, not somebody who tells of it. `troubled`: it is about a failure.
    """

    text: str
    lead: str
    types: tuple[str, ...]
    lines: tuple[int, ...]
    verbatim: bool
    troubled: bool

    @property
    def query(self) -> str:
        """A search for it: a few words, or empty where it is no text."""
        unread = self.text.count(UNREADABLE)
        if unread > MOST_UNREADABLE * len(self.text):
            return ""
        text = " ".join(self.text.replace(UNREADABLE, " ").split()) if unread else self.text
        return text if len(text) <= LONGEST_QUERY else text[:LONGEST_QUERY].rpartition(" ")[0]


def gist_of(parsed: ParsedLog) -> Gist:
    """What a log is about."""
    short = len(parsed.lines) <= SHORT_PASTE
    framed = any(one.frames for one in parsed.raised)
    if short and not framed:
        lines = tuple(range(len(parsed.lines)))
        parts = _without_metrics(parsed, without_all_clear([line.text for line in parsed.lines]))
    elif parsed.raised:
        failures = _telling(parsed.raised)
        lines = _indexes(parsed, {one.line for one in failures})
        parts = [_words(one) for one in failures]
    else:
        lines = _alarming(parsed)
        parts = without_all_clear([parsed.lines[index].text for index in lines])
    told = _telling(parsed.raised)
    meanings = dict.fromkeys(MEANINGS[one.type] for one in parsed.raised if one.type in MEANINGS)
    text = without_values("\n".join((*parts, *meanings))[: 4 * LONGEST_GIST])[:LONGEST_GIST]
    return Gist(
        text=text,
        lead=without_values("\n".join(map(_lead, told))),
        types=tuple(one.name for one in told if one.type not in FAMILY_NAMES),
        lines=lines,
        verbatim=not short or framed or _is_logged(parsed),
        troubled=bool(parsed.raised)
        or any(map(_PROBLEM.search, without_all_clear([one.text for one in parsed.lines[:TELLING_LINES]]))),
    )


def telling_lines(parsed: ParsedLog) -> Sequence[int]:
    """Indexes of the folded lines that can be evidence: all of them, or failures, frames and the end of the log."""
    if len(parsed.lines) <= TELLING_LINES:
        return range(len(parsed.lines))
    numbers = {one.line for one in parsed.raised} | {frame.number for frame in parsed.frames}
    chosen = _indexes(parsed, numbers)[-TELLING_LINES:]
    return sorted({*chosen, *range(len(parsed.lines) - TELLING_LINES // 8, len(parsed.lines))})


def _is_logged(parsed: ParsedLog) -> bool:
    return any(one.verbatim for one in parsed.raised) or any(
        _LOGGED.match(line.text) or _MACHINE.search(line.text) for line in parsed.lines
    )


def _without_metrics(parsed: ParsedLog, texts: list[str]) -> list[str]:
    """`texts`, of a metrics line only the metric that went wrong: the others are just there."""
    wrong = {one.line: one.message for one in parsed.raised if one.type in MEANINGS}
    if not wrong:
        return texts
    return [
        wrong.get(line.number, "") if len(_METRIC.findall(line.text)) >= METRICS else text
        for line, text in zip(parsed.lines, texts, strict=True)
    ]


def _telling(raised: Sequence[Raised]) -> list[Raised]:
    """Two of the last failures that give a reason, those first that not every program could have had."""
    causes = [one for one in raised if one.name not in WRAPPERS] or raised
    last = causes[-_LAST_FAILURES:][::-1]
    return sorted(last, key=lambda one: is_generic((one.message, *(f.source for f in one.frames[-1:]))))[:2]


def _words(one: Raised) -> str:
    inner = one.frames[-1] if one.frames else None
    place = f"{inner.function} {inner.source}" if inner and not inner.source.startswith("raise") else ""
    return f"{one.name} {one.message} {place}"


def _lead(one: Raised) -> str:
    return f"{one.name} {_SENTENCE.split(one.message, maxsplit=1)[0]}"


def _alarming(parsed: ParsedLog) -> tuple[int, ...]:
    """The last lines that speak of an error, or else just the last lines."""
    loud = [index for index, line in enumerate(parsed.lines) if _ALARMING.search(line.text)]
    return tuple(loud[-5:]) or tuple(range(len(parsed.lines))[-5:])


def _indexes(parsed: ParsedLog, numbers: Iterable[int]) -> tuple[int, ...]:
    wanted = frozenset(numbers)
    return tuple(index for index, line in enumerate(parsed.lines) if line.number in wanted)
