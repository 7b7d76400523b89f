//! Finds the quotes of strings in text without escapes.

use crate::index::padded;
use crate::vector::{Best, VectorUnit, on_unit};

/// Returns the quotes of a text as a bit mask, one word per 64 bytes. `None` if the text
/// contains a backslash or a control character: then a quote may be part of a string, or
/// a string may be invalid.
///
/// ```
/// assert_eq!(toolmark_scan::quotes(r#"{"a":""}"#), Some(vec![0b0110_1010]));
/// assert_eq!(toolmark_scan::quotes(r#""\"""#), None);
/// ```
#[must_use]
pub fn quotes(text: &str) -> Option<Vec<u64>> {
    quotes_on(Best::get(), text.as_bytes())
}

on_unit!(fn quotes_on(bytes: &[u8]) -> Option<Vec<u64>> = quotes_with);

#[inline(always)]
fn quotes_with<U: VectorUnit>(unit: U, bytes: &[u8]) -> Option<Vec<u64>> {
    let (blocks, tail) = bytes.as_chunks::<64>();
    let mut words = Vec::with_capacity(blocks.len() + 1);
    let mut odd = 0;
    let mut step = |block: &[u8; 64]| {
        let m = unit.masks(block);
        odd |= m.backslash | m.control;
        m.quote
    };
    words.extend(blocks.iter().map(&mut step));
    if !tail.is_empty() {
        words.push(step(&padded(tail)));
    }
    (odd == 0).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_units_see_the_same(text in r#"[a"é ]{0,200}|[a"\\\t]{0,80}"#) {
            let is_odd = text.contains(['\\', '\t']);
            for unit in Best::all() {
                let found = quotes_on(unit, text.as_bytes());
                prop_assert_eq!(found.is_none(), is_odd);
                let Some(found) = found else { continue };
                for (at, byte) in text.bytes().enumerate() {
                    prop_assert_eq!(found[at / 64] >> (at % 64) & 1 == 1, byte == b'"');
                }
            }
        }
    }
}
