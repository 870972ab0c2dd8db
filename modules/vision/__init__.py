"""How pictures are read and described: text engines, reading order, captioning models, batches."""
