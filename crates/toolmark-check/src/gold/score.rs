//! Scores of pairs: precision, recall and F1 per tool, confused tools, and the number of
//! unnecessary calls.

use super::{Gold, GoldChoice, GoldPair};
use crate::scorecard::{F1_NAME, Measure, Scale, ScoreTally, Scorecard};
use serde::Serialize;
use toolmark_base::{SortedMap, SortedSet};
use toolmark_hosts::toolset::{ToolsetName, builtin};
use toolmark_outcome::statistics::wilson;
use toolmark_outcome::{Axis, Printable, Redactor, Untrusted};

/// Name for the absence of a tool.
const NONE: &str = "none";
/// Reciprocal of the recommended minimum share of rows without a tool.
const ONE_IN: usize = 10;

/// Share of right items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ScoreRate {
    /// Total number.
    pub of: u64,
    /// Number of right items.
    pub right: u64,
    /// Share; `None` if the total is 0.
    pub rate: Option<f64>,
    /// 95 % interval of the share (Wilson).
    pub interval: Option<[f64; 2]>,
}

impl ScoreRate {
    fn new(right: u64, of: u64) -> Self {
        Self {
            of,
            right,
            rate: (of > 0).then(|| right as f64 / of as f64),
            interval: wilson(of, right).map(|(low, high)| [low, high]),
        }
    }
}

/// Harmonic mean of precision and recall.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct F1 {
    /// Number of pairs that involve the tool: right, wrongly called, or not called.
    pub of: u64,
    /// Number of right pairs.
    pub right: u64,
    /// Value; `None` if no pair involves the tool.
    pub value: Option<f64>,
    /// 95 % interval, derived from the interval of the share of right pairs, because F1 is an
    /// increasing function of it.
    pub interval: Option<[f64; 2]>,
}

impl F1 {
    fn new(right: u64, called: u64, missed: u64) -> Self {
        let of = right + called + missed;
        let tally = ScoreTally::of_right(of, right);
        Self {
            of,
            right,
            value: Scale::F1.rate(tally),
            interval: Scale::F1.interval(tally).map(|(low, high)| [low, high]),
        }
    }
}

/// Scores of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OfTool {
    /// Share of right calls among the calls of the tool.
    pub precision: ScoreRate,
    /// Share of calls among the prompts for which the tool is right.
    pub recall: ScoreRate,
    /// F1 of both.
    pub f1: F1,
}

/// Number of times that one tool was chosen while another was right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolChoice<T = Untrusted> {
    /// Right choice: a tool, or `none`.
    pub gold: T,
    /// Actual choice: a tool, or `none`.
    pub chosen: T,
    /// Number of times.
    pub count: u64,
}

/// Two tools that are easily confused.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Confusable<T = Untrusted> {
    /// Names of the tools.
    pub tools: [T; 2],
    /// Number of times that the second tool was called while the first was right.
    pub first_as_second: u64,
    /// Number of times that the first tool was called while the second was right.
    pub second_as_first: u64,
    /// Share of right calls if one of the two was right and one of them was called.
    pub told_apart: ScoreRate,
}

/// Prompts for which no tool is right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct NoTool {
    /// Number of such rows.
    pub rows: u64,
    /// Share of prompts for which no tool was called.
    pub left_alone: ScoreRate,
}

/// A row without a pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unpaired<T = Untrusted> {
    /// Line of the row.
    pub line: u64,
    /// Id or prompt of the row.
    pub name: T,
    /// Reason.
    pub reason: &'static str,
}

/// Scores of the choice of tools, by gold labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SelectionScore<T: Ord = Untrusted> {
    /// Number of rows.
    pub rows: u64,
    /// Number of scored pairs of a row and a trace.
    pub pairs: u64,
    /// Share of right choices.
    pub accuracy: ScoreRate,
    /// Scores by tool.
    pub tools: SortedMap<T, OfTool>,
    /// Confusion matrix of right and actual choices, including right ones.
    pub confusion: Vec<ToolChoice<T>>,
    /// Confusable pairs of the toolsets in use.
    pub confusable: Vec<Confusable<T>>,
    /// Prompts for which no tool is right.
    pub no_tool: NoTool,
    /// Rows without a pair, which are not part of any other number.
    pub unpaired: Vec<Unpaired<T>>,
    /// Warnings for the reader.
    pub warnings: Vec<T>,
}

impl SelectionScore {
    /// Returns the printable scores. Of tools whose names become equal, only one is kept.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> SelectionScore<Printable> {
        let tools = self.tools.into_iter();
        let confusion = self.confusion.into_iter();
        let confusable = self.confusable.into_iter();
        let unpaired = self.unpaired.into_iter();
        SelectionScore {
            rows: self.rows,
            pairs: self.pairs,
            accuracy: self.accuracy,
            tools: tools.map(|(tool, of_tool)| (redactor.apply(tool), of_tool)).collect(),
            confusion: confusion
                .map(|ToolChoice { gold, chosen, count }| ToolChoice {
                    gold: redactor.apply(gold),
                    chosen: redactor.apply(chosen),
                    count,
                })
                .collect(),
            confusable: confusable
                .map(|pair| Confusable {
                    tools: pair.tools.map(|tool| redactor.apply(tool)),
                    first_as_second: pair.first_as_second,
                    second_as_first: pair.second_as_first,
                    told_apart: pair.told_apart,
                })
                .collect(),
            no_tool: self.no_tool,
            unpaired: unpaired
                .map(|Unpaired { line, name, reason }| Unpaired {
                    line,
                    name: redactor.apply(name),
                    reason,
                })
                .collect(),
            warnings: redactor.apply_all(self.warnings),
        }
    }
}

/// Reason why no row can be scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnscoredGold {
    /// No row names a trace.
    #[error("no row has the id or the prompt of a trace")]
    NoTrace,
    /// No trace shows a choice.
    #[error("no trace shows what was chosen for a row")]
    NoChoice,
}

impl Gold {
    /// Scores the pairs.
    ///
    /// # Errors
    ///
    /// Fails if no row could be paired with a trace that shows the choice.
    pub fn score(&self, pairs: &[GoldPair]) -> Result<SelectionScore, UnscoredGold> {
        let named: SortedSet<usize> =
            pairs.iter().filter(|pair| pair.is_by_name).map(|pair| pair.row).collect();
        let mut scored: SortedSet<usize> = SortedSet::new();
        let mut unknown: SortedSet<usize> = SortedSet::new();
        let mut matrix: SortedMap<(String, String), u64> = SortedMap::new();
        let mut hosts: SortedSet<&str> = SortedSet::new();
        for pair in pairs.iter().filter(|pair| pair.is_by_name || !named.contains(&pair.row)) {
            let Some(row) = self.rows().get(pair.row) else { continue };
            let chosen = match &pair.choice {
                GoldChoice::Tool(tool) => tool.as_str(),
                GoldChoice::NoTool => NONE,
                GoldChoice::Unknown => {
                    unknown.insert(pair.row);
                    continue;
                }
            };
            // If several tools are right, the called one is the gold label.
            let first = row.tools.first().map_or(NONE, String::as_str);
            let gold = row.tools.iter().map(String::as_str).find(|tool| *tool == chosen);
            let gold = gold.unwrap_or(first);
            *matrix.entry((gold.to_owned(), chosen.to_owned())).or_default() += 1;
            scored.insert(pair.row);
            hosts.insert(pair.host);
        }
        if scored.is_empty() {
            return Err(match unknown.is_empty() {
                true => UnscoredGold::NoTrace,
                false => UnscoredGold::NoChoice,
            });
        }
        let rows = self.rows().iter().enumerate();
        let unpaired = rows.filter(|(at, _)| !scored.contains(at)).map(|(at, row)| Unpaired {
            line: row.line,
            name: row.name().into(),
            reason: match unknown.contains(&at) {
                true => "the trace shows neither a call nor an answer",
                false => "no trace has its id or prompt",
            },
        });
        let unpaired: Vec<_> = unpaired.collect();
        let no_tool = self.rows().iter().filter(|row| row.tools.is_empty()).count();
        Ok(SelectionScore {
            rows: self.rows().len() as u64,
            pairs: matrix.values().sum(),
            accuracy: rate(&matrix, |_, _| true),
            tools: of_tools(&matrix),
            confusable: confusable(&matrix, &hosts),
            no_tool: NoTool {
                rows: no_tool as u64,
                left_alone: rate(&matrix, |gold, _| gold == NONE),
            },
            warnings: self.warnings(no_tool, unpaired.len()),
            confusion: matrix
                .into_iter()
                .map(|((gold, chosen), count)| ToolChoice {
                    gold: gold.into(),
                    chosen: chosen.into(),
                    count,
                })
                .collect(),
            unpaired,
        })
    }

    fn warnings(&self, no_tool: usize, unpaired: usize) -> Vec<Untrusted> {
        let mut warnings = Vec::new();
        let rows = self.rows().len();
        if no_tool.saturating_mul(ONE_IN) < rows {
            warnings.push(
                format!(
                    "{no_tool} of {rows} gold rows are for no tool; with less than 10 % of them, \
                 calls that nobody needed go unseen"
                )
                .into(),
            );
        }
        if unpaired > 0 {
            warnings.push(format!("{unpaired} of {rows} gold rows were not scored").into());
        }
        warnings
    }
}

type ConfusionMatrix = SortedMap<(String, String), u64>;

/// Returns the share of right choices among the selected ones.
fn rate(matrix: &ConfusionMatrix, asked: impl Fn(&str, &str) -> bool) -> ScoreRate {
    let (mut right, mut of) = (0, 0);
    for ((gold, chosen), count) in matrix.iter().filter(|((g, c), _)| asked(g, c)) {
        of += count;
        right += if gold == chosen { *count } else { 0 };
    }
    ScoreRate::new(right, of)
}

fn of_tools(matrix: &ConfusionMatrix) -> SortedMap<Untrusted, OfTool> {
    // Right, called, gold: in one pass over the matrix.
    let mut counts: SortedMap<&str, [u64; 3]> = SortedMap::new();
    for ((gold, chosen), count) in matrix {
        if gold == chosen {
            counts.entry(gold).or_default()[0] += count;
        }
        counts.entry(chosen).or_default()[1] += count;
        counts.entry(gold).or_default()[2] += count;
    }
    let of_tool = |[right, called, gold]: [u64; 3]| OfTool {
        precision: ScoreRate::new(right, called),
        recall: ScoreRate::new(right, gold),
        f1: F1::new(right, called - right, gold - right),
    };
    let tools = counts.into_iter().filter(|(tool, _)| *tool != NONE);
    tools.map(|(tool, counts)| (tool.into(), of_tool(counts))).collect()
}

fn confusable(matrix: &ConfusionMatrix, hosts: &SortedSet<&str>) -> Vec<Confusable> {
    let sets = hosts.iter().filter_map(|host| builtin(host));
    let pairs: SortedSet<&[ToolsetName; 2]> = sets.flat_map(|set| set.confusable.iter()).collect();
    let mut found = Vec::new();
    for [first, second] in pairs {
        let count = |gold: &str, chosen: &str| {
            matrix.get(&(gold.to_owned(), chosen.to_owned())).copied().unwrap_or(0)
        };
        let (there, back) = (count(first, second), count(second, first));
        let right = count(first, first) + count(second, second);
        if there + back + right > 0 {
            found.push(Confusable {
                tools: [first.to_string().into(), second.to_string().into()],
                first_as_second: there,
                second_as_first: back,
                told_apart: ScoreRate::new(right, right + there + back),
            });
        }
    }
    found
}

impl SelectionScore {
    /// Adds the numbers of each tool to the measures of a scorecard, for gates:
    /// `selection.f1[Edit]`.
    pub fn measure(&self, card: &mut Scorecard) {
        let mut put = |name: &'static str, tool: &str, of: u64, right: u64| {
            if of > 0 {
                let (axis, tool) = (Axis::Selection, tool.into());
                let measure = Measure { axis, name, tool, bucket: None };
                card.measures.insert(measure, ScoreTally::of_right(of, right));
            }
        };
        for (tool, of_tool) in &self.tools {
            put(F1_NAME, tool.raw(), of_tool.f1.of, of_tool.f1.right);
            put("precision", tool.raw(), of_tool.precision.of, of_tool.precision.right);
            put("recall", tool.raw(), of_tool.recall.of, of_tool.recall.right);
        }
        let alone = self.no_tool.left_alone;
        put("no_tool", NONE, alone.of, alone.right);
    }
}
