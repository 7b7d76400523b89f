//! Grades expected calls: in order, in any order, forbidden, or none at all.
//!
//! The reference page is the `docs` field of [`EXPECT`]. A [`reading`] of the
//! expectations finds the best alignment of expectations and calls;
//! [`verdict`] takes the best and the worst reading if the trace
//! does not record everything; [`explain`] describes the result.

mod build;
mod config;
mod explain;
mod quick;
mod reading;
mod shapes;
#[cfg(test)]
mod tests;
mod verdict;

use crate::grader::{GraderInfo, Taxonomy, schema_of};
use config::ExpectConfig;
use std::sync::Arc;
use toolmark_config::Span;
use toolmark_match::call_match::{Agents, CallPattern, NamePattern, Parallel};
use toolmark_match::engine::{Element, Extras, Item};

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
        let expect = build::build(&config, building)?;
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
| `never` | `{call: B, before: A}`: B was not called before A was done, nor without it |

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
result: confirmed           # a regular expression, or {regex, where}
status: succeeded           # or failed, denied, interrupted, unanswered, unknown, any; or a list
duration: { max: 2s }
at_step: 0                  # or before_step, first: true, last: true
```

A name is taken exactly. With `*` or `?` it is a glob, between slashes or as \
`{regex: …}` a regular expression. A tool of an MCP server may be written as the \
trace has it, as `server/tool`, or as the bare tool where only one server of the \
run has a tool of that name; a name that was called as it is written means itself. \
Regular expressions see the name as the trace has it, and in `only` the server may \
not be left out.

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

`agents: all` looks at the calls of sub-agents too, behind the call that started them.

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
    calls: Vec<Wanted>,
    has_calls: bool,
    is_none: bool,
    only: Vec<NamePattern>,
    extras: Extras,
    forbidden: Vec<usize>,
    sequences: Vec<Follows>,
    never: Vec<Never>,
    parallel: Parallel,
    counts_failed: bool,
    agents: Agents,
}

/// A call of the sequence.
struct Leaf {
    item: Item,
    span: Span,
}

/// A call that is expected in any order.
struct Wanted {
    pattern: usize,
    min: usize,
    more: bool,
    max: Option<usize>,
}

/// Calls that must not follow one another.
struct Follows {
    patterns: Vec<usize>,
    is_contiguous: bool,
}

/// A call that must not be made before another one.
struct Never {
    call: usize,
    before: usize,
}

impl Expect {
    /// Whether calls are expected, so that others can be extra.
    fn expects_calls(&self) -> bool {
        self.sequence.is_some() || self.has_calls
    }

    /// Returns the item of the sequence with this pattern.
    fn item(&self, pattern: usize) -> Option<&Item> {
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
