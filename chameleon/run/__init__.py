"""Running a plan: what comes next, step by step, and who approves it."""
