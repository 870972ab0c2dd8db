"""Find what a program over DataFrames reads: names, values that columns must equal, and joins."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from chameleon.modules.documents.read_rows import FRAMES, CellCondition, Reads, Ref

_UNKNOWN_TABLE = ""  # an unknown table
# Calls that compare other than for equality, so that any row may count.
_NON_EQUAL_CALLS = frozenset(
    ("between", "contains", "endswith", "ge", "gt", "le", "lt", "match", "ne", "query", "startswith")
)
_TEXT_CALLS = frozenset(
    ("astype", "format", "join", "lstrip", "replace", "round", "rstrip", "split", "strip", "strftime")
)
_OF_ONE = frozenset(("iloc", "iat", "at", "values"))  # followed by [], they select a cell or row
_TO_ONE = frozenset(("float", "int", "item", "len", "max", "mean", "min", "nunique", "str", "sum", "round"))


@dataclass
class _FrameProgram:
    """A program read from top to bottom: the tables and the column that each variable comes from."""

    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    single: set[str] = field(default_factory=set)  # names of one value or row

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        """Record where an assigned value comes from."""
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for each, part in zip(target.elts, value.elts, strict=False):
                self.assign(each, part)
        elif isinstance(target, ast.Name):
            self.tables[target.id] = self.of(value)
            if (column := self.column(value)) is not None:
                self.columns[target.id] = column
            if self.is_single(value):
                self.single.add(target.id)

    def of(self, node: ast.AST) -> tuple[str, ...]:
        """Return the tables that an expression reads."""
        tables = dict[str, None]()
        for each in ast.walk(node):
            if isinstance(each, ast.Subscript) and getattr(each.value, "id", "") == "tables":
                key = each.slice.value if isinstance(each.slice, ast.Constant) else _UNKNOWN_TABLE
                tables[str(key).casefold()] = None
            elif isinstance(each, ast.Name):
                tables |= dict.fromkeys((each.id,) if each.id in FRAMES else self.tables.get(each.id, ()))
        return tuple(tables)

    def column(self, node: ast.AST | None) -> str | None:
        """Return the column of an expression: the outermost one that it names, or that of its variable."""
        while node is not None:
            if isinstance(node, ast.Name):
                return self.columns.get(node.id)
            if isinstance(node, ast.Subscript):
                keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                is_table = getattr(node.value, "id", "") == "tables"
                texts = [k.value for k in keys if isinstance(k, ast.Constant) and isinstance(k.value, str)]
                if texts and not is_table:
                    return texts[-1].strip().casefold()
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                node = node.args[0]
            else:
                node = getattr(node, "value", getattr(node, "func", None))
        return None

    def ref(self, node: ast.AST) -> Ref | None:
        """Return the column of an expression with the tables that it may belong to."""
        column, tables = self.column(node), self.of(node)
        groups = [tables] if tables and _UNKNOWN_TABLE not in tables else []
        return None if column is None else Ref(groups, column)

    def is_single(self, node: ast.AST) -> bool:
        """Return whether an expression is a single value or row, not a column."""
        if isinstance(node, ast.Name):
            return node.id in self.single
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.BinOp):
            return self.is_single(node.left) and self.is_single(node.right)
        if isinstance(node, ast.Call):
            function = node.func
            name = getattr(function, "attr", getattr(function, "id", ""))
            inner = function.value if isinstance(function, ast.Attribute) else None
            return name in _TO_ONE or (inner is not None and self.is_single(inner))
        if isinstance(node, ast.Subscript):
            return getattr(node.value, "attr", "") in _OF_ONE or self.is_single(node.value)
        return isinstance(node, ast.Attribute) and self.is_single(node.value)

    def joined(self, call: ast.Call) -> list[tuple[Ref, Ref]]:
        """Return the columns by which a call of merge joins two tables; empty if it names none."""
        owner = getattr(call.func, "value", call.func)
        frames = [*([] if getattr(owner, "id", "") == "pd" else [owner]), *call.args][:2]
        keywords = {each.arg: each.value for each in call.keywords}
        sides = [keywords.get(name, keywords.get("on")) for name in ("left_on", "right_on")]
        keys = [
            [k.value for k in ast.walk(each) if isinstance(k, ast.Constant)] if each else [] for each in sides
        ]
        if len(frames) < 2:
            return []
        one, two = (self.of(each) for each in frames)
        pairs = zip(*keys, strict=False)
        return [
            (Ref([one], str(a).strip().casefold()), Ref([two], str(b).strip().casefold())) for a, b in pairs
        ]

    def shaping(self, nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
        """Yield the constants that are not compared: in keywords, in calls that format text, and results."""
        for node in nodes:
            if isinstance(node, ast.keyword):
                yield from ast.walk(node.value)
            elif isinstance(node, ast.JoinedStr):
                yield from ast.walk(node)
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _TEXT_CALLS:
                yield from (part for each in node.args for part in ast.walk(each))
            elif isinstance(node, ast.IfExp):
                yield from (node.body, node.orelse)


def reads_of_program(program: ast.Module) -> Reads:
    """Return what a program reads. Texts that are not compared in a known way may be in any column."""
    frame, conditions, links = _FrameProgram(), list[CellCondition](), list[tuple[Ref, Ref]]()
    nodes, used, is_plain, is_loose = list(ast.walk(program)), set[int](), True, False
    for statement in nodes:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                frame.assign(target, statement.value)
        elif isinstance(statement, ast.For):
            frame.assign(statement.target, statement.iter)
    for node in nodes:
        if isinstance(node, ast.Compare) and not all(map(frame.is_single, (node.left, *node.comparators))):
            is_plain &= all(isinstance(op, ast.Eq | ast.In) for op in node.ops)
            pairs = [(node.left, node.comparators[0])] if len(node.ops) == 1 else []
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("isin", "eq") and node.args:
            pairs = [(node.func, node.args[0])]
        else:
            pairs = []
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("merge", "join", "map"):
                joined = frame.joined(node)
                links += joined
                is_loose |= not joined
        for left, right in pairs:
            constants = [each for each in ast.walk(right) if isinstance(each, ast.Constant)]
            ref = frame.ref(left)
            if ref is not None and not frame.of(right) and constants:
                conditions.append(CellCondition(ref, [str(each.value) for each in constants]))
                used |= {*map(id, constants)}  # by identity: the same text may occur again
            elif ref is not None and (other := frame.ref(right)) is not None:
                links.append((ref, other))
    attributes = {each.attr for each in nodes if isinstance(each, ast.Attribute)}
    is_plain &= not attributes & _NON_EQUAL_CALLS
    is_plain &= not any(isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not | ast.Invert) for e in nodes)
    used |= {id(each) for each in frame.shaping(nodes)}
    strings = [n for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    texts = [str(each.value) for each in strings]
    unplaced = [str(each.value) for each in strings if id(each) not in used]
    names = {each.id for each in nodes if isinstance(each, ast.Name)}
    return Reads(
        frozenset(map(str.casefold, {*texts, *attributes, *names})),
        [*conditions, *([CellCondition(None, unplaced)] if unplaced else [])],
        links,
        is_plain=is_plain,
        is_any=any(isinstance(each, ast.BitOr | ast.Or) for each in nodes),
        is_loose=is_loose,
    )
