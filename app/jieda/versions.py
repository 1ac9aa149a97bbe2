"""Versions: which ones an entry holds for, and which ones a text mentions. Only this module imports packaging."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from jieda.entry import Validity, fold_program
from jieda.errors import BadVersion

MAX_CHARS = 100
"""Maximum length of a version or range in an entry."""
_NUMBER = r"v?([0-9]{1,6}(?:\.[0-9]{1,6}){1,4}(?:\.?(?:a|b|rc)[0-9]{1,6})?(?:\.?post[0-9]{1,6})?(?:\.?dev[0-9]{1,6})?)"
_BETWEEN = r"(?: ?@ ?[^\s@]{1,300}@|[ \t]?(?:[=:(-]{1,2}[ \t]?|[ \t]|version[ \t]?[:=]?[ \t]?){1,2})"
"""The text between name and version in `name==1.2`, `name @ git+https://…@v1.2`, `name-1.2.dist-info` and
`name version: 1.2`."""
_PROGRAM_AND_VERSION = re.compile(r"\s*([A-Za-z][\w.-]{0,60}?)[\s=:@-]{1,5}(v?\d\S{0,40})\s*", re.ASCII)

Packages = Mapping[str, str]
"""The program of each package that is named differently: `pai-chatlearn` is ChatLearn. Names are folded."""


def fault_of_range(text: str) -> str:
    """Return the error in a range such as `>=0.2,<0.3`; empty if it is valid."""
    return _fault(text, SpecifierSet, "must be a range such as '>=0.2,<0.3'")


def fault_of_version(text: str) -> str:
    """Return the error in a version such as `0.3.0`; empty if it is valid."""
    return _fault(text, Version, "must be a version such as '0.3.0'")


def _fault(text: str, parse: Callable[[str], object], rule: str) -> str:
    with suppress(ValueError):
        if 0 < len(text) <= MAX_CHARS and parse(text):
            return ""
    return f"{rule}; it is {text[:MAX_CHARS]!r}"


def program_of(name: str, packages: Packages) -> str:
    """Return the folded name of the program that a name, its own or that of a package, stands for."""
    folded = fold_program(name)
    return packages.get(folded, folded)


def parse_version(text: str, packages: Packages) -> tuple[str, Version]:
    """Parse program and version of `slime 0.2.4`, `slime==0.2.4` or `slime:v0.2.4`. Raises BadVersion."""
    if match := _PROGRAM_AND_VERSION.fullmatch(text):
        with suppress(InvalidVersion):
            return program_of(match[1], packages), Version(match[2])
    raise BadVersion(field="version", value=text[:100])


def find_versions(text: str, program: str, packages: Packages) -> Iterator[Version]:
    """Yield the versions of a program that occur in a log, a list of packages or a question."""
    owner = program_of(program, packages)
    for name in dict.fromkeys((owner, *(package for package, its in packages.items() if its == owner))):
        parts = re.split(r"[-_.]", name)
        if parts[0].casefold() in text.casefold():
            pattern = "[-_.]".join(map(re.escape, parts))
            for match in re.finditer(
                rf"(?<![\w.-]){pattern}{_BETWEEN}{_NUMBER}(?![\d])", text, re.IGNORECASE
            ):
                yield Version(match[1])


def ruled_out(held: Iterable[str], asked: Iterable[str], packages: Packages) -> tuple[str, ...]:
    """Return those of `held`, values of `Validity.holds`, that exclude every version of their program that is asked
    for, if any is. Raises BadVersion."""
    named = [parse_version(text, packages) for text in asked]

    def excludes(holds: str) -> bool:
        program = program_of(holds.partition(" ")[0], packages)
        return _excludes(holds, [version for name, version in named if name == program])

    return tuple(filter(excludes, held))


def _excludes(holds: str, versions: Sequence[Version]) -> bool:
    _, valid_range, fixed_in = holds.split(" ")
    fitting = SpecifierSet(valid_range).filter(versions, prereleases=True)
    return bool(versions) and not any(not fixed_in or version < Version(fixed_in) for version in fitting)


def doubtful_version(validity: Validity, text: str, packages: Packages) -> str:
    """Return the program and version, such as `slime 0.2.4`, of which a text mentions only versions that the entry does
    not hold for; otherwise empty."""
    for holds in validity.holds:
        program = holds.partition(" ")[0]
        versions = list(find_versions(text, program, packages))
        if _excludes(holds, versions):
            return f"{program} {versions[0]}"
    return ""
