"""The planners, one file each; `shortlist` is shared by all that show a model an inventory."""

TOOLS = ("branch", "cascade", "dynamic", "fixed", "one_shot", "react", "replanning", "rules", "then")
