"""Official scoring rules, one file each; several benchmarks share them.

Each reproduces the rule of the source that it names. What a docstring calls an oddity is a part of the
metric: published figures depend on it.
"""
