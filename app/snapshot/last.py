"""The value of last time, where it follows from the same things."""

from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Last(Generic[Value]):
    """Keeps one value with what it was made from. Not safe to share between threads."""

    def __init__(self) -> None:
        self._made: tuple[tuple[object, ...], Value] | None = None

    def of(self, make: Callable[[], Value], *inputs: object) -> Value:
        """The value made from `inputs`, which are compared by value: quickly, where most of them are the same objects.

        What `make` raises is raised here.
        """
        if self._made is None or self._made[0] != inputs:
            self._made = (inputs, make())
        return self._made[1]
