"""Find mistakes that give a wrong answer without an error: misspelled names, and sums of texts.

SQLite reads a double-quoted name as a text if it is not a column, and adds up the digits texts begin with.
"""

import logging
from collections.abc import Iterable, Mapping

import sqlglot
from sqlglot import exp

from chameleon.text import nearest

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns about statements other than queries
_WRAPPERS = exp.Paren | exp.Distinct | exp.Collate | exp.Alias
_SUMS = exp.Sum | exp.Avg
_MATH = exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Mod | exp.Neg
_ORDERS = exp.GT | exp.GTE | exp.LT | exp.LTE | exp.Between | exp.Ordered | exp.Max | exp.Min | _MATH
_FUNCTIONS = exp.AggFunc | exp.Cast | exp.Abs | exp.Round | exp.Length | exp.Trim | exp.Substring


def query_tree(sql: str) -> exp.Expr | None:
    """Return the syntax tree of a query in SQLite's dialect, or None if it cannot be parsed."""
    try:
        return sqlglot.parse_one(sql, dialect="sqlite")
    except (sqlglot.errors.SqlglotError, RecursionError):
        return None


def fault_of(
    sql: str, columns: Mapping[str, str], texts: Mapping[str, str], tables: Iterable[str] = ("w",)
) -> str:
    """Say why a query cannot be trusted, or return "" if no fault is found.

    - A double-quoted name that is not a column, used as an item of SELECT, a term of ORDER BY or GROUP BY,
      the argument of an aggregate, a part of a sum or the left side of a comparison. As the value to compare
      with, and after THEN and ELSE, it is a text, since models write texts that way.
    - A sum or average of a column in `texts`. If that gives a reason, the column cannot be ordered, or have a
      minimum or maximum, either.
    - A boolean compared with a text: it is 1 or 0.

    Args:
        columns: types by name.
        texts: the columns without numbers, with a reason if the column is unclear, else "".
    """
    if (tree := query_tree(sql)) is None:
        return ""  # SQLite reports the error
    names = {name.lower(): name for name in columns}
    aliases = {each.alias.lower() for each in tree.walk() if each.alias}
    aliases |= {each.name.lower() for alias in tree.find_all(exp.TableAlias) for each in alias.columns}
    symbols = {*tables, "rowid", "_rowid_", "oid"} | aliases

    def is_text(node: exp.Expr | None) -> bool:
        """Return whether a node is a text, or a double-quoted name that SQLite reads as one."""
        if not isinstance(node, exp.Column):
            return isinstance(node, exp.Literal) and node.is_string
        return node.this.args.get("quoted") and not node.table and node.name.lower() not in {*names, *symbols}

    for column in tree.find_all(exp.Column):
        parent = column.parent
        while isinstance(parent, _WRAPPERS):
            parent = parent.parent
        is_total = isinstance(parent, exp.Anonymous) and parent.name.upper() == "TOTAL"
        is_summed = is_total or isinstance(parent, _SUMS)
        operand = parent.args.get("expression") if isinstance(parent, exp.Predicate) else None
        is_value = isinstance(operand, exp.Column) and operand.name.lower() in names
        if is_text(column) and not is_value and (is_summed or _is_named_by(parent, column)):
            return f'no such column: "{column.name}". {nearest(column.name, columns)}'
        name = names.get(column.name.lower())
        if name is None or column.name.lower() in symbols:
            continue
        reason = texts.get(name)
        is_cast = isinstance(parent, exp.Cast) and parent.to.is_type(*exp.DataType.NUMERIC_TYPES)
        if reason is not None and (is_summed or (reason and (is_cast or isinstance(parent, _ORDERS)))):
            return f'the column "{name}" has no numbers' + (f": {reason}" if reason else "")
        if columns[name] == "BOOLEAN" and is_text(operand):
            return f'the column "{name}" holds 1 for true and 0 for false'
    return ""


def _is_named_by(parent: exp.Expr | None, column: exp.Column) -> bool:
    """Return whether a text makes no sense in its context, so that it must mean a column."""
    if isinstance(parent, _FUNCTIONS | exp.Lower | exp.Upper | exp.Case | exp.Predicate):
        return isinstance(parent.this, exp.Expr) and any(each is column for each in parent.this.walk())
    return isinstance(parent, _MATH | exp.Select | exp.Ordered | exp.Group)
