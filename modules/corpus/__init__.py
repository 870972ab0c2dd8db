"""Choosing the table of an index to answer from, and saying which part of it the answer came from."""
