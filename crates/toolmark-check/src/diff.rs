//! How far two texts are apart, in lines: the shortest edit between them.

use foldhash::quality::FixedState;
use std::collections::HashMap;
use toolmark_session::text;

/// More lines than this between two texts are not counted.
pub(crate) const FARTHEST: usize = 600;

/// What changed between two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    /// Lines of the old text that are gone.
    pub(crate) removed: usize,
    /// Lines of the new text that are new.
    pub(crate) added: usize,
    /// Lines of the old text.
    pub(crate) old: usize,
    /// Lines of the new text.
    pub(crate) new: usize,
    /// Lines that are the same at the start.
    pub(crate) prefix: usize,
    /// Lines that are the same at the end, those at the start left out.
    pub(crate) suffix: usize,
    /// In how many places they differ.
    pub(crate) places: usize,
}

impl Change {
    /// How many lines differ: a line that became another is one.
    pub(crate) fn lines(self) -> usize {
        self.removed.max(self.added)
    }

    /// Lines of the old text that stayed.
    pub(crate) fn kept(self) -> usize {
        self.old - self.removed
    }
}

/// The change from one text to another; `None` where more than `farthest` lines are
/// removed or added, or too many to say more than that. The work is bounded by the lines
/// times [`FARTHEST`].
pub(crate) fn lines<'t>(old: &'t str, new: &'t str, farthest: usize) -> Option<Change> {
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
    let Edit { distance, places } = shortest_edit(&numbered(rest_a), &numbered(rest_b), farthest)?;
    // What is removed and added makes the distance, and the difference in length.
    let removed = (distance + rest_a.len()).checked_sub(rest_b.len())? / 2;
    let added = distance.checked_sub(removed)?;
    Some(Change { removed, added, old: a.len(), new: b.len(), prefix, suffix, places })
}

/// The shortest edit between two texts.
struct Edit {
    /// How many lines it removes and adds.
    distance: usize,
    /// In how many places.
    places: usize,
}

/// How far along the old text a path reaches, and in how many places it has
/// changed something.
#[derive(Clone, Copy, Default)]
struct Reach {
    x: usize,
    places: usize,
    /// Is the last thing it did a change?
    is_open: bool,
}

/// The shortest edit (Myers), counted but not kept; `None` where it is longer than
/// `farthest`.
fn shortest_edit(a: &[u32], b: &[u32], farthest: usize) -> Option<Edit> {
    if a.is_empty() || b.is_empty() {
        let distance = a.len() + b.len();
        if distance > farthest {
            return None;
        }
        return Some(Edit { distance, places: usize::from(distance > 0) });
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
                return Some(Edit { distance: d, places: reach.places });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by the table of longest common subsequences.
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
