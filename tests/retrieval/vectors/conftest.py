"""The embeddings of the tests, by their name."""

from tests.retrieval.vectors.hashed import hashed as hashed
