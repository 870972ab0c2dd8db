"""The tools: one file each."""

if __name__ == "modules":  # under this name every class here would exist twice
    raise ImportError("import chameleon.modules, not modules: the folder is a part of the package chameleon")
