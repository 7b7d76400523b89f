//! Tool selection by gold labels, for people at a terminal.

use crate::model::PrintableSelection;
use crate::terminal::text::TextLayout;
use crate::terminal::{StyledLine, style};
use anstyle::Style;
use toolmark_check::gold::ScoreRate;
use toolmark_outcome::{Printable, printable};

/// Maximum width of a name.
const NAME: usize = 24;
/// Maximum number of listed unscored rows, and of listed mistakes.
const SHOWN: usize = 5;

/// Formats the section about gold labels.
pub(crate) fn lines(selection: &PrintableSelection, room: usize) -> Vec<StyledLine> {
    let mut out = vec![StyledLine::new()];
    let right = selection.accuracy;
    let words = printable!("{} of {} chosen as the gold labels say", right.right, right.of);
    out.push(
        StyledLine::of(style::STRONG, "selection  ")
            .with(style::PLAIN, words)
            .with(style::DIM, printable!("  {}", share(right))),
    );
    table(selection, &mut out);
    mistakes(selection, &mut out);
    for pair in &selection.confusable {
        let [first, second] = &pair.tools;
        let words = printable!("{}/{} told apart  ", first, second);
        let counts = printable!(
            "{} of {}  {}",
            pair.told_apart.right,
            pair.told_apart.of,
            share(pair.told_apart)
        );
        out.push(StyledLine::of(style::DIM, words).with(tone(pair.told_apart.rate), counts));
    }
    let alone = selection.no_tool.left_alone;
    if alone.of > 0 {
        let counts = printable!("{} of {}  {}", alone.right, alone.of, share(alone));
        out.push(
            StyledLine::of(style::DIM, "no tool called where none was right  ")
                .with(tone(alone.rate), counts),
        );
    }
    for row in selection.unpaired.iter().take(SHOWN) {
        let name = row.name.cut(NAME);
        let words = printable!("unknown: line {} ({}): {}", row.line, name, row.reason);
        out.push(StyledLine::of(style::DIM, words));
    }
    for warning in &selection.warnings {
        for (at, part) in warning.wrap(room.saturating_sub(9)).into_iter().enumerate() {
            let lead = if at == 0 { "warning: " } else { "         " };
            out.push(StyledLine::of(style::WARN, lead).with(style::PLAIN, part));
        }
    }
    out
}

fn table(selection: &PrintableSelection, out: &mut Vec<StyledLine>) {
    let names: Vec<Printable> = selection.tools.keys().map(|name| name.cut(NAME)).collect();
    let first = names.iter().map(TextLayout::width).max().unwrap_or(0).max(4) + 2;
    // A rate with its interval is no wider than `100% 100–100`.
    let column = 14;
    let mut head = StyledLine::of(style::DIM, "tool");
    for (at, word) in ["F1", "precision", "recall"].into_iter().enumerate() {
        head.pad(first + at * column);
        head.push(style::DIM, word);
    }
    out.push(head);
    for (name, tool) in names.iter().zip(selection.tools.values()) {
        let mut line = StyledLine::of(style::STRONG, name);
        let cells = [
            (tool.f1.value, percents(tool.f1.value, tool.f1.interval)),
            (tool.precision.rate, share(tool.precision)),
            (tool.recall.rate, share(tool.recall)),
        ];
        for (at, (rate, text)) in cells.iter().enumerate() {
            line.pad(first + at * column);
            line.push(tone(*rate), text);
        }
        out.push(line);
    }
}

fn mistakes(selection: &PrintableSelection, out: &mut Vec<StyledLine>) {
    let mut wrong: Vec<_> = selection.confusion.iter().filter(|c| c.gold != c.chosen).collect();
    wrong.sort_by_key(|chosen| std::cmp::Reverse(chosen.count));
    for chosen in wrong.iter().take(SHOWN) {
        let (made, gold) = (chosen.chosen.cut(NAME), chosen.gold.cut(NAME));
        let words = printable!("{} where {} was right  ", made, gold);
        let count = printable!("\u{d7} {}", chosen.count);
        out.push(StyledLine::of(style::DIM, words).with(style::BAD, count));
    }
    if wrong.len() > SHOWN {
        let words =
            printable!("{} more kinds of mistakes; --format json has all", wrong.len() - SHOWN);
        out.push(StyledLine::of(style::DIM, words));
    }
}

fn share(rate: ScoreRate) -> Printable {
    percents(rate.rate, rate.interval)
}

fn percents(value: Option<f64>, interval: Option<[f64; 2]>) -> Printable {
    let (Some(value), Some([low, high])) = (value, interval) else { return "\u{2013}".into() };
    // No mistake may look like none.
    let percent = |share: f64| if share < 1.0 - 1e-9 { (share * 100.0).floor() } else { 100.0 };
    printable!("{:.0}% {:.0}\u{2013}{:.0}", percent(value), percent(low), percent(high))
}

fn tone(rate: Option<f64>) -> Style {
    match rate {
        None => style::DIM,
        Some(rate) if rate >= 1.0 => style::GOOD,
        Some(rate) if rate >= 0.9 => style::WARN,
        Some(_) => style::BAD,
    }
}

#[cfg(test)]
mod tests {
    use crate::ReportOptions;
    use crate::format_by_id;
    use serde_json::json;
    use std::sync::Arc;
    use toolmark_check::Checker;
    use toolmark_check::gold::{Gold, GoldRow};
    use toolmark_outcome::Redactor;
    use toolmark_session::notation;

    fn sample() -> crate::model::CheckRun {
        let rows = [
            json!({"prompt": "find main", "tool": "Grep"}),
            json!({"prompt": "read it", "tool": "Read"}),
            json!({"prompt": "what is 1+1?", "tool": "none"}),
            json!({"id": "gone\u{1b}[2J", "tool": "Edit"}),
        ];
        let rows = rows.iter().zip(1..).map(|(row, line)| GoldRow::parse(row, line).unwrap());
        let gold = Arc::new(Gold::new(rows.collect()).unwrap());
        let run = notation::parse(
            "user: find main\nGlob {\"pattern\":\"**/main*\"} -> \"main.rs\"\n\
             user: read it\nRead {\"file_path\":\"/w/main.rs\"} -> \"1\\tx\"\n\
             user: what is 1+1?\nassistant: 2",
        );
        let checker = Checker::default().with_gold(Some(gold.clone()));
        let mut checked = checker.check(&run.unwrap());
        checked.selection = Some(gold.score(&checked.pairs).unwrap());
        let sums = toolmark_check::OverviewSums::of(&checked.profiles);
        let run = toolmark_check::CheckRun { checked, sums, files: 1, ..Default::default() };
        run.redact(Redactor::new(true))
    }

    #[test]
    fn the_text_says_what_was_chosen() {
        for width in [40, 80, 120] {
            let options = ReportOptions { width, ..ReportOptions::default() };
            let text = format_by_id("text").unwrap().to_text(&sample(), &options).unwrap();
            let widest = text.lines().map(crate::terminal::text::width).max().unwrap();
            assert!(widest <= width, "{widest} of {width}:\n{text}");
            assert!(!text.contains('\u{1b}'));
        }
        let options = ReportOptions { width: 100, ..ReportOptions::default() };
        let text = format_by_id("text").unwrap().to_text(&sample(), &options).unwrap();
        for words in [
            "2 of 3 chosen as the gold labels say",
            "Glob where Grep was right",
            "Grep/Glob told apart",
            "no tool called where none was right  1 of 1",
            "unknown: line 4",
            "warning: 1 of 4 gold rows were not scored",
        ] {
            assert!(text.contains(words), "{words} is not in\n{text}");
        }
    }

    #[test]
    fn json_has_it_all() {
        let text = format_by_id("json").unwrap().to_text(&sample(), &ReportOptions::default());
        let value: serde_json::Value = serde_json::from_str(&text.unwrap()).unwrap();
        assert_eq!(value["selection"]["tools"]["Read"]["f1"]["value"], 1.0);
        assert_eq!(value["selection"]["no_tool"]["left_alone"]["of"], 1);
        let lines = format_by_id("jsonl").unwrap().to_text(&sample(), &ReportOptions::default());
        let lines = lines.unwrap();
        assert!(lines.lines().any(|line| line.starts_with(r#"{"type":"selection""#)), "{lines}");
    }
}
