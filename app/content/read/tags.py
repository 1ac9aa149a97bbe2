"""The taxonomy of some content directories alone: for commands that read no entries."""

from collections.abc import Sequence
from pathlib import Path

from app.content.read.directory import list_directory, read_file
from app.content.read.gather import make_vocabulary
from app.taxonomy import Taxonomy

TAXONOMY = "taxonomy.yaml"


def load_taxonomy(directories: Sequence[Path]) -> Taxonomy:
    """The tags of all directories, later ones over earlier. Raises ContentError where they are missing or broken."""
    listings = [list_directory(directory, frozenset()) for directory in directories]
    found = [read_file(file) for listing in listings for file in listing.shared if file.where == TAXONOMY]
    return make_vocabulary(listings[0].root, found).taxonomy
