"""Every installed dependency may be used, and what is shipped may be shipped, under Apache-2.0."""

import re
from importlib.metadata import PackageMetadata, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent

PERMISSIVE = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "ISC",
        "MIT",
        "MIT-0",
        "PSF-2.0",
        "Unlicense",
        "Zlib",
    }
)
DEVELOPMENT = PERMISSIVE | {"MPL-2.0"}

CLASSIFIERS = {
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: ISC License (ISCL)": "ISC",
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "License :: OSI Approved :: Python Software Foundation License": "PSF-2.0",
}
FREE_TEXT = {
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "MIT License": "MIT",
    "Two-clause BSD license": "BSD-2-Clause",
}
"""What the metadata of older packages says instead of an SPDX expression."""

READ_BY_HAND = {
    "axe-playwright-python": "MIT AND MPL-2.0",  # its LICENSE file is MIT; the axe-core it carries is MPL-2.0
}


def locked(name: str) -> set[str]:
    """The names of the packages that a lock file installs on this interpreter and platform."""
    lines = (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines()
    pins = (Requirement(line.rstrip(" \\")) for line in lines if re.match(r"[a-z0-9]", line))
    return {canonicalize_name(pin.name) for pin in pins if pin.marker is None or pin.marker.evaluate()}


def stated(metadata: PackageMetadata, field: str) -> str:
    """A field of the metadata, or empty."""
    return str(metadata[field]) if field in metadata else ""


def license_of(metadata: PackageMetadata) -> str:
    """An SPDX expression, as stated or as the classifiers or the free text have it; empty where none says."""
    if expression := stated(metadata, "License-Expression"):
        return expression
    named = [CLASSIFIERS[line] for line in metadata.get_all("Classifier", []) if line in CLASSIFIERS]
    text = stated(metadata, "License").strip()
    fallback = READ_BY_HAND.get(canonicalize_name(metadata["Name"]), "")
    return " AND ".join(named) or FREE_TEXT.get(text, text) or fallback


def allowed(expression: str, licenses: frozenset[str]) -> bool:
    """Whether each part of an `AND` has an alternative of its `OR` among `licenses`."""
    choices = (part.strip("() ").split(" OR ") for part in expression.split(" AND "))
    return bool(expression) and all(any(name.strip("() ") in licenses for name in names) for names in choices)


@pytest.mark.parametrize("name", sorted(locked("runtime.txt")))
def test_what_is_shipped_is_permissive(name: str) -> None:
    expression = license_of(distribution(name).metadata)
    assert allowed(expression, PERMISSIVE), f"{name}: {expression!r} is not on the list"


@pytest.mark.parametrize("name", sorted(locked("dev.txt") - locked("runtime.txt")))
def test_what_is_used_in_development_may_be_used(name: str) -> None:
    expression = license_of(distribution(name).metadata)
    assert allowed(expression, DEVELOPMENT), f"{name}: {expression!r} is not on the list"


@pytest.mark.parametrize("name", sorted(READ_BY_HAND))
def test_a_license_is_read_by_hand_only_where_the_metadata_is_silent(name: str) -> None:
    metadata = distribution(name).metadata
    assert not stated(metadata, "License-Expression")
    assert not stated(metadata, "License")
    assert not [line for line in metadata.get_all("Classifier", []) if line.startswith("License ::")]


@pytest.mark.parametrize(
    "expression", ["GPL-3.0-only", "MIT AND GPL-2.0-or-later", "", "AGPL-3.0-only OR Commercial"]
)
def test_a_copyleft_or_silent_package_is_refused(expression: str) -> None:
    assert not allowed(expression, DEVELOPMENT)


def test_the_image_installs_what_the_licenses_were_checked_for() -> None:
    assert "requirements/runtime.txt" in (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert locked("runtime.txt") <= locked("dev.txt")
