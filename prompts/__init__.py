"""Prompt files: data, `<task>/<module>.md`."""

if __name__ == "prompts":  # under this name every class here would exist twice
    raise ImportError("import chameleon.prompts, not prompts: the folder is a part of the package chameleon")
