"""Call the served inventory by LangChain's adapters: `python langchain_client.py CALLS COMMAND…`."""

import asyncio
import json
import os
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient


async def main(calls, command, *arguments):
    connection = {"transport": "stdio", "command": command, "args": arguments, "env": dict(os.environ)}
    client = MultiServerMCPClient({"chameleon": connection})
    (tool,) = await client.get_tools()
    for given in json.loads(calls):
        call = {"type": "tool_call", "id": "1", "name": tool.name, "args": given}
        message = await tool.ainvoke(call)
        text = message.content if isinstance(message.content, str) else message.content[0]["text"]
        structured = (message.artifact or {}).get("structured_content") or {}
        print(json.dumps({"tool": tool.name, "text": text, "answer": structured.get("answer")}))


asyncio.run(main(*sys.argv[1:]))
