"""Paths of the shipped files and of the data, in a checkout, the container image or an installed package."""

from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path, user_data_path

PACKAGE = Path(__file__).parent.resolve()
_SHIPPED = PACKAGE / "shipped"
"""Exists in an installed package only; in a checkout and in the image, folders such as content/ are beside the code."""
INSTALLED = _SHIPPED.is_dir()
_ROOT = _SHIPPED if INSTALLED else PACKAGE.parents[1]
CONTENT, STATIC, DEPLOY = _ROOT / "content", _ROOT / "static", _ROOT / "deploy"
DATA = user_data_path("jieda", appauthor=False) if INSTALLED else _ROOT / ".jieda"
"""The default data directory. An installed package writes nothing beside itself: it may be read-only, or shared."""


CACHE: Path | None = None
with suppress(RuntimeError):  # the user has no home, as in some containers
    CACHE = user_cache_path("jieda", appauthor=False)
"""Cache of files that do not depend on the content and can be recreated; None if the user has no cache directory."""


def read_words(path: Path) -> list[str]:
    """Return the words of a shipped list, without its lines of comments."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [word for line in lines if not line.startswith("#") for word in line.split()]
