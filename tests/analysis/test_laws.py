"""What holds for the analysis of any text whatever."""

import sys
import tracemalloc
import unicodedata
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain

import opencc
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jieda.analysis.pipeline import Analyzer
from jieda.analysis.token import Token, TokenKind, canonical, split_runs, word_spans
from jieda.analysis.words import Stemmer, english_words, fold_text

from tests.support.cost import assert_linear
from tests.support.examples import examples

ANY_CHARACTER = st.characters(exclude_categories=())
"""Lone surrogates, NUL and unassigned code points included."""
WRITINGS = """self.node2pg[node_rank] --use-dynamic-batch-size torch.cuda.OutOfMemoryError max_tokens vllm==0.6.3
~/.cache $HOME C++ JSONDecodeError don't A100 １２ ＯＯＭ 显存不足 顯存 训推一体 的 ， （ 🎉 ﬁ ½ İ ß
[ ] - _ . / : -> == ' \"
""".split()
INVISIBLE = [" ", "\n", "\x00", "\ud800", "\u00ad", "\u0301", "\u200b", "\u2028", "\u3099"]
LIKELY = st.sampled_from([*WRITINGS, *INVISIBLE])
TEXTS = st.lists(st.one_of(LIKELY, st.text(ANY_CHARACTER, max_size=5)), max_size=20).map("".join)


@contextmanager
def fast_switching() -> Iterator[None]:
    """Threads take turns after a microsecond instead of five milliseconds."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


patient = settings(deadline=None)
"""A machine with other work to do is not a reason to fail."""

STEMMED = """nationalization conditional connections generously agreement happiness relational organizers formality
hopefulness sensibility triplicate electrical probate controlling allowance adjustment irritant activate bowdlerize
checkpointing converted optimizers gradients parallelism initialized distributed scheduling communicators""".split()

STEMMER = Stemmer()


@pytest.mark.slow
def test_several_threads_stem_as_one_does() -> None:
    words = [f"{prefix}{word}" for prefix in ("re", "un", "pre", "") for word in STEMMED]
    alone = [Stemmer().stem(word) for word in words]
    for _ in range(20):
        shared = Stemmer()  # nothing is kept yet
        with fast_switching(), ThreadPoolExecutor(4) as threads:
            assert list(threads.map(shared.stem, words * 4)) == alone * 4


@patient
@given(TEXTS)
def test_runs_stand_where_they_say_and_leave_no_letter_digit_or_han_character_out(text: str) -> None:
    folded = fold_text(text).text
    place = 0
    for run, start, _ in split_runs(folded):
        assert run
        assert folded[start : start + len(run)] == run
        assert not [character for character in folded[place:start] if character.isalnum()]
        place = start + len(run)
    assert not [character for character in folded[place:] if character.isalnum()]


@patient
@given(TEXTS)
@example("a\u0301" * 30)
@example("\u0301" * 30 + "e")
def test_every_folded_character_comes_from_somewhere_in_order(text: str) -> None:
    folded = fold_text(text)
    assert len(folded.starts) == len(folded.ends) == len(folded.text)
    assert list(folded.starts) == sorted(folded.starts)
    assert all(0 <= start < end <= len(text) for start, end in zip(folded.starts, folded.ends, strict=True))


@patient
@given(TEXTS)
@example("İself.node2pg[node_rank]")
def test_a_token_says_what_stands_at_its_place_in_the_original(analyzer: Analyzer, text: str) -> None:
    analysis = analyzer.analyze(text)
    for token in analysis.tokens:
        assert 0 <= token.start < token.end <= len(text)
        assert token.text
        assert relates(token, analyzer.fold(text[token.start : token.end])), token
    for atom in chain.from_iterable(run.atoms for run in analysis.runs):
        assert 0 <= atom.start < atom.end <= len(text)
        assert atom.text in analyzer.fold(text[atom.start : atom.end])
        assert atom.stem == STEMMER.stem(atom.text)


def relates(token: Token, at_its_place: str) -> bool:
    """Whether a token's text is what stands there, that text's stem, or its name or words with separators made one."""
    if token.text in at_its_place:
        return True
    words = at_its_place.replace("_", "-").split("-")
    if token.kind is TokenKind.PART:
        stems = {STEMMER.stem(word) for word in all_words(without_marks(at_its_place))}
        return set(without_marks(token.text).split("_")) <= stems | {""}
    return token.text in {STEMMER.stem(at_its_place), canonical("-".join(words))} or (
        token.text in canonical(at_its_place)
    )


def without_marks(text: str) -> str:
    """`text` without combining characters, which belong to the letter before them."""
    return "".join(character for character in text if not unicodedata.category(character).startswith("M"))


def all_words(text: str) -> list[str]:
    """Every stretch of letters and digits inside `text`: capitals are folded, so where words part is open."""
    found = [text[start:end] for start, end in word_spans(text)]
    return [
        run[start:end] for run in found for start in range(len(run)) for end in range(start + 1, len(run) + 1)
    ]


@patient
@given(TEXTS)
def test_tokens_and_atoms_of_a_text_never_change(analyzer: Analyzer, text: str) -> None:
    assert analyzer.analyze(text) == analyzer.analyze(text)


@given(st.text(ANY_CHARACTER))
@settings(patient, max_examples=examples(300))
@example("\x00")
@example("\ud800\udfff")
@example("\U0010ffff" * 3)
def test_any_string_is_analyzed(analyzer: Analyzer, text: str) -> None:
    analyzer.analyze(text)
    analyzer.key(text)
    analyzer.fold(text)


@patient
@given(TEXTS)
def test_folding_twice_changes_nothing_more(analyzer: Analyzer, text: str) -> None:
    once = fold_text(text).text
    assert fold_text(once).text == once


WORDS = st.lists(
    st.sampled_from("显存不足 权重同步 max tokens OOM Ray 训练 chunks 16 error 卡在 提交".split()),
    min_size=1,
    max_size=6,
)
PUNCTUATION = st.sampled_from(
    [" ", "，", "：", " - ", "　", "（", "）", "！", "？ ", '" ', " / ", "、", "…", "【"]
)
TO_TRADITIONAL = opencc.OpenCC("s2t")
TO_SIMPLIFIED = opencc.OpenCC("t2s")
HAN_BLOCKS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF))


def test_every_traditional_character_is_folded_as_opencc_converts_it() -> None:
    characters = [chr(point) for first, last in HAN_BLOCKS for point in range(first, last + 1)]
    # A line each, so that OpenCC's phrase dictionary has nothing to match.
    converted = TO_SIMPLIFIED.convert("\n".join(characters)).split("\n")
    assert [fold_text(character).text for character in characters] == converted


FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)} | {0x20: 0x3000}


@patient
@given(WORDS, st.data())
def test_case_width_script_and_punctuation_leave_the_key_as_it_is(
    analyzer: Analyzer, words: list[str], data: st.DataObject
) -> None:
    plain = " ".join(words)
    variants: list[Callable[[str], str]] = [
        str.upper,
        str.lower,
        str.title,
        TO_TRADITIONAL.convert,
        lambda text: text.translate(FULL_WIDTH),
    ]
    mark = data.draw(PUNCTUATION)
    variant = data.draw(st.sampled_from(variants))(mark.join(words) + mark)
    assert analyzer.key(variant) == analyzer.key(plain)


@patient
@given(st.lists(st.sampled_from(["max", "tokens", "per", "gpu", "lr"]), min_size=2, max_size=5))
def test_dash_underscore_and_space_leave_the_key_and_the_name_as_they_are(
    analyzer: Analyzer, words: list[str]
) -> None:
    assert len({analyzer.key(separator.join(words)) for separator in ("-", "_", " ")}) == 1
    names = {
        tuple(t.text for t in analyzer.analyze(text).tokens if t.kind is TokenKind.TERM)
        for text in ("_".join(words), "-".join(words), "--" + "-".join(words), "_".join(words).upper())
    }
    assert names == {("_".join(words),)}


REPEATED = """a A Aa aA A1 1 1. 1_ A_ a_ a- a. a.b a: a:: a-> a/ //a / ~/ ../ -- - _ . [ ] [x] a[ a][ x] ( * + ' a'
$ $a \\ ﬁ 啊 的 显存不足 龘 顯 𠮷 🎉 显a e\u0301""".split()
SPACED = ["--a ", "don't ", "ＯＯＭ ", "显 ", "max_tokens_per_gpu "]


@pytest.mark.slow
@pytest.mark.parametrize("unit", [*REPEATED, *SPACED, *INVISIBLE], ids=repr)
def test_the_cost_of_any_text_is_linear(analyzer: Analyzer, unit: str) -> None:
    assert_linear(lambda size: analyzer.analyze(unit * (size // len(unit))), 2_000)


@pytest.mark.slow
def test_nothing_is_left_of_long_texts(analyzer: Analyzer) -> None:
    tracemalloc.start()
    try:
        for length in range(4_000, 4_010):
            for character in "显a":
                analyzer.analyze(character * length)
        left, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert left < most / 10


def test_an_english_word_is_known_wherever_it_is_in_the_dictionary() -> None:
    known = {"a", "aa's", "hang", "memory", "zzz", "zürich's"}
    unknown = {"", '"', "}", "memroy", "nccl", 'a": 5', "\n", "\ud800", "zürich's2"}
    assert {word for word in known | unknown if word in english_words()} == known
