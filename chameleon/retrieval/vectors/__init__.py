"""Documents as vectors: kept by a store of vectors, found by their cosine with the query."""
