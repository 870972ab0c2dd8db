"""Find what an SQL query reads: names, values that columns must equal, and joins."""

from collections.abc import Collection, Iterator

from sqlglot import exp

from chameleon.modules.documents.read_rows import CellCondition, Reads, Ref
from chameleon.modules.sql.query_faults import query_tree

_UNEQUAL = exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE | exp.Between | exp.Like | exp.Glob
_NOT_PLAIN = _UNEQUAL | exp.Not | exp.Case | exp.Offset | exp.Except


def reads_of_query(sql: str, columns: Collection[str] = ()) -> Reads:
    """Return what a query reads; a query that cannot be parsed may read everything.

    A name in double quotes that is not in `columns` (in lower case) is a text, as in SQLite.
    """
    tree = query_tree(sql)
    if tree is None:
        return Reads(frozenset(), (), (), is_plain=False, is_any=False, is_loose=False)
    quoted = (each for each in tree.find_all(exp.Column) if each.this.args.get("quoted") and not each.table)
    texts = {each for each in quoted if columns and each.name.casefold() not in columns}
    conditions, links = list[CellCondition](), list[tuple[Ref, Ref]]()
    for node in tree.find_all(exp.EQ, exp.Is, exp.NullSafeEQ, exp.In):
        sides = [node.this, node.args.get("query") or node.args.get("expression"), *node.expressions]
        values = [each.name for each in sides if isinstance(each, exp.Literal) or each in texts]
        ref, other, *_ = (None if each in texts else _ref(each) for each in sides)
        if ref and other:
            links.append((ref, other))
        elif values and (column_ref := ref or other):
            conditions.append(CellCondition(column_ref, values))
    return Reads(
        frozenset(
            each.name.casefold()
            for each in tree.find_all(exp.Identifier)
            if each.arg_key != "table" and not isinstance(each.parent, exp.TableAlias)  # no alias
        ),
        tuple(conditions),
        tuple(links),
        is_plain=tree.find(*_NOT_PLAIN.__args__) is None,
        is_any=tree.find(exp.Or) is not None,
        is_loose=any(each.args.get("using") or each.method for each in tree.find_all(exp.Join)),
    )


def _ref(node: exp.Expr | None) -> Ref | None:
    """Return a column, bare, in a function or from a SELECT, with the tables it may belong to."""
    while node is not None and not isinstance(node, exp.Column | exp.Literal):
        inner = node.expressions[:1] if isinstance(node, exp.Select) else [node.args.get("this")]
        node = next((each for each in inner if isinstance(each, exp.Expr)), None)
    return Ref(tuple(_groups(node)), node.name.casefold()) if isinstance(node, exp.Column) else None


def _groups(column: exp.Column) -> Iterator[tuple[str, ...]]:
    """Yield the tables that a column may belong to: in its SELECT, then in inner and outer ones."""
    selects, select = [], column.find_ancestor(exp.Select)
    while select is not None:
        selects.append(select)
        select = select.find_ancestor(exp.Select)
    tables = [
        {
            table.alias_or_name.casefold(): table.name.casefold()
            for table in each.find_all(exp.Table)
            if table.find_ancestor(exp.Select) is each
        }
        for each in selects
    ]
    inner = tuple(each.name.casefold() for each in selects[0].find_all(exp.Table)) if selects else ()
    if owner := column.table.casefold():
        yield (next((each[owner] for each in tables if owner in each), owner),)
        yield inner
        return
    first, *others = [tuple(each.values()) for each in tables] or [()]
    yield from (first, inner, *others)
