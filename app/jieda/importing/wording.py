"""The general wording of questions and answers in both languages, from `wording.toml`."""

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_ENGLISH_WORD = re.compile(r"[a-z][a-z0-9']*")
_ERROR_NAME = re.compile(r"\b\w*(?:Error|Exception|Failure|Fault|Warning)\b|\b(?:SIG[A-Z]{2,5}|E[A-Z]{4,})\b")
_NUMBER = r"(?:\d{1,3}|[一二三四五六七八九十]{1,3})"
_NUMBERED = re.compile(
    rf"^\s*(?:(?:\d{{1,3}}\.)*{_NUMBER}\s*[.、)）](?!\d|[xX](?![a-z]))|[（(]{_NUMBER}[)）])\s*"
)
_COUNTED = re.compile(rf"^\W*([^\W\d]+)\s*{_NUMBER}\s*(?:[:：.、)）-]|$)")
_PIECES = re.compile(r"[（()）：:/|,，]|\s(?:and|[&–—-])\s|与|和|及")
_ENDS_ASKING = re.compile(r"[?？][\s\"'”’)）*_`!！]*$|[?？]\s")


class Wording:
    """Words and patterns. `parts`: folded title to section key; `peripheral`, `sections` and columns: folded titles."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        question, mark, peripheral, thread = raw["question"], raw["mark"], raw["peripheral"], raw["thread"]
        self.openers_en = frozenset(question["en"]["starts"].split())
        self.asking_zh = tuple(question["zh"]["contains"].split())
        self.sorts = {
            name: (frozenset(both["en"].split()), tuple(both["zh"].split()))
            for name, both in question["sort"].items()
        }
        self.trouble_en = frozenset(raw["trouble"]["en"].split())
        self.trouble_zh = tuple(raw["trouble"]["zh"].split())
        self.question_mark, self.answer_mark, self.label = (
            _mark(mark[name]) for name in ("question", "answer", "label")
        )
        self.parts: dict[str, str] = {
            title: key for key, text in raw["part"].items() for title in _titles(text)
        }
        self.peripheral = _titles(peripheral["en"], peripheral["zh"])
        self.unanswered = _phrases(peripheral["unanswered"])
        self.question_columns = _titles(raw["column"]["question"])
        self.code_columns = _titles(raw["column"]["code"])
        self.answer_columns = _titles(raw["column"]["answer"])
        names, endings = (_titles(raw["section"][key]) for key in ("names", "endings"))
        self.sections = names | endings
        any_ending, kinds = "|".join(endings), raw["section"]["kind"].replace(" ", "|")
        self.section = re.compile(rf"(?:.*(?<![a-z0-9]))?(?:{any_ending})(?:{kinds})?|{'|'.join(names)}")
        self.page_names = frozenset(raw["page"]["names"].split())
        self.solved, self.unsolved = _phrases(thread["solved"]), _phrases(thread["open"])
        self.same_thread = _phrases(thread["same"])
        self.bare_thanks: int = thread["bare_thanks"]

    def marked(self, title: str) -> bool:
        """Whether the text is marked as a question: `Q:`, `Q12.`, `问：`."""
        return self.question_mark.match(title) is not None

    def question_number(self, title: str) -> int:
        """Return the number in the mark of a question, such as 12 for `Q12:`, or 0."""
        mark = self.question_mark.match(title)
        return int("".join(filter(str.isdigit, mark[0] if mark else "")) or 0)

    def asks(self, title: str) -> bool:
        folded = self.without_mark(title).casefold().replace("’", "'")
        first = _ENGLISH_WORD.search(folded)
        opens = first is not None and first.start() <= 2 and first[0] in self.openers_en
        return bool(_ENDS_ASKING.search(title)) or opens or any(word in folded for word in self.asking_zh)

    def states_problem(self, title: str) -> bool:
        folded = title.casefold().replace("’", "'")
        words = set(_ENGLISH_WORD.findall(folded))
        has_word = bool(words & self.trouble_en) or any(word in folded for word in self.trouble_zh)
        return has_word or self.names_error(title)

    def names_error(self, title: str) -> bool:
        return _ERROR_NAME.search(title) is not None

    def likeness(self, title: str) -> float:
        """Return how much a title reads like a question, 0 to 1."""
        if self.is_part(title) or self.is_peripheral(title):
            return 0.0
        if title.rstrip().endswith((":", "：", "...", "…")):
            return 0.2
        if self.marked(title) or self.asks(title):
            return 1.0
        return 0.8 if self.states_problem(title) else 0.2

    def is_peripheral(self, title: str) -> bool:
        """Whether a title introduces no question of the page: "Contents", "See also", "My question is not listed"."""
        return fold_title(title) in self.peripheral or bool(self.unanswered.search(title.replace("’", "'")))

    def part(self, title: str) -> str:
        """Return the key of the section that a title such as `Solution:` names; empty if it names none."""
        return self.parts.get(fold_title(title), "")

    def is_part(self, title: str) -> bool:
        """Whether a title names a part of an answer, alone or with a number and more words: `Step 2: copy it`."""
        counted = _COUNTED.match(title)
        # A numbered problem is a question of its own.
        key = self.part(counted[1]) if counted else ""
        return bool(self.part(title)) or key in {"cause", "fix", "steps", "example"}

    def holds_questions(self, title: str) -> bool:
        """Whether a section or page is named for questions: `FAQ`, `Known issues (FAQ)`, `安装常见问题`."""
        pieces = [fold_title(piece) for piece in (title, *_PIECES.split(title))]
        return not self.asks(title) and any(map(self.section.fullmatch, pieces))

    def sorts_of(self, title: str) -> frozenset[str]:
        """Return the sorts of a question (how, why, …), which are the same in both languages."""
        folded = title.casefold()
        words = set(_ENGLISH_WORD.findall(folded))
        return frozenset(
            name for name, (en, zh) in self.sorts.items() if words & en or any(word in folded for word in zh)
        )

    def without_mark(self, title: str) -> str:
        """Return the title without its leading mark, label or number."""
        bare = self.label.sub("", self.question_mark.sub("", title, count=1), count=1)
        return _NUMBERED.sub("", bare).strip() or title


def fold_title(title: str) -> str:
    """Return the words of a title in lower case, without a leading number and symbols."""
    text = unicodedata.normalize("NFKC", title).casefold()
    text = re.sub(rf"^\W*{_NUMBER}\s*[.、)]\s*", "", text)
    return " ".join(re.findall(r"[\w&]+", text.replace("'", "")))


def _phrases(text: str) -> re.Pattern[str]:
    """Return a pattern for English phrases as whole words and Chinese ones anywhere, in any case."""
    phrases = [re.escape(each.replace("|", " ")) for each in text.split()]
    return re.compile("|".join(rf"\b{each}\b" if each.isascii() else each for each in phrases), re.IGNORECASE)


def _titles(*texts: str) -> frozenset[str]:
    return frozenset(fold_title(each.replace("|", " ")) for text in texts for each in text.split())


def _mark(text: str) -> re.Pattern[str]:
    """Return a pattern for marks such as `Q:`, `Q 1.`, `**问：`, `[Q]`; a number must precede the colon or point.
    A name that ends in `、` is a mark by itself, unless `、` goes on listing words: `问、答、评论`."""
    spelled = {spelling for name in text.split() for spelling in (name, name.upper(), name.lower())}
    names = "|".join(sorted(map(re.escape, spelled), key=len, reverse=True))
    return re.compile(
        rf"^[\s*_#>]*(?:[\[【(（](?:{names})\s*\d{{0,3}}[\]】)）]\s*[:：]?"
        rf"|(?:{names})[\s*_]*(?:(?:[#.]?\d{{1,3}})?[\s*_]*[:：.]|\d{{1,3}}、|(?<=、)(?!\w{{1,3}}、))(?=\D|$)"
        rf"|(?:{names})\s?\d{{1,3}}\s)[\s*_]*"
    )


WORDING = Wording(tomllib.loads(Path(__file__).with_name("wording.toml").read_text(encoding="utf-8")))
