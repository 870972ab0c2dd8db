"""The planners: one file each."""

if __name__ == "planners":  # under this name every class here would exist twice
    raise ImportError(
        "import chameleon.planners, not planners: the folder is a part of the package chameleon"
    )
