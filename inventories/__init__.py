"""Inventories: data, `<task>.yaml`."""

if __name__ == "inventories":  # under this name every class here would exist twice
    raise ImportError(
        "import chameleon.inventories, not inventories: the folder is a part of the package chameleon"
    )
