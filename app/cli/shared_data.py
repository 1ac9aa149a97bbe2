"""A data directory that a group shares: some platforms run a container as another user each time, always in group 0."""

import contextlib
import os
import stat
from pathlib import Path

from app.feedback import GAPS, VOTES
from app.snapshot.store.facts import FILE_NAME as FACTS

SHARED_FILE = 0o660


def share_with_group(data: Path) -> None:
    """Keep a directory that is made here to this user, and what readers leave in one to who may write it.

    Where the group may write the directory, let it write what this process writes from now on; what was not for
    everybody is not for everybody any more.
    """
    try:
        if not data.exists():
            data.mkdir(0o700, parents=True)
        shared = data.is_dir() and data.stat().st_mode & stat.S_IWGRP
    except OSError:
        return
    if not shared:
        for name in (VOTES, GAPS):
            with contextlib.suppress(OSError):
                (data / name).chmod(0o600)
        return
    os.umask(0o007)
    for name in (FACTS, VOTES, GAPS):
        # SQLite makes files that the group may only read, and leaves alone how a file is that is there.
        with contextlib.suppress(OSError):
            os.close(os.open(data / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, SHARED_FILE))
