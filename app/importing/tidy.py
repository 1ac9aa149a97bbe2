"""Tidies the Markdown of an answer: HTML, JSX and the notices of site generators become what entries may hold."""

import re
from collections.abc import Callable, Mapping, Sequence
from html import unescape

from app.importing.page import code_lines

_SPAN = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_ATTRIBUTE = r"""\b{name}\s*=\s*(?:"([^"]*)"|'([^']*)'|\{{?["'`]?([^"'`}}\s>]+))"""
_WRAPPERS: Mapping[str, str] = {
    "b": "**",
    "strong": "**",
    "i": "*",
    "em": "*",
    "code": "`",
    "kbd": "`",
    "tt": "`",
}
_DROPPED = "|".join(
    """
    a article aside big center cite dd details div dl dt figcaption figure font footer header hr ins label li mark
    nav ol p picture s section small source span sub sup u ul video
    """.split()
)
_TAG = re.compile(
    rf"<(?P<close>/?)(?P<name>(?:{_DROPPED}|b|strong|i|em|code|kbd|tt|br|img|summary)\b|[A-Z][\w.]*)(?P<rest>[^<>]*)>"
)
_CLOSED = re.compile(r"</([A-Z][\w.]*)\s*>|<([A-Z][\w.]*)\b[^<>]*/>")
_SPACED: Mapping[tuple[str, str], str] = {
    ("br", ""): " ",
    ("br", "/"): " ",
    ("summary", ""): "\n\n**",
    ("summary", "/"): "**\n\n",
}
_ANCHOR = re.compile(r"<a\b(?P<rest>[^<>]*)>(?P<text>.*?)</a>", re.IGNORECASE | re.DOTALL)
_NOTICE = re.compile(r"^(?P<indent>\s*)(?::{3,}|!!!|\?\?\?\+?)\s*(?P<kind>[\w-]*)\s*(?P<title>.*)$")
_NOTICE_END = re.compile(r"^\s*:{3,}\s*$")
_SHORTCODE = re.compile(r"^\s*\{[{%].*[%}]\}\s*$")
_ALERT = re.compile(r"^(\s*>\s*)\[!(\w+)\]\s*$")
_EDGE = re.compile(
    r"[\s\u200b]*(?:-{3,}|={3,}|\*{3,}|_{3,}|(?:<br\s*/?>|</?details>|</?p>|</?div>|</summary>)+)?[\s\u200b]*",
    re.IGNORECASE,
)


def trim(lines: Sequence[str]) -> list[str]:
    """Without the blank lines, rules and empty tags at either end."""
    start, end = 0, len(lines)
    while start < end and _EDGE.fullmatch(lines[start]):
        start += 1
    while end > start and _EDGE.fullmatch(lines[end - 1]):
        end -= 1
    return list(lines[start:end])


def dedent(lines: Sequence[str]) -> list[str]:
    """Without the indentation of the list item that the lines come from, as far as every line has it."""
    filled = [line for line in lines if line.strip()]
    first = len(filled[0]) - len(filled[0].lstrip(" ")) if filled else 0
    if not 0 < first <= 8:
        return list(lines)
    return [line[min(first, len(line) - len(line.lstrip(" "))) :] for line in lines]


def tidy(text: str) -> str:
    """The text without tags and notices that Markdown alone does not know; code stays as it is."""
    lines = _notices(text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", outside_code("\n".join(lines), _tags)).strip("\n")


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with `change` applied to every stretch of it that is neither a code block nor a code span."""
    lines = text.split("\n")
    code = code_lines(lines)
    out: list[str] = []
    prose: list[str] = []
    for number, line in enumerate(lines):
        if number in code:
            out += [_between_spans("\n".join(prose), change)] if prose else []
            prose = []
            out.append(line)
        else:
            prose.append(line)
    return "\n".join([*out, *([_between_spans("\n".join(prose), change)] if prose else [])])


def _between_spans(text: str, change: Callable[[str], str]) -> str:
    """Spans are kept under placeholders while `change` works, for a link may reach across one."""
    spans: list[str] = []

    def keep(match: re.Match[str]) -> str:
        if "\n\n" in match[0]:
            return match[0]
        spans.append(match[0])
        return f"\x00{len(spans) - 1}\x00"

    changed = change(_SPAN.sub(keep, text))
    return re.sub("\x00(\\d+)\x00", lambda match: spans[int(match[1])], changed)


def _notices(lines: Sequence[str]) -> list[str]:
    """`:::tip` and `!!! note` become quotations with a bold title; what else they mark off stays as text."""
    code = code_lines(tuple(lines))
    out: list[str] = []
    quoting = ""
    for number, line in enumerate(lines):
        if number in code:
            out.append(f"{quoting}{line}" if quoting else line)
        elif quoting and _NOTICE_END.match(line):
            quoting = ""
            out.append("")
        elif (match := _NOTICE.match(line)) and match["kind"]:
            title = match["title"].strip(" \"'[]{}") or match["kind"].capitalize()
            quoting = "> " if line.lstrip().startswith(":") else ""
            out += ["", f"> **{title}**", ">"] if quoting else [f"**{title}**", ""]
        elif match := _ALERT.match(line):
            out += [f"{match[1]}**{match[2].capitalize()}**", match[1].rstrip()]
        elif not _SHORTCODE.match(line) and not _NOTICE_END.match(line):
            out.append(f"{quoting}{line}".rstrip() if quoting else line)
    return out


def _tags(text: str) -> str:
    # Components of MDX are closed; `List<String>` is not.
    closed = {name for pair in _CLOSED.findall(text) for name in pair}
    text = _ANCHOR.sub(_link, text)
    text = _TAG.sub(lambda match: _tag(match, closed), text)
    return unescape(text) if "&" in text and ";" in text else text


def _attribute(rest: str, name: str) -> str:
    match = re.search(_ATTRIBUTE.format(name=name), rest)
    return next((value for value in match.groups() if value), "") if match else ""


def _link(match: re.Match[str]) -> str:
    address, text = _attribute(match["rest"], "href"), match["text"].strip()
    return f"[{text}]({address})" if address and text else match["text"]


def _tag(match: re.Match[str], components: set[str]) -> str:
    name, rest = match["name"], match["rest"]
    if name != name.lower():
        return "" if name in components else match[0]
    if name in _WRAPPERS:
        return _WRAPPERS[name]
    if name == "img":
        address = _attribute(rest, "src")
        return f"![{_attribute(rest, 'alt')}]({address})" if address else ""
    return _SPACED.get((name, match["close"]), "")
