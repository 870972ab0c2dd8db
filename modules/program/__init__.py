"""Answer by a program or in words, step by step (Chameleon; program of thought; chain of thought)."""

TOOLS = (
    "answer_generator",
    "program_executor",
    "program_generator",
    "program_verifier",
    "solution_generator",
    "table_answer",
)
