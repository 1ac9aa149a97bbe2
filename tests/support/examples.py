"""How many examples a law is tried on: as many as it says, and a tenth of them for `make quick`."""

from hypothesis import settings

USUAL = 100
"""What the profile has that is used where no other is asked for."""
FEWEST = 5


def examples(most: int) -> int:
    """`most`, by the share that the profile in use has of the usual number."""
    profile = settings.default or settings()
    return max(FEWEST, most * profile.max_examples // USUAL)
