"""The client over real sockets."""

from chameleon.llm import LLM
from tests.loopback import LoopbackServer


def test_asks_over_a_socket(loopback) -> None:
    server = loopback(lambda request: f"echo: {request['messages'][-1]['content']}")
    assert isinstance(server, LoopbackServer)
    assert LLM.connect("openai:local").ask("hello").text == "echo: hello"
