"""SQL over tables: how models are shown them, and Binder's programs, which ask a model from within SQL."""

TOOLS = (
    "binder_executor",
    "binder_generator",
    "binder_vote",
    "sql_executor",
    "sql_generator",
)
