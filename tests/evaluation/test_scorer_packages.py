"""An evaluation whose scorer lacks a package does not begin, whatever its first problem would need."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from chameleon.benchmarks.scorers import binder, text_overlap
from chameleon.errors import MissingPackage
from chameleon.evaluation.data import find_benchmark
from tests.benchmarks.test_fetaqa import RELEASED as ROW
from tests.e2e.commands import Command
from tests.evaluation.rows import write_rows


def test_an_evaluation_without_its_scorer_s_package_does_not_begin(
    monkeypatch: pytest.MonkeyPatch, command: Command, tmp_path: Path
) -> None:
    text_overlap._bleu.cache_clear()
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics.bleu", None)
    data, out = write_rows(tmp_path / "d.jsonl", [ROW]), tmp_path / "out"
    outcome = command("eval", "tables_offline", str(data), "--benchmark", "fetaqa", "--out", str(out))
    assert outcome.code == 1 and "the grades of texts need sacreBLEU" in outcome.err
    assert "pip install 'chameleon-compose[text-metrics]'" in outcome.err and not out.exists()


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
