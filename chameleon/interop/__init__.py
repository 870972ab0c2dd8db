"""Integration with other projects: MCP, LangChain, OpenTelemetry, Inspect, Ray."""
