"""Thread-safe caches bounded by bytes."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


LONGEST_WORD = 100
"""Characters of the longest word that is worth caching: a corpus repeats shorter ones."""


def cache_short(
    entries: int, make: Callable[[str], Value], longest: int = LONGEST_WORD
) -> Callable[[str], Value]:
    """Return `make` with an LRU cache of `entries` results, for texts of at most `longest` characters."""
    cached = lru_cache(entries)(make)
    return lambda text: cached(text) if len(text) <= longest else make(text)


class ByteCache(Generic[Key, Value]):
    """LRU cache bounded by the total size of its values; the latest value always stays."""

    def __init__(self, max_bytes: int, size: Callable[[Value], int]) -> None:
        """`size` returns the bytes of a value."""
        self._max_bytes = max_bytes
        self._size = size
        self._values: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._used = 0
        self._lock = threading.Lock()

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return the value of a key, calling `make` if it is not cached; two threads may both call it."""
        value = self.find(key)
        if value is None:
            value = make()
            self.put(key, value)
        return value

    def find(self, key: Key) -> Value | None:
        with self._lock:
            if (found := self._values.get(key)) is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: Key, value: Value) -> None:
        size = self._size(value)
        with self._lock:
            if key not in self._values:
                self._values[key] = value, size
                self._used += size
            while self._used > self._max_bytes and len(self._values) > 1:
                _, (_, freed) = self._values.popitem(last=False)
                self._used -= freed
