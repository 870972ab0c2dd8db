"""Tables: the immutable `Table`, typed cells, readers of files and text forms for prompts."""

from chameleon.table.table import Column, Row, Table
from chameleon.table.values import Kind, Value, read_value

__all__ = ["Column", "Kind", "Row", "Table", "Value", "read_value"]
