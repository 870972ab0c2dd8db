"""Bounds that the kernel keeps for a process: memory, CPU, files, processes."""

from __future__ import annotations

import os
import resource
from pathlib import Path


def address_space() -> int:
    """Bytes of address space that this process uses now; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def bound(address_bytes: int, cpu_seconds: float) -> None:
    """Bound memory and CPU; no files, processes or core dumps. The hard CPU limit is a second later."""
    seconds = max(1, -int(-cpu_seconds // 1))
    for kind, soft, hard in (
        (resource.RLIMIT_AS, address_bytes, address_bytes),
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        _, ceiling = resource.getrlimit(kind)
        most = hard if ceiling == resource.RLIM_INFINITY else min(hard, ceiling)
        resource.setrlimit(kind, (min(soft, most), most))
