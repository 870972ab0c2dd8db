"""The forms of an answer: one of the choices as it is written, yes or no."""

from __future__ import annotations

from chameleon.errors import Declined
from chameleon.modules.offline.grammar.problem import Problem
from chameleon.modules.offline.grammar.words import stems


def choice_for(problem: Problem, text: str) -> str:
    """The choice that says `text`, verbatim; `text` itself where there are no choices.

    Raises `Declined` where no choice, or more than one, says it.
    """
    if not problem.choices:
        return text
    found = matching_choice(problem, text)
    if found is None:
        raise Declined(f"none of the choices is {text!r}", hint=f"They are: {', '.join(problem.choices)}.")
    return found


def matching_choice(problem: Problem, text: str) -> str | None:
    same = [choice for choice in problem.choices if choice.strip().lower() == text.strip().lower()]
    if not same:
        same = [choice for choice in problem.choices if stems(choice) == stems(text)]
    if not same:
        own = set(stems(text))
        same = [
            c for c in problem.choices if own and (own <= set(stems(c)) or set(stems(c)) <= own) and stems(c)
        ]
    return same[0] if len(same) == 1 else None


def yes_or_no(problem: Problem) -> tuple[str, str]:
    return choice_for(problem, "yes"), choice_for(problem, "no")
