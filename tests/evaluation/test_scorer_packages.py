"""An evaluation whose scorer lacks a package does not begin, whatever its first problem would need."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from chameleon.benchmarks.scorers import binder, text_overlap
from chameleon.errors import MissingPackage
from chameleon.evaluation.data import find_benchmark
from tests.benchmarks.test_finqa import ROW
from tests.e2e.commands import Command
from tests.evaluation.rows import write_rows
from tests.loopback import LoopbackServer

MODEL = ("--model", "openai:local", "--store", "off")


@pytest.mark.parametrize("scorer", ["official", "program"])
def test_programs_are_not_compared_without_sympy(
    scorer: str,
    monkeypatch: pytest.MonkeyPatch,
    loopback: Callable[..., LoopbackServer],
    command: Command,
    tmp_path: Path,
) -> None:
    loopback(lambda request: "Program: add(1, 2)")
    monkeypatch.setitem(sys.modules, "sympy", None)
    data, out = write_rows(tmp_path / "d.jsonl", [ROW]), tmp_path / "out"
    outcome = command("eval", "finqa", str(data), *MODEL, "--scorer", scorer, "--out", str(out))
    assert outcome.code == 1 and "needs the package sympy" in outcome.err
    assert "pip install 'chameleon-compose[programs]'" in outcome.err and "Stopped after" not in outcome.err
    assert not out.exists()


def test_a_scorer_that_compares_no_programs_needs_none(
    monkeypatch: pytest.MonkeyPatch, loopback: Callable[..., LoopbackServer], command: Command, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "sympy", None)
    data = write_rows(tmp_path / "d.jsonl", [ROW])
    loopback(lambda request: "Program: add(1, 2)")
    assert command("eval", "finqa", str(data), *MODEL, "--scorer", "execution").code == 0


@pytest.mark.parametrize(
    ("benchmark", "scorer", "package", "extra"),
    [
        ("fetaqa", "official", "sacrebleu.metrics.bleu", "text-metrics"),
        ("fetaqa", "stemmed", "rouge_score.rouge_scorer", "text-metrics"),
        ("wikitq", "binder", "recognizers_number", "binder-metric"),
    ],
)
def test_each_scorer_says_what_it_lacks(
    benchmark: str, scorer: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = (text_overlap._bleu, text_overlap._rouge, binder._recognisers)
    for each in kept:
        each.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage) as caught:
        find_benchmark(benchmark).scorers[scorer]().check()
    assert extra in caught.value.hint
    for each in kept:
        each.cache_clear()
