//! Stability tests: IDs and issues do not depend on order, parts or other input.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on should say so"
)]

use proptest::prelude::*;
use std::collections::BTreeMap;
use toolmark_check::Checker;
use toolmark_feed::{Batch, Collector, Feed, IssueDecisions, OccurrenceKind};
use toolmark_session::notation;

/// Returns traces with one failed call per session, of several kinds.
fn traces() -> Vec<String> {
    let errors = [
        ("Read", "{\"file_path\":\"/w/FILE.rs\"}", "File does not exist."),
        ("Bash", "{\"command\":\"gh pr diff --FILE\"}", "Exit code 1\\nunknown flag: --FILE"),
        ("Bash", "{\"command\":\"FILE x\"}", "Exit code 127\\nbash: FILE: command not found"),
        ("Bash", "{\"command\":\"git push\"}", "Exit code 1\\nfatal: no upstream branch FILE7"),
    ];
    let one = |n: usize| {
        let (tool, args, error) = errors[n % errors.len()];
        format!("{tool} {args} !> \"{error}\"").replace("FILE", &format!("name{n}"))
    };
    (0..24).map(one).collect()
}

fn batch(n: usize, trace: &str) -> Batch {
    let mut run = notation::parse(trace).unwrap();
    run.id = Some(format!("session-{n}").as_str().into());
    run.file = format!("file-{n}").into();
    let mut batch = Batch::default();
    Collector::new(Checker::default(), Some(OccurrenceKind::Failure)).collect(&run, &mut batch);
    batch
}

fn feed(order: &[usize]) -> Feed {
    let traces = traces();
    let mut feed = Feed::default();
    order.iter().for_each(|n| drop(feed.add(batch(*n, &traces[*n]))));
    feed
}

/// Builds a feed of sessions with these traces, and returns the numbers of their origins.
fn feed_of(now: &[usize]) -> (Feed, Vec<Vec<u32>>) {
    let traces = traces();
    let mut feed = Feed::default();
    let add = |(n, kind): (usize, &usize)| feed.add(batch(n, &traces[*kind]));
    let origins = now.iter().enumerate().map(add).collect();
    (feed, origins)
}

fn shown(feed: &Feed) -> String {
    let now = "2026-03-01T00:00:00Z".parse().unwrap();
    serde_json::to_string(
        &feed
            .issues(&IssueDecisions::default(), now)
            .into_iter()
            .map(|issue| issue.redact(toolmark_outcome::Redactor::new(true)))
            .collect::<Vec<_>>(),
    )
    .unwrap()
}

/// Returns the issue of each session.
fn ids(feed: &Feed) -> BTreeMap<String, String> {
    let listed = feed.occurrences(&IssueDecisions::default());
    listed.iter().map(|one| (one.session.raw().to_owned(), one.issue.to_string())).collect()
}

#[test]
fn four_kinds_are_four_issues() {
    let all: Vec<usize> = (0..24).collect();
    let groups = ids(&feed(&all)).into_values().collect::<std::collections::BTreeSet<_>>();
    assert_eq!(groups.len(), 4);
}

#[test]
fn the_same_call_in_two_files_is_one_occurrence() {
    let traces = traces();
    let mut feed = Feed::default();
    feed.add(batch(1, &traces[1]));
    feed.add(batch(1, &traces[1]));
    assert_eq!((feed.len(), feed.repeated), (1, 1));
}

#[test]
fn a_call_of_two_files_and_a_lost_example_need_all_again() {
    let traces = traces();
    let mut feed = Feed::default();
    let origins = feed.add(batch(1, &traces[1]));
    // The only session that shows the issue, and it has another one now.
    assert!(feed.replace(&origins, vec![batch(1, &traces[0])]).is_none());
    assert_eq!(feed.replace(&origins, vec![batch(1, &traces[1])]), Some(vec![origins.clone()]));
    feed.add(batch(1, &traces[1]));
    assert!(feed.replace(&origins, vec![batch(1, &traces[1])]).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn order_changes_nothing(order in Just((0..24).collect::<Vec<usize>>()).prop_shuffle()) {
        let all: Vec<usize> = (0..24).collect();
        prop_assert_eq!(shown(&feed(&order)), shown(&feed(&all)));
    }

    /// Replacing a changed session has the same result as adding the changed session initially.
    #[test]
    fn what_is_replaced_is_as_if_it_had_been_added(
        changes in proptest::collection::vec((0_usize..24, 0_usize..24), 1..6),
    ) {
        let traces = traces();
        let mut now: Vec<usize> = (0..24).collect();
        let (mut changed, mut origins) = feed_of(&now);
        for (session, kind) in changes {
            now[session] = kind;
            let (whole, whole_origins) = feed_of(&now);
            match changed.replace(&origins[session], vec![batch(session, &traces[kind])]) {
                Some(of_batches) => origins[session] = of_batches.concat(),
                None => (changed, origins) = feed_of(&now),
            }
            prop_assert_eq!(whole_origins.len(), origins.len());
            prop_assert_eq!(shown(&changed), shown(&whole));
            prop_assert_eq!(ids(&changed), ids(&whole));
        }
    }

    #[test]
    fn parts_have_the_ids_of_the_whole(of in 2_usize..6) {
        let all: Vec<usize> = (0..24).collect();
        let whole = ids(&feed(&all));
        for index in 0..of {
            let part: Vec<usize> = all.iter().copied().filter(|n| n % of == index).collect();
            for (session, issue) in ids(&feed(&part)) {
                prop_assert_eq!(&whole[&session], &issue);
            }
        }
    }
}
