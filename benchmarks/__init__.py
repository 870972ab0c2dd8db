"""The benchmarks, one file each; the scorers, which several share, are in `scorers/`."""
