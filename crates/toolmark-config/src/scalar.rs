//! Parses plain YAML scalars by the core schema of YAML 1.2.

use crate::NodeKind;

/// Returns the value of an unquoted scalar. `yes`, `on` and dates are text.
pub fn plain(text: &str) -> NodeKind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => NodeKind::Null,
        "true" | "True" | "TRUE" => NodeKind::Bool(true),
        "false" | "False" | "FALSE" => NodeKind::Bool(false),
        _ => number(text).unwrap_or_else(|| NodeKind::Text(text.into())),
    }
}

/// Returns the number that a scalar represents, if any.
pub fn number(text: &str) -> Option<NodeKind> {
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
            return Some(NodeKind::Float(f64::NEG_INFINITY));
        }
        ".inf" | ".Inf" | ".INF" => return Some(NodeKind::Float(f64::INFINITY)),
        ".nan" | ".NaN" | ".NAN" if unsigned == text => return Some(NodeKind::Float(f64::NAN)),
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
    text.parse().ok().map(NodeKind::Float)
}

/// Parses a whole number in decimal digits with an optional sign.
pub fn decimal(text: &str) -> NodeKind {
    if let Ok(value) = text.parse() {
        return NodeKind::Int(value);
    }
    match text.parse() {
        Ok(value) => NodeKind::UInt(value),
        // Only a number beyond all integers is left.
        Err(_) => text.parse().map_or_else(|_| NodeKind::Text(text.into()), NodeKind::Float),
    }
}

fn radix(digits: &str, radix: u32) -> Option<NodeKind> {
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    Some(match u64::from_str_radix(digits, radix) {
        Ok(value) => i64::try_from(value).map_or(NodeKind::UInt(value), NodeKind::Int),
        Err(_) => NodeKind::Float(digits.chars().fold(0.0, |sum, digit| {
            sum * f64::from(radix) + f64::from(digit.to_digit(radix).unwrap_or(0))
        })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_schema() {
        let text = |text: &str| NodeKind::Text(text.into());
        for (written, want) in [
            ("", NodeKind::Null),
            ("~", NodeKind::Null),
            ("null", NodeKind::Null),
            ("nil", text("nil")),
            ("true", NodeKind::Bool(true)),
            ("False", NodeKind::Bool(false)),
            ("tRue", text("tRue")),
            ("yes", text("yes")),
            ("no", text("no")),
            ("on", text("on")),
            ("Off", text("Off")),
            ("y", text("y")),
            ("0", NodeKind::Int(0)),
            ("-0", NodeKind::Int(0)),
            ("+12", NodeKind::Int(12)),
            ("-12", NodeKind::Int(-12)),
            ("010", NodeKind::Int(10)),
            ("1_000", text("1_000")),
            ("0x1F", NodeKind::Int(31)),
            ("0xg", text("0xg")),
            ("0x", text("0x")),
            ("-0x1", text("-0x1")),
            ("0o17", NodeKind::Int(15)),
            ("0o8", text("0o8")),
            ("0b1", text("0b1")),
            ("9223372036854775807", NodeKind::Int(i64::MAX)),
            ("-9223372036854775808", NodeKind::Int(i64::MIN)),
            ("9223372036854775808", NodeKind::UInt(1 << 63)),
            ("0xffffffffffffffff", NodeKind::UInt(u64::MAX)),
            ("18446744073709551616", NodeKind::Float(18446744073709551616.0)),
            ("0x10000000000000000", NodeKind::Float(18446744073709551616.0)),
            ("-9223372036854775809", NodeKind::Float(-9223372036854775809.0)),
            ("1.5", NodeKind::Float(1.5)),
            ("1.", NodeKind::Float(1.0)),
            (".5", NodeKind::Float(0.5)),
            ("-.5e-3", NodeKind::Float(-0.0005)),
            ("1e3", NodeKind::Float(1000.0)),
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
            (".inf", NodeKind::Float(f64::INFINITY)),
            ("-.INF", NodeKind::Float(f64::NEG_INFINITY)),
            ("inf", text("inf")),
            ("nan", text("nan")),
            ("+.nan", text("+.nan")),
            ("５", text("５")),
        ] {
            assert_eq!(plain(written), want, "{written}");
        }
        assert!(matches!(plain(".nan"), NodeKind::Float(value) if value.is_nan()));
    }
}
