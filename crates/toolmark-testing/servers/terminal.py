"""Runs a program in a terminal of its own and answers its questions like a person.

usage: terminal.py SCREEN RECORD ROWS ANSWERS -- PROGRAM ARGS...

SCREEN gets what the program shows, as plain text. The program is ended when RECORD has
ROWS lines, or when it ends itself; with ROWS as `2+1`, also one answer must have been
given. ANSWERS is a JSON list of [text on the screen, keys]; each is given once, in any
order.
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

LIMIT = 45.0
CONTROL = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[\[(][0-9;?<>=]*[ -/]*[@-~]|\x1b[=>78]")


def main():
    screen_file, record, rows, answers = sys.argv[1:5]
    program = sys.argv[6:]
    rows, _, given = rows.partition("+")
    answers = [(text.replace(" ", ""), keys) for text, keys in json.loads(answers)]
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execvp(program[0], program)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    shown = b""
    seen = 0
    rest = len(answers) - int(given or 0)
    until = time.monotonic() + LIMIT
    while time.monotonic() < until and (count(record) < int(rows) or len(answers) > rest):
        readable, _, _ = select.select([terminal], [], [], 0.1)
        if readable:
            try:
                data = os.read(terminal, 65536)
            except OSError:
                break
            if not data:
                break
            reply(terminal, data)
            shown += data
        # Words are often placed one by one: blanks do not count.
        text = plain(shown)[seen:].replace(" ", "")
        for answer in answers:
            if answer[0] in text:
                time.sleep(0.5)
                os.write(terminal, answer[1].encode())
                answers.remove(answer)
                seen = len(plain(shown))
                break
    with open(screen_file, "w") as file:
        file.write(plain(shown))
    try:
        os.kill(pid, signal.SIGTERM)
        time.sleep(0.3)
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    os.waitpid(pid, 0)


def reply(terminal, data):
    """What a terminal says about itself when it is asked."""
    for question, answer in [
        (b"\x1b[6n", b"\x1b[1;1R"),
        (b"\x1b[c", b"\x1b[?62;c"),
        (b"\x1b[0c", b"\x1b[?62;c"),
        (b"\x1b[?u", b"\x1b[?0u"),
        (b"\x1b]11;?", b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
        (b"\x1b]10;?", b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\"),
    ]:
        if question in data:
            os.write(terminal, answer)


def plain(data):
    return CONTROL.sub(b"", data).decode("utf-8", "replace")


def count(path):
    try:
        with open(path) as file:
            return sum(1 for _ in file)
    except FileNotFoundError:
        return 0


main()
