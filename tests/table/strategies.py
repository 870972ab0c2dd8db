"""Small tables as they come from files: each cell clean, some blank, some with what formats must escape."""

from typing import Any

from hypothesis import strategies as st

from chameleon.table import Table, read_table
from chameleon.table.found import Found
from chameleon.table.records import Origin
from chameleon.table.text_files import bar_table

_PLAIN = """a;B b;12;$1,200.50;3/4;-7;–;say "x";it's;x\\;<td>;ü;中文;#;[1]"""
_WORDS = ["", *_PLAIN.split(";")]
_BARS = ["|", "a|b", "\\|", "x |"]


def cells(*, bars: bool = True, filled: bool = False) -> st.SearchStrategy[str]:
    # Without quotes around it, a character that could delimit every line leaves a file ambiguous.
    excluded = "" if bars else "|;"
    alphabet = st.characters(codec="utf-8", exclude_categories=("C", "Z"), exclude_characters=excluded)
    words = st.sampled_from([*_WORDS, *(_BARS if bars else [])]) | st.text(alphabet, max_size=6)
    return words.filter(bool) if filled else words


@st.composite
def tables(
    draw: st.DrawFn, *, min_columns: int = 1, min_rows: int = 0, bars: bool = True, filled: bool = False
) -> Table:
    width = draw(st.integers(min_columns, 4))
    header = draw(st.lists(cells(bars=bars, filled=filled), min_size=width, max_size=width, unique=filled))
    row = st.lists(cells(bars=bars, filled=filled), min_size=width, max_size=width)
    return Table(header, draw(st.lists(row, min_size=min_rows, max_size=5)))


def read_text(text: str, format: str | None = None, **asked: Any) -> Table:
    """Read the table of a text, as it would be in a file."""
    if format == "pipe":
        (found,) = bar_table(text, Origin("the input"))
        assert isinstance(found, Found)
        return found.table
    name = f"the input.{format}" if format else ""
    return read_table(text.encode("utf-8", "replace"), **{"name": name, **asked})


def lines(table: Table | None) -> list[list[str]]:
    """The header of a table and its rows."""
    assert table is not None
    return [list(table.header), *map(list, table.rows)]
