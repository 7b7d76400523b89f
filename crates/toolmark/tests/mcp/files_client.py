"""Speaks to the file server of npm through the proxy: `files_client.py FOLDER PROXY…`."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main():
    folder, program, *args = sys.argv[1:]
    server = StdioServerParameters(command=program, args=args)
    async with Client(server, read_timeout_seconds=30) as client:
        tools = await client.list_tools()
        heard = {"tools": [tool.name for tool in tools.tools]}
        for name, tool, given in [
            ("read", "read_text_file", {"path": f"{folder}/a.txt"}),
            ("wrong", "read_text_file", {"path": 7}),
            ("edit", "edit_file", {"path": f"{folder}/a.txt", "edits": [{"oldText": "one"}]}),
            ("list", "list_directory", {"path": folder}),
        ]:
            result = await client.call_tool(tool, given)
            text = "".join(getattr(c, "text", "") for c in result.content)
            heard[name] = {"error": bool(result.is_error), "text": text}
    print(json.dumps(heard))


asyncio.run(main())
