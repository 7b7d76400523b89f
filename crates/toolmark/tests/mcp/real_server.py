"""A server made with the official SDK: `real_server.py stdio|PORT`."""

import sys

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("real", instructions="Adds numbers.")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def run_command(command: str) -> str:
    """Pretends to run a command."""
    return f"ran {command}"


@server.tool()
def leak() -> str:
    """Says what it should not."""
    return "the token is gh" + "p_" + "R7mK2vQ9xT4bN8cW5zL1jH6fD3sG0pYaUeXo"


@server.tool()
async def slow(steps: int, ctx: Context) -> str:
    """Works step by step."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps)
    return "done"


@server.resource("note://one")
def note() -> str:
    """A note."""
    return "a note"


@server.prompt()
def greet(name: str) -> str:
    """A greeting."""
    return f"Greet {name}."


if sys.argv[1] == "stdio":
    server.run("stdio")
else:
    server.run("streamable-http", port=int(sys.argv[1]), json_response=len(sys.argv) > 2)
