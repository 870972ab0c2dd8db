"""What a module is told of those that failed before it: what it would have read of them, and why."""

from __future__ import annotations

import pytest

from chameleon import Executor, Module, State, errors
from chameleon.errors import ChameleonError, InputError, MissingPackage, StepRejected, WebError
from chameleon.inventory.schema import RepairSpec
from chameleon.prompt import Prompt, context_of, slots_of
from chameleon.state import Failure
from tests.engine.doubles import QUESTION, Does, executor, failing

SECRET = "sk-0123456789abcdef"
PATH = "/srv/accounts/plans"
NO_INPUT = "what it was given cannot be used"


class Shows(Module):
    """Gives the context that a prompt would show, of the keys that it declares to read."""

    reads = ("input.question", "cache.caption?", "cache.labels?")

    def run(self, state: State) -> str:
        return context_of(state)


def broken(problem: Exception, *writes: str) -> Does:
    return Does(failing(problem), reads=("input.question",), writes=writes)


def told(problem: Exception, *writes: str, shows: Module | None = None) -> str:
    """The context after a module that would have written these keys failed."""
    made = {"looks": broken(problem, *writes), "shows": shows or Shows()}
    state = executor(made, on_error={"looks": "skip"}).run(QUESTION)
    assert state.ended is not None and state.ended.reason == "answered", state.ended
    assert isinstance(state.answer, str)
    return state.answer


def test_what_it_would_have_read_is_told_with_the_kind_of_lack() -> None:
    problem = InputError(f"{PATH}/a.png is damaged.", where=f"{PATH}/a.png", hint="Save it again.")
    assert told(problem, "cache.caption") == f"Not available: caption ({NO_INPUT})"
    assert told(problem, "cache.caption", "cache.labels", "cache.boxes") == (
        f"Not available: caption, labels ({NO_INPUT})"
    )


@pytest.mark.parametrize(
    ("problem", "lack"),
    [
        (
            WebError(f"no connection to {PATH}: [Errno 111] refused", where="10.0.0.7"),
            "the web gave no answer",
        ),
        (MissingPackage(f"{PATH} lacks torch", hint="pip install torch"), "it is not installed here"),
        (StepRejected("the reply holds no table"), "it came to no usable result"),
        (RuntimeError(f"401 for key {SECRET}"), "it failed"),
        (OSError(2, "No such file or directory", PATH), "it failed"),
    ],
)
def test_a_model_reads_the_kind_of_lack_and_no_word_of_the_error(problem: Exception, lack: str) -> None:
    assert told(problem, "cache.caption") == f"Not available: caption ({lack})"


def test_no_error_has_its_own_words_told() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    for kind in kinds:
        if issubclass(kind, ChameleonError):
            reason = Failure.of(kind(f"{PATH} {SECRET}", where=PATH, hint=PATH)).reason
            assert reason.startswith(("it ", "its ", "what ", "the ")) and "/" not in reason


def test_what_it_does_not_read_is_not_told() -> None:
    assert told(InputError("no"), "cache.boxes") == ""


def test_a_module_that_reads_everything_is_told_everything() -> None:
    everything = Does(context_of)
    assert told(InputError("no"), "cache.some_words", shows=everything) == (
        f"Not available: some words ({NO_INPUT})"
    )
    assert told(InputError("no"), "cache.*", shows=everything) == f"Not available: looks ({NO_INPUT})"


def test_what_holds_no_text_is_not_told() -> None:
    looks = broken(InputError("no"), "cache.labels", "cache.boxes")
    looks.non_text = ("cache.boxes",)
    made = {"looks": looks, "shows": Does(context_of)}
    state = executor(made, on_error={"looks": "skip"}).run(QUESTION)
    assert state.answer == f"Not available: labels ({NO_INPUT})"


def test_an_input_that_is_still_there_is_not_missing() -> None:
    """A lookup that failed leaves the table as it was."""
    assert told(InputError("no"), "input.question") == ""


def test_what_worked_later_or_is_tried_again_is_not_told() -> None:
    tries = iter([StepRejected("not so")])

    def once_rejected(state: State) -> str:
        for problem in tries:
            raise problem
        return "found"

    seen: list[str] = []
    modules = {
        "labels": Does(lambda state: seen.append(context_of(state)) or "text"),
        "caption": Does(once_rejected),
        "shows": Shows(),
    }
    repair = {"caption": RepairSpec(redo="labels", attempts=3, temperature_step=0.1)}
    state = executor(modules, repair=repair).run(QUESTION)
    assert state.answer == "Labels: text\n\nCaption: found"
    assert seen == ["", "Labels: text"]


def test_side_by_side_in_sequence_and_resumed_are_told_the_same() -> None:
    modules = {
        "looks": broken(InputError("no"), "cache.caption"),
        "reads": broken(InputError("not at all"), "cache.labels"),
        "shows": Shows(),
    }
    skipping = executor(modules, on_error={"looks": "skip", "reads": "skip"})
    expected = f"Not available: caption ({NO_INPUT})\nNot available: labels ({NO_INPUT})"
    events = list(skipping.stream(QUESTION))
    assert State.fold(events).answer == expected
    assert Executor(skipping.inventory, parallel=False).run(QUESTION).answer == expected
    for end in range(1, len(events)):
        again = [*events[:end], *skipping.stream(QUESTION, events[:end])]
        assert State.fold(again).answer == expected


@pytest.mark.parametrize("fails", [True, False])
def test_a_prompt_may_tell_it_on_its_own(fails: bool) -> None:
    class Renders(Shows):
        def run(self, state: State) -> str:
            prompt = '---\nslots: [question, "unavailable?"]\n---\n# user\n{{ unavailable }}|{{ question }}'
            return Prompt.parse(prompt).render(slots_of(state))[0][1]

    if fails:
        expected = f"Not available: caption ({NO_INPUT})|How many?"
        assert told(InputError("no"), "cache.caption", shows=Renders()) == expected
    else:
        assert executor({"shows": Renders()}).run(QUESTION).answer == "|How many?"
