"""Generated content of any size in both languages, reproducible by seed, for measuring how costs grow.

Entries resemble the shipped ones in whatever affects cost: sections, code, links to one another, aliases, a line of
error text and two logs per error. Words are drawn so that few are frequent and many are rare.
"""

import random
from collections.abc import Iterator
from pathlib import Path

from jieda.content.read.parse import edition_digest

FRAMEWORKS = tuple(f"frame{number}" for number in range(8))
TOPICS = tuple(f"topic{number}" for number in range(24))
ERROR_TYPES = tuple(f"type{number}" for number in range(12))
HAN = "显存训练模型推理参数并行通信梯度优化数据加载权重同步节点集群调度日志错误超时内存泄漏精度损失收敛采样策略奖励"
SYLLABLES = tuple("ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo za".split())
NAMES = {"en": ("Symptom", "Cause", "Fix", "Notes"), "zh": ("现象", "原因", "解决办法", "说明")}
ANSWERS = {"en": ("Answer", "Notes"), "zh": ("回答", "说明")}


class Maker:
    """Generates the files of one content directory."""

    def __init__(self, entries: int, seed: int = 42) -> None:
        self._chance = random.Random(seed)
        self._count = entries
        self._words = sorted({self._word() for _ in range(4000)})
        self._ids = [f"{FRAMEWORKS[number % len(FRAMEWORKS)]}/entry-{number}" for number in range(entries)]

    def write(self, folder: Path) -> None:
        """Write all files below `folder`."""
        for where, text in self.files():
            path = folder / where
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield relative paths with their texts."""
        yield "taxonomy.yaml", taxonomy()
        yield "glossary.yaml", self._glossary()
        for number, entry_id in enumerate(self._ids):
            is_error = number % 2 == 0
            signature = f"{self._name()}Error: {self._name()} {{int}} of {self._name()} entry{number} lost"
            front = self._front(number, entry_id, signature if is_error else "")
            yield from self._twins(number, entry_id, front, is_error=is_error)
            if is_error:
                for log in (1, 2):
                    yield f"samples/{entry_id}/{log}.log", self._log(signature.replace("{int}", str(log)))

    def _word(self) -> str:
        return "".join(self._chance.choice(SYLLABLES) for _ in range(self._chance.randint(2, 4)))

    def _rare(self) -> str:
        """Return a word; the first of the list are much more frequent than the last."""
        return self._words[int(len(self._words) * self._chance.random() ** 3)]

    def _name(self) -> str:
        return f"{self._rare()}_{self._rare()}"

    def _text(self, lang: str, words: int) -> str:
        if lang == "en":
            return " ".join(self._rare() for _ in range(words)).capitalize() + "."
        return "".join(self._chance.choice(HAN) for _ in range(words * 2)) + "。"

    def _glossary(self) -> str:
        groups = (f"- {{en: [{self._rare()}], zh: [{self._text('zh', 1)[:2]}]}}\n" for _ in range(100))
        return "".join(dict.fromkeys(groups))

    def _front(self, number: int, entry_id: str, signature: str) -> str:
        chance = self._chance
        related = sorted({chance.choice(self._ids) for _ in range(3)} - {entry_id})
        lines = [f"kind: {'error' if signature else 'concept'}"]
        lines += [f"topics: [{', '.join(sorted(set(chance.choices(TOPICS, k=2))))}]"]
        if signature:
            lines += [f"error_types: [{chance.choice(ERROR_TYPES)}]", f"signatures: ['{signature}']"]
        lines += [f"related: [{', '.join(related)}]"]
        lines += ["source: [{title: Made up, url: 'https://example.com/', license: Apache-2.0}]"]
        return "\n".join([*lines, f"updated: 2026-{1 + number % 12:02}-{1 + number % 28:02}"])

    def _twins(self, number: int, entry_id: str, front: str, *, is_error: bool) -> Iterator[tuple[str, str]]:
        """Yield both editions, with the same code in the same sections, marked as synced."""
        names = NAMES if is_error else ANSWERS
        code = [self._code() for _ in names["en"]]
        titles = {lang: f"{self._text(lang, 6)[:-1]} {number}" for lang in names}
        bodies = {
            lang: "\n".join(
                self._section(lang, name, *lines) for name, lines in zip(names[lang], code, strict=True)
            )
            for lang in names
        }
        for lang, other in (("en", "zh"), ("zh", "en")):
            aliases = ", ".join(f"'{self._text(lang, 4)[:-1]} {number}'" for _ in range(4))
            synced = edition_digest(titles[other], bodies[other])
            head = f"title: '{titles[lang]}'\naliases: [{aliases}]\n{front}\nsynced_with: '{synced}'"
            yield f"{lang}/{entry_id}.md", f"---\n{head}\n---\n{bodies[lang]}"

    def _code(self) -> tuple[str, tuple[str, ...], str]:
        """Return a code block, three flags, and the id of a linked entry."""
        block = "\n".join(f"{self._name()} = {self._chance.randint(1, 9999)}" for _ in range(4))
        flags = tuple(f"--{self._rare()}-{self._rare()}" for _ in range(3))
        return block, flags, self._chance.choice(self._ids)

    def _section(self, lang: str, name: str, block: str, flags: tuple[str, ...], target: str) -> str:
        paragraph = self._text(lang, 45)
        steps = "\n".join(f"- {self._text(lang, 10)} `{flag}`" for flag in flags)
        link = f"[{self._text(lang, 2)}](../{target}.md)"
        return f"## {name}\n\n{paragraph}\n\n{steps}\n\n```python\n{block}\n```\n\n{link}\n"

    def _log(self, error: str) -> str:
        lines = [f"[rank{n % 8}]: {self._text('en', 8)}" for n in range(20)]
        return "\n".join(["Traceback (most recent call last):", *lines, error, ""])


def write_content(folder: Path, entries: int) -> Path:
    """Write a content directory of `entries` entries below `folder`."""
    Maker(entries).write(folder)
    return folder


def taxonomy() -> str:
    """Return the taxonomy of generated entries."""

    def tags(names: tuple[str, ...]) -> str:
        return "".join(
            f"  {name}:\n    name: {{en: {name}, zh: {name}}}\n    description: {{en: {name}., zh: {name}。}}\n"
            for name in names
        )

    return (
        f"frameworks:\n{tags(FRAMEWORKS)}kinds:\n{tags(('error', 'how-to', 'concept'))}"
        f"topics:\n{tags(TOPICS)}error_types:\n{tags(ERROR_TYPES)}"
    )
