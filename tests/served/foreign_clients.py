"""Call the served inventory by another project's client: `python foreign_clients.py NAME CALLS COMMAND…`."""

import asyncio
import json
import os
import sys


def tell(tool, text, answer):
    print(json.dumps({"tool": tool, "text": text, "answer": answer}))


async def langchain(calls, command, arguments):
    """By LangChain's adapters."""
    from langchain_mcp_adapters.client import MultiServerMCPClient

    connection = {"transport": "stdio", "command": command, "args": arguments, "env": dict(os.environ)}
    (tool,) = await MultiServerMCPClient({"chameleon": connection}).get_tools()
    for given in calls:
        message = await tool.ainvoke({"type": "tool_call", "id": "1", "name": tool.name, "args": given})
        text = message.content if isinstance(message.content, str) else message.content[0]["text"]
        structured = (message.artifact or {}).get("structured_content") or {}
        tell(tool.name, text, structured.get("answer"))


async def pydantic_ai(calls, command, arguments):
    """By an agent of Pydantic AI."""
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    results = []

    def reply(messages, info):
        if len(messages) > 1:
            results.append(messages[-1].parts[-1].content)
        (tool,) = info.function_tools
        return ModelResponse(parts=[ToolCallPart(tool.name, calls.pop(0)) if calls else TextPart(tool.name)])

    toolset = MCPToolset(StdioTransport(command, arguments, env=dict(os.environ)))
    async with (agent := Agent(FunctionModel(reply), toolsets=[toolset])):
        ended = await agent.run("How many points?")
    for each in results:
        answer = each.get("answer") if isinstance(each, dict) else None
        tell(ended.output, answer or str(each), answer)


async def smolagents(calls, command, arguments):
    """By a tool of smolagents."""
    from mcp import StdioServerParameters
    from smolagents import ToolCollection

    server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    with ToolCollection.from_mcp(server, trust_remote_code=True, structured_output=True) as found:
        (tool,) = found.tools
        for given in calls:
            try:
                result = tool(**given)
            except Exception as problem:
                result = str(problem)
            answer = result.get("answer") if isinstance(result, dict) else None
            tell(tool.name, answer or str(result), answer)


name, calls, command, *arguments = sys.argv[1:]
asyncio.run(globals()[name](json.loads(calls), command, arguments))
