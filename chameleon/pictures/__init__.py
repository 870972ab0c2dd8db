"""Open pictures, bound their size, and read the text in them with an OCR engine."""
