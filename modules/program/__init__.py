"""Answer by a program or in words, step by step (Chameleon; program of thought; chain of thought)."""

from chameleon.lazy import tools

TOOLS = {
    "answer_generator": "answer_generator",
    "program_executor": "programs",
    "program_generator": "programs",
    "program_verifier": "programs",
    "solution_generator": "solution_generator",
    "python": "interpreter",
    "table_answer": "programs",
}

__getattr__ = tools(__name__, TOOLS)
