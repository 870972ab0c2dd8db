"""Call the served inventory by a tool of smolagents: `python smolagents_client.py CALLS COMMAND…`."""

import json
import os
import sys

from mcp import StdioServerParameters
from smolagents import ToolCollection


def main(calls, command, *arguments):
    server = StdioServerParameters(command=command, args=list(arguments), env=dict(os.environ))
    with ToolCollection.from_mcp(server, trust_remote_code=True, structured_output=True) as found:
        (tool,) = found.tools
        for given in json.loads(calls):
            try:
                result = tool(**given)
            except Exception as problem:
                result = str(problem)
            answer = result.get("answer") if isinstance(result, dict) else None
            print(json.dumps({"tool": tool.name, "text": answer or str(result), "answer": answer}))


main(*sys.argv[1:])
