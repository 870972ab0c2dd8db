"""The settings of an evaluation: the same settings give the same figures."""

import hashlib
import inspect
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from chameleon.core.llm_module import asking_of
from chameleon.core.module import InnerRun
from chameleon.errors import versions_of
from chameleon.evaluation.benchmark import Benchmark, Problem
from chameleon.evaluation.data import DataFile, full_name, read_problems
from chameleon.inventory import Inventory
from chameleon.run.executor import Executor
from chameleon.values import freeze, to_json

_PACKAGES = """
chameleon-compose jinja2 langchain-core langchain-openai numpy pandas recognizers-text-date-time
recognizers-text-number rouge-score sacrebleu sympy
""".split()  # noqa: SIM905


def settings_of(
    executor: Executor,
    benchmark: Benchmark,
    scorer: str,
    data: DataFile,
    tables: Path | None = None,
    *,
    gold_history: bool = False,
    resolved: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the content of `settings.json`: everything that a result depends on, and when the run began.

    Args:
        resolved: the resolved settings of the machine that runs it, if that is not this one.

    Raises:
        InputError: for data that cannot be read; also whatever `runtime_info` of a module or planner raises.
    """
    inventory, rule = executor.inventory, benchmark.scorers.get(scorer)
    base: Any = to_json(executor.settings)
    settings: dict[str, Any] = {
        "benchmark": full_name(benchmark),
        "scorer": scorer,
        "data": {"name": data.path.name, "sha256": data.sha256},
        "inventory": inventory.name,
        "without": sorted(inventory.left_out),
        "model": executor.model,
        **({"server": executor.server} if executor.server else {}),
        **({"history": "gold"} if gold_history else {}),
        "parameters": _parameters(executor),
        "digests": {
            "inventory": base.get("inventory"),
            "prompts": base.get("prompts", {}),
            **({"inside": base["inside"]} if "inside" in base else {}),
            **own_files(inventory),
        },
        "seeds": {"model": inventory.llm.seed, "programs": 0, "scorer": rule.seed if rule else None},
        "versions": versions(),
        "resolved": resolved_by(executor) if resolved is None else resolved,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    if files := sorted(benchmark.files_of(data, data.path)):
        digests = "\n".join(DataFile(file).sha256 for file in files)
        settings["files"] = {"n": len(files), "sha256": hashlib.sha256(digests.encode()).hexdigest()}
    if tables is not None:
        settings["tables"] = {"name": tables.name, "sha256": DataFile(tables).sha256}
    key, keys = benchmark.picture_key, inventory.input_types
    if key and (not keys or key in keys) and (pictures := _pictures(read_problems(benchmark, data, tables))):
        settings["pictures"] = pictures
    return settings


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that answers depend on."""
    return {"python": platform.python_version(), **versions_of(*_PACKAGES)}


def resolved_by(executor: Executor) -> dict[str, Any]:
    """Return the settings that planners and modules leave open, as resolved on this machine."""
    inventory = executor.inventory
    info = {name: planner.runtime_info(inventory) for name, planner in inventory.planners.items()}
    info |= {name: module.runtime_info() for name, module in inventory.present.items()}
    resolved = {name: freeze(dict(each), f"runtime_info of {name}") for name, each in info.items() if each}
    return {name: to_json(each) for name, each in resolved.items()}


def _pictures(problems: Iterable[Problem]) -> Mapping[str, Any]:
    """Count the pictures of all problems, whatever the limit, and digest them by problem."""
    digest, count = hashlib.sha256(), 0
    for problem in problems:
        if problem.picture is not None:
            content = b"unreadable"  # reported by the modules that read it
            with suppress(OSError), problem.picture.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").digest()
            digest.update(problem.id.encode() + b"\0" + content)
            count += 1
    return {"count": count, "sha256": digest.hexdigest()} if count else {}


def _parameters(executor: Executor) -> dict[str, Any]:
    """Return the budget and the call parameters of each part, if any."""
    inventory, budget = executor.inventory, executor.budget
    parts = {**inventory.planners, **inventory.modules, **inventory.askers}
    parameters: dict[str, Any] = {
        name: to_json(dict(params)) for name, part in parts.items() if (params := asking_of(part).params)
    }
    for name in ("prices", "retries", "timeout"):
        if (value := getattr(inventory.llm, name)) is not None:
            parameters[name] = value.model_dump() if name == "prices" else value
    limits = {name: getattr(budget, name) for name in ("calls", "tokens", "seconds", "cost", "steps")}
    return {**parameters, "budget": {name: limit for name, limit in limits.items() if limit is not None}}


def _parts(inventory: Inventory) -> Iterator[Any]:
    """Yield the planners and modules of an inventory and of the inventories that it runs."""
    yield from inventory.planners.values()
    for module in inventory.modules.values():
        yield module
        if isinstance(module, InnerRun):
            yield from _parts(module.inner)


def own_files(inventory: Inventory) -> dict[str, str]:
    """Digest the files of modules and planners that are not Chameleon's, by file name."""
    by_name: dict[str, dict[Path, None]] = {}
    for part in _parts(inventory):
        made_of = getattr(part, "function", type(part))  # a tool's function
        if made_of.__module__.split(".")[0] != "chameleon":
            with suppress(TypeError, OSError):  # a class defined in a notebook has no file
                path = Path(inspect.getsourcefile(made_of) or "")
                if path.is_file():
                    by_name.setdefault(path.name, {})[path] = None
    contents = {name: b"\0".join(path.read_bytes() for path in paths) for name, paths in by_name.items()}
    return {name: hashlib.sha256(text).hexdigest()[:12] for name, text in contents.items()}
