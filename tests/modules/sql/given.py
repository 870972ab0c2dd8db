"""What the tests of Binder share: a table, and the recorded vectors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chameleon import Table
from chameleon.modules.sql import guarded_query
from chameleon.sandbox import ExecResult, Guarantees, Sandbox
from chameleon.sandbox.result import Ending, judge
from tests.benchmarks.shared_data import DATA

_ROWS = ["1,998|Port Crocs (QLD)|3|10.4|-|May 4, 2024|A", "1999|South Cutters|/|8|x||B"]
_ROWS += ["2000|Port Crocs (QLD)|12|9.5|930 251|June 1, 2023|A"]
_HEADER = ["Year", "Runners Up", "Score", "Score", "", "Day", "Group"]
TABLE = Table(_HEADER, [row.split("|") for row in _ROWS], "Tarn (league) cup")


def vectors(kind: str) -> list[Any]:
    file = DATA / "vectors" / "binder.jsonl"
    if not file.is_file():
        return [pytest.param(None, marks=pytest.mark.skip("the shared test data is not here"))]
    found = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [pytest.param(each, id=each["id"]) for each in found if each["kind"] == kind]


class Unsealed(Sandbox):
    """Runs the guarded query in this very process: for many recorded ones, which mean no harm."""

    tier = "unsealed"

    def _run(self, request: dict[str, Any], wall: float) -> ExecResult:
        # The heap limit of SQLite is one for the whole process, and cannot be raised again.
        request["limits"]["memory_bytes"] = 0
        return judge(Ending(guarded_query.run(request).encode()), self._limits, wall, self.tier)

    def guarantees(self) -> Guarantees:
        return Guarantees(self.tier, ())

    def _end(self) -> None:
        """Do nothing: there is no process to end."""
