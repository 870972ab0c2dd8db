"""Official scoring rules, one file each, shared by the benchmarks.

Each reproduces the rule of the source that it names. The docstrings call some parts of a metric oddities:
published figures depend on them.
"""
