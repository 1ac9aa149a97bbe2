"""The order in which entries stand on a page of all of them: by framework, then by the version they apply to."""

import re

from jieda.entry import Language, Summary
from jieda.taxonomy import Taxonomy

VERSION = re.compile(r"v?(\d+(?:\.\d+)*)\b", re.ASCII)
"""The version that what an entry applies to begins with, behind the name of its framework."""

LARGEST = (1 << 64) - 1
"""What a part of a version counts at most."""


def shelf_key(summary: Summary, lang: Language, taxonomy: Taxonomy) -> bytes:
    """Sorts frameworks in the order of the taxonomy; what holds for any version, then the latest version first; then
    by title; then the latest change first."""
    framework, edition = summary.framework, summary.edition(lang)
    frameworks = list(taxonomy.framework)
    known = framework in taxonomy.framework
    name = taxonomy.framework[framework].name[lang] if known else framework
    newest = version_of(beside_framework(name, edition.applies_to))
    pieces = [_number(frameworks.index(framework) if known else len(frameworks)), framework.encode(), b"\0"]
    # Where one version goes on behind the other, the end of the shorter one comes first.
    pieces += [b"\1" + _number(LARGEST - min(part, LARGEST)) for part in newest]
    pieces += [b"\0", edition.title.encode("utf-8", "surrogatepass"), b"\0"]
    return b"".join(pieces) + _number(LARGEST - summary.updated.toordinal())


def _number(number: int) -> bytes:
    """A number in a form that sorts as it does."""
    return number.to_bytes(8, "big")


def version_of(applies_to: str) -> tuple[int, ...]:
    """The version that a text begins with, empty where it begins with none."""
    found = VERSION.match(applies_to)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def beside_framework(name: str, applies_to: str) -> str:
    """What `applies_to` says beyond the name of the framework that stands before it on the page.

    "ChatLearn 1.0 on DLC" beside "ChatLearn" is "1.0 on DLC"; "slime" beside "slime" is nothing.
    """
    rest = applies_to[len(name) :]
    if not applies_to.casefold().startswith(name.casefold()) or re.match(r"[\w.-]", rest, re.ASCII):
        return applies_to
    rest = rest.strip(" ,，:：;；")
    inside = re.fullmatch(r"[(（]([^()（）]*)[)）]", rest)
    return inside[1] if inside else rest
