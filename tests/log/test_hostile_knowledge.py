"""Whatever programs.yaml and failures.yaml hold: a mistake is told with its line, or reading a log stays linear."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jieda.content.read.shared_files import FAILURES, PROGRAMS, read_log_knowledge
from jieda.diagnosis.origin import OriginFinder
from jieda.entry import Language
from jieda.errors import ContentError
from jieda.log import traceback
from jieda.log.formats import compile_formats
from jieda.signature import FOLDERS, PREFIXES, REMOTE, REPEATS, SIGNATURES, Grammar
from jieda.taxonomy import Tag

from tests.support.cost import assert_linear, cpu_seconds
from tests.support.examples import examples

TAG = Tag("frob", dict.fromkeys(Language, "frob"), dict.fromkeys(Language, "frob"))
LITERALS = st.sampled_from(["a", "-", " ", "  ", ":", "1", ".", "/", "(", "|", "{{", "", "{", "x"])
HOSTILE = ("a" * 480, "1" * 480, "a " * 240, "a-" * 240, "1:" * 240, "(" * 480, "a1.:-/ " * 70, " " * 480)
LOG = "\n".join([*HOSTILE, *(f'  File "/{line}/{line}.py", line 1, in f' for line in HOSTILE)])
PARTS: dict[str, tuple[Grammar, Callable[[list[str]], object]]] = {
    "prefixes": (PREFIXES, lambda lines: [{"name": "x", "source": True, "lines": lines, "examples": ["x"]}]),
    "families": (SIGNATURES, lambda lines: [{"name": "x", "lines": lines, "examples": ["x"]}]),
    "repeats": (REPEATS, list),
    "remote": (REMOTE, list),
    "standard": (FOLDERS, list),
    "installed": (FOLDERS, list),
    "programs": (FOLDERS, lambda lines: {"x": {"role": "other", "folders": lines}}),
}
"""By the key of a file: the grammar that its lines are in, and its value with some lines."""


def read(key: str, value: object, log: str) -> None:
    """A log and the paths in it, by files that say nothing else."""
    programs, failures = (
        ((Path(name), json.dumps({key: value} if (name == PROGRAMS) == (PARTS[key][0] is FOLDERS) else {})),)
        for name in (PROGRAMS, FAILURES)
    )
    found = read_log_knowledge(programs, failures)
    parsed = traceback.parse(log, compile_formats(found.failures))
    OriginFinder({"frob": TAG}, found.programs).find(parsed)


@pytest.mark.parametrize("key", PARTS)
@settings(max_examples=examples(30), deadline=None)
@given(st.data())
def test_no_file_makes_a_log_expensive(key: str, data: st.DataObject) -> None:
    grammar, value_of = PARTS[key]
    names = ["*"] if grammar is FOLDERS else [f"{{{name}}}" for name in (*grammar.closed, *grammar.open)]
    pairs = st.lists(st.tuples(st.sampled_from(names), LITERALS).map("".join), min_size=1, max_size=16)
    value = value_of(data.draw(st.lists(pairs.map("".join), min_size=1, max_size=4)))
    try:
        read(key, value, "")
    except ContentError:
        return
    assert cpu_seconds(lambda _: read(key, value, LOG), 1) < 1


@pytest.mark.parametrize("times", [5, 40])
@pytest.mark.parametrize("piece", ["{any} ", "{any}a", "{word}-"])
def test_a_prefix_of_many_placeholders_is_no_bomb(piece: str, times: int) -> None:
    prefixes = PARTS["prefixes"][1]([f"{piece * times}|"])
    assert_linear(
        lambda size: read("prefixes", prefixes, "\n".join(f"{n} {'a-a ' * 120}" for n in range(size))), 20
    )


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            FAILURES,
            "prefixes:\n  - {name: x, lines: ['{any}{word} |'], examples: [x]}",
            ":2: `lines` {any}{word}: it is unclear",
        ),
        (FAILURES, "repeats: ['[{any}x]']", ":1: `repeats` {any} is not one of {int};"),
        (FAILURES, "levels: []\nremote: ['f{']", ":2: `remote` has a lone {;"),
        (PROGRAMS, "standard:\n  - 'a**b'", ":2: `standard` {any}{any}: it is unclear"),
        (
            PROGRAMS,
            "programs:\n  x: {role: other, folders: ['a**b']}",
            ":2: `folders` {any}{any}: it is unclear",
        ),
    ],
)
def test_what_the_grammar_refuses_is_told_with_its_line(name: str, text: str, told: str) -> None:
    programs, failures = (((Path(name), text),) if name == each else () for each in (PROGRAMS, FAILURES))
    with pytest.raises(ContentError) as error:
        read_log_knowledge(programs, failures)
    assert f"{name}{told}" in str(error.value)
