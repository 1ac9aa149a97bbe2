"""The third stage, its first step: which headings are questions or hold some, and which are categories.

Nothing is decided by the words of one heading alone. What headings of one rank are is decided for all of them
together, by how they read, what stands directly below them and how many are divided further.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from app.content.markdown.body import SourceBlock
from app.importing.outline import Rank, Section, is_noise
from app.importing.wording import Wording

ASKING = 0.75
"""From this likeness on a title is taken for a question or an error by itself."""


@dataclass(frozen=True, slots=True)
class Host:
    """A section that may have questions in its text, and the headings above and at it.

    `among_categories`: headings of its rank are what questions are sorted under.
    """

    section: Section
    path: tuple[str, ...]
    end: int
    among_categories: bool


def find_hosts(
    section: Section, path: tuple[str, ...], divided: Mapping[Rank, float], wording: Wording
) -> Iterator[Host]:
    """Sections that are questions or hold some: leaves, questions with parts, and what precedes the first heading."""
    here = (*path, section.title) if section.title else path
    if section.leaf or (section.rank and not _is_category(section, divided, wording)):
        yield Host(section, here, section.end, section.rank is not None and divided[section.rank] > 0)
        return
    yield Host(section, here, section.children[0].first, among_categories=False)
    for child in section.children:
        yield from find_hosts(child, here, divided, wording)


def _is_category(section: Section, divided: Mapping[Rank, float], wording: Wording) -> bool:
    """Whether what stands below the section are questions rather than parts of its answer."""
    usual = divided[section.rank] if section.rank else 0.0
    return _divides(section, wording) + usual > 0


def divided_ranks(root: Section, wording: Wording) -> dict[Rank, float]:
    """For every rank of headings how much they look like categories, above 0, or like questions."""
    ranks: dict[Rank, list[Section]] = defaultdict(list)
    for section in root.walk():
        if section.rank:
            ranks[section.rank].append(section)
    return {rank: _rank_divides(sections, root, wording) for rank, sections in ranks.items()}


def _rank_divides(sections: Sequence[Section], root: Section, wording: Wording) -> float:
    parents = [section for section in sections if section.children]
    if not parents:
        return 0.0
    if len(sections) == 1 and sections[0] is root.children[0] and len(root.children) == 1:
        return 10.0
    share = len(parents) / len(sections)
    return fmean(_divides(section, wording) for section in parents) + (
        1 if share > 0.7 else -1 if share <= 0.5 else 0
    )


def _divides(section: Section, wording: Wording) -> float:
    """How much one section with parts looks like a category: what its parts, its text and its title say."""
    titles = [child.title for child in section.children]
    named = sum(bool(wording.part(title)) for title in titles)
    if named * 2 >= len(titles):
        return -4.0
    asked = fmean(wording.likeness(title) for title in titles)
    title = wording.likeness(section.title)
    own = weight(section.own)
    parts = 1.5 if asked >= 0.6 else -0.5
    text = 1.0 if own == 0 else 0.3 if own < 200 else -1.0
    return parts + text + (-1.5 if title == 1 else -0.3 if title >= ASKING else 0.5)


def weight(blocks: Sequence[SourceBlock]) -> int:
    """Characters of text below a heading; code counts as a lot."""
    return sum(
        400 if block.kind in {"fence", "code_block", "table"} else len(block.content) + weight(block.children)
        for block in blocks
        if not is_noise(block)
    )
