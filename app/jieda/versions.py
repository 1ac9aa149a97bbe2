"""Versions of programs, of entries and in texts. No other module uses the library packaging."""

import re
from collections.abc import Iterable, Iterator, Mapping

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from jieda.entry import Validity
from jieda.errors import BadVersion

MAX_CHARS = 100
"""Maximum length of a version or range in an entry."""
_NUMBER = r"v?(\d{1,6}(?:\.\d{1,6}){1,4}(?:(?:\.?(?:a|b|rc|post|dev))\d{1,6}){0,2})"
_BETWEEN = r"(?: ?@ ?[^\s@]{1,300}@|[ \t]?(?:[=:(-]{1,2}[ \t]?|[ \t]|version[ \t]?[:=]?[ \t]?){1,2})"
"""The text between name and version in `name==1.2`, `name @ git+https://…@v1.2`, `name-1.2.dist-info` and
`name version: 1.2`."""
_ASKED = re.compile(r"\s*([A-Za-z][\w.-]{0,60}?)[\s=:@-]{1,5}(v?\d\S{0,40})\s*", re.ASCII)

Packages = Mapping[str, str]
"""The program of each package with another name: `pai-chatlearn` is ChatLearn."""


def fault_of_range(text: str) -> str:
    """Return the error in a range such as `>=0.2,<0.3`; empty if it is valid."""
    try:
        return "" if SpecifierSet(_short(text)) else "is empty"
    except ValueError:
        return f"must be a range such as '>=0.2,<0.3'; it is {text[:MAX_CHARS]!r}"


def fault_of_version(text: str) -> str:
    """Return the error in a version such as `0.3.0`; empty if it is valid."""
    try:
        Version(_short(text))
    except ValueError:
        return f"must be a version such as '0.3.0'; it is {text[:MAX_CHARS]!r}"
    return ""


def _short(text: str) -> str:
    if len(text) > MAX_CHARS:
        raise ValueError
    return text


def parse_version(text: str, packages: Packages) -> tuple[str, Version]:
    """Parse program and version of `slime 0.2.4`, `slime==0.2.4` or `slime:v0.2.4`. Raises BadVersion."""
    if found := _ASKED.fullmatch(text):
        name = re.sub("[-_.]+", "-", found[1]).casefold()
        try:
            return packages.get(name, name), Version(found[2])
        except InvalidVersion:
            pass
    raise BadVersion(field="version", value=text[:100])


def find_versions(text: str, program: str, packages: Packages) -> Iterator[Version]:
    """Yield the versions of a program that occur in a log, a list of packages or a question."""
    for called in (program, *(package for package, of in packages.items() if of == program)):
        parts = re.split(r"[-_.]", called)
        if parts[0].casefold() in text.casefold():
            name = "[-_.]".join(map(re.escape, parts))
            for found in re.finditer(rf"(?<![\w.-]){name}{_BETWEEN}{_NUMBER}(?![\d])", text, re.IGNORECASE):
                yield Version(found[1])


def rules_out(holds: str, told: Iterable[tuple[str, Version]]) -> bool:
    """Whether one of `Validity.holds` excludes all versions of its program in `told`, and there is at least one."""
    program, held, fixed = holds.split(" ")
    versions = [version for name, version in told if name == program]
    return bool(versions) and not any(_holds(held, fixed, each) for each in versions)


def doubtful_version(validity: Validity, text: str, packages: Packages) -> str:
    """Return a program and version in a text, such as `slime 0.2.4`, if an entry holds for none that the text has of
    this program; otherwise empty."""
    for holds in validity.holds:
        program = holds.partition(" ")[0]
        told = [(program, each) for each in find_versions(text, program, packages)]
        if rules_out(holds, told):
            return f"{program} {told[0][1]}"
    return ""


def _holds(held: str, fixed: str, version: Version) -> bool:
    return SpecifierSet(held).contains(version, prereleases=True) and (not fixed or version < Version(fixed))
