"""Thread-safe caches bounded by bytes."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


LONGEST_WORD = 100
"""Most characters of a word that is worth keeping: a corpus repeats shorter ones."""


def cache_short(
    entries: int, make: Callable[[str], Value], longest: int = LONGEST_WORD
) -> Callable[[str], Value]:
    """Return `make` with a cache of so many texts of at most `longest` characters; longer ones are made anew."""
    cached = lru_cache(entries)(make)
    return lambda text: cached(text) if len(text) <= longest else make(text)


class ByteCache(Generic[Key, Value]):
    """LRU cache bounded by the size of its values; at least the latest value stays."""

    def __init__(self, room: int, size: Callable[[Value], int]) -> None:
        """`room`: most bytes; `size` returns the bytes of a value."""
        self._room = room
        self._size = size
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._used = 0
        self._lock = threading.Lock()

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return the value of a key, made if it is not cached; two threads may both make it."""
        found = self.find(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found

    def find(self, key: Key) -> Value | None:
        with self._lock:
            if (found := self._kept.get(key)) is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: Key, value: Value) -> None:
        size = self._size(value)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = value, size
                self._used += size
            while self._used > self._room and len(self._kept) > 1:
                _, (_, freed) = self._kept.popitem(last=False)
                self._used -= freed
