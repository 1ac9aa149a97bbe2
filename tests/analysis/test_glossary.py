"""Which words of a glossary are found in a text."""

import pytest
from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.taxonomy import GlossaryGroup

GROUPS = (
    GlossaryGroup(en=("host memory", "RAM"), zh=("内存",)),
    GlossaryGroup(en=("GPU memory",), zh=("显卡内存",)),
    GlossaryGroup(en=("shared memory",), zh=("共享内存",)),
    GlossaryGroup(en=("sampling",), zh=("采样",)),
    GlossaryGroup(en=("importance sampling",), zh=("重要性采样",)),
    GlossaryGroup(en=("importance",), zh=("重要性",)),
    GlossaryGroup(en=("memory pool",), zh=("内存池",)),
    GlossaryGroup(en=("Weights & Biases",), zh=()),
    GlossaryGroup(en=("HuggingFace",), zh=()),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("内存 is what is left", ["内存"]),
        ("显卡内存", ["显卡内存"]),
        ("显卡内存和内存", ["显卡内存", "内存"]),
        ("顯卡內存", ["显卡内存"]),
        ("no RAM, no shared memory", ["RAM", "shared memory"]),
        ("importance sampling", ["importance sampling"]),
        ("--importance-sampling", ["importance sampling"]),
        ("重要性采样的重要性", ["重要性采样", "重要性"]),
        ("samplings", ["sampling"]),
        ("GPU memory pool", ["GPU memory", "memory pool"]),
        ("共享内存池", ["共享内存", "内存池"]),
        ("重要性；采样", ["重要性", "采样"]),
        ("重要性 采样", ["重要性采样"]),
        ("the importance. Sampling starts", ["importance", "sampling"]),
        ("(shared) memory", []),
        ("*shared* `memory`", ["shared memory"]),
        ("共享、内存", ["内存"]),
        ("Weights & Biases, weights and biases, Weights Biases", ["Weights & Biases", "Weights & Biases"]),
        ("HuggingFace, hugging_face, huggingface", ["HuggingFace"] * 3),
        ("nothing here", []),
        ("", []),
    ],
)
def test_a_word_inside_a_longer_one_does_not_count(analyzer: Analyzer, text: str, found: list[str]) -> None:
    mentions = [*Glossary(GROUPS, analyzer).mentions(analyzer.analyze(text))]
    groups = [next(number for number, group in enumerate(GROUPS) if word in group.words) for word in found]
    assert [mention.group for mention in mentions] == groups


def test_a_group_is_mentioned_once_however_many_forms_of_a_word_it_lists(analyzer: Analyzer) -> None:
    groups = (GlossaryGroup(en=("crash", "crashes", "crashed"), zh=("崩溃",)),)
    assert len([*Glossary(groups, analyzer).mentions(analyzer.analyze("it crashed"))]) == 1
