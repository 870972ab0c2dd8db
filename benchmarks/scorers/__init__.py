"""Official scoring rules, one file each; several benchmarks share them, oddities included."""
