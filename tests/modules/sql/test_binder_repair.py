"""What models get wrong in SQL is repaired, and what is right stays."""

from __future__ import annotations

import pytest

from chameleon import Table
from chameleon.modules.sql.binder_repair import nearest_cell, repaired
from chameleon.modules.sql.binder_table import binder_table
from tests.modules.sql.given import TABLE

NORMAL = binder_table(TABLE)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("```sql\nSELECT year FROM w\n```", "SELECT year FROM w"),
        ("SELECT year\nFROM w;", "SELECT year FROM w"),
        ("SELECT year FROM Tarn (League) Cup", "SELECT year FROM w"),
        ("SELECT year FROM tarn_league_cup WHERE year = 1", "SELECT year FROM w WHERE year = 1"),
        ("SELECT runners up FROM w", "SELECT `runners up` FROM w"),
        ("SELECT Runners Up, year FROM w", "SELECT `Runners Up`, year FROM w"),
        ('SELECT "runners up" FROM w', 'SELECT "runners up" FROM w'),
        ("SELECT group FROM w GROUP BY group", "SELECT `group` FROM w GROUP BY `group`"),
        ("SELECT year FROM w WHERE group = 'A'", "SELECT year FROM w WHERE `group` = 'a'"),
        (
            "SELECT year FROM w WHERE runners up = 'port crocs'",
            "SELECT year FROM w WHERE `runners up` = 'port crocs (qld)'",
        ),
        (
            "SELECT year FROM w WHERE `runners up` IN ('South cutter', \"nobody\")",
            "SELECT year FROM w WHERE `runners up` IN ('south cutters', 'nobody')",
        ),
        ("SELECT 'South Cutters' FROM w", "SELECT 'South Cutters' FROM w"),
        (
            "SELECT a FROM w WHERE `runners up` LIKE '%CROC%'",
            "SELECT a FROM w WHERE `runners up` LIKE '%CROC%'",
        ),
        ("SELECT year FROM w WHERE day = 'June 1, 2023'", "SELECT year FROM w WHERE day = '2023-06-01'"),
        (
            "SELECT year FROM w WHERE day < '2023-06-01 00:00:00' AND year < 'June 1, 2023'",
            "SELECT year FROM w WHERE day < '2023-06-01' AND year < 'June 1, 2023'",
        ),
        ("SELECT a FROM w WHERE `group` = 'runners up'", "SELECT a FROM w WHERE `group` = `runners up`"),
        (
            "SELECT year FROM w WHERE QA(\"map@is it 'port crocs'?\"; runners up) = 'yes'",
            "SELECT year FROM w WHERE QA(\"map@is it 'port crocs'?\"; `runners up`) = 'yes'",
        ),
        ("SELECT 'unclosed FROM w", "SELECT 'unclosed FROM w"),
    ],
)
def test_programs_are_repaired(written: str, meant: str) -> None:
    assert repaired(written, NORMAL, TABLE.caption) == meant
    assert repaired(meant, NORMAL, TABLE.caption) == meant, "what is right stays"


def test_the_nearest_cell_is_near_and_contradicts_no_figure() -> None:
    for value, cell in (("port crocs 7", "port crocs (qld)"), ("zebra", None)):
        assert nearest_cell(value, "runners up", NORMAL) == cell
    other = binder_table(Table(["a"], [["score of 12"], ["score of 13 (late)"]]))
    assert nearest_cell("score of 14", "a", other) is None
    assert nearest_cell("score of 13", "a", other) == "score of 13 (late)"
