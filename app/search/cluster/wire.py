"""How terms, atoms and keys are spelled in the cluster, so that it takes every one of them and tells them all apart."""

import hashlib
from functools import lru_cache

LONGEST = 256
"""Bytes of a term that are sent as they are. The cluster refuses whole documents for terms of 32,766 bytes."""
DIGESTED = "\x01"
"""Starts the digest of a term that is too long or no valid UTF-8; no term of ours starts with it."""
BREAK = "\n"
"""Stands between two texts among the atoms, so that no phrase is found across them; no atom contains it."""
REMEMBERED = 1 << 16
"""Terms: most are in many documents."""
ESCAPES = str.maketrans({"%": "%25", ".": "%2E"})


@lru_cache(REMEMBERED)
def spelled(term: str) -> str:
    """A term as the cluster keeps it."""
    try:
        if len(term.encode()) <= LONGEST:
            return term
    except UnicodeEncodeError:  # a lone surrogate, which no other program takes
        pass
    return DIGESTED + hashlib.sha256(term.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(REMEMBERED)
def feature(term: str) -> str:
    """A term as the name of a feature: with a dot in it, it would be indexed and never found."""
    return spelled(term).translate(ESCAPES)
