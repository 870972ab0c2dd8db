"""Evaluation: run an inventory over a benchmark's problems, resume, score, count and report."""
