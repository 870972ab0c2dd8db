"""Parsing statutes that do not fit: wrapped text, odd indentation, odd labels; what is doubtful is told."""

from __future__ import annotations

import pytest

from chameleon.modules.statutes.parser import parse
from tests.modules.statutes.trees import keeps_all, names, node


class TestWrappedText:
    """A label at the start of a line is a provision unless the line before speaks for the other."""

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("  (a) Words of this section\n    (1) Oar.\n    (2) Sail.\n", ["a", "a1", "a2"]),
            ("  (a) Words for section\n    (1) Oar.\n    (2) Sail.\n", ["a", "a1", "a2"]),
            ("(a) Words of this subsection\n(1) Oar.\n(2) Sail.\n(b) Fee.\n", ["a", "a1", "a2", "b"]),
            ("  (a) A boat under paragraph (1) of subsection\n(b) pays.\n  (b) Fee.\n", ["a", "b"]),
            ("  (a) A boat described in subsection\n    (b) pays.\n  (b) Fee.\n", ["a", "b"]),
            ("(a) Boats of\n    (1) wood; or\n    (2) such kind\n(b) Fee.\n", ["a", "a1", "a2", "b"]),
            ("(a) Boats of paragraph (1) or\n(2) of this subsection.\n(b) Fee.\n", ["a", "b"]),
        ],
    )
    def test_is_told_from_provisions(self, text: str, found: list[str]) -> None:
        text = f"§12. Fees\n{text}"
        read = parse(text)
        assert ["".join(each.path[1:]) for each in read.sections[0].nodes][1:] == found
        assert keeps_all(read, text) and not read.troubles

    @pytest.mark.parametrize(
        ("text", "found", "line"),
        [
            ("  (a) A boat described in\n(2) above pays.\n  (b) Fee.\n", ["a", "b"], 3),
            ("  (a) A boat pays under\n(1) the Act.\n  (b) Fee.\n", ["a", "b"], 3),
            ("  (a) As is due under paragraph\n    (1) below, it pays.\n", ["a", "a1"], 3),
            ("  (a) In section\n    (1) Oar.\n  (b) Fee.\n", ["a", "a1", "b"], 3),
            ("(a) Fees\n(1) The clause\n(2) Under clause\n(b) Ships.\n", ["a", "a1", "a2", "b"], 5),
            ("(a) A fee is due which\n(3) says.\n", ["a", "a3"], 3),
        ],
    )
    def test_is_told_where_it_is_doubtful(self, text: str, found: list[str], line: int) -> None:
        text = f"§12. Fees\n{text}"
        read = parse(text)
        assert ["".join(each.path[1:]) for each in read.sections[0].nodes][1:] == found
        assert keeps_all(read, text)
        (trouble,) = read.troubles
        assert trouble.line == line and "the line before" in trouble.why

    def test_stays_with_the_line_that_it_goes_on_from(self) -> None:
        found = parse("SEC. 2. FEES.\n    (a) As in subsection\n(b) it is due.\n    (b) Fee.\n")
        assert node(found, "2(a)").own_lines[-1].content == "(b) it is due."


class TestIndentationThatDoesNotFit:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("  (a) A.\n    (1) B.\n   (b) C.\n     (1) D.\n  (c) E.\n", ["a", "a1", "b", "b1", "c"]),
            ("(a) A.\n            (1) B.\n    (2) C.\n  (b) D.\n", ["a", "a1", "a2", "b"]),
            ("(a) A.\n  (1) B.\n    (A) C.\n  (B) D.\n", ["a", "a1", "a1A", "a1B"]),
            ("(a) A.\n  (1) B.\n    (i) C.\n      (iii) D.\n", ["a", "a1", "a1i", "a1iii"]),
        ],
    )
    def test_gives_way_to_numbering_and_is_told(self, text: str, found: list[str]) -> None:
        text = f"§5. Fees\n{text}"
        read = parse(text)
        assert ["".join(each.path[1:]) for each in read.sections[0].nodes][1:] == found
        assert keeps_all(read, text)
        assert read.troubles and all("unlike those before it" in each.why for each in read.troubles)

    def test_is_told_where_a_level_stands_in_itself(self) -> None:
        found = parse("§5. Fees\n(a) A.\n    (1) B.\n        (A) C.\n            (1) D.\n")
        assert names(found)[-1] == "5(a)(1)(A)(1)"
        assert [each.why for each in found.troubles] == ["(1) stands in 5(a)(1), which is of the same level"]


class TestWhatDoesNotFit:
    @pytest.mark.parametrize(
        "line",
        [
            "(b two",
            "(a). x",
            "1. z",
            "1.1 Fees",
            "b. Fees",
            "{d} four",
            "[e] six",
            "(c} three",
            "(f. seven",
            "(d):four",
            "(e)five",
            "[(a) Repealed.]",
            "（a） One",
        ],
    )
    def test_is_any_attempt_at_a_label(self, line: str) -> None:
        text = f"§9. Fees\n(a) Boats.\n{line}\n(g) Ships.\n"
        found = parse(text)
        assert keeps_all(found, text)
        assert [each.line for each in found.troubles if "begins like a label" in each.why] == [3]

    @pytest.mark.parametrize("line", ["(other than rafts) pays", "(a sum of money) is due", "two) pay"])
    def test_is_no_text_in_brackets(self, line: str) -> None:
        assert not parse(f"§9. Fees\n(a) Boats\n{line}\n").troubles

    @pytest.mark.parametrize(
        ("line", "why"),
        [
            ("(*) Oars.", "begins like a label"),
            ("(2 Oars.", "begins like a label"),
            ("(2] Oars.", "begins like a label"),
            ("2) Oars.", "begins like a label"),
            ("(2) to (4) Repealed.", "names several provisions"),
            ("(2) & (3) Repealed.", "names several provisions"),
            ("(2) Oars. (A) Long. (B) Short.", "another label stands within it"),
            ("(2) In general.—(A) Oars.", "another label stands within it"),
            ("(2), (3) Repealed.", "begins like a label"),
            ("(1) Again.", "there is a 1(a)(1) before it"),
            ("(0) Nothing.", "stands after (1)"),
        ],
    )
    def test_is_kept_and_told(self, line: str, why: str) -> None:
        text = f"§1. Fees\n\n(a) Boats.\n\n    (1) Rafts.\n\n    {line}\n"
        found = parse(text)
        assert keeps_all(found, text)
        assert [trouble.line for trouble in found.troubles if why in trouble.why] == ([7] if why else [])

    @pytest.mark.parametrize("text", ["", "  \n\n\t\n", "\ufeff"])
    def test_is_a_text_without_any(self, text: str) -> None:
        found = parse(text, "1")
        assert found.text == text and [each.why for each in found.troubles] == ["there is no text"]

    def test_is_not_a_byte_order_mark(self) -> None:
        text = "\ufeff§12. Fees\n(a) Boats.\n"
        found = parse(text)
        assert names(found) == ["12", "12(a)"] and found.text == text and not found.troubles

    @pytest.mark.parametrize("text", ["§7. Tolls (a) Rates. (b) Refunds.", "Sec. 7. (a) Boats pay."])
    def test_is_a_label_in_the_line_of_a_section(self, text: str) -> None:
        (trouble,) = parse(text).troubles
        assert "kept as its heading" in trouble.why

    @pytest.mark.parametrize("text", ["Boats pay.\n", "1. Boats\n"])
    def test_is_a_text_without_labels(self, text: str) -> None:
        assert "there is no section" in parse(text).troubles[-1].why
        assert not parse("Boats pay.\n", "7").troubles

    def test_is_a_section_that_is_there_twice(self) -> None:
        found = parse("§1. Fees\n§1. Fees\n")
        assert len(found.sections) == 2 and "section 1 before" in str(found.troubles[0])

    def test_is_a_label_before_any_section(self) -> None:
        found = parse("(a) Boats\n\n§1. Fees\n", "1")
        assert found.troubles[0].line == 1 and found.text.startswith("(a)")

    def test_is_no_long_text(self) -> None:
        text = "§1. Fees\n(a) Boats.\n" + "    It is due.\n" * 20_000 + "    (1) Oars.\n" * 5_000
        found = parse(text)
        assert keeps_all(found, text) and len(found.troubles) == 4_999

    def test_is_a_text_of_a_thousand_levels(self) -> None:
        text = "§1. Fees\n" + "".join(f"{' ' * depth}(a) Boats.\n" for depth in range(1000))
        found = parse(text)
        assert keeps_all(found, text) and "levels deep" in found.troubles[-1].why
