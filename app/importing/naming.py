"""Slugs for entries: short, readable, unique."""

import re
from collections.abc import Iterable

MAX_WORDS = 8
MAX_CHARS = 60

_SMALL_WORDS = frozenset(
    """
    a an and are as at be been by can could did do does for from get has have how i if in is it its me my of on or
    our shall should so some than that the their them then there these this those to us was we were what when
    where which who why will with would you your
    """.split()
)


class Slugs:
    """Hands out slugs that no entry has; `taken` are those of the content."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {each.casefold() for each in taken}

    def take(self, title_en: str, title_zh: str, anchor: str, fallback: str) -> tuple[str, bool]:
        """A slug out of the English title, an anchor, or the Latin words of the Chinese one; False where it had to
        be made up from `fallback`."""
        candidates = (words_of(title_en), words_of(anchor), words_of(title_zh))
        telling = next((each for each in candidates if len("".join(each)) >= 4), None)
        wanted = _joined(telling or (*words_of(fallback), *words_of(title_zh)) or ("entry",))
        return self._free(wanted), telling is not None

    def reserve(self, slug: str) -> None:
        """Keeps a slug from being handed out."""
        self._taken.add(slug.casefold())

    def _free(self, wanted: str) -> str:
        slug, number = wanted, 2
        while slug in self._taken:
            slug, number = f"{wanted}-{number}", number + 1
        self._taken.add(slug)
        return slug


def words_of(text: str) -> tuple[str, ...]:
    """The words of a title that tell, in lower case; all of them where only small ones stand there."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", text.replace("'", "").replace("’", ""))
    words = re.findall(r"[a-z0-9]+", parted.lower())
    return tuple(word for word in words if word not in _SMALL_WORDS) or tuple(words)


def _joined(words: Iterable[str]) -> str:
    slug = ""
    for word in list(words)[:MAX_WORDS]:
        longer = f"{slug}-{word}".strip("-")
        if len(longer) > MAX_CHARS:
            break
        slug = longer
    return slug or next(iter(words))[:MAX_CHARS]
