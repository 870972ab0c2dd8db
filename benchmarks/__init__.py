"""The benchmarks: one file each; scorers, which several share, lie in `scorers/`."""
