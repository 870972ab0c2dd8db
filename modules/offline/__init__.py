"""Answer without a model: one reader of questions over tables, an index, and labels in a text."""

TOOLS = ("table_reader", "index_reader", "label_reader")
