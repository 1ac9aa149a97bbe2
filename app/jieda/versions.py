"""Versions of programs: those that an entry holds for, and those that a text says. The one door to packaging."""

import re
from collections.abc import Iterator

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from jieda.entry import Validity

_NUMBER = r"v?(\d{1,6}(?:\.\d{1,6}){1,4}(?:(?:\.?(?:a|b|rc|post|dev))\d{1,6}){0,2})"
_BETWEEN = r"(?: ?@ ?[^\s@]{1,300}@|[ \t]?(?:[=:(-]{1,2}[ \t]?|[ \t]|version[ \t]?[:=]?[ \t]?){1,2})"
"""Stands in `name==1.2`, `name @ git+https://…@v1.2`, `name-1.2.dist-info` and `name version: 1.2`."""


def fault_of_range(text: str) -> str:
    """What is wrong with a range such as `>=0.2,<0.3`; empty where nothing is."""
    try:
        return "" if SpecifierSet(text) else "is empty"
    except InvalidSpecifier:
        return f"must be a range such as '>=0.2,<0.3'; it is {text!r}"


def fault_of_version(text: str) -> str:
    """What is wrong with a version such as `0.3.0`; empty where nothing is."""
    try:
        Version(text)
    except InvalidVersion:
        return f"must be a version such as '0.3.0'; it is {text!r}"
    return ""


def told_versions(text: str, program: str) -> Iterator[Version]:
    """The versions of a program that a log, a list of packages or a question says."""
    parts = re.split(r"[-_.]", program)
    if parts[0].casefold() not in text.casefold():
        return
    name = "[-_.]".join(map(re.escape, parts))
    for found in re.finditer(rf"(?<![\w.-]){name}{_BETWEEN}{_NUMBER}(?![\d])", text, re.IGNORECASE):
        yield Version(found[1])


def doubtful_version(validity: Validity, text: str) -> str:
    """The program and version that a text says and an entry does not hold for, such as `slime 0.2.4`; empty where
    there is none. Of a program that is said with several versions, all have to be others than the entry's."""
    for program in {**validity.versions, **validity.fixed_in}:
        told = list(told_versions(text, program))
        if told and not any(_holds(validity, program, each) for each in told):
            return f"{program} {told[0]}"
    return ""


def _holds(validity: Validity, program: str, version: Version) -> bool:
    held = SpecifierSet(validity.versions.get(program, ""))
    fixed = validity.fixed_in.get(program)
    return held.contains(version, prereleases=True) and (not fixed or version < Version(fixed))
