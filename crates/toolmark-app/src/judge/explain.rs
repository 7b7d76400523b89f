//! `--explain-prompt`: the questions to a judge, which are not asked.

use crate::human;
use std::fmt;
use toolmark_judge::{ExplainedQuestion, JudgeClient};
use toolmark_redact::{Redactor, printable};
use toolmark_report::terminal::{StyledLine, style};

/// Returns the questions with an estimate of tokens and cost in lines.
#[must_use]
pub fn lines(judge: &JudgeClient, redactor: Redactor) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    let all = judge.explained();
    let of = all.len();
    let mut total = Estimate::default();
    for (n, one) in all.iter().enumerate() {
        let estimate = Estimate::of(one);
        let cached = if one.is_cached { ", cached" } else { "" };
        let number = n + 1;
        let head = format!("question {number} of {of} to {}: {estimate}{cached}", one.model);
        lines.push(StyledLine::of(style::STRONG, redactor.apply(head)));
        let schema = one.schema.to_string();
        for (name, text) in [("system", &one.system), ("user", &one.user), ("schema", &schema)] {
            lines.push(StyledLine::of(style::DIM, printable!("--- {}", name)));
            for line in text.lines() {
                lines.push(StyledLine::of(style::PLAIN, redactor.apply(line)));
            }
        }
        lines.push(StyledLine::new());
        if !one.is_cached {
            total.add(estimate);
        }
    }
    let cached = all.iter().filter(|one| one.is_cached).count();
    let questions = human::things(of as u64, "question");
    let words = format!("{questions}, {cached} cached; to ask the others: {total}");
    lines.push(StyledLine::of(style::STRONG, redactor.apply(words)));
    lines
}

/// Estimated tokens and cost of questions.
#[derive(Debug, Clone, Copy, Default)]
struct Estimate {
    input: u64,
    output: u64,
    /// Cost; `None` if the price of a question is unknown.
    micro_usd: Option<u64>,
    questions: u64,
}

impl Estimate {
    fn of(one: &ExplainedQuestion) -> Self {
        let (input, output) = (one.input_tokens, one.output_tokens);
        Self { input, output, micro_usd: one.micro_usd, questions: 1 }
    }

    fn add(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.micro_usd = match (self.questions, self.micro_usd, other.micro_usd) {
            (0, _, first) => first,
            (_, Some(a), Some(b)) => Some(a + b),
            _ => None,
        };
        self.questions += other.questions;
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let input = human::things(self.input, "token");
        write!(f, "about {input} in, at most {} out", human::things(self.output, "token"))?;
        match self.micro_usd {
            Some(micro) => write!(f, ", at most ${:.4}", micro as f64 / 1e6),
            None if self.questions == 0 => Ok(()),
            None => write!(f, ", price unknown"),
        }
    }
}
