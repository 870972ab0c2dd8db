"""Clients and servers of other projects: MCP, LangChain."""
