"""Search for documents: an index on disk (`build_index`, `Index`), and its retrievers (`make_retriever`)."""
