"""Find mistakes that give a wrong answer without an error: misspelled names, and sums of texts.

SQLite reads a double-quoted name as a text if it is not a column, and adds up the digits texts begin with.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

import sqlglot
from sqlglot import exp

from chameleon.text import nearest

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns about statements other than queries
_BETWEEN = exp.Paren | exp.Distinct | exp.Collate | exp.Alias
_SUMS = exp.Sum | exp.Avg
_COUNTS = exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Mod | exp.Neg
_ORDERS = exp.GT | exp.GTE | exp.LT | exp.LTE | exp.Between | exp.Ordered | exp.Max | exp.Min | _COUNTS
_SHAPING = exp.AggFunc | exp.Cast | exp.Abs | exp.Round | exp.Length | exp.Trim | exp.Substring


def query_tree(sql: str) -> exp.Expr | None:
    """Return the syntax tree of a query in SQLite's dialect, or None if it cannot be parsed."""
    try:
        return sqlglot.parse_one(sql, dialect="sqlite")
    except (sqlglot.errors.SqlglotError, RecursionError):
        return None


def fault_of(
    sql: str, columns: Mapping[str, str], texts: Mapping[str, str], tables: Iterable[str] = ("w",)
) -> str:
    """Say why a query cannot be trusted, or return "" if no fault is found. `columns` maps names to types.

    - A double-quoted name that is not a column, used as an item of SELECT, a term of ORDER BY or GROUP BY,
      the argument of an aggregate, a part of a sum or the left side of a comparison. As the value to compare
      with, and after THEN and ELSE, it is a text, since models write texts that way.
    - A sum or average of a column in `texts`, which has the columns without numbers. If it gives a reason,
      the column is unclear and cannot be ordered, or have a minimum or maximum, either.
    - A boolean compared with a text: it is 1 or 0.
    """
    if (tree := query_tree(sql)) is None:
        return ""  # SQLite reports the error
    names = {name.lower(): name for name in columns}
    made = {each.alias.lower() for each in tree.walk() if each.alias}
    made |= {each.name.lower() for alias in tree.find_all(exp.TableAlias) for each in alias.columns}
    given = {*tables, "rowid", "_rowid_", "oid"} | made

    def is_text(node: exp.Expr | None) -> bool:
        """Return whether a node is a text, or a double-quoted name that SQLite reads as one."""
        if not isinstance(node, exp.Column):
            return isinstance(node, exp.Literal) and node.is_string
        return node.this.args.get("quoted") and not node.table and node.name.lower() not in {*names, *given}

    for column in tree.find_all(exp.Column):
        around = column.parent
        while isinstance(around, _BETWEEN):
            around = around.parent
        is_summed = isinstance(around, _SUMS) or (
            isinstance(around, exp.Anonymous) and around.name.upper() == "TOTAL"
        )
        other = around.args.get("expression") if isinstance(around, exp.Predicate) else None
        is_value = isinstance(other, exp.Column) and other.name.lower() in names
        if is_text(column) and not is_value and (is_summed or _is_named_by(around, column)):
            return f'no such column: "{column.name}". {nearest(column.name, columns)}'
        name = names.get(column.name.lower())
        if name is None or column.name.lower() in given:
            continue
        why = texts.get(name)
        is_cast = isinstance(around, exp.Cast) and around.to.is_type(*exp.DataType.NUMERIC_TYPES)
        if why is not None and (is_summed or (why and (is_cast or isinstance(around, _ORDERS)))):
            return f'the column "{name}" has no numbers' + (f": {why}" if why else "")
        if columns[name] == "BOOLEAN" and is_text(other):
            return f'the column "{name}" holds 1 for true and 0 for false'
    return ""


def _is_named_by(around: exp.Expr | None, column: exp.Column) -> bool:
    """Return whether a text makes no sense in its context, so that it must mean a column."""
    if isinstance(around, _SHAPING | exp.Lower | exp.Upper | exp.Case | exp.Predicate):
        return isinstance(around.this, exp.Expr) and any(each is column for each in around.this.walk())
    return isinstance(around, _COUNTS | exp.Select | exp.Ordered | exp.Group)
