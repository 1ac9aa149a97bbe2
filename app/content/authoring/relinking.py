"""Links of a Markdown body led to other entries, every other byte kept.

Markdown tells which links a text has and not where they stand, so each place that may be one is changed on trial: it
is one where the text then has the wanted link, and what stands in code is as it was.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.content.markdown.body import Body, parse_body
from app.content.markdown.links import Link, LinkKind, read_link
from app.entry import Language
from app.errors import AuthoringError

_PLACE = re.compile(r"[^\s()<>\[\]]+?\.md(?=[\s()<>#\"']|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a body stands, before and after: its language and its framework. `ids`: entries that have another id now,
    by their old one."""

    lang: Language
    before: str
    after: str
    ids: Mapping[str, str]

    def wanted(self, links: Sequence[Link]) -> list[tuple[LinkKind, str, str]]:
        """What links must lead to afterwards."""
        return [(link.kind, self._target(link), link.anchor) for link in links]

    def _target(self, link: Link) -> str:
        if link.kind is LinkKind.IMAGE:
            return f"{self.after}/{link.target.rpartition('/')[2]}"
        return self.ids.get(link.target, link.target) if link.kind is LinkKind.ENTRY else link.target


def relink(body: str, setting: Setting, first_line: int) -> str:
    """The body with its links led to where their entries are now.

    Raises AuthoringError, naming the line, for a link that is written so that it cannot be changed safely.
    """
    before = _read(body, setting, setting.before, first_line)
    wanted = setting.wanted(before.links)
    text, wrong = body, _wrong(_read(body, setting, setting.after, first_line), wanted)
    for place, new in reversed(list(_places(body, setting)) if wrong else []):
        changed = text[: place.start()] + new + text[place.end() :]
        after = _read(changed, setting, setting.after, first_line)
        left = _wrong(after, wanted)
        if len(left) < len(wrong) and after.code == before.code:
            text, wrong = changed, left
    if wrong:
        link = before.links[wrong[0]]
        raise AuthoringError(
            f"line {link.line}: the link {link.written!r} cannot be changed: do it by hand first"
        )
    return text


def _read(body: str, setting: Setting, framework: str, first_line: int) -> Body:
    text = body.replace("\r\n", "\n").replace("\r", "\n")
    return parse_body(text, setting.lang, framework, first_line)


def _wrong(body: Body, wanted: Sequence[tuple[LinkKind, str, str]]) -> list[int]:
    """Which links do not lead to where they are wanted; all of them where there are not as many."""
    found = [(link.kind, link.target, link.anchor) for link in body.links]
    if len(found) != len(wanted):
        return list(range(len(wanted) + 1))
    return [number for number, pair in enumerate(zip(found, wanted, strict=True)) if pair[0] != pair[1]]


def _places(body: str, setting: Setting) -> Iterator[tuple[re.Match[str], str]]:
    """What may be the address of a link that must change, with its new text."""
    for match in _PLACE.finditer(body):
        link = read_link(match[0], setting.lang, setting.before, 0)
        if link.kind is LinkKind.ENTRY:
            new = setting.ids.get(link.target, link.target)
            address = _address(match[0], link.target, new, setting)
            if address != match[0]:
                yield match, address


def _address(written: str, old: str, new: str, setting: Setting) -> str:
    """The address of `new` from where the body stands now, in the manner in which that of `old` was written."""
    framework, _, slug = new.partition("/")
    is_whole, is_near = written.endswith(f"/{old}.md"), framework == setting.after
    if is_whole and (not is_near or written != f"../{old}.md" or old.startswith(f"{setting.before}/")):
        return f"{written[: -len(old) - 3]}{new}.md"
    if is_near:
        return f"{'./' if written.startswith('./') else ''}{slug}.md"
    return posixpath.join("..", framework, f"{slug}.md")
