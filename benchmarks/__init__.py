"""The benchmarks: one file each; scorers, which several share, lie in `scorers/`."""

if __name__ == "benchmarks":  # under this name every class here would exist twice
    raise ImportError(
        "import chameleon.benchmarks, not benchmarks: the folder is a part of the package chameleon"
    )
