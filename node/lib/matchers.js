// A matcher for vitest and jest:
//
//     import "toolmark/matchers";
//     await expect(messages).toHaveTrajectory(["find_order", "refund"]);
const { gradeTrace } = require("./index.js");

/** Matchers, for `expect.extend`. */
const matchers = {
  async toHaveTrajectory(trace, expected, options) {
    const { verdict, text } = await gradeTrace(trace, expected, options);
    // Unknown is neither a pass nor a failure: it fails both ways.
    const pass = this.isNot ? verdict !== "fail" : verdict === "pass";
    const said = verdict === "unknown" ? "the verdict is unknown" : `the verdict is ${verdict}`;
    return { pass, message: () => `${said}\n\n${text}` };
  },
};

if (typeof globalThis.expect?.extend === "function") {
  globalThis.expect.extend(matchers);
}

module.exports = { matchers };
