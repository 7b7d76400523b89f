//! The history of one file in a session: when the session made it, and when the calls of the
//! session ran. A change at any other time was made by another program or person.

use jiff::{SignedDuration, Timestamp};

/// Hooks of the host, such as formatters, and file systems finish after a call has ended.
const AFTER_CALL: SignedDuration = SignedDuration::from_secs(10);
/// The times of files come from a coarser clock than those of records.
const BEFORE_CALL: SignedDuration = SignedDuration::from_secs(1);

/// The begin or the end of a call, with the id of the call where the host has one.
#[derive(Debug, Clone)]
pub(crate) struct Edge {
    pub(crate) time: Timestamp,
    pub(crate) call: Option<String>,
    pub(crate) is_end: bool,
    /// The user was asked about the call, and may have refused it.
    pub(crate) is_asked: bool,
}

/// History of one file in a session.
#[derive(Debug, Default)]
pub(crate) struct FileHistory {
    /// When the session first made the file; `None` where the record does not say that it did.
    pub(crate) made: Option<Timestamp>,
    /// When calls began and ended, in order.
    pub(crate) edges: Vec<Edge>,
}

impl FileHistory {
    /// Adds a call that makes the file.
    pub(crate) fn make(&mut self, time: Timestamp) {
        self.made = self.made.or(Some(time));
    }

    /// Whether a file that was last changed at this time was changed by the session alone,
    /// as far as the record tells.
    pub(crate) fn is_own_change(&self, changed: Timestamp) -> bool {
        // Copied and unpacked files keep an older time.
        let is_older = self.made.is_none_or(|made| changed <= made);
        is_older || (0..self.edges.len()).any(|at| self.runs_at(at, changed))
    }

    /// Whether the call that begins at this edge ran at a time. One whose end is not
    /// recorded ran at most until the next edge. The last one may still run, unless the user
    /// was asked about it: the next call comes after the answer.
    fn runs_at(&self, at: usize, time: Timestamp) -> bool {
        let Some((begin, later)) = self.edges.get(at..).and_then(|edges| edges.split_first())
        else {
            return false;
        };
        if begin.is_end || time < begin.time.saturating_sub(BEFORE_CALL).unwrap_or(begin.time) {
            return false;
        }
        let is_its = |edge: &&Edge| edge.is_end && edge.call == begin.call;
        let end = later.iter().find(is_its).or(later.first());
        match end {
            Some(end) => time <= end.time.saturating_add(AFTER_CALL).unwrap_or(end.time),
            None => !begin.is_asked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_between_calls_are_not_the_sessions_own() {
        let at = |second: i64| Timestamp::from_second(1_000_000 + second).unwrap();
        let edge = |second: i64, call: &str, is_end: bool| Edge {
            time: at(second),
            call: Some(call.to_owned()),
            is_end,
            is_asked: false,
        };
        // `b` was refused: it has no end. `d` still runs.
        let edges = vec![
            edge(0, "a", false),
            edge(5, "a", true),
            edge(100, "b", false),
            edge(130, "c", false),
            edge(131, "x", false),
            edge(132, "x", true),
            edge(190, "c", true),
            edge(300, "d", false),
        ];
        let mut history = FileHistory { made: Some(at(0)), edges };
        for (second, is_own) in [
            (-500, true),
            (3, true),
            (14, true),
            (16, false),
            (98, false),
            (120, true),
            (170, true),
            (199, true),
            (250, false),
            (900, true),
        ] {
            assert_eq!(history.is_own_change(at(second)), is_own, "{second}");
        }
        history.edges.last_mut().unwrap().is_asked = true;
        assert!(!history.is_own_change(at(900)));
    }
}
