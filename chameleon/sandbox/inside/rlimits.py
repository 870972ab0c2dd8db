"""Limits that the kernel enforces for a process: memory, CPU, files, processes."""

import os
import resource
from pathlib import Path


def address_space() -> int | None:
    """Return the bytes of address space that this process uses, or None if unknown."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def bound(room_bytes: int, cpu_seconds: float, used_bytes: int | None) -> None:
    """Limit memory and CPU; allow no files, processes or core dumps. The hard CPU limit is a second later.

    Args:
        room_bytes: memory in addition to `used_bytes`.
        used_bytes: the address space in use; None leaves memory unlimited.
    """
    seconds = max(1, -int(-cpu_seconds // 1))
    max_bytes = resource.RLIM_INFINITY if used_bytes is None else used_bytes + room_bytes
    for kind, soft, hard in (
        (resource.RLIMIT_AS, max_bytes, max_bytes),
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        _, ceiling = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY:
            continue
        limit = hard if ceiling == resource.RLIM_INFINITY else min(hard, ceiling)
        resource.setrlimit(kind, (min(soft, limit), limit))
