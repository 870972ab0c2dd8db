"""The halves of FinQA's files that docs/reports.md has figures of, by the order of the questions in a file.

The weights of `ranking` were fitted to all of `train_100` and to the first half of `dev_200`, and to no
question of its second half.
"""

from __future__ import annotations

FIRST, SECOND = slice(0, None, 2), slice(1, None, 2)
"""Every other question, beginning with the first, and with the second."""
