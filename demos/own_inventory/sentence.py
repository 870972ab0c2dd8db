"""The module that inventory.yaml names."""

from chameleon import Module


class Sentence(Module):
    """Says the answer in a sentence."""

    reads = ("cache.answer",)

    def __init__(self, opening: str = "The answer is"):
        self.opening = opening

    def run(self, state):
        return f"{self.opening} {state.cache['answer']}."
