"""What somebody who searches sees, over entries written for the purpose."""

import threading
import tracemalloc

import pytest
from jieda.search.answers import SuggestionType
from jieda.search.snippet import MarkedTerms
from jieda.snapshot.snapshot import Snapshot

from tests.search.small import MakeSnapshot, ask, concept, error, first, found, reasons
from tests.support.cost import assert_linear

FILLERS = {
    f"en/filler{number}": concept(f"Filler {number}", "Rain, tea and old songs.") for number in range(6)
}
"""Entries about nothing, so that words can be rare."""
GLOSSARY = """\
- {en: ["GPU memory", "VRAM"], zh: ["显存"]}
- {en: ["hang", "stuck"], zh: ["卡住"]}
"""

# ---- what comes first


def test_what_is_a_title_comes_first_however_often_others_say_it(small: MakeSnapshot) -> None:
    often = concept("Something else", "Resume training. " * 30, aliases="[resume training a lot]")
    snapshot = small(FILLERS | {"en/often": often, "en/titled": concept("Resume training")})
    for text in (
        "Resume training",
        "resume TRAINING?",
        "ＲＥＳＵＭＥ　training",
        "resume-training",
        " resume, training ",
    ):
        assert found(snapshot, text)[0] == "titled", text
    assert reasons(first(snapshot, "resume training")) == [("title", "Resume training", "")]


def test_a_word_that_serves_the_sentence_is_no_reason_beside_another(small: MakeSnapshot) -> None:
    files = FILLERS | {
        "en/zoo": concept("Zoo", "How do I feed zebras? I give them hay.", aliases="[how do i]")
    }
    snapshot = small(files)
    assert {text for _, text, _ in reasons(first(snapshot, "how do i greet zebras"))} == {"zebras"}


def test_who_writes_a_name_otherwise_comes_before_who_has_it_inside_of_a_longer_one(
    small: MakeSnapshot,
) -> None:
    alike = concept("Options", f"{'Rain and tea. ' * 30}Some call it batch-size.")
    inside = concept("What rollout_batch_size is", "Set `rollout_batch_size`. " * 30)
    snapshot = small(FILLERS | {"en/alike": alike, "en/inside": inside})
    assert found(snapshot, "batch_size")[:2] == ["alike", "inside"]


@pytest.mark.parametrize(
    "text", ["{}=8", "{}: 8", "{} = 8", "set {}=8 and it fails", "设置 {}=8 报错", "--{}=8"]
)
def test_a_setting_is_found_by_its_name_and_its_value_confirms(small: MakeSnapshot, text: str) -> None:
    numbers = concept("Counts", "Use `8` of 8, then `--tp 8`: 8 is `x[8]`.", aliases="[eight of 8]")
    named = concept("Batches", "The option `train_batch_size` is the number of samples.")
    valued = concept("Groups", "With `train_batch_size=8` a step takes a group.")
    snapshot = small(FILLERS | {"en/numbers": numbers, "en/named": named, "en/valued": valued})
    for name in ("train_batch_size", "batch_size"):
        assert set(found(snapshot, text.format(name))[:2]) == {"named", "valued"}, name
    assert found(snapshot, text.format("train_batch_size"))[0] == "valued"


@pytest.mark.parametrize("text", ["_", "a __ = 8", "lr: _"])
def test_marks_that_make_no_word_harm_no_query(small: MakeSnapshot, text: str) -> None:
    assert ask(small(FILLERS), text).query == text


@pytest.mark.parametrize("mark", ["“", "「"])
def test_quotes_that_are_never_closed_cost_what_they_are_long(small: MakeSnapshot, mark: str) -> None:
    snapshot = small(FILLERS)
    assert_linear(lambda size: ask(snapshot, mark * size), 2000)


def test_what_is_an_alias_comes_first_too(small: MakeSnapshot) -> None:
    often = concept("Carry on with a run", "Carry on with a run. " * 20)
    named = concept("Resuming", aliases="[carry on]")
    snapshot = small(FILLERS | {"en/often": often, "en/named": named})
    assert found(snapshot, "Carry on!") == ["named", "often"]
    assert reasons(first(snapshot, "carry on")) == [("alias", "carry on", "")]


def test_title_then_alias_then_heading_then_text(small: MakeSnapshot) -> None:
    files = {
        "en/text": concept("One", "About zebras."),
        "en/heading": concept("Two", "Hello.\n\n### Zebras\n\nHello."),
        "en/alias": concept("Three", aliases="[a few zebras]"),
        "en/title": concept("Four zebras"),
    }
    assert found(small(FILLERS | files), "zebras everywhere today") == ["title", "alias", "heading", "text"]


def test_a_character_that_stands_alone_is_a_word(small: MakeSnapshot) -> None:
    files = {"zh/words": concept("一", "风扇和主板。"), "zh/character": concept("二", "旧的要换掉。")}
    assert found(small(FILLERS | files), "换风扇主板") == ["words", "character"]


def test_an_exact_identifier_beats_longer_names_and_its_parts(small: MakeSnapshot) -> None:
    files = {
        "en/longer": concept("One", "`max_tokens_per_gpu` and `max_tokens_per_gpu`, `max_tokens_per_node`."),
        "en/parts": concept("Two", "Max tokens, max tokens, max tokens."),
        "en/exact": concept("Three", "Set `max_tokens` once."),
        "en/whole": concept("Four", "`quayWatchTitle` and again `quayWatchTitle`: the quay watch."),
        "en/part": concept("Five", "Turn on `quayWatch` once."),
    }
    snapshot = small(FILLERS | files)
    hits = found(snapshot, "max_tokens")
    assert (hits[0], set(hits)) == ("exact", {"exact", "longer", "parts"})
    assert reasons(first(snapshot, "max_tokens")) == [("identifier", "max_tokens", "")]
    assert found(snapshot, "quayWatch")[:2] == ["part", "whole"]
    assert [found(snapshot, typed)[0] for typed in ("quaywatch", "quayWatchTitle")] == ["part", "whole"]


@pytest.mark.parametrize(
    "typed",
    [
        "rollout_batch_size",
        "rollout-batch-size",
        "rollout batch size",
        "--rollout-batch-size",
        "Rollout_Batch_Size",
    ],
)
def test_dash_underscore_and_space_find_the_same_identifier(small: MakeSnapshot, typed: str) -> None:
    files = {
        "en/words": concept("One", "The batch is small. A rollout has a size. Another batch, another size."),
        "en/name": concept("Two", "Set `rollout_batch_size` to 8."),
    }
    assert found(small(FILLERS | files), typed)[0] == "name"


def test_an_identifier_that_words_of_a_question_spell_is_no_rarer_than_they(small: MakeSnapshot) -> None:
    """Otherwise the one entry that mentions it outranks those that the question is about."""
    files = {
        "en/asked": concept("Resume a run from a checkpoint", "Start it again."),
        "en/flag": concept(
            "Broken memory", "Set `resume_training`.\n\n```yaml\nresume_training: true\n```\n"
        ),
        **{
            f"en/more{n}": concept(f"Number {n}", "See how training goes on to a checkpoint.")
            for n in range(12)
        },
        **{f"en/talk{n}": concept(f"Talk {n}", "Resume your talk.") for n in range(4)},
    }
    snapshot = small(FILLERS | files)
    assert found(snapshot, "how to resume training from a checkpoint")[0] == "asked"
    assert found(snapshot, "resume_training")[0] == "flag"


@pytest.mark.parametrize(
    ("typed", "slug"),
    [
        ("multiline", "hyphen"),
        ("multi line", "hyphen"),
        ("check point", "together"),
        ("28181", "number"),
        ("mbedtls", "apart"),
        ("which mbedtls", "apart"),
    ],
)
def test_a_name_is_found_written_together_or_apart(small: MakeSnapshot, typed: str, slug: str) -> None:
    files = {
        "en/hyphen": concept("One", "A multi-line text is kept."),
        "en/together": concept("Two", "The checkpoint is kept."),
        "en/number": concept("Three", "Cameras speak GB28181 here."),
        "en/apart": concept("Four", "Mbed TLS shakes hands."),
        "en/words": concept("Five", "A point of order. A check, a line. TLS, always TLS."),
    }
    assert found(small(FILLERS | files), typed)[0] == slug


def test_words_that_stand_apart_are_not_one(small: MakeSnapshot) -> None:
    """A word that no entry has is neither two that end and begin a sentence, nor two that stand somewhere each."""
    files = {
        "en/ends": concept("One", "Turn it up. Load comes later."),
        "en/far": concept("Two", "A bed for a room."),
    }
    snapshot = small(FILLERS | files)
    assert not found(snapshot, "upload")
    assert not found(snapshot, "bedroom")


def test_words_of_a_sentence_are_no_inflected_name(small: MakeSnapshot) -> None:
    """A name that has one of them is only meant as it is written."""
    files = {
        "en/chips": concept("One", "It runs on chips of many makers."),
        "en/name": concept("Two", "Weights stay on-chip."),
    }
    snapshot = small(FILLERS | files)
    assert found(snapshot, "runs on chips")[0] == "chips"
    assert all(
        type_ != "identifier" for hit in ask(snapshot, "runs on chips").hits for type_, *_ in reasons(hit)
    )
    assert found(snapshot, "on chip")[0] == "name"


def test_the_word_itself_beats_its_synonym_and_that_a_correction(small: MakeSnapshot) -> None:
    """Where all are equally rare: two entries each know the synonyms and the corrected word."""
    files = {
        "en/corrected": concept("One", "It is garbled now."),
        "en/corrected-too": concept("Four", "It is garbled now."),
        "en/literal": concept("Two", "It is sluggish now."),
        "en/synonym": concept("Three", "It is lethargic now."),
    }
    snapshot = small(FILLERS | files, "- {en: [sluggish, lethargic], zh: [迟缓]}\n")
    assert found(snapshot, "garbeld sluggish walrus") == ["literal", "synonym", "corrected", "corrected-too"]


@pytest.mark.parametrize("typed", ["purple zebra walrus", "which zebra walrus was that", "谁见过紫色斑马"])
def test_words_in_the_order_asked_for_beat_the_same_words_apart(small: MakeSnapshot, typed: str) -> None:
    files = {
        "en/apart": concept("One", "The walrus is tired. A purple day. Nobody knows a zebra."),
        "en/together": concept("Two", "Nobody here is tired. It saw a purple zebra walrus one day."),
        "zh/apart": concept("一", "斑马见过紫色的一天。"),
        "zh/together": concept("二", "大家都没有见过的是紫色斑马，一天也没有。"),
    }
    assert found(small(FILLERS | files), typed)[0] == "together"


# ---- languages


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_question_finds_an_entry_that_exists_only_in_the_other_language(
    small: MakeSnapshot, lang: str
) -> None:
    files = {
        "zh/zh-only": concept("怎样省显存", "减小批次。").replace("## Answer", "## 回答"),
        "en/en-only": concept("The job is stuck"),
    }
    snapshot = small(FILLERS | files, GLOSSARY)
    hit = first(snapshot, "GPU memory", lang)
    assert (hit.entry.slug, hit.edition.lang) == ("zh-only", "zh")
    assert reasons(hit) == [("glossary", "GPU memory", "显存")]
    hit = first(snapshot, "任务卡住了", lang)
    assert (hit.entry.slug, hit.edition.lang) == ("en-only", "en")
    assert ("glossary", "卡住", "stuck") in reasons(hit)


def test_a_reason_names_a_word_as_it_was_typed(small: MakeSnapshot) -> None:
    snapshot = small(
        FILLERS | {"zh/zh-only": concept("怎样省显存", "减小批次。").replace("## Answer", "## 回答")},
        GLOSSARY,
    )
    for typed in ("GPU  Memories", "gpu-memory"):
        assert reasons(first(snapshot, typed, "en")) == [("glossary", " ".join(typed.split()), "显存")]


def test_a_reason_names_a_part_whole_where_a_typed_character_stands_for_two(small: MakeSnapshot) -> None:
    snapshot = small(FILLERS | {"en/words": concept("Profiles", "To profile memory, wait.")})
    for typed, part in (("pro\ufb01le_memory", "profile"), ("stra\u00dfe_memory", "memory")):
        assert part in {text for _, text, _ in reasons(first(snapshot, typed))}, typed


def test_a_version_with_an_underscore_is_found_whole(small: MakeSnapshot) -> None:
    snapshot = small(FILLERS | {"en/image": concept("Images", "Pull `roll:v0.3_npu2.10.0_py3.12`.")})
    for typed in ("roll:v0.3_npu2.10.0_py3.12", "roll_v0.3_npu2.10.0_py3.12"):
        assert found(snapshot, typed)[:1] == ["image"]


def test_hits_are_the_same_in_both_languages_and_shown_in_the_readers(small: MakeSnapshot) -> None:
    both = {
        "en/twin": concept("Zebra crossing", "English words."),
        "zh/twin": concept("斑马线", "中文文字。").replace("## Answer", "## 回答"),
    }
    snapshot = small(FILLERS | both)
    for query in ("zebra crossing", "斑马线"):
        english, chinese = (ask(snapshot, query, lang) for lang in ("en", "zh"))
        assert (
            [hit.entry.slug for hit in english.hits] == [hit.entry.slug for hit in chinese.hits] == ["twin"]
        )
        assert (english.hits[0].edition.title, chinese.hits[0].edition.title) == ("Zebra crossing", "斑马线")
        assert "English" in english.hits[0].snippet.text
        assert "中文" in chinese.hits[0].snippet.text


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_content_directory_of_one_language_works_for_readers_of_both(
    small: MakeSnapshot, lang: str
) -> None:
    chinese = {
        "zh/memory": concept("显存占用", "减小批次。").replace("## Answer", "## 回答"),
        "zh/stuck": concept("任务卡住", "重启任务。").replace("## Answer", "## 回答"),
    }
    snapshot = small(chinese, GLOSSARY)
    assert found(snapshot, "the job is stuck", lang=lang) == ["stuck"]
    assert found(snapshot, "显存", lang=lang) == ["memory"]
    assert ask(snapshot, "显存", lang, filters={"edition": "en"}).hits == ()


def test_a_synonym_may_be_inflected_and_stand_anywhere_in_a_question(small: MakeSnapshot) -> None:
    files = {"zh/stuck": concept("任务卡住", "重启。").replace("## Answer", "## 回答")}
    snapshot = small(FILLERS | files, GLOSSARY)
    assert found(snapshot, "my run hangs forever") == ["stuck"]


# ---- spelling


@pytest.fixture
def spelled(small: MakeSnapshot) -> Snapshot:
    return small(
        FILLERS
        | {
            "en/garbled": error(
                "Garbled output",
                "Set `max_tokens=8` and fp8 on `node2pg`, version 0.6.3, rank-zero, DeepSpeed.",
            ),
            "zh/memory": concept("显存不足", "减小批次。").replace("## Answer", "## 回答"),
        },
        GLOSSARY,
    )


@pytest.mark.parametrize(
    ("typed", "corrected"),
    [
        ("garbeld output", "garbled output"),
        ("gabrled output", "garbled output"),
        ("Garbeld OUTPUT（日志）", "garbled OUTPUT（日志）"),
        ("outptu is garbled", "output is garbled"),
        ("vresion", "version"),
        ("显村", "显存"),
        ("agrbled output", "garbled output"),
        ("DeepSpede", "deepspeed"),
        ("outptu", "output"),
        ("versiom", "version"),
        ("versoin of the ouptut", "version of the output"),
        (" ".join(["garbeld"] * 6), " ".join(["garbled"] * 6)),
        ("max_tokns", "max_tokens"),
        ("MAX_TOKNS=8", "MAX_TOKENS=8"),
        ("which --max-tokesn", "which --max-tokens"),
        ("maximal_tokns=4, garbeld", "maximal_tokns=4, garbled"),
    ],
)
def test_a_slip_is_corrected_and_said_so(spelled: Snapshot, typed: str, corrected: str) -> None:
    answer = ask(spelled, typed)
    assert answer.correction == corrected
    assert answer.hits
    assert any(reason[0] == "typo" for reason in reasons(answer.hits[0]))


@pytest.mark.parametrize(
    "typed",
    [
        *("min_tokens", "max_tokenizers", "node2gp", "fp9", "0.6.4", "rank-zreo", "outptu.garbled"),
        *("output2", "outp-ut", "fp8==0.6.4"),
        *("sogn", "GARBLED", "garbles", "显存", "wholly unknown words"),
        "barbled",  # nobody slips in the first letter
        "显示",  # one character of 显存, and another sound
        "outpux",  # nor in the last one of a short word: httpx is not https
        "versionia",  # nor there and elsewhere at once
        "verzionx",
        "VerziON",  # capitals inside make a name, which is no slip for a word
    ],
)
def test_numbers_short_words_and_words_that_occur_are_never_corrected(spelled: Snapshot, typed: str) -> None:
    answer = ask(spelled, typed)
    assert answer.correction == ""
    assert not [reason for hit in answer.hits for reason in reasons(hit) if reason[0] == "typo"]


def test_a_number_is_meant_in_a_question_and_varies_in_an_error_message(small: MakeSnapshot) -> None:
    snapshot = small(
        {
            "en/number": concept("One", "Written in 2019."),
            "en/word": concept("Two", "Written by a walrus."),
        }
    )
    assert found(snapshot, "walrus 2019") == ["number", "word"]
    assert found(snapshot, "WalrusError: walrus 2019") == ["word"]


def test_verbatim_corrects_nothing_and_offers_to(spelled: Snapshot) -> None:
    answer = ask(spelled, "garbeld output", verbatim=True)
    assert answer.correction == ""
    assert [(one.type, one.query) for one in answer.suggestions] == [
        (SuggestionType.SPELLING, "garbled output")
    ]
    assert not [reason for hit in answer.hits for reason in reasons(hit) if reason[0] == "typo"]


# ---- quotes, and what is not an operator


@pytest.fixture
def phrased(small: MakeSnapshot) -> Snapshot:
    files = {
        "en/turned": concept("One", "The decay of the lr."),
        "en/whole": concept("Two", "Watch the lr decay style."),
        "zh/whole": concept("权重", "先看权重同步。").replace("## Answer", "## 回答"),
        "zh/turned": concept("同步", "同步之后看权重。").replace("## Answer", "## 回答"),
    }
    return small(FILLERS | files)


@pytest.mark.parametrize(
    "quoted", ['"lr decay"', "“lr decay”", "「lr decay」", '"LR decay" style', '"lr-decay"']
)
def test_quotes_of_any_kind_ask_for_the_words_side_by_side(phrased: Snapshot, quoted: str) -> None:
    assert found(phrased, quoted) == ["whole"]
    assert not ask(phrased, quoted).phrase_dropped


def test_a_chinese_phrase_is_a_phrase(phrased: Snapshot) -> None:
    assert found(phrased, "「权重同步」") == ["whole"]
    assert set(found(phrased, "权重同步")) == {"whole", "turned"}


def test_a_phrase_that_stands_nowhere_is_searched_as_words_and_said_so(phrased: Snapshot) -> None:
    answer = ask(phrased, '"decay lr"')
    assert answer.phrase_dropped
    assert {hit.entry.slug for hit in answer.hits} == {"turned", "whole"}


@pytest.mark.parametrize(
    "text",
    [
        *(
            '"lr decay',
            'lr "decay',
            '{"lr": "decay"}',
            'lr="decay"',
            'File "lr.py", line 1\n"decay lr"',
            '""',
        ),
        *('FATAL: "lr decay" failed', "错误: “lr decay” 失败"),
    ],
)
def test_quotes_that_belong_to_the_text_ask_for_nothing(phrased: Snapshot, text: str) -> None:
    answer = ask(phrased, text)
    assert not answer.phrase_dropped
    assert text == '""' or {hit.entry.slug for hit in answer.hits} == {"whole", "turned"}


@pytest.mark.parametrize(
    "typed",
    [
        *(
            "NOT garbled",
            "-garbled",
            "+garbled",
            "garbled*",
            "*garbled",
            "garbled?",
            "garbled~9",
            "garbled^99",
        ),
        *(
            "(garbled",
            "garbled)))",
            "[garbled",
            "garbled TO z]",
            "{garbled",
            "title:garbled",
            "-id:x garbled",
        ),
        *(
            "garbled AND",
            "OR garbled",
            "garbled ANDNOT garbled",
            "garbled\\",
            "'garbled",
            "garbled || x",
            "<garbled>",
        ),
    ],
)
def test_signs_that_other_engines_read_as_operators_are_text(spelled: Snapshot, typed: str) -> None:
    assert found(spelled, typed)[0] == "garbled"


@pytest.mark.parametrize(
    "typed", ["", "   ", "***", "---", "？？？", "...", "(((", "\n", "\x00", '"', "！", "🎉", "\ud800"]
)
def test_nothing_but_signs_finds_nothing(spelled: Snapshot, typed: str) -> None:
    answer = ask(spelled, typed)
    assert (answer.total, answer.hits, answer.weak, answer.suggestions) == (0, (), False, ())


def test_what_is_half_typed_again_is_completed(small: MakeSnapshot) -> None:
    snapshot = small(FILLERS | {"en/saved": concept("Checkpoints", "A checkpoint is saved.")})
    assert found(snapshot, "rain che", unfinished=True)[0] == "saved"
    assert found(snapshot, "che rain che", unfinished=True)[0] == "saved"


def test_words_too_long_to_be_words_stay_in_no_memory(spelled: Snapshot) -> None:
    words = [f"{'qwrtz' * 390}{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(100)]
    tracemalloc.start()
    try:
        for word in words:
            spelled.searcher.analyzer.analyze(word)
            spelled.index.lexicon.doc_frequency(f"x:{word}")
            MarkedTerms.of({f"x:{word}": 1.0})
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 10 * len(words[0])


def test_marks_above_han_characters_do_no_harm_to_a_search(small: MakeSnapshot) -> None:
    snapshot = small(
        FILLERS | {"zh/oom": concept("显存不足怎么办", "减小批次。").replace("## Answer", "## 回答")}
    )
    assert found(snapshot, "不足\u0301\u0301\ufdfa") == ["oom"]


def test_a_draft_is_found_by_nothing(small: MakeSnapshot) -> None:
    files = {
        "en/draft": concept("Zebra draft", "Zebra.", draft="true"),
        "en/served": concept("Zebra served", "Zebra."),
    }
    snapshot = small(FILLERS | files)
    for typed in ("zebra", "Zebra draft", "draft:true OR zebra", '"Zebra draft"', "zebra*"):
        assert found(snapshot, typed) == ["served"], typed


# ---- little or nothing found


@pytest.fixture
def tagged(small: MakeSnapshot) -> Snapshot:
    return small(
        FILLERS
        | {
            "en/roll/zebra": concept("Zebra one", topics="[storage]"),
            "en/slime/zebra-two": error("Zebra two", topics="[network]", error_types="[crash]"),
            "zh/slime/zebra-three": concept("Zebra 三", topics="[storage, network]").replace(
                "## Answer", "## 回答"
            ),
        }
    )


@pytest.mark.parametrize(
    ("filters", "kept"),
    [
        ({}, {"zebra", "zebra-two", "zebra-three"}),
        ({"framework": ("slime",)}, {"zebra-two", "zebra-three"}),
        ({"framework": ("slime", "roll")}, {"zebra", "zebra-two", "zebra-three"}),
        ({"framework": ("slime",), "kind": ("error",)}, {"zebra-two"}),
        ({"topic": ("storage",)}, {"zebra", "zebra-three"}),
        ({"topic": ("storage",), "edition": "zh"}, {"zebra-three"}),
        ({"error_type": ("crash",)}, {"zebra-two"}),
    ],
)
def test_filters_keep_what_carries_the_tags(
    tagged: Snapshot, filters: dict[str, object], kept: set[str]
) -> None:
    assert set(found(tagged, "zebra", filters=filters)) == kept


def test_a_filter_that_hides_everything_is_offered_to_be_dropped(tagged: Snapshot) -> None:
    answer = ask(
        tagged, "Zebra one", filters={"framework": ("slime",), "topic": ("storage",), "kind": ("error",)}
    )
    assert answer.hits == ()
    offered = {(one.facet, one.count) for one in answer.suggestions if one.type is SuggestionType.DROP_FILTER}
    for one in answer.suggestions:
        if one.type is SuggestionType.DROP_FILTER:
            assert one.count == ask(tagged, "Zebra one", filters=filters_of(one)).total
    assert {facet for facet, _ in offered} <= {"framework", "topic", "kind"}
    assert offered


def filters_of(suggestion: object) -> dict[str, object]:
    chosen = suggestion.filters  # type: ignore[attr-defined]
    names = ("framework", "kind", "topic", "error_type", "edition")
    return {name: getattr(chosen, name) for name in names}


def test_where_no_single_filter_is_to_blame_dropping_all_is_offered(tagged: Snapshot) -> None:
    answer = ask(tagged, "zebra", filters={"error_type": ("crash",), "edition": "zh", "framework": ("roll",)})
    assert [(one.facet, one.count) for one in answer.suggestions] == [("", 3)]


def test_a_filter_is_not_blamed_for_what_would_be_found_nowhere(tagged: Snapshot) -> None:
    answer = ask(tagged, "walrus", filters={"framework": ("roll",)})
    assert (answer.total, answer.suggestions) == (0, ())


def test_below_an_entry_that_holds_a_whole_line_stands_nothing_that_shares_its_small_words(
    small: MakeSnapshot,
) -> None:
    line = "return self.node2pg[node_rank]"
    held = {f"en/held{number}": concept(f"Held {number}", f"`return self.x{number}`") for number in range(2)}
    named = {"en/named": concept("The map of nodes", "`self.node2pg[node_rank]` will return it.")}
    without, whole = FILLERS | held | named, {"en/whole": concept("A lookup", f"```python\n{line}\n```")}
    assert set(found(small(without), line)) == {"named", "held0", "held1"}
    assert found(small(without | whole), line) == ["whole", "named"]


def test_near_misses_are_kept_apart_from_hits(small: MakeSnapshot) -> None:
    snapshot = small(FILLERS | {"en/zebra": concept("Zebra")})
    answer = ask(snapshot, "quantum flux capacitor overheats whenever rain falls upon mars")
    assert (answer.total, answer.hits) == (0, ())
    assert {one.type for one in answer.suggestions} == {SuggestionType.NEAR_MISS}
    near = [one.entry.slug for one in answer.suggestions if one.entry]
    assert near
    assert all(slug.startswith("filler") for slug in near)


def test_words_that_stand_nowhere_find_nothing(spelled: Snapshot) -> None:
    for typed in ("qwrtzpsd", "xkcd zzyzx", "饕餮", "node9zz"):
        answer = ask(spelled, typed)
        assert (answer.total, answer.suggestions) == (0, ()), typed


def test_little_in_common_is_called_weak_and_much_is_not(small: MakeSnapshot) -> None:
    snapshot = small(FILLERS | {"en/zebra": concept("Zebra crossing", "Look left, then right.")})
    assert ask(snapshot, "purple quantum flux beside one zebra").weak
    assert not ask(snapshot, "Zebra crossing").weak
    assert not ask(snapshot, "crossing a zebra").weak


def test_an_answer_that_stands_in_a_body_is_not_weak_for_that(small: MakeSnapshot) -> None:
    text = "A zebra needs grass. Whoever keeps one should know that crossing a river is hard for it."
    snapshot = small({"en/keeping": concept("Keeping animals", text), "en/other": concept("Other")})
    assert not ask(snapshot, "river and zebra").weak
    assert ask(snapshot, "the river has quantum flux").weak


def test_a_name_that_nobody_knows_says_more_against_an_answer_than_a_word_that_is_missing(
    small: MakeSnapshot,
) -> None:
    snapshot = small(FILLERS | {"en/best": concept("Herds", "A zebra and a walrus met by a river.")})
    assert not ask(snapshot, "zebra walrus banana").weak
    assert ask(snapshot, "zebra walrus qwrtz").weak


def test_words_that_only_serve_a_sentence_weigh_next_to_nothing(small: MakeSnapshot) -> None:
    files = {
        "en/served": concept("What is the way to do this and how", "What is it? How is it? Why is it?"),
        "en/zebra": concept("Zebras"),
    }
    snapshot = small(FILLERS | files)
    assert found(snapshot, "what is the way to do a zebra and how is it")[0] == "zebra"
    assert found(snapshot, "what is the") == ["served"]


@pytest.mark.parametrize("name", ["owl-4", "Owl2.5-Large-4b", "night-owl"])
def test_words_joined_by_hyphens_outweigh_no_word_that_is_as_rare(small: MakeSnapshot, name: str) -> None:
    more = {f"en/more{number}": concept(f"More {number}", "Rain and tea.") for number in range(8)}
    named = {f"en/named{number}": concept(f"Zoo {number}", f"There is {name} to see.") for number in range(2)}
    files = FILLERS | more | named | {"en/kettle": concept("Kitchen", "There is a kettle to see.")}
    assert found(small(files), f"{name} kettle")[0] == "kettle"


def test_not_and_none_carry_meaning(small: MakeSnapshot) -> None:
    files = {
        "en/not": concept("One", "This operator is not implemented."),
        "en/is": concept("Two", "This operator is implemented, implemented, implemented."),
        "en/none": concept("Three", "It gives None."),
    }
    snapshot = small(FILLERS | files)
    assert found(snapshot, "is not implemented")[0] == "not"
    assert found(snapshot, "None") == ["none"]


# ---- pages of hits, and many who search at once


def test_pages_follow_one_another_and_the_total_stays(small: MakeSnapshot) -> None:
    files = {
        f"en/zebra{number:02}": concept(f"{number} zebras", "Zebra. " * number) for number in range(1, 14)
    }
    snapshot = small(FILLERS | files)
    whole = found(snapshot, "zebra", limit=50)
    assert len(whole) == 13
    paged = [found(snapshot, "zebra", limit=5, offset=offset) for offset in (0, 5, 10, 15)]
    assert [slug for page in paged for slug in page] == whole
    assert {ask(snapshot, "zebra", limit=5, offset=offset).total for offset in (0, 5, 99)} == {13}


def test_many_who_search_at_once_get_what_each_alone_would(spelled: Snapshot) -> None:
    asked = [
        "garbled",
        "garbeld output",
        "显存",
        "VRAM",
        '"garbled output"',
        "rain tea",
        "max_tokens",
        "filler",
    ]
    alone = [ask(spelled, text) for text in asked]
    together: dict[int, object] = {}

    def run(number: int) -> None:
        together[number] = ask(spelled, asked[number % len(asked)])

    threads = [threading.Thread(target=run, args=(number,)) for number in range(3 * len(asked))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(together[number] == alone[number % len(asked)] for number in range(3 * len(asked)))
