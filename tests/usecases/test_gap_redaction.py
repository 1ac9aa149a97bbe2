"""Nothing that tells of whom is kept of a question: no value planted in it, and none of any log that we have."""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jieda.entry import Language
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.gaps.redact import LONGEST_KEPT, Redactor

from tests.support.examples import examples
from tests.support.server import ROOT

PLACEHOLDERS = r"\{(?:word|addr|quoted|path|hex|size|shape|num)\}"

SECRET = st.text("bcdfghjklmnpqrstvwxz", min_size=6, max_size=10)
"""No word of any language."""
DIGITS = st.text("0123456789", min_size=4, max_size=12)
HEX = st.text("0123456789abcdef", min_size=16, max_size=40)


def joined(*parts: str | st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Parts one behind the other."""
    return st.tuples(*(st.just(part) if isinstance(part, str) else part for part in parts)).map("".join)


PLANTED = {
    "e-mail": joined(SECRET, ".", SECRET, "@", SECRET, ".example.com"),
    "IPv4": st.ip_addresses(v=4).map(str),
    "IPv4 with a port": joined(st.ip_addresses(v=4).map(str), ":", DIGITS),
    "IPv6": st.ip_addresses(v=6).map(str),
    "path": joined("/", SECRET, "/", SECRET, "/train.py"),
    "relative path": joined(SECRET, "/", SECRET),
    "home": joined("~/", SECRET, "/checkpoints"),
    "Windows path": joined("C:\\", SECRET, "\\", SECRET),
    "address": joined("https://", SECRET, ".example.com/", SECRET, "?id=", DIGITS),
    "bucket": joined("oss://", SECRET, "/", SECRET),
    "host": joined(SECRET, "-", DIGITS, ".", SECRET, ".internal"),
    "host with a port": joined(SECRET, ":", DIGITS),
    "short host": joined("worker-", DIGITS),
    "user": joined("user ", SECRET),
    "user given": joined("user=", SECRET),
    "token": joined("hf_", SECRET, DIGITS, SECRET),
    "key": joined("api_key=", SECRET),
    "password": joined("password: ", SECRET),
    "random word": SECRET,
    "base64": st.binary(min_size=18, max_size=40).map(lambda raw: b64encode(raw).decode()),
    "hexadecimal number": HEX,
    "number": DIGITS,
    "number with a fraction": joined(DIGITS, ".", DIGITS),
    "phone number": st.from_regex(r"1[3-9][0-9]{9}", fullmatch=True),
    "identity card": st.from_regex(r"[1-9][0-9]{16}[0-9X]", fullmatch=True),
    "quoted": joined("'", SECRET, " ", SECRET, "'"),
    "wide characters": joined("１３８", st.text("０１２３４５６７８９", min_size=8, max_size=8)),
}
AROUND = (
    "{}",
    "training fails at {} since the update",
    "训练的时候{}报错了怎么办",
    "联系{}，训练失败",
    "RuntimeError: cannot connect to {}: timeout",
    "KeyError: {}",
    "模型在 {} 上训练很慢",
    "checkpoint={} does not load",
    "（{}）显存不足",
    "loss is nan ({}), gradient too large",
)


@pytest.fixture(scope="module")
def redactor(shipped: Snapshot) -> Redactor:
    return Redactor(shipped)


def parts_of(value: str) -> set[str]:
    """What of a value must not be left anywhere: its numbers, and its words that are none."""
    parts = re.findall(r"[0-9]{3,}|[bcdfghjklmnpqrstvwxz]{6,}|[0-9a-f]{16,}", value)
    return {value, *parts}


@pytest.mark.parametrize("kind", PLANTED)
@settings(max_examples=examples(40))
@given(data=st.data(), around=st.sampled_from(AROUND))
def test_no_planted_value_survives(kind: str, data: st.DataObject, around: str, redactor: Redactor) -> None:
    value = data.draw(PLANTED[kind])
    text = around.format(value)
    for kept in (redactor.search(text), redactor.message(text)):
        assert not [part for part in parts_of(value) if part.casefold() in kept.casefold()], kept


@given(text=st.text(max_size=300))
def test_whatever_is_typed_what_is_kept_is_words_and_placeholders(text: str, redactor: Redactor) -> None:
    for kept in (redactor.search(text), redactor.message(text)):
        assert len(kept) <= LONGEST_KEPT
        rest = re.sub(PLACEHOLDERS, "", kept)
        assert not re.search(r"[@/\\:=%{}]|[0-9]{4}", rest), rest
        kept.encode()


def logs() -> list[Path]:
    """Every other log in the project."""
    folders = ("content/samples", "content/background", "tests/fixtures/logs", "tests/diagnosis/judged")
    return sorted(
        path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in {".log", ".txt"}
    )[::2]


VALUES = {
    "e-mail": r"[\w.+-]+@[\w-]+\.[\w.]+",
    "IPv4": r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])",
    "address": r"\b\w+://[^\s'\"]+",
    "path": r"(?<![\w.])/(?:[\w.+-]+/)+[\w.+-]+",
    "user": r"(?:/home/|/Users/|user(?:name)?=)(\w{4,})",
    "host": r"\b(?:[a-z0-9-]+\.){2,}(?:com|cn|org|net|io|internal|local)\b|\b[a-z]+(?:-[a-z]+)*-\d+\b",
    "hexadecimal number": r"0x[0-9a-f]+|\b(?=\w*\d)[0-9a-f]{12,}\b",
    "number": r"(?<![\w.])\d{2,}(?:\.\d+)?(?![\w.])",
    "key": r"(?:key|token|secret|password)['\"]?[=:]\s?['\"]?([^\s'\",:]{6,})",
}


def values_in(text: str) -> Iterator[str]:
    """What looks like a value in a log, found in other ways than the code under test finds it."""
    for pattern in VALUES.values():
        for match in re.finditer(pattern, text):
            yield match[1] if match.re.groups else match[0]


@pytest.mark.slow
def test_no_value_of_any_log_that_we_have_survives(shipped: Snapshot, redactor: Redactor) -> None:
    found, survived = 0, []
    for path in logs():
        text = path.read_text(encoding="utf-8", errors="replace")
        diagnosis = shipped.diagnoser.diagnose(text, Language.EN)
        asked = [error.message for error in diagnosis.errors] + [diagnosis.query] + text.splitlines()[:40:4]
        for each in asked:
            values = set(values_in(each))
            found += len(values)
            for kept in (redactor.message(each), redactor.search(each)):
                survived += [
                    (path.name, value, kept)
                    for value in values
                    if re.search(rf"(?<!\w){re.escape(value)}(?!\w)", kept)
                ]
        types = [redactor.failure(error.type) for error in diagnosis.errors]
        assert not [name for name in types if not re.fullmatch(rf"[A-Za-z_]\w*|{PLACEHOLDERS}", name)]
    assert found > 1000
    assert not survived


def test_judged_queries_keep_what_they_are_about(redactor: Redactor) -> None:
    """A rule that keeps nothing would be safe and useless."""
    rows = map(json.loads, (ROOT / "tests/judged.jsonl").read_text(encoding="utf-8").splitlines())
    questions = [row["query"] for row in rows if row["kind"] == "question"]
    kept = [redactor.search(question) for question in questions]
    words = sum(len(text.split()) for text in kept)
    unknown = sum(text.count("{") for text in kept)
    assert all(kept)
    assert unknown < 0.1 * words


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("显存不足怎么办", "显存不足怎么办"),
        ("how do I freeze the vision tower?", "how do I freeze the vision tower"),
        ("torch.cuda.OutOfMemoryError with bf16", "torch.cuda.OutOfMemoryError with bf16"),
        ("httpx.ConnectError to 10.0.0.7", "ConnectError to {addr}"),
        ("why does user alice get permission denied", "why does user {word} get permission denied"),
        ("王伟的训练慢", "{word} 训练慢"),
        ("欧阳的训练慢", "{word} 训练慢"),
        ("刘德华的训练慢", "{word} 训练慢"),
        ("margaret's loss is nan, says smith", "{word} loss is nan says {word}"),
        ("maria's laptop hangs, tom's too", "{word} laptop hangs {word} too"),
        ("住北京市海淀区中关村大街 27 号 3 号楼 201 室，显存不足", "{addr} 显存不足"),
        ("oom at 42 baker street", "oom at {addr}"),
        ("链路 2 号断了", "链路 {num} {word}"),
        ("訓練很慢", "训练很慢"),
        ("推理/训练很慢", "推理训练很慢"),
        ("zhangsan@corp.example 13812345678", ""),
        ("???", ""),
    ],
)
def test_words_stay_and_values_go(typed: str, kept: str, redactor: Redactor) -> None:
    assert redactor.search(typed) == kept


def test_of_a_log_only_what_the_content_says_stays(redactor: Redactor) -> None:
    """A dictionary knows what people ask about; names of people it knows, too, and they go."""
    assert redactor.search("kitchens and gardens see a timeout") == "kitchens and gardens see a timeout"
    assert redactor.message("kitchens and gardens see a timeout") == "{word} and {word} see a timeout"
    assert redactor.search("alice and bob see a timeout") == "{word} and {word} see a timeout"


@pytest.mark.parametrize(
    ("printed", "kept"),
    [
        ("acme.secret.WidgetError", "WidgetError"),
        ("NCCL", "NCCL"),
        ("ghp_aBcD1234aBcD1234aBcD1234", "{word}"),
        ("no type at all", "{word}"),
        ("Job12345Error", "{word}"),
    ],
)
def test_a_type_stays_without_its_module(printed: str, kept: str, redactor: Redactor) -> None:
    assert redactor.failure(printed) == kept
