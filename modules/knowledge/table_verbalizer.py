"""Say in sentences what a table shows (Chameleon, section 4.2)."""

from __future__ import annotations

from chameleon import LLMModule


class TableVerbalizer(LLMModule):
    """Describes the table in sentences. For tables that are hard to read, such as stem-and-leaf plots."""

    prompt = "tabmwp/table_verbalizer"
    reads = ("input.question?", "input.table")
    writes = ("cache.table_description",)
    takes_cut_off = True
