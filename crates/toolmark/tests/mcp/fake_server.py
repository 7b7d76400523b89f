"""A server that behaves as it is told: `fake_server.py BEHAVIOUR`."""

import json
import os
import signal
import subprocess
import sys

behaviour = sys.argv[1] if len(sys.argv) > 1 else "good"
TOOLS = [
    {"name": "echo", "description": os.environ.get("ECHO_SAYS", "Says it again."),
     "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
]

if behaviour == "shop":
    BY_ORDER = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
    TOOLS = [{"name": name, "description": name, "inputSchema": BY_ORDER} for name in ("get_order", "exchange_items")]


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


print("the server is here", file=sys.stderr, flush=True)
if behaviour == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    helper = subprocess.Popen(
        [sys.executable, "-c", "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"],
        stdin=subprocess.DEVNULL)
    print(f"helper {helper.pid}", file=sys.stderr, flush=True)
if behaviour == "chatty":
    sys.stdout.write("Starting up…\n\n{not json\n")
    sys.stdout.flush()

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    method = message["method"]
    if method == "initialize":
        answer["result"] = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                            "serverInfo": {"name": "fake", "version": "0"}}
    elif method == "tools/list":
        answer["result"] = {"tools": TOOLS}
    elif method == "tools/call" and behaviour == "shop":
        order = message["params"]["arguments"]["order_id"]
        text = json.dumps({"order_id": order, "status": "pending" if order == "W1" else "delivered"})
        answer["result"] = {"content": [{"type": "text", "text": text}]}
    elif method == "tools/call":
        text = message["params"]["arguments"]["text"]
        if text == "die":
            os._exit(7)
        if text == "hang":
            continue
        if text == "huge":
            sys.stdout.write('{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' % json.dumps(message["id"]))
            for _ in range(70):
                sys.stdout.write("x" * (1 << 20))
            sys.stdout.write('"}]}}\n')
            sys.stdout.flush()
            continue
        if text == "large":
            text = "y" * (20 << 20)
        answer["result"] = {"content": [{"type": "text", "text": text}]}
    else:
        answer["error"] = {"code": -32601, "message": "no such method"}
    say(answer)

if behaviour == "stubborn":
    import time
    time.sleep(60)
