"""Everything that may happen to a file of a data directory."""

import os
import pickle
import random
from collections.abc import Callable
from pathlib import Path


class Planted:
    """What runs when it is unpickled."""

    def __init__(self, proof: Path) -> None:
        self._proof = proof

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, (str(self._proof),)


def _bytes(change: Callable[[bytes], bytes]) -> Callable[[Path, Path], None]:
    def damage(path: Path, _elsewhere: Path) -> None:
        path.write_bytes(change(path.read_bytes()))

    return damage


def _instead(make: Callable[[Path, Path], None]) -> Callable[[Path, Path], None]:
    def damage(path: Path, elsewhere: Path) -> None:
        path.unlink()
        make(path, elsewhere)

    return damage


def _flip(share: float) -> Callable[[bytes], bytes]:
    def change(content: bytes) -> bytes:
        at = min(int(len(content) * share), len(content) - 1)
        return content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :] if content else b"\4"

    return change


def _plant(path: Path, elsewhere: Path) -> None:
    path.write_bytes(pickle.dumps(Planted(elsewhere / "it-ran")))


DAMAGES: dict[str, Callable[[Path, Path], None]] = {
    "cut in half": _bytes(lambda content: content[: len(content) // 2]),
    "cut by a byte": _bytes(lambda content: content[:-1]),
    "empty": _bytes(lambda _: b""),
    "appended to": _bytes(lambda content: content + b"more"),
    "a bit at the start": _bytes(_flip(0.01)),
    "a bit in the middle": _bytes(_flip(0.5)),
    "a bit at the end": _bytes(_flip(0.99)),
    "zeros": _bytes(lambda content: bytes(len(content))),
    "noise": _bytes(lambda content: random.Random(len(content)).randbytes(len(content))),
    "a pickle": _instead(_plant),
    "gone": _instead(lambda _path, _elsewhere: None),
    "a folder": _instead(lambda path, _elsewhere: path.mkdir()),
    "a pipe": _instead(lambda path, _elsewhere: os.mkfifo(path)),
    "a dangling link": _instead(lambda path, _elsewhere: path.symlink_to("nowhere")),
    "a loop": _instead(lambda path, _elsewhere: path.symlink_to(path.name)),
    "a link to another's": _instead(lambda path, elsewhere: path.symlink_to(elsewhere / "file")),
}
