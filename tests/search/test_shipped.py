"""What must hold of search over the shipped content, whoever edits that and whatever is tuned."""

import re
from collections.abc import Iterator
from functools import cache

import pytest
from jieda.entry import Entry, Language
from jieda.search.answers import SearchRequest
from jieda.snapshot.snapshot import Snapshot

pytestmark = pytest.mark.slow

HAN_PAIR = re.compile(r"(?=([\u4e00-\u9fff]{2}))")
CODE_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
IDENTIFIER = re.compile(r"[\w\-./:=\[\]@]*[A-Za-z][\w\-./:=\[\]@]*", re.ASCII)
FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)} | {0x20: 0x3000}


def found(snapshot: Snapshot, text: str, limit: int, lang: Language = Language.EN) -> list[str]:
    """Ids of the first hits."""
    return [hit.entry.id for hit in snapshot.searcher.search(SearchRequest(text, lang, limit=limit)).hits]


def titles(snapshot: Snapshot) -> Iterator[tuple[Entry, Language, str]]:
    for entry in snapshot.library.entries.values():
        for lang, edition in entry.editions.items():
            yield entry, lang, edition.title


# ---- titles


def test_a_title_that_is_being_typed_raises_no_doubt_and_keeps_its_entry_in_sight(shipped: Snapshot) -> None:
    """Every sixteenth prefix, from the first or the ninth on; from 60 % of the title on the entry is among the first
    three, unless a word has just been begun: fewer than three letters are not completed, so they say nothing yet."""
    missed, doubted = [], []
    for number, (entry, lang, title) in enumerate(titles(shipped)):
        for end in range(1 + 8 * (number // 2 % 2), len(title) + 1, 16):
            request = SearchRequest(title[:end], lang, limit=3, unfinished=True)
            answer = shipped.searcher.search(request)
            if answer.weak or answer.correction:
                doubted.append(title[:end])
            begun = re.search(r"(?<![A-Za-z])[A-Za-z]{1,2}$", title[:end]) and title[end : end + 1].isalpha()
            if (
                end >= 0.6 * len(title)
                and not begun
                and entry.id not in [hit.entry.id for hit in answer.hits]
            ):
                missed.append(title[:end])
    assert (missed, doubted) == ([], [])


@pytest.mark.parametrize(
    "typed",
    [
        lambda title: title,
        lambda title: f"  「{title.upper()}」？！",
        lambda title: re.sub(r"[，。：、？（）,.:?()]", " ", title).lower(),
        lambda title: title.translate(FULL_WIDTH),
    ],
    ids=["as it is", "upper case in brackets", "lower case without punctuation", "full width"],
)
def test_every_title_puts_its_entry_first(shipped: Snapshot, typed: object) -> None:
    missed = [
        (entry.id, query)
        for entry, lang, title in titles(shipped)
        if found(shipped, query := typed(title), 1, lang) != [entry.id]  # type: ignore[operator]
    ]
    assert missed == []


def test_any_two_characters_of_a_chinese_title_find_it(shipped: Snapshot) -> None:
    """All entries with the pair in their title are among the first ten, or all ten have it there."""
    chinese = {
        entry.id: entry.editions[Language.ZH].title
        for entry in shipped.library.entries.values()
        if Language.ZH in entry.editions
    }
    pairs = {pair for title in chinese.values() for pair in HAN_PAIR.findall(title)}
    missed = {}
    for pair in sorted(pairs):
        holders = {entry_id for entry_id, title in chinese.items() if pair in title}
        ten = set(found(shipped, pair, 10, Language.ZH))
        if not (holders <= ten or (len(ten) == 10 and ten <= holders)):
            missed[pair] = holders - ten
    assert missed == {}


# ---- identifiers


def identifiers(snapshot: Snapshot) -> list[str]:
    """Everything in backticks that is written as one word of code."""
    spans = {
        span
        for entry in snapshot.library.entries.values()
        for edition in entry.editions.values()
        for span in CODE_SPAN.findall(edition.markdown)
    }
    return sorted(span for span in spans if IDENTIFIER.fullmatch(span))


INNER_CAPITAL = re.compile("[a-z][A-Z]")


class Texts:
    """The text that readers see of each entry, title and body in both languages."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._texts = {
            entry.id: "\n".join(
                text
                for e in entry.editions.values()
                for text in (e.title, *(part.text for part in e.sections))
            )
            for entry in snapshot.library.entries.values()
        }
        self._lower = {entry_id: text.lower() for entry_id, text in self._texts.items()}

    def holders(self, text: str) -> set[str]:
        """Entries in which `text` stands by itself, not as a part of a longer name; dashes before it do not count.

        Capitals inside a name divide it into words, so it is another name without them.
        """
        return self._matching(
            [text], rf"(?<!\w)(?<!\w-){re.escape(text)}(?![\w-])", fold=not INNER_CAPITAL.search(text)
        )

    @cache  # noqa: B019 - one for all tests here
    def spelled(self, text: str) -> set[str]:
        """Entries that hold `text` with any separators in it."""
        words = re.split("[-_]", text)
        return self._matching(words, rf"(?<!\w){'[-_ ]'.join(map(re.escape, words))}(?!\w)")

    def _matching(self, words: list[str], pattern: str, *, fold: bool = True) -> set[str]:
        compiled = re.compile(pattern, re.ASCII | (re.IGNORECASE if fold else re.NOFLAG))
        lower = [word.lower() for word in words]
        # The pattern is looked for only where its words are, which takes a fraction of the time.
        return {
            entry_id
            for entry_id, text in self._texts.items()
            if all(word in self._lower[entry_id] for word in lower) and compiled.search(text)
        }


@pytest.fixture(scope="module")
def texts(shipped: Snapshot) -> Texts:
    return Texts(shipped)


def test_every_identifier_puts_all_that_hold_it_before_all_others(shipped: Snapshot, texts: Texts) -> None:
    missed = {}
    for identifier in identifiers(shipped):
        holders = texts.holders(identifier)
        ahead = set(found(shipped, identifier, len(holders)))
        if ahead != holders:
            missed[identifier] = (holders - ahead, ahead - holders)
    assert missed == {}


@pytest.mark.parametrize("separator", ["-", "_", " "])
def test_an_identifier_is_found_whichever_separator_is_typed(
    shipped: Snapshot, texts: Texts, separator: str
) -> None:
    """Within the first five, where no more than five hold it under any separator."""
    missed = {}
    for identifier in identifiers(shipped):
        if not re.search(r"\w[-_]\w", identifier):
            continue
        holders = texts.spelled(identifier)
        typed = re.sub(r"(?<=\w)[-_](?=\w)", separator, identifier)
        if typed != identifier and len(holders) <= 5 and not holders <= set(found(shipped, typed, 5)):
            missed[typed] = holders
    assert missed == {}


# ---- what was promised by name


@pytest.mark.parametrize("lang", list(Language))
@pytest.mark.parametrize(
    ("query", "entries"),
    [
        ("KeyError: 1 node2pg", {"roll/node2pg-keyerror"}),
        ("self.node2pg[node_rank]", {"roll/node2pg-keyerror"}),
        ("lr_decay_steps", {"roll/lr-decay-steps-assertion"}),
        ("batch_size 16 < chunks 32", {"roll/batch-size-less-than-chunks"}),
        ("什么是共置模式", {"roll/colocate-mode"}),
        ("如何续训", {"slime/resume-training"}),
        ("训练出现乱码", {"slime/garbled-output"}),
        ("显存不足 max_tokens_per_gpu", {"slime/oom-max-tokens-per-gpu"}),
        ("colocate 模式", {"roll/colocate-mode"}),
        ("Max retries exceeded with url: /get_model_info", {"slime/sglang-max-retries"}),
        ("任务失败但是 DLC 显示成功", {"chatlearn/failed-job-shows-success"}),
        ("--no-check-for-nan-in-loss-and-grad", {"slime/grad-nan-inf"}),
        (
            "how to convert megatron checkpoint to huggingface",
            {"roll/convert-megatron-to-hf", "chatlearn/megatron-hf-conversion"},
        ),
    ],
)
def test_a_promised_query_finds_its_entry_first_in_either_language(
    shipped: Snapshot, query: str, entries: set[str], lang: Language
) -> None:
    hit = shipped.searcher.search(SearchRequest(query, lang)).hits[0]
    assert hit.entry.id in entries
    assert hit.edition.lang is lang


def test_traditional_characters_answer_exactly_as_simplified_ones(shipped: Snapshot) -> None:
    for texts in (("權重同步", "权重同步"), ("檢查點", "检查点"), ("顯存不足", "显存不足")):
        traditional, simplified = (
            shipped.searcher.search(SearchRequest(text, Language.ZH, limit=50)) for text in texts
        )
        assert traditional.hits == simplified.hits
        assert traditional.facets == simplified.facets
    assert all("out-of-memory" in hit.entry.error_types for hit in simplified.hits[:3])


# ---- what is said around a question


@pytest.mark.parametrize(
    ("lang", "around"),
    [
        (Language.EN, "Hello everyone, sorry to disturb you. {} Any help would be appreciated, thanks!"),
        (Language.EN, "Dear maintainers, thanks for this great work! {} Looking forward to your reply."),
        (Language.ZH, "你好，感谢开源这么好的项目。{} 期待回复，谢谢！"),
    ],
)
def test_greetings_and_thanks_around_a_question_seldom_raise_a_doubt(
    shipped: Snapshot, lang: Language, around: str
) -> None:
    """Of the titles as questions."""
    end = "?" if lang is Language.EN else "？"
    asked = [(entry.id, around.format(title + end)) for entry, of, title in titles(shipped) if of is lang]
    answers = [(owner, shipped.searcher.search(SearchRequest(text, lang, limit=1))) for owner, text in asked]
    right = [answer for owner, answer in answers if answer.hits[0].entry.id == owner]
    assert len(right) >= 0.95 * len(asked)
    assert sum(answer.weak for answer in right) <= 0.25 * len(right)
    nothing = shipped.searcher.search(SearchRequest(around.format("Sourdough" + end), lang))
    assert nothing.weak or not nothing.hits
