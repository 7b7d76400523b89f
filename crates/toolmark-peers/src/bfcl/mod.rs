//! The Berkeley Function Calling Leaderboard.

pub(crate) mod graders;
