"""Statutes made at random, in both layouts, with the tree that they were written from."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

KINDS = ("lower", "number", "upper", "roman", "ROMAN", "double")
LEVEL_OF = dict(
    zip(KINDS, ("subsection", "paragraph", "subparagraph", "clause", "subclause", "item"), strict=True)
)
_ROMANS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_WORDS = ("boat", "harbour", "fee", "the master", "any vessel", "a licence", "shall pay", "owes", "not less")
SENTENCES = st.lists(st.sampled_from(_WORDS), min_size=2, max_size=6).map(
    lambda words: " ".join(words).capitalize() + "."
)
HEADINGS = st.lists(
    st.sampled_from(("Fees", "Harbours", "In general", "Boats of 1990")), min_size=1, max_size=2
).map(" and ".join)


@dataclass
class Provision:
    """What a statute is written from; `flush` is text after the provisions in it."""

    label: str
    kind: str
    heading: str
    text: str
    inner: list[Provision] = field(default_factory=list)
    flush: str = ""


def label_of(kind: str, place: int) -> str:
    """The label of the place, from 0, in a series of that kind."""
    letter = chr(ord("a") + place)
    return {
        "lower": letter,
        "number": str(place + 1),
        "upper": letter.upper(),
        "roman": _ROMANS[place % 12],
        "ROMAN": _ROMANS[place % 12].upper(),
        "double": letter * 2,
    }[kind]


@st.composite
def provisions(draw: st.DrawFn, depth: int = 0) -> list[Provision]:
    """A series of one kind, which may skip levels and, within it, labels."""
    if depth >= len(KINDS):
        return []
    kind = KINDS[draw(st.integers(depth, min(depth + 1, len(KINDS) - 1)))]
    count = draw(st.integers(2, 11 if depth == 0 else 3))
    dropped = draw(st.sets(st.integers(2, 9), max_size=1))
    found = []
    for place in range(count):
        if place in dropped:
            continue
        inner: list[Provision] = []
        if draw(st.integers(0, 2)) == 0:
            inner = draw(provisions(KINDS.index(kind) + 1))
        heading = draw(st.just("") | HEADINGS)
        text = draw(SENTENCES)
        flush = draw(st.just("") | SENTENCES) if inner else ""
        found.append(Provision(label_of(kind, place), kind, heading, text, inner, flush))
    return found


def written(series: list[Provision], unit: int, blanks: bool, indent: int = 0) -> list[str]:
    """The lines of a series, each provision indented by `unit` more than the one it stands in."""
    lines = []
    gap = [""] if blanks else []
    for each in series:
        pad = " " * indent
        opening = each.heading or each.text
        lines += [f"{pad}({each.label}) {opening}", *gap]
        if each.heading:
            lines += [pad + each.text, *gap]
        lines += written(each.inner, unit, blanks, indent + unit)
        if each.flush:
            lines += [pad + each.flush, *gap]
    return lines


def statute(series: list[Provision], unit: int, blanks: bool) -> str:
    """The text of section 12 with these provisions."""
    head = ["§12. Harbour fees", *([""] if blanks else [])]
    return "\n".join([*head, *written(series, unit, blanks)]) + "\n"
