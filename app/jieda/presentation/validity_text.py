"""The versions that an entry holds for, in words."""

from collections.abc import Callable, Iterator, Mapping

ValidityData = Mapping[str, Mapping[str, str]]
"""In the form of `edition_text.validity_data` and the API."""


def applies_to_text(applies_to: str, data: ValidityData, t: Callable[..., str]) -> str:
    """Return what an entry applies to and its versions, in one line; empty where it gives neither."""
    parts = [*([applies_to] if applies_to else []), *validity_texts(data, t)]
    return t("diagnosis.applies_to", text=t("list.semicolon").join(parts)) if parts else ""


def validity_texts(data: ValidityData, t: Callable[..., str]) -> Iterator[str]:
    """Yield the versions of each program, the versions with a fix, and the last verification."""
    for program, versions in data.get("versions", {}).items():
        yield f"{program} {versions}"
    for program, version in data.get("fixed_in", {}).items():
        yield t("entry.fixed_in", version=f"{program} {version}")
    if verified := data.get("verified"):
        yield t("entry.verified", day=verified["on"], using=verified["with"])
