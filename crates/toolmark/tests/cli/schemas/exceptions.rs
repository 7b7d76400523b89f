//! Exceptions of the schema tests: untyped values, and members that the tested commands do not
//! print, each with the reason.

/// Commands whose JSON is tested elsewhere: `calibrate` needs a judge (`tests/judge.rs`).
pub(super) const ELSEWHERE: &[&[&str]] = &[&["judge", "calibrate"], &["guard", "log", "export"]];

/// Members that another schema describes: schema, member, the other schema and the pointer in it.
pub(super) const OTHER_SCHEMA: &[(&str, &str, &str)] = &[
    ("grade", "/properties/check", "check"),
    ("grade", "/properties/comparison", "compare"),
    ("grade", "/$defs/outcome/properties/trace", "trajectory"),
    ("runs", "/$defs/trial/properties/outcome", "grade#/$defs/outcome"),
    ("runs", "/$defs/summary/properties/summary", "grade#/properties/summary"),
];

/// Untyped values.
pub(super) const ANYTHING: &[(&str, &str, &str)] = &[
    ("grade", "/$defs/grader/properties/metrics", "each grader has its own; its page lists them"),
    ("grade", "/properties/summary/properties/aggregates", "as the system of the spec names them"),
    (
        "feed",
        "/$defs/issue/properties/case",
        "a grader, as `toolmark schema toolmark` describes it",
    ),
    ("graders", "/items/properties/schema", "a JSON Schema"),
    (
        "guard-permissions",
        "/properties/guard",
        "a policy, as `toolmark schema toolmark` describes it",
    ),
    ("guard-test", "/$defs/answer/properties/args", "the arguments of a call"),
    ("runs", "/$defs/summary/properties/cases/items", "a case, as in the schema of grade"),
    ("trajectory", "/$defs/payload/oneOf/1/properties/json", "arguments and results of calls"),
];

/// Members that the tested commands do not print.
pub(super) const RARE: &[(&str, &str, &str)] = &[
    ("check", "/properties/judged", "a judge is asked (tests/judge.rs)"),
    ("check", "/$defs/finding/properties/judge", "a judge is asked (tests/judge.rs)"),
    (
        "check",
        "/$defs/evidence/properties/place",
        "evidence that is no call has it; no rule has such evidence here",
    ),
    ("grade", "/properties/check", "a caller of the library may report both at once"),
    ("grade", "/$defs/case/properties/planned", "a run that stopped early"),
    ("grade", "/$defs/case/properties/rule", "a run with a rule about trials"),
    ("grade", "/$defs/case/properties/flaky", "trials that differ (toolmark-outcome)"),
    ("grade", "/properties/summary/properties/aggregates", "tasks of AI GO!"),
    (
        "trend",
        "/properties/series/items/properties/changes/items",
        "a change needs dozens of sessions",
    ),
    ("compare", "/$defs/case_ref/properties/target", "runs on several agents"),
    ("guard-test", "/$defs/answer/properties/context", "said after a call, which is not tested"),
    ("guard-replay", "/properties/stops/items/properties/context", "said after a call"),
    ("guard-status", "/items/properties/last", "there is a log of earlier decisions"),
    (
        "runs",
        "/$defs/run/properties/run/properties/targets/items/properties/model",
        "needs a model",
    ),
    (
        "runs",
        "/$defs/trial/properties/attempts/items/properties/why",
        "an attempt that could not run",
    ),
    ("runs", "/$defs/trial/properties/limit", "a trial that exceeds a limit"),
    ("runs", "/$defs/trial/properties/notes", "a trial with calls that were denied"),
    ("runs", "/$defs/trial/properties/workspace", "a workspace that is kept"),
    ("runs", "/$defs/used", "a command has no tokens and no cost"),
];
