//! The grammar of bare JSON tokens: numbers and literals.

use crate::JsonKind;

/// Returns the kind of a bare token, or `None` if it is not JSON.
///
/// `NaN` and the infinities are accepted as numbers because Python writes them.
pub(crate) fn token_kind(token: &[u8]) -> Option<JsonKind> {
    let kind = match (token.first()?, token) {
        (b't', b"true") => JsonKind::True,
        (b'f', b"false") => JsonKind::False,
        (b'n', b"null") => JsonKind::Null,
        (b'N', b"NaN") | (b'I', b"Infinity") | (b'-', b"-Infinity") => JsonKind::Number,
        (b'-' | b'0'..=b'9', token) if is_number(token) => JsonKind::Number,
        _ => return None,
    };
    Some(kind)
}

fn is_number(token: &[u8]) -> bool {
    let mut rest = token.strip_prefix(b"-").unwrap_or(token);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest[0] == b'0') {
        return false;
    }
    rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix(b".") {
        let n = digits(fraction);
        if n == 0 {
            return false;
        }
        rest = &fraction[n..];
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = match exponent {
            [b'+' | b'-', tail @ ..] => tail,
            other => other,
        };
        let n = digits(exponent);
        return n > 0 && n == exponent.len();
    }
    rest.is_empty()
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| b.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens() {
        for good in ["0", "-0", "12", "1.5", "1e9", "-1.5E-3", "true", "null", "NaN"] {
            assert!(token_kind(good.as_bytes()).is_some(), "{good}");
        }
        for bad in ["", "-", "01", "1.", ".5", "1e", "1e+", "tru", "1x", "+1", "--1"] {
            assert!(token_kind(bad.as_bytes()).is_none(), "{bad}");
        }
    }
}
