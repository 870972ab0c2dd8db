"""The core: state, modules, planners, prompts, and the log of a run."""
