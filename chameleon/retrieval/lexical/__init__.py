"""Finding documents by their words: text as terms, the weights of a table's fields, and closer evidence."""
