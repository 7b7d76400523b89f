//! Sparklines: a series of numbers as block characters.

/// Formats numbers as block characters, from zero to the largest; a blank means not measured.
#[must_use]
pub fn sparkline(values: impl Iterator<Item = Option<f64>>) -> String {
    const SIGNS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let values: Vec<Option<f64>> = values.collect();
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    let sign = |value: f64| {
        let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
        SIGNS[((share * 7.0 - 1e-9).ceil().max(0.0) as usize).min(7)]
    };
    values.into_iter().map(|value| value.map_or(' ', sign)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_numbers() {
        for (values, want) in [
            (vec![Some(0.0), Some(1.0), None, Some(7.0)], "▁▂ █"),
            (vec![Some(0.0), Some(0.0)], "▁▁"),
            (vec![Some(3.0)], "█"),
            (vec![], ""),
        ] {
            assert_eq!(sparkline(values.into_iter()), want);
        }
    }
}
