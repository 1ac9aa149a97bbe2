"""What this process may use of the machine, also in a container that is given less than there is."""

import os
import re
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
"""Of this container, as Linux shows it (version 2)."""
MEMORY = Path("/proc/meminfo")
UNKNOWN = 1 << 40


def processors(cgroup: Path = CGROUP) -> int:
    """How many this process may keep busy, at least one."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota, _, period = _text(cgroup / "cpu.max").partition(" ")
    if quota.isdecimal() and period.isdecimal() and int(period):
        count = min(count, int(quota) // int(period))
    return max(1, count)


def free_memory(cgroup: Path = CGROUP, memory: Path = MEMORY) -> int:
    """Bytes that are to be had; a large number where nothing says so."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB", _text(memory), re.MULTILINE)
    free = int(found[1]) << 10 if found else UNKNOWN
    limit, used = _text(cgroup / "memory.max"), _text(cgroup / "memory.current")
    if limit.isdecimal() and used.isdecimal():
        free = min(free, max(0, int(limit) - int(used)))
    return free


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
