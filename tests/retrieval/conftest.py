"""The embeddings of the tests, by their name."""

from tests.retrieval.hashed import hashed as hashed
