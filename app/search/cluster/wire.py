"""How terms, atoms and keys are spelled in the cluster, so that it takes every one of them and tells them all apart."""

import hashlib

LONGEST = 256
"""Bytes of a term that are sent as they are. The cluster refuses whole documents for terms of 32,766 bytes."""
DIGESTED = "\x01"
"""Starts the digest of a term that is too long or no valid UTF-8; no term of ours starts with it."""
BREAK = "\n"
"""Stands between two texts among the atoms, so that no phrase is found across them; no atom contains it."""
ESCAPES = str.maketrans({"%": "%25", ".": "%2E"})


def spelled(term: str) -> str:
    """A term as the cluster keeps it."""
    encoded = term.encode("utf-8", "surrogatepass")
    if len(encoded) <= LONGEST and not any("\ud800" <= each <= "\udfff" for each in term):
        return term
    return DIGESTED + hashlib.sha256(encoded).hexdigest()


def feature(term: str) -> str:
    """A term as the name of a feature: with a dot in it, it would be indexed and never found."""
    return spelled(term).translate(ESCAPES)
