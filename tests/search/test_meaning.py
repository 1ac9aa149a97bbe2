"""What is said in other words is found, says so, and never comes before what is asked for by name."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from jieda.analysis.pipeline import Analyzer
from jieda.content.read.load import Loaded
from jieda.search.answers import ReasonType
from jieda.search.index.document import untitled_chunks
from jieda.search.meaning.embedder import FIRST_REST, Embedder, EntryVectors, Vectors
from jieda.search.meaning.embedder import embedder as installed
from jieda.snapshot.build.builder import Builder
from jieda.snapshot.snapshot import Analyzers, Snapshot
from jieda.snapshot.watch.follow import Follower

from bench.made import build_snapshot
from tests.search.small import ask, concept, error, files_of, first, found
from tests.support import small_content

FILES = {
    "en/disk": concept(
        "Free space on a full disk", "Delete old checkpoints. Then the next one can be written."
    ),
    "en/speed": concept("Make generation faster", "Use a larger batch. Longer answers take more time."),
    "en/people": concept("Who maintains this page", "A small team in Hangzhou looks after it."),
    "en/shapes": error(
        "shape mismatch of tensors", "Transpose the weights.", "RuntimeError: shape mismatch, got [4, 8]"
    ),
}
"""In English only, so that a question in Chinese shares no word with any of them."""


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    """The one that is installed."""
    made = installed(tmp_path_factory.mktemp("encoder"), wanted=True)
    assert made is not None
    return made


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The entries of FILES."""
    return small_content.write(tmp_path_factory.mktemp("meaning"), files_of(FILES))


@pytest.fixture(scope="module")
def semantic(content: Path, embedder: Embedder, analyzer: Analyzer) -> Snapshot:
    """A snapshot whose search embeds."""
    store = Path(mkdtemp(dir=content.parent))
    return build_snapshot(Loaded([content]).library(), analyzer, store, embedder)


@pytest.fixture(scope="module")
def lexical(content: Path, analyzer: Analyzer) -> Snapshot:
    """A snapshot that has words only."""
    return build_snapshot(Loaded([content]).library(), analyzer, Path(mkdtemp(dir=content.parent)))


ACROSS = {
    "硬盘没有空间了，旧的模型存档可以删吗": "disk",
    "怎样提高生成速度": "speed",
    "谁在维护这个网页": "people",
}


def test_half_a_character_harms_no_question(semantic: Snapshot) -> None:
    assert found(semantic, "怎样提高生成速度 \ud800")[:1] == ["speed"]


@pytest.mark.parametrize(("query", "slug"), ACROSS.items())
def test_an_entry_is_found_across_languages_and_says_why(
    semantic: Snapshot, lexical: Snapshot, query: str, slug: str
) -> None:
    assert slug not in found(lexical, query)
    hit = first(semantic, query, "zh")
    assert hit.entry.slug == slug
    assert hit.reasons[0].type is ReasonType.MEANING


def test_other_words_of_the_same_language_find_it_too(semantic: Snapshot, lexical: Snapshot) -> None:
    query = "my hard drive has no room left"
    assert found(lexical, query)[:1] != ["disk"]
    assert found(semantic, query)[:1] == ["disk"]


def test_what_is_found_by_words_gives_them_as_its_reason(semantic: Snapshot) -> None:
    types = [reason.type for reason in first(semantic, "make generation faster please").reasons]
    assert ReasonType.TITLE in types
    assert ReasonType.MEANING not in types


def test_a_word_that_brings_next_to_nothing_beside_meaning_is_no_reason(semantic: Snapshot) -> None:
    hit = first(semantic, "who looks after a page and is it a team in the city")
    assert {reason.text for reason in hit.reasons} == {"page", "looks", "team"}


@pytest.mark.parametrize(
    "query",
    [
        "Free space on a full disk",
        "Delete old checkpoints",
        "RuntimeError: shape mismatch, got [4, 8]",
        "RuntimeError: shape mismatch, got [16, 32] in model.py",
        "checkpoints",
    ],
)
def test_words_alone_decide_where_an_entry_holds_the_query_or_half_of_it_is_code(
    semantic: Snapshot, lexical: Snapshot, query: str
) -> None:
    assert [(hit.entry.id, hit.score) for hit in ask(semantic, query).hits] == [
        (hit.entry.id, hit.score) for hit in ask(lexical, query).hits
    ]


@pytest.mark.parametrize("query", ["asdfghjkl", "qwxz zzyq", "--no-such-flag", ""])
def test_what_means_nothing_finds_nothing(semantic: Snapshot, query: str) -> None:
    assert ask(semantic, query).total == 0


def test_a_stranger_is_called_weak(semantic: Snapshot) -> None:
    answer = ask(semantic, "how do I bake bread at home")
    assert not answer.hits or answer.weak


@pytest.mark.parametrize(
    "query", ["怎样提高生成速度", "how do I bake bread at home", "谁的面包", "a faster disk"]
)
def test_how_well_an_answer_fits_does_not_depend_on_how_many_are_shown(
    semantic: Snapshot, query: str
) -> None:
    assert len({ask(semantic, query, limit=limit).weak for limit in (1, 2, 10)}) == 1


def test_what_means_the_same_in_another_language_is_not_called_weak(semantic: Snapshot) -> None:
    assert not ask(semantic, "怎样提高生成速度", "zh").weak


def test_an_unfinished_word_is_not_embedded(semantic: Snapshot, lexical: Snapshot) -> None:
    query = "my hard drive has no roo"
    assert found(semantic, query, unfinished=True) == found(lexical, query, unfinished=True)


def test_filters_hold_for_what_is_found_by_meaning(semantic: Snapshot) -> None:
    assert "disk" not in found(semantic, "硬盘没有空间了", filters={"kind": ("error",)})


def test_vectors_are_made_once_and_searched_by_whoever_opens_the_generation(
    tmp_path: Path, content: Path, embedder: Embedder, analyzers: Analyzers
) -> None:
    counting = Counting(embedder)
    with_meaning = Analyzers(counting)
    content = small_content.write(tmp_path / "content", files_of(FILES))
    built = Builder([content], tmp_path / "data", with_meaning)
    assert built.build().changed
    texts = counting.texts
    assert texts > 3 * len(FILES)
    path = content / "content" if (content / "content").is_dir() else content
    edited = path / "en" / "roll" / "people.md"
    edited.write_text(concept("Who looks after this page", "Ask in the office."), encoding="utf-8")
    assert built.build().changed
    assert 0 < counting.texts - texts < texts / len(FILES) + 5
    before = len(counting.given)
    asked = {"怎样提高生成速度": "speed", "谁负责这个页面": "people"}
    for query, slug in asked.items():
        assert slugs(tmp_path / "data", with_meaning, query)[:1] == [slug]
    given = counting.given[before:]
    assert set(asked) <= set(given)
    assert all(any(text in query for query in asked) for text in given), "only what was asked is embedded"
    assert slugs(tmp_path / "data", analyzers, "怎样提高生成速度") == []


def slugs(data: Path, analyzers: Analyzers, query: str) -> list[str]:
    """What a process finds that follows the builder of `data`."""
    return found(followed(data, analyzers), query)


def followed(data: Path, analyzers: Analyzers) -> Snapshot:
    """What a process serves that follows the builder of `data`."""
    follower = Follower(data, analyzers, lambda: None)
    follower.catch_up()
    return follower.snapshot


def test_while_the_embedder_fails_words_are_searched_and_vectors_come_when_it_works(
    tmp_path: Path, embedder: Embedder
) -> None:
    failing = Failing(embedder)
    analyzers = Analyzers(failing)
    content = small_content.write(tmp_path / "content", files_of(FILES))
    builder = Builder([content], tmp_path / "data", analyzers)
    first = builder.build()
    assert first.lacks_vectors
    assert slugs(tmp_path / "data", analyzers, "free space on disk")[:1] == ["disk"]
    assert not builder.build().changed
    failing.fails = False
    time.sleep(FIRST_REST)  # until it is asked again
    assert builder.build().changed
    failing.fails = True
    assert slugs(tmp_path / "data", analyzers, "怎样提高生成速度") == []
    failing.fails = False
    time.sleep(FIRST_REST)
    assert slugs(tmp_path / "data", analyzers, "怎样提高生成速度")[:1] == ["speed"]
    assert not builder.build().lacks_vectors


class Failing:
    """An embedder that raises what ours never would, while it `fails`."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name, self.is_remote, self.is_reference = (
            embedder.name,
            embedder.is_remote,
            embedder.is_reference,
        )
        self.fails = True

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Vectors:
        """As the other one does, or not."""
        if self.fails:
            raise MemoryError
        return self._embedder.embed(texts)


class Counting:
    """An embedder that keeps the texts it is given."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name, self.is_remote, self.is_reference = (
            embedder.name,
            embedder.is_remote,
            embedder.is_reference,
        )
        self.given: list[str] = []

    @property
    def texts(self) -> int:
        """How many there were."""
        return len(self.given)

    def embed(self, texts: Sequence[str], *, as_query: bool = False) -> Vectors:
        """As the other one does."""
        self.given += texts
        return self._embedder.embed(texts)


def test_a_fact_at_the_end_of_a_long_sentence_is_found(
    tmp_path: Path, embedder: Embedder, analyzer: Analyzer
) -> None:
    """One clause of many is looked at by itself, without the title that all sentences share."""
    told = concept(
        "Notes on the river expedition of spring",
        "The boats left the harbour early in the morning with forty people, the weather stayed calm for nineteen days, "
        "the cook baked fresh bread with rye flour every evening, and the maps were printed in the capital.",
    )
    others = {
        f"en/other{n}": concept(
            f"Notes on the river expedition of {season}", f"It was {weather} for many days."
        )
        for n, (season, weather) in enumerate({"summer": "hot", "autumn": "wet", "winter": "cold"}.items())
    }
    content = small_content.write(tmp_path / "content", files_of({"en/told": told, **others}))
    library = Loaded([content]).library()
    snapshot = build_snapshot(library, analyzer, Path(mkdtemp(dir=tmp_path)), embedder)
    assert found(snapshot, "谁每天晚上烤黑麦面包")[0] == "told"
    pieces = tuple(untitled_chunks(library.entries["roll/told"]))
    assert "the cook baked fresh bread with rye flour every evening," in pieces


INVITED = {
    "en/letter": concept("Notes on the meeting of spring", "Everybody was invited by letter, said Zorvath."),
    "en/week": concept("Notes on the meeting of autumn", "It was postponed by a week."),
    "en/hall": concept("Notes on the meeting of winter", "The hall was too small for so many."),
}
"""In English only, alike but for a word or two."""


def test_a_word_of_the_other_language_finds_its_like_which_is_shown(
    tmp_path: Path, embedder: Embedder, analyzer: Analyzer
) -> None:
    content = small_content.write(tmp_path / "content", files_of(INVITED))
    snapshot = build_snapshot(Loaded([content]).library(), analyzer, Path(mkdtemp(dir=tmp_path)), embedder)
    for query, slug, typed, like in (
        ("会议怎么邀请的", "letter", "邀请", "invited"),
        ("会议推迟了多久", "week", "推迟", "postponed"),
    ):
        hit = first(snapshot, query, "zh")
        assert hit.entry.slug == slug
        assert (typed, like) in {
            (reason.text, reason.via) for reason in hit.reasons if reason.type is ReasonType.MEANING
        }
        assert like in hit.snippet.html.partition("<mark>")[2]


def test_words_are_compared_only_where_an_entry_lacks_a_language_and_names_never(
    tmp_path: Path, embedder: Embedder, analyzer: Analyzer
) -> None:
    twin = concept("春季会议纪要", "所有人都收到了书面邀请。")
    files = {"en/letter": INVITED["en/letter"], "zh/letter": twin, "en/week": INVITED["en/week"]}
    folders = {"both": {"en/letter", "zh/letter"}, "one": {*files}}
    words = {}
    for name, kept in folders.items():
        content = small_content.write(
            tmp_path / name, files_of({one: text for one, text in files.items() if one in kept})
        )
        library = Loaded([content]).library()
        snapshot = build_snapshot(library, analyzer, Path(mkdtemp(dir=tmp_path)), embedder)
        vectors = snapshot.index.lexicon.vectors
        words[name] = vectors.words.all() if vectors else []
    assert words["both"] == []
    assert "postponed" in words["one"]
    assert not {"letter", "zorvath", "邀请"} & {*words["one"]}


def test_the_words_of_an_edited_entry_are_those_of_an_index_built_anew(
    tmp_path: Path, embedder: Embedder
) -> None:
    counting = Counting(embedder)
    analyzers = Analyzers(counting)
    content = small_content.write(tmp_path / "content", files_of(INVITED))
    builder = Builder([content], tmp_path / "data", analyzers)
    builder.build()
    before = len(counting.given)
    edited = content / "en" / "roll" / "week.md"
    edited.write_text(concept("Notes on the meeting of autumn", "It was abolished."), encoding="utf-8")
    builder.build()
    assert [text for text in counting.given[before:] if " " not in text] == ["abolished"]
    Builder([content], tmp_path / "anew", analyzers).build()
    one, other = (vectors_of(tmp_path / name, analyzers) for name in ("data", "anew"))
    assert one == other
    assert "abolished" in one
    assert "postponed" not in one


def vectors_of(data: Path, analyzers: Analyzers) -> Mapping[str, bytes]:
    """The vectors of the words of the generation that is served from `data`."""
    vectors = followed(data, analyzers).index.lexicon.vectors
    assert vectors is not None
    rows = {word: vectors.vector(word) for word in vectors.words.all()}
    return {word: row.tobytes() for word, row in rows.items() if row is not None}


def test_kept_vectors_point_where_they_pointed() -> None:
    drawn = np.random.default_rng(1).normal(size=(40, 512)).astype(np.float32)
    unit = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    kept = EntryVectors.of(unit, central=len(unit), titles=0).vectors().astype(np.float32)
    cosines = (kept[1:] * unit).sum(axis=1) / np.linalg.norm(kept[1:], axis=1)
    assert len(kept) == 41
    assert cosines.min() > 0.999


def test_nobody_embeds_who_does_not_want_to(tmp_path: Path) -> None:
    assert installed(tmp_path, wanted=False) is None
