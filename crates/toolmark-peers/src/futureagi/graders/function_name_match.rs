//! `function_name_match`: checks that the expected tools were called, and no others.

use super::alignment::{self, AlignedPair, Sides};
use super::material::Material;
use super::settings::{ComparisonSettings, FutureagiConfig};
use super::{Metric, build};
use serde_json::Value;
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::Profile;
use toolmark_outcome::{Outcome, Verdict};

pub(crate) static INFO: GraderInfo = GraderInfo {
    id: "function_name_match",
    aliases: &["function-name-match"],
    origin: "futureagi",
    summary: "checks that exactly the expected tools were called, each as often as expected",
    docs: "Passes if the expected tools were called, each as often as expected, and no others. \
           Arguments do not matter.

The expected calls are `expected`, else those of the row (`expected` or `expected_response`), in \
any shape: objects of any API, lists, JSON or Python in a text. `[]` and `\"\"` mean that no call \
is right; where nothing is said, or null, the verdict is unknown.

Expected calls and calls made are paired one to one by name; with `order_matters`, in order. The \
score is the number of pairs divided by the number of calls on the larger side, 1 where both sides \
have none. It passes where everything is paired. `metrics` has `matched`, `missing`, `extra`, \
`precision`, `recall`, `f1`, and the counts of each tool under `tools`.

The profile `futureagi` answers as the library does: 1 where both sides are one call with the same \
name, else 0; lists are 0, no expected call is 0.",
    example: "type: function_name_match\nconfig:\n  expected:\n    name: get_weather\n    \
              arguments: {city: Rome}",
    taxonomy: Taxonomy::EXPECTED,
    profiles: &[Profile::FutureAgi],
    schema: schema_of::<FutureagiConfig>,
    build: |building| build(Metric::NameMatch, building),
};

pub(super) fn grade(settings: &ComparisonSettings, material: &Material<'_>) -> Outcome {
    let sides = match Sides::of(settings, material, false) {
        Ok(sides) => sides,
        Err(unknown) => return *unknown,
    };
    let calls = if settings.order_matters {
        match sides.in_order(|_, _| true) {
            Ok(calls) => calls,
            Err(_) => return alignment::too_large(&sides),
        }
    } else {
        let mut calls = vec![None; sides.gold.len()];
        for group in sides.groups().values() {
            for (gold, made) in group.gold.iter().zip(&group.made) {
                calls[*gold] = Some(*made);
            }
        }
        calls
    };
    let pairs: Vec<Option<AlignedPair>> =
        calls.into_iter().map(|call| call.map(|call| AlignedPair { call, score: 1.0 })).collect();
    let matched = pairs.iter().flatten().count();
    let verdict = Verdict::of(matched == sides.most());
    let score = sides.share(matched as f64);
    let mut outcome = alignment::outcome(&sides, settings, &pairs, verdict, score);
    let (gold, made) = (sides.gold.len(), sides.made.len());
    // Without calls on a side there is no ratio; without calls on both sides it is 1.
    let ratio = |of: usize, both: usize| match (of, both) {
        (0, 0) => Value::from(1.0),
        (0, _) => Value::Null,
        _ => Value::from(matched as f64 / of as f64),
    };
    let f1 = if gold + made == 0 { 1.0 } else { 2.0 * matched as f64 / (gold + made) as f64 };
    outcome = outcome.with_metric("precision", ratio(made, gold + made));
    outcome = outcome.with_metric("recall", ratio(gold, gold + made));
    outcome.with_metric("f1", f1)
}

#[cfg(test)]
mod tests {
    use crate::futureagi::graders::testing::{answer, contrasted, f};
    use crate::testing::{complaints, grade, vally};
    use serde_json::{Value, json};
    use toolmark_outcome::{Cause, Verdict};

    const ID: &str = "function_name_match";

    fn calls(names: &str) -> Value {
        names.chars().map(|name| f(&name.to_string(), json!({}))).collect()
    }

    #[test]
    fn names_one_to_one() {
        for (expected, made, ordered, verdict, score) in [
            ("a", "a", false, "pass", 1.0),
            ("a", "b", false, "fail", 0.0),
            ("a", "A", false, "fail", 0.0),
            ("ab", "ba", false, "pass", 1.0),
            ("ab", "ba", true, "fail", 0.5),
            ("ab", "ab", true, "pass", 1.0),
            ("aa", "a", false, "fail", 0.5),
            ("a", "aa", false, "fail", 0.5),
            ("ab", "xab", true, "fail", 0.667),
            ("", "", false, "pass", 1.0),
            ("", "a", false, "fail", 0.0),
            ("a", "", false, "fail", 0.0),
            ("aab", "abb", false, "fail", 0.667),
        ] {
            let config = json!({"order_matters": ordered});
            let (word, got, _) = answer(ID, config, &calls(made), &calls(expected));
            assert_eq!((word, got), (verdict, Some(score)), "{expected} {made} {ordered}");
        }
    }

    #[test]
    fn shapes_of_gold_and_prediction() {
        let want = f("go", json!({"x": 1}));
        for made in [
            json!({"name": "go", "input": {}}),
            json!({"function_name": "go"}),
            json!({"type": "function", "function": {"name": "go", "arguments": "{}"}}),
            json!("go(x=-1)"),
            json!("[{\"name\": \"go\"}]"),
            json!([{"name": "go", "parameters": {}}]),
        ] {
            assert_eq!(answer(ID, json!({}), &made, &want).0, "pass", "{made}");
            assert_eq!(answer(ID, json!({}), &want, &made).0, "pass", "{made} expected");
        }
    }

    #[test]
    fn no_call_is_an_answer_and_nothing_said_is_none() {
        let words = json!("I would rather not");
        for none in [json!([]), json!(""), json!("[]")] {
            assert_eq!(answer(ID, json!({}), &words, &none).0, "pass", "{none}");
            assert_eq!(answer(ID, json!({}), &calls("a"), &none).0, "fail", "{none}");
        }
        let (word, _, null) = answer(ID, json!({}), &json!(null), &json!([]));
        assert_eq!((word, null.notes.len()), ("pass", 1));
        for (made, gold, says) in [
            (calls("a"), json!(null), "nothing says"),
            (calls("a"), json!("call a, please"), "contains no call"),
            (calls("a"), json!({"x": 1, "y": 2}), "keys x, y"),
            (json!({"x": 1, "y": 2}), json!([]), "keys x, y"),
        ] {
            let (_, score, outcome) = answer(ID, json!({}), &made, &gold);
            assert_eq!(outcome.verdict, Verdict::Unknown(Cause::MissingEvidence), "{made} {gold}");
            assert_eq!(score, None);
            assert!(outcome.reason.raw().contains(says), "{}", outcome.reason.raw());
        }
    }

    #[test]
    fn numbers_and_evidence() {
        let (_, _, outcome) = answer(ID, json!({}), &calls("abx"), &calls("aba"));
        let metrics = Value::Object((*outcome.metrics).clone());
        assert_eq!(metrics["matched"], 2);
        assert_eq!(metrics["missing"], 1);
        assert_eq!(metrics["extra"], 1);
        assert_eq!(metrics["f1"], 2.0 / 3.0);
        assert_eq!(metrics["tools"]["a"], json!({"expected": 2, "made": 1, "matched": 1}));
        assert_eq!(outcome.reason, "2 of 3 expected calls were made, 1 missing, 1 extra");
        assert_eq!(outcome.parts.len(), 3);
        // What decides comes first.
        assert_eq!(outcome.evidence[0].text, "a {} was expected and not called");
        assert_eq!(outcome.evidence[1].call.as_ref().unwrap().tool, "x");
        let explanation = outcome.explanation.unwrap();
        assert_eq!(explanation.divergence, Some(2));
        assert_eq!(explanation.repair, ["call a {}", "do not call x"]);
        let (_, _, none) = answer(ID, json!({}), &json!([]), &calls("a"));
        assert_eq!(
            (&none.metrics["precision"], &none.metrics["recall"]),
            (&json!(null), &json!(0.0))
        );
    }

    #[test]
    fn gold_from_the_configuration() {
        let call = ("tool_call", json!({"toolName": "a", "toolCallId": "1", "arguments": {}}));
        let trace = vally(&[("user_message", json!({"content": "go"})), call]);
        assert_eq!(grade(ID, json!({"expected": "a()"}), &trace).verdict, Verdict::Pass);
        assert_eq!(grade(ID, json!({"expected_response": []}), &trace).verdict, Verdict::Fail);
        let unknown = Verdict::Unknown(Cause::MissingEvidence);
        assert_eq!(grade(ID, json!({}), &trace).verdict, unknown);
        assert_eq!(grade(ID, json!({"expected": null}), &trace).verdict, unknown);
    }

    #[test]
    fn the_other_reading_is_mentioned_where_it_differs() {
        let same = contrasted(ID, &calls("a")[0], &calls("a")[0]);
        assert_eq!(same.contrast, None);
        // The library has no score for lists.
        let contrast = contrasted(ID, &calls("ab"), &calls("ab")).contrast.unwrap();
        assert_eq!((contrast.verdict, contrast.score), (Verdict::Fail, Some(0.0)));
        // It raises on the shape of OpenAI.
        let nested = json!({"type": "function", "function": {"name": "a", "arguments": "{}"}});
        let contrast = contrasted(ID, &nested, &calls("a")[0]).contrast.unwrap();
        assert_eq!(contrast.verdict, Verdict::Unknown(Cause::Configuration));
    }

    #[test]
    fn mistakes() {
        for (config, complaint) in [
            (json!({"expected": 3}), "not a list of calls: 3 is not a call"),
            (json!({"expected": "go there"}), "contains no call"),
            (json!({"order": true}), "unknown key"),
            (json!({"threshold": 2}), "from 0 to 1"),
            (json!({"name_weight": -1}), "0 or more"),
            (json!({"name_weight": 0, "presence_weight": 0, "value_weight": 0}), "above 0"),
            (json!({"function_definitions": [{"parameters": []}]}), "no name"),
        ] {
            let said = complaints(ID, &config).join("; ");
            assert!(said.contains(complaint), "{config}: {said}");
        }
    }
}
