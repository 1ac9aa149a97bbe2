"""Whose program wrote a log, told by paths, packages and names in it, and what that says for an entry beforehand.

Which programs there are comes from programs.yaml and the taxonomy.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from jieda.anchors import AnchorIndex
from jieda.log.traceback import ParsedLog
from jieda.log_knowledge import Program, Programs, Role
from jieda.signature import FOLDERS, expression, folder_line, parts_of
from jieda.taxonomy import Tag

# Log-odds that an entry explains a log, beforehand; 0 where nothing tells whose log it is.
OWN = 1.0
"""Of the entry's own framework."""
FOREIGN = -5.5
"""Of another program, or of somebody's own."""

_TOLD = 1_000_000
_FRAME = 3
_ASIDE = 4
"""A framework named this many times less often than another one is only mentioned in its log."""
_MOST_MENTIONS = 20
_MOST_PATHS = 1000
"""Paths of a log that are looked at; more have been made up."""
_NAME_CHARACTER = re.compile(r"[A-Za-z0-9_-]")
_INSIDE_CODE = re.compile(r"[/.][A-Za-z0-9_]|\.?/")


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose log it is. `known` are ids of the taxonomy and `others` foreign programs, both most spoken of first.

    `own_code`: frames stand in a program that nobody knows, somebody's script. `guessed`: so do all that are foreign.
    """

    known: tuple[str, ...]
    others: tuple[str, ...]
    own_code: bool
    guessed: bool = False

    @property
    def name(self) -> str:
        """The framework or program, or empty."""
        return next(iter(self.known + self.others), "")

    def is_foreign(self, framework: str) -> bool:
        """Whether all that tells whose log it is speaks for another program."""
        return framework not in self.known and bool(self.known or self.others or self.own_code)

    def is_anothers(self, framework: str) -> bool:
        """Whether the log is that of another framework or program, known by its name."""
        return self.is_foreign(framework) and bool(self.known or (self.others and not self.guessed))

    def prior(self, framework: str) -> float:
        """What it says beforehand for an entry of `framework`: log-odds."""
        if self.is_foreign(framework):
            return FOREIGN
        return OWN if framework in self.known else 0.0


class Detective:
    """Finds origins, by the frameworks that a taxonomy names and by programs."""

    def __init__(self, frameworks: Mapping[str, Tag], programs: Programs) -> None:
        own = {tag.id: programs.by_id.get(tag.id, _as_program(tag)) for tag in frameworks.values()}
        self._known = frozenset(own)
        named = {name for program in own.values() for name in (*program.names, *program.folders)}
        rest = [program for program in programs.by_id.values() if program.id not in own]
        # A program that a team writes about is its own, whatever it was before.
        others = [
            program
            for program in rest
            if program.role is Role.OTHER and not named & {program.id, *program.names}
        ]
        self._listed = frozenset(program.id for program in others)
        self._named = [(program, _anchors(program)) for program in (*own.values(), *others)]
        self._anchors = AnchorIndex(anchor for _, anchors in self._named for anchor in anchors)
        self._own_folders = _Folders(own.values())
        self._other_folders = _Folders(others)
        self._shared_folders = _Folders(program for program in rest if program.role is Role.COMPONENT)
        self._standard = _paths(programs.standard)
        self._installed = _paths(programs.installed, package=r"/(?P<package>[\w.-]{1,80})")

    def origin(self, parsed: ParsedLog, told: str = "") -> Origin:
        """Count what speaks for whom; `told` is the framework that the log's owner names, if any."""
        text = "\n".join((*parsed.processes, *parsed.texts))
        folded = text.casefold()
        paths = Counter(frame.path.replace("\\", "/").casefold() for frame in parsed.frames)
        votes: Counter[str] = Counter()
        own_code = False
        for path in islice(paths, _MOST_PATHS):
            owner = self._owner(path)
            own_code |= owner is None
            if owner:
                votes[owner] += _FRAME * paths[path]
        found = self._anchors.find(folded)
        for program, anchors in self._named:
            if not found.isdisjoint(anchors):
                votes[program.id] += _spoken(program, text, folded)
        votes[told] += _TOLD if told else 0
        ranked = [(name, count) for name, count in votes.most_common() if count]
        known = [(name, count) for name, count in ranked if name in self._known or name == told]
        others = tuple(name for name, _ in ranked if name not in self._known and name != told)
        return Origin(
            known=tuple(name for name, count in known if count * _ASIDE > known[0][1]),
            others=others,
            own_code=own_code,
            guessed=self._listed.isdisjoint(others),
        )

    def _owner(self, path: str) -> str | None:
        """The framework or program a file lies in; empty for a component, None for somebody's script."""
        if found := self._own_folders.first(path) or self._other_folders.first(path):
            return found
        if package := self._installed.search(path):
            return "" if self._shared_folders.first(path) else package["package"].removesuffix(".py")
        if not path or self._standard.search(path) or self._shared_folders.first(path):
            return ""
        return None


class _Folders:
    """Folders of some programs, to be found in paths."""

    def __init__(self, programs: Iterable[Program]) -> None:
        self._owners = {folder: program.id for program in programs for folder in program.folders}
        self._plain = _paths((folder for folder in self._owners if "*" not in folder), "(?=[/.])")
        self._wild = [
            (_paths([folder], "(?=[/.])"), owner) for folder, owner in self._owners.items() if "*" in folder
        ]

    def first(self, path: str) -> str:
        """The program whose folder a path has, that of the outermost one, or empty."""
        if found := self._plain.search(path):
            return self._owners.get(found["folder"], "")
        return next((owner for pattern, owner in self._wild if pattern.search(path)), "")


def _paths(folders: Iterable[str], behind: str = "", package: str = "") -> re.Pattern[str]:
    """Any of some folders in a path, the longer ones first, with `behind` and `package` behind it."""
    patterns = (
        expression(parts_of(folder_line(each), FOLDERS), FOLDERS, behind)
        for each in sorted(folders, key=len, reverse=True)
    )
    return re.compile(rf"(?:^|(?<=/))(?P<folder>{'|'.join(patterns) or '(?!)'}){package}")


def _as_program(tag: Tag) -> Program:
    """A framework that programs.yaml does not name: its id, and its repository's name."""
    names = [tag.id.casefold()]
    if tag.repository:
        names.append(tag.repository.rstrip("/").rpartition("/")[2].removesuffix(".git").casefold())
    return Program(tag.id, Role.FRAMEWORK, tuple(dict.fromkeys(names)), tuple(dict.fromkeys(names)))


def _anchors(program: Program) -> frozenset[str]:
    """A word of each name, for a log that has none of them does not speak of the program."""
    names = (*program.names, *program.folders, *map(str.casefold, program.classes))
    return frozenset(max(name.split(), key=len) for name in names)


def _spoken(program: Program, text: str, folded: str) -> int:
    """How often a log names a program. A name that is an ordinary word counts in code and in capitals only."""
    classes = max((_mentions(text, name) for name in program.classes), default=0)
    if program.word:
        return max((*(_mentions(folded, name) for name in program.names), classes))
    in_code = max(_mentions(folded, name, in_code=True) for name in (*program.names, *program.folders))
    in_code = max(in_code, classes)
    return in_code or min(1, max(_mentions(text, name.upper()) for name in program.names))


def _mentions(text: str, name: str, *, in_code: bool = False) -> int:
    """How often `name` stands in `text` by itself, or (`in_code`) as a folder or package; counted up to a few."""
    spoken = place = 0
    while spoken < _MOST_MENTIONS and (place := text.find(name, place)) >= 0:
        end = place + len(name)
        before, after = text[place - 1 : place], text[end : end + 1]
        alone = not (_NAME_CHARACTER.match(before) or _NAME_CHARACTER.match(after))
        spoken += alone and (not in_code or before == "/" or bool(_INSIDE_CODE.match(text, end)))
        place = end
    return spoken
