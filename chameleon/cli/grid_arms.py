"""One arm of `chameleon grid`: evaluated as `chameleon eval` does it, or measured without a model."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chameleon.cli import Interrupted
from chameleon.cli.counts import counted
from chameleon.cli.evaluating import Counts, check_history, check_parameters, check_runnable, run_all
from chameleon.cli.evaluating import Evaluated as EvaluatedAsked
from chameleon.cli.out import say
from chameleon.cli.problems import Data
from chameleon.cli.setup import set_up
from chameleon.errors import ChameleonError, InputError, ParameterRefused
from chameleon.evaluation.benchmark import Problem
from chameleon.evaluation.evaluate import Stopped
from chameleon.evaluation.folder import SETTINGS, read_run, spent_in
from chameleon.evaluation.grid.line import Evaluated, Line
from chameleon.evaluation.grid.measuring import Measuring, look_back
from chameleon.evaluation.grid.searching import Indexed, recall_of
from chameleon.evaluation.results import Tally
from chameleon.evaluation.spending import Spending
from chameleon.inventory.grid import Arm
from chameleon.text import harmless
from chameleon.usage import Usage

if TYPE_CHECKING:
    from chameleon.cli.grid import Asked

_SECONDS_BETWEEN_LINES = 10.0
_MANIFEST = "manifest.json"


class Arms:
    """What is done with each arm: `line` evaluates it where it can be, and else measures what needs no model.

    `model` is the one that is asked, None for none; `index` a folder of indexes that the user names, which
    evaluations keep a digest of.
    """

    def __init__(
        self,
        asked: Asked,
        data: Data,
        problems: Sequence[Problem],
        model: str | None,
        indexed: Indexed,
        index: Path | None,
        close: ExitStack,
    ) -> None:
        self.asked, self.data, self.problems = asked, data, problems
        self.model, self.indexed = model, indexed
        self._further = {"index": _digests(index)} if index is not None else {}
        self._home = asked.out or Path(close.enter_context(tempfile.TemporaryDirectory(prefix="chameleon-")))
        self._spent: dict[str, Usage] = {}

    def line(self, arm: Arm) -> tuple[Line, Interrupted | Stopped | None]:
        """The arm's line, and what stopped it before its end."""
        if reason := self.indexed.reason(arm.inventory):
            return Line(arm, lacks=reason), None
        if arm.inventory.needs_model and self.model is None:
            return self._measured(arm), None
        try:
            return self._evaluated(arm)
        except (InputError, ParameterRefused, Stopped, Interrupted):
            raise
        except ChameleonError as problem:  # what this arm lacks here is no reason to do without the others
            return Line(arm, lacks=str(problem)), None

    def _measured(self, arm: Arm) -> Line:
        told = time.monotonic()

        def advance(done: int) -> None:
            nonlocal told
            if time.monotonic() - told >= _SECONDS_BETWEEN_LINES:
                told = time.monotonic()
                say(f"{arm.name}: {done:,} of {counted(len(self.problems), 'problem')}")

        benchmark, gold_history = self.data.benchmark, self.asked.gold_history
        return Measuring(arm, benchmark, gold_history=gold_history, advance=advance).line(self.problems)

    def _evaluated(self, arm: Arm) -> tuple[Line, Interrupted | Stopped | None]:
        asked, data, problems = self.asked, self.data, self.problems
        options = replace(asked.options, model=self.model)
        setup = set_up(arm.inventory, options)
        out = self._home / arm.name
        of_arm = EvaluatedAsked(
            arm.inventory.name,
            options,
            (),
            asked.workers,
            out,
            asked.max_cost,
            asked.retry_failed,
            asked.gold_history,
        )
        check_runnable(problems, data, setup.executor)
        check_parameters(setup.executor, options)
        check_history(problems, of_arm, arm.inventory)
        say(f"{arm.name}: {'; '.join(arm.changes) or 'the inventory as it is'}")
        counts = Counts(Tally(data.benchmark.columns, data.new_scorer()), Spending(self._left(arm)))
        stopped = run_all(setup.executor, problems, data, of_arm, counts, self._further)
        self._spent[arm.name] = counts.spending.usage
        run = read_run(out)
        kept, begun = look_back(arm, run, problems, data.benchmark)
        try:
            recall = recall_of(arm.inventory, begun)
        except ChameleonError as problem:  # the index has not all tables: no reason to lose what was paid for
            say(f"{arm.name}: how well it searches is not measured: {harmless(str(problem))}")
            recall = None
        evaluated = Evaluated(counts.tally, run.results)
        return Line(arm, counts.tally.all.n, recall=recall, kept=kept, evaluated=evaluated), stopped

    def _left(self, arm: Arm) -> float | None:
        """What is left for an arm of what the whole grid may cost."""
        if self.asked.max_cost is None:
            return None
        for path in self._home.glob(f"*/{SETTINGS}"):
            if path.parent.name not in self._spent:
                self._spent[path.parent.name] = spent_in(path.parent)
        cost = sum((spent for name, spent in self._spent.items() if name != arm.name), Usage()).cost
        return self.asked.max_cost if cost is None else max(self.asked.max_cost - cost, 0.0)


def _digests(index: Path) -> Mapping[str, Any]:
    """What the indexes in a folder hold: the digest of each one's manifest."""
    found = sorted([*index.glob(_MANIFEST), *index.glob(f"*/{_MANIFEST}")])
    return {
        path.parent.relative_to(index).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:12]
        for path in found
    }
