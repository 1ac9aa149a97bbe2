"""Right first on content that nobody tuned, beside other engines over the same texts.

    python -m bench.relevance [--reading DIRECTORY] [--pages DIRECTORY] [--only BED ...] [--judged FILE ...]
        [--dictionary FILE] [--peers]

The first DIRECTORY holds a parallel reading set, `xquad.en.json` and `xquad.zh.json`; the second one the marked pages
that `bench.importing` measures, of which `bench/imported.jsonl` asks. Beds whose directory is not named are left out,
and so are those that `--only` does not name. The shipped entries, and the same without aliases, symptoms, signatures
and glossary, together and one at a time, need neither. Everything is measured again by meaning as well where that
is installed. The dictionary is a file in CC-CEDICT's format: it counts on the beds that lack a language. With
`--peers`, the others answer too, each with the title weight that suits it best, and the sign test says how likely a
lead as large would be by luck: over the queries that only one of the two has right first, each as likely to be the
one, two-sided.
"""

import argparse
import math
import os
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.analysis.token import TokenKind
from jieda.content.library import Library
from jieda.content.read.load import Loaded
from jieda.evaluation.figures import JudgedQuery, build_index, display_language, rank_of
from jieda.search.answers import SearchRequest
from jieda.search.index.document import build_documents
from jieda.search.meaning.embedder import GuardedEmbedder
from jieda.search.meaning.embedder import embedder as installed
from jieda.search.query.translation import Dictionary, open_dictionary
from jieda.search.searcher import Searcher
from jieda.settings import Settings

from bench.beds import Bed, beds
from bench.peers import DEPTH, IN_FIVE, PEERS, TITLE_WEIGHTS, Document, MakePeer
from bench.tables import record

ROOT = Path(__file__).resolve().parent.parent
WORDS = {TokenKind.TERM, TokenKind.PART}

IN_TEN = 10
LANGUAGES = ("en", "zh", "mixed")

Ranks = dict[str, int]
"""The rank of the right entry by query key, or 0."""
Asked = Mapping[str, tuple[list[str], tuple[str, ...]]]
"""The words of each query, and the entries that answer it."""


def sign_test(wins: int, losses: int) -> float:
    """The two-sided p of the sign test: of `wins` + `losses` tosses of a coin, a split at least as uneven."""
    tosses, fewer = wins + losses, min(wins, losses)
    tail = sum(math.comb(tosses, k) for k in range(fewer + 1))
    return min(1.0, 2 * tail / float(2**tosses))


def searcher_of(
    bed: Bed,
    library: Library,
    folder: Path,
    embedder: GuardedEmbedder | None = None,
    dictionary: Dictionary | None = None,
) -> tuple[Searcher, Analyzer]:
    """Return Jieda's searcher for a bed; the embedder may be omitted even if the index was built with one."""
    analyzer = Analyzer(library.dictionary)
    glossary = Glossary(library.glossary, analyzer)
    documents = build_documents(library, analyzer, glossary, tuple(sorted(bed.languages)), embedder)
    index = build_index(folder, documents, embedder)
    return Searcher(library, index, analyzer, glossary, embedder, dictionary=dictionary), analyzer


def jieda_ranks(searcher: Searcher, queries: Iterable[JudgedQuery]) -> tuple[Ranks, int]:
    """Return ranks, and how many right answers are called weak."""
    ranks, weak = {}, 0
    for one in queries:
        answer = searcher.search(SearchRequest(one.query, display_language(one), limit=DEPTH))
        rank = ranks[key(one)] = rank_of([hit.entry.id for hit in answer.hits], one.expected)
        weak += rank == 1 and answer.weak
    return ranks, weak


def key(one: JudgedQuery) -> str:
    """Return a key: queries of a parallel set share ids between languages."""
    return f"{one.lang} {one.id}"


def documents(library: Library, analyzer: Analyzer) -> Iterator[Document]:
    """Yield titles, and all other searched texts, tokenized by Jieda's analysis."""
    for entry in library.entries.values():
        title: list[str] = []
        rest: list[str] = []
        for edition in entry.editions.values():
            title += words(analyzer, edition.title)
            for text in (*edition.aliases, *edition.symptoms, edition.markdown):
                rest += words(analyzer, text)
        yield entry.id, title, rest


def words(analyzer: Analyzer, text: str) -> list[str]:
    """Return the words of a text for a peer."""
    return [re.sub(r"\W+", "_", token.text) for token in analyzer.analyze(text).tokens if token.kind in WORDS]


def figures(name: str, ranks: Ranks) -> str:
    """Return a line of the table. The gain of a query is the gain of its best right entry, as one is enough for an
    answer."""
    first, five = shares(ranks.values())
    gained = sum(1 / math.log2(1 + rank) for rank in ranks.values() if 0 < rank <= IN_TEN) / len(ranks)
    recalled = sum(rank > 0 for rank in ranks.values()) / len(ranks)
    return f"{name:<28} {first:6.3f} {five:6.3f} {gained:6.3f} {recalled:6.3f}"


def cell(ranks: Ranks) -> str:
    """Return a table cell: right first / in five."""
    first, five = shares(ranks.values())
    return f"{first:.3f} / {five:.3f}"


def shares(ranks: Collection[int]) -> tuple[float, float]:
    """Return the shares of ranks that are first, and among the first five: between 0 and 1."""
    first, five = (sum(0 < rank <= depth for rank in ranks) / len(ranks) for depth in (1, IN_FIVE))
    return first, five


def measure(bed: Bed, folder: Path, dictionary: Dictionary | None, *, peers: bool) -> Iterator[list[str]]:
    """Print the figures of a bed; yield table rows, for all queries and per language."""
    library = Loaded([bed.content], languages=bed.languages).library()
    print(
        f"\n{bed.name}: {len(library.ids)} entries, {len(bed.queries)} queries: first, in five, nDCG@10, recall@{DEPTH}"
    )
    ours: dict[str, Ranks] = {}
    for name, embedder in engines():
        place = folder / name.replace(" ", "-")
        place.mkdir(parents=True)
        searcher, analyzer = searcher_of(bed, library, place, embedder, dictionary)
        ours[name], weak = jieda_ranks(searcher, bed.queries)
        tell(name, ours[name], weak)
    theirs: dict[str, Ranks] = {}
    if peers:
        made = list(documents(library, analyzer))
        asked = {key(one): (words(analyzer, one.query), one.expected) for one in bed.queries}
        for peer, make in PEERS.items():
            best = at_best_weight(make, made, asked)
            theirs[peer] = best.ranks
            for line in beside(peer, best, ours):
                print(line, flush=True)
    spoken = [lang for lang in LANGUAGES if any(one.lang == lang for one in bed.queries)]
    for lang in ("", *spoken) if len(spoken) > 1 else ("",):
        yield [f"{bed.name}, {lang}" if lang else bed.name, *cells(ours, theirs, lang)]


def cells(ours: Mapping[str, Ranks], theirs: Mapping[str, Ranks], lang: str) -> Iterator[str]:
    """Yield "right first / in five" of each engine for the queries of a language; for peers with the p against ours."""
    for ranks in ours.values():
        yield cell(part_of(ranks, lang))
    for ranks in theirs.values():
        ps = (f"{sign_test(*duel(part_of(own, lang), ranks)):.2g}" for own in ours.values())
        yield f"{cell(part_of(ranks, lang))} ({', '.join(ps)})"


def part_of(ranks: Ranks, lang: str) -> Ranks:
    """Return the ranks for the queries of a language, or all for an empty one."""
    return {one: rank for one, rank in ranks.items() if one.startswith(f"{lang} ") or not lang}


def engines() -> Iterator[tuple[str, GuardedEmbedder | None]]:
    """Yield Jieda by words alone, and by meaning as well where that is installed."""
    yield "Jieda", None
    if embedder := installed(Settings.load(os.environ).data, wanted=True):
        yield "Jieda semantic", GuardedEmbedder(embedder)


def tell(name: str, ranks: Ranks, weak: int) -> None:
    """Print Jieda's figures by language, and together."""
    for lang in LANGUAGES:
        if part := part_of(ranks, lang):
            print(figures(f"{name}, {lang} ({len(part)})", part))
    right = sum(rank == 1 for rank in ranks.values())
    print(figures(name, ranks), f" right but called weak: {weak / max(right, 1):.3f}")


class Weighed(NamedTuple):
    """A peer's ranks at its best title weight."""

    right: int
    weight: float
    ranks: Ranks


def at_best_weight(make: MakePeer, made: Sequence[Document], asked: Asked) -> Weighed:
    """Run a peer with each title weight; return the one with which it is most often right first."""
    tried = []
    for weight in TITLE_WEIGHTS:
        ask = make(made, weight)
        ranks = {one: rank_of(ask(typed), expected) for one, (typed, expected) in asked.items()}
        tried.append(Weighed(sum(rank == 1 for rank in ranks.values()), weight, ranks))
    return max(tried, key=lambda one: one.right)


def duel(ours: Ranks, theirs: Ranks) -> tuple[int, int]:
    """Count the queries of `ours` that only we, and that only they, have right first."""
    won = sum(rank == 1 != theirs[one] for one, rank in ours.items())
    return won, sum(theirs[one] == 1 != rank for one, rank in ours.items())


def beside(name: str, theirs: Weighed, ours: Mapping[str, Ranks]) -> Iterator[str]:
    """Yield a peer's figures, then against each of our engines: queries that only we, and only it, have right first,
    and the p of the test."""
    yield figures(f"{name}, title x {theirs.weight:g}", theirs.ranks)
    for lang in (*LANGUAGES, ""):
        for engine, ranks in ours.items():
            if part := part_of(ranks, lang):
                won, lost = duel(part, theirs.ranks)
                first, five = shares([theirs.ranks[one] for one in part])
                p = sign_test(won, lost)
                yield f"    {engine}, {lang or 'all'}: it {first:.3f} {five:.3f}, {won} to {lost}, p = {p:.2g}"


def main() -> None:
    """Parse arguments and measure bed by bed."""
    reader = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    reader.add_argument("--reading", type=Path)
    reader.add_argument("--pages", type=Path)
    reader.add_argument("--only", action="append")
    reader.add_argument("--judged", type=Path, action="append")
    reader.add_argument("--dictionary", type=Path)
    reader.add_argument("--peers", action="store_true")
    chosen = reader.parse_args()
    judged = chosen.judged or [ROOT / "tests/judged.jsonl"]
    for option in ("reading", "pages"):
        if getattr(chosen, option) is None:
            print(f"left out: the beds that need --{option}")
    with tempfile.TemporaryDirectory() as folder:
        named = chosen.dictionary
        dictionary = open_dictionary(named, Path(folder), "") if named else None
        made = beds(ROOT / "content", judged, chosen.reading, chosen.pages, Path(folder))
        rows = [
            row
            for number, bed in enumerate(made)
            if not chosen.only or bed.name in chosen.only
            for row in measure(bed, Path(folder, f"index-{number}"), dictionary, peers=chosen.peers)
        ]
    names = [*(name for name, _ in engines()), *(PEERS if chosen.peers else ())]
    record("relevance", ["right first / in five", *names], rows)


if __name__ == "__main__":
    main()
