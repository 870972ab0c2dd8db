"""What statements and questions say of a table, read by their words and without a model."""
