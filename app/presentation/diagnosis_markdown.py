"""A diagnosis as Markdown, for an issue or a chat: verdict, the lines that matched, fix, address."""

import re
from collections.abc import Callable

from app.diagnosis.answers import Diagnosis, Match

Translate = Callable[..., str]
MAX_LINE = 240
"""Characters of a matched line."""


def as_markdown(diagnosis: Diagnosis, t: Translate, address: Callable[[str], str]) -> str:
    """The best match of a diagnosis; empty where there is none. `address` gives the page of an entry id."""
    return _match(diagnosis.matches[0], t, address) if diagnosis.matches else ""


def _match(match: Match, t: Translate, address: Callable[[str], str]) -> str:
    title = re.sub(r"([\[\]])", r"\\\1", match.edition.title)
    parts = [f"**{t(f'confidence.{match.confidence}')}** · [{title}]({address(match.entry.id)})"]
    if match.matched:
        parts.append(_fenced("\n".join(line.text.strip()[:MAX_LINE] for line in match.matched)))
    if match.edition.answer:
        parts.append(f"**{match.edition.answer.title}**\n\n{match.edition.answer.markdown.strip()}")
    return "\n\n".join(parts) + "\n"


def _fenced(text: str) -> str:
    """`text` as a block of code, in a fence longer than any inside it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
