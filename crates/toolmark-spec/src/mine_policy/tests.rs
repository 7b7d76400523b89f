//! Conditions mined from runs of a few lines.

use super::*;
use toolmark_session::notation;

fn run(passed: Option<bool>, trace: &str) -> JudgedRun {
    JudgedRun { run: notation::parse(&format!("host: openai\n{trace}")).unwrap(), passed }
}

/// A run that exchanges an item of an order with a status.
fn exchange(n: usize, status: &str, item: &str, result: &str, passed: Option<bool>) -> JudgedRun {
    run(
        passed,
        &format!(
            "user: exchange my lamp\nassistant: item {item} of order W{n}, right?\nuser: yes\n\
             get_order {{\"order_id\":\"W{n}\"}} -> \"{{\\\"status\\\":\\\"{status}\\\",\\\"items\\\":[{{\\\"item_id\\\":\\\"i{n}\\\"}}]}}\"\n\
             exchange_items {{\"order_id\":\"W{n}\",\"item_id\":\"{item}\"}} -> \"{result}\"\n"
        ),
    )
}

#[test]
fn conditions_with_their_support() {
    let mut runs: Vec<JudgedRun> =
        (1..=4).map(|n| exchange(n, "delivered", &format!("i{n}"), "ok", Some(true))).collect();
    runs.push(exchange(5, "pending", "i5", "Error: non-delivered order", Some(false)));
    runs.push(exchange(6, "delivered", "i9", "ok", Some(false)));
    let mined = mine_policy(&runs);
    insta::assert_snapshot!(mined.to_yaml(), @r"
    # Conditions on calls of named tools, mined from 4 runs that passed, 2 that failed and 0 without a result.
    # Lines that would have stopped nothing are comments. Read them before you use them.
    tools:
      exchange_items:
        effect: final  # by its name
        from:
          item_id: get_order.items[].item_id  # 4 of 4 calls that worked; stops 1 in runs that failed
        needs:
          get_order.status: delivered  # 4 of 4 calls that worked; stops 1 that failed (Error: non-delivered order)
        # confirm: true  # 4 of 4 calls that worked
        # once: per order_id  # 4 of 4 calls that worked
    ");
    let source = toolmark_config::SourceText::new("mined", mined.to_yaml());
    let mut parsed = toolmark_config::parse(&source);
    let policy = ToolPolicy::read(&parsed.node.unwrap(), &mut parsed.problems);
    assert_eq!(parsed.problems, []);
    assert!(policy.concerns("exchange_items"));
}

#[test]
fn a_condition_that_stops_good_calls_is_dropped() {
    let mut runs: Vec<JudgedRun> =
        (1..=4).map(|n| exchange(n, "delivered", &format!("i{n}"), "ok", Some(true))).collect();
    runs.extend((5..=8).map(|n| exchange(n, "pending", &format!("i{n}"), "ok", Some(true))));
    runs.push(exchange(9, "pending", "i9", "Error: no", Some(false)));
    let mined = mine_policy(&runs);
    assert!(mined.terms.iter().all(|term| term.key != "needs"), "{:?}", mined.terms);
}
