"""Generated short texts in either language, such as tickets and chat threads, for measuring very many entries.

    python -c "from bench.tickets import write_tickets; write_tickets('FOLDER', 500_000)"

Each has a title of six words, an answer of sixty words and one edition, 4 kB on disk. Words are drawn from 60,000 per
language, so that few are frequent and most are rare.
"""

import random
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from bench.content import FRAMEWORKS, TOPICS, taxonomy

WORDS = 60_000
"""Words per language, at most; some generated words are duplicates."""
TITLE, SENTENCE = 6, 30
"""Words."""
SYLLABLES = tuple(consonant + vowel for consonant in "bcdfghjklmnprstvz" for vowel in "aeiou")
LEAST_USED = 20
"""Least frequency of a Chinese word in jieba's counts."""
STYLE = {"en": (" ", ". ", "Answer"), "zh": ("", "。", "回答")}
"""Word separator, sentence separator, and the name of the section."""


def write_tickets(folder: str, count: int) -> None:
    """Write a content directory of `count` entries, the same each time."""
    content = Path(folder)
    for lang in STYLE:
        for framework in FRAMEWORKS:
            (content / lang / framework).mkdir(parents=True)
    (content / "taxonomy.yaml").write_text(taxonomy(), encoding="utf-8")
    for where, text in _files(count):
        (content / where).write_text(text, encoding="utf-8")


def _files(count: int) -> Iterator[tuple[str, str]]:
    chance = random.Random(7)
    words = {"en": _english(chance), "zh": _chinese(chance)}

    def text(lang: str, length: int) -> str:
        # Logarithms of ranks are drawn evenly: Zipf's law.
        known = words[lang]
        ranks = (int(len(known) ** chance.random()) - 1 for _ in range(length))
        return STYLE[lang][0].join(known[rank] for rank in ranks)

    for number in range(count):
        lang = ("en", "zh")[number % 2]
        framework = FRAMEWORKS[number % len(FRAMEWORKS)]
        _, stop, section = STYLE[lang]
        front = (
            f"title: {text(lang, TITLE)}\nkind: concept\n"
            f"source: [{{title: t, url: 'https://example.com/{number}', license: MIT}}]\n"
            f"topics: [{TOPICS[number % len(TOPICS)]}]\nupdated: 2026-11-01\n"
        )
        body = f"## {section}\n\n{text(lang, SENTENCE)}{stop}{text(lang, SENTENCE)}\n"
        yield f"{lang}/{framework}/t{number:06d}.md", f"---\n{front}---\n\n{body}"


def _english(chance: random.Random) -> list[str]:
    made = ("".join(chance.choice(SYLLABLES) for _ in range(chance.randint(2, 4))) for _ in range(70_000))
    return list(dict.fromkeys(made))[:WORDS]


def _chinese(chance: random.Random) -> list[str]:
    dictionary = import_module("jieba").dt
    dictionary.initialize()
    words = [
        word
        for word, used in dictionary.FREQ.items()
        if used > LEAST_USED and 1 < len(word) < 4 and all("\u4e00" <= each <= "\u9fff" for each in word)
    ]
    chance.shuffle(words)
    return words[:WORDS]
