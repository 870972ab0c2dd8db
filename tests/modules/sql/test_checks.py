"""What Text-to-SQL and Binder need is told before a run begins."""

from __future__ import annotations

import pytest

from chameleon import Inventory
from chameleon.errors import MissingPackage, SandboxUnavailable


def test_binder_names_the_package_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chameleon.modules.sql.repair.find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match="sqlglot"):
        Inventory.load("wikitq_binder").modules["binder_generator"].check()


@pytest.mark.parametrize(
    ("inventory", "module"), [("wikitq_text_to_sql", "sql_executor"), ("tabfact_binder", "binder_executor")]
)
def test_a_machine_without_the_seal_is_told_so(
    inventory: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = Inventory.load(inventory).modules[module]
    monkeypatch.setattr("chameleon.modules.sql.query.why_unusable", lambda: "this is another system")
    with pytest.raises(SandboxUnavailable, match="this is another system"):
        checked.check()
