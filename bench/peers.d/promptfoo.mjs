// promptfoo's own assertions, in process. They compare names; arguments are another assertion.
import { readFileSync } from "node:fs";
import promptfoo from "promptfoo";

const rows = () =>
  readFileSync(`${process.argv[2]}/cases.jsonl`, "utf8").trim().split("\n").map((line) => JSON.parse(line));
const version = JSON.parse(readFileSync("node_modules/promptfoo/package.json", "utf8")).version;
const cpu = () => process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6;

for (const mode of ["exact", "in_order"]) {
  const start = cpu();
  const cases = rows();
  let passed = 0;
  for (const row of cases) {
    const spans = row.actual.map((call, n) => ({
      spanId: `s${n}`,
      name: "tool",
      startTime: n * 10,
      endTime: n * 10 + 5,
      attributes: { "tool.name": call.name, "tool.arguments": JSON.stringify(call.args) },
    }));
    const result = await promptfoo.assertions.runAssertion({
      assertion: { type: "trajectory:tool-sequence", value: { mode, steps: row.expected.map((call) => call.name) } },
      test: { vars: {} },
      providerResponse: { output: "done" },
      traceId: row.id,
      traceData: { traceId: row.id, spans },
    });
    passed += result.pass ? 1 : 0;
  }
  const peak = process.resourceUsage().maxRSS / 1024;
  const seconds = cpu() - start;
  console.log(JSON.stringify({ peer: "promptfoo", version, note: "names only", mode, per_second: cases.length / seconds, passed, peak_mb: peak }));
}
process.exit(0);
