"""Inventories: data, `<task>.yaml`; in `benchmarks/` those of methods that are measured; and the defaults."""

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


def first_rung(name: str) -> str | None:
    """Return the reader without a model that an inventory begins with, of the defaults; else None."""
    return dict(DEFAULTS.values()).get(name)
