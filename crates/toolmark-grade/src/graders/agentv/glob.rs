//! Names with `*` and `?`, whole and in any case.

/// Does the name match? `*` stands for any characters, `?` for one; upper and
/// lower case are the same.
pub(super) fn matches(glob: &str, name: &str) -> bool {
    let glob: Vec<char> = glob.chars().flat_map(char::to_lowercase).collect();
    let name: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
    let (mut g, mut n) = (0, 0);
    // Where the last star stands, and how much of the name it takes: only the
    // last one ever has to be tried again.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match glob.get(g) {
            Some('*') => {
                star = Some((g, n));
                g += 1;
            }
            // A line break is no character to a JavaScript dot.
            Some('?') if !is_break(name[n]) => {
                g += 1;
                n += 1;
            }
            Some(&c) if c == name[n] && c != '?' => {
                g += 1;
                n += 1;
            }
            _ => match star {
                Some((at, taken)) if !is_break(name[taken]) => {
                    star = Some((at, taken + 1));
                    g = at + 1;
                    n = taken + 1;
                }
                _ => return false,
            },
        }
    }
    glob[g..].iter().all(|c| *c == '*')
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// Is it more than a plain name?
pub(super) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_names_in_any_case() {
        for (glob, name, is_match) in [
            ("LookUp", "lookup", true),
            ("look", "lookup", false),
            ("look*", "lookup", true),
            ("*up", "LOOKUP", true),
            ("l?okup", "lookup", true),
            ("l?kup", "lookup", false),
            ("*", "", true),
            ("?", "", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a.b", "axb", false),
            ("[a]", "[A]", true),
            ("a*b", "a\nb", false),
        ] {
            assert_eq!(matches(glob, name), is_match, "{glob} {name:?}");
        }
        // Many stars over a long name end in good time.
        assert!(!matches(&"*a".repeat(50), &"a".repeat(40)));
        assert!(!matches(&format!("{}b", "*a".repeat(500)), &"a".repeat(50_000)));
    }
}
