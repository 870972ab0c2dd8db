"""Questions about a page of a financial report, its text and its table (FinQA; RAG-CoT).

`report_retriever` keeps the sentences and rows that the question needs; `finqa_program_generator` writes a
program in FinQA's language, which `finqa_executor` runs; `report_answer` formats its value as the question
asks. Alternatively, `report_program_generator` writes Python, which `report_program_executor` runs in the
sandbox.

See docs/reports.md for examples.
"""

from chameleon.lazy import tools

TOOLS = {
    "finqa_executor": "report_programs",
    "finqa_program_generator": "report_programs",
    "report_answer": "report_answer",
    "report_program_executor": "report_programs",
    "report_program_generator": "report_programs",
    "report_retriever": "report_retriever",
}

__getattr__ = tools(__name__, TOOLS)
