"""Run a plan: decide the next step, run it, and ask for approval."""
