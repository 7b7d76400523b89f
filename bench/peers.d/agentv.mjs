// AgentV's own grader class, in process.
import { readFileSync } from "node:fs";
import { ToolTrajectoryGrader } from "@agentv/core";

const rows = () =>
  readFileSync(`${process.argv[2]}/cases.jsonl`, "utf8").trim().split("\n").map((line) => JSON.parse(line));
const version = JSON.parse(readFileSync("node_modules/@agentv/core/package.json", "utf8")).version;
const cpu = () => process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6;

for (const [mode, word] of [["exact", "exact"], ["in_order", "in_order"], ["any_order", "superset"]]) {
  const start = cpu();
  const cases = rows();
  let passed = 0;
  for (const row of cases) {
    const expected = row.expected.map((call) => ({ tool: call.name, args: call.args }));
    const grader = new ToolTrajectoryGrader({ config: { name: "t", type: "tool-trajectory", mode: word, expected } });
    const output = [
      { role: "assistant", content: "done", toolCalls: row.actual.map((call) => ({ tool: call.name, input: call.args, output: call.output })) },
    ];
    const result = await grader.evaluate({ output, evalCase: { id: row.id }, candidate: "done", attempt: 0 });
    passed += result.score === 1 ? 1 : 0;
  }
  const peak = process.resourceUsage().maxRSS / 1024;
  console.log(JSON.stringify({ peer: "agentv", version, mode, per_second: cases.length / (cpu() - start), passed, peak_mb: peak }));
}
