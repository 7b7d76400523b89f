//! Conditions on calls, in traces of a few lines.

use super::*;
use crate::notation;
use crate::session::Session;
use toolmark_config::Node;
use toolmark_hosts::toolset::Toolsets;

fn policy(json: Value) -> ToolPolicy {
    let mut problems = Vec::new();
    let policy = ToolPolicy::read(&Node::from_json(&json).unwrap(), &mut problems);
    assert_eq!(problems, []);
    policy
}

/// Returns the breaches of the last call of a trace.
fn last(policy: &ToolPolicy, trace: &str) -> Vec<(Condition, bool)> {
    let run = notation::parse(&format!("host: openai\n{trace}")).unwrap();
    let toolsets = Toolsets::default();
    let session = Session::new(&run, &toolsets);
    let call = session.calls().last().unwrap();
    let past = SessionPast::before(&session, call);
    let found = breaches(policy, &call.call.name.full(), call.args(), &past);
    found.into_iter().map(|breach| (breach.condition, breach.is_shown)).collect()
}

#[test]
fn conditions() {
    let policy = policy(serde_json::json!({
        "tools": {
            "exchange": {"needs": {"get_order.status": ["delivered"]}, "once": "per order_id",
                "from": {"items": "get_order.items[].id", "card": ["get_user.cards", "user"]}},
            "pay": {"confirm": true, "once": true, "limit": 2},
            "cancel": {"not_with": ["exchange"], "after": ["find_user"]},
            "refund": {"needs": {"get_order.status": {"not": ["refunded"]}}},
        },
        "order": ["find_user", "move", "exchange"],
    }));
    let order = "get_order {\"order_id\":\"W1\"} -> \"{\\\"status\\\":\\\"delivered\\\",\\\"items\\\":[{\\\"id\\\":7}]}\"\n";
    let pending = "get_order {\"order_id\":\"W1\"} -> \"{\\\"status\\\":\\\"pending\\\"}\"\n";
    use Condition::*;
    for (trace, want) in [
        (format!("{order}exchange {{\"order_id\":\"W1\",\"items\":[\"7\"]}} -> \"ok\""), vec![]),
        (format!("{order}exchange {{\"order_id\":\"W1\",\"items\":[8]}} -> \"ok\""), vec![(From, true)]),
        (format!("{pending}exchange {{\"order_id\":\"W1\"}} -> \"ok\""), vec![(Needs, true)]),
        // The result is about another order.
        (format!("{order}exchange {{\"order_id\":\"W2\"}} -> \"ok\""), vec![(Needs, true)]),
        // The result was not known when the call was made.
        (format!("{order}& exchange {{\"order_id\":\"W1\"}} -> \"ok\""), vec![(Needs, true)]),
        ("get_order {\"order_id\":\"W1\"} -> \"no JSON\"\nexchange {\"order_id\":\"W1\"} -> \"ok\"".to_owned(), vec![(Needs, false)]),
        (format!("{order}exchange {{\"order_id\":\"W1\"}} -> \"ok\"\nexchange {{\"order_id\":\"W1\"}} -> \"ok\""), vec![(Once, true)]),
        (format!("{order}exchange {{\"order_id\":\"W1\"}} -> \"Error: no\"\nexchange {{\"order_id\":\"W1\"}} -> \"ok\""), vec![]),
        (format!("user: use card c9\n{order}exchange {{\"order_id\":\"W1\",\"card\":\"c9\"}} -> \"ok\""), vec![]),
        (format!("{order}exchange {{\"order_id\":\"W1\",\"card\":\"c9\"}} -> \"ok\""), vec![(From, false)]),
        (format!("user: hi\n{order}exchange {{\"order_id\":\"W1\",\"card\":\"c9\"}} -> \"ok\""), vec![(From, true)]),
        ("user: pay 5\npay {\"n\":5} -> \"ok\"".to_owned(), vec![(Confirm, true)]),
        ("user: pay 5\nassistant: really 5?\nuser: yes\npay {\"n\":5} -> \"ok\"".to_owned(), vec![]),
        ("user: pay 5\nassistant: really 5?\nuser: no\npay {\"n\":5} -> \"ok\"".to_owned(), vec![(Confirm, true)]),
        ("pay {\"n\":5} -> \"ok\"".to_owned(), vec![(Confirm, false)]),
        ("find_user {} -> \"u\"\ncancel {\"order_id\":\"W1\"} -> \"ok\"".to_owned(), vec![]),
        ("cancel {\"order_id\":\"W1\"} -> \"ok\"".to_owned(), vec![(After, true)]),
        ("find_user {} -> \"u\"\nexchange {\"order_id\":\"W1\"} -> \"ok\"\ncancel {\"order_id\":\"W1\"} -> \"ok\"".to_owned(), vec![(NotWith, true)]),
        ("find_user {} -> \"u\"\nexchange {\"order_id\":\"W1\"} -> \"ok\"\ncancel {\"order_id\":\"W2\"} -> \"ok\"".to_owned(), vec![]),
        ("exchange {\"order_id\":\"W1\"} -> \"ok\"\nmove {\"order_id\":\"W1\"} -> \"ok\"".to_owned(), vec![(Order, true)]),
        (format!("{pending}refund {{\"order_id\":\"W1\"}} -> \"ok\""), vec![]),
    ] {
        assert_eq!(last(&policy, &trace), want, "{trace}");
    }
}

#[test]
fn a_proxy_sees_calls_alone() {
    let policy = policy(serde_json::json!({"tools": {
        "pay": {"confirm": true, "limit": 1, "needs": {"get_bill.open": true}},
    }}));
    let call = |tool: &str, result: &str| LiveCall {
        tool: format!("mcp__bank__{tool}"),
        args: serde_json::json!({"bill": 7}),
        result: Some(result.to_owned()),
        has_failed: false,
    };
    let calls =
        [call("get_bill", "{\"open\":true}"), call("pay", "Error: declined"), call("pay", "ok")];
    let of = |calls: &[LiveCall]| {
        let args = serde_json::json!({"bill": "7"});
        let found = breaches(&policy, "mcp__bank__pay", Some(&args), &LivePast(calls));
        found.into_iter().map(|breach| (breach.condition, breach.is_shown)).collect::<Vec<_>>()
    };
    assert_eq!(of(&calls[..2]), [(Condition::Confirm, false)]);
    assert_eq!(of(&calls), [(Condition::Limit, true), (Condition::Confirm, false)]);
    assert_eq!(of(&[]), [(Condition::Needs, true), (Condition::Confirm, false)]);
}
