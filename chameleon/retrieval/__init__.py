"""Finding documents: an index on disk (`build_index`, `Index`), and retrievers over it (`make_retriever`)."""
