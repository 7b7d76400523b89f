"""Writes made-up sessions of three agents: bench/sessions.py DIR [BYTES]

Claude Code, Codex and Copilot CLI in equal parts, until they make BYTES (6 MB by
default). An agent reads, edits, searches and runs commands in a small project; one
call in eight fails and is repeated, mended or left. Results are source code in JSON
strings, as in real sessions. The same arguments give the same bytes.
"""

import json
import random
import sys
from pathlib import Path

CALLS = 120
NAMES = "tide moon harbour buoy gauge signal depth chart anchor current pilot beacon".split()
COMMANDS = [
    "python -m pytest tests/test_{a}.py -x -q 2>&1 | tail -n 30",
    "cd src && ls -la {a} && git status --short",
    "git diff --stat HEAD~1 -- src/{a}.py | cat",
    "rg -n 'def {a}_[a-z]+' src tests --glob '!*.lock' | head -50",
    "for f in src/*.py; do python -m py_compile \"$f\" || echo \"bad: $f\"; done",
    "sed -n '{n},+40p' src/{a}/{b}.py",
    "mkdir -p build/{a} && cp src/{a}.py build/{a}/{b}.py && rm -f build/{a}/old-{n}.py",
    "find . -name '{a}*.py' -not -path './.venv/*' -exec wc -l {{}} +",
    "npm run test -- --filter={a} && npm run build",
    "curl -sS localhost:8080/{a}/{n} | jq '.items[] | .name'",
    "git add -A && git commit -m 'Read {a} in {b} before the {n}th call'",
    "cat <<'EOF' > notes/{a}.md\n# {a}\n{b} is read {n} times.\nEOF",
]
FAILURES = [
    "Traceback (most recent call last):\n  File \"src/{a}.py\", line {n}, in <module>\n    from {b} import gauge\nModuleNotFoundError: No module named '{b}'",
    "error: pathspec 'src/{a}/{b}.py' did not match any file(s) known to git",
    "FAILED tests/test_{a}.py::test_{b} - AssertionError: assert {n} == 0\n1 failed, 12 passed in 0.41s",
    "bash: {b}ctl: command not found",
    "src/{a}.py:{n}:5: error: Name \"{b}\" is not defined  [name-defined]",
]


def source(rng, lines):
    """Lines of code with the quotes, tabs and backslashes that code has."""
    out = []
    for number in range(1, lines + 1):
        a, b = rng.choice(NAMES), rng.choice(NAMES)
        out.append(
            rng.choice(
                [
                    f"def {a}_{b}(self, value: str = \"{b}\") -> dict[str, int]:",
                    f"    return {{\"{a}\": len(value), \"{b}\": {number}}}",
                    f"    # {a} is never larger than {b}: see the notes of the {number}th harbour",
                    f"    if re.match(r\"^{a}\\\\d+\\.{b}$\", value):",
                    f"\tlogger.info('{a} %s at %d', value, {number})",
                    "",
                ]
            )
        )
    return "\n".join(f"{n:>6}→{line}" for n, line in enumerate(out, 1))


def steps(rng):
    """What the agent does: (kind, arguments, result, whether it failed)."""
    for _ in range(CALLS):
        a, b, n = rng.choice(NAMES), rng.choice(NAMES), rng.randrange(1, 400)
        path = f"/home/mira/src/tidepool/src/{a}/{b}.py"
        failed = rng.random() < 0.125
        kind = rng.choices(["read", "edit", "search", "shell"], [30, 20, 10, 40])[0]
        if kind == "read":
            text = "File does not exist." if failed else source(rng, rng.randrange(20, 120))
            yield kind, {"path": path, "offset": n}, text, failed
        elif kind == "edit":
            text = "String to replace not found in file." if failed else f"The file {path} has been updated."
            yield kind, {"path": path, "old": source(rng, 3), "new": source(rng, 4)}, text, failed
        elif kind == "search":
            text = "" if failed else "\n".join(f"{path}:{rng.randrange(400)}:{source(rng, 1)}" for _ in range(12))
            yield kind, {"pattern": f"{a}_{b}", "path": "/home/mira/src/tidepool/src"}, text, False
        else:
            command = rng.choice(COMMANDS).format(a=a, b=b, n=n)
            text = rng.choice(FAILURES).format(a=a, b=b, n=n) if failed else source(rng, rng.randrange(2, 50))
            yield kind, {"command": command}, text, failed


def at(number, part=0):
    return f"2026-03-{16 + number // 1440 % 10:02}T{number // 60 % 24:02}:{number % 60:02}:{part:02}.000Z"


def claude_code(rng):
    session = f"00000000-0000-4000-8000-{rng.randrange(16**12):012x}"
    base = {"isSidechain": False, "userType": "external", "cwd": "/home/mira/src/tidepool", "sessionId": session, "version": "2.1.64", "gitBranch": "main"}
    yield {"parentUuid": None, **base, "type": "user", "uuid": f"{session}-0", "timestamp": at(0), "message": {"role": "user", "content": "The tide tables are wrong after midnight. Please find out why and mend it."}}
    tools = {"read": "Read", "edit": "Edit", "search": "Grep", "shell": "Bash"}
    keys = {"path": "file_path", "old": "old_string", "new": "new_string"}
    for n, (kind, args, text, failed) in enumerate(steps(rng), 1):
        args = {keys.get(k, k) if kind != "search" else k: v for k, v in args.items()}
        call = f"toolu_{session[-12:]}{n:04}"
        usage = {"input_tokens": 3, "cache_read_input_tokens": 16000 + n, "output_tokens": 90}
        message = {"model": "claude-sonnet-4-6", "id": f"msg_{session[-12:]}{n:04}", "type": "message", "role": "assistant", "content": [{"type": "tool_use", "id": call, "name": tools[kind], "input": args}], "stop_reason": None, "usage": usage}
        yield {"parentUuid": f"{session}-{n - 1}", **base, "type": "assistant", "uuid": f"{session}-{n}a", "timestamp": at(n), "message": message, "requestId": f"req_{n:06}"}
        result = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed}
        yield {"parentUuid": f"{session}-{n}a", **base, "type": "user", "uuid": f"{session}-{n}", "timestamp": at(n, 2), "message": {"role": "user", "content": [result]}, "toolUseResult": text}


def codex(rng):
    session = f"019cf2b1-0000-7000-8000-{rng.randrange(16**12):012x}"

    def record(n, kind, payload):
        return {"timestamp": at(n), "type": kind, "payload": payload}

    yield record(0, "session_meta", {"id": session, "timestamp": at(0), "cwd": "/home/mira/src/tidepool", "originator": "codex_cli_rs", "cli_version": "0.161.0", "source": "cli", "model_provider": "openai"})
    yield record(0, "turn_context", {"turn_id": "1", "cwd": "/home/mira/src/tidepool", "approval_policy": "on-request", "sandbox_policy": {"type": "workspace-write"}, "model": "gpt-5.4-codex"})
    yield record(0, "response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "The tide tables are wrong after midnight. Please find out why and mend it."}]})
    for n, (kind, args, text, failed) in enumerate(steps(rng), 1):
        call = f"call_{session[-12:]}{n:04}"
        if kind == "edit":
            old = "\n".join("-" + line for line in args["old"].splitlines())
            new = "\n".join("+" + line for line in args["new"].splitlines())
            patch = f"*** Begin Patch\n*** Update File: {args['path']}\n@@\n{old}\n{new}\n*** End Patch"
            yield record(n, "response_item", {"type": "custom_tool_call", "status": "completed", "call_id": call, "name": "apply_patch", "input": patch})
            output = json.dumps({"output": text, "metadata": {"exit_code": int(failed), "duration_seconds": 0.1}})
            yield record(n, "response_item", {"type": "custom_tool_call_output", "call_id": call, "output": output})
            continue
        command = {"read": "sed -n '{offset},+80p' {path}", "search": "rg -n '{pattern}' {path}", "shell": "{command}"}[kind].format(**args)
        yield record(n, "response_item", {"type": "function_call", "name": "exec_command", "arguments": json.dumps({"cmd": command, "workdir": "/home/mira/src/tidepool"}), "call_id": call})
        output = f"Chunk ID: {n:06x}\nWall time: 0.2 seconds\nProcess exited with code {int(failed)}\nOutput:\n{text}"
        yield record(n, "response_item", {"type": "function_call_output", "call_id": call, "output": output})
        usage = {"input_tokens": 16000 + n, "cached_input_tokens": 15000, "output_tokens": 90, "reasoning_output_tokens": 20, "total_tokens": 16090 + n}
        yield record(n, "event_msg", {"type": "token_count", "info": {"total_token_usage": usage, "last_token_usage": usage}})


def copilot_cli(rng):
    session = f"10000000-0000-4000-8000-{rng.randrange(16**12):012x}"
    tools = {"read": "view", "edit": "edit", "search": "grep", "shell": "bash"}
    keys = {"old": "old_str", "new": "new_str"}
    number = 0

    def record(n, kind, data):
        nonlocal number
        number += 1
        return {"type": kind, "data": data, "id": f"{session}-{number}", "timestamp": at(n), "parentId": f"{session}-{number - 1}"}

    yield record(0, "session.start", {"sessionId": session, "version": 1, "producer": "copilot-agent", "copilotVersion": "1.0.68", "startTime": at(0), "selectedModel": "gpt-5.4", "context": {"cwd": "/home/mira/src/tidepool", "gitRoot": "/home/mira/src/tidepool", "branch": "main"}})
    yield record(0, "user.message", {"content": "The tide tables are wrong after midnight. Please find out why and mend it.", "attachments": []})
    for n, (kind, args, text, failed) in enumerate(steps(rng), 1):
        args = {keys.get(k, k): v for k, v in args.items() if k != "offset"}
        call = f"call_{session[-12:]}{n:04}"
        yield record(n, "assistant.turn_start", {"turnId": str(n)})
        yield record(n, "assistant.message", {"messageId": f"m{n}", "model": "gpt-5.4", "content": "", "toolRequests": [{"toolCallId": call, "name": tools[kind], "arguments": args, "type": "function"}], "turnId": str(n), "outputTokens": 90})
        yield record(n, "tool.execution_start", {"toolCallId": call, "toolName": tools[kind], "arguments": args, "turnId": str(n)})
        done = {"toolCallId": call, "turnId": str(n), "success": not failed}
        if failed:
            done["error"] = {"message": text, "code": "failure"}
        else:
            done["result"] = {"content": text, "detailedContent": text}
        yield record(n, "tool.execution_complete", done)
        yield record(n, "assistant.turn_end", {"turnId": str(n)})


def main():
    directory = Path(sys.argv[1])
    want = int(sys.argv[2]) if len(sys.argv) > 2 else 6_000_000
    rng = random.Random(16)
    agents = [claude_code, codex, copilot_cli]
    written = number = 0
    while written < want:
        agent = agents[number % len(agents)]
        path = directory / agent.__name__ / f"{number:05}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n" for row in agent(rng))
        path.write_text(text)
        written += len(text.encode())
        number += 1


main()
