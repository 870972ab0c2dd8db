"""What an answer from passages has to quote, and which numbers it may state."""

import pytest

from chameleon import StepRejected
from chameleon.core.events import RunStarted
from chameleon.core.state import State
from chameleon.modules.documents.paper_readers import PaperAnswerer, PaperProgramGenerator
from chameleon.modules.documents.quotes import fault_of_numbers, fault_of_quotes, quotes_in

FEES = "4.1 The holder pays 310 EUR for each quarter, in advance – by bank transfer."
GRANT = "4.3 A holder who pays for a year at once is granted a tenth of the yearly fee."
YEAR = "A year is 4 × 310 = 1240 EUR. A tenth is 1240 / 10 = 124, so 1240 - 124 = 1116 is left."


@pytest.mark.parametrize(
    ("quotes", "fault"),
    [
        (["pays 310 EUR for each quarter", "is granted a tenth"], ""),
        (["Pays  310 EUR … in advance - by bank", "a TENTH of the yearly fee."], ""),
        (["pays 320 EUR", "is granted a tenth"], "'pays 320 EUR'"),
        (["pays 310 EUR for each quarter"], "quotes no words of a passage"),
        (["pays", "is granted a tenth"], "quotes no words of a passage"),  # one word may be anywhere
        ([], "quotes no words of a passage"),
    ],
)
def test_each_passage_is_quoted_word_for_word(quotes: list[str], fault: str) -> None:
    assert fault in fault_of_quotes(quotes, [FEES, GRANT])
    assert bool(fault) == bool(fault_of_quotes(quotes, [FEES, GRANT]))


def test_quotes_are_found_in_any_form_of_double_quotes() -> None:
    assert quotes_in('1 "a b", 2 “c d” and «e» or „f g“') == ["a b", "c d", "e", "f g"]


@pytest.mark.parametrize(
    ("solution", "answer", "known", "is_right"),
    [
        (YEAR, "1116 EUR", [FEES, GRANT], True),
        (YEAR, "1117 EUR", [FEES, GRANT], False),
        ("4 × 310 = 1250 EUR", "1250 EUR", [FEES], False),  # calculated wrongly
        ("4 × 320 = 1280 EUR", "1280 EUR", [FEES], False),  # of a number that stands nowhere
        ("(1,500 + 300) / 2 = 900 EUR. $900 × 12 months = $10,800", "$10,800", ["1,500 and 300"], True),
        ("(8,915 - 8,140) / 8,140 = 9.5 %", "9.5 %", ["8,915 | 8,140"], True),
        ("10,119 x 1,000 = 10,119,000", "10,119,000 crowns", ["10,119 (in thousands)"], True),
        ("", "90 days", ["a notice of ninety days"], True),
        ("", "twenty-five days", ["25 days"], True),
        ("", "25 %", ["a quarter of the sum"], True),
        ("", "2024-05-04", ["on 4 May 2024"], True),
        ("120 / 400 = 0.3 = 30 %", "30 %", ["120 of 400"], True),
        ("120 / 400 = 0.3 = 31 %", "31 %", ["120 of 400"], False),
        ("15 % of 400 = 60", "60", ["15 % of the sum of 400 EUR"], True),
        ("400 × 30 % = 120", "120", ["30 %, of 400"], True),
        ("2 million + 3 million = 5 million", "5 million", ["2,000,000 and 3,000,000"], True),
        ("", "1.5 million", ["1,5 Mio. EUR"], True),
        ("", "15 million", ["1,5 Mio. EUR"], False),
        ("", "3 million", ["3 dogs"], False),
        ("", "12345.67", ["12.345,67 EUR"], True),
        ("", "12,500", ["12\u202f500 EUR"], True),
        ("", "12 500 EUR", ["12,500"], True),
        ("", "at 10:30", ["um 10.30 Uhr"], True),
        ("", "at 10:45", ["from 10:30"], False),
        ("", "310", ["no number"], False),
        ("2 / 0 = 310", "310", ["two"], False),
        ("__import__('os') = 310", "310", ["two"], False),
    ],
)
def test_numbers_stand_in_a_passage_or_follow_from_such(
    solution: str, answer: str, known: list[str], is_right: bool
) -> None:
    assert (fault_of_numbers(solution, answer, known) == "") == is_right


def test_a_reply_that_does_not_hold_is_rejected() -> None:
    passages = [{"title": "Fees", "text": FEES}, {"title": "Grant", "text": GRANT}]
    state = State().after(RunStarted("mine", {"question": "What is paid at once?", "passages": passages}))
    cited = 'Passages: 1 "pays 310 EUR for each quarter", 2 "granted a tenth"'
    good = PaperAnswerer().interpret(f"{YEAR}\n{cited}\nThe answer is 1116 EUR.", state)
    assert [source["passage"] for source in good["sources"]] == [1, 2]
    for reply in (f"{YEAR}\nPassages: 1, 2\nThe answer is 1116 EUR.", f"{YEAR}\n{cited}\nThe answer is 999."):
        with pytest.raises(StepRejected):
            PaperAnswerer().interpret(reply, state)
    assert PaperProgramGenerator().interpret("# Passages: 1\nans = 4 * 310", state)["program"]
    with pytest.raises(StepRejected, match="the number 320"):
        PaperProgramGenerator().interpret("# Passages: 1\nans = 4 * 320", state)
