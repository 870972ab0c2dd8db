"""Pick the sandbox for this machine, or say why it has none."""

import atexit
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Literal, get_args

from chameleon.errors import ChameleonError, InputError, SandboxUnavailable
from chameleon.sandbox.inside.libraries import installed
from chameleon.sandbox.monty import MontySandbox
from chameleon.sandbox.result import Limits
from chameleon.sandbox.sandbox import Sandbox
from chameleon.sandbox.sealed import MONTY_HINT, SealedSandbox
from chameleon.sandbox.sealed_process import why_unusable

LIBRARIES = ("numpy", "pandas", "sympy")
Kind = Literal["auto", "sealed", "monty"]

_DEFAULT_LIMITS = Limits()


def make_sandbox(
    kind: Kind = "auto",
    libraries: Sequence[str] = LIBRARIES,
    limits: Limits = _DEFAULT_LIMITS,
    workers: int = 1,
    require: Sequence[str] = ("seccomp", "rlimits"),
) -> Sandbox:
    """Start a sandbox for model-written programs; close it when done, or use it in a `with`.

    Args:
        kind: "auto" is "sealed" where that can start (Linux x86_64) and "monty" elsewhere.
        limits: what one program may use, see `Limits`.
        libraries: what programs may import besides Python's own modules, if it is installed.
        workers: how many programs run at once; others wait.
        require: the layers without which a sealed sandbox does not start.

    Raises:
        InputError: for an unknown `kind` or fewer than one worker.
        SandboxUnavailable: with the reason, rather than run with less.
    """
    if kind not in get_args(Kind):
        hint = f"Choose one of {', '.join(get_args(Kind))}."
        raise InputError(f"there is no sandbox '{kind}'", where="make_sandbox", hint=hint)
    if workers < 1:
        raise InputError("workers must be at least 1", where="make_sandbox")
    if kind == "auto":
        kind = "monty" if why_unusable() else "sealed"
    if kind == "monty":
        return MontySandbox(libraries, limits, workers)
    if reason := why_unusable():
        raise SandboxUnavailable(reason, hint=MONTY_HINT)
    return SealedSandbox(libraries, limits, workers, require)


def importable() -> list[str]:
    """Return the libraries that programs can import here besides Python's own, starting no sandbox."""
    return [] if why_unusable() else installed(LIBRARIES)


_lock = threading.Lock()
_shared: Sandbox | None = None
_inherited: list[Sandbox] = []  # of the parent process before a fork; if freed, Monty's would end


def shared_sandbox() -> Sandbox:
    """Return the process's one `auto` sandbox, started at the first call and closed at exit.

    Every thread may use it. A forked process starts its own if that is sealed; Monty refuses to run in a fork
    of a process that has already used it. Raises SandboxUnavailable.
    """
    global _shared  # noqa: PLW0603
    with _lock:
        if _shared is None:
            _shared = make_sandbox("auto", workers=max(1, min(4, os.cpu_count() or 1)))
            atexit.register(_shared.close)
        return _shared


def start_early() -> None:
    """Start the shared sandbox in the background; errors are raised at its first use."""

    def start() -> None:
        with suppress(ChameleonError):
            shared_sandbox()

    threading.Thread(target=start, name="chameleon-sandbox", daemon=True).start()


def _forget_after_fork() -> None:
    global _lock, _shared
    _inherited.extend([_shared] if _shared else [])
    _lock, _shared = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
