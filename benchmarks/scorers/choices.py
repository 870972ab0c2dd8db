"""How ScienceQA's options are scored: Chameleon's text rule, and the index rule of ScienceQA itself.

Sources: the repositories lupantech/chameleon-llm (`run_scienceqa/`) and lupantech/ScienceQA.
"""

import random
import re
from typing import Any

from chameleon.benchmarks.scorers.tabmwp_rule import known_choices, most_similar
from chameleon.evaluation.benchmark import Problem, Scorer

_LETTER = re.compile(r"[Tt]he answer is ([A-Z])")
_LETTERS = "ABCDE"


class OptionTextRule(Scorer):
    """Chameleon (Lu et al., 2023): the stated letter's option, else the option most like the text.

    If two options differ only in case, either is right.
    """

    def from_output(self, text: str, problem: Problem) -> str:
        """Return the option of the first stated letter, else the text itself."""
        index = _stated_option(text, len(known_choices(problem)))
        return text if index is None else known_choices(problem)[index]

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Return whether the option that the prediction selects is the gold one.

        Oddity of the metric: None, and a text that has nothing in common with any option, select the first
        option; the text is compared in its own case with options in lower case.
        """
        options = [choice.lower() for choice in known_choices(problem)]
        if prediction is None:
            option = options[0]
        elif not isinstance(prediction, str):
            return False
        else:
            # An option's text in any case is that option; any other text goes by similarity.
            text = prediction.strip().lower()
            option = text if text in options else most_similar(prediction, options)
        return option.strip() == str(problem.gold).strip().lower()


class OptionIndexRule(Scorer):
    """ScienceQA (Lu et al., 2022): the stated letter's index, else a random option.

    The generator has a fixed seed and belongs to the scorer, so the outcome depends on the order of problems.
    """

    seed = 3

    def __init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311

    def from_output(self, text: str, problem: Problem) -> int:
        """Return the index of the first stated letter, else of a random option."""
        count = len(known_choices(problem))
        index = _stated_option(text, count)
        return self._random.randrange(count) if index is None else index

    def right(self, prediction: Any, problem: Problem) -> bool:
        """Compare the index with the gold option's; an option's text counts as its first index."""
        if isinstance(prediction, str):
            choices = list(known_choices(problem))
            prediction = choices.index(prediction) if prediction in choices else None
        return type(prediction) is int and prediction == problem.detail.get("index")


def _stated_option(text: str, count: int) -> int | None:
    """Return the index of the first stated letter, or None if it is not one of the first `count`."""
    match = _LETTER.search(text)
    if match is None or match[1] not in _LETTERS[:count]:
        return None
    return _LETTERS.index(match[1])
