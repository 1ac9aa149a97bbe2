"""Contrast and mixing of colors, given as sRGB in hexadecimal digits."""

import re

COLOR = re.compile(r"#[0-9a-fA-F]{6}")
READABLE = 4.5
"""The contrast that text needs (WCAG 2.2, AA)."""
LIGHT_GROUNDS = ("#fbfaf7", "#ffffff", "#f2f0eb")
DARK_GROUNDS = ("#141618", "#1b1e21", "#0f1113")
"""Backgrounds of text in the accent color, by theme; equal to those in the style sheet."""


def lowest_contrast(color: str, grounds: tuple[str, ...]) -> float:
    """Return the lowest contrast ratio, from 1 to 21, of a color with any of several backgrounds."""
    pairs = (sorted((_luminance(color), _luminance(ground))) for ground in grounds)
    return min((light + 0.05) / (dark + 0.05) for dark, light in pairs)


def mix(color: str, other: str, share: float) -> str:
    """Mix a color with another, of which the result has `share`."""
    pairs = zip(_channels(color), _channels(other), strict=True)
    return "#" + "".join(f"{round(value + (target - value) * share):02x}" for value, target in pairs)


def _channels(color: str) -> tuple[int, ...]:
    return tuple(int(color[start : start + 2], 16) for start in (1, 3, 5))


def _luminance(color: str) -> float:
    shares = (value / 255 for value in _channels(color))
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
