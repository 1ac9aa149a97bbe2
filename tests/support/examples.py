"""Number of Hypothesis examples per property: as requested, or a tenth for `make quick`."""

from hypothesis import settings

USUAL = 100
"""`max_examples` of the default profile."""
FEWEST = 5


def examples(most: int) -> int:
    """Scale `most` to the active profile."""
    profile = settings.default or settings()
    return max(FEWEST, most * profile.max_examples // USUAL)
