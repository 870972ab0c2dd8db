"""Questions about a page of a financial report, its text and its table (FinQA; RAG-CoT).

`report_retriever` keeps the sentences and rows that the question needs. docs/reports.md shows it.
"""

TOOLS = ("report_retriever",)
