"""Files read for the second time, after it was decided what to make of them: they must still be the same."""

from pathlib import Path

from app.content.read.corpus import Image, SampleFile
from app.content.read.directory import FoundFile, Stamp, read_file
from app.content.read.load import content_hash
from app.content.read.outline import Outline
from app.content.read.parse import SourceFile


class ContentMoved(Exception):
    """A file changed while it was being read for the second time: look at everything again."""


def same(source: SourceFile, content: str) -> SourceFile:
    """The source, whose hash must be `content`. Raises ContentMoved."""
    if content_hash(source.content) != content:
        raise ContentMoved
    return source


def source_of(file: Outline) -> SourceFile:
    """The file of an outline. Raises ContentMoved, OSError."""
    return _read(file.path, file.where, file.content)


def sample_text(sample: SampleFile) -> str:
    """The text of a sample. Raises ContentMoved, OSError."""
    return _read(sample.path, sample.where, sample.content).content.decode()


def image_bytes(image: Image, where: str) -> bytes:
    """The content of an image. Raises ContentMoved, OSError."""
    return _read(image.path, where, image.content).content


def _read(path: Path, where: str, content: str) -> SourceFile:
    root = str(path)[: -len(where) - 1]
    return same(read_file(FoundFile(root, where, str(path), Stamp(0, 0, 0, 0))), content)
