"""An answer that does not fit says so and names what nobody knows; one that fits is not called weak for its numbers."""

from pathlib import Path

import pytest
from jieda.search.answers import SearchAnswer, SearchRequest
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.judge import search_and_judge

from tests.search.small import MakeSnapshot, ask, concept, error

LINES = [
    line.partition(": ")[2]
    for line in (Path(__file__).parent.parent / "judged_foreign_lines.txt")
    .read_text(encoding="utf-8")
    .splitlines()
    if not line.startswith("#")
]
OUT_OF_MEMORY = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.28 GiB. "
    "GPU 3 has a total capacity of 79.11 GiB of which 6.02 GiB is free."
)


def judged(snapshot: Snapshot, text: str) -> SearchAnswer:
    return search_and_judge(snapshot, SearchRequest(text))[1]


def test_errors_of_other_programs_are_not_listed_as_answers(shipped: Snapshot) -> None:
    answers = {line: judged(shipped, line) for line in LINES}
    assert len(LINES) >= 43
    assert [line for line, answer in answers.items() if answer.hits and not answer.weak] == []


# Of the last one, another framework's entry is as near.
@pytest.mark.parametrize("text", [OUT_OF_MEMORY, "训练速度慢", "ROLL 训练后期熵太低，不再探索"])
def test_what_an_entry_answers_is_no_weak_answer(shipped: Snapshot, text: str) -> None:
    assert not judged(shipped, text).weak


def test_a_slip_of_the_pen_makes_no_weak_answer_a_good_one(shipped: Snapshot) -> None:
    """Not even if it would be one among the entries that a filter or an operator leaves out."""
    text = "SGLang: Max retries exceded with url: /get_model_info"
    assert not ask(shipped, text).weak
    assert ask(shipped, text, filters={"framework": ("chatlearn",)}).weak
    assert ask(shipped, f"{text} framework:chatlearn").weak


def test_a_name_that_nobody_knows_decides_and_is_told(small: MakeSnapshot) -> None:
    sign = "ModuleNotFoundError: No module named 'megatron.training'"
    files = {
        "en/module": error("A module is missing", "Set PYTHONPATH.", sign),
        "en/attention": concept("Flash and attn", "Attention in a flash: attn."),
    } | {
        f"en/other{number}": concept(f"Other {number}", "Error: no such module is named.")
        for number in range(9)
    }
    snapshot = small(files)
    assert not ask(snapshot, sign).weak
    answer = ask(snapshot, "ModuleNotFoundError: No module named 'flash_attn'")
    assert answer.weak
    assert answer.absent_words == ("flash_attn",)
    assert ask(snapshot, "why doesn't it use wandb, they haven't").absent_words == ("wandb",)


def test_a_short_name_is_known_from_the_longer_one_that_holds_it(small: MakeSnapshot) -> None:
    images = concept("Which image to pull", "Pull `tool:v3-910b-ubuntu`, a `flash_attn` build.")
    others = {f"en/other{number}": concept(f"Other {number}", "The weather.") for number in range(9)}
    answer = ask(small({"en/images": images} | others), "which image for the 910b")
    assert (answer.absent_words, answer.weak) == ((), False)
