"""Call the served inventory by an agent of Pydantic AI: `python pydantic_ai_client.py CALLS COMMAND…`."""

import asyncio
import json
import os
import sys

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel


async def main(calls, command, *arguments):
    left, results = json.loads(calls), []

    def reply(messages, info):
        last = messages[-1].parts[-1]
        if len(messages) > 1:
            results.append(last.content)
        (tool,) = info.function_tools
        parts = [ToolCallPart(tool.name, left.pop(0)) if left else TextPart(tool.name)]
        return ModelResponse(parts=parts)

    toolset = MCPToolset(StdioTransport(command, list(arguments), env=dict(os.environ)))
    async with (agent := Agent(FunctionModel(reply), toolsets=[toolset])):
        ended = await agent.run("How many points?")
    for each in results:
        structured = each if isinstance(each, dict) else {}
        told = {"tool": ended.output, "text": str(each), "answer": structured.get("answer")}
        print(json.dumps({**told, "text": structured.get("answer", told["text"])}))


asyncio.run(main(*sys.argv[1:]))
