"""The embeddings of the tests, by their names."""

from tests.retrieval.hashed import by_name as by_name
from tests.retrieval.hashed import hashed as hashed
