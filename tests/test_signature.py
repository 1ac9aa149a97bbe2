"""The grammar of signature lines: what they find, what they refuse, what they cost."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jieda.signature import SIGNATURES, SignatureSyntaxError, compile_signature_line, literal_text

from tests.support.cost import assert_linear
from tests.support.examples import examples

FOUND = [
    ("batch_size {int} < chunks {int}", "AssertionError: batch_size 16 < chunks 32"),
    ("batch_size {int} < chunks {int}", "x batch_size   16 <\tchunks -32 y"),
    ("outofmemoryerror: CUDA out of memory", "torch.OutOfMemoryError: CUDA out of memory. Tried"),
    (
        "{{'GPU': 1.0}} * {int} (PACK): {any} pending",
        "  {'GPU': 1.0} * 16 (PACK): 1+ pending placement groups",
    ),
    ("Tried to allocate {size}.", "Tried to allocate 2.00 GiB. GPU 0 has"),
    ("Tried to allocate {size}.", "Tried to allocate 512 bytes."),
    ("with shape {shape} from checkpoint", "a param with shape torch.Size([32000, 4096]) from checkpoint,"),
    ("torch.Size({shape}) from", "a param with shape torch.Size([3, 4]) from checkpoint"),
    ("shape {shape} x", "shape 3x4x5 x"),
    ('File "{path}", line {int}, in {word}', '  File "/root/my-repo/a.py", line 3, in <module>'),
    ("{path}:{int}: UserWarning", "/root/a.py:12: UserWarning: deprecated"),
    ("connect to {addr} refused", "could not connect to 10.0.0.1:3000 refused"),
    ("connect to {addr} refused", "could not connect to [fe80::1]:3000 refused"),
    ("at {hex}: bad page", "at 0x7F12ab: bad page"),
    ("no module named {quoted} here", "No module named 'flash_attn.ops' here"),
    ("no module named {quoted} here", "no module named “flash attn” here"),
    ("took {num} of {num} s", "took 1.5e-3 of nan s"),
    ("{word}Error in forward_step", "ValueError in forward_step"),
    ("key {word}.weight is missing", "key model.layers.0.mlp.weight is missing"),
    ("显存不足，需要 {size}", "报错：显存不足，需要 20 GB"),
    ("{any}middle of it{any}", "in the middle of it all"),
]

NOT_FOUND = [
    ("batch_size {int} < chunks {int}", "batch_size x < chunks 32"),
    ("one {any} two words", "one\ntwo words"),
    ("alpha beta", "alpha\nbeta"),
    ("alpha beta", "alphabeta"),
    ("with shape {shape} from", "with shape unknown from"),
    ("KeyError: {quoted} in map", "KeyError: 1 in map"),
    ("first{any}second", "first " + "x" * 400 + " second"),
    ("a.b", "axb"),
    ("loss {num>5}", "loss ınf"),
]


@pytest.mark.parametrize(("line", "text"), FOUND)
def test_a_signature_finds_its_text_in_a_line(line: str, text: str) -> None:
    assert compile_signature_line(line).matches(f"before\n{text}\nafter")


@pytest.mark.parametrize(("line", "text"), NOT_FOUND)
def test_a_signature_does_not_find_something_else(line: str, text: str) -> None:
    assert not compile_signature_line(line).matches(text)


@pytest.mark.parametrize("line", ["{", "a } b", "{number} x", "{any}{word} x", "{int}", "{any}", "   ", "{}"])
def test_what_is_no_signature_is_refused_with_a_reason(line: str) -> None:
    with pytest.raises(SignatureSyntaxError) as caught:
        compile_signature_line(line)
    assert str(caught.value)


@pytest.mark.parametrize(
    ("line", "specific"),
    [
        ("KeyError: {int}", False),
        ("AssertionError", False),
        ("RuntimeError: {any}", False),
        ("Traceback (most recent call last):", False),
        ("Error: failed to {any}", False),
        ("OOM", False),
        ("assert self.lr_decay_steps > 0", True),
        ("CUDA out of memory", True),
        ("显存不足", True),
        ("错", False),
    ],
)
def test_a_line_that_any_log_may_hold_is_not_specific(line: str, specific: bool) -> None:
    assert compile_signature_line(line).specific is specific


PIECES = st.sampled_from(
    [f"{{{name}}}" for name in (*SIGNATURES.closed, *SIGNATURES.open)]
    + ["a", "b ", " ", "1", "ab", ": ", ".", "/", "'", "[", "{{", "}}"]
)


def compiled(line: str) -> re.Pattern[str] | None:
    try:
        return compile_signature_line(line).pattern
    except SignatureSyntaxError:
        return None


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(PIECES, min_size=1, max_size=8).map("".join),
    st.text(alphabet="ab1 .:/'[]{}x0-\n", min_size=1, max_size=6),
)
def test_the_cost_of_any_signature_is_bounded_per_character(line: str, unit: str) -> None:
    pattern = compiled(line)
    if pattern is None:
        return
    assert_linear(lambda size: pattern.search((unit * size)[:size]), 2_500)


@pytest.mark.parametrize(
    ("line", "unit"),
    [
        ("a{any}b{any}c{any}d", "abc"),
        ("a {any} b", "a "),
        ("{hex}{int}z", "1"),
        ("{path}:{int}: foo", "/:1"),
        ("a b", " "),
        ("x {quoted} y", "x '"),
    ],
)
def test_eight_times_the_text_costs_about_eight_times_the_time(line: str, unit: str) -> None:
    pattern = compile_signature_line(line).pattern
    assert_linear(lambda size: pattern.search((unit * size)[:size]), 10_000)


@given(st.text(max_size=40))
def test_a_literal_line_finds_itself(text: str) -> None:
    line = text.replace("{", "{{").replace("}", "}}")
    if "\n" in line or not line.split() or any(ord(character) < 32 for character in line):
        return
    try:
        signature = compile_signature_line(line)
    except SignatureSyntaxError:
        return
    assert signature.matches(text)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("batch_size {int} < chunks", "batch_size   < chunks"),
        ('f"{{chunks}} of {num}"', 'f"{chunks} of  "'),
        ("found a lone {", "found a lone {"),
    ],
)
def test_what_a_line_says_itself_is_searched_for(line: str, said: str) -> None:
    assert literal_text(line) == said
