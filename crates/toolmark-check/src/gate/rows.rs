//! Numbers of trajectories as stored in reports.

use super::names::scale;
use super::{Cells, GateCell};
use crate::scorecard::ScoreTally;
use serde::{Deserialize, Serialize};
use toolmark_outcome::{Printable, Untrusted};

/// Numbers of one trajectory as stored in reports.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrajectoryCells<T> {
    /// Id of the trajectory.
    #[serde(default)]
    pub id: Option<T>,
    /// Numbers of the trajectory.
    pub cells: Vec<CellRow<T>>,
}

/// A number as stored in reports.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CellRow<T> {
    name: String,
    tool: T,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bucket: Option<T>,
    of: u64,
    points: f64,
}

impl TrajectoryCells<Printable> {
    /// Converts cells to the form used in reports.
    #[must_use]
    pub fn new(id: Option<Printable>, cells: &Cells<Printable>) -> Self {
        let row = |(cell, tally): (&GateCell<Printable>, ScoreTally)| CellRow {
            name: cell.name.clone(),
            tool: cell.tool.clone(),
            bucket: cell.bucket.clone(),
            of: tally.of,
            points: scale(&cell.name).points(tally),
        };
        Self { id, cells: cells.iter().map(row).collect() }
    }
}

impl TrajectoryCells<String> {
    /// Returns the id and the numbers.
    #[must_use]
    pub fn read(self) -> (Option<Untrusted>, Cells) {
        let mut cells = Cells::default();
        for row in self.cells {
            let bucket = row.bucket.map(Into::into);
            let tally = scale(&row.name).tally(row.of, row.points);
            cells.add(GateCell { name: row.name, tool: row.tool.into(), bucket }, tally);
        }
        (self.id.map(Into::into), cells)
    }
}

/// Returns a measure of a scorecard as a cell. The pair holds the number of calls and the sum of their points.
#[must_use]
pub fn measured(
    axis: &str,
    name: &str,
    tool: Untrusted,
    bucket: Option<Untrusted>,
    (of, points): (u64, f64),
) -> (GateCell, ScoreTally) {
    let name = super::full_name(axis, name);
    let tally = scale(&name).tally(of, points);
    (GateCell { name, tool, bucket }, tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_they_were() {
        fn cells<T: From<&'static str> + Ord + Clone>() -> Cells<T> {
            let mut cells = Cells::default();
            let cell = GateCell {
                name: "recovery".into(),
                tool: "Bash".into(),
                bucket: Some("127".into()),
            };
            cells.add(cell, ScoreTally { of: 3, points: 2500 });
            cells
        }
        let rows =
            serde_json::to_string(&TrajectoryCells::new(Some("a".into()), &cells())).unwrap();
        let (id, again) = serde_json::from_str::<TrajectoryCells<String>>(&rows).unwrap().read();
        assert_eq!((id, again), (Some("a".into()), cells()));
    }
}
