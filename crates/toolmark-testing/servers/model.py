"""A stand-in for a model's HTTP API, for end-to-end tests of hooks.

Speaks just enough of Anthropic Messages, OpenAI Responses, OpenAI Chat
Completions and Gemini generateContent (all streaming) for a coding agent to
hold a conversation with it. The conversation is scripted: the n-th request for
a turn is answered with the n-th step of the script, where n is the number of
tool results the request already carries, so nothing depends on the order in
which an agent sends its side requests. Every tool result that comes back is
written to the record, one JSON object a line.

usage: model.py SCRIPT.json RECORD.jsonl PORT_FILE

A step is {"run": "shell command"}, {"mcp": ["server", "tool"], "input": {}}, or
{"call": "Tool", "input": {}} for a tool that only this agent has.
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DONE = "All steps were taken."
lock = threading.Lock()


def shell_call(names, command):
    """The name and arguments by which this agent runs a shell command."""
    if "Bash" in names:
        return "Bash", {"command": command, "description": "a step of the script"}
    if "exec_command" in names:
        return "exec_command", {"cmd": command}
    if "shell_command" in names:
        return "shell_command", {"command": command}
    if "run_shell_command" in names:
        return "run_shell_command", {"command": command, "description": "a step"}
    if "bash" in names:
        return "bash", {"command": command, "description": "a step", "mode": "sync"}
    if "shell" in names:
        return "shell", {"command": ["bash", "-lc", command]}
    return None


def mcp_call(names, server, tool, arguments):
    """MCP tools carry their server in the name, joined differently by each agent."""
    for name in names:
        if server in name and name.endswith(tool):
            return name, arguments
    return None


class Api(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def step(self, names, taken):
        """What to say next: (tool, arguments), or None when the script is over."""
        if taken >= len(self.server.script):
            return None
        step = self.server.script[taken]
        if "run" in step:
            call = shell_call(names, step["run"])
        elif "call" in step:
            call = step["call"], step.get("input", {})
        else:
            call = mcp_call(names, *step["mcp"], step.get("input", {}))
        if call is None:
            self.note({"missing": step, "tools": sorted(names)})
        return call

    def note(self, record):
        with lock, open(self.server.record, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def events(self, events):
        body = "".join(
            (f"event: {name}\n" if name else "") + f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
            for name, data in events
        ).encode()
        self.reply(body, "text/event-stream")

    def reply(self, body, kind="application/json", status=200):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_HEAD(self):
        self.reply(b"")

    def do_GET(self):
        if "models" in self.path:
            model = {"id": "stand-in", "slug": "stand-in", "object": "model"}
            return self.reply({"object": "list", "data": [model]})
        self.reply({})

    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        raw = self.rfile.read(length)
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        path = self.path.split("?")[0]
        if path.endswith("/count_tokens"):
            return self.reply({"input_tokens": 1})
        if path.endswith("/messages"):
            return self.anthropic_messages(body)
        if path.endswith("/responses"):
            return self.openai_responses(body)
        if path.endswith("/chat/completions"):
            return self.openai_chat(body)
        if "GenerateContent" in path or "generateContent" in path:
            return self.gemini(body, path)
        self.reply({})

    # Anthropic Messages

    def anthropic_messages(self, body):
        names = [tool.get("name", "") for tool in body.get("tools") or []]
        results = []
        for message in body.get("messages") or []:
            content = message.get("content")
            for block in content if isinstance(content, list) else []:
                if block.get("type") == "tool_result":
                    results.append(block)
        call = self.step(names, len(results)) if names else None
        if names:
            self.results([(r.get("tool_use_id"), r.get("content"), r.get("is_error")) for r in results])
        if call:
            block = {"type": "tool_use", "id": f"toolu_{len(results)}", "name": call[0], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
            reason = "tool_use"
        else:
            block = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": DONE}
            reason = "end_turn"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {
            "id": f"msg_{len(results)}", "type": "message", "role": "assistant", "content": [],
            "model": body.get("model", "stand-in"), "stop_reason": None, "stop_sequence": None, "usage": usage,
        }
        if not body.get("stream"):
            whole = {"type": "text", "text": DONE} if not call else {**block, "input": call[1]}
            return self.reply({**message, "content": [whole], "stop_reason": reason})
        self.events([
            ("message_start", {"type": "message_start", "message": message}),
            ("content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}),
            ("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}),
            ("content_block_stop", {"type": "content_block_stop", "index": 0}),
            ("message_delta", {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}),
            ("message_stop", {"type": "message_stop"}),
        ])

    # OpenAI Responses

    def openai_responses(self, body):
        names, namespaces = [], {}
        for tool in body.get("tools") or []:
            if tool.get("type") == "namespace":
                for inner in tool.get("tools") or []:
                    full = f"{tool.get('name')}{inner.get('name')}"
                    namespaces[full] = (tool.get("name"), inner.get("name"))
                    names.append(full)
            else:
                names.append(tool.get("name") or tool.get("type") or "")
        results = [
            item for item in body.get("input") or []
            if item.get("type") in ("function_call_output", "custom_tool_call_output", "mcp_tool_call_output")
        ]
        self.results([(r.get("call_id"), r.get("output"), None) for r in results])
        call = self.step(names, len(results)) if names else None
        if call:
            item = {
                "type": "function_call", "id": f"fc_{len(results)}", "call_id": f"call_{len(results)}",
                "name": call[0], "arguments": json.dumps(call[1]), "status": "completed",
            }
            if call[0] in namespaces:
                item["namespace"], item["name"] = namespaces[call[0]]
        else:
            item = {
                "type": "message", "id": "msg_end", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": DONE, "annotations": []}],
            }
        usage = {
            "input_tokens": 1, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2,
        }
        response = {"id": f"resp_{len(results)}", "object": "response", "output": [], "status": "in_progress"}
        whole = {**response, "output": [item], "status": "completed", "usage": usage}
        if not body.get("stream"):
            return self.reply(whole)
        self.events([
            ("response.created", {"type": "response.created", "response": response}),
            ("response.output_item.added", {"type": "response.output_item.added", "output_index": 0, "item": item}),
            ("response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}),
            ("response.completed", {"type": "response.completed", "response": whole}),
        ])

    # OpenAI Chat Completions

    def openai_chat(self, body):
        names = [(tool.get("function") or {}).get("name", "") for tool in body.get("tools") or []]
        results = [message for message in body.get("messages") or [] if message.get("role") == "tool"]
        self.results([(r.get("tool_call_id"), r.get("content"), None) for r in results])
        call = self.step(names, len(results)) if names else None
        head = {"id": f"chat_{len(results)}", "created": 0, "model": body.get("model", "stand-in")}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            tool = {"index": 0, "id": f"call_{len(results)}", "type": "function", "function": function}
            delta, reason = {"role": "assistant", "content": None, "tool_calls": [tool]}, "tool_calls"
        else:
            delta, reason = {"role": "assistant", "content": DONE}, "stop"
        if not body.get("stream"):
            choice = {"index": 0, "message": delta, "finish_reason": reason}
            return self.reply({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
        chunk = {**head, "object": "chat.completion.chunk"}
        self.events([
            (None, {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}),
            (None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}),
            (None, "[DONE]"),
        ])

    # Gemini generateContent

    def gemini(self, body, path):
        names = [
            declared.get("name", "")
            for tool in body.get("tools") or []
            for declared in tool.get("functionDeclarations") or []
        ]
        results = [
            part["functionResponse"]
            for content in body.get("contents") or []
            for part in content.get("parts") or []
            if "functionResponse" in part
        ]
        self.results([(r.get("id"), r.get("response"), None) for r in results])
        call = self.step(names, len(results)) if names else None
        if call:
            part = {"functionCall": {"id": f"call_{len(results)}", "name": call[0], "args": call[1]}}
        else:
            part = {"text": DONE}
        answer = {
            "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
            "modelVersion": "stand-in", "responseId": f"r{len(results)}",
        }
        if "stream" in path:
            return self.events([(None, answer)])
        self.reply(answer)

    def results(self, results):
        """Write each tool result once, in the order of the script."""
        for index, (call, content, failed) in enumerate(results):
            with lock:
                if index < self.server.seen:
                    continue
                self.server.seen = index + 1
            text = content if isinstance(content, str) else json.dumps(content)
            self.note({"step": index, "call": call, "failed": failed, "text": text})


def main():
    script, record, port_file = sys.argv[1:4]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    with open(script, encoding="utf-8") as file:
        server.script = json.load(file)
    server.record, server.seen = record, 0
    with open(port_file + ".part", "w", encoding="utf-8") as file:
        file.write(str(server.server_address[1]))
    os.replace(port_file + ".part", port_file)
    server.serve_forever()


main()
