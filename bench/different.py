"""Text of very different kinds, written for this test bed, on topics unrelated to the shipped entries.

Threads of two forums, references of two libraries, handbooks of two employers, one of each in English and one in
Chinese; the forums, libraries and employers are invented. `different/KIND.LANGUAGE.txt` has the entries, each followed
by its queries. All of it was written and committed before any engine had run on it.

    = slug | title
    a line: a post of a thread, a line of a reference, a paragraph of a handbook
    ? a query that this entry answers
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from jieda.entry import Language
from jieda.evaluation.figures import JudgedQuery

SOURCE = Path(__file__).with_name("different")
PAGES = re.compile(r"= (?P<slug>[\w-]+) \| (?P<title>.+)\n(?P<body>(?:(?!= ).*\n)*)")
QUERY = "? "
PARAMETER = re.compile(r"([\w ]+): (.*)")

PEOPLE = ("anna", "kolja", "mo_88", "老周", "tf2", "river", "小满", "d.k.")
CHATTER = {
    Language.EN: (
        "Same here, following.",
        "Which version are you on? There was a release last week.",
        "Please post the log next time, nobody can guess what your setup looks like.",
        "Welcome to the forum! Did you try a restart first?",
        "I had something like that two years ago but forgot how I got rid of it.",
        "Not to hijack this, but does anybody else find the new icons ugly?",
        "Bump. Still nothing new on my side after reinstalling everything twice.",
        "Works for me on the old hardware, so it can't be the software.",
        "Moved to the right section. One question a thread, please.",
        "My brother-in-law swears by a full reset; I would make a backup before that.",
        "Sorry for the late answer, I was away over the weekend.",
        "Could this be the disk? Mine failed with all kinds of strange symptoms.",
    ),
    Language.ZH: (
        "同问，蹲一个结果。",
        "楼主什么版本？上周刚更新过一次。",
        "麻烦下次把日志贴全，不然谁也猜不出来。",
        "新人好，重启试过没有？",
        "我两年前也遇到过，怎么弄好的忘了。",
        "歪个楼，有没有人觉得新界面很丑？",
        "顶一下，重装了两遍还是一样。",
        "我这老设备就没事，应该不是软件的问题。",
        "已移到对应版块，一帖一问哦。",
        "我姐夫说直接恢复出厂，我劝你先备份。",
        "不好意思周末出门了，才看到回复。",
        "会不会是硬盘的毛病？我那块坏之前什么怪事都有。",
    ),
}
"""Filler posts of every thread."""


class Page(NamedTuple):
    """An entry and its queries; its id is not known here."""

    slug: str
    title: str
    body: str
    lang: Language
    asked: Sequence[JudgedQuery]


def different() -> Iterator[Page]:
    """Yield all pages of the bed."""
    for path in sorted(SOURCE.glob("*.txt")):
        kind, lang = path.stem.split(".")
        for match in PAGES.finditer(path.read_text(encoding="utf-8")):
            lines = match["body"].splitlines()
            slug = f"{kind}-{lang}-{match['slug']}"
            told = [line for line in lines if not line.startswith(QUERY)]
            asked = [line.removeprefix(QUERY) for line in lines if line.startswith(QUERY)]
            judged = [
                JudgedQuery(f"{slug}-{number}", "question", lang, query, (slug,))
                for number, query in enumerate(asked)
            ]
            body = BODIES[kind](told, slug, Language(lang))
            yield Page(slug, match["title"], body, Language(lang), judged)


def _thread(posts: Sequence[str], slug: str, lang: Language) -> str:
    """Return the posts, each with an author, with two to four filler posts after each."""
    said: list[str] = []
    for number, post in enumerate(posts):
        said.append(post)
        chance = crc32(f"{slug} {number}".encode())
        said += [CHATTER[lang][(chance + 5 * each) % len(CHATTER[lang])] for each in range(2 + chance % 3)]
    writers = [PEOPLE[crc32(f"{slug} by {number}".encode()) % len(PEOPLE)] for number in range(len(said))]
    return "\n\n".join(f"**{by}**\n\n{text}" for by, text in zip(writers, said, strict=True))


def _reference(lines: Sequence[str], _slug: str, _lang: Language) -> str:
    """Return a signature as code, its description, and a list of its parameters."""
    signature, *rest = lines
    shown = [re.sub(PARAMETER, r"- `\1`: \2", line) if PARAMETER.fullmatch(line) else line for line in rest]
    return f"```python\n{signature}\n```\n\n" + "\n\n".join(shown)


def _handbook(paragraphs: Sequence[str], _slug: str, _lang: Language) -> str:
    return "\n\n".join(paragraphs)


BODIES = {"threads": _thread, "api": _reference, "handbook": _handbook}
