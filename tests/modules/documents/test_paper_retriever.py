"""Which passages of a paper are kept, which a reply names and quotes, and which numbers it may state."""

from contextlib import nullcontext
from typing import Any

import pytest

from chameleon import Declined, State, StepRejected
from chameleon.modules.documents import paper_readers
from chameleon.modules.documents.paper_retriever import PaperRetriever, is_named, nearness, numbers_in
from chameleon.modules.documents.quotes import fault_of_numbers, fault_of_quotes, quotes_in
from chameleon.values import freeze
from tests.modules.text_rows import grouped

PASSAGES = [{"title": f"{n} Part", "text": f"{n}.1 Berth {n} is dry."} for n in range(1, 6)]


def state(question: str = "Which berth is dry?", passages: Any = PASSAGES) -> State:
    return State(input=freeze({"question": question, "passages": passages}))


def test_passages_without_a_word_of_the_question_fill_what_is_left() -> None:
    asked = state("Where does Berth 4 lie?", [*PASSAGES, {"title": "", "text": "End."}])
    kept = PaperRetriever(k=4).run(asked)["kept"]
    assert len(kept) == 4 and kept[0]["id"] == "passage 4"
    lone = [{"title": "", "text": text} for text in ("One.", "Two.", "The rent.", "Four.", "Five.")]
    for policy, numbers in (("keep", (3, 2, 4)), ("decline", (3,))):
        module = PaperRetriever(k=3, without_words=policy)
        kept = module.run(state("What is rent?", lone))["kept"]
        assert [each["id"] for each in kept] == [f"passage {number}" for number in numbers]


@pytest.mark.parametrize("installed", [True, False])
def test_without_a_common_word_passages_have_a_note(installed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = "chameleon.modules.documents.paper_retriever"
    near = {"bm25": [0.0] * 5, "dense": [0.1, -0.2, 0.3, -0.1, 0.0]}
    monkeypatch.setattr(f"{found}.automatic", lambda: "minilm" if installed else "none")
    monkeypatch.setattr(f"{found}.similarities", lambda _, texts, by: near[by][: len(texts)])
    output = PaperRetriever(k=2).run(state("Who pays damages?"))
    places = (3, 1) if installed else (1, 2)
    assert [each["id"] for each in output["kept"]] == [f"passage {place}" for place in places]
    assert "No word of the question" in output["note"]
    with pytest.raises(Declined, match="no passage of the document shares a word"):
        PaperRetriever(without_words="decline").run(state("Who pays damages?"))
    with pytest.raises(Declined):
        PaperRetriever().run(state(passages=[]))


NAMED = {
    "What is in Item 1A.?": [("item", "1a")],
    "Does § 12 hold, or Annex B?": [("", "12"), ("annex", "b")],
    "Compare clauses 7.1, 7.2 and 9.": [("clause", "7.1"), ("clause", "7.2"), ("clause", "9")],
    "What does Table 3 or Exhibit 10.1 say?": [("table", "3"), ("exhibit", "10.1")],
    "Is a part a section of it?": [],
}


def test_numbers_of_parts_are_read() -> None:
    assert {question: numbers_in(question) for question in NAMED} == NAMED


def test_a_heading_bears_its_own_number_only() -> None:
    for title in ("7.2 Notice", "Lease > Clause 7.2 > (a)", "Lease > 7.2.1 Form"):
        assert is_named(title, ("clause", "7.2"))
    for title in ("7.20 Fees", "17.2 Fees", "Schedule 7.2 > Fees", ""):
        assert not is_named(title, ("clause", "7.2"))
    assert is_named("Annex B", ("annex", "b")) and not is_named("B flat", ("annex", "b"))


def test_headings_count_more_than_words_and_named_numbers_most() -> None:
    passages = [{"title": "3 Insurance", "text": "The holder bears the cost."}]
    passages += [{"title": "4 Other", "text": "The insurance of others is no matter of ours, nor its cost."}]
    passages += [{"title": "9 Law", "text": "The courts decide."}]
    words, number = nearness("Who pays for insurance?", passages), nearness("What is clause 9?", passages)
    assert words[0] > words[1] > words[2] == 0
    assert number[2] > max(number[:2])
    assert nearness("anything", []) == []


# The passages that are cited, none where the line is refused, and lines of a reply.
LINES = """
1 2 3 5 | Passages: 1 to 3, 5
1 2 | Passages: 1 and 2 (page 4) | Passages: 1: the rent, 2: the deposit
4 2 | Passages: passage 4 (clauses 7.2 and 9), passage 2
2 | Passages: 2 - the deposit is 2,700 EUR | Passages: **2** | Passage(s): 2
2 | **Passages**: 2 | Passages cited: 2
1 3 | Passages: ⏎* 1: the rent is 900 EUR⏎* Passage 3 - it ends in 2030
 | Passages: 6 | Passages: 1-9 | Passages: 7.2 | Passages: all of them | Passages: 0
"""


@pytest.mark.parametrize(("said", "numbers"), grouped(LINES))
def test_the_line_of_passages(said: str, numbers: str) -> None:
    with nullcontext() if numbers else pytest.raises(StepRejected):
        read = paper_readers.PaperAnswerer(quotes=False).interpret(
            f"So it is.\n{said}\nThe answer is x.", state()
        )
        assert [str(source["passage"]) for source in read["sources"]] == numbers.split()


def test_a_program_names_its_passages_in_a_comment() -> None:
    module = paper_readers.PaperProgramGenerator()
    said = module.interpret("```python\n# Passages: 2-3\nans = 3 - 2\n```", state())
    assert said["program"] == "# Passages: 2-3\nans = 3 - 2"
    assert [source["passage"] for source in said["sources"]] == [2, 3]
    with pytest.raises(StepRejected, match="names no passage"):
        module.interpret("```python\nans = 1\n```", state())
    with pytest.raises(Declined, match="do not answer"):
        module.interpret("Passages: none", state())
    for line in ("Passages: 1, 2", "passages used: 1-2", "**Passages:** 1, 2"):
        said = module.interpret(f"ans = 3 - 2\n{line}", state())
        assert [source["passage"] for source in said["sources"]] == [1, 2]
        compile(said["program"], "program", "exec")


RESULTS = """
a dict | {'a': 1}
a list | [1, 2]
real number | float('nan') | float('-inf') | 1j | 'nan'
 | 1 / 4 | '310 EUR'
"""


@pytest.mark.parametrize(("result", "told"), grouped(RESULTS))
def test_a_program_answers_with_one_value(result: str, told: str) -> None:
    run = State(input=freeze({"question": "?"}), cache=freeze({"program": f"ans = {result}"}))
    with pytest.raises(StepRejected, match=told) if told else nullcontext():
        assert paper_readers.PaperProgramVerifier().run(run)["verdict"] == "it runs and sets ans"


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
    found = fault_of_quotes(quotes, [FEES, GRANT])
    assert fault in found and bool(fault) == bool(found)


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
        ("6 × 7 = 42", "42", ["It has 12 staff"], False),
        ("Revenue in 2020 = Q4, 10 + 12 = 22", "22", ["10 | 12"], True),
        (f"{'9' * 5_000} × 2 = 4; {'1 + 1 ' * 9_000}", "4", ["2"], False),  # and a long line ends soon
        ("", "at 10:30", ["um 10.30 Uhr"], True),
        ("", "at 10:45", ["from 10:30"], False),
        *((said, "310", ["no number"], False) for said in ("", "2 / 0 = 310", "__import__('os') = 310")),
    ],
)
def test_numbers_stand_in_passages(solution: str, answer: str, known: Any, is_right: bool) -> None:
    assert (fault_of_numbers(solution, answer, known) == "") == is_right


def test_a_reply_that_does_not_hold_is_rejected() -> None:
    passages = [{"title": "Fees", "text": FEES}, {"title": "Grant", "text": GRANT}]
    asked = state("What is paid at once?", passages)
    cited = 'Passages: 1 "pays 310 EUR for each quarter", 2 "granted a tenth"'
    good = paper_readers.PaperAnswerer().interpret(f"{YEAR}\n{cited}\nThe answer is 1116 EUR.", asked)
    assert [source["passage"] for source in good["sources"]] == [1, 2]
    for reply in (f"{YEAR}\nPassages: 1, 2\nThe answer is 1116 EUR.", f"{YEAR}\n{cited}\nThe answer is 999."):
        with pytest.raises(StepRejected):
            paper_readers.PaperAnswerer().interpret(reply, asked)
    assert paper_readers.PaperProgramGenerator().interpret("# Passages: 1\nans = 4 * 310", asked)["program"]
    with pytest.raises(StepRejected, match="the number 320"):
        paper_readers.PaperProgramGenerator().interpret("# Passages: 1\nans = 4 * 320", asked)
