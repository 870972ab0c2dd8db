"""Answer with a program or with step-by-step reasoning (Chameleon; program of thought; chain of thought)."""

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
