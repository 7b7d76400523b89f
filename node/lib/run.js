// Runs the binary, and turns what it says into errors.
const { spawn } = require("node:child_process");
const { findBinary } = require("./binary.js");

/** The command could not do its work; `diagnostics` says why. */
class ToolmarkError extends Error {
  constructor(message, diagnostics = [], result = undefined) {
    super(message);
    this.name = "ToolmarkError";
    this.diagnostics = diagnostics;
    this.result = result;
  }
}

const START = /^(error|skipped)(?:\[[^\]]*\])?: (.*)$/;
const PLACE = /^(.+?):(\d+):(\d+): (.*)$/s;

/** What the binary reported on standard error. */
function parseDiagnostics(stderr) {
  const found = [];
  for (const line of stderr.split("\n")) {
    const start = START.exec(line);
    if (start) {
      const [, severity, message] = start;
      const place = PLACE.exec(message);
      found.push(
        place
          ? { severity, message: place[4], file: place[1], line: +place[2], column: +place[3] }
          : { severity, message },
      );
    }
  }
  return found;
}

/** Runs the binary. Exit code 2, and every one that is not documented, throw. */
function run(args, { input, cwd, width } = {}) {
  return new Promise((resolve, reject) => {
    const env = width === undefined ? process.env : { ...process.env, COLUMNS: String(width) };
    const child = spawn(findBinary(), args, { cwd, env, stdio: "pipe" });
    const [out, err] = [[], []];
    child.stdout.on("data", (bytes) => out.push(bytes));
    child.stderr.on("data", (bytes) => err.push(bytes));
    // The binary may end before it has read everything.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      const stdout = Buffer.concat(out).toString("utf8");
      const stderr = Buffer.concat(err).toString("utf8");
      const diagnostics = parseDiagnostics(stderr);
      const isDone = code === 0 || code === 1 || (code === 3 && stdout !== "");
      if (isDone) resolve({ code, stdout, stderr, diagnostics });
      else
        reject(
          new ToolmarkError(stderr.trim() || `toolmark ended with ${code ?? signal}`, diagnostics),
        );
    });
  });
}

module.exports = { ToolmarkError, parseDiagnostics, run };
