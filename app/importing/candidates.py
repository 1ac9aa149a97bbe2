"""The fourth stage, for a page in two languages: its questions, each once, paired."""

from collections.abc import Sequence

from app.entry import Language
from app.importing.features import Extractor
from app.importing.page import Page
from app.importing.pairs import Pair, pair_up
from app.importing.proposal import Candidate, PagePair
from app.importing.questions import Question, find_questions
from app.importing.wording import Wording


def find_candidates(pair: PagePair, wording: Wording, extractor: Extractor) -> tuple[Candidate, ...]:
    """The questions of a page in both languages, paired; those that stand there twice are left out."""
    questions = {
        lang: unrepeated(page, find_questions(page, wording))[0] for lang, page in pair.pages.items()
    }
    if len(questions) < 2:
        return tuple(
            Candidate(pair, {lang: each}, 0.0, sure=True)
            for lang, found in questions.items()
            for each in found
        )
    en, zh = ([extractor.features(pair.pages[lang], each) for each in questions[lang]] for lang in Language)
    return tuple(
        Candidate(pair, _both(questions[Language.EN], questions[Language.ZH], each), each.shared, each.sure)
        for each in pair_up(en, zh)
    )


def _both(en: Sequence[Question], zh: Sequence[Question], pair: Pair) -> dict[Language, Question]:
    found: dict[Language, Question] = {}
    if pair.en is not None:
        found[Language.EN] = en[pair.en]
    if pair.zh is not None:
        found[Language.ZH] = zh[pair.zh]
    return found


def unrepeated(
    page: Page, questions: Sequence[Question]
) -> tuple[tuple[Question, ...], tuple[Question, ...]]:
    """Questions, and apart from them those that stand on the page before, word for word."""
    seen: set[tuple[str, ...]] = set()
    kept: list[Question] = []
    repeated: list[Question] = []
    for question in questions:
        lines = (line.strip() for line in page.lines[question.body : question.end])
        said = (question.title, question.lead, *(line for line in lines if line.strip("-=<>br/ ")))
        (repeated if said in seen else kept).append(question)
        seen.add(said)
    return tuple(kept), tuple(repeated)
