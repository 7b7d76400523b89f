"""What `bench/serve` sends and writes: spans in protobuf, sessions with failures, requests."""

import atexit
import http.client
import json
import os
import signal
import socket
import subprocess
import time

TRACE = bytes(range(0xA0, 0xB0))
SESSION = b"00000000-0000-4000-8000-000000000000"


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    """A field of a message: bytes and text with their length, whole numbers as they are."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def fixed64(number, value):
    return varint(number << 3 | 1) + value.to_bytes(8, "little")


def pair(key, value):
    return field(1, key) + field(2, field(1, value))


def span(number, is_root):
    """A span of a tool call, with the attributes that agents put there."""
    began = 1_794_835_500_000_000_000 + number * 1_000_000
    attributes = [
        ("session.id", SESSION.decode()),
        ("gen_ai.operation.name", "invoke_agent" if is_root else "execute_tool"),
        ("gen_ai.tool.name", ["Bash", "Read", "Edit", "Grep"][number % 4]),
        ("gen_ai.tool.call.id", f"call_{number:08}"),
        ("gen_ai.tool.call.arguments", json.dumps({"command": f"python -m pytest tests/test_{number}.py -x -q | tail -n 30"})),
        ("gen_ai.tool.call.result", f"{number} passed, 1 warning in 0.41s\n" * 8),
    ]
    body = field(1, TRACE) + field(2, (number + 1).to_bytes(8, "big"))
    if not is_root:
        body += field(4, (1).to_bytes(8, "big"))
    body += field(5, "invoke_agent" if is_root else "execute_tool") + field(6, 1)
    body += fixed64(7, began) + fixed64(8, began + 800_000)
    for key, value in attributes:
        body += field(9, pair(key, value))
    return body


def request(first, count, with_root):
    """A request of so many spans, of the trace TRACE and the session SESSION."""
    spans = b"".join(field(2, span(n, with_root and n == 0)) for n in range(first, first + count))
    resource = field(1, pair("service.name", "bench"))
    return field(1, field(1, resource) + field(2, field(1, field(1, "bench")) + spans))


def addressed(body, trace, session):
    """The same request for another trace and session."""
    return body.replace(TRACE, trace).replace(SESSION, session)


class Server:
    """`toolmark serve` on ports of its own."""

    def __init__(self, toolmark, folder, *args):
        self.db = os.path.join(folder, "serve.db")
        sessions = os.path.join(folder, "sessions")
        os.makedirs(sessions, exist_ok=True)
        command = [toolmark, "serve", "--quiet", "--db", self.db, "--watch", sessions, "--ui", "127.0.0.1:0",
                   "--http", "127.0.0.1:0", "--grpc", "off", "--runs", os.path.join(folder, "runs"), *args]
        environment = {**os.environ, "HOME": folder}
        began = time.monotonic()
        # Nothing is left running, whatever happens to the one who measures.
        atexit.register(self.kill)
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
        self.ui = self.process.stdout.readline().decode().strip().removeprefix("http://")
        self.started_after = time.monotonic() - began
        self.http = self.get("/api/v1/info")["receivers"]["http"]
        self.answered_after = time.monotonic() - began

    def get(self, path):
        return self.timed(path)[0]

    def timed(self, path):
        """An answer, and after how many seconds it was there."""
        began = time.monotonic()
        connection = http.client.HTTPConnection(self.ui, timeout=120)
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        took = time.monotonic() - began
        connection.close()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {body[:300]!r}")
        return json.loads(body), took

    def memory(self):
        """Megabytes now, and at most so far."""
        with open(f"/proc/{self.process.pid}/status") as status:
            lines = dict(line.split(":", 1) for line in status)
        return tuple(int(lines[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))

    def cpu(self):
        """Seconds of CPU that the server has used."""
        with open(f"/proc/{self.process.pid}/stat") as stat:
            words = stat.read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


class Sender:
    """One connection that stays open."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.address = address
        self.socket = socket.create_connection((host, int(port)), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, body):
        """Sends spans; the status of the answer, or 0 where there is none."""
        head = (f"POST /v1/traces HTTP/1.1\r\nHost: {self.address}\r\nContent-Type: application/x-protobuf\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode()
        try:
            self.socket.sendall(head + body)
            answer = b""
            while b"\r\n\r\n" not in answer:
                more = self.socket.recv(65536)
                if not more:
                    return 0
                answer += more
            head, rest = answer.split(b"\r\n\r\n", 1)
            length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
            while len(rest) < length:
                rest += self.socket.recv(65536)
            return int(head.split()[1])
        except OSError:
            return 0


WORDS = "tide moon harbour buoy gauge signal depth chart anchor current pilot beacon".split()
FAILURES = ["cannot open {a}", "{a}: command not found", "no such file or directory: {a}", "{a} timed out after 30 seconds",
            "permission denied while reading {a}", "unexpected token in {a}", "assertion failed: {a} is empty"]


def failing_session(number, calls):
    """A session of Claude Code in which every other call fails, one of many ways."""
    session = f"{number:08x}-0000-4000-8000-000000000000"
    base = {"parentUuid": None, "isSidechain": False, "cwd": f"/home/mira/src/project-{number % 7}", "sessionId": session, "version": f"2.1.{number % 9}"}
    day = f"2026-11-{1 + number % 17:02}"
    rows = [{**base, "type": "user", "uuid": "u0", "timestamp": f"{day}T08:00:00Z",
             "message": {"role": "user", "content": f"Mend the tide tables, attempt {number}."}}]
    for n in range(calls):
        stamp = f"{day}T{8 + n // 3600 % 12:02}:{n // 60 % 60:02}:{n % 60:02}Z"
        kind = (number * 31 + n) % (len(WORDS) * len(FAILURES))
        words = FAILURES[kind % len(FAILURES)].format(a=WORDS[kind // len(FAILURES)])
        call = {"type": "tool_use", "id": f"t{number}-{n}", "name": "Bash", "input": {"command": f"{WORDS[kind % 12]}ctl --check part-{n}"}}
        usage = {"input_tokens": 3, "output_tokens": 20}
        rows.append({**base, "type": "assistant", "uuid": f"a{n}", "timestamp": stamp,
                     "message": {"role": "assistant", "id": f"m{n}", "model": "claude-sonnet-4-6", "content": [call], "usage": usage}})
        failed = n % 2 == 0
        text = f"Exit code 1\nerror: {words}" if failed else "ok"
        result = {"type": "tool_result", "tool_use_id": f"t{number}-{n}", "is_error": failed, "content": text}
        rows.append({**base, "type": "user", "uuid": f"r{n}", "timestamp": stamp, "message": {"role": "user", "content": [result]}})
    return session, "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
