"""Every error that Chameleon raises on purpose: what was wrong, where, and what to do."""

from __future__ import annotations

import errno
import logging
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from chameleon.text import harmless_lines, redact

_log = logging.getLogger("chameleon")
OLD_NAMES = {"asks": "requires_approval", "at_most": "max_runs"}
_NOT_OWN = frozenset(["chameleon", *sys.stdlib_module_names])
_INSTALLED = frozenset(["site-packages", "dist-packages"])


class ChameleonError(Exception):
    """Something a person can act on.

    `what` says what was wrong, `where` names the place (file and key, module and step), `hint` says
    what to do. `str()` is one line, fit for a terminal; it never holds a secret. `code` is set where the hint
    speaks of Python and a caller has other means: the command line has its own words for it. `path` leads to
    the fault in what was given, by keys and by places from 0: see `within`.
    """

    path: tuple[str | int, ...] = ()

    def __init__(self, what: str, *, where: str = "", hint: str = "", code: str = "") -> None:
        self.what, self.where, self.hint, self.code = what, where, hint, code
        super().__init__(what)

    def __str__(self) -> str:
        line = f"{self.where}: {self.what}" if self.where else self.what
        if self.hint:
            line = f"{line.rstrip('.')}. {self.hint}"
        return " ".join(line.split())

    def at(self, where: str) -> Self:
        """Return the same error, told of another place."""
        return type(self)(self.what, where=where, hint=self.hint, code=self.code)


@contextmanager
def within(*path: str | int) -> Iterator[None]:
    """Add this path to an error about a part of the input."""
    try:
        yield
    except ChameleonError as problem:
        problem.path = (*path, *problem.path)
        raise


@contextmanager
def placed(where: str) -> Iterator[None]:
    """Give an error a place, unless it has its own: a fault of another tool in a file, say."""
    try:
        yield
    except ChameleonError as problem:
        raise problem if problem.where else problem.at(where) from problem


class InputError(ChameleonError):
    """A question, table or file that cannot be used as it is."""


class InventoryError(ChameleonError):
    """A YAML inventory, or a module or planner that it names, that does not fit."""


class PromptError(ChameleonError):
    """A prompt file that cannot be read or rendered."""


class PlanError(ChameleonError):
    """A plan that breaks the inventory's rules, or text that holds no plan."""


class ModuleError(ChameleonError):
    """A module that failed, or that returned something it may not return."""


class BadArguments(ModuleError):
    """A module's arguments do not fit its schema, or stand for an output that is not there."""


class NoSuchKey(ModuleError, KeyError):
    """A key that the values of a run do not have, or that a module reads without declaring it."""


class StepRejected(ModuleError):
    """A module's verdict that an earlier result will not do; the inventory's `repair` may redo it."""


class CutOff(StepRejected):
    """A reply that was cut off at its limit, however much room it was given: asking once more is no help."""


class Unverified(ModuleError):
    """An answer that nothing bears out: another plan may, else the run declines."""


class NotApproved(ModuleError):
    """A step that asks for approval, and that a person did not allow, or nobody yet."""


class Declined(ChameleonError):
    """The question is understood to be out of reach; `what` says why, in plain words."""


class InnerDeclined(ModuleError):
    """An inventory that a step ran declined: so does the run, where its `on_error` has no other way."""


class InnerBudget(ModuleError):
    """An inventory that a step ran spent its own budget: the step fails, and the run may go on without it."""


class BudgetExceeded(ChameleonError):
    """A limit on calls, tokens, seconds, cost or steps ended the run."""


class LogError(ChameleonError):
    """An event log that cannot be read, or that belongs to another run."""


class MissingPackage(ChameleonError):
    """An optional package is not installed; the hint is the pip line that installs it."""


def require(
    package: str,
    use: str,
    extra: str,
    *,
    module: str = "",
    where: str = "",
    imports: bool = False,
    also: Mapping[str, str] | None = None,
) -> None:
    """Raise `MissingPackage` unless a package is installed, and with `imports` unless it can be imported.

    `use` says what for ("PDF files are read with"), `extra` is the one of ours that installs it. `also` are
    packages, each with the module that it installs, that the same use needs: all that are missing are named.
    """
    if missing := [each for each, name in (also or {}).items() if not find_spec(name)]:
        every = [*([] if find_spec(module or package) else [package]), *missing]
        told = f"{use} {', '.join(every)}, {'which is' if len(every) == 1 else 'which are'} not installed"
        raise MissingPackage(told, where=where, hint=f'pip install "chameleon-compose[{extra}]"')
    name, reason = module or package, "which is not installed"
    try:
        if find_spec(name):
            if imports:
                import_module(name)
            return
    except Exception as error:  # a package may raise anything as it is loaded
        if not isinstance(error, ImportError) or error.name != name.partition(".")[0]:
            reason = f"which cannot be loaded ({error})"
    hint = f'pip install "chameleon-compose[{extra}]"'
    raise MissingPackage(f"{use} the package {package}, {reason}", where=where, hint=hint)


def versions_of(*packages: str) -> dict[str, str]:
    """Return the versions of those that are installed, by name; nothing is imported."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for package in packages:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


class SandboxUnavailable(ChameleonError):
    """No executor with the required guarantees can run here."""


class MachineError(ChameleonError):
    """The machine lacks what nothing can do without: room, handles, memory."""


_ROOM = "Make room, then go on."
_FEWER = "Use fewer workers, or raise the limit (ulimit -n 4096)."
_LACKS: Mapping[int | None, tuple[str, str]] = {
    errno.ENOSPC: ("there is no room left on the disk", _ROOM),
    errno.EDQUOT: ("the quota of the disk is used up", _ROOM),
    errno.EMFILE: ("this process has as many files open as it may", _FEWER),
    errno.ENFILE: ("the machine has as many files open as it can", "Close other programs."),
    errno.ENOMEM: ("the machine has no memory left", "Use fewer workers, or close other programs."),
}


def lack_of(problem: BaseException | None) -> MachineError | None:
    """Return what the machine lacks, where that is at the bottom of an error, whatever was made of it."""
    for part in causes(problem):
        if isinstance(part, MachineError):
            return part
        what, hint = _LACKS.get(part.errno, ("", "")) if isinstance(part, OSError) else ("", "")
        if getattr(part, "sqlite_errorname", "") == "SQLITE_FULL":
            what, hint = _LACKS[errno.ENOSPC]
        elif isinstance(part, RuntimeError) and "can't start new thread" in str(part):
            what, hint = "the machine can start no more threads", "Use fewer workers."
        if what:
            return MachineError(what, hint=hint)
    return None


def causes(problem: BaseException | None) -> Iterator[BaseException]:
    """Walk from an error to what caused it: libraries wrap one another's errors."""
    seen: set[int] = set()
    while problem is not None and id(problem) not in seen:
        seen.add(id(problem))
        yield problem
        problem = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)


class ModelError(ChameleonError):
    """A model call that failed after its retries."""


class EmptyReply(ModelError):
    """A model that said nothing: as good as a reply that cannot be read."""


class SchemaRefused(ModelError):
    """A model that does not take the schema that its reply is to be of."""


class ToolsRefused(ModelError):
    """A model, or its server, that does not take tools to call."""


class Unreachable(ModelError):
    """A server that cannot be reached, or that broke off, however often it was asked."""


class NoModel(ModelError):
    """No model is configured, or the one that is named does not exist."""


class RateLimited(ModelError):
    """The provider refused for load (429) until the retries ran out."""


class ContextTooLong(ModelError):
    """The prompt does not fit the model's context."""


class AuthFailed(ModelError):
    """The provider refused the key."""


class Refused(ModelError):
    """The provider's content filter or the model refused to answer."""


class ParameterRefused(ModelError):
    """A model does not take a parameter that a method sets, and nobody allowed going on without it."""


class ReplayMiss(ModelError):
    """Replay was asked for, and the response store has no such reply."""


class Stopped(ChameleonError):
    """The evaluation was stopped before its end; what is done is kept."""


class StoreError(ChameleonError):
    """The file of the response store cannot be used."""


class ScriptExhausted(ModelError):
    """A scripted model was asked for more replies than its script holds."""


class WebError(ModuleError):
    """A web request that was refused, failed or brought something else than was asked for."""


def show_traceback(problem: BaseException) -> None:
    """Print the traceback of an error on stderr where `CHAMELEON_DEBUG` asks for it, without secrets."""
    if os.environ.get("CHAMELEON_DEBUG", "0") not in ("", "0"):
        sys.stderr.write(harmless_lines(redact("".join(traceback.format_exception(problem)))))


def raised_at(problem: BaseException) -> str:
    """Return the file and line where a problem arose: the last of the user's own code, if any.

    What is installed is not, unless there is no other: then it is what was called first.
    """
    frames = [*traceback.walk_tb(problem.__traceback__)]
    packages = (str(frame.f_globals.get("__name__")).partition(".")[0] for frame, _ in frames)
    others = [each for each, package in zip(frames, packages, strict=True) if package not in _NOT_OWN]
    # By the file of its module, since compiled code has other paths.
    files = (frame.f_globals.get("__file__") or frame.f_code.co_filename for frame, _ in others)
    own = [each for each, file in zip(others, files, strict=True) if _INSTALLED.isdisjoint(Path(file).parts)]
    places = own or others[:1] or frames
    return f" ({Path(places[-1][0].f_code.co_filename).name}, line {places[-1][1]})" if places else ""


def with_new_names(
    entry: Mapping[str, Any], where: str, names: Mapping[str, str] = OLD_NAMES
) -> dict[str, Any]:
    """Return keys or options with those that version 0.3 drops under their new names, and warn of them.

    Raises `InventoryError` for an `asks` that is neither "approval" nor nothing: a typo must not run a tool.
    """
    renamed = dict(entry)
    for old in (name for name in names if name in entry):
        value = renamed.pop(old)
        if old == "asks" and isinstance(value, str):
            if value not in ("", "approval"):
                raise InventoryError(f"asks is {value!r}", where=where, hint="Write requires_approval: true.")
            value = bool(value)
        renamed[names[old]] = value
        _log.warning("%s: %r is now %r; version 0.3 does not read the old name", where, old, names[old])
    return renamed
