"""A server made with the official SDK, of its newest revision: over pipes, or over HTTP at a port."""

import asyncio
import sys

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel


class Weather(BaseModel):
    sky: str
    temp: float


server = MCPServer("weather")


@server.tool()
def weather(city: str, days: int = 1) -> Weather:
    """Tells the weather in a city."""
    return Weather(sky="rain", temp={"Oslo": 4, "Rome": 19}[city])


@server.tool()
def echo(text: str) -> str:
    """Says a text again."""
    return text


class Name(BaseModel):
    name: str


@server.tool()
async def ask(context: Context) -> str:
    """Asks a person for a name."""
    return str(await context.elicit("Who are you?", Name))


noted = [""]


@server.tool()
async def note(text: str) -> str:
    """Takes a note, and its time."""
    await asyncio.sleep(0.2)
    noted[0] = text
    return text


@server.tool()
async def read_note() -> str:
    """Reads the note."""
    return noted[0]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run(transport="streamable-http", port=int(sys.argv[1]))
    else:
        server.run()
