"""What a table operation is: arguments that somebody chooses, and a pure function that applies them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from chameleon import Module, State, StepRejected, Table
from chameleon.module import Keys
from chameleon.values import freeze

Args = Mapping[str, Any]


class Operation(Module):
    """Changes the table as the question needs it: one link of a chain (Chain-of-Table).

    Subclasses say how arguments are chosen (`choose_args`), what they make of a table (`apply`) and how the
    chain shows them (`written`).

    The output is the link and the new `table`. A link has `operation`, `call` (such as
    "f_sort_by(Points, large to small)") and `args`, and `note` where the operation has something to say
    (`noted`); where it does not apply, `refused` says why in place of `args`, and the table stays as it was.
    `cache.chain` holds all links so far: those that were not refused, applied in order to the original table,
    give the table as it now stands.
    """

    reads: ClassVar[Keys | None] = ("input.question", "input.table", "cache.chain?")
    writes: ClassVar[Keys] = ("input.table", "cache.chain")

    @abstractmethod
    def choose_args(self, state: State) -> Args:
        """The arguments, as JSON. Raises `StepRejected` where none can be found."""

    @abstractmethod
    def apply(self, table: Table, args: Args) -> Table:
        """The table after the operation; `table` itself is not changed.

        Raises `StepRejected` saying why the operation does not apply.
        """

    def applied(self, input: Mapping[str, Any], args: Args) -> Table:
        """`apply` to the table of a run's input; for what needs more of the input, such as another table."""
        return self.apply(input["table"], args)

    @abstractmethod
    def written(self, args: Args) -> str:
        """The arguments as they stand in the chain."""

    def noted(self, input: Mapping[str, Any], args: Args) -> str:
        """What the link says beside the call, such as which rows had to go; "" for nothing."""
        return ""

    def run(self, state: State) -> dict[str, Any]:
        """Return the link, with the new `table` in it where the operation applies."""
        link: dict[str, Any] = {"operation": self.name, "call": f"f_{self.name}()"}
        try:
            args = freeze(self.choose_args(state), "args")
            link["call"] = f"f_{self.name}({self.written(args)})"
            table = self.applied(state.input, args)
        except StepRejected as reason:
            return link | {"refused": reason.what}
        note = self.noted(state.input, args)
        return link | {"args": args} | ({"note": note} if note else {}) | {"table": table}

    def update_input(self, input: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"table": output["table"]} if "table" in output else {}

    def update_cache(self, cache: Mapping[str, Any], output: Any) -> Mapping[str, Any]:
        return {"chain": [*cache.get("chain", ()), link_of(output)]}


def link_of(output: Mapping[str, Any]) -> dict[str, Any]:
    """Return an operation's output without its table, as `cache.chain` holds it."""
    return {key: value for key, value in output.items() if key != "table"}
