"""Where what comes with Jieda lies, and where its data is kept: in a checkout, the image or an installed package."""

from pathlib import Path

from platformdirs import user_cache_path, user_data_path

PACKAGE = Path(__file__).parent.resolve()
_WITHIN = PACKAGE / "shipped"
"""What an installed package has; in a checkout and in the image, folders such as content/ lie beside the code."""
INSTALLED = _WITHIN.is_dir()
_ROOT = _WITHIN if INSTALLED else PACKAGE.parents[1]
CONTENT, STATIC, DEPLOY = _ROOT / "content", _ROOT / "static", _ROOT / "deploy"
DATA = user_data_path("jieda", appauthor=False) if INSTALLED else _ROOT / ".jieda"
"""By default. An installed package writes nothing beside itself: it may be read-only, or belong to everybody."""


def _cache() -> Path | None:
    try:
        return user_cache_path("jieda", appauthor=False)
    except RuntimeError:  # the user has no home, as in some containers
        return None


CACHE = _cache()
"""For what is the same whatever the content, and can be made again; None where the user has no place for it."""
