//! What was graded: plots, a matrix of cases and graders, and every outcome with
//! what decided it.

use super::detail::{self, Depth};
use super::{Section, matrix, notes, plots, safe};
use crate::Options;
use crate::model::{CaseSummary, RunResult, Summary};
use crate::shown::{self, Shown};
use maud::{Markup, PreEscaped, html};

/// So many passes show their whole way; there is little to see.
const WHOLE_PASSES: usize = 50;
/// So many passes have details at all.
const MOST_PASSES: usize = 500;
/// Above so many bytes the way of a trajectory is left out.
const MUCH: usize = 8 << 20;
/// Above so many bytes only the reason is left.
const TOO_MUCH: usize = 16 << 20;
/// The most cases with trials that are listed.
const MOST_TRIALS: usize = 500;

pub(super) fn section(run: &RunResult, options: &Options) -> Section {
    let outcomes = Shown::all(run);
    let name = shown::name(run);
    Section {
        title: format!("{} {} · toolmark", shown::sign(run.summary.verdict), safe(name)),
        header: header(run, name, options),
        has_script: false,
        content: html! {
            (notes(&run.notes))
            @if !outcomes.is_empty() {
                section aria-label="Plots" class="plots" { (plots::all(run)) }
                (trials(&run.summary.trials))
                (filter(&run.summary))
                (matrix::table(&outcomes))
                (details(&outcomes))
            } @else {
                p { "There is nothing to report." }
            }
        },
    }
}

fn header(run: &RunResult, name: &str, options: &Options) -> Markup {
    let summary = &run.summary;
    let tile = |n: u64, word: &str, class: &str| {
        html! {
            div class={ "tile " (if n > 0 { class } else { "none" }) } {
                b { (n) } span { (word) }
            }
        }
    };
    html! {
        header class=(summary.verdict.word()) {
            div class="title" {
                h1 { (safe(name)) }
                span class={ "verdict " (summary.verdict.word()) } {
                    (shown::sign(summary.verdict)) " " (summary.verdict.word())
                }
            }
            p class="about" {
                code { (safe(&run.spec)) } " · " (run.dialect)
                " · " (shown::things(summary.cases, "case"))
                @if summary.outcomes != summary.cases {
                    ", " (shown::things(summary.outcomes, "outcome"))
                }
                @if let Some(elapsed) = options.elapsed { " · " (shown::seconds(elapsed)) }
                @if let Some(time) = options.generated_at { " · " (time.to_string()) }
            }
            div class="tiles" {
                (tile(summary.passed, "passed", "pass"))
                (tile(summary.failed, "failed", "fail"))
                (tile(summary.unknown, "unknown", "unknown"))
                (gate(summary))
                @for (name, value) in summary.aggregates.entries() {
                    div class="tile" { b { (safe(&value)) } span { (safe(&name)) } }
                }
            }
            (plots::proportions(summary))
        }
    }
}

fn gate(summary: &Summary) -> Markup {
    if summary.score.is_none() && summary.threshold.is_none() {
        return Markup::default();
    }
    let class = match (summary.score, summary.threshold) {
        (Some(score), Some(threshold)) if toolmark_outcome::reaches(score, threshold) => "pass",
        (Some(_), Some(_)) => "fail",
        (None, Some(_)) => "unknown",
        _ => "",
    };
    html! {
        div class={ "tile " (class) } {
            b { (summary.score.map_or("?".into(), shown::score)) }
            span {
                "score"
                @if let Some(threshold) = summary.threshold {
                    ", threshold " (shown::score(threshold))
                }
            }
        }
    }
}

/// pass@k and pass^k of the cases with several trials.
fn trials(cases: &[CaseSummary]) -> Markup {
    let most = cases.iter().map(|case| case.pass_at_k.len()).max().unwrap_or(0);
    if !shown::has_trials(cases) {
        return Markup::default();
    }
    let ks = shown::interesting(most);
    let value = |values: &[f64], k: usize| {
        let value = k.checked_sub(1).and_then(|at| values.get(at));
        value.map_or("–".into(), |value| shown::score(*value))
    };
    html! {
        details class="panel trials" {
            summary { "Trials " span class="dim" { (shown::things(cases.len() as u64, "case")) " with several" } }
            div class="scroll" {
                table {
                    thead { tr {
                        th scope="col" { "case" } th scope="col" { "passed" }
                        th scope="col" class="num" { "95% interval" }
                        @for k in &ks { th scope="col" class="num" { "pass@" (k) } }
                        @for k in &ks { th scope="col" class="num" { "pass^" (k) } }
                    } }
                    tbody {
                        @for case in cases.iter().take(MOST_TRIALS) {
                            tr {
                                th scope="row" { (safe(&case.label())) }
                                td { (shown::trials(case)) }
                                td class="num" { (shown::interval(case)) }
                                @for k in &ks { td class="num" { (value(&case.pass_at_k, *k)) } }
                                @for k in &ks { td class="num" { (value(&case.pass_hat_k, *k)) } }
                            }
                        }
                    }
                }
            }
            @if cases.len() > MOST_TRIALS {
                p class="dim" { "… " (cases.len() - MOST_TRIALS) " more" }
            }
        }
    }
}

/// Which outcomes to see: works by style sheet alone.
fn filter(summary: &Summary) -> Markup {
    let choices = [
        ("all", "all", summary.outcomes),
        ("fail", "failed", summary.failed),
        ("unknown", "unknown", summary.unknown),
        ("pass", "passed", summary.passed),
    ];
    html! {
        fieldset class="filter" {
            legend { "Show" }
            @for (id, word, n) in choices {
                input type="radio" name="show" id={ "show-" (id) } checked[id == "all"];
                label for={ "show-" (id) } class=(id) { (word) " " span { (n) } }
            }
        }
    }
}

/// The outcomes one by one: failures first, then what cannot be told.
fn details(outcomes: &[Shown<'_>]) -> Markup {
    let mut list = String::new();
    let mut passes = 0;
    for word in ["fail", "unknown", "pass"] {
        let these = outcomes.iter().enumerate().filter(|(_, s)| s.result.verdict.word() == word);
        for (at, shown) in these {
            let mut depth = match list.len() {
                ..MUCH => Depth::Whole,
                MUCH..TOO_MUCH => Depth::Graders,
                _ => Depth::Reason,
            };
            if word == "pass" {
                passes += 1;
                if passes > MOST_PASSES {
                    continue;
                }
                if passes > WHOLE_PASSES {
                    depth = depth.min(Depth::Graders);
                }
            }
            list.push_str(&detail::outcome(at, shown, depth).into_string());
        }
    }
    html! {
        section aria-label="Outcomes" class="outcomes" {
            (PreEscaped(list))
            @if passes > MOST_PASSES {
                p class="dim pass case" {
                    "… " (passes - MOST_PASSES) " more passed; they have no details on this page"
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::STYLE;
    use super::*;
    use crate::testing;
    use std::collections::BTreeSet;

    /// The elements of a page and their attributes, read as a browser reads them.
    fn names(page: &str) -> (BTreeSet<String>, BTreeSet<String>) {
        let (mut elements, mut attributes) = (BTreeSet::new(), BTreeSet::new());
        let mut rest = page;
        while let Some(at) = rest.find('<') {
            rest = &rest[at + 1..];
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap();
            if end == 0 {
                continue;
            }
            elements.insert(rest[..end].to_owned());
            rest = &rest[end..];
            while !rest.starts_with('>') {
                rest = rest.trim_start();
                let end = rest.find(['=', ' ', '>']).unwrap();
                attributes.insert(rest[..end].to_owned());
                rest = &rest[end..];
                if let Some(value) = rest.strip_prefix("=\"") {
                    rest = value.split_once('"').unwrap().1;
                }
            }
        }
        (elements, attributes)
    }

    #[test]
    fn nothing_hostile_gets_in() {
        let page = testing::report("html");
        let (elements, attributes) = names(&page.replace(STYLE, ""));
        let set = |words: &str| words.split(' ').map(str::to_owned).collect::<BTreeSet<_>>();
        let known =
            set("DOCTYPE html head meta title style body header main section div span p b \
            h1 h2 code a ul ol li details summary table thead tbody tr th td fieldset legend input \
            label svg rect line text dl dt dd");
        let strange: Vec<&String> = elements.difference(&known).collect();
        assert!(strange.is_empty(), "elements that no template has: {strange:?}");
        let known =
            set("lang charset http-equiv content name class id href for type checked title \
            role aria-label aria-hidden scope colspan tabindex viewBox preserveAspectRatio x y x1 \
            x2 y1 y2 width height rx fill-opacity");
        let strange: Vec<&String> = attributes.difference(&known).collect();
        assert!(strange.is_empty(), "attributes that no template has: {strange:?}");
        assert!(page.contains("&lt;script&gt;alert(1)"), "the payload is nowhere to be seen");
        for reach in ["http:", "https:", "url(", "@import", "javascript:"] {
            assert!(!page.contains(reach), "{reach}");
        }
    }

    #[test]
    fn links_lead_somewhere() {
        let page = testing::report("html");
        let page = page.as_str();
        let after = |mark: &'static str| {
            page.match_indices(mark).map(move |(at, _)| page_word(page, at + mark.len()))
        };
        let ids: Vec<&str> = after(" id=\"").collect();
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len(), "an id is given twice");
        for target in after("href=\"#").chain(after("for=\"")) {
            assert!(unique.contains(target), "{target} is nowhere");
        }
    }

    fn page_word(page: &str, at: usize) -> &str {
        page[at..].split('"').next().unwrap()
    }

    #[test]
    fn large_runs_stay_small_enough_to_open() {
        let run = testing::many(5000);
        let page = testing::report_of("html", &run);
        assert!(page.len() < TOO_MUCH, "{} bytes", page.len());
        assert!(page.contains("more passed; they have no details"));
    }
}
