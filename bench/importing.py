"""Evaluates how well `jieda import` reads pages whose questions were labeled by hand.

    python -m bench.importing DIRECTORY [--failures] [--write]

DIRECTORY holds `manifest.json`, a list of pairs of pages {doc, file_en, file_zh, structure, stratum}, and `gold.jsonl`,
a line for each question: {doc, line_en, end_en, line_zh, end_zh}, lines counted from 1, null where a language lacks it.
A question is right if its first line is, the end of an answer if it is the line before the next question or heading, a
pair if both first lines are. With `--write` every page is also imported twice into an empty directory.
"""

import argparse
import json
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.content.read.load import Loaded
from jieda.entry import Language, Problem
from jieda.importing.page import MarkdownPage, PagePair, read_page
from jieda.importing.pairing import find_candidates
from jieda.importing.plan import ImportPlan, ImportRequest, plan_import
from jieda.importing.propose import Status
from jieda.importing.questions import PageQuestion, find_questions
from jieda.importing.sources import ImportSources
from jieda.usecases.check import CheckReport, check_content

CONTENT = Path(__file__).resolve().parent.parent / "content"
SHARED_FILES = ("taxonomy.yaml", "glossary.yaml", "dictionary.txt")


@dataclass(frozen=True, slots=True)
class Score:
    """Numbers of existing, found and correctly found items."""

    there: int = 0
    found: int = 0
    right: int = 0

    def __add__(self, other: "Score") -> "Score":
        return Score(self.there + other.there, self.found + other.found, self.right + other.right)

    @property
    def recall(self) -> float:
        """Correct among the existing."""
        return self.right / self.there if self.there else 1.0

    @property
    def precision(self) -> float:
        """Correct among the found."""
        return self.right / self.found if self.found else 1.0


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of one page in both languages, or of many. `failures` describes the errors."""

    questions: Score = Score()
    ends: Score = Score()
    pairs: Score = Score()
    failures: tuple[str, ...] = ()

    def __add__(self, other: "Scores") -> "Scores":
        return Scores(
            self.questions + other.questions,
            self.ends + other.ends,
            self.pairs + other.pairs,
            self.failures + other.failures,
        )


@dataclass(frozen=True, slots=True)
class Marked:
    """A pair of pages with its marked questions, first to last line by language, and the pairs."""

    doc: str
    structure: str
    stratum: str
    files: Mapping[Language, Path]
    questions: Mapping[Language, Mapping[int, int]]
    pairs: frozenset[tuple[int, int]]


def read_marked(directory: Path) -> tuple[Marked, ...]:
    """Read every pair of pages of a corpus."""
    gold: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (directory / "gold.jsonl").read_text(encoding="utf-8").splitlines():
        gold[json.loads(line)["doc"]].append(json.loads(line))
    manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
    return tuple(_marked(directory, page, gold[page["doc"]]) for page in manifest)


def _marked(directory: Path, page: Mapping[str, Any], gold: Sequence[Mapping[str, Any]]) -> Marked:
    return Marked(
        doc=page["doc"],
        structure=page["structure"],
        stratum=page["stratum"],
        files={lang: directory / page[f"file_{lang}"] for lang in Language},
        questions={
            lang: {each[f"line_{lang}"]: each[f"end_{lang}"] for each in gold if each[f"line_{lang}"]}
            for lang in Language
        },
        pairs=frozenset(
            (each["line_en"], each["line_zh"]) for each in gold if each["line_en"] and each["line_zh"]
        ),
    )


def measure(marked: Marked, glossary: Glossary) -> Scores:
    """Return the scores of one pair of pages."""
    pages = {lang: read_page(path, lang) for lang, path in marked.files.items()}
    total = Scores()
    for lang, page in pages.items():
        total += _of_page(marked, lang, page, find_questions(page))
    candidates = find_candidates(PagePair(marked.doc, pages, {}), glossary)
    found = {
        tuple(pages[lang].line_of(each.questions[lang].first) + 1 for lang in (Language.EN, Language.ZH))
        for each in candidates
        if len(each.questions) == len(Language)
    }
    wrong = [
        f"{marked.doc}: pair en:{one} zh:{other} is wrong" for one, other in sorted(found - marked.pairs)
    ]
    lost = [
        f"{marked.doc}: pair en:{one} zh:{other} is missing" for one, other in sorted(marked.pairs - found)
    ]
    pairs = Score(len(marked.pairs), len(found), len(found & marked.pairs))
    return total + Scores(pairs=pairs, failures=(*wrong, *lost))


def _of_page(marked: Marked, lang: Language, page: MarkdownPage, questions: Sequence[PageQuestion]) -> Scores:
    gold = marked.questions[lang]
    found = [(page.line_of(each.first) + 1, page.line_of(each.end - 1) + 1) for each in questions]
    right = [(line, end) for line, end in found if line in gold]
    ended = [line for line, end in right if gold[line] == end]
    where = f"{marked.doc} {lang}"
    lines = {line for line, _ in found}
    failures = (
        *(f"{where}:{line}: missed" for line in gold if line not in lines),
        *(f"{where}:{line}: is not a question" for line, _ in found if line not in gold),
        *(f"{where}:{line}: ends at {end}, not {gold[line]}" for line, end in right if gold[line] != end),
    )
    return Scores(
        questions=Score(len(gold), len(found), len(right)),
        ends=Score(len(right), len(right), len(ended)),
        failures=failures,
    )


def import_twice(marked: Marked, directory: Path) -> tuple[int, tuple[Problem, ...], bool]:
    """Write drafts into the empty `directory`; return their number, the problems that none of their doubts names, and
    whether a second import changed nothing."""
    for name in SHARED_FILES:
        shutil.copy(CONTENT / name, directory / name)
    imported = _import(marked, directory)
    before = _files(directory)
    problems = unnamed_problems(check(directory).problems)
    again = _import(marked, directory)
    same = _files(directory) == before and {row.status for row in again.rows} <= {Status.UNCHANGED}
    return len(imported.new), problems, same


def _import(marked: Marked, directory: Path) -> ImportPlan:
    framework = next(iter(Loaded([directory]).library().taxonomy.framework))
    given = ImportSources(
        marked.files, (), {lang: f"https://example.com/{lang}/page.md" for lang in Language}
    )
    request = ImportRequest(given, (directory,), framework, "Apache-2.0")
    found = plan_import(request)
    found.write(directory)
    return found


def check(directory: Path) -> CheckReport:
    """Return what `jieda check` reports for a content directory."""
    return check_content([directory])


def unnamed_problems(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the problems that are neither doubts nor covered by a doubt of the same rule in either edition."""
    named: dict[str, set[str]] = defaultdict(set)
    for problem in problems:
        if problem.rule == "doubt":
            named[_entry(problem)].add(re.split("[:：]", problem.message)[0])
    return tuple(each for each in problems if each.rule not in {"doubt", *named[_entry(each)]})


def _entry(problem: Problem) -> str:
    return problem.path.partition("/")[2]


def _files(directory: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def _table(scores: Mapping[str, Scores]) -> Iterator[str]:
    yield f"{'':<64} {'questions':>9} {'recall':>7} {'prec.':>7} {'ends':>7} {'pairs':>7} {'recall':>7} {'prec.':>7}"
    for name, each in scores.items():
        questions, pairs = each.questions, each.pairs
        yield (
            f"{name[:64]:<64} {questions.there:>9} {questions.recall:>7.3f} {questions.precision:>7.3f}"
            f" {each.ends.recall:>7.3f} {pairs.there:>7} {pairs.recall:>7.3f} {pairs.precision:>7.3f}"
        )


def main(directory: Path, *, failures: bool, write: bool) -> None:
    """Print the figures by structure, by stratum and overall."""
    library = Loaded([CONTENT]).library()
    analyzer = Analyzer(library.dictionary)
    glossary = Glossary(library.glossary, analyzer)
    corpus = read_marked(directory)
    by: dict[str, Scores] = defaultdict(Scores)
    measured = [(marked, measure(marked, glossary)) for marked in corpus]
    for name in ("structure", "stratum"):
        for marked, scores in measured:
            by[getattr(marked, name)] += scores
    by["all"] = sum((scores for _, scores in measured), Scores())
    print("\n".join(_table(by)))
    if failures:
        print("\n".join(by["all"].failures))
    if write:
        _print_drafts(corpus)


def _print_drafts(corpus: Sequence[Marked]) -> None:
    drafts, unnamed, changed = 0, [], []
    for marked in corpus:
        with tempfile.TemporaryDirectory() as folder:
            count, problems, same = import_twice(marked, Path(folder))
        drafts += count
        unnamed += [f"{marked.doc}: {problem}" for problem in problems]
        changed += [] if same else [marked.doc]
    print(f"{drafts} entries drafted; problems that no doubt names: {len(unnamed)}")
    print("\n".join(unnamed))
    print(f"pages whose second import changed something: {', '.join(changed) or 'none'}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.importing", description="Measure jieda import.")
    parser.add_argument("directory", type=Path, nargs="?")
    parser.add_argument("--failures", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.directory:
        main(given.directory, failures=given.failures, write=given.write)
    else:
        print("skipped: name a directory of marked pages")
