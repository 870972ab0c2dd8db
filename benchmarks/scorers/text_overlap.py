"""BLEU and ROUGE, as FeTaQA's sentences are graded with sacreBLEU and Google's rouge_score."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

from chameleon.benchmarks.scorers.predictions import text_of
from chameleon.errors import require
from chameleon.evaluation.benchmark import GradedScorer, Problem

_ROUGE = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL"}
_USE = "the grades of texts need"
_ORDERS = range(1, 5)  # BLEU counts up to four words in a row


class OverlapRule(GradedScorer):
    """sacreBLEU over the corpus (defaults, 0 to 100), mean ROUGE-1/2/L F1 without stemming (0 to 1)."""

    figures: ClassVar[tuple[str, ...]] = ("BLEU", *_ROUGE, "BP")
    stemming: ClassVar[bool] = False

    def check(self) -> None:
        _bleu()
        _rouge(self.stemming)

    def grades(self, prediction: Any, problem: Problem) -> Mapping[str, float]:
        """Return ROUGE and the counts for BLEU; None is graded as an empty text.

        Both texts are stripped; a list is joined with commas. Raises `MissingPackage`.
        """
        text, reference = text_of(prediction).strip(), problem.gold.strip()
        rouge = _rouge(self.stemming).score(reference, text)
        counts = _bleu().sentence_score(text, [reference])
        return {
            **{name: float(rouge[key].fmeasure) for name, key in _ROUGE.items()},
            **{f"matches {order}": float(counts.counts[order - 1]) for order in _ORDERS},
            **{f"of {order}": float(counts.totals[order - 1]) for order in _ORDERS},
            "length": float(counts.sys_len),
            "reference": float(counts.ref_len),
        }

    def overall(self, sums: Mapping[str, float], n: int) -> Mapping[str, float]:
        """Compute BLEU and its brevity penalty from the counts of all sentences, and the means of ROUGE.

        The mean is the plain one; Hugging Face's metric reports the median of random samples.
        """
        bleu = _bleu().compute_bleu(
            [int(sums[f"matches {order}"]) for order in _ORDERS],
            [int(sums[f"of {order}"]) for order in _ORDERS],
            int(sums["length"]),
            int(sums["reference"]),
            smooth_method="exp",  # sacreBLEU's default
        )
        means = {name: sums[name] / n for name in _ROUGE}
        return {"BLEU": float(bleu.score), **means, "BP": float(bleu.bp)}


class StemmedOverlapRule(OverlapRule):
    """sacreBLEU over the corpus, and mean ROUGE-1/2/L F1 of the words' stems (Porter)."""

    stemming: ClassVar[bool] = True


@lru_cache(maxsize=1)
def _bleu() -> Any:
    """Load sacreBLEU with its defaults; only its counts for single sentences are used."""
    require("sacrebleu", _USE, "text-metrics", module="sacrebleu.metrics.bleu", imports=True)
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(effective_order=True)


@lru_cache(maxsize=2)
def _rouge(stemming: bool) -> Any:
    require("rouge-score", _USE, "text-metrics", module="rouge_score.rouge_scorer", imports=True)
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(list(_ROUGE.values()), use_stemmer=stemming)
