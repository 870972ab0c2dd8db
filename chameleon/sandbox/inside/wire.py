"""What both ends of a child's socket agree on.

The parent sends length, JSON and a nonce; the child answers with the nonce, length and JSON.
"""

LENGTH = 4
NONCE = 16

# Exit codes of a child that could not tell its end by a frame.
BROKEN, UNSEALED, EXHAUSTED = 1, 97, 98
