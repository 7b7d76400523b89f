//! Names that look like other names: in another case or width, with invisible characters, or
//! with letters of another alphabet.

/// Letters of other alphabets that look like Latin ones, in pairs.
const LETTERS: &[(&str, char)] = &[
    ("аАΑαɑ", 'a'),
    ("ВвΒЬь", 'b'),
    ("сСϲ", 'c'),
    ("ԁ", 'd'),
    ("еЕΕєҽ", 'e'),
    ("ɡ", 'g'),
    ("һНнΗ", 'h'),
    ("іІΙιıӀ", 'i'),
    ("јЈ", 'j'),
    ("кКΚκ", 'k'),
    ("ӏ", 'l'),
    ("мМΜ", 'm'),
    ("пηΝ", 'n'),
    ("оОΟο", 'o'),
    ("рРΡρ", 'p'),
    ("ԛ", 'q'),
    ("г", 'r'),
    ("ѕЅ", 's'),
    ("тТΤτ", 't'),
    ("υ", 'u'),
    ("νѵ", 'v'),
    ("ԝш", 'w'),
    ("хХΧχ", 'x'),
    ("уУΥγ", 'y'),
    ("Ζ", 'z'),
];

/// Returns the letter that a character looks like; `None` if it is invisible.
fn seen(c: char) -> Option<char> {
    if c.is_ascii() {
        return (!c.is_ascii_control()).then(|| c.to_ascii_lowercase());
    }
    let from = |start: u32, of: u32| char::from_u32(u32::from(c) - start + of);
    let plain = match u32::from(c) {
        0xFF01..=0xFF5E => from(0xFF01, 0x21),
        0x1D400..=0x1D6A3 => char::from_u32((u32::from(c) - 0x1D400) % 52)
            .map(u32::from)
            .and_then(|n| char::from_u32(if n < 26 { n + 0x41 } else { n - 26 + 0x61 })),
        0xAD
        | 0x200B..=0x200F
        | 0x202A..=0x202E
        | 0x2060..=0x2064
        | 0xFE00..=0xFE0F
        | 0xFEFF
        | 0x300..=0x36F
        | 0xE0000..=0xE007F => return None,
        0x2010..=0x2015 | 0x2212 => Some('-'),
        _ => LETTERS.iter().find(|(all, _)| all.contains(c)).map(|(_, letter)| *letter),
    };
    Some(plain.map_or(c, |plain| plain.to_ascii_lowercase()))
}

/// Whether two different names look alike.
///
/// ```
/// use toolmark_match::looks_alike;
///
/// assert!(looks_alike("Bash", "bash") && looks_alike("Bash", "Ba\u{200b}sh"));
/// assert!(!looks_alike("Bash", "Bash") && !looks_alike("Bash", "Batch"));
/// ```
#[must_use]
pub fn looks_alike(one: &str, other: &str) -> bool {
    one != other && one.chars().filter_map(seen).eq(other.chars().filter_map(seen))
}

#[cfg(test)]
mod tests {
    use super::looks_alike;

    #[test]
    fn alike() {
        for (one, other, is) in [
            ("Bash", "BASH", true),
            ("Bash", "Ｂａｓｈ", true),
            ("Bash", "Bаsh", true),
            ("Bash", "Bash\u{200d}", true),
            ("Bash", "𝐁𝐚𝐬𝐡", true),
            ("web_search", "web-search", false),
            ("read", "reads", false),
            ("читать", "писать", false),
        ] {
            assert_eq!(looks_alike(one, other), is, "{one} {other}");
            assert_eq!(looks_alike(other, one), is, "{other} {one}");
        }
    }
}
