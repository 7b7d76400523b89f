//! Line difference between two texts: the shortest edit.

use foldhash::quality::FixedState;
use std::collections::HashMap;
use toolmark_session::text;

/// Maximum number of changed lines to count.
pub(crate) const FARTHEST: usize = 600;

/// Change between two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextChange {
    /// Number of removed lines.
    pub(crate) removed: usize,
    /// Number of added lines.
    pub(crate) added: usize,
    /// Number of lines of the old text.
    pub(crate) old: usize,
    /// Number of lines of the new text.
    pub(crate) new: usize,
    /// Number of equal lines at the start.
    pub(crate) prefix: usize,
    /// Number of equal lines at the end, not counting those at the start.
    pub(crate) suffix: usize,
    /// Number of separate changes.
    pub(crate) places: usize,
}

impl TextChange {
    /// Returns the number of changed lines: a replaced line counts once.
    pub(crate) fn lines(self) -> usize {
        self.removed.max(self.added)
    }

    /// Returns the number of lines of the old text that are kept.
    pub(crate) fn kept(self) -> usize {
        self.old - self.removed
    }
}

/// Returns the change from one text to another; `None` if more than `farthest` lines are
/// removed or added, or if the edit is too long to compute. The work is bounded by the number
/// of lines times [`FARTHEST`].
pub(crate) fn lines<'t>(old: &'t str, new: &'t str, farthest: usize) -> Option<TextChange> {
    let (a, b): (Vec<&str>, Vec<&str>) = (text::lines(old).collect(), text::lines(new).collect());
    let prefix = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let (rest_a, rest_b) = (a.get(prefix..)?, b.get(prefix..)?);
    let suffix = rest_a.iter().rev().zip(rest_b.iter().rev()).take_while(|(x, y)| x == y).count();
    let rest_a = rest_a.get(..rest_a.len() - suffix)?;
    let rest_b = rest_b.get(..rest_b.len() - suffix)?;
    if rest_a.len().abs_diff(rest_b.len()) > farthest {
        return None;
    }
    let mut ids: HashMap<&str, u32, FixedState> = HashMap::default();
    let mut numbered = |lines: &[&'t str]| -> Vec<u32> {
        let mut number = |line| {
            let next = ids.len() as u32;
            *ids.entry(line).or_insert(next)
        };
        lines.iter().map(|line| number(*line)).collect()
    };
    let TextEdit { distance, places } =
        shortest_edit(&numbered(rest_a), &numbered(rest_b), farthest)?;
    // The sum of removed and added lines is the distance, their difference that of the lengths.
    let removed = (distance + rest_a.len()).checked_sub(rest_b.len())? / 2;
    let added = distance.checked_sub(removed)?;
    Some(TextChange { removed, added, old: a.len(), new: b.len(), prefix, suffix, places })
}

/// Shortest edit between two texts.
struct TextEdit {
    /// Number of lines that it removes and adds.
    distance: usize,
    /// Number of separate changes.
    places: usize,
}

/// Progress of a path along the old text, and its number of separate changes.
#[derive(Clone, Copy, Default)]
struct Reach {
    x: usize,
    places: usize,
    /// Whether the last operation was a change.
    is_open: bool,
}

/// Returns the size of the shortest edit (Myers) without the edit itself; `None` if it is
/// longer than `farthest`.
fn shortest_edit(a: &[u32], b: &[u32], farthest: usize) -> Option<TextEdit> {
    if a.is_empty() || b.is_empty() {
        let distance = a.len() + b.len();
        if distance > farthest {
            return None;
        }
        return Some(TextEdit { distance, places: usize::from(distance > 0) });
    }
    let most = FARTHEST.min(a.len() + b.len()).min(farthest);
    // `ends[k + middle]`: how far along `a` the diagonal `k` reaches.
    let middle = most + 1;
    let mut ends = vec![Reach::default(); 2 * most + 3];
    for d in 0..=most {
        for step in 0..=d {
            // The diagonal is `2 * step - d`.
            let at = middle + 2 * step - d;
            let below = *ends.get(at - 1)?;
            let above = *ends.get(at + 1)?;
            let goes_down = step == 0 || (step != d && below.x < above.x);
            let mut reach = if goes_down { above } else { Reach { x: below.x + 1, ..below } };
            if d > 0 {
                reach.places += usize::from(!reach.is_open);
                reach.is_open = true;
            }
            let Some(mut y) = (reach.x + middle).checked_sub(at) else { continue };
            while let (Some(left), Some(right)) = (a.get(reach.x), b.get(y))
                && left == right
            {
                reach.x += 1;
                y += 1;
                reach.is_open = false;
            }
            *ends.get_mut(at)? = reach;
            if reach.x >= a.len() && y >= b.len() {
                return Some(TextEdit { distance: d, places: reach.places });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the same distance with a table of longest common subsequences.
    fn slow(a: &[&str], b: &[&str]) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                table[i + 1][j + 1] =
                    if x == y { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
            }
        }
        a.len() + b.len() - 2 * table[a.len()][b.len()]
    }

    #[test]
    fn distances_are_the_shortest() {
        let mut seed = 7_u32;
        let mut next = |most: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % most
        };
        for _ in 0..2000 {
            let mut text = || -> Vec<&str> {
                (0..next(12)).map(|_| ["a", "b", "c", "d"][next(4) as usize]).collect()
            };
            let (a, b) = (text(), text());
            let change = lines(&a.join("\n"), &b.join("\n"), FARTHEST).unwrap();
            assert_eq!(change.removed + change.added, slow(&a, &b), "{a:?} {b:?}");
            assert_eq!(change.old - change.removed, change.new - change.added, "{a:?} {b:?}");
        }
    }

    #[test]
    fn what_changed() {
        let change = lines("a\nb\nc\nd\n", "a\nx\nc\nd\ne\n", 3).unwrap();
        assert_eq!((change.removed, change.added, change.prefix, change.suffix), (1, 2, 1, 0));
        assert_eq!((change.lines(), change.kept(), change.places), (2, 3, 2));
        let places = |old, new| lines(old, new, FARTHEST).unwrap().places;
        assert_eq!(places("a\nb\nc", "a\nx\nc"), 1);
        assert_eq!(places("a\nb\nc\nd\ne", "x\nb\ny\nd\nz"), 3);
        assert_eq!(places("a\nb", "a\nb"), 0);
        assert_eq!(places("a", "a\nb"), 1);
        let (a, b): (String, String) = (
            (0..2000).map(|n| format!("a{n}\n")).collect(),
            (0..2000).map(|n| format!("b{n}\n")).collect(),
        );
        assert_eq!(lines(&a, &b, FARTHEST), None);
        assert_eq!(lines("a\nb", "a\nc", 1), None);
        assert_eq!(lines("a", "a\nb\nc", 1), None);
    }
}
