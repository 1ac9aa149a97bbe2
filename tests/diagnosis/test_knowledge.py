"""What diagnosis knows of logs comes from the content: none of it stands in the source."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import requires
from pathlib import Path

import pytest
from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.content.library import Library
from jieda.content.read.load import Loaded
from jieda.diagnosis.answers import Confidence
from jieda.diagnosis.diagnose import Diagnoser
from jieda.diagnosis.words import WordReader
from jieda.entry import Language
from jieda.errors import ContentError
from jieda.evaluation.figures import read_judged
from jieda.log.formats import compile_formats
from jieda.log.lines import fold
from jieda.log.traceback import parse

from bench.made import collect
from tests.log.reading import CONTENT, KNOWLEDGE, knowledge_of

ROOT = CONTENT.parent
OPERATIONS = ROOT / "tests" / "fields" / "operations"
APP = ROOT / "app" / "jieda"
WORD = re.compile(r"[A-Za-z_]{7,}")
ORDINARY = set(
    "KeyError address already argument available current exceptions expected missing positional required"
    " seconds waiting".split()
)
"""Words of signatures that are plain English, or Python's own."""
SPOKEN = {"http", "serialization"}
"""Programs whose name is that of something that Jieda itself speaks: a protocol, a mode of pydantic."""


def strings(source: str) -> Iterator[str]:
    """What a module says to anybody but its readers: every string that is not a docstring."""
    tree = ast.parse(source)
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


@cache
def says() -> str:
    """All strings of the source, with templates, scripts and texts of the pages as they are."""
    texts = [text for path in APP.rglob("*.py") for text in strings(path.read_text(encoding="utf-8"))]
    files = (path for folder in (APP / "web", APP / "locales", ROOT / "static") for path in folder.rglob("*"))
    texts += [path.read_text(encoding="utf-8") for path in files if path.suffix in {".html", ".js", ".json"}]
    return "\n".join(texts)


@cache
def shipped_library() -> Library:
    return Loaded([CONTENT]).library()


@pytest.mark.slow
def test_no_framework_and_no_program_is_named_in_the_source() -> None:
    built_with = {re.split(r"[^\w.-]", each)[0] for each in requires("jieda") or ()}
    names = set(shipped_library().taxonomy.framework)
    for program in KNOWLEDGE.programs.by_id.values():
        names |= {program.id, *program.names}
    said = says().lower()
    words = set(re.findall(r"[\w-]+", said))
    found = {
        name
        for name in names - built_with - SPOKEN
        if name.lower() in words
        # A name of several words, or with other marks in it, is none of them.
        or (re.search(r"[^\w-]", name) and re.search(rf"(?<![\w-]){re.escape(name.lower())}(?![\w-])", said))
    }
    assert not found


@pytest.mark.slow
@pytest.mark.parametrize(
    "entry_id", ["roll/node2pg-keyerror", "slime/sglang-max-retries", "chatlearn/ray-channel-timeout"]
)
def test_no_word_of_a_signature_is_in_the_source(entry_id: str) -> None:
    entry = shipped_library().entries[entry_id]
    words = {word for line in entry.signature_lines for word in WORD.findall(line)} - ORDINARY
    assert not {word for word in words if re.search(rf"\b{word}\b", says())}


@pytest.mark.parametrize("content", [CONTENT, OPERATIONS], ids=["shipped", "operations"])
def test_formats_are_as_their_examples_say(content: Path) -> None:
    failures = knowledge_of([content]).failures
    formats = compile_formats(failures)
    for prefix in failures.prefixes:
        for example in prefix.examples:
            assert [text.strip() for text in fold(f"{example} gearbox", formats).texts] == ["gearbox"], (
                example
            )
    for family in failures.families:
        for example in family.examples:
            assert [each.type for each in parse(example, formats).raised] == [family.name], example


def test_a_later_directory_adds_and_replaces(tmp_path: Path) -> None:
    (tmp_path / "programs.yaml").write_text(
        "programs:\n  frob: {role: other, names: [Frobber]}\n", encoding="utf-8"
    )
    (tmp_path / "failures.yaml").write_text(
        "families:\n  - {name: Frob, lines: ['frob broke'], examples: ['x']}\nuntroubled: {en: [frob broke even]}\n"
    )
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "failures.yaml").write_text(
        "families:\n  - {name: Frob, meaning: it is over, lines: ['frob broke', 'frob burst'], examples: ['x']}\n"
    )
    merged = knowledge_of([CONTENT, tmp_path, tmp_path / "later"])
    assert merged.programs.by_id["frob"].names == ("frobber",)
    formats = compile_formats(merged.failures)
    assert [each.type for each in parse("frob broke\nfrob burst", formats).raised] == ["Frob", "Frob"]
    assert formats.meanings["Frob"] == "it is over"
    assert formats.tells_of_trouble("it failed, no error was shown")
    assert not formats.tells_of_trouble("frob broke even, no error was shown")


def test_background_logs_of_all_directories_count_and_the_last_of_a_name(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for directory, names in ((first, ("boiler", "pump")), (second, ("pump", "valve"))):
        (directory / "background").mkdir(parents=True)
        for name in names:
            log = directory / "background" / f"{name}.log"
            log.write_text(f"{name} of the {directory.name} is warm\n", encoding="utf-8")
    found = [each.text.strip() for each in Loaded([OPERATIONS, first, second]).library().samples("")]
    ours = [text for text in found if text.endswith("is warm")]
    assert ours == [
        "boiler of the first is warm",
        "pump of the second is warm",
        "valve of the second is warm",
    ]
    assert len(found) == len(ours) + len(list((OPERATIONS / "background").glob("*.log")))


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("programs.yaml", "programs:\n  frob: {role: other}\n  grob: {role: boss}\n", 3),
        (
            "failures.yaml",
            "levels: [INFO]\nfamilies:\n  - {name: F, lines: ['{nonsense} x'], examples: ['x']}\n",
            3,
        ),
        ("failures.yaml", "families:\n" + "  - {name: F, lines: [broke], examples: [broke]}\n" * 2, 3),
        ("failures.yaml", "nonsense: 3\n", 1),
        ("failures.yaml", "levels: [INFO]\nuntroubled: [no error]\n", 2),
        ("failures.yaml", "troubled:\n  en: [panic,\n    ' ']\n  zh: []\n", 3),
    ],
)
def test_a_mistake_is_told_with_its_line(name: str, text: str, line: int, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ContentError, match=f"{name}:{line}"):
        knowledge_of([tmp_path])


def test_another_field_is_diagnosed_as_well_as_ours() -> None:
    library = Loaded([OPERATIONS]).library()
    analyzer = Analyzer(library.dictionary)
    words = WordReader(analyzer, Glossary(library.glossary, analyzer))
    facts = collect(library, words, library.log_knowledge, library.samples(""))
    diagnoser = Diagnoser(library, facts, words)
    answers = [
        (judged, diagnoser.diagnose(judged.query, Language.EN))
        for judged in read_judged(OPERATIONS / "judged.jsonl")
    ]
    positive = [(judged.expected, found) for judged, found in answers if judged.expected]
    negative = [found.matches for judged, found in answers if not judged.expected]
    named = [
        found
        for expected, found in positive
        if any(first.entry.id in expected for first in found.matches[:1] or found.near[:1])
    ]
    right = [found.matches for found in named if found.matches]
    sure = {Confidence.EXACT, Confidence.LIKELY}
    # A single line without a signature says too little for more than `near`: 3 of the 36.
    assert len(named) >= 0.95 * len(positive)
    assert len(right) >= 0.9 * len(positive)
    assert sum(found[0].confidence in sure for found in right) >= 0.85 * len(right)
    assert not any(found and found[0].confidence in sure for found in negative)
