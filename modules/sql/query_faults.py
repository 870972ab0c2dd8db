"""Find what makes a query answer wrongly without an error: misspelt names, and sums of what is no number.

SQLite takes a name in double quotes that is no column for a text, and adds up what texts begin with.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

import sqlglot
from sqlglot import exp

from chameleon.text import nearest

_BETWEEN = exp.Paren | exp.Distinct | exp.Collate | exp.Alias
_SUMS = exp.Sum | exp.Avg
_COUNTS = exp.Add | exp.Sub | exp.Mul | exp.Div | exp.Mod | exp.Neg
_ORDERS = exp.GT | exp.GTE | exp.LT | exp.LTE | exp.Between | exp.Ordered | exp.Max | exp.Min | _COUNTS
_SHAPING = exp.AggFunc | exp.Cast | exp.Abs | exp.Round | exp.Length | exp.Trim | exp.Substring


def query_tree(sql: str) -> exp.Expr | None:
    """Return the syntax tree of a query as SQLite reads it, None where it cannot be read."""
    logging.getLogger("sqlglot").setLevel(logging.ERROR)  # it warns of statements other than queries
    try:
        return sqlglot.parse_one(sql, dialect="sqlite")
    except (sqlglot.errors.SqlglotError, RecursionError):
        return None


def fault_of(
    sql: str, columns: Mapping[str, str], texts: Mapping[str, str], tables: Iterable[str] = ("w",)
) -> str:
    """Say why a query cannot be trusted, "" where nothing speaks against it. `columns` have their types.

    - A name in double quotes that is no column, where it is an item of SELECT, a term of ORDER BY or GROUP
      BY, the argument of an aggregate, a part of a sum or the left side of a comparison. As a value that is
      compared, and after THEN and ELSE, it is a text: models write texts so.
    - A sum or average of what is no number. `texts` has such columns, with the reason for those that are
      unclear: of these no least, greatest or order either.
    - Truth that is compared with a text: it is 1 or 0.
    """
    if (tree := query_tree(sql)) is None:
        return ""  # SQLite tells what is wrong with it
    names = {name.lower(): name for name in columns}
    made = {each.alias.lower() for each in tree.walk() if each.alias}
    made |= {each.name.lower() for alias in tree.find_all(exp.TableAlias) for each in alias.columns}
    given = {*tables, "rowid", "_rowid_", "oid"} | made

    def is_text(node: exp.Expr | None) -> bool:
        """Tell whether it is a text, or a name in double quotes that SQLite takes for one."""
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
            return f'the column "{name}" holds no numbers' + (f": {why}" if why else "")
        if columns[name] == "BOOLEAN" and is_text(other):
            return f'the column "{name}" holds 1 for true and 0 for false'
    return ""


def _is_named_by(around: exp.Expr | None, column: exp.Column) -> bool:
    """Tell whether a text makes no sense in what is around it, so that a column must be meant."""
    if isinstance(around, _SHAPING | exp.Lower | exp.Upper | exp.Case | exp.Predicate):
        return isinstance(around.this, exp.Expr) and any(each is column for each in around.this.walk())
    return isinstance(around, _COUNTS | exp.Select | exp.Ordered | exp.Group)
