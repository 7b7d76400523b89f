"""A client made with the official SDK: `real_client.py MODE PROXY…` speaks to
the proxy and prints what it heard as JSON."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult


def said(result):
    return {"error": bool(result.is_error), "text": "".join(getattr(c, "text", "") for c in result.content)}


async def main():
    mode, program, *args = sys.argv[1:]
    heard = {"progress": 0, "asked": []}
    answers = iter(["accept", "decline"])

    async def asked(context, params):
        heard["asked"].append(params.message)
        return ElicitResult(action=next(answers), content={})

    async def progressed(progress, total, message):
        heard["progress"] += 1

    server = StdioServerParameters(command=program, args=args)
    async with Client(server, mode=mode, elicitation_callback=asked, read_timeout_seconds=30) as client:
        heard["version"] = client.session.protocol_version
        tools = await client.list_tools()
        heard["tools"] = sorted(tool.name for tool in tools.tools)
        heard["sum"] = said(await client.call_tool("add", {"a": 2, "b": 3}))
        heard["wrong"] = said(await client.call_tool("add", {"a": "two", "b": 3}))
        heard["denied"] = said(await client.call_tool("run_command", {"command": "rm -rf ~"}))
        heard["fine"] = said(await client.call_tool("run_command", {"command": "ls"}))
        ask = {"command": "git push --force-with-lease"}
        heard["accepted"] = said(await client.call_tool("run_command", ask))
        heard["declined"] = said(await client.call_tool("run_command", ask))
        heard["leak"] = said(await client.call_tool("leak", {}))
        heard["slow"] = said(await client.call_tool("slow", {"steps": 3}, progress_callback=progressed))
        note = await client.read_resource("note://one")
        heard["note"] = note.contents[0].text
        prompt = await client.get_prompt("greet", {"name": "Ada"})
        heard["prompt"] = prompt.messages[0].content.text
        many = await asyncio.gather(*(client.call_tool("add", {"a": n, "b": 1}) for n in range(20)))
        heard["many"] = [said(result)["text"] for result in many]
    print(json.dumps(heard))


asyncio.run(main())
