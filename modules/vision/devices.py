"""Which device of torch computes, and with how many threads."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping

from chameleon.errors import InventoryError
from chameleon.pictures import versions_of

_FORM = re.compile(r"auto|cuda(:\d+)?|mps|cpu")


def check_form(device: str) -> None:
    """Raise `InventoryError` when it names no kind of device; whether it is there, `require_device` says."""
    if not _FORM.fullmatch(device):
        raise InventoryError(
            f"device is {device!r}, and is to be auto, cuda, cuda:NUMBER, mps or cpu",
            hint="auto is the first of cuda, mps and cpu that is there.",
        )


def require_device(device: str) -> None:
    """Raise `InventoryError` when it is not there; torch is imported only where a GPU is named."""
    if device in ("auto", "cpu"):
        return
    kind, _, number = device.partition(":")
    there = _there()
    if not there[kind]:
        usable = ", ".join(name for name, is_there in there.items() if is_there)
        raise InventoryError(f"there is no device {device!r} here", hint=f"Set device to auto or {usable}.")
    if number:
        import torch

        count = torch.cuda.device_count()
        if int(number) >= count:
            hint = f"They are numbered from 0 to {count - 1}."
            raise InventoryError(f"there is no device {device!r} here", hint=hint)


def device_for(wanted: str) -> str:
    """Return the device to use: with auto the first of cuda, mps and cpu. Raise `InventoryError`."""
    require_device(wanted)
    return next(name for name, is_there in _there().items() if is_there) if wanted == "auto" else wanted


def foreseen_device(wanted: str) -> str | None:
    """Return what `device_for` will; None without torch, which is imported only where nothing else tells."""
    torch = versions_of("torch").get("torch")
    if wanted != "auto" or torch is None:
        return None if torch is None else wanted
    if torch.endswith("+cpu") and sys.platform != "darwin":  # a build that knows no other device
        return "cpu"
    return device_for("auto")


def use_threads(number: int | None) -> None:
    """Have torch compute with so many threads on the CPU, in this whole process.

    None leaves one processor free, and takes no more than torch does by itself. Where torch has them all, its
    threads wait for each other at every operation while a neighbour, such as a text detector, has one.
    """
    import torch

    # In a container a process may use fewer than there are.
    processors = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    free = max(1, min(torch.get_num_threads(), processors - 1))
    torch.set_num_threads(free if number is None else number)


def _there() -> Mapping[str, bool]:
    import torch

    return {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
