"""What a module may see and change at its step, and what it is told of those that failed."""

import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chameleon import Module, State, Step, Table
from chameleon.core.access import Access
from chameleon.core.events import RunStarted
from chameleon.core.module import Traits
from chameleon.core.prompt import Prompt, context_of, slots_of
from chameleon.errors import InputError, MissingPackage, NoSuchKey, StepRejected, WebError
from chameleon.inventory.schema import RepairSpec
from chameleon.values import freeze
from tests.engine.doubles import QUESTION, Does, executor, failing, run, why


def test_outputs_cannot_be_changed_by_who_made_them_and_are_such_as_a_log_can_hold() -> None:
    mine: dict[str, Any] = {"rows": [1, 2]}

    def later(state: State) -> Any:
        mine["rows"].append(3)
        return state.cache["maker"]["rows"]

    assert run({"maker": lambda state: mine, "later": later}).answer == (1, 2)
    state = run({"maker": lambda state: {"share": [0.5, float("nan")]}})
    assert "module maker" in why(state) and "output.share[1] is nan" in why(state) and not state.cache


class TestWrites:
    @pytest.mark.parametrize("kind", ["input", "cache"])
    def test_that_were_not_declared_fail_naming_the_key(self, kind: str) -> None:
        update = {f"update_{kind}": lambda old, output: {"question": "Why?"}}
        state = run({"sneaky": Does(lambda state: 1, writes="cache.fine", **update)})
        assert f"it writes {kind}.question, which it does not declare" in why(state)
        assert state.input["question"] == "How many?" and not state.cache

    def test_are_a_mapping_and_may_be_to_any_key(self) -> None:
        for returned in (None, ["key"], "key"):
            vague = Does(str, update_cache=lambda cache, output, returned=returned: returned)
            assert f"update_cache returned a {type(returned).__name__}" in why(run({"vague": vague}))
        free = Does(str, writes="cache.*", update_cache=lambda cache, output: {"anything": 1})
        reader = Does(lambda state: state.cache["anything"] + 1, reads="cache.anything")
        assert run({"free": free, "reader": reader}).answer == 2


class TestReads:
    def test_are_all_that_a_module_sees(self) -> None:
        seen: list[State] = []
        module = Does(seen.append, reads="cache.first, input.topic?")
        first = Does(lambda state: 1, writes="cache.first")
        run({"first": first, "hidden": lambda state: 2, "module": module})
        (state,) = seen
        assert (dict(state.input), dict(state.cache)) == ({}, {"first": 1})
        assert (state.history, state.plans, state.pending) == ((), (), ())
        assert (state.failure, state.started, state.step) == (None, None, Step("module"))
        for reads, answer in (("history", ("first",)), ("", ())):
            module = Does(lambda state: [record.step.module for record in state.history], reads=reads)
            assert run({"first": lambda state: 1, "module": module}).answer == answer

    def test_that_are_missing_or_not_declared_are_told(self) -> None:
        reader = Does(str, reads="cache.facts|cache.rules")
        told = why(run({"reader": reader, "writer": Does(str, writes="cache.facts")}))
        assert "cache.facts or cache.rules, but nothing before it provides" in told and "by writer" in told
        modules = {"giver": failing(ValueError("no")), "taker": Does(str, reads="cache.giver")}
        assert "cache.giver, but nothing before it" in why(run(modules, on_error={"giver": "skip"}))
        shop = Does(str, reads="input.question", update_cache=lambda cache, output: cache["city"])
        told = why(run({"city": lambda state: "Rome", "shop": shop}))
        assert "module shop: it reads cache.city, which it does not declare" in told


def seen_by(reads: str, **cache: Any) -> State:
    """Return what a module with these `reads` sees."""
    given = freeze({"question": "How many?", "table": Table(["a"], [["1"]])})
    state = State().after(RunStarted("mine", given)).with_fields(cache=freeze(cache))
    return Access.of(Does(lambda state: 1, reads=reads)).view(state)


ADD = r"reads input.table, which it does not declare\. Add \"input.table\" to its `reads`\. There are: quest"
READS: list[tuple[str, Callable[[State], Any], str]] = [
    ("input.question", lambda state: state.input["table"], ADD),
    ("input.question", lambda state: state.input.get("table", 1), ADD),
    ("input.question", lambda state: state.table, ADD),
    ("input.*", lambda state: state.input["tabel"], r"no input.tabel\. Did you mean 'table'\?$"),
    ("cache.*", lambda state: state.cache["x"], r"x\. There are: city, shop\.$"),
    ("cache.price?", lambda state: state.cache["price"], r"^there is no cache.price$"),
]


class TestAKey:
    @pytest.mark.parametrize(("reads", "read", "expected"), READS)
    def test_that_is_not_there_is_named_with_what_to_do(self, reads: str, read: Any, expected: str) -> None:
        with pytest.raises(NoSuchKey, match=expected):
            read(seen_by(reads, shop=1, city=2))

    @pytest.mark.parametrize(
        ("reads", "told"),
        [("input.question", "it reads cache.price, which it does"), (None, "there is no key 'price'")],
    )
    def test_of_a_failed_step_is_named_with_the_line_of_the_module(self, reads: Any, told: str) -> None:
        def read(state: State) -> Any:
            return state.cache["price"]

        failed = why(run({"shop": lambda state: 1, "last": Does(read, reads=reads)}))
        assert f"module last: {told}" in failed
        assert f"(test_steps.py, line {read.__code__.co_firstlineno + 1})" in failed

    def test_can_be_asked_for_as_in_any_dictionary_and_at_most_twenty_are_named(self) -> None:
        state = seen_by("input.question, cache.price?")
        assert state.cache.get("price") is None and state.cache.get("nobody", 3) == 3
        assert "table" not in state.input and state.input.get("question") == "How many?"
        assert dict(state.input) == pickle.loads(pickle.dumps(state.input)) == QUESTION
        assert str(pickle.loads(pickle.dumps(NoSuchKey("no", hint="yes")))) == "no. yes"
        with pytest.raises(NoSuchKey, match=r"no key 'x'.*There are: city 0, .*, city 19 …\.$"):
            freeze({f"city {number}": number for number in range(40)})["x"]
        with pytest.raises(NoSuchKey, match=r"It is empty\.$"):
            freeze({})["x"]


def test_setup_happens_once_for_many_threads_and_again_where_it_failed() -> None:
    ups, begin = list[bool](), threading.Barrier(16)
    module = Does(lambda state: len(ups), setup=lambda: ups.append(threading.Event().wait(0.001)))
    slow = executor({"slow": module})  # whose setup lets the others come to the door
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda _: begin.wait() < 0 or slow.run(QUESTION).answer, range(16))) == [1] * 16
    tries = iter([failing(OSError("no such device")), str])
    flaky = executor({"flaky": Does(lambda state: "ready", setup=lambda: next(tries)(State()))})
    assert "no such device" in why(flaky.run(QUESTION)) and flaky.run(QUESTION).answer == "ready"


PATH = "/srv/accounts/plans"
NO_INPUT = "its input cannot be used"
NO = InputError(f"{PATH}/a.png is damaged.", where=f"{PATH}/a.png", hint="Save it again.")


class Shows(Module):
    """Gives the context that a prompt would show, of the keys that it declares to read."""

    reads = ("input.question", "cache.caption?", "cache.labels?")

    def run(self, state: State) -> str:
        return context_of(state)


class Renders(Shows):
    """Gives a prompt that tells on its own what is lacking."""

    def run(self, state: State) -> str:
        prompt = '---\nslots: [question, "unavailable?"]\n---\n# user\n{{ unavailable }}|{{ question }}'
        return Prompt.parse(prompt).render(slots_of(state))[0][1]


def broken(problem: Exception, *writes: str, **declared: Any) -> Does:
    return Does(failing(problem), reads=("input.question",), writes=writes, **declared)


def told(looks: Module, shows: Module) -> Any:
    """Return what a module shows after another failed, which was skipped."""
    state = run({"looks": looks, "shows": shows}, on_error={"looks": "skip"})
    assert state.status == "answered", state.ended
    return state.answer


@pytest.mark.parametrize(
    ("problem", "writes", "shows", "lack"),
    [
        (NO, ["cache.caption"], Shows(), f"caption ({NO_INPUT})"),
        (NO, ["cache.caption", "cache.labels", "cache.boxes"], Shows(), f"caption, labels ({NO_INPUT})"),
        (NO, ["cache.boxes"], Shows(), ""),  # which it does not read
        (NO, ["input.question"], Shows(), ""),  # which is still there: a lookup leaves the table as it was
        (NO, ["cache.some_words"], Does(context_of), f"some words ({NO_INPUT})"),
        (NO, ["cache.*"], Does(context_of), f"looks ({NO_INPUT})"),
        (WebError(f"no way to {PATH}", where="10.0.0.7"), [], Shows(), "caption (the web gave no answer)"),
        (MissingPackage(f"no {PATH}", hint="pip"), [], Shows(), "caption (it is not installed here)"),
        (StepRejected("no table"), [], Shows(), "caption (its result cannot be used)"),
        (RuntimeError("401 for key sk-0123456789abcdef"), [], Shows(), "caption (it failed)"),
        (OSError(2, "No such file or directory", PATH), [], Shows(), "caption (it failed)"),
    ],
)
def test_a_model_reads_what_is_lacking_and_no_error(problem: Any, writes: Any, shows: Any, lack: str) -> None:
    assert told(broken(problem, *(writes or ["cache.caption"])), shows) == (lack and f"Not available: {lack}")


def test_what_holds_no_text_is_not_told_and_a_prompt_may_tell_it_on_its_own() -> None:
    looks = broken(NO, "cache.labels", "cache.boxes", traits=Traits(non_text=("cache.boxes",)))
    assert told(looks, Does(context_of)) == f"Not available: labels ({NO_INPUT})"
    assert told(broken(NO, "cache.caption"), Renders()) == f"Not available: caption ({NO_INPUT})|How many?"
    assert run({"shows": Renders()}).answer == "|How many?"


def test_what_worked_later_or_is_tried_again_is_not_told() -> None:
    tries, seen = iter([StepRejected("not so")]), list[str]()

    def once_rejected(state: State) -> str:
        for problem in tries:
            raise problem
        return "found"

    labels = Does(lambda state: seen.append(context_of(state)) or "text")
    repair = {"caption": RepairSpec(redo="labels", attempts=3, temperature_step=0.1)}
    state = run({"labels": labels, "caption": once_rejected, "shows": Shows()}, repair=repair)
    assert state.answer == "Labels: text\n\nCaption: found" and seen == ["", "Labels: text"]
