//! Parses plain YAML scalars by the core schema of YAML 1.2.

use crate::Kind;

/// Returns the value of an unquoted scalar. `yes`, `on` and dates are text.
pub fn plain(text: &str) -> Kind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
        "true" | "True" | "TRUE" => Kind::Bool(true),
        "false" | "False" | "FALSE" => Kind::Bool(false),
        _ => number(text).unwrap_or_else(|| Kind::Text(text.into())),
    }
}

/// Returns the number that a scalar represents, if any.
pub fn number(text: &str) -> Option<Kind> {
    // Most scalars are words: their first character tells.
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return None;
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    match unsigned {
        ".inf" | ".Inf" | ".INF" if text.starts_with('-') => {
            return Some(Kind::Float(f64::NEG_INFINITY));
        }
        ".inf" | ".Inf" | ".INF" => return Some(Kind::Float(f64::INFINITY)),
        ".nan" | ".NaN" | ".NAN" if unsigned == text => return Some(Kind::Float(f64::NAN)),
        _ => {}
    }
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(unsigned);
    let mut rest = &unsigned[whole..];
    if rest.is_empty() {
        return Some(decimal(text));
    }
    let mut counted = whole;
    if let Some(fraction) = rest.strip_prefix('.') {
        counted += digits(fraction);
        rest = &fraction[digits(fraction)..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if exponent.is_empty() || digits(exponent) != exponent.len() {
            return None;
        }
        rest = "";
    }
    if counted == 0 || !rest.is_empty() {
        return None;
    }
    text.parse().ok().map(Kind::Float)
}

/// Parses a whole number in decimal digits with an optional sign.
pub fn decimal(text: &str) -> Kind {
    if let Ok(value) = text.parse() {
        return Kind::Int(value);
    }
    match text.parse() {
        Ok(value) => Kind::UInt(value),
        // Only a number beyond all integers is left.
        Err(_) => text.parse().map_or_else(|_| Kind::Text(text.into()), Kind::Float),
    }
}

fn radix(digits: &str, radix: u32) -> Option<Kind> {
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    Some(match u64::from_str_radix(digits, radix) {
        Ok(value) => i64::try_from(value).map_or(Kind::UInt(value), Kind::Int),
        Err(_) => Kind::Float(digits.chars().fold(0.0, |sum, digit| {
            sum * f64::from(radix) + f64::from(digit.to_digit(radix).unwrap_or(0))
        })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_schema() {
        let text = |text: &str| Kind::Text(text.into());
        for (written, want) in [
            ("", Kind::Null),
            ("~", Kind::Null),
            ("null", Kind::Null),
            ("nil", text("nil")),
            ("true", Kind::Bool(true)),
            ("False", Kind::Bool(false)),
            ("tRue", text("tRue")),
            ("yes", text("yes")),
            ("no", text("no")),
            ("on", text("on")),
            ("Off", text("Off")),
            ("y", text("y")),
            ("0", Kind::Int(0)),
            ("-0", Kind::Int(0)),
            ("+12", Kind::Int(12)),
            ("-12", Kind::Int(-12)),
            ("010", Kind::Int(10)),
            ("1_000", text("1_000")),
            ("0x1F", Kind::Int(31)),
            ("0xg", text("0xg")),
            ("0x", text("0x")),
            ("-0x1", text("-0x1")),
            ("0o17", Kind::Int(15)),
            ("0o8", text("0o8")),
            ("0b1", text("0b1")),
            ("9223372036854775807", Kind::Int(i64::MAX)),
            ("-9223372036854775808", Kind::Int(i64::MIN)),
            ("9223372036854775808", Kind::UInt(1 << 63)),
            ("0xffffffffffffffff", Kind::UInt(u64::MAX)),
            ("18446744073709551616", Kind::Float(18446744073709551616.0)),
            ("0x10000000000000000", Kind::Float(18446744073709551616.0)),
            ("-9223372036854775809", Kind::Float(-9223372036854775809.0)),
            ("1.5", Kind::Float(1.5)),
            ("1.", Kind::Float(1.0)),
            (".5", Kind::Float(0.5)),
            ("-.5e-3", Kind::Float(-0.0005)),
            ("1e3", Kind::Float(1000.0)),
            ("1e", text("1e")),
            ("1e+", text("1e+")),
            (".", text(".")),
            ("-", text("-")),
            ("+", text("+")),
            ("..", text("..")),
            (".e1", text(".e1")),
            ("1.2.3", text("1.2.3")),
            ("2026-01-02", text("2026-01-02")),
            ("12:30", text("12:30")),
            (".inf", Kind::Float(f64::INFINITY)),
            ("-.INF", Kind::Float(f64::NEG_INFINITY)),
            ("inf", text("inf")),
            ("nan", text("nan")),
            ("+.nan", text("+.nan")),
            ("５", text("５")),
        ] {
            assert_eq!(plain(written), want, "{written}");
        }
        assert!(matches!(plain(".nan"), Kind::Float(value) if value.is_nan()));
    }
}
