"""From a reply to its program or solution, and from a result to the final answer."""

import time
import tracemalloc
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chameleon import LLM, Executor, Inventory, State, StepRejected, Table
from chameleon.core.events import Redo
from chameleon.errors import ModuleError
from chameleon.llm import ScriptedModel
from chameleon.modules.program import programs
from chameleon.modules.program.answer_generator import AnswerGenerator, as_choice, chosen, mentioned
from chameleon.modules.program.solution_generator import first_sentence, stated_answer, statements
from chameleon.modules.table_ops.table_query import Form, items_in, sentence_in
from chameleon.sandbox import ExecResult
from chameleon.text import unwrapped
from chameleon.values import freeze
from tests.modules.text_rows import grouped


@pytest.mark.parametrize(
    ("value", "form", "answer"),
    [
        (3.0, "items", ["3"]),
        ("Quay", "items", ["Quay"]),
        (["Quay", 2, 0.1 + 0.2], "items", ["Quay", "2", "0.3"]),
        (True, "verdict", "yes"),
        *((value, "verdict", "no") for value in (0, "False")),
        ([True], "verdict", "yes"),
        (["Quay", "Weir"], "text", "Quay, Weir"),
        *((value, "items", ModuleError) for value in (None, [], {"a": 1}, [None])),
        *((value, "verdict", StepRejected) for value in (2, "perhaps", [True, False])),
    ],
)
def test_a_programs_result_becomes_an_answer_or_is_none(value: Any, form: Form, answer: Any) -> None:
    module = programs.TableAnswer(form)
    with pytest.raises(answer) if isinstance(answer, type) else nullcontext():
        output = module.run(State(cache={"program_result": value}))
        assert output == answer and module.update_cache({}, output) == {"answer": answer}


TABLE = Table(["a"], [["1"]])


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Put a sandbox in place that notes the programs that it runs."""
    ran: list[Any] = []

    def run(*given: object, **more: object) -> ExecResult:
        ran.append(given)
        return ExecResult("ok", len(ran), "int")

    monkeypatch.setattr(programs, "shared_sandbox", lambda: SimpleNamespace(run=run))
    return ran


def test_a_verified_program_is_run_again_only_where_something_has_changed(runs: list[Any]) -> None:
    verified = programs.ProgramVerifier().run(State({"table": TABLE}, {"program": "ans = table"}))
    for program, table, timeout, earlier, count in (
        ("ans = table", TABLE, None, verified, 1),
        ("ans = df", TABLE, None, verified, 2),
        ("ans = table", Table(["a"], [["2"]]), None, verified, 3),
        ("ans = table", TABLE, 1.0, verified, 4),
        (
            "ans = table",
            TABLE,
            None,
            {"verdict": "it runs and sets ans", "type": "int"},
            5,
        ),  # of an earlier log
        ("ans = table", TABLE, None, None, 6),
    ):
        state = State({"table": table}, {"program": program, "verified": earlier})
        assert programs.ProgramExecutor(timeout).run(state) and len(runs) == count


@pytest.mark.parametrize(
    ("reply", "program"),
    [
        ('```python title="a.py"\nans = 1\n```', "ans = 1"),
        ("```python\r\nans = 1\r\n```", "ans = 1"),
        ("~~~py\nans = 1\n~~~", "ans = 1"),
        ("```python\nans = 35\n```\nOutput:\n```\n35\n```", "ans = 35"),
        ("Do not write\n```\nans = 0/0\n```\nbut\n```\nans = 2\n```", "ans = 2"),
        ("x = [1]\nans = x[0]\n```\nProgram:", "x = [1]\nans = x[0]"),
        ("Here it is:\n```\nans = 3", "ans = 3"),
    ],
)
def test_the_program_is_what_sets_ans(reply: str, program: str) -> None:
    assert programs.program_in(reply) == program


def test_a_pair_that_is_meant_as_a_number_is_refused() -> None:
    generator = programs.ProgramGenerator()
    sums = ("ans = 4,200 + 2,900 + 3,100", "x = 1\rans = (4,200 + 2,900)")
    for reply in ("ans = 2,900", "ans: int = 4,200", *sums):
        with pytest.raises(StepRejected, match=r"several numbers.*Write \d{4}"):
            generator.parse(reply)
    texts = ('ans = "2,900"', 'ans = "4,200", "Lisbon"', "ans = 1, 2 # 1,000")
    for fine in (*texts, "ans = (2, 900)", "a, b = 1,200\nans = a", "ans = round(12345.6789,100), 3"):
        assert generator.parse(fine) == fine


def test_choices_without_quotes_are_texts() -> None:
    choices = ["shortage", "surplus", "Lara", "table", "math"]
    assert programs.naming_choices("ans = surplus", choices) == "ans = 'surplus'"
    assert programs.naming_choices("lara.", choices) == "ans = 'Lara'"
    given = "import math\nans = math.ceil(table['rows'][0][1])"
    assert programs.naming_choices(given, choices) == given
    assert programs.naming_choices("surplus = 3\nans = surplus", choices) == "surplus = 3\nans = surplus"
    assert programs.naming_choices('é = "é" + surplus', choices) == "é = \"é\" + 'surplus'"


WRAPPED = r"""
North | **Answer:** North | ```⏎North⏎``` | <answer>North</answer> | "North"
Paris - Lyon | The answer is: Paris - Lyon
Vol. 2. Home | The answer is: Vol. 2. Home
Lyon | The answer is:⏎Lyon.
12 | \boxed{12}
North; 3 | ```json⏎{"answer": ["North", 3]}⏎```
North; South | - North⏎- South
"""


def test_an_answer_is_what_is_wrapped_and_a_label_alone_is_none() -> None:
    for reply, items in grouped(WRAPPED):
        assert items_in(reply) == items.split("; "), reply
    with pytest.raises(StepRejected, match="no answer"):
        items_in("The answer is:")
    assert sentence_in("**Answer:** North had 30.") == "North had 30."
    assert unwrapped('say "a", "b"') == 'say "a", "b"'


# What a solution states, nothing where it states none.
STATED = r"""
7 | 3 + 4 = 7. The answer is 7
3.5 | The answer is 3.5.
$1,204.50 | the answer is: **$1,204.50**.
Mr. Ito | The answer is Mr. Ito.
6:30 P.M. | The answer is 6:30 P.M.
12 | The answer is 12. This is what was asked. | The answer is 12. Check that the final answer is 12.
12 | 4 × 3 = 12.⏎**Answer:** 12 | So it is $\boxed{12}$.
no | The answer is no.⏎Check: 4 < 5.
12 tents | Answer:⏎12 tents
noon | The answer is \(\boxed{\text{noon}}\).
4 | Answer: 3⏎The answer is 4.
 | The answer isn't 4. | It is seven. | The answer is
"""


@pytest.mark.parametrize(("solution", "answer"), grouped(STATED))
def test_what_a_solution_states(solution: str, answer: str) -> None:
    assert stated_answer(solution) == (answer or None)


@pytest.mark.parametrize("said", ["The answer is 7. ", "Answer: 7\n", r"\boxed{7} "])
def test_a_reply_that_repeats_itself_takes_little_memory_and_a_long_one_time(said: str) -> None:
    text = said * (140_000 // len(said))
    tracemalloc.start()
    found, choice = statements(text), chosen(text, ["7", "8"])
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found[0].startswith("7") and choice == stated_answer(text) == "7" and most < 50 * len(text)
    begun = time.process_time()
    assert first_sentence("a" * 300_000) and time.process_time() - begun < 1


TEAMS = ("Kingsmere Town", "Harbour Rovers")


@pytest.mark.parametrize(
    ("said", "choices", "chosen"),
    [
        ("thursday", ("Monday", "Thursday"), "Thursday"),
        ("(B)", ("Monday", "Thursday"), "Thursday"),
        ("Thursday, since it rained", ("Monday", "Thursday"), "Thursday"),
        (True, ("yes", "no"), "yes"),
        (2.0, ("$2.00", "$3.00"), "$2.00"),
        (0.5, ("1/2", "1/4"), "1/2"),
        (1234, ("1,234", "4,321"), "1,234"),
        ("Sunday", ("Monday", "Thursday"), "Sunday"),
        ("Kingsmere Town or Harbour Rovers", TEAMS, None),
        ("Kingsmere Town, Harbour Rovers", TEAMS, None),
        ("yes and no", ("yes", "no"), None),
        ("Kingsmere Town, since Harbour Rovers have less", TEAMS, "Kingsmere Town"),
        (7, (), 7),
        ("Your friend, Ada", ("your friend,\nAda", "Your friend,\nAda"), "Your friend,\nAda"),
        ("***Tides***", ('"Tides"', "***Tides***"), "***Tides***"),
        ("**B**", ("Monday", "Thursday"), "Thursday"),
        ("well-known", ("well", "ill"), "well-known"),
        ("3.5", ("3", "4"), "3.5"),
        ("It has:\nsalt. sand\nand more", ("It has:\nsalt", "It has:\nsalt. sand"), "It has:\nsalt. sand"),
    ],
)
def test_the_choice_that_an_answer_stands_for(said: object, choices: tuple[str, ...], chosen: object) -> None:
    assert as_choice(said, choices) == (said if chosen is None else chosen)


INVENTORY = {
    "name": "solves",
    "input": {"question": "str", "choices": "list?"},
    "planner": {"use": "fixed", "plan": ["solution_generator", "answer_generator"]},
    "repair": {"solution_generator": {"redo": "solution_generator", "attempts": 3}},
    "modules": {"solution_generator": {"prompt": "scienceqa/solution_generator"}, "answer_generator": {}},
}
OPTIONS = ["a dog. It barks.", "Thursday", "an ash tree"]


# The official rule takes the first letter; an article is none.
FOUND = r"""
Thursday | The answer is B, since it rained. | The answer is B – Thursday | The answer is surely Thursday.
Thursday | The answer is B. I am sure that the answer is right. | The answer is A. Wait. The answer is B.
Thursday | It rained.⏎(b) | \boxed{B} | It must be Thursday.
an ash tree | The answer is (c). | It is an ash tree, and no dog. | It is not Thursday. So it is an ash tree.
a dog. It barks. | The answer is A because it barks. | The answer is A dog. It barks.
A good question | The answer is A good question.
E | The answer is E.
not Thursday | The answer is not Thursday.
It is Thursday, or an ash tree. | It is Thursday, or an ash tree.
"""


@pytest.mark.parametrize(("solution", "expected"), grouped(FOUND))
def test_a_solutions_letter_or_option_is_found(solution: str, expected: str) -> None:
    state = State(input=freeze({"choices": OPTIONS}), cache=freeze({"solution": solution}))
    assert AnswerGenerator().run(state) == expected


def test_a_program_s_result_goes_first_and_a_statement_that_is_no_choice_as_the_option_says() -> None:
    cache = {"solution": "It rained. The answer is neither. "}
    state = State(input=freeze({"choices": OPTIONS}), cache=cache)
    assert AnswerGenerator("statement").run(state) == "neither"
    given, said = {"choices": ["a stretch", "yellow colour"]}, {"solution": "The answer is yellow coloured."}
    assert AnswerGenerator("option").run(State(freeze(given), freeze(said))) == "yellow colour"
    for result, shown in ((18.0, 18), (0.1 + 0.2, 0.3), ("a", "a")):  # without the noise of floats
        assert AnswerGenerator().run(State(cache={**cache, "program_result": result})) == shown
    assert AnswerGenerator().run(State(cache=cache)) == "neither"


def test_a_choice_inside_a_longer_one_is_not_mentioned() -> None:
    lakes = ("Erie", "Lake Erie", "a", "2")
    assert mentioned("Is a ship on Lake Erie?", lakes) == "Lake Erie"
    assert mentioned("Lake Erie is not Erie.", lakes) is None
    assert mentioned("There are 2 ships.", lakes) == "2"
    assert mentioned("There are 12 ships.", lakes) is None
    assert mentioned("a \x000\x00 ship", ("a",)) is None


@given(st.text(), st.lists(st.text(max_size=5), max_size=4))
def test_any_text_and_choices_come_to_a_choice_or_none(text: str, choices: list[str]) -> None:
    for solution in (text, f"The answer is {text}", rf"\boxed{{{text}}}"):
        assert chosen(solution, choices) in (None, *choices)


def attempted(*replies: Any) -> State:
    llm = LLM.connect(ScriptedModel(list(replies)))
    question = {"question": "When did it rain?", "choices": OPTIONS}
    return Executor(Inventory.parse(INVENTORY), llm).run(question)


def test_the_last_reply_is_kept_and_the_answer_found_in_it() -> None:
    state = attempted("It may be.", "It can be.", "It must be Thursday.")
    assert state.answer == "Thursday"
    assert [record.error is None for record in state.history] == [False, False, True, True]
    second = Redo(2, 0.1, True, 'the solution does not say "The answer is …"', "It can be.")
    assert state.history[2].step.redo == second
    state = attempted(*["It must be Thursday."] * 3)
    assert state.answer == "Thursday" and len(state.calls) == 2, "the same again counts as the last"
    cut = {"text": "It rained on Thursday, since", "finish": "length"}
    assert attempted(cut, cut, cut).answer == "Thursday"
    assert attempted("", " ", "\n").status == "failed"
