"""The documents say what is there, all of it, the same in both languages."""

import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from string import Template

import click
import pytest
from jieda.cli.launch import PROGRAMS
from jieda.cli.main import main
from jieda.content.markdown.links import SECTIONS
from jieda.content.read.forms import FIELDS
from jieda.diagnosis.answers import Confidence, Verdict
from jieda.settings import TABLE, as_text, env_of
from jieda.signature import SIGNATURES
from jieda.version import VERSION
from jieda.web.pages.agents import SETUPS
from markdown_it import MarkdownIt

from bench import figures
from bench.diagnosis import ABLATIONS
from tests import test_architecture
from tests.support.command import jieda
from tests.support.shipped import copy_data

ROOT = Path(__file__).resolve().parent.parent
TWINS = (
    "CHANGELOG.md",
    "README.md",
    "CONTRIBUTING.md",
    "docs/agents.md",
    "docs/architecture.md",
    "docs/content-format.md",
    "docs/decisions.md",
    "docs/design-language.md",
    "docs/diagnosis.md",
    "docs/embedding.md",
    "docs/figures.md",
    "docs/importing.md",
    "docs/maintaining.md",
    "docs/operations.md",
    "docs/python.md",
    "docs/query-language.md",
    "docs/releasing.md",
    "docs/scaling.md",
    "docs/self-hosting.md",
    "docs/your-own-faq.md",
)
PATH_IN_BACKTICKS = re.compile(
    r"`((?:app|bench|content|docs|requirements|static|tests|trials)/[\w./-]*|[A-Z][\w.-]+\.md)`"
)
PATH = re.compile(r"`([a-z_]+(?:/[\w.-]+)*(?:/|\.(?:py|json|yaml|txt|css|js)))`")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
ANCHOR = re.compile(r"\]\(([^)#\s:]*)#([^)]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def chinese(name: str) -> str:
    return name.removesuffix(".md") + ".zh-CN.md"


@cache
def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def prose(name: str) -> str:
    return FENCE.sub("", read(name))


ARCHITECTURE = ("docs/architecture.md", "docs/architecture.zh-CN.md")
ENGLISH = tuple(name for name in TWINS if (ROOT / name).is_file())
BOTH = tuple(page for name in ENGLISH for page in (name, chinese(name)))


def headings(name: str) -> list[str]:
    return re.findall(r"^(#+) ", prose(name), re.MULTILINE)


def rows(name: str) -> list[int]:
    """How many cells each table row has."""
    return [line.count("|") for line in prose(name).splitlines() if line.startswith("|")]


@pytest.mark.parametrize("name", ENGLISH)
def test_both_languages_have_the_same_outline(name: str) -> None:
    assert headings(name) == headings(chinese(name))
    assert rows(name) == rows(chinese(name))


@pytest.mark.parametrize("name", BOTH)
def test_every_table_row_belongs_to_a_table_with_a_header(name: str) -> None:
    """A blank line ends a table: the rows after it are read as text that begins with a bar."""
    texts = [token.content for token in MarkdownIt("commonmark").enable("table").parse(read(name))]
    assert [line for text in texts for line in text.splitlines() if line.startswith("|")] == []


def test_every_part_that_the_benchmark_of_diagnosis_leaves_out_is_there() -> None:
    """A constant that moved to another module would end `make bench` halfway."""
    parts = [(name, module, constant) for name, (module, values) in ABLATIONS.items() for constant in values]
    assert [(name, constant) for name, module, constant in parts if not hasattr(module, constant)] == []


@pytest.mark.parametrize("name", ["cluster", "importing", "pages", "pictures", "threads"])
def test_a_benchmark_that_lacks_what_it_measures_ends_well(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`make bench` runs all of them, one after the other."""
    monkeypatch.delenv("JIEDA_OPENSEARCH_URL", raising=False)
    monkeypatch.setattr(sys, "argv", [name])
    monkeypatch.delitem(sys.modules, f"bench.{name}", raising=False)
    runpy.run_module(f"bench.{name}", run_name="__main__")
    assert capsys.readouterr().out.startswith("skipped: ")


def commands_of(name: str) -> list[tuple[str, str]]:
    """Code blocks without what is said in the reader's language: comments, and the output of a command,
    which may be in either language."""
    blocks = []
    for language, block in FENCE.findall(read(name)):
        lines = block.splitlines()
        if language == "console":
            lines = [re.sub(r"--lang \w+", "--lang", line) for line in lines if line.startswith("$ ")]
        if language == "text":
            lines = [line.split("  ")[0] for line in lines]
        if language == "sh":
            lines = [re.sub(r"\blang=\w+", "lang=", line) for line in lines]
        blocks.append((language, "\n".join(line.split(" #")[0].rstrip() for line in lines)))
    return blocks


@pytest.mark.parametrize("name", ENGLISH)
def test_both_languages_show_the_same_commands(name: str) -> None:
    assert commands_of(name) == commands_of(chinese(name))


@pytest.mark.parametrize("name", ENGLISH)
def test_each_language_links_to_the_other(name: str) -> None:
    assert f"({Path(chinese(name)).name})" in read(name)
    assert f"({Path(name).name})" in read(chinese(name))


@pytest.mark.parametrize("name", BOTH)
def test_every_file_that_a_page_names_exists(name: str) -> None:
    text = prose(name)
    linked = [
        (ROOT / name).parent / target
        for target in LINK.findall(re.sub(r"`[^`\n]*`", "", text))
        if "://" not in target
    ]
    named = [ROOT / path for path in PATH_IN_BACKTICKS.findall(text) if name not in ARCHITECTURE]
    examples = {
        "content/samples/slime/nccl-timeout",
        "content/en/slime/my-error.md",
        "content/zh/slime/my-error.md",
        "AGENTS.md",
        "SKILL.md",
    }
    missing = [path for path in linked + named if not path.exists()]
    assert [path for path in missing if path.relative_to(ROOT).as_posix() not in examples] == []


@cache
def anchors(path: Path) -> set[str]:
    """What the headings of a page are called in addresses, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", BOTH)
def test_every_heading_that_a_page_links_to_exists(name: str) -> None:
    page = ROOT / name
    linked = ANCHOR.findall(re.sub(r"`[^`\n]*`", "", prose(name)))
    missing = [
        f"{target}#{anchor}"
        for target, anchor in linked
        if anchor not in anchors(page.parent / target if target else page)
    ]
    assert missing == []


@pytest.mark.parametrize("name", ["docs/self-hosting.md", "docs/self-hosting.zh-CN.md"])
def test_the_settings_table_is_the_settings(name: str) -> None:
    described = re.findall(r"^\| `(JIEDA_\w+)` \| ([^|]+) \|", read(name), re.MULTILINE)
    assert [variable for variable, _ in described] == list(map(env_of, TABLE))
    shown = {
        variable: default.strip().split("（")[0].split(" (")[0].strip("`") for variable, default in described
    }
    for setting, field in TABLE.items():
        if not (default := as_text(field.default)).startswith(str(ROOT)):
            assert shown[env_of(setting)] in ({default} if default else {"empty", "空"})


FORMAT = ("docs/content-format.md", "docs/content-format.zh-CN.md")


@pytest.mark.parametrize("name", FORMAT)
def test_the_tables_of_the_content_format_are_what_is_read(name: str) -> None:
    fields = list(FIELDS)
    sections = list(SECTIONS)
    placeholders = [f"{{{each}}}" for each in (*SIGNATURES.closed, *SIGNATURES.open)]
    fields_and_placeholders = read(name).split("\n### taxonomy.yaml")[0]
    listed = re.findall(r"^\| `([^`]+)` \|", fields_and_placeholders, re.MULTILINE)
    assert sorted(listed) == sorted([*fields, *sections, *placeholders])
    assert "".join(f"| `{key}` | {' | '.join(each.values())} |\n" for key, each in SECTIONS.items()) in read(
        name
    )


@pytest.mark.parametrize("name", ["docs/diagnosis.md", "docs/diagnosis.zh-CN.md"])
def test_every_verdict_and_confidence_is_explained(name: str) -> None:
    explained = re.findall(r"^ *- \**`(\w+)`", read(name), re.MULTILINE)
    assert {*Verdict, *Confidence} == set(explained)


@pytest.mark.parametrize("name", ARCHITECTURE)
def test_the_layers_are_those_that_are_held(name: str) -> None:
    rows = [" | ".join(row.removeprefix("jieda.") for row in layer) for layer in test_architecture.LAYERS]
    assert f"\n{' ← '.join(rows)}\n" in read(name)


@pytest.mark.parametrize("name", ARCHITECTURE)
def test_every_module_that_the_architecture_names_exists(name: str) -> None:
    named = PATH.findall(prose(name).split("\n## ", 1)[1])
    assert len(named) > 80
    assert [
        path for path in named if not any((at / path).exists() for at in (ROOT, ROOT / "app/jieda"))
    ] == []


DECISIONS = ("docs/decisions.md", "docs/decisions.zh-CN.md")


def test_every_setting_that_is_named_anywhere_exists() -> None:
    known = set(map(env_of, TABLE)) | {"JIEDA_PUBLISH", "JIEDA_TEAM_CONTENT"}
    for name in (*BOTH, "Dockerfile", "compose.yaml", "Makefile"):
        assert set(re.findall(r"(?<!_)JIEDA_\w+", read(name))) <= known, name  # not click's _JIEDA_COMPLETE


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_data(tmp_path_factory.mktemp("data"))


def shown_commands() -> list[tuple[str, str, str]]:
    """Page, command and output of every command that a page shows with what it prints."""
    blocks = [
        (name, block)
        for name in BOTH
        for language, block in FENCE.findall(read(name))
        if language == "console"
    ]
    pieces = [
        (name, piece) for name, block in blocks for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    ]
    return [(name, *piece.split("\n", 1)) for name, piece in pieces]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "command", "output"), shown_commands())
def test_a_command_prints_what_the_page_shows(
    name: str, command: str, output: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, *arguments = shlex.split(command)
    assert program == ".venv/bin/jieda"
    monkeypatch.chdir(ROOT)
    run = jieda(*arguments, JIEDA_DATA=str(data), NO_COLOR="1")
    assert run.stdout.strip() == output.strip(), f"{name}: {command} prints\n{run.stdout}{run.stderr}"


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):.*## ", read("Makefile"), re.MULTILINE))


def test_every_make_target_says_what_it_does() -> None:
    phony = re.search(r"^\.PHONY: (.+(?:\\\n.+)*)", read("Makefile"), re.MULTILINE)
    assert phony
    assert set(phony[1].replace("\\", "").split()) - {"FORCE"} == make_targets()


def test_every_make_target_that_is_named_exists() -> None:
    for name in (*BOTH, ".ci/run"):
        named = set(re.findall(r"(?:`|^|\s)make ([a-z-]+)\b(?=[`\s]| [A-Z]+=)", code(name), re.MULTILINE))
        assert named <= make_targets(), name


def code(name: str) -> str:
    """Code spans and code blocks of a page; all of a script."""
    text = read(name)
    if not name.endswith(".md"):
        return re.sub(r"^\s*#.*", "", text, flags=re.MULTILINE)
    spans = re.findall(r"`([^`\n]+)`", prose(name))
    return "\n".join([block for _, block in FENCE.findall(text)] + spans)


def test_every_command_is_described_and_every_command_described_exists() -> None:
    commands = set(click.Group.list_commands(main, click.Context(main))) | PROGRAMS.keys()
    named = {
        word for name in BOTH for word in re.findall(r"\bjieda ([a-z]+)\b(?! -f| <|://)", code(name))
    } - {"jieda"}
    assert named <= commands
    for name in ("CHANGELOG.md", "CHANGELOG.zh-CN.md"):
        listed = re.search(r"^- .*`jieda`[^:：\n]*[:：]([^\n]*)", read(name), re.MULTILINE)
        assert listed, name
        assert set(re.findall(r"`(\w+)`", listed.group(1))) == commands


@pytest.mark.parametrize("name", DECISIONS)
def test_every_dependency_has_its_reason(name: str) -> None:
    project = tomllib.loads(read("pyproject.toml"))
    declared = project["project"]["dependencies"] + [
        line for group in project["dependency-groups"].values() for line in group if isinstance(line, str)
    ]
    packages = {re.sub(r"^([\w-]+).*", r"\1", line) for line in declared}
    reasoned = {
        package
        for row in re.findall(r"^\| (`[^|]+) \|", read(name), re.MULTILINE)
        for package in re.findall(r"`([\w-]+)`", row)
    }
    assert packages == reasoned


@pytest.mark.parametrize(("lang", "path"), figures.PAGES.items())
def test_the_page_of_figures_is_what_was_measured(lang: str, path: Path) -> None:
    assert path.read_text(encoding="utf-8") == figures.page(lang, figures.kept())


def test_the_changelog_ends_at_the_version_of_the_package_and_says_nothing_twice() -> None:
    for name in ("CHANGELOG.md", "CHANGELOG.zh-CN.md"):
        assert re.findall(r"^## \[([^]]+)\]", read(name), re.MULTILINE)[0] == VERSION
        # Two branches that extend one line leave both behind when they are merged.
        starts = Counter(re.findall(r"^- (.{30})", read(name), re.MULTILINE))
        assert [start for start, times in starts.items() if times > 1] == []
    assert f'image.version="{VERSION}"' in read("Dockerfile")


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_nothing_names_the_machine_it_was_written_on() -> None:
    # Logs and entries quote paths of their authors' machines, and may.
    quoted = ("content/", "tests/diagnosis/", "tests/fixtures/", "tests/judged")
    places = [str(ROOT), str(Path.home()) if len(Path.home().parts) > 2 else str(ROOT)]
    machine = re.compile("|".join([*map(re.escape, places), r"/(?:home|Users)/[a-z]\w*/"]))
    for name in tracked():
        if not name.startswith(quoted):
            text = (ROOT / name).read_bytes().decode("utf-8", "replace")
            assert not machine.search(text), name


def test_english_has_one_spelling() -> None:
    other = re.compile(r"colour|catalogue|behaviour|favour|neighbour|licence", re.IGNORECASE)
    for name in tracked():
        if name.startswith(("app/", "docs/", "static/")) or "/" not in name:
            text = (ROOT / name).read_bytes().decode("utf-8", "replace")
            assert not other.search(text), name


@pytest.mark.parametrize("name", ["docs/agents.md", "docs/agents.zh-CN.md"])
def test_every_client_is_named_and_those_shown_are_as_on_the_site(name: str) -> None:
    example = {"name": "jieda", "base": "https://faq.example.com", "mcp": "https://faq.example.com/mcp"}
    assert [client for client, _, _ in SETUPS if client not in prose(name)] == []
    shown = [block.strip() for _, block in FENCE.findall(read(name))][:2]
    assert set(shown) <= {Template(code).substitute(example) for _, _, code in SETUPS}
