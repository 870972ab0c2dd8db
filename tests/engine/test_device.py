"""What becomes of work for which a device has too little memory, with a double of torch."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from chameleon.device import Batched, loaded

FULL = "CUDA out of memory. Tried to allocate 2.00 GiB"


class OutOfMemoryError(RuntimeError):
    """The name that torch gives it."""


@pytest.fixture(autouse=True)
def emptied(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Put a torch in place that notes when its cache is emptied."""
    noted: list[str] = []
    cuda = SimpleNamespace(empty_cache=lambda: noted.append("emptied"))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    return noted


def test_three_items_of_a_batch_of_sixteen_are_halved_from_three(
    caplog: pytest.LogCaptureFixture, emptied: list[str]
) -> None:
    tried: list[int] = []

    def work(batch: int) -> str:
        tried.append(batch)
        if batch > 1:
            raise OutOfMemoryError("it is full")
        return "done"

    batched = Batched("a/model", 16, "cuda", lambda: pytest.fail("it fits"))
    assert batched(work, 3) == batched(work, 3) == "done" and tried == [16, 1, 1]
    assert caplog.messages == ["a/model: the memory of cuda is too small for 3 at once: now 1"]
    assert emptied == ["emptied"]


def test_what_has_no_room_for_one_goes_to_the_cpu_once(caplog: pytest.LogCaptureFixture) -> None:
    moved: list[str] = []

    def work(batch: int) -> str:
        if not moved:
            raise OutOfMemoryError(FULL)
        return "done"

    batched = Batched("a/model", 2, "cuda:1", lambda: moved.append("cpu"))
    assert batched(work, 9) == batched(work, 9) == "done"
    assert moved == ["cpu"] and batched.device == "cpu"
    assert caplog.messages[1:] == ["a/model does not fit into the memory of cuda:1: it runs on the CPU"]


@pytest.mark.parametrize(
    ("device", "error"),
    [("cpu", OutOfMemoryError(FULL)), ("cuda", RuntimeError("a shape is wrong")), ("cuda", ValueError(FULL))],
)
def test_other_errors_and_those_of_the_cpu_are_raised(device: str, error: Exception) -> None:
    def fails(_: object) -> None:
        raise error

    for run in (lambda: Batched("m", 8, device, list)(fails, 8), lambda: loaded("m", fails, device)):
        with pytest.raises(type(error)) as raised:
            run()
        assert raised.value is error


def test_a_model_that_does_not_fit_is_loaded_to_the_cpu(caplog: pytest.LogCaptureFixture) -> None:
    def load(device: str) -> str:
        if device != "cpu":
            raise RuntimeError("MPS backend out of memory")
        return device

    assert loaded("a/model", load, "mps") == "cpu"
    assert caplog.messages == ["a/model does not fit into the memory of mps: it runs on the CPU"]
