//! Generates patterns and texts deterministically.

use super::node::Case;

/// A small random number generator (xorshift).
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

/// Building blocks of patterns and texts.
struct Alphabet {
    atoms: &'static [&'static str],
    letters: &'static [char],
    /// Whether to include syntax that is only valid without the `u` flag. Node then sees half
    /// characters and folds case differently, so these texts are ASCII.
    web: bool,
}

const UNICODE: Alphabet = Alphabet {
    atoms: &[
        "a",
        "a",
        "a",
        "b",
        "b",
        "c",
        ".",
        ".",
        "é",
        "😀",
        "k",
        "ſ",
        r"\d",
        r"\w",
        r"\W",
        r"\s",
        r"\S",
        "[ab]",
        "[^a]",
        "[a-c]",
        "[^]",
        "[]",
        r"[\w_-]",
        r"[^\W]",
        r"[\s\S]",
        r"\n",
        r"\p{L}",
        r"\P{Lu}",
        r"[^\p{Lu}]",
        r"\u{e9}",
    ],
    letters: &[
        'a', 'a', 'a', 'a', 'b', 'b', 'b', 'c', 'A', 'B', 'é', 'É', 'k', '\u{212a}', 's', 'ſ', ' ',
        '1', '_', '\n', '\r', '\u{2028}', '😀',
    ],
    web: false,
};
const WEB: Alphabet = Alphabet {
    atoms: &[
        "a", "a", "a", "b", "b", "c", ".", r"\-", r"\_", r"\a", r"\8", "]", "}", "{", r"\c",
        r"\cJ", r"\x6", r"\u00", r"\k", r"[\w-a]", r"[a-\d]", r"[\c_]", r"[\b\1]", r"\d", r"\w",
        r"\W", r"\s", "[^a]", "[]", "[^]", "a{,2}",
    ],
    letters: &[
        'a', 'a', 'a', 'a', 'b', 'b', 'b', 'c', 'A', 'B', ' ', '1', '8', '_', '-', '\n', '\r', ']',
        '}', '{', '\\', '\u{1}',
    ],
    web: true,
};
const CONDITIONS: &[&str] = &["^", "$", r"\b", r"\B"];
const QUANTIFIERS: &[&str] = &["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{2,}"];
const FLAGS: &[&str] = &["", "", "", "i", "m", "s", "im", "is", "y"];

/// Generates pairs of patterns and texts.
pub(crate) fn cases(count: usize) -> Vec<Case> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut cases = Vec::with_capacity(count);
    while cases.len() < count {
        let alphabet = if random.below(3) > 0 { &UNICODE } else { &WEB };
        let mut groups = 0;
        let mut source = pattern(&mut random, alphabet, 3, &mut groups);
        if !alphabet.web {
            // A reference without a group is an error there.
            for group in groups + 1..20 {
                source = source.replace(&format!("\\{group}"), "a");
            }
        }
        let flags = random.of(FLAGS);
        for _ in 0..4 {
            let length = random.below(10);
            let text: String = (0..length).map(|_| random.of(alphabet.letters)).collect();
            cases.push(Case::new(source.clone(), flags, text));
        }
    }
    cases
}

fn pattern(random: &mut Random, alphabet: &Alphabet, depth: usize, groups: &mut usize) -> String {
    let branches = if random.below(4) == 0 { 2 } else { 1 };
    let branches: Vec<String> = (0..branches)
        .map(|_| {
            let terms = 1 + random.below(3);
            (0..terms).map(|_| term(random, alphabet, depth, groups)).collect()
        })
        .collect();
    branches.join("|")
}

fn term(random: &mut Random, alphabet: &Alphabet, depth: usize, groups: &mut usize) -> String {
    let kind = random.below(if depth == 0 { 10 } else { 18 });
    let open = match kind {
        0 => return random.of(CONDITIONS).to_owned(),
        10 | 11 => "(?:",
        12 => "(?=",
        13 => "(?!",
        14 => "(?<=",
        15 => "(?<!",
        _ => "(",
    };
    let body = match kind {
        // May point to a group to come, or to none.
        1 => format!("\\{}", 1 + random.below(*groups + 1)),
        2..=9 => random.of(alphabet.atoms).to_owned(),
        _ => {
            *groups += usize::from(open == "(");
            format!("{open}{})", pattern(random, alphabet, depth - 1, groups))
        }
    };
    let repeatable = match open {
        "(?<=" | "(?<!" => false,
        "(?=" | "(?!" => alphabet.web,
        _ => true,
    };
    if repeatable && random.below(3) == 0 { body + random.of(QUANTIFIERS) } else { body }
}
