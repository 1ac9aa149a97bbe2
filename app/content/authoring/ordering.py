"""The fields of a front matter in the order of docs/content-format.md; everything else stays as it is."""

from dataclasses import replace

from app.content.authoring.source_text import Blocks, SourceText, canonical_order, plain
from app.errors import AuthoringError


def in_canonical_order(content: bytes) -> bytes:
    """The file with its fields in order, each with its comments, quotes and line ends; the same file where it has
    them so.

    Raises AuthoringError where the front matter cannot be read, or cannot be put in order line by line: nothing is
    guessed, and what it says is compared before and after.
    """
    source = SourceText.of(content)
    fields = source.fields()
    order = canonical_order(fields.values)
    if order == list(fields.values):
        return content
    changed = replace(source, front=Blocks.of(source).text(order))
    if not _says_the_same(source, changed):
        raise AuthoringError("the front matter cannot be put in order line by line: do it by hand")
    return changed.content


def _says_the_same(one: SourceText, other: SourceText) -> bool:
    try:
        return plain(one.fields()) == plain(SourceText.of(other.content).fields())
    except AuthoringError:
        return False
