"""A small server of the Model Context Protocol, made with the SDK: one tool that adds. Run by itself, over stdio."""

from mcp.server.mcpserver import MCPServer

server = MCPServer("adder")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two whole numbers."""
    return a + b


if __name__ == "__main__":
    server.run("stdio")
