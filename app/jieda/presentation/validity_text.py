"""What an entry says of the versions that it holds for, in words."""

from collections.abc import Callable, Iterator, Mapping

Said = Mapping[str, Mapping[str, str]]
"""As `edition_text.validity_data` and the API have it."""


def applies_to_text(applies_to: str, said: Said, t: Callable[..., str]) -> str:
    """What an entry applies to, in one line with its versions; empty where it says nothing of that."""
    parts = [*([applies_to] if applies_to else []), *validity_texts(said, t)]
    return t("diagnosis.applies_to", text=t("list.semicolon").join(parts)) if parts else ""


def validity_texts(said: Said, t: Callable[..., str]) -> Iterator[str]:
    """The versions of each program, those that it was mended in, and when somebody last made sure."""
    for program, versions in said.get("versions", {}).items():
        yield f"{program} {versions}"
    for program, version in said.get("fixed_in", {}).items():
        yield t("entry.fixed_in", version=f"{program} {version}")
    if verified := said.get("verified"):
        yield t("entry.verified", day=verified["on"], using=verified["with"])
