"""Questions about a page of a financial report, its text and its table (FinQA; RAG-CoT).

`report_retriever` keeps the sentences and rows that the question needs; `finqa_program_generator` writes a
program of FinQA's language, which `finqa_executor` runs; `report_answer` gives its value as the question
wants it. In their place `report_program_generator` writes Python, which `report_program_executor` runs in
the sandbox.

docs/reports.md shows them.
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
