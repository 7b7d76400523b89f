//! Makes up patterns and texts, always the same ones.

use super::node::Case;

/// A small generator of numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

const ATOMS: &[&str] = &[
    "a", "a", "a", "b", "b", "c", ".", ".", "é", "😀", "k", "ſ", r"\d", r"\w", r"\W", r"\s", r"\S",
    "[ab]", "[^a]", "[a-c]", "[^]", "[]", r"[\w-]", r"[^\W]", r"[\s\S]", r"\n", r"\p{L}",
    r"\P{Lu}",
];
const CONDITIONS: &[&str] = &["^", "$", r"\b", r"\B"];
const QUANTIFIERS: &[&str] = &["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{2,}"];
const FLAGS: &[&str] = &["", "", "", "i", "m", "s", "im", "is", "y"];
const LETTERS: &[char] =
    &['a', 'a', 'a', 'b', 'b', 'c', 'A', 'B', 'é', 'É', 'k', '\u{212a}', 's', 'ſ'];
const OTHERS: &[char] = &[' ', '1', '_', '-', '\n', '\r', '\u{2028}', '😀'];

/// Pairs of patterns and texts.
pub fn cases(count: usize) -> Vec<Case> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut cases = Vec::with_capacity(count);
    while cases.len() < count {
        let mut groups = 0;
        let source = pattern(&mut random, 3, &mut groups);
        let flags = random.of(FLAGS);
        for _ in 0..4 {
            cases.push(Case::new(source.clone(), flags, text(&mut random)));
        }
    }
    cases
}

fn text(random: &mut Random) -> String {
    let length = random.below(10);
    (0..length)
        .map(|_| if random.below(5) > 0 { random.of(LETTERS) } else { random.of(OTHERS) })
        .collect()
}

fn pattern(random: &mut Random, depth: usize, groups: &mut usize) -> String {
    let branches = if random.below(4) == 0 { 2 } else { 1 };
    let branches: Vec<String> = (0..branches)
        .map(|_| {
            let terms = 1 + random.below(3);
            (0..terms).map(|_| term(random, depth, groups)).collect()
        })
        .collect();
    branches.join("|")
}

fn term(random: &mut Random, depth: usize, groups: &mut usize) -> String {
    let kind = random.below(if depth == 0 { 10 } else { 18 });
    let mut inside =
        |open: &str| format!("{open}{})", pattern(random, depth.saturating_sub(1), groups));
    let body = match kind {
        0 => return random.of(CONDITIONS).to_owned(),
        // May point to a group to come, or to none.
        1 => format!("\\{}", 1 + random.below(*groups + 1)),
        2..=9 => random.of(ATOMS).to_owned(),
        10 | 11 => inside("(?:"),
        12 => inside("(?="),
        13 => inside("(?!"),
        14 => return inside("(?<="),
        15 => return inside("(?<!"),
        _ => {
            *groups += 1;
            format!("({})", pattern(random, depth - 1, groups))
        }
    };
    if random.below(3) == 0 { body + random.of(QUANTIFIERS) } else { body }
}
