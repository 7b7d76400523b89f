// The commands: paths in, rows out.
const { mkdtemp, readFile, rm, writeFile } = require("node:fs/promises");
const { tmpdir } = require("node:os");
const { isAbsolute, join, resolve } = require("node:path");
const { findBinary } = require("./binary.js");
const { ToolmarkError, run } = require("./run.js");

/** How wide the lines of a message are. */
const WIDTH = 88;

const FORMATS = {
  openai: "openai-chat",
  "openai-responses": "openai-responses",
  anthropic: "anthropic-messages",
  langchain: "langchain",
};

const list = (value) => (value === undefined ? [] : Array.isArray(value) ? value : [value]);
const option = (name, value) => (value === undefined ? [] : [`${name}=${value}`]);
const each = (name, values) => list(values).map((value) => `${name}=${value}`);
const names = (paths) => list(paths).map((path) => (path.startsWith("-") ? join(".", path) : path));

function shared(paths, options) {
  return [
    ...(paths === undefined ? [] : names(paths)),
    ...option("--as", options.format),
    ...option("--jobs", options.jobs),
    ...option("--files-from", options.filesFrom),
    ...option("--shard", options.shard),
    ...list(options.options),
  ];
}

/** JSON lines as rows: those of one type, and the last line apart. */
function rowsOf(finished, type, last, unread = "throw") {
  const lines = finished.stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const summary = lines.find((line) => line.type === last) ?? {};
  const rows = lines.filter((line) => line.type === type);
  const { diagnostics } = finished;
  const result = { rows, summary, verdict: summary.verdict, diagnostics };
  if (diagnostics.length > 0 && unread === "throw") {
    throw new ToolmarkError(finished.stderr.trim(), diagnostics, result);
  }
  return result;
}

/** Finds what was wrong with the tool calls of sessions. */
async function check(paths, options = {}) {
  const args = ["check", ...shared(paths, options), "--format=jsonl"];
  args.push(...each("--select", options.select), ...each("--ignore", options.ignore));
  args.push(...each("--gate", options.gate), ...option("--baseline", options.baseline));
  const { rows, ...rest } = rowsOf(await run(args), "finding", "scorecard", options.unread);
  return { findings: rows, ...rest };
}

/** Grades traces against a spec: a file, or what would be in one. */
async function grade(spec, paths, options = {}) {
  return inDirectory(async (directory) => {
    const file = await specFile(spec, directory);
    const args = ["grade", file, ...shared(paths, options), "--format=jsonl"];
    args.push(...option("--profile", options.profile), ...option("--threshold", options.threshold));
    args.push(...each("--case", options.case), ...(options.judge ? [] : ["--no-judge"]));
    const { rows, ...rest } = rowsOf(await run(args), "outcome", "summary", options.unread);
    return { outcomes: rows, ...rest };
  });
}

/**
 * Grades one trace, or messages in memory. `text` is the alignment of what was expected with
 * what was done.
 */
async function gradeTrace(trace, expect, options = {}) {
  return inDirectory(async (directory) => {
    const wanted = Array.isArray(expect) ? { sequence: expect } : expect;
    const spec = options.spec ?? { ...(wanted && { expect: wanted }), graders: options.graders };
    if (!options.spec && !wanted && !options.graders) {
      throw new TypeError("nothing is expected: name expect, graders or a spec");
    }
    const args = ["grade", await specFile(spec, directory), "--color=never"];
    if (typeof trace === "string") {
      args.push(resolve(trace), ...option("--as", options.format));
    } else {
      await writeFile(join(directory, "messages.json"), JSON.stringify(trace));
      const format = options.format && FORMATS[options.format];
      if (options.format && !format) {
        throw new TypeError(`format is ${options.format}; expected one of ${Object.keys(FORMATS)}`);
      }
      args.push("messages.json", ...option("--as", format));
    }
    args.push("--report=json=report.json", ...option("--threshold", options.threshold));
    args.push(...option("--profile", options.profile), ...(options.judge ? [] : ["--no-judge"]));
    const finished = await run(args, { cwd: directory, width: WIDTH });
    const report = JSON.parse(await readFile(join(directory, "report.json"), "utf8"));
    const verdict = report.summary.verdict;
    if (verdict === "pass" && finished.diagnostics.length > 0) {
      // A pass over what was not read as a whole is none.
      throw new ToolmarkError(finished.stderr.trim(), finished.diagnostics, report);
    }
    return { verdict, outcomes: report.outcomes, text: finished.stdout.trim() };
  });
}

async function inDirectory(work) {
  const directory = await mkdtemp(join(tmpdir(), "toolmark-"));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function specFile(spec, directory) {
  if (typeof spec === "string") return isAbsolute(spec) ? spec : resolve(spec);
  // YAML takes JSON as it is.
  await writeFile(join(directory, "expected.yaml"), JSON.stringify(spec));
  return join(directory, "expected.yaml");
}

module.exports = { ToolmarkError, check, findBinary, grade, gradeTrace };
