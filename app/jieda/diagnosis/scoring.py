"""Scores entries for a log, and decides whether a score is enough for an answer.

The program that wrote a log is inferred from paths, packages and names in it; programs are listed in programs.yaml and
the taxonomy.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property, partial
from heapq import merge
from itertools import chain, islice

import numpy as np

from jieda.diagnosis.answers import Confidence, Evidence
from jieda.diagnosis.facts import Array, DiagnosisData, WordReader
from jieda.diagnosis.model import BASE, LogEvidence, PassageEvidence, SignatureRates, WordModel
from jieda.diagnosis.signatures import SignatureHit
from jieda.log.traceback import LogPassages, ParsedLog
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
    """

    known: tuple[str, ...]
    others: tuple[str, ...]
    own_code: bool
    guessed: bool = False

    @property
    def name(self) -> str:
        """The most likely framework or program, or empty."""
        return next(iter(self.known + self.others), "")

    def is_foreign(self, framework: str) -> bool:
        """Whether all evidence of the origin points to another program."""
        return framework not in self.known and bool(self.known or self.others or self.own_code)

    def is_of_another(self, framework: str) -> bool:
        """Whether the log is of another framework, or of another program that is listed."""
        return self.is_foreign(framework) and bool(self.known or (self.others and not self.guessed))

    def prior(self, framework: str) -> float:
        if self.is_foreign(framework):
            return FOREIGN
        return OWN if framework in self.known else 0.0


class OriginFinder:
    """Finds the origin of a log among the frameworks of a taxonomy and other programs."""

    def __init__(self, frameworks: Mapping[str, Tag], programs: Programs) -> None:
        own = {tag.id: programs.by_id.get(tag.id) or _program_of(tag) for tag in frameworks.values()}
        self._known = frozenset(own)
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
        return Origin(
            known=tuple(name for name, count in known if count * _ASIDE > known[0][1]),
            others=others,
            own_code=own_code,
            guessed=self._listed.isdisjoint(others),
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


# Least scores of an answer: log-odds, see `model`.
LIKELY = 0.0
"""More likely right than wrong."""
POSSIBLE = -2.5
"""With a signature that other programs print as well: unknown words suggest that the log is of one of these, and so
count STRANGE times as much there."""
STRANGE = 3.0
WORDS_ALONE = -1.7
UNTROUBLED = -0.5
"""As WORDS_ALONE, in a log without signs of trouble."""

MOST_MATCHES = 5
MOST_POSSIBLE = 3
"""Most weak matches shown: more would not help."""
MOST_NEAR = 3
LOOKED_AT = 20
"""Most entries with shared words that are examined as near misses."""
TIE = 1.5
"""Difference in log-odds between entries of two frameworks below which the log does not tell which is meant."""
MOST_WORDS = 6
CONFIDENCES = tuple(Confidence)
"""Strongest first."""


@dataclass(frozen=True, slots=True)
class Scored:
    """An entry with the `evidence` for and against it, whose log-odds add up to `score`; `confidence` is None if that
    is too little. `shared`: the words of the passage `words` that support it, the strongest first."""

    entry_id: str
    score: float
    confidence: Confidence | None
    evidence: tuple[Evidence, ...]
    hits: Sequence[SignatureHit]
    words: PassageEvidence | None
    shared: tuple[str, ...]
    foreign: bool
    """Whether the log is of another framework than the entry's, and the entry does not apply anywhere."""


@dataclass(frozen=True, slots=True)
class Scores:
    """The entries that have something in common with a log.

    `signed` entries have a signature in it. Words alone may support thousands of others: `enough` are those with enough
    evidence for an answer; `sharing` yields those with enough words to be near, best first, and scores each on demand,
    once.
    """

    signed: Sequence[Scored]
    enough: Sequence[Scored]
    sharing: Iterator[Scored]

    def best(self) -> list[Scored]:
        """Return the matches to show: best first, only a few weak ones."""
        found = [each for each in (*self.signed, *self.enough) if each.confidence and not each.foreign]
        found.sort(key=lambda each: (CONFIDENCES.index(each.confidence), -each.score, each.entry_id))
        weak = [each for each in found if each.confidence is Confidence.POSSIBLE]
        sure = found[: len(found) - len(weak)]
        return (sure + weak[: max(0, MOST_POSSIBLE - len(sure))])[:MOST_MATCHES]

    def nearest(self, is_near: Callable[[Scored], bool]) -> list[Scored]:
        """Return near misses, for a log without matches: first entries that explain the same failure for another
        framework, then the best of those that pass `is_near`."""

        def rank(one: Scored) -> tuple[float, str]:
            return -one.score, one.entry_id

        ranked = merge(sorted(self.signed, key=rank), self.sharing, key=rank)
        foreign = sorted((each for each in self.signed if each.foreign and each.confidence), key=rank)
        named = {each.entry_id for each in foreign}
        near = (each for each in islice(ranked, LOOKED_AT) if each.entry_id not in named and is_near(each))
        return list(islice(chain(foreign, near), MOST_NEAR))


@dataclass(frozen=True, slots=True)
class _LogFacts:
    """Facts of a log. `hits`: signatures by entry; `hits_on`: by index of a line that has one of their places;
    `explain_root`: the entries with a signature in its first failure."""

    words: LogEvidence
    hits: Mapping[str, list[SignatureHit]]
    hits_on: Mapping[int, list[SignatureHit]]
    origin: Origin
    priors: Array
    troubled: bool
    explain_root: Set[str]


class Scorer:
    """Scores entries by signatures, words and origin."""

    def __init__(self, known: DiagnosisData, words: WordReader) -> None:
        self._rates = SignatureRates(known)
        self.words = WordModel(known.words, known.background, words)
        self._ids, self._anywhere = known.words.ids, known.anywhere

    def scores(
        self,
        shown: LogPassages,
        hits: Mapping[str, list[SignatureHit]],
        origin: Origin,
        root: frozenset[int] = frozenset(),
    ) -> Scores:
        """Score the entries. `hits`: the signatures found, by entry; `root`: indices of the first failure's lines."""
        words = self.words.weigh(shown.passages)
        explain_root = {each for each, own in hits.items() if any(hit.touches(root) for hit in own)}
        hits_on: dict[int, list[SignatureHit]] = {}
        for hit in chain.from_iterable(hits.values()):
            for line in {place.line for place in hit.places}:
                hits_on.setdefault(line, []).append(hit)
        priors = self._priors(origin)
        log = _LogFacts(words, hits, hits_on, origin, priors, shown.troubled, explain_root)
        score = partial(self._score, log=log)
        signed = [bisect_left(self._ids, entry_id) for entry_id in hits]
        sums = (BASE + priors) + words.log_odds
        unsigned = np.isfinite(sums)
        unsigned[signed] = False
        enough = np.flatnonzero(unsigned & (sums >= (WORDS_ALONE if shown.troubled else UNTROUBLED)))
        sharing = np.flatnonzero(unsigned & words.supported)
        ranked = sharing[np.argsort(-sums[sharing], kind="stable")]
        return Scores([*map(score, signed)], [*map(score, enough.tolist())], map(score, ranked.tolist()))

    @cached_property
    def _frameworks(self) -> tuple[Sequence[str], Array, Array]:
        """The frameworks of the entries, the index of each entry's framework, and whether each applies anywhere."""
        names, places = np.unique([each.partition("/")[0] for each in self._ids], return_inverse=True)
        return names.tolist(), places, np.array([each in self._anywhere for each in self._ids])

    def _priors(self, origin: Origin) -> Array:
        """Return the prior of each entry, by its index: never negative for one that applies anywhere."""
        names, places, anywhere = self._frameworks
        priors = np.array([origin.prior(name) for name in names])[places]
        return np.where(anywhere, np.maximum(priors, 0.0), priors)

    def _score(self, place: int, *, log: _LogFacts) -> Scored:
        entry_id, words = self._ids[place], log.words.passage(place)
        own = log.hits.get(entry_id, [])
        known = self._weigh_origin_and_signature(place, own, log)
        score = sum(each.log_odds for each in known) + (float(log.words.log_odds[place]) if words else 0.0)
        shared = words.shared(place) if words else ()
        said = _evidence_of_words(words, place, shared) if words else ()
        foreign = entry_id not in self._anywhere and log.origin.is_foreign(entry_id.partition("/")[0])
        unheard = words.unheard if words else 0.0
        confidence = _confidence(score, unheard, found=bool(own), foreign=foreign, troubled=log.troubled)
        if self._has_own_signature(entry_id, log):
            # Another entry explains the first failure of the log.
            secondary = bool(log.explain_root) and entry_id not in log.explain_root
            confidence = Confidence.LIKELY if foreign or secondary else Confidence.EXACT
        of_another = foreign and log.origin.is_of_another(entry_id.partition("/")[0])
        return Scored(entry_id, score, confidence, (*known, *said), own, words, shared, of_another)

    def _weigh_origin_and_signature(
        self, place: int, own: Sequence[SignatureHit], log: _LogFacts
    ) -> list[Evidence]:
        """Return the evidence other than words; of the `own` signatures of the entry, the best one counts."""
        known = [Evidence("base", "", BASE), Evidence("origin", log.origin.name, float(log.priors[place]))]
        if own:
            odds = [self._rates.log_odds(hit.event) for hit in own]
            best = max(odds)
            known.append(Evidence("signature", own[odds.index(best)].text, best))
        return known

    def _has_own_signature(self, entry_id: str, log: _LogFacts) -> bool:
        """Whether a signature of the entry is one that no other program prints: its author vouches for it."""
        return any(
            not (hit.likely or self._rates.is_shared(hit.event) or _is_inside_another(hit, log))
            for hit in log.hits.get(entry_id, ())
        )


def _is_inside_another(hit: SignatureHit, log: _LogFacts) -> bool:
    """Whether a signature of another entry covers all places of a hit."""
    rivals = log.hits_on[hit.places[0].line]
    return any(rival.entry_id != hit.entry_id and rival.covers(hit) for rival in rivals)


def _evidence_of_words(words: PassageEvidence, place: int, shared: Sequence[str]) -> Iterator[Evidence]:
    yield Evidence("words", ", ".join(shared[:MOST_WORDS]), float(words.log_odds[place]))
    if words.against:
        yield Evidence("background", words.rival, words.against)
    if words.unheard:
        yield Evidence("unheard", "", words.unheard)


def _confidence(
    score: float, unheard: float, *, found: bool, foreign: bool, troubled: bool
) -> Confidence | None:
    """Return the confidence of a score without a signature that only the entry has; `found`: it has a shared one.

    A shared signature proves little in the logs of other programs, and words prove little where nothing went wrong.
    """
    enough = (
        score >= LIKELY or score + (STRANGE - 1) * unheard >= POSSIBLE
        if found
        else score >= (WORDS_ALONE if troubled else UNTROUBLED)
    )
    if not enough:
        return None
    weak = score < LIKELY or (found and foreign) or not (found or troubled)
    return Confidence.POSSIBLE if weak else Confidence.LIKELY
