"""The bill of materials of what is shipped, as CycloneDX 1.6 in JSON, worked out from the lock file alone.

    python requirements/sbom.py [LOCK] > jieda.cdx.json

The same lock gives the same bytes: no clock, no network, nothing of the machine it runs on.
"""

import json
import re
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
VERSION = re.compile(r'^VERSION = "([^"]+)"$', re.MULTILINE)
PIN = re.compile(
    r"^(?P<name>[a-z0-9][\w.-]*)(?:\[[\w,-]+\])?==(?P<version>[^\s;]+)(?: ; (?P<marker>.+?))?(?: \\)?$"
)
"""A row of the lock. Which extras of a package are installed changes nothing of what it is."""
VIA = re.compile(r"^    # (?:via |  )(?P<name>[a-z0-9][\w.-]*)")
"""`# via a`, or below a `# via` of its own `#   a`."""
PROJECT = "jieda"


@dataclass(frozen=True, slots=True)
class Package:
    """A row of the lock. `marker`: where it is installed, or empty for everywhere; `needed_by`: who asks for it."""

    name: str
    version: str
    marker: str
    needed_by: tuple[str, ...]

    @property
    def purl(self) -> str:
        """Its name among all packages of the world."""
        return f"pkg:pypi/{normal(self.name)}@{self.version}"


def normal(name: str) -> str:
    """A package's name as the index knows it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def packages(lock: str) -> list[Package]:
    """The packages of a lock as `uv pip compile` writes it, in its order."""
    blocks = re.split(r"^(?=[a-z0-9])", lock, flags=re.MULTILINE)[1:]
    found = []
    for block in blocks:
        first, *rest = block.splitlines()
        pin = PIN.match(first)
        if pin is None:
            raise ValueError(f"this is no pin: {first}")
        needed_by = tuple(dict.fromkeys(normal(via["name"]) for line in rest if (via := VIA.match(line))))
        found.append(Package(pin["name"], pin["version"], pin["marker"] or "", needed_by))
    return found


def bill(locked: list[Package], version: str) -> dict[str, Any]:
    """The document."""
    root = f"pkg:generic/{PROJECT}@{version}"
    needs: dict[str, list[str]] = {ref: [] for ref in (root, *(each.purl for each in locked))}
    refs: dict[str, list[str]] = {PROJECT: [root]}
    for each in locked:
        refs.setdefault(normal(each.name), []).append(each.purl)
    for each in locked:
        for name in each.needed_by:
            for ref in refs[name]:
                needs[ref].append(each.purl)
    body: dict[str, Any] = {
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": root,
                "name": PROJECT,
                "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": [component(each) for each in locked],
        "dependencies": [{"ref": ref, "dependsOn": sorted(set(on))} for ref, on in needs.items()],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(body, sort_keys=True))
    head = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
    }
    return head | body


def component(package: Package) -> dict[str, Any]:
    """A package in the document."""
    shown: dict[str, Any] = {
        "type": "library",
        "bom-ref": package.purl,
        "name": package.name,
        "version": package.version,
        "purl": package.purl,
        "scope": "optional" if package.marker else "required",
    }
    if package.marker:
        shown["properties"] = [{"name": "jieda:marker", "value": package.marker}]
    return shown


def main() -> None:
    """Prints the bill of a lock, by default of what is shipped."""
    lock = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "runtime.txt"
    found = VERSION.search((HERE.parent / "app" / "jieda" / "version.py").read_text(encoding="utf-8"))
    if found is None:
        sys.exit("app/jieda/version.py says no version")
    document = bill(packages(lock.read_text(encoding="utf-8")), found[1])
    json.dump(document, sys.stdout, indent=1, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
