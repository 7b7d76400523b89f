//! Grading without keeping outcomes: only a row and the report chunks of each outcome are kept, so
//! that memory does not grow with the size of outcomes.

use crate::spool::Spool;
use std::io;
use std::path::PathBuf;
use toolmark_grade::{Grading, Plan, Standing};
use toolmark_outcome::{CaseResult, Printable, Redactor, RunResult, Untrusted, Verdict};
use toolmark_report::{OutcomeRow, Outcomes, ReportError, ReportStream};

/// A streamed report and its destination.
pub struct StreamTarget {
    /// Format of the report.
    pub stream: ReportStream,
    /// Output file; `None` for stdout.
    pub path: Option<PathBuf>,
}

/// Initial capacity for a chunk; most are smaller.
const USUAL_PIECE: usize = 8 << 10;

/// Appends a chunk to the bytes and returns the offset at which it is split.
type MakePiece<'o> = dyn Fn(&ReportStream, &mut Vec<u8>) -> Result<usize, ReportError> + 'o;

/// The rendered chunks of an outcome.
pub struct RenderedOutcome {
    /// Position and verdict of the outcome.
    pub standing: Standing,
    /// The concatenated chunks.
    bytes: Vec<u8>,
    /// Length and split offset of each chunk.
    sizes: Vec<(usize, usize)>,
}

impl RenderedOutcome {
    /// Renders the chunks of an outcome for these reports.
    pub fn of(
        outcome: CaseResult,
        targets: &[StreamTarget],
        redactor: Redactor,
    ) -> Result<Self, ReportError> {
        let standing = Standing::of(&outcome);
        let mut bytes = Vec::with_capacity(USUAL_PIECE * targets.len());
        let mut sizes = Vec::with_capacity(targets.len());
        let mut add = |make: &MakePiece<'_>| {
            targets.iter().try_for_each(|target| {
                let start = bytes.len();
                let parted = make(&target.stream, &mut bytes)?;
                sizes.push((bytes.len() - start, parted));
                Ok::<(), ReportError>(())
            })
        };
        if redactor.hides() && targets.iter().all(|target| target.stream.redacts()) {
            add(&|stream, bytes| stream.redacted_piece(&outcome, bytes))?;
        } else {
            let outcome = outcome.redact(redactor);
            add(&|stream, bytes| stream.piece(&outcome, bytes))?;
        }
        Ok(Self { standing, bytes, sizes })
    }
}

/// The kept parts of the outcomes.
pub struct KeptOutcomes<'g> {
    grading: &'g Grading<'g>,
    plan: &'g Plan,
    redactor: Redactor,
    standings: Vec<Standing>,
    /// Start offset of the chunks of each outcome.
    starts: Vec<u64>,
    /// Length and split offset of each chunk, outcome by outcome.
    sizes: Vec<(u32, u32)>,
    spool: Spool,
}

impl<'g> KeptOutcomes<'g> {
    /// Returns an empty store for a plan.
    #[must_use]
    pub fn new(grading: &'g Grading<'g>, plan: &'g Plan, redactor: Redactor) -> Self {
        Self {
            grading,
            plan,
            redactor,
            standings: Vec::new(),
            starts: Vec::new(),
            sizes: Vec::new(),
            spool: Spool::default(),
        }
    }

    /// Whether no trajectory has an outcome.
    pub fn is_empty(&self) -> bool {
        self.standings.is_empty()
    }

    /// Adds the chunks of an outcome.
    ///
    /// # Errors
    ///
    /// If they could not be stored.
    pub fn add(&mut self, made: &RenderedOutcome) -> io::Result<()> {
        let size = |n: usize| u32::try_from(n).map_err(|_| io::ErrorKind::FileTooLarge);
        self.starts.push(self.spool.add(&made.bytes)?);
        for &(length, parted) in &made.sizes {
            self.sizes.push((size(length)?, size(parted)?));
        }
        self.standings.push(made.standing);
        Ok(())
    }

    /// Adds the cases without a run, sorts the outcomes by case and sums them up.
    pub fn finish(
        mut self,
        targets: &[StreamTarget],
        notes: Vec<Untrusted>,
    ) -> Result<(RunResult, Ordered<'g>), ReportError> {
        let graded: Vec<usize> = self.standings.iter().map(|one| one.case_index).collect();
        for outcome in self.grading.not_run(graded) {
            self.add(&RenderedOutcome::of(outcome, targets, self.redactor)?)?;
        }
        let mut order: Vec<usize> = (0..self.standings.len()).collect();
        // Stable: trials stay in the order of the input.
        order.sort_by_key(|at| self.standings[*at].case_index);
        let in_order: Vec<Standing> = order.iter().map(|at| self.standings[*at]).collect();
        let run = self.grading.sum_up(&in_order, notes);
        let mut trials: Vec<u32> = vec![0; in_order.len()];
        for at in 1..in_order.len() {
            if in_order[at].case_index == in_order[at - 1].case_index {
                trials[at] = trials[at - 1].saturating_add(1);
            }
        }
        self.standings = in_order;
        Ok((run, Ordered { kept: self, order, trials, target: 0, targets: targets.len() }))
    }
}

/// The sorted outcomes, for one of the reports.
pub struct Ordered<'g> {
    /// The kept parts, with sorted standings.
    kept: KeptOutcomes<'g>,
    order: Vec<usize>,
    trials: Vec<u32>,
    target: usize,
    targets: usize,
}

impl Ordered<'_> {
    /// Selects the chunks of this report.
    pub fn of(&mut self, target: usize) -> &mut Self {
        self.target = target;
        self
    }

    fn has_case_of(&self, at: usize, other: usize) -> bool {
        let case = |at: usize| self.kept.standings.get(at).map(|one| one.case_index);
        case(at) == case(other)
    }
}

impl Outcomes for Ordered<'_> {
    fn count(&self) -> usize {
        self.order.len()
    }

    fn row(&self, at: usize) -> OutcomeRow {
        let standing = &self.kept.standings[at];
        let trial = self.trials[at];
        OutcomeRow {
            case: self.case(standing.case_index),
            trial,
            has_trials: trial > 0 || self.has_case_of(at, at + 1),
            verdict: standing.verdict,
            score: standing.score,
        }
    }

    fn verdict(&self, at: usize) -> Verdict {
        self.kept.standings[at].verdict
    }

    fn trial(&self, at: usize) -> u32 {
        self.trials[at]
    }

    fn read(&mut self, at: usize, piece: &mut Vec<u8>) -> io::Result<usize> {
        piece.clear();
        let outcome = self.order[at];
        let first = outcome * self.targets;
        let sizes = &self.kept.sizes[first..first + self.targets];
        let before: u64 = sizes[..self.target].iter().map(|(length, _)| u64::from(*length)).sum();
        let (length, parted) = sizes[self.target];
        let start = self.kept.starts[outcome] + before;
        self.kept.spool.read(start, length as usize, piece)?;
        Ok(parted as usize)
    }
}

impl Ordered<'_> {
    fn case(&self, index: usize) -> Printable {
        self.kept.redactor.apply(self.kept.plan.id(index))
    }
}
