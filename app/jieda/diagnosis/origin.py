"""Finds the program that wrote a log, from paths, packages and names in it.

Programs are listed in programs.yaml and the taxonomy.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from jieda.log.traceback import ParsedLog
from jieda.log_knowledge import Program, Programs, Role
from jieda.signature import FOLDERS, AnchorIndex, expression, folder_line, parts_of
from jieda.taxonomy import Tag

# Prior log-odds that an entry explains a log; 0 if the origin of the log is unknown.
OWN = 1.0
"""The log is of the entry's own framework."""
FOREIGN = -5.5
"""The log is of another program, or of a private script."""

_TOLD = 1_000_000
"""Votes for the framework that the user names: more than a log can have for any other."""
_FRAME = 3
"""Votes of a frame for the program that its file belongs to; a mention of the program's name is one."""
_ASIDE = 4
"""A framework named this many times less often than another one is only mentioned in the log of that one."""
_MOST_MENTIONS = 20
_MOST_PATHS = 1000
"""Most paths examined in a log; no real log has more."""
_NAME_CHARACTER = re.compile(r"[A-Za-z0-9_-]")
_INSIDE_CODE = re.compile(r"[/.][A-Za-z0-9_]|\.?/")


@dataclass(frozen=True, slots=True)
class Origin:
    """The programs that a log may be of. `known` are ids of the taxonomy, `others` foreign programs, both by number of
    mentions, most first.

    `own_code`: some frames are in an unknown program, such as a private script. `guessed`: no program is a listed one.
    `together`: frameworks of which a log that names `known` may be as well, as parts of one system are.
    """

    known: tuple[str, ...]
    others: tuple[str, ...]
    own_code: bool
    guessed: bool = False
    together: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The most likely framework or program, or empty."""
        return next(iter(self.known + self.others), "")

    def is_foreign(self, framework: str) -> bool:
        """Whether all evidence of the origin points to another program."""
        found = self.others or self.own_code or self._excludes(framework)
        return framework not in self.known and bool(found)

    def is_of_another(self, framework: str) -> bool:
        """Whether the log is of another framework, or of another program that is listed."""
        listed = self.others and not self.guessed
        return self.is_foreign(framework) and bool(listed or self._excludes(framework))

    def _excludes(self, framework: str) -> bool:
        return bool(self.known) and framework not in self.together

    def prior(self, framework: str) -> float:
        if self.is_foreign(framework):
            return FOREIGN
        return OWN if framework in self.known else 0.0


class OriginFinder:
    """Finds the origin of a log among the frameworks of a taxonomy and other programs."""

    def __init__(self, frameworks: Mapping[str, Tag], programs: Programs) -> None:
        own = {tag.id: programs.by_id.get(tag.id) or _program_of(tag) for tag in frameworks.values()}
        self._known = frozenset(own)
        # Nobody says that the logs of these are apart from one another: a service uses a database and a queue.
        parts = (
            each for each in own if each not in programs.by_id or programs.by_id[each].role is Role.COMPONENT
        )
        self._parts = frozenset(parts)
        named = {name for program in own.values() for name in (*program.names, *program.folders)}
        rest = [program for program in programs.by_id.values() if program.id not in own]
        # A program that a team has entries about counts as its own, whatever programs.yaml says.
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

    def find(self, parsed: ParsedLog, told: str = "") -> Origin:
        """Count the evidence for each program; `told` is the framework that the user names, if any."""
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
                votes[program.id] += _count_mentions(program, text, folded)
        votes[told] += _TOLD if told else 0
        ranked = [(name, count) for name, count in votes.most_common() if count]
        known = [(name, count) for name, count in ranked if name in self._known or name == told]
        others = tuple(name for name, _ in ranked if name not in self._known and name != told)
        named = tuple(name for name, count in known if count * _ASIDE > known[0][1])
        return Origin(
            known=named,
            others=others,
            own_code=own_code,
            guessed=self._listed.isdisjoint(others),
            together=self._parts if self._parts.issuperset(named) else frozenset(),
        )

    def _owner(self, path: str) -> str | None:
        """Return the framework or program that a file belongs to; empty for a component, None for a private script."""
        if found := self._own_folders.first(path) or self._other_folders.first(path):
            return found
        if package := self._installed.search(path):
            return "" if self._shared_folders.first(path) else package["package"].removesuffix(".py")
        if not path or self._standard.search(path) or self._shared_folders.first(path):
            return ""
        return None


class _Folders:
    """Finds the folders of some programs in paths."""

    def __init__(self, programs: Iterable[Program]) -> None:
        self._owners = {folder: program.id for program in programs for folder in program.folders}
        self._plain = _paths((folder for folder in self._owners if "*" not in folder), "(?=[/.])")
        self._wild = [
            (_paths([folder], "(?=[/.])"), owner) for folder, owner in self._owners.items() if "*" in folder
        ]

    def first(self, path: str) -> str:
        """Return the program of the outermost known folder in a path, or empty."""
        if found := self._plain.search(path):
            return self._owners.get(found["folder"], "")
        return next((owner for pattern, owner in self._wild if pattern.search(path)), "")


def _paths(folders: Iterable[str], behind: str = "", package: str = "") -> re.Pattern[str]:
    """Compile a pattern of any of `folders` in a path, longer ones first, followed by `behind` and `package`."""
    lines = map(folder_line, sorted(folders, key=len, reverse=True))
    patterns = (expression(parts_of(line, FOLDERS), FOLDERS, behind) for line in lines)
    return re.compile(rf"(?:^|(?<=/))(?P<folder>{'|'.join(patterns) or '(?!)'}){package}")


def _program_of(tag: Tag) -> Program:
    """Describe a framework that programs.yaml lacks by its id and its repository's name."""
    names = [tag.id.casefold()]
    if tag.repository:
        names.append(tag.repository.rstrip("/").rpartition("/")[2].removesuffix(".git").casefold())
    return Program(tag.id, Role.FRAMEWORK, tuple(dict.fromkeys(names)), tuple(dict.fromkeys(names)))


def _anchors(program: Program) -> frozenset[str]:
    """Return a word of each name: a log without any of them does not mention the program."""
    names = (*program.names, *program.folders, *map(str.casefold, program.classes))
    return frozenset(max(name.split(), key=len) for name in names)


def _count_mentions(program: Program, text: str, folded: str) -> int:
    """Count how often a log names a program. A name that is an ordinary word counts only in code and in capitals."""
    classes = max((_mentions(text, name) for name in program.classes), default=0)
    if program.word:
        return max((*(_mentions(folded, name) for name in program.names), classes))
    in_code = max(_mentions(folded, name, in_code=True) for name in (*program.names, *program.folders))
    return max(in_code, classes) or min(1, max(_mentions(text, name.upper()) for name in program.names))


def _mentions(text: str, name: str, *, in_code: bool = False) -> int:
    """Count `name` in `text` as a separate word, or (`in_code`) as a folder or package; up to _MOST_MENTIONS."""
    count = place = 0
    while count < _MOST_MENTIONS and (place := text.find(name, place)) >= 0:
        end = place + len(name)
        before, after = text[place - 1 : place], text[end : end + 1]
        alone = not (_NAME_CHARACTER.match(before) or _NAME_CHARACTER.match(after))
        count += alone and (not in_code or before == "/" or bool(_INSIDE_CODE.match(text, end)))
        place = end
    return count
