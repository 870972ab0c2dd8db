"""Helpers of the benchmarks over tables: reading rows and tables, sizes, and lengths of chains."""
