"""The settings that make an evaluation: whoever has the same gets the same figures."""

from __future__ import annotations

import hashlib
import inspect
import platform
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import chameleon
from chameleon.evaluation.benchmark import Benchmark, Problem
from chameleon.evaluation.data import DataFile, full_name, read_problems
from chameleon.executor import Executor
from chameleon.inventory import Inventory
from chameleon.planner import every_planner
from chameleon.values import freeze, to_json

_PACKAGES = (
    "chameleon-compose",
    "jinja2",
    "langchain-core",
    "langchain-openai",
    "numpy",
    "pandas",
    "recognizers-text-date-time",
    "recognizers-text-number",
    "rouge-score",
    "sacrebleu",
    "sqlglot",
    "sympy",
)
# What shows results; no result depends on it.
_SHOWS = ("cli", "report", "stats.py", "published.py")


def settings_of(
    executor: Executor,
    benchmark: Benchmark,
    scorer: str,
    data: DataFile,
    tables: Path | None = None,
    *,
    gold_history: bool = False,
) -> dict[str, Any]:
    """What `settings.json` holds. When it began and how files are called may differ when the run goes on.

    Raises `InputError` for data that cannot be read, and what `runtime_info` of a module or planner raises.
    """
    inventory = executor.inventory
    made: Any = to_json(executor.settings)
    settings: dict[str, Any] = {
        "benchmark": full_name(benchmark),
        "scorer": scorer,
        "data": {"name": data.path.name, "sha256": data.sha256},
        "inventory": inventory.name,
        "without": sorted(inventory.left_out),
        "model": executor.model,
        **({"server": executor.server} if executor.server else {}),
        **({"history": "gold"} if gold_history else {}),
        "parameters": dict(_parameters(executor)),
        "digests": {
            "inventory": made.get("inventory"),
            "prompts": made.get("prompts", {}),
            "code": _digest(_files()),
            **{name: _digest(files) for name, files in _own_files(executor).items()},
        },
        "seeds": {
            "model": inventory.llm.seed,
            "programs": 0,
            "scorer": getattr(benchmark.scorers[scorer], "seed", None),
        },
        "versions": {"python": platform.python_version(), **dict(_versions())},
        "resolved": dict(_resolved(executor)),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    if tables is not None:
        settings["tables"] = {"name": tables.name, "sha256": DataFile(tables).sha256}
    if _takes_pictures(executor, benchmark) and (found := _pictures(read_problems(benchmark, data, tables))):
        settings["pictures"] = found
    return settings


def _takes_pictures(executor: Executor, benchmark: Benchmark) -> bool:
    key, taken = benchmark.picture_key, executor.inventory.input_types
    return bool(key) and (not taken or key in taken)


def _resolved(executor: Executor) -> Iterator[tuple[str, Any]]:
    """What each planner and module that may run comes to on this machine, where it leaves that open."""
    inventory = executor.inventory
    asked = [(name, planner, (inventory,)) for name, planner in _planners(inventory).items()]
    may_run = {name: each for name, each in inventory.modules.items() if name not in inventory.left_out}
    for name, owner, given in [*asked, *((name, module, ()) for name, module in may_run.items())]:
        told = getattr(owner, "runtime_info", None)
        if told is not None and (found := told(*given)):
            yield name, to_json(freeze(dict(found), f"runtime_info of {name}"))


def _pictures(problems: Iterable[Problem]) -> Mapping[str, Any]:
    """How many pictures the problems have, and a digest of which problem has which; empty without any.

    All problems of the data count, whatever --limit says, so that it may grow.
    """
    digest, count = hashlib.sha256(), 0
    for problem in problems:
        if problem.picture is not None:
            digest.update(problem.id.encode() + b"\0" + _digest_of_picture(problem.picture))
            count += 1
    return {"count": count, "sha256": digest.hexdigest()} if count else {}


def _digest_of_picture(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:  # told by the problems whose modules read it
        return b"unreadable"


def _parameters(executor: Executor) -> Iterator[tuple[str, Any]]:
    """The budget and the parameters of the calls that each part makes, where there are any."""
    inventory = executor.inventory
    for name, owner in _owners(executor).items():
        if given := getattr(owner, "llm_params", None):
            yield name, to_json(dict(given))
    for name in ("prices", "retries", "timeout"):
        if (value := getattr(inventory.llm, name)) is not None:
            yield name, value.model_dump() if name == "prices" else value
    budget = executor.budget
    limits = {name: getattr(budget, name) for name in ("calls", "tokens", "seconds", "cost", "steps")}
    yield "budget", {name: limit for name, limit in limits.items() if limit is not None}


def _owners(executor: Executor) -> Mapping[str, Any]:
    """Every planner and module, by the name that the settings give it."""
    return {**_planners(executor.inventory), **executor.inventory.modules}


def _planners(inventory: Inventory) -> Mapping[str, Any]:
    planners = enumerate(every_planner(inventory.planner))
    return {f"planner {number}" if number else "planner": planner for number, planner in planners}


def _files() -> list[Path]:
    """The files of Chameleon that a result may depend on."""
    package = Path(chameleon.__file__).parent
    found = set()  # in a checkout, the folders of the families are links, which `rglob` does not follow
    for root in (package, *(package / name for name in ("modules", "planners", "benchmarks"))):
        found |= {path for path in root.rglob("*.py") if not set(_SHOWS) & set(path.relative_to(root).parts)}
    return sorted(found, key=lambda path: (path.name, str(path)))


def _own_files(executor: Executor) -> Mapping[str, list[Path]]:
    """The files of modules and planners that are not Chameleon's, by file name."""
    inventory = executor.inventory
    found: dict[str, list[Path]] = {}
    for part in [*every_planner(inventory.planner), *inventory.modules.values()]:
        cls = type(part)
        if cls.__module__.split(".")[0] == "chameleon":
            continue
        try:
            path = Path(inspect.getsourcefile(cls) or "")
        except (TypeError, OSError):  # a class made in a notebook has no file
            continue
        same_name = found.setdefault(path.name, [])
        if path not in same_name:
            same_name.append(path)
    return found


def _digest(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        if path.is_file():
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def _versions() -> Iterator[tuple[str, str]]:
    for package in _PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue
