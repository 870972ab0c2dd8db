"""What labels count, and which follow each other."""

from __future__ import annotations

import pytest

from chameleon.modules.statutes.labels import LabelReading, follows, readings


class TestLabels:
    @pytest.mark.parametrize(
        ("label", "read"),
        [
            ("1", [("paragraph", 1, 0)]),
            ("5A", [("paragraph", 5, 1)]),
            ("(b)", [("subsection", 2, 0)]),
            ("i", [("subsection", 9, 0), ("clause", 1, 0)]),
            ("IV", [("subclause", 4, 0)]),
            ("V", [("subparagraph", 22, 0), ("subclause", 5, 0)]),
            ("aa", [("item", 1, 0), ("subsection", 27, 0)]),
            ("BB", [("subitem", 2, 0), ("subparagraph", 28, 0)]),
            ("a-1", [("subsection", 1, 1)]),
            ("and", []),
            ("iiii", []),
            ("Ab", []),
            ("2017", []),
            ("", []),
        ],
    )
    def test_have_readings(self, label: str, read: list[tuple[str, int, int]]) -> None:
        assert [tuple(each) for each in readings(label)] == read

    def test_follow_each_other(self) -> None:
        assert follows(LabelReading("paragraph", 6), LabelReading("paragraph", 5, 1))
        assert follows(LabelReading("paragraph", 5, 1), LabelReading("paragraph", 5))
        assert not follows(LabelReading("clause", 2), LabelReading("subsection", 1))
