//! AgentV's eval files, from the first versions to the newest.
//!
//! The format changed twice: `evalcases` with `execution.evaluators`, then
//! `tests` with `assertions`, then `prompts` and `tests` with `assert`. All are
//! supported, also mixed. A file with evaluators and no tests asks them of every trajectory. The
//! detected version determines AgentV's answer; the
//! graders mention it if toolmark's answer differs.

mod case;
mod era;
mod files;
mod keys;
mod running;
mod schema;
mod suite;
mod table;
mod targets;

use serde_json::Value;
use suite::Suite;
use toolmark_config::Node;
use toolmark_grade::Loading;
use toolmark_grade::schema::Section;
use toolmark_grade::{Dialect, DialectInfo};
use toolmark_grade::{Gate, Plan, UsualJudge};

/// AgentV's eval files.
pub struct AgentV;

static INFO: DialectInfo = DialectInfo {
    id: "agentv",
    title: "AgentV eval file",
    looks_for: "evalcases, tests or evals with criteria, input and evaluators (assertions, assert)",
    keys: &["evalcases", "tests", "evals"],
};

impl Dialect for AgentV {
    fn info(&self) -> &'static DialectInfo {
        &INFO
    }

    fn detect(&self, root: &Node) -> u8 {
        era::confidence(root)
    }

    fn load(&self, root: &Node, loading: &mut Loading<'_>) -> Option<Plan> {
        if root.as_map().is_none() {
            let message = format!("expected an eval file, found {}", root.word());
            loading.error("invalid-spec", root.span, message);
            return None;
        }
        let suite = Suite::read(root, loading);
        let is_fragment = era::is_fragment(root) && loading.options.dataset.is_none();
        let every = is_fragment.then(|| Box::new(case::every(root.span, &suite, loading)));
        let cases = files::cases(root, &suite, loading);
        if cases.is_empty() && every.is_none() && loading.problems.is_empty() {
            loading.error("no-cases", root.span, "the file has no tests");
        }
        Some(Plan {
            run: running::plan(root, loading),
            spec: loading.file.clone(),
            dialect: INFO.id,
            name: root.get("name").and_then(Node::as_str).map(str::to_owned),
            cases,
            stored: None,
            every,
            gate: Gate::default(),
            aggregates: Vec::new(),
            judge: UsualJudge::default(),
        })
    }

    fn schema(&self, _: &[Section]) -> Value {
        schema::schema()
    }
}

#[cfg(test)]
mod tests;
