"""The tools: one file each, here or in one of the `FOLDERS`; the other folders hold parts of tools."""

FOLDERS = ("dater", "reports", "statutes", "table_ops", "tablerag")

if __name__ == "modules":  # under this name every class here would exist twice
    raise ImportError("import chameleon.modules, not modules: the folder is a part of the package chameleon")
