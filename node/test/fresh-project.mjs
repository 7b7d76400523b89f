// The packages, installed from tarballs into a project of its own, and used there by node,
// and with --with-peers by TypeScript, vitest and jest.
//
//     node test/fresh-project.mjs BINARY [--with-peers]
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const samples = resolve(here, "../../samples");
const work = mkdtempSync(join(tmpdir(), "toolmark-node-"));
const project = join(work, "project");
const { TOOLMARK_BINARY: _, ...env } = process.env;
const step = (name) => console.error(`${name} after ${Math.round(performance.now() / 1000)} s`);

function run(command, args, options = {}) {
  return execFileSync(command, args, { cwd: project, env, encoding: "utf8", ...options });
}

/** What a test runner says. */
function tested(...command) {
  const options = { cwd: project, env: { ...env, NO_COLOR: "1", CI: "1" }, encoding: "utf8" };
  const done = spawnSync("npx", ["--no-install", ...command], options);
  return done.stdout + done.stderr;
}

try {
  // A debug binary is large because of what a debugger wants to know.
  const binary = join(work, "toolmark");
  copyFileSync(process.argv[2], binary);
  spawnSync("strip", [binary]);
  const pack = [join(here, "../pack.mjs"), "--binary", binary, "--out", work];
  const tarballs = run(process.execPath, pack, { cwd: here }).trim().split("\n");
  assert.equal(tarballs.length, 2);

  mkdirSync(project);
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name: "fresh", type: "module", private: true }),
  );
  // The packages of other platforms are on no registry yet.
  const peers = process.argv.includes("--with-peers")
    ? ["vitest", "jest", "typescript", "@types/node"]
    : [];
  const install = [
    "install",
    "--silent",
    "--no-audit",
    "--no-fund",
    "--omit=optional",
    "--fetch-retries=1",
  ];
  step("install");
  run("npm", [...install, ...tarballs]);

  const version = JSON.parse(readFileSync(join(here, "../package.json"), "utf8")).version;
  assert.equal(run("npx", ["--no-install", "toolmark", "--version"]), `toolmark ${version}\n`);
  const failed = spawnSync("npx", ["--no-install", "toolmark", "check", samples], {
    cwd: project,
    env,
  });
  assert.equal(failed.status, 1, "the exit code is that of the binary");

  writeFileSync(
    join(project, "use.mjs"),
    `import assert from "node:assert/strict";
import { check, findBinary, grade, gradeTrace, ToolmarkError } from "toolmark";
import { matchers } from "toolmark/matchers";

const samples = process.argv[2];
assert.match(findBinary(), /node_modules/);
const checked = await check(samples, { select: "I" });
assert.equal(checked.verdict, "fail");
assert.equal(checked.findings[0].code, "I301");
const graded = await grade(samples + "/toolmark.yaml", samples);
assert.deepEqual(graded.outcomes.map((one) => one.verdict), ["fail", "pass", "pass"]);
await assert.rejects(check(samples, { options: ["--nope"] }), ToolmarkError);
await assert.rejects(check(samples + "/none.jsonl"), /no such file/);
const messages = [
  { role: "user", content: "Refund order 7" },
  { role: "assistant", tool_calls: [
    { id: "1", type: "function", function: { name: "refund", arguments: '{"order": 7}' } }] },
  { role: "tool", tool_call_id: "1", content: "refunded" },
];
assert.equal((await gradeTrace(messages, ["refund"])).verdict, "pass");
const { verdict, text } = await gradeTrace(messages, ["find_order", "refund"], { format: "openai" });
assert.equal(verdict, "fail");
assert.match(text, /− \`find_order\`/);
await assert.rejects(gradeTrace(messages), /nothing is expected/);
const matched = await matchers.toHaveTrajectory.call({ isNot: false }, messages, ["find_order"]);
assert.equal(matched.pass, false);
assert.match(matched.message(), /first divergence/);
// What nobody can tell fails both ways.
const judged = { graders: [{ type: "prompt", config: { prompt: "Was it polite?" } }] };
for (const isNot of [false, true]) {
  const { pass } = await matchers.toHaveTrajectory.call({ isNot }, messages, undefined, judged);
  assert.equal(pass, isNot);
}
`,
  );
  step("use");
  run(process.execPath, ["use.mjs", samples]);
  const required =
    'require("toolmark").check(process.argv[1]).then((one) => console.log(one.verdict))';
  assert.equal(run(process.execPath, ["--input-type=commonjs", "-e", required, samples]), "fail\n");

  if (peers.length > 0) {
    step("install vitest, jest");
    // Its own optional dependencies are wanted.
    run("npm", install.filter((word) => word !== "--omit=optional").concat(peers));
    step("vitest");
    writeFileSync(
      join(project, "agent.test.ts"),
      `import { expect, test } from "vitest";
import { check, type Finding } from "toolmark";
import { matchers } from "toolmark/matchers";

expect.extend(matchers);
const trace = ${JSON.stringify(join(samples, "claude-code/flaky-test.jsonl"))};

test("passes", async () => {
  await expect(trace).toHaveTrajectory(["Read", "Edit", "Bash"]);
  await expect(trace).not.toHaveTrajectory(["Write"]);
  const findings: Finding[] = (await check(trace)).findings;
  expect(findings).toEqual([]);
});

test("fails with the alignment", async () => {
  await expect(trace).toHaveTrajectory(["Write"]);
});
`,
    );
    const vitest = tested("vitest", "run", "--reporter=verbose", "--testTimeout=120000");
    assert.match(vitest, /1 failed \| 1 passed/, vitest);
    assert.match(vitest, /− `Write`/, vitest);
    const options = [
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "--module",
      "nodenext",
      "--target",
      "es2022",
    ];
    run("npx", ["--no-install", "tsc", ...options, "agent.test.ts"], {
      stdio: ["ignore", "inherit", "inherit"],
    });

    step("jest");
    // As it is without any settings: CommonJS, and matchers that register themselves.
    writeFileSync(
      join(project, "agent.spec.cjs"),
      `require("toolmark/matchers");
const trace = ${JSON.stringify(join(samples, "claude-code/flaky-test.jsonl"))};

test("passes", async () => {
  await expect(trace).toHaveTrajectory(["Read", "Edit", "Bash"]);
  await expect(trace).not.toHaveTrajectory(["Write"]);
});

test("fails with the alignment", async () => {
  await expect(trace).toHaveTrajectory(["Write"]);
});
`,
    );
    const jest = tested("jest", "--testTimeout=120000", "--testMatch=**/*.spec.cjs");
    assert.match(jest, /1 failed, 1 passed/, jest);
    assert.match(jest, /− `Write`/, jest);
  }
  console.log(`ok: node${peers.length > 0 ? ", vitest, TypeScript, jest" : ""}`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
