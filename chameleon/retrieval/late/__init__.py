"""Late interaction: a vector for every token, compared token by token (Khattab and Zaharia, 2020)."""
