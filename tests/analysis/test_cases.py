"""The cases of tests/fixtures/analysis hold."""

import pytest
from jieda.analysis.pipeline import Analyzer
from jieda.analysis.token import TokenKind
from jieda.search.snippet import merge_spans

from tests.analysis.cases import FOLDER, Case, read_cases

CASES = read_cases()


def test_every_file_and_every_kind_of_case_is_read() -> None:
    read = {case.name.partition(":")[0] for case in CASES}
    assert read == {path.stem for path in FOLDER.glob("*.md")} - {"README"}
    assert {case.what for case in CASES} == {"exact", "term", "part", "gram", "marked", "key"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(analyzer: Analyzer, case: Case) -> None:
    if case.what == "key":
        assert analyzer.key(case.value) == analyzer.key(case.text)
    elif case.what == "marked":
        # A case's text is a line of its own in the file and may be several in the text.
        assert marked(analyzer, case.query, case.text).replace("\n", " ") == case.value
    else:
        assert tokens(analyzer, case.what, case.text) == case.value.split()


def tokens(analyzer: Analyzer, kind: str, text: str) -> list[str]:
    of_kind = [token for token in analyzer.analyze(text).tokens if token.kind is TokenKind[kind.upper()]]
    return list(dict.fromkeys(token.text for token in sorted(of_kind, key=lambda token: token.start)))


def marked(analyzer: Analyzer, query: str, text: str) -> str:
    """`text` with `«` and `»` around what it shares with `query`; inner parts count for plain words."""
    wanted = {token.term for token in analyzer.analyze(query).tokens}
    wanted |= {
        f"{TokenKind.PART.value}:{token.text}"
        for token in analyzer.analyze(query).tokens
        if token.kind is TokenKind.TERM
    }
    found = [token for token in analyzer.analyze(text).tokens if token.term in wanted]
    pieces, place = [], 0
    for start, end in merge_spans((token.start, token.end) for token in found):
        pieces += [text[place:start], "«", text[start:end], "»"]
        place = end
    return "".join([*pieces, text[place:]])
