"""The versions that an entry holds for, in words."""

from collections.abc import Callable, Iterator, Mapping

ActionResult = Mapping[str, Mapping[str, str]]
"""In the form of `edition_text.validity_data` and the API."""


def applies_to_text(applies_to: str, said: ActionResult, t: Callable[..., str]) -> str:
    """Return what an entry applies to and its versions, in one line; empty where it gives neither."""
    parts = [*([applies_to] if applies_to else []), *validity_texts(said, t)]
    return t("diagnosis.applies_to", text=t("list.semicolon").join(parts)) if parts else ""


def validity_texts(said: ActionResult, t: Callable[..., str]) -> Iterator[str]:
    """Yield the versions of each program, the versions with a fix, and the last verification."""
    for program, versions in said.get("versions", {}).items():
        yield f"{program} {versions}"
    for program, version in said.get("fixed_in", {}).items():
        yield t("entry.fixed_in", version=f"{program} {version}")
    if verified := said.get("verified"):
        yield t("entry.verified", day=verified["on"], using=verified["with"])
