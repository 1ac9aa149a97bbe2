"""What a thread does in one go holds the event loop up as well: searches for garbage, and calls that never yield."""

import gc
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, quote_plus, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jieda.entry import Language
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.snapshot.snapshot import Analyzers
from jieda.web.app import short_pauses
from jieda.web.pages.context import PIECE, decode, form_fields

from bench.content import write_content
from tests.support.examples import examples

MANY_FAILURES = "ValueError: <<<<x\n" * 30_000


@pytest.fixture
def collector() -> Iterator[None]:
    """Leaves Python's collector and its threads as they were."""
    before, interval = gc.get_threshold(), sys.getswitchinterval()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)
    sys.setswitchinterval(interval)


@contextmanager
def whole_collections() -> Iterator[list[int]]:
    """How often everything was searched."""
    found: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and info["generation"] == 2:
            found.append(1)

    gc.callbacks.append(note)
    try:
        yield found
    finally:
        gc.callbacks.remove(note)


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_large_log_has_nobody_search_everything_for_garbage(
    collector: None, tmp_path: Path, plain_analyzers: Analyzers
) -> None:
    content = write_content(tmp_path / "content", 8)
    chosen = Settings.load({"JIEDA_CONTENT": str(content), "JIEDA_DATA": str(tmp_path / "data")})
    knowledge = Knowledge(chosen, analyzers=plain_analyzers)
    knowledge.open()
    async with short_pauses(knowledge):
        assert gc.get_freeze_count() > 10_000
        with whole_collections() as found:
            for _ in range(3):
                knowledge.snapshot.diagnoser.diagnose(MANY_FAILURES, Language.EN, "")
    assert found == []


@settings(max_examples=examples(30))
@given(st.text(), st.integers(PIECE - 4, PIECE + 4))
def test_a_long_form_says_what_was_typed(text: str, before: int) -> None:
    typed = "x" * before + text.encode("utf-8", "replace").decode() + "显 +%&=" * 3
    assert decode(quote_plus(typed).encode()) == typed
    assert form_fields(urlencode({"text": typed, "n": "1"}).encode()) == {"text": typed, "n": "1"}


@given(st.lists(st.sampled_from(["a", "%", "41", "%41", "%e6", "%zz", "+", "=", "显", ";"])))
def test_a_form_is_read_as_the_standard_library_reads_it(parts: list[str]) -> None:
    written = "a=1&b=" + "".join(parts)
    read = parse_qs(written, keep_blank_values=True, errors="replace")
    assert form_fields(written.encode()) == {name: values[-1] for name, values in read.items()}


@pytest.mark.slow
def test_half_a_megabyte_of_escapes_is_taken_apart_by_the_piece() -> None:
    form = b"text=" + b"%0A" * (1 << 19)
    tracemalloc.start()
    try:
        assert form_fields(form)["text"].count("\n") == 1 << 19
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20
