"""The planners: one file each; `shortlist` is what those share that show a model an inventory."""

TOOLS = ("branch", "cascade", "dynamic", "fixed", "one_shot", "react", "replanning", "rules", "then")
