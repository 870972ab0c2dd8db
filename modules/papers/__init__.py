"""Passages of a user's own papers: finding those that a question needs, and saying which were used."""
