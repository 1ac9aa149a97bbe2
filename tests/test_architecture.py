"""The laws of the house, read from the source: layers, doors, cycles, hidden imports, size."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "app").rglob("*.py"))

LAYERS: tuple[tuple[str, ...], ...] = (
    ("app.errors", "app.entry", "app.signature"),
    ("app.settings",),
    ("app.analysis", "app.content", "app.metrics"),
    ("app.search",),
    ("app.diagnosis",),
    ("app.knowledge", "app.watch"),
    ("app.web", "app.evaluation"),
    ("app.web.app",),
    ("app.cli",),
)
"""Lowest first. A module imports lower layers or its own package, never a sibling of its layer."""

WEB = ("app.web.",)
DOORS: dict[str, tuple[str, ...]] = {
    "jieba": ("app.analysis.chinese",),
    "opencc": ("app.analysis.normalize",),
    "snowballstemmer": ("app.analysis.",),
    "yaml": ("app.content.yaml_reader",),
    "markdown_it": ("app.content.",),
    "pygments": ("app.content.",),
    "whoosh": ("app.search.embedded",),
    "rapidfuzz": ("app.search.spelling",),
    "jinja2": ("app.web.templating",),
    "markupsafe": WEB,
    "prometheus_client": ("app.metrics",),
    "swagger_ui_bundle": ("app.web.files",),
    "fastapi": WEB,
    "starlette": WEB,
    "pydantic": WEB,
    "pydantic_core": WEB,
    "anyio": WEB,
    "click": ("app.cli.",),
    "uvicorn": ("app.cli.",),
    "numpy": ("app.search.", "app.analysis.english"),
    "spellchecker": ("app.analysis.english",),
}
"""Who may import a third party: a module, or a package that ends in a dot. What is not here nobody imports."""

ONE_DOOR = {
    "jieba",
    "jinja2",
    "markdown_it",
    "opencc",
    "prometheus_client",
    "pygments",
    "rapidfuzz",
    "snowballstemmer",
    "spellchecker",
    "swagger_ui_bundle",
    "uvicorn",
    "whoosh",
    "yaml",
}
MAX_MODULE, MAX_FUNCTION = 300, 50
"""Lines. What we aim at is 250 and 40."""

REASON = re.compile(r"#\s*(noqa(:\s*[A-Z0-9, ]+)?|type:\s*ignore(\[[^\]]+\])?)\s*(?P<reason>.*)")


@cache
def tree(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"), path)


def name_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


NAMES = {name_of(path): path for path in MODULES}


def imports(node: ast.AST) -> Iterator[str]:
    """Every module that the code below `node` imports; `from app.web import ops` names `app.web.ops`."""
    for each in ast.walk(node):
        if isinstance(each, ast.Import):
            yield from (alias.name for alias in each.names)
        elif isinstance(each, ast.ImportFrom):
            assert each.level == 0, f"line {each.lineno}: imports are absolute here"
            assert each.module
            for alias in each.names:
                whole = f"{each.module}.{alias.name}"
                yield whole if whole in NAMES else each.module


def layer(name: str) -> tuple[int, str]:
    """The number of the layer that a module belongs to, and the row of `LAYERS` that says so."""
    found = [
        (len(row), number, row)
        for number, rows in enumerate(LAYERS)
        for row in rows
        if name == row or name.startswith(f"{row}.")
    ]
    assert found, f"{name} belongs to no layer; give it one"
    _, number, row = max(found)
    return number, row


def ours(path: str) -> set[str]:
    return {name for name in imports(tree(path)) if name.partition(".")[0] == "app"}


@pytest.mark.parametrize("path", MODULES)
def test_a_module_imports_lower_layers_or_its_own_package(path: str) -> None:
    if path == "app/__init__.py":
        return
    number, row = layer(name_of(path))
    for other in ours(path):
        below, its_row = layer(other)
        assert below < number or its_row == row, f"{name_of(path)} imports {other}"


@pytest.mark.parametrize("path", MODULES)
def test_pages_and_api_know_nothing_of_each_other(path: str) -> None:
    """They are siblings: what both need lies above them in `app.web`."""
    siblings = {"app/web/pages/": "app.web.api", "app/web/api/": "app.web.pages"}
    for package, sibling in siblings.items():
        found = [name for name in ours(path) if name == sibling or name.startswith(f"{sibling}.")]
        assert not (path.startswith(package) and found), f"{name_of(path)} imports {found}"


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = {name: ours(path) & set(NAMES) for name, path in NAMES.items()}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " → ".join((*trail[trail.index(name) :], name))
        if name not in done:
            for other in sorted(graph[name]):
                visit(other, (*trail, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


@pytest.mark.parametrize("path", MODULES)
def test_third_parties_are_imported_through_their_doors(path: str) -> None:
    for imported in imports(tree(path)):
        party = imported.partition(".")[0]
        if party == "app" or party in sys.stdlib_module_names:
            continue
        assert party in DOORS, f"{path} imports {party}, which has no door"
        allowed = DOORS[party]
        assert any(
            name_of(path) == door or (door.endswith(".") and name_of(path).startswith(door))
            for door in allowed
        ), f"{path} imports {party}; the door is {', '.join(allowed)}"


@pytest.mark.parametrize("party", sorted(ONE_DOOR))
def test_a_door_is_one_module(party: str) -> None:
    users = [path for path in MODULES if party in {name.partition(".")[0] for name in imports(tree(path))}]
    assert len(users) == 1, users


@pytest.mark.parametrize("path", MODULES)
def test_nothing_is_imported_inside_a_function(path: str) -> None:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert not list(imports(node)), f"{path}:{node.lineno}"


@pytest.mark.parametrize("path", [path for path in MODULES if path.endswith("__init__.py")])
def test_a_package_holds_a_docstring_and_no_code(path: str) -> None:
    assert ast.get_docstring(tree(path)), path
    assert len(tree(path).body) == 1, path


@pytest.mark.parametrize("path", MODULES)
def test_modules_and_functions_are_small(path: str) -> None:
    lines = len((ROOT / path).read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_MODULE, f"{path} has {lines} lines"
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            assert size <= MAX_FUNCTION, f"{path}:{node.lineno}: {node.name} has {size} lines"


@pytest.mark.parametrize("path", MODULES)
def test_every_module_and_whatever_is_public_in_it_says_what_it_is(path: str) -> None:
    assert ast.get_docstring(tree(path)), path
    for node in tree(path).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name[0] != "_":
            assert ast.get_docstring(node), f"{path}:{node.lineno}: {node.name}"


@pytest.mark.parametrize("path", MODULES)
def test_no_state_is_global(path: str) -> None:
    for node in ast.walk(tree(path)):
        assert not isinstance(node, ast.Global), f"{path}:{node.lineno}"


@pytest.mark.parametrize("path", MODULES)
def test_an_exemption_gives_its_reason(path: str) -> None:
    for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
        for match in REASON.finditer(line):
            assert match["reason"].strip(" -#"), f"{path}:{number}: {line.strip()}"


@pytest.mark.parametrize("path", MODULES)
def test_a_broad_except_gives_its_reason(path: str) -> None:
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ExceptHandler):
            broad = node.type is None or (
                isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}
            )
            head = "".join(lines[node.lineno - 1 : node.body[0].lineno])
            assert not broad or "#" in head, f"{path}:{node.lineno}"


def test_nothing_of_the_web_knows_where_it_is_hosted_but_urls() -> None:
    """No address is put together by hand: `/api/`, `/en/` and `/static/` stand in no other string."""
    for path in MODULES:
        if path.startswith("app/web/") and path != "app/web/urls.py":
            for node in ast.walk(tree(path)):
                if isinstance(node, ast.JoinedStr):
                    text = "".join(each.value for each in node.values if isinstance(each, ast.Constant))
                    assert not re.search(r"/(api|en|zh|static|entries)/", text), f"{path}:{node.lineno}"
