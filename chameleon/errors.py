"""The errors that Chameleon raises: each says what was wrong, where, and what to do."""

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
_LIBRARIES = frozenset(["chameleon", *sys.stdlib_module_names])
_SITE_DIRS = frozenset(["site-packages", "dist-packages"])


class ChameleonError(Exception):
    """An error that a person can act on.

    `str()` is one line, safe for a terminal and free of secrets.

    Attributes:
        what: what was wrong.
        where: the place: file and key, module and step.
        hint: what to do.
        code: set if the hint is about Python and a caller may replace it: the command line has its own hints.
        path: leads to the fault within the input, by keys and indices from 0: see `within`.
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
        """Return the same error with another place."""
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
    """Give an error a place, unless it already has one, such as a fault in another file."""
    try:
        yield
    except ChameleonError as problem:
        raise problem if problem.where else problem.at(where) from problem


class InputError(ChameleonError):
    """A question, table or file cannot be used as it is."""


class InventoryError(ChameleonError):
    """A YAML inventory, or a module or planner that it names, is invalid."""


class PromptError(ChameleonError):
    """A prompt file cannot be read or rendered."""


class PlanError(ChameleonError):
    """A plan breaks the inventory's rules, or a text contains no plan."""


class ModuleError(ChameleonError):
    """A module failed, or returned something it may not return."""


class BadArguments(ModuleError):
    """A module's arguments do not fit its schema, or refer to an output that does not exist."""


class NoSuchKey(ModuleError, KeyError):
    """A key is not in the values of a run, or a module reads it without declaring it."""


class StepRejected(ModuleError):
    """A module rejects an earlier result; the inventory's `repair` may redo it."""


class CutOff(StepRejected):
    """A reply was cut off at its limit even with more room: asking again does not help."""


class Unverified(ModuleError):
    """Nothing supports an answer: another plan may, else the run declines."""


class NotApproved(ModuleError):
    """A step needs approval, and a person denied it or nobody has answered yet."""


class Declined(ChameleonError):
    """The question cannot be answered; `what` says why, in plain words."""


class InnerDeclined(ModuleError):
    """An inventory run by a step declined; so does the run, unless its `on_error` says otherwise."""


class InnerBudget(ModuleError):
    """An inventory run by a step spent its own budget: the step fails, but the run may continue."""


class BudgetExceeded(ChameleonError):
    """A limit on calls, tokens, seconds, cost or steps ended the run."""


class LogError(ChameleonError):
    """An event log cannot be read, or belongs to another run."""


class MissingPackage(ChameleonError):
    """An optional package is not installed; the hint is the pip command that installs it."""


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

    Args:
        use: what it is for: "PDF files are read with".
        extra: the extra of chameleon-compose that installs it.
        module: the module that it installs, if it has another name.
        also: other packages needed for the same use, with the module each installs: the error names all that
            are missing.
    """
    name, reason = module or package, "which is not installed"
    hint = f'pip install "chameleon-compose[{extra}]"'
    if missing := [each for each, other in (also or {}).items() if not find_spec(other)]:
        every = [*([] if find_spec(name) else [package]), *missing]
        what = f"{use} {', '.join(every)}, {'which is' if len(every) == 1 else 'which are'} not installed"
        raise MissingPackage(what, where=where, hint=hint)
    try:
        if find_spec(name):
            if imports:
                import_module(name)
            return
    except Exception as error:  # a package may raise anything while loading
        if not isinstance(error, ImportError) or error.name != name.partition(".")[0]:
            reason = f"which cannot be loaded ({error})"
    raise MissingPackage(f"{use} the package {package}, {reason}", where=where, hint=hint)


def versions_of(*packages: str) -> dict[str, str]:
    """Return the versions of the installed ones among these packages, without importing them."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {}
    for package in packages:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


class SandboxUnavailable(ChameleonError):
    """No sandbox with the required guarantees can run here."""


class MachineError(ChameleonError):
    """The machine has run out of something essential: disk space, file handles, memory."""


_DISK_HINT = "Free some space, then run the same command again."
_FILES_HINT = "Use fewer workers, or raise the limit (ulimit -n 4096)."
_LACKS: Mapping[int | None, tuple[str, str]] = {
    errno.ENOSPC: ("there is no space left on the disk", _DISK_HINT),
    errno.EDQUOT: ("the quota of the disk is used up", _DISK_HINT),
    errno.EMFILE: ("this process has too many files open", _FILES_HINT),
    errno.ENFILE: ("the machine has too many files open", "Close other programs."),
    errno.ENOMEM: ("the machine is out of memory", "Use fewer workers, or close other programs."),
}


def lack_of(problem: BaseException | None) -> MachineError | None:
    """Return the machine's lack that caused an error, even if the error was wrapped, or None."""
    for part in causes(problem):
        if isinstance(part, MachineError):
            return part
        what, hint = _LACKS.get(part.errno, ("", "")) if isinstance(part, OSError) else ("", "")
        if getattr(part, "sqlite_errorname", "") == "SQLITE_FULL":
            what, hint = _LACKS[errno.ENOSPC]
        elif isinstance(part, RuntimeError) and "can't start new thread" in str(part):  # Python's own words
            what, hint = "the machine cannot start more threads", "Use fewer workers."
        if what:
            return MachineError(what, hint=hint)
    return None


def causes(problem: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes, because libraries wrap one another's errors."""
    ids: set[int] = set()  # a chain of causes may have a loop
    while problem is not None and id(problem) not in ids:
        ids.add(id(problem))
        yield problem
        problem = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)


class ModelError(ChameleonError):
    """A model call failed after its retries."""


class EmptyReply(ModelError):
    """A model replied with nothing, which counts as an unreadable reply."""


class SchemaRefused(ModelError):
    """A model does not accept a schema for its reply."""


class ToolsRefused(ModelError):
    """A model, or its server, does not accept tools."""


class Unreachable(ModelError):
    """A server cannot be reached, or broke off, even after retries."""


class NoModel(ModelError):
    """No model is configured, or the named one does not exist."""


class RateLimited(ModelError):
    """The provider limited the rate (429) until the retries ran out."""


class ContextTooLong(ModelError):
    """The prompt does not fit the model's context."""


class AuthFailed(ModelError):
    """The provider refused the key."""


class Refused(ModelError):
    """The provider's content filter or the model refused to answer."""


class ParameterRefused(ModelError):
    """A model does not accept a parameter that a method sets, and dropping it is not allowed."""


class ReplayMiss(ModelError):
    """A replay needs a reply that the response store does not have."""


class Stopped(ChameleonError):
    """The evaluation was stopped early; finished results are kept."""


class StoreError(ChameleonError):
    """The file of the response store cannot be used."""


class ScriptExhausted(ModelError):
    """A scripted model was asked for more replies than its script holds."""


class WebError(ModuleError):
    """A web request was refused, failed, or returned something unexpected."""


def show_traceback(problem: BaseException) -> None:
    """Print the traceback of an error on stderr, without secrets, if `CHAMELEON_DEBUG` is set."""
    if os.environ.get("CHAMELEON_DEBUG", "0") not in ("", "0"):
        sys.stderr.write(harmless_lines(redact("".join(traceback.format_exception(problem)))))


def raised_at(problem: BaseException) -> str:
    """Return the file and line where a problem arose: the last one in the user's own code, if any.

    Installed packages do not count, unless there is nothing else: then it is the first one called.
    """
    frames = [*traceback.walk_tb(problem.__traceback__)]
    packages = (str(frame.f_globals.get("__name__")).partition(".")[0] for frame, _ in frames)
    others = [each for each, package in zip(frames, packages, strict=True) if package not in _LIBRARIES]
    # Use the file of the module, because compiled code has other paths.
    files = (frame.f_globals.get("__file__") or frame.f_code.co_filename for frame, _ in others)
    own = [each for each, file in zip(others, files, strict=True) if _SITE_DIRS.isdisjoint(Path(file).parts)]
    places = own or others[:1] or frames
    return f" ({Path(places[-1][0].f_code.co_filename).name}, line {places[-1][1]})" if places else ""


def with_new_names(
    entry: Mapping[str, Any], where: str, names: Mapping[str, str] = OLD_NAMES
) -> dict[str, Any]:
    """Rename keys or options whose names version 0.3 drops, with a warning for each.

    Args:
        where: the place of the entry.
        names: the new name of each old one.

    Raises:
        InventoryError: for an `asks` that is neither "approval" nor empty: a typo must not run a tool.
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
