//! The result types of reports, with redacted text. A report that prints unredacted text does not
//! compile.

use toolmark_outcome::Printable;

pub(crate) type PrintableCallRef = toolmark_outcome::CallRef<Printable>;
pub(crate) type CallRow = toolmark_check::CallRow<Printable>;
pub(crate) type CaseResult = toolmark_outcome::CaseResult<Printable>;
pub(crate) type CaseSummary = toolmark_outcome::CaseSummary<Printable>;
pub(crate) type PrintableChange = toolmark_feed::trend::TrendChange<Printable>;
pub(crate) type Changes = toolmark_check::changes::Changes<Printable>;
pub(crate) type CheckRun = toolmark_check::CheckRun<Printable>;
pub(crate) type PrintableDecisions = toolmark_check::CallDecisions<Printable>;
pub(crate) type DeclaredRuns = toolmark_check::DeclaredRuns<Printable>;
pub(crate) type DestructiveCall = toolmark_check::DestructiveCall<Printable>;
pub(crate) type PrintableEvidence = toolmark_outcome::Evidence<Printable>;
pub(crate) type Explanation = toolmark_outcome::Explanation<Printable>;
pub(crate) type FeedRun = toolmark_feed::FeedRun<Printable>;
pub(crate) type FoundRow<'r> = toolmark_check::FoundRow<'r>;
pub(crate) type FindingRef = toolmark_compare::FindingRef;
pub(crate) type PrintableFinding = toolmark_outcome::Finding<Printable>;
pub(crate) type GateRow = toolmark_check::gate::GateRow<Printable>;
pub(crate) type GraderResult = toolmark_outcome::GraderResult<Printable>;
pub(crate) type PrintableGroup = toolmark_check::overview::OverviewGroup<Printable>;
pub(crate) type Issue = toolmark_feed::Issue<Printable>;
pub(crate) type KindChange = toolmark_check::changes::KindChange<Printable>;
pub(crate) type PrintableListing = toolmark_feed::ListedOccurrence<Printable>;
pub(crate) type PrintableMetrics = toolmark_outcome::GraderMetrics<Printable>;
pub(crate) type Overview = toolmark_check::Overview<Printable>;
pub(crate) type PrintablePart = toolmark_outcome::OutcomePart<Printable>;
pub(crate) type Refined = toolmark_check::Refined<Printable>;
pub(crate) type PrintableRow = toolmark_outcome::ExplanationRow<Printable>;
pub(crate) type RunResult = toolmark_outcome::RunResult<Printable>;
pub(crate) type Scorecard = toolmark_check::Scorecard<Printable>;
pub(crate) type PrintableSelection = toolmark_check::gold::SelectionScore<Printable>;
pub(crate) type SessionProfile = toolmark_check::SessionProfile<Printable>;
pub(crate) type SpecPlace = toolmark_outcome::SpecPlace<Printable>;
pub(crate) type PrintableSummary = toolmark_outcome::Summary<Printable>;
pub(crate) type PrintableTimeline = toolmark_outcome::Timeline<Printable>;
pub(crate) type TimelineEntry = toolmark_outcome::TimelineEntry<Printable>;
pub(crate) type Series = toolmark_feed::trend::Series<Printable>;
pub(crate) type TracePlace = toolmark_outcome::TracePlace<Printable>;
pub(crate) type TrendRun = toolmark_feed::trend::TrendRun<Printable>;
