"""Statutes made at random, in both layouts, with the tree that they were written from."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

LABELS = {
    "subsection": "abcdefghijk",
    "paragraph": "123456789",
    "subparagraph": "ABC",
    "clause": ("i", "ii", "iii"),
    "subclause": ("I", "II", "III"),
    "item": ("aa", "bb", "cc"),
}
LEVELS = tuple(LABELS)
_WORDS = ("boat", "harbour", "fee", "the master", "any vessel", "a licence", "shall pay", "owes", "not less")
SENTENCES = st.lists(st.sampled_from(_WORDS), min_size=2, max_size=6).map(
    lambda words: " ".join(words).capitalize() + "."
)
HEADINGS = st.sampled_from(("Fees", "Harbours", "In general and Fees", "Boats of 1990"))


@dataclass
class Provision:
    """What a statute is written from; `flush` is text after the provisions in it."""

    label: str
    level: str
    heading: str
    text: str
    inner: list[Provision] = field(default_factory=list)
    flush: str = ""


@st.composite
def provisions(draw: st.DrawFn, depth: int = 0) -> list[Provision]:
    """A series of one level, which may skip levels and, within it, labels."""
    level = draw(st.integers(depth, min(depth + 1, len(LEVELS) - 1)))
    labels = LABELS[LEVELS[level]][: draw(st.integers(2, 11 if depth == 0 else 3))]
    dropped = draw(st.integers(2, 20))
    found = []
    for label in (label for place, label in enumerate(labels) if place != dropped):
        is_outer = level + 1 < len(LEVELS) and draw(st.integers(0, 2)) == 0
        inner = draw(provisions(level + 1)) if is_outer else []
        heading, flush = draw(st.just("") | HEADINGS), draw(st.just("") | SENTENCES) if inner else ""
        found.append(Provision(label, LEVELS[level], heading, draw(SENTENCES), inner, flush))
    return found


def statute(series: list[Provision], unit: int, blanks: bool) -> str:
    """The text of section 12 with these provisions, each indented by `unit` more than what it stands in."""
    lines = ["§12. Harbour fees"]

    def write(series: list[Provision], pad: str) -> None:
        for each in series:
            texts = [text for text in (each.heading, each.text) if text]
            lines.append(f"{pad}({each.label}) {texts[0]}")
            lines.extend(pad + text for text in texts[1:])
            write(each.inner, pad + " " * unit)
            lines.extend([pad + each.flush] if each.flush else [])

    write(series, "")
    return ("\n\n" if blanks else "\n").join(lines) + "\n"
