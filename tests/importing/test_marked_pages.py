"""The figures on pages whose questions were marked by hand, where such pages are at hand."""

from pathlib import Path

import pytest
from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.content.read.load import Loaded

from bench.importing import Scores, import_twice, measure, read_marked

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = ROOT.parent / "shared" / "corpus"

pytestmark = pytest.mark.skipif(not PAGES.is_dir(), reason="the marked pages are not beside the checkout")


@pytest.fixture(scope="module")
def glossary() -> Glossary:
    library = Loaded([ROOT / "content"]).library()
    analyzer = Analyzer(library.dictionary)
    return Glossary(library.glossary, analyzer)


def scores(glossary: Glossary, stratum: str) -> Scores:
    pages = (one for one in read_marked(PAGES) if one.stratum == stratum)
    return sum((measure(one, glossary) for one in pages), Scores())


def test_questions_ends_and_pairs_are_right(glossary: Glossary) -> None:
    irregular = scores(glossary, "irregular")
    found = scores(glossary, "regular") + irregular
    assert found.questions.recall >= 0.99
    assert found.questions.precision >= 0.99
    assert found.ends.recall >= 0.99
    assert min(found.pairs.recall, found.pairs.precision) >= 0.99
    # There order or number differs.
    assert min(irregular.pairs.recall, irregular.pairs.precision) >= 0.97


@pytest.mark.parametrize("doc", ["pgsty-pigsty/faq", "ChatGPTNextWeb-NextChat/faq"])
def test_drafts_pass_the_check_but_for_their_doubts_and_a_second_import_changes_nothing(
    doc: str, tmp_path: Path
) -> None:
    marked = next(one for one in read_marked(PAGES) if one.doc == doc)
    count, problems, same = import_twice(marked, tmp_path)
    assert count >= len(marked.pairs)
    # An answer of the page may be longer than a fix should be: its author shortens it.
    assert [each for each in problems if each.rule != "long-fix"] == []
    assert same
