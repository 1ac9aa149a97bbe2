"""Right first of a diagnosis beside plain retrieval over the same text, and what each part of the model is worth.

    .venv/bin/python -m bench.diagnosis [--locked] [--background] [FILE ...]

FILE are judged logs; by default `tests/judged.jsonl` and the open ones of `tests/diagnosis/judged`. `--locked` adds the
locked ones: run it at the end, never to choose parameters. `--background` instead diagnoses each background log with a
model that knows all others: negatives that were not selected for being hard, and that the model has not seen. Whoosh
(BM25F) and SQLite (FTS5, bm25) search the entries' titles, aliases, symptoms, signatures and bodies; text and query are
tokenized alike, and the query consists of the words that the diagnosis takes from a log.
"""

import argparse
import re
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.analysis.token import TokenKind
from jieda.content.read.load import Loaded
from jieda.diagnosis import origin, scoring, signatures, words
from jieda.diagnosis.answers import Confidence, Diagnosis
from jieda.diagnosis.diagnose import Diagnoser
from jieda.diagnosis.words import WordReader
from jieda.entry import Entry, Language, Sample
from jieda.evaluation.figures import DIAGNOSED_KINDS, JudgedQuery, read_judged
from jieda.log_knowledge import LogKnowledge
from jieda.signature import literal_text

from bench.made import collect
from bench.peers import PEERS, Ask
from bench.tables import markdown, record

ROOT = Path(__file__).parent.parent
OPEN = (ROOT / "tests/judged.jsonl", ROOT / "tests/diagnosis/judged/open.jsonl")
LOCKED = ROOT / "tests/diagnosis/judged/locked.jsonl"
SURE = {Confidence.EXACT, Confidence.LIKELY}

First = Callable[[JudgedQuery], str]


def text_of(entry: Entry) -> str:
    parts = list(map(literal_text, entry.signature_lines))
    for edition in entry.editions.values():
        parts += [edition.title, *edition.aliases, *edition.symptoms, edition.markdown]
    return "\n".join(parts)


def words_of(analyzer: Analyzer, text: str) -> list[str]:
    kinds = {TokenKind.TERM, TokenKind.PART}
    tokens = (token.text for token in analyzer.analyze(text).tokens if token.kind in kinds)
    return [re.sub(r"\W+", "_", token) for token in tokens]


def first_of(ask: Ask, analyzer: Analyzer, query: Callable[[JudgedQuery], str]) -> First:
    def first(judged: JudgedQuery) -> str:
        return next(iter(ask(words_of(analyzer, query(judged)))), "")

    return first


def share(values: Sequence[bool]) -> str:
    return f"{statistics.mean(values):.3f}" if values else "–"


COLUMNS = ("", "errors", "tracebacks", "sure", "negatives sure", "exact", "nothing")


def row(
    name: str, judged: Sequence[JudgedQuery], diagnose_one: Callable[[JudgedQuery], Diagnosis]
) -> tuple[str, ...]:
    """Return right first of errors and tracebacks; the share of sure ones among them; of negatives: sure, exact,
    nothing."""
    answers = [(one, diagnose_one(one).matches) for one in judged]
    right = {
        kind: [
            bool(found) and found[0].entry.id in one.expected for one, found in answers if one.kind == kind
        ]
        for kind in ("error", "traceback")
    }
    sure = [
        found[0].confidence in SURE for one, found in answers if found and found[0].entry.id in one.expected
    ]
    negative = [found for one, found in answers if one.kind == "negative"]
    return (
        name,
        share(right["error"]),
        share(right["traceback"]),
        share(sure),
        share([bool(found) and found[0].confidence in SURE for found in negative]),
        str(sum(bool(found) and found[0].confidence is Confidence.EXACT for found in negative)),
        share([not found for found in negative]),
    )


@contextmanager
def changed(module: Any, **values: float) -> Iterator[None]:
    """Replace constants of a module while this context is open."""
    before = {name: getattr(module, name) for name in values}
    for name, value in values.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


ABLATIONS: Mapping[str, tuple[Any, Mapping[str, float]]] = {
    "without signatures": (signatures, {"FOUND": 0.0, "SIGNATURE": 0.0}),
    "signatures all worth the same": (signatures, {"FOUND": 2.5, "SIGNATURE": 0.0}),
    # Not 0.0: an entry with none of the words counts as minus infinity, and that times zero is no number.
    "without words": (words, {"WORDS": 1e-12}),
    "words never count against": (words, {"UNEXPLAINED": 0.0}),
    "without origin": (origin, {"OWN": 0.0, "FOREIGN": 0.0}),
    "origin a switch": (origin, {"FOREIGN": -99.0}),
    "other logs no rivals": (words, {"AGAINST": 0.0}),
    "unheard words say nothing": (words, {"UNHEARD": 0.0}),
    "one threshold for signatures and words": (scoring, {"WORDS_ALONE": scoring.POSSIBLE}),
    "healthy logs judged like others": (scoring, {"UNTROUBLED": scoring.WORDS_ALONE}),
}


def left_out() -> None:
    """Print the background logs that get a sure match from a diagnoser that knows all logs but that one."""
    library = Loaded([ROOT / "content"]).library()
    analyzer = Analyzer(library.dictionary)
    read = WordReader(analyzer, Glossary(library.glossary, analyzer))
    logs = library.samples("")
    sure = 0
    for log in logs:
        others = [each for each in logs if each is not log]
        diagnoser = Diagnoser(library, collect(library, read, library.log_knowledge, others), read)
        found = diagnoser.diagnose(log.text, Language.EN).matches
        if found and found[0].confidence in SURE:
            sure += 1
            print(f"{log.path.name:50} {found[0].confidence:7} {found[0].entry.id}")
    print(f"{sure} of {len(logs)} logs, {sure / len(logs):.3f}")


def report(files: Sequence[Path]) -> None:
    library = Loaded([ROOT / "content"]).library()
    analyzer = Analyzer(library.dictionary)
    read = WordReader(analyzer, Glossary(library.glossary, analyzer))

    def made(knowledge: LogKnowledge, background: Sequence[Sample]) -> Diagnoser:
        return Diagnoser(library, collect(library, read, knowledge, background), read)

    whole = made(library.log_knowledge, library.samples(""))
    texts = [(entry.id, (), words_of(analyzer, text_of(entry))) for entry in library.entries.values()]
    asked = {name: make(texts, 1.0) for name, make in PEERS.items()}

    def by(diagnoser: Diagnoser) -> Callable[[JudgedQuery], Diagnosis]:
        return lambda one: diagnoser.diagnose(one.query, Language.EN)

    for path in files:
        judged = [one for one in read_judged(path) if one.kind in DIAGNOSED_KINDS]
        rows = [row("Jieda", judged, by(whole))]
        queries = {one.id: whole.diagnose(one.query, Language.EN).query for one in judged}
        for name, ask in asked.items():
            first = first_of(ask, analyzer, lambda one: queries[one.id])  # noqa: B023 - called in this round
            right = [
                share([first(one) in one.expected for one in judged if one.kind == kind])
                for kind in ("error", "traceback")
            ]
            rows.append((name, *right, "", "", "", ""))
        for name, (module, values) in ABLATIONS.items():
            with changed(module, **values):
                rows.append(row(name, judged, by(whole)))
        bare = made(library.log_knowledge, ())
        rows.append(row("without background", judged, by(bare)))
        bare = made(LogKnowledge(), ())
        rows.append(row("without background and formats", judged, by(bare)))
        print(f"\n{path.name}: {len(judged)} logs\n{markdown(COLUMNS, rows)}", flush=True)
        record(f"diagnosis-{path.stem}", COLUMNS, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--locked", action="store_true", help="add the locked logs")
    parser.add_argument("--background", action="store_true", help="answer each background log without it")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.background:
        left_out()
        return
    report([*(options.files or OPEN), *([LOCKED] if options.locked else [])])


if __name__ == "__main__":
    main()
