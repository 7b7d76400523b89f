//! Text similarity as in Python's `difflib`, as far as DeepEval uses it.

use std::collections::HashMap;

/// Length above which the most frequent characters of a text are ignored in the search.
const LONG: usize = 200;

/// Maximum number of compared pairs of characters.
const MAX_PAIRS: usize = 1 << 24;

/// Returns the share of both texts that is in common blocks, longest block first;
/// `None` if the texts are too long.
pub(super) fn ratio(a: &str, b: &str) -> Option<f64> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a == b {
        return Some(1.0);
    }
    if a.len().saturating_mul(b.len()) > MAX_PAIRS {
        return None;
    }
    let places = places(&b);
    let mut left = vec![(0, a.len(), 0, b.len())];
    let mut common = 0;
    while let Some((a_start, a_end, b_start, b_end)) = left.pop() {
        let (i, j, size) = longest(&a, &b, &places, (a_start, a_end, b_start, b_end));
        if size > 0 {
            common += size;
            left.push((a_start, i, b_start, j));
            left.push((i + size, a_end, j + size, b_end));
        }
    }
    Some(2.0 * common as f64 / (a.len() + b.len()) as f64)
}

/// Returns the positions of every character of a text; characters that make up more than a
/// hundredth of a long text are skipped.
fn places(text: &[char]) -> HashMap<char, Vec<usize>> {
    let mut places: HashMap<char, Vec<usize>> = HashMap::new();
    for (at, c) in text.iter().enumerate() {
        places.entry(*c).or_default().push(at);
    }
    if text.len() >= LONG {
        let most = text.len() / 100 + 1;
        places.retain(|_, at| at.len() <= most);
    }
    places
}

/// Returns the longest common block within these bounds, the earliest of several.
fn longest(
    a: &[char],
    b: &[char],
    places: &HashMap<char, Vec<usize>>,
    (a_start, a_end, b_start, b_end): (usize, usize, usize, usize),
) -> (usize, usize, usize) {
    let (mut best_i, mut best_j, mut best) = (a_start, b_start, 0);
    let mut lengths: HashMap<usize, usize> = HashMap::new();
    for (i, letter) in a.iter().enumerate().take(a_end).skip(a_start) {
        let mut next = HashMap::new();
        let places = places.get(letter).map(Vec::as_slice).unwrap_or_default();
        let first = places.partition_point(|j| *j < b_start);
        for &j in places[first..].iter().take_while(|j| **j < b_end) {
            let before = if j == 0 { 0 } else { lengths.get(&(j - 1)).copied().unwrap_or(0) };
            let length = before + 1;
            next.insert(j, length);
            if length > best {
                (best_i, best_j, best) = (i + 1 - length, j + 1 - length, length);
            }
        }
        lengths = next;
    }
    // Letters that were not looked for still lengthen a block.
    while best_i > a_start && best_j > b_start && a[best_i - 1] == b[best_j - 1] {
        (best_i, best_j, best) = (best_i - 1, best_j - 1, best + 1);
    }
    while best_i + best < a_end && best_j + best < b_end && a[best_i + best] == b[best_j + best] {
        best += 1;
    }
    (best_i, best_j, best)
}

#[cfg(test)]
mod tests {
    use super::ratio;

    #[test]
    fn as_difflib_says() {
        for (a, b, want) in [
            ("abcd", "bcde", 0.75),
            ("", "", 1.0),
            ("a", "", 0.0),
            (
                "private Thread currentThread;",
                "private volatile Thread currentThread;",
                0.865_671_641_8,
            ),
            ("tide", "diet", 0.25),
            ("diet", "tide", 0.5),
        ] {
            let got = ratio(a, b).unwrap();
            assert!((got - want).abs() < 1e-9, "{a} {b}: {got}");
        }
    }
}
