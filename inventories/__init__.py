"""Inventories: data, `<task>.yaml`; and which of them answers where none is named."""

if __name__ == "inventories":  # under this name every class here would exist twice
    raise ImportError(
        "import chameleon.inventories, not inventories: the folder is a part of the package chameleon"
    )

DEFAULTS = {
    "index": ("corpus", "corpus_offline"),
    "table": ("tables_first", "tables_offline"),
    "image": ("pictures", "pictures_offline"),
    "passages": ("papers", "papers_offline"),
    "text": ("pictures", "pictures_offline"),
}
"""What a question comes with, the first that it has, and what answers it: with a model, and without."""

FOR_YOUR_FILES = (
    *("tables_first", "tables", "tables_offline", "tables_agent", "tables_replanning"),
    *("code_interpreter", "chain_of_table_extended", "corpus", "corpus_offline", "papers", "papers_offline"),
    *("pictures", "pictures_offline", "visual_question_answering"),
)
"""The inventories for tables, documents and pictures of your own; the others are methods to be measured."""
