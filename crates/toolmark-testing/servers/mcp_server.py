"""A tiny MCP server over stdio with two tools, for end-to-end tests of hooks.

Each call of a tool is written to the file named by the first argument, so that
a test can tell whether the call reached the server at all.
"""

import json
import sys

TOOLS = [
    {"name": name, "description": f"the tool {name}", "inputSchema": {"type": "object", "properties": {"key": {"type": "string"}}}}
    for name in ("wipe", "look")
]


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "records", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        with open(sys.argv[1], "a", encoding="utf-8") as file:
            file.write(params.get("name", "") + "\n")
        return {"content": [{"type": "text", "text": "called " + params.get("name", "")}]}
    return {}


for line in sys.stdin:
    try:
        request = json.loads(line)
    except ValueError:
        continue
    if "id" in request and "method" in request:
        result = answer(request["method"], request.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
