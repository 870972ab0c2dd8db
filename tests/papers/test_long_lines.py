"""Texts with very long lines take time in proportion to their length."""

from __future__ import annotations

import time

import pytest

from chameleon.documents.markdown import text_outline


@pytest.mark.parametrize("line", [" " * 100_000 + "x", "\t" * 100_000 + "- x", "| " + " " * 100_000 + "x"])
@pytest.mark.parametrize("above", ["", "a | b\n"])
def test_spaces_take_time_in_proportion(line: str, above: str) -> None:
    begun = time.process_time()
    text_outline(f"{above}{line}\n")
    text_outline(f"{above}---{line}\n")
    assert time.process_time() - begun < 2


def test_a_bullet_is_taken_off_a_lines_beginning_alone() -> None:
    *_, section = text_outline("  - 2.1 Rates - 3.1 Fees are due each month.\n").sections
    assert section.parts[0][0] == "2.1 Rates - 3.1 Fees are due each month."
