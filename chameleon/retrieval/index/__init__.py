"""Documents on disk, searchable: built in pieces, resumed after a crash, added to, and opened at once."""

from chameleon.retrieval.index.index import Index as Index
