//! Grades expected calls: in order, in any order, forbidden, or none at all.
//!
//! The reference page is the `docs` field of [`EXPECT`]. A [`reading`] of the
//! expectations finds the best alignment of expectations and calls;
//! [`verdict`] takes the best and the worst reading if the trace
//! does not record everything; [`explain`] describes the result.

mod build;
mod calls;
mod config;
mod explain;
mod hints;
mod links;
mod quick;
mod reading;
mod shapes;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_links;
mod verdict;

use crate::grader::{GraderInfo, Taxonomy, schema_of};
use config::ExpectConfig;
use links::{Links, Order};
use std::sync::Arc;
use toolmark_config::NodeSpan;
use toolmark_match::call_match::{Agents, CallPattern, NamePattern, Parallel};
use toolmark_match::engine::{Element, ExpectedItem, Extras};

pub use quick::PlainExpect;
pub use shapes::CallShapes;

/// The `expect` grader and its reference page.
pub static EXPECT: GraderInfo = GraderInfo {
    id: "expect",
    aliases: &[],
    origin: "toolmark",
    summary: "checks the calls against those that are expected and forbidden",
    docs: DOCS,
    example: EXAMPLE,
    taxonomy: Taxonomy::EXPECTED,
    profiles: &[],
    schema: schema_of::<ExpectConfig>,
    build: |building| {
        let config = building.read::<ExpectConfig>()?;
        let expect = build::build(&config.0, building)?;
        Some(Arc::new(expect))
    },
};

const EXAMPLE: &str = "\
type: expect
config:
  sequence:
    - search_flights
    - any_order:
        - { tool: get_weather, args: { city: Paris } }
        - { tool: get_hotels, where: { stars: { range: { min: 3 } } } }
    - one_of: [book_flight, book_train]
    - { tool: send_receipt, optional: true }
  forbidden:
    - delete_booking
  never:
    - { call: book_*, before: search_flights }";

const DOCS: &str = "\
Checks whether the agent made the expected calls, and none that is forbidden.

| key | what must hold |
|---|---|
| `sequence` | these calls were made in this order; others may come in between |
| `calls` | these calls were made in any order, each expectation by a call of its own |
| `none: true` | no call was made at all |
| `only` | no tool was called but these |
| `extras: forbid` | no call was made that `sequence` and `calls` have no use for |
| `forbidden` | none of these calls was made |
| `forbidden_sequences` | none of these was made one after the other |
| `never` | `{call: B, before: A}`: B was not called before A was done, nor without it; `{call: B, after: A}`: not after A was done |

A list is short for `sequence`: `expect: [Read, Edit, Bash]`.

At least one is needed, and all that are given must hold. They are asked apart: \
a call that `sequence` uses may be used by `calls` too, but within each of the two \
every expectation has a call of its own. The best alignment counts: the one \
that leaves the fewest required calls missing, found exactly and not by taking the \
first call that fits.

## A call

A call is the name of a tool, or a map:

```yaml
tool: book_hotel            # `name` is the same
args: { city: Paris }       # these values, or /patterns/; the call may have more
args_match: contains        # or exact, within (may have fewer), ignore
ignore: [request.id]        # places that are not compared
where:                      # conditions by place
  guests: { range: { min: 1, max: 4 } }
  dates[0]: { regex: '^2026-' }
command: /npm (run )?test/  # the command line, whatever the tool calls it
path: src/a.rs              # likewise `path`, `query` and `url`
result: confirmed           # a regular expression, or {regex, contains, where}
result_kind: passed         # what the result means: passed, failed, not-found, …; or a list
exit_code: 0                # or a condition, such as {not: 0}
status: succeeded           # or failed, denied, interrupted, unanswered, unknown, any; or a list
duration: { max: 2s }
at_step: 0                  # or before_step, first: true, last: true
```

With `command`, `path`, `query` or `url` the tool may be left out: `{command: /rm -rf/}` is a call of any \
tool with this command. \
Where a call may stand, `{one_of: [a, {tool: b, args: …}]}` is either of them.

A name is taken exactly. With `*` or `?` it is a glob, between slashes or as \
`{regex: …}` a regular expression. A tool of an MCP server may be written as the \
trace has it, as `server/tool`, or as the bare tool where only one server of the \
run has a tool of that name; a name that was called as it is written means itself. \
Regular expressions see the name as the trace has it, and in `only` the server may \
not be left out.

## Classes

`class:shell` is every tool that runs commands, whatever the host calls it: `Bash`, `exec_command`, \
`run_shell_command`. One expectation then means the same for Claude Code, Codex, Copilot, Gemini, \
OpenCode and Cursor.

| class | tools that |
|---|---|
| `class:shell` | run a command |
| `class:read` | read a file |
| `class:edit` | write, edit or patch files |
| `class:search` | find or list files, or find text in them |
| `class:web` | read or search the web |
| `class:agent` | start a sub-agent |
| `class:plan` | maintain a plan |
| `class:ask` | ask the user |

A class may stand wherever a name of a tool may stand. A word without `class:` is always the name of \
a tool: `shell` is the tool `shell`. The class is that of the tool, not of the command that it runs: \
`cat a.txt` is a call of `class:shell`. Whether a tool that no toolset describes is of a class is \
unknown if it has an argument that tools of the class have, such as `command`.

`command`, `path`, `query` and `url` are arguments by what they are. As keys of a call they work with \
any name; under a class they may also be written in `args` and `where`. A patch has the paths of its \
files, and a condition holds if it holds for one of them. A path may be written as an absolute one or \
below the working directory.

## Other calls

```yaml
- tool: class:shell
  command: /npm test/
  after_last: class:edit        # no edit comes later, or at the same time
```

| key | what must hold |
|---|---|
| `after: A` | A was done before this call |
| `not_after: A` | A was not done before this call |
| `after_last: A` | A was not done after this call, nor at the same time |
| `before: A` | A was done after this call |
| `not_before: A` | A was not done after this call |
| `from: {arg: A}` | the value of `arg` is in the result of an earlier call A |

A is a call as above. Calls of one model response are neither before nor after each other. In \
`forbidden` the call is only forbidden if all of it holds: `{tool: deploy, not_after: test}` forbids \
to deploy without a test before it.

`bind` gives a value of a call a name, and `$name` stands for that value in another call:

```yaml
sequence:
  - { tool: create_order, bind: { id: result.id } }
  - { tool: pay, args: { order: $id } }
forbidden:                      # no edit of a file that was not read before
  - { tool: class:edit, bind: { f: path }, not_after: { tool: class:read, path: $f } }
```

A value is `args.NAME`, `path`, `command`, `query`, `url`, `result`, `result.NAME`, or the first group \
of a regular expression: `{result: /order (\\w+)/}`. Calls of `sequence` and `calls` share names; an entry \
of `forbidden`, `never` and `forbidden_sequences` has its own. Where several calls bind a name, one \
value must fit all of them. A text that starts with `$` is the text itself if no call binds the name.

## Values

Numbers are compared as numbers: 1 equals 1.0. `true` is not 1, `\"1\"` is not 1, the \
order of keys does not matter, null is not the same as missing. Operators of `where`: \
`equals`, `not`, `regex`, `one_of`, `range`, `type`, `schema` (a JSON Schema), \
`contains`, `present`, `absent`; a plain value means `equals`. In `args` and `where` a text between slashes is a regular expression that is found in the value, as it is for names: `command: /rm -rf/`. For the text itself, slashes included, write `where` with `{equals: /tmp/}`. Places are written \
`a.b[0].c`, keys that hold dots in quotes.

Steps are model responses, counted from 0 as evidence counts them.

## Sequences

Besides calls a sequence may hold

- `{any_order: [calls]}`: all of them, in any order, at this place;
- `{one_of: [a, [b, c]]}`: alternatives, each a call or a list;
- `optional: true` on any part;
- `count: n` on a call: that many different calls; `count: {min: n}` takes further ones too.

Calls of one model response have no order: the model asked for them at once. \
`parallel: in_order` takes them in the order of the list. Where the trace does not \
say which calls came from one response, or keeps a whole run in one message as \
AgentV does, the list is the order.

In `calls`, `count: n` needs n different calls and `count: {min, max}` bounds all \
calls that fit.

## What counts as done

Failed, denied, interrupted and unanswered calls do not count as done unless the \
expectation has a `status`, or `failed_calls: count` is set. A call whose status the \
trace cannot tell counts as done, and so does an unanswered call of a trace \
that records no results. What is forbidden (`forbidden`, `forbidden_sequences`, \
`only`, `none`, the `call` of `never`) is forbidden however it ends, unless the \
entry has a `status`. A failed attempt at an expected call is not an extra call.

Expected calls are those of the agent itself. What is forbidden (`forbidden`, `forbidden_sequences`, \
`only`, `never`) is forbidden to its sub-agents too, whose calls stand behind the call that started \
them. `agents: all` takes the calls of sub-agents for everything, `agents: main` for nothing.

A call whose name only looks like a forbidden one, in another case, width or alphabet, leaves the \
verdict unknown. If no call has a name, and another tool may be meant, a note says so.

In `forbidden_sequences` and `never`, a call is before another if it belongs to an \
earlier response (or stands earlier, where calls have an order); with \
`contiguous: true` the calls stand one behind the other in the list.

## The answer

Unknown where the trace does not record what an expectation asks about (arguments, \
results, status, durations, steps) and this could change the verdict, and where \
the question is too large to be answered in about a second.

The score is the share of what holds: every required call and every rule is one \
aspect, and with `extras: forbid` every extra call one more that does not hold. \
`metrics` has `required`, `matched`, `missing`, `extra`, `forbidden`, `calls`, and over \
the required calls `precision`, `recall` and `f1`. Extra calls are reported \
whether they are allowed or not. The explanation shows the alignment, the first \
divergence, and the smallest change that would make it pass.";

/// The compiled expectations.
struct Expect {
    /// Patterns of all mentioned calls.
    patterns: Vec<CallPattern>,
    /// Calls of the sequence, in the order they are written.
    leaves: Vec<Leaf>,
    sequence: Option<Vec<Element>>,
    calls: Vec<UnorderedCall>,
    has_calls: bool,
    is_none: bool,
    only: Vec<NamePattern>,
    extras: Extras,
    forbidden: Vec<usize>,
    sequences: Vec<Follows>,
    never: Vec<Never>,
    links: Links,
    /// Whether an expected call binds a value for others.
    binds: bool,
    parallel: Parallel,
    counts_failed: bool,
    agents: Option<Agents>,
}

/// A call of the sequence.
struct Leaf {
    item: ExpectedItem,
    span: NodeSpan,
}

/// A call that is expected in any order.
struct UnorderedCall {
    pattern: usize,
    min: usize,
    more: bool,
    max: Option<usize>,
}

/// Calls that must not follow one another.
struct Follows {
    patterns: Vec<usize>,
    is_contiguous: bool,
    /// Whether one of the calls binds a value for others.
    is_bound: bool,
}

/// A call that must not be made before another one is done, or after it.
struct Never {
    call: usize,
    order: Order,
    other: usize,
}

impl Never {
    /// Returns the word between both calls.
    fn word(&self) -> &'static str {
        if self.order == Order::After { "after" } else { "before" }
    }
}

impl Expect {
    /// Whether calls are expected, so that others can be extra.
    fn expects_calls(&self) -> bool {
        self.sequence.is_some() || self.has_calls
    }

    /// Returns the item of the sequence with this pattern.
    fn item(&self, pattern: usize) -> Option<&ExpectedItem> {
        // Patterns are numbered in the order of the leaves, mostly without a gap.
        if let Some(leaf) = self.leaves.get(pattern)
            && leaf.item.id == pattern
        {
            return Some(&leaf.item);
        }
        let at = self.leaves.binary_search_by_key(&pattern, |leaf| leaf.item.id).ok()?;
        self.leaves.get(at).map(|leaf| &leaf.item)
    }
}
