"""Searching for flags, identifiers, versions and error strings. The entries are in `corpus.CODE`.

A paste that is too long for an address goes to `/diagnose`, which has tests of its own.
"""

import httpx
import pytest

from tests.field.asking import first, hit, ids, marks, search
from tests.field.corpus import FILES


def test_underscores_dashes_and_spaces_are_alike_and_the_exact_name_comes_first(field: httpx.Client) -> None:
    forms = {"code/name", "code/flag"}
    for q in ("rollout_batch_size", "ROLLOUT_BATCH_SIZE"):
        assert first(field, q) == "code/name", q
    for q in ("--rollout-batch-size", "rollout-batch-size"):
        assert first(field, q) == "code/flag", q
    for q in ("rollout_batch_size", "--rollout-batch-size", "--rollout_batch_size", "rollout batch size"):
        assert forms <= set(ids(field, q)[:5]), q
    assert first(field, "batch_size") == "code/part"
    assert {"code/name", "code/flag", "code/longer"} <= set(ids(field, "batch_size"))


@pytest.mark.parametrize("q", ["rollout_batch_size", "rollout-batch-size", "--rollout-batch-size"])
def test_a_name_written_with_other_separators_beats_a_longer_name(field: httpx.Client, q: str) -> None:
    found = ids(field, q)
    assert max(found.index("code/name"), found.index("code/flag")) < found.index("code/longer")


@pytest.mark.parametrize("q", ["tool_call", "tool-call", "check_tool", "tool call"])
def test_part_of_an_identifier_finds_it(field: httpx.Client, q: str) -> None:
    assert "code/tool" in ids(field, q)[: 2 if " " in q else 1]


@pytest.mark.parametrize(
    "q",
    [
        "--colocate",
        "-l",
        "NCCL_DEBUG",
        "NCCL_DEBUG=INFO",
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        "PYTORCH_CUDA_ALLOC_CONF",
        "expandable_segments:True",
        "expandable_segments",
    ],
)
def test_flags_and_environment_variables_come_first_as_written(field: httpx.Client, q: str) -> None:
    assert first(field, q) == "code/options"


def test_a_leading_dash_of_a_flag_never_means_not(field: httpx.Client) -> None:
    for q in ("-colocate", "-NCCL_DEBUG", "first start --colocate"):
        assert "code/options" in ids(field, q), q
    assert "code/options" not in ids(field, "start -colocate")


def test_text_that_stands_only_in_a_code_block_is_found(field: httpx.Client) -> None:
    found = hit(field, "queue_depth_limit", "code/fence")
    assert marks(found) == ["queue_depth_limit"]
    assert first(field, "queue depth") == "code/fence"


@pytest.mark.parametrize("q", ["PreparedStatementCallback", "preparedstatementcallback", "StatementCallback"])
def test_a_name_inside_json_is_found(field: httpx.Client, q: str) -> None:
    assert first(field, q) == "code/json-fence"


@pytest.mark.parametrize(
    "q", ["libpath", "libPath", ".libPath", "HandsOn", "handson", "(HandsOn)", ".libPaths()"]
)
def test_punctuation_around_a_name_does_not_hide_it(field: httpx.Client, q: str) -> None:
    assert first(field, q) == "code/punctuation"


@pytest.mark.parametrize(
    ("q", "entry"),
    [
        ("OutOfMemoryError", "code/oom"),
        ("cuda.OutOfMemoryError", "code/oom"),
        ("torch.cuda.OutOfMemoryError", "code/oom"),
        ("torch.cuda.OutOfMemoryError:", "code/oom"),
        ("doSomething", "code/method"),
        ("MyClass.doSomething", "code/method"),
        ("MyClass.doSomething()", "code/method"),
        ("dosomething", "code/method"),
    ],
)
def test_a_dotted_name_is_found_by_each_of_its_endings(field: httpx.Client, q: str, entry: str) -> None:
    assert entry in ids(field, q)[: 2 if q == "OutOfMemoryError" else 1]


@pytest.mark.parametrize(
    ("q", "entry"),
    [
        ("10.0.0.1", "code/address"),
        ("0.6.3.post1", "code/address"),
        ("vllm==0.6.3.post1", "code/address"),
        ("vllm==0.6.3", "code/address-near"),
        ("assisted", "code/assisted"),
        ("robot-assisted", "code/assisted"),
    ],
)
def test_addresses_versions_and_hyphenated_words_are_found(field: httpx.Client, q: str, entry: str) -> None:
    assert first(field, q) == entry


def test_a_version_finds_that_version_and_no_other(field: httpx.Client) -> None:
    assert set(ids(field, "3.6.3")) == {"code/version", "code/version-zh"}


@pytest.mark.parametrize(
    ("q", "entry"),
    [("fp8", "code/newer"), ("A100", "code/older"), ("H20", "code/newer"), ("bf16", "code/older")],
)
def test_a_format_or_card_comes_before_those_of_similar_names(
    field: httpx.Client, q: str, entry: str
) -> None:
    assert first(field, q) == entry
    assert first(field, q.lower()) == entry


@pytest.mark.parametrize("q", ["TP=8", "tp=8", "TP8", "TP = 8", "TP 8"])
def test_a_setting_with_its_value_comes_before_other_values(field: httpx.Client, q: str) -> None:
    assert first(field, q) == "code/newer"


@pytest.mark.parametrize(
    "q", ["mcore", "2024-07-13", "iter_0001000", "0001000", "iter_0001000_2024-07-13_mcore"]
)
def test_the_words_inside_the_name_of_a_checkpoint_are_found(field: httpx.Client, q: str) -> None:
    assert first(field, q) == "code/checkpoint"


@pytest.mark.parametrize(
    "q",
    [
        "$page->modified",
        "page->modified",
        "std::vector",
        "vector => page",
        "$QUUXHOME",
        "%s vector",
        "page %s -> ::",
    ],
)
def test_operators_of_programming_languages_never_empty_the_result(field: httpx.Client, q: str) -> None:
    # A page is what another entry is about as well.
    assert "code/arrow" in ids(field, q)[: 2 if q.startswith("page %s") else 1]


@pytest.mark.parametrize(
    "q", ["***", "---", "？？？", "...", "()[]{}", "&&||", '"', "“”", "\\", "*:*", "~", "%"]
)
def test_a_query_of_nothing_but_marks_finds_nothing_rather_than_everything(
    field: httpx.Client, q: str
) -> None:
    answer = search(field, q)
    assert (answer["total"], answer["hits"]) == (0, [])
    page = field.get("/en/search", params={"q": q})
    assert page.status_code == 200
    assert 'class="card"' not in page.text
    assert 'class="nothing"' in page.text


def test_the_text_of_a_link_is_found_and_its_address_is_not(field: httpx.Client) -> None:
    for q in ("Group Managed Service", "[Group [Managed] Service]"):
        assert first(field, q) == "code/link", q
    for q in ("quagga", "zebra", "zebra.example.org"):
        assert "code/link" not in ids(field, q), q
    assert "](" not in hit(field, "Managed Service", "code/link")["snippet"]


def test_quotes_narrow_and_never_widen(field: httpx.Client) -> None:
    quoted, words = ids(field, '"barter trade"'), ids(field, "barter trade")
    assert quoted == ["code/phrase"]
    assert set(words) == {"code/phrase", "code/not-phrase"}
    assert words[0] == "code/phrase"


def test_quotes_around_words_that_never_stand_together_fall_back_and_say_so(field: httpx.Client) -> None:
    answer = search(field, '"barter update"')
    assert answer["phrase_dropped"]
    assert {found["id"] for found in answer["hits"]} >= {"code/phrase", "code/not-phrase"}


@pytest.mark.parametrize(
    ("q", "entry"),
    [
        ("KL", "code/kl"),
        ("TP", "code/tp"),
        ("EP", "code/ep"),
        ("GAE", "code/gae"),
        ("DPO", "code/dpo"),
        ("OOM", "rank/exact-title"),
    ],
)
def test_an_abbreviation_comes_first_where_it_is_the_word(field: httpx.Client, q: str, entry: str) -> None:
    assert first(field, q) == entry
    assert first(field, q.lower()) == entry


@pytest.mark.parametrize(
    ("q", "entry"),
    [
        ("not implemented", "code/not"),
        ("is not implemented for Half", "code/not"),
        ("KeyError: 1", "code/key-1"),
        ("KeyError 1", "code/key-1"),
        ("KeyError: 2", "code/key-2"),
        ("None", "code/none"),
        ("gives None", "code/none"),
    ],
)
def test_small_words_and_numbers_count(field: httpx.Client, q: str, entry: str) -> None:
    assert first(field, q) == entry


@pytest.mark.parametrize("q", ["is not", "1", "is", "not"])
def test_a_query_of_nothing_but_small_words_still_finds_them(field: httpx.Client, q: str) -> None:
    found = search(field, q)["hits"]
    assert found
    assert any(q in FILES[f"{one['lang']}/{one['id']}.md"] for one in found[:1])


def test_a_part_finds_the_whole_and_the_whole_ranks_above_its_parts(field: httpx.Client) -> None:
    assert {"code/pool", "code/pool-size"} <= set(ids(field, "pool"))
    assert first(field, "pool_size") == "code/pool-size"
    assert first(field, "pool") == "code/pool"
