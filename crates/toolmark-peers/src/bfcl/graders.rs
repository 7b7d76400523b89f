//! The AST checker of the Berkeley Function Calling Leaderboard, for Python declarations.
//!
//! A reference argument is a list of accepted values; an empty text in the list means that
//! the argument may be omitted.

use crate::scores::calls::object;
use crate::scores::python::same;
use crate::scores::system::{Answered, ComparisonMode, ModeAnswer, ModeInput, NoAnswer, System};
use serde_json::{Map, Value};
use toolmark_outcome::Profile;

pub(crate) static SYSTEM: System = System {
    profile: Profile::Bfcl,
    version: "bfcl-eval 2026.3.23",
    threshold: 1.0,
    options: &["functions", "underscore_to_dot"],
    modes: &[
        ComparisonMode { word: "simple", aliases: &["exact"], own: None, score: simple },
        ComparisonMode { word: "multiple", aliases: &[], own: None, score: multiple },
        ComparisonMode {
            word: "parallel",
            aliases: &["parallel_multiple", "unordered"],
            own: None,
            score: parallel,
        },
        ComparisonMode {
            word: "irrelevance",
            aliases: &[],
            own: None,
            score: |asked| {
                Ok(relevance(asked.made.is_empty(), "irrelevance_error:decoder_success"))
            },
        },
        ComparisonMode {
            word: "relevance",
            aliases: &[],
            own: None,
            score: |asked| Ok(relevance(!asked.made.is_empty(), "relevance_error:decoder_failed")),
        },
    ],
};

fn relevance(holds: bool, error: &'static str) -> ModeAnswer {
    verdict(if holds { Ok(()) } else { Err(Invalid(error)) })
}

/// A validation error of the checker.
struct Invalid(&'static str);

/// Result of a check; the outer error is raised by the checker.
type BfclResult = Result<Result<(), Invalid>, NoAnswer>;

const VALID: BfclResult = Ok(Ok(()));

fn invalid(kind: &'static str) -> BfclResult {
    Ok(Err(Invalid(kind)))
}

fn verdict(checked: Result<(), Invalid>) -> ModeAnswer {
    let answer = ModeAnswer::binary(checked.is_ok()).with("valid", checked.is_ok());
    match checked {
        Ok(()) => answer,
        Err(Invalid(kind)) => answer.with("error_type", kind),
    }
}

fn simple(asked: &ModeInput<'_>) -> Answered {
    if asked.made.len() != 1 {
        return Ok(relevance(false, "simple_function_checker:wrong_count"));
    }
    let function = asked.options.functions.first();
    Ok(verdict(check(asked, function, 0, 0)?))
}

fn multiple(asked: &ModeInput<'_>) -> Answered {
    if asked.made.len() != asked.expected.len() {
        return Ok(relevance(false, "multiple_function_checker:wrong_count"));
    }
    if asked.made.is_empty() {
        return Err(NoAnswer::raised("there is nothing to compare"));
    }
    Ok(verdict(check(asked, declared(asked, 0), 0, 0)?))
}

fn declared<'a>(asked: &'a ModeInput<'_>, expected: usize) -> Option<&'a Value> {
    let name = &asked.expected[expected].name;
    asked.options.functions.iter().find(|function| function["name"] == **name)
}

/// Assigns the first free valid call to every expected call.
fn parallel(asked: &ModeInput<'_>) -> Answered {
    if asked.made.len() != asked.expected.len() {
        return Ok(relevance(false, "parallel_function_checker_no_order:wrong_count"));
    }
    let mut pairs: Vec<Option<usize>> = Vec::new();
    for expected in 0..asked.expected.len() {
        let mut found = None;
        for made in (0..asked.made.len()).filter(|made| !pairs.contains(&Some(*made))) {
            if check(asked, declared(asked, expected), expected, made)?.is_ok() {
                found = Some(made);
                break;
            }
        }
        pairs.push(found);
        if found.is_none() {
            let kind = "parallel_function_checker_no_order:cannot_find_match";
            pairs.resize(asked.expected.len(), None);
            return Ok(relevance(false, kind).paired(pairs));
        }
    }
    Ok(verdict(Ok(())).paired(pairs))
}

/// Types distinguished by Python's `type()`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Text,
    Integer,
    Float,
    Boolean,
    List,
    Object,
    Null,
}

fn type_of(value: &Value) -> Type {
    match value {
        Value::Null => Type::Null,
        Value::Bool(_) => Type::Boolean,
        Value::Number(number) if number.is_f64() => Type::Float,
        Value::Number(_) => Type::Integer,
        Value::String(_) => Type::Text,
        Value::Array(_) => Type::List,
        Value::Object(_) => Type::Object,
    }
}

fn type_named(word: &Value) -> Result<Type, NoAnswer> {
    match word.as_str() {
        Some("string" | "any") => Ok(Type::Text),
        Some("integer") => Ok(Type::Integer),
        Some("float") => Ok(Type::Float),
        Some("boolean") => Ok(Type::Boolean),
        Some("array" | "tuple") => Ok(Type::List),
        Some("dict") => Ok(Type::Object),
        _ => Err(NoAnswer::raised(format!("the type {word} is not known"))),
    }
}

/// Checks one call against an expected call and the declaration of its function.
fn check(
    asked: &ModeInput<'_>,
    function: Option<&Value>,
    expected: usize,
    made: usize,
) -> BfclResult {
    let none = || NoAnswer::raised("the function is not declared");
    let function = function.ok_or_else(none)?;
    let (Some(expected), made) = (asked.expected.get(expected), &asked.made[made]) else {
        return Err(NoAnswer::raised("no call is expected"));
    };
    let name = function["name"].as_str().ok_or_else(none)?;
    let called = match asked.options.underscore_to_dot {
        true => name.replace('.', "_"),
        false => name.to_owned(),
    };
    if made.name != called {
        return invalid("simple_function_checker:wrong_func_name");
    }
    let objects = (object(made.args.as_ref()), object(expected.args.as_ref()));
    let (Some(args), Some(accepted)) = objects else {
        return Err(NoAnswer::raised("arguments must be an object"));
    };
    let properties = function["parameters"]["properties"].as_object().ok_or_else(none)?;
    let required = function["parameters"]["required"].as_array().ok_or_else(none)?;
    if required.iter().filter_map(Value::as_str).any(|name| !args.contains_key(name)) {
        return invalid("simple_function_checker:missing_required");
    }
    for (name, value) in args.iter() {
        let (Some(declared), Some(answers)) = (properties.get(name), accepted.get(name)) else {
            return invalid("simple_function_checker:unexpected_param");
        };
        let answers = answers.as_array().map(Vec::as_slice).unwrap_or_default();
        if let Err(wrong) = parameter(declared, value, answers)? {
            return Ok(Err(wrong));
        }
    }
    let is_left_out = |(name, answers): (&String, &Value)| {
        let may = answers.as_array().is_some_and(|all| all.iter().any(|answer| answer == ""));
        !args.contains_key(name) && !may
    };
    if accepted.iter().any(is_left_out) {
        return invalid("simple_function_checker:missing_optional");
    }
    VALID
}

fn parameter(declared: &Value, value: &Value, answers: &[Value]) -> BfclResult {
    let word = &declared["type"];
    let wanted = type_named(word)?;
    let nested = match wanted {
        Type::List => Some(type_named(&declared["items"]["type"])?),
        _ => None,
    };
    // Python takes an integer for a float by itself.
    let float = match (wanted, value.as_i64()) {
        (Type::Float, Some(whole)) if type_of(value) == Type::Integer => {
            Some(Value::from(whole as f64))
        }
        _ => None,
    };
    let value = float.as_ref().unwrap_or(value);
    let is_variable = match has_type(value, answers, wanted, nested) {
        Ok(is_variable) => is_variable,
        Err(wrong) => return Ok(Err(wrong)),
    };
    if !is_variable {
        match (wanted, nested) {
            (Type::Object, _) => return Ok(one_object(value, answers)),
            (Type::List, Some(Type::Object)) => return Ok(objects(value, answers)),
            (Type::Text, _) => {
                let text = value.as_str().map(standard).unwrap_or_default();
                let is_same = |answer: &&str| standard(answer) == text;
                let holds = answers.iter().filter_map(Value::as_str).any(|a| is_same(&a));
                return if holds { VALID } else { invalid("value_error:string") };
            }
            (Type::List, _) => {
                let list = standard_items(value);
                let holds = answers.iter().any(|answer| same(&standard_items(answer), &list));
                return if holds { VALID } else { invalid("value_error:list/tuple") };
            }
            _ => {}
        }
    }
    let holds = answers.iter().any(|answer| same(answer, value));
    if holds { VALID } else { invalid("value_error:others") }
}

/// Checks that the value has the declared type or the type of the accepted answers; returns
/// whether it is a variable, that is, has the latter only.
fn has_type(
    value: &Value,
    answers: &[Value],
    wanted: Type,
    nested: Option<Type>,
) -> Result<bool, Invalid> {
    let of_answers = answers.iter().find(|answer| *answer != "").map(type_of);
    let mut wrong = None;
    if type_of(value) == wanted {
        let is_variable = of_answers.is_some_and(|kind| kind != wanted);
        let Some(nested) = nested else { return Ok(is_variable) };
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let fits = |answer: &Value| match answer {
            Value::Array(inner) => {
                items.iter().all(|item| has_type(item, inner, nested, None).is_ok())
            }
            _ => true,
        };
        if answers.iter().any(fits) {
            return Ok(is_variable);
        }
        wrong = Some(Invalid("type_error:nested"));
    }
    match (of_answers == Some(type_of(value)), wrong) {
        (true, None) => Ok(true),
        (true, Some(wrong)) => Err(wrong),
        (false, _) => Err(Invalid("type_error:simple")),
    }
}

/// Normalizes text: without spaces and some punctuation, in lower case, with one kind of quotes.
fn standard(text: &str) -> String {
    let kept = text.chars().filter(|c| !matches!(c, ' ' | ',' | '.' | '/' | '-' | '_' | '*' | '^'));
    kept.collect::<String>().to_lowercase().replace('\'', "\"")
}

fn standard_value(value: &Value) -> Value {
    value.as_str().map_or_else(|| value.clone(), |text| Value::from(standard(text)))
}

/// Normalizes the texts of a list; in Python, a text is a list of its characters.
fn standard_items(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(standard_value).collect(),
        Value::String(text) => {
            text.chars().map(|c| Value::from(standard(&c.to_string()))).collect()
        }
        other => other.clone(),
    }
}

fn one_object(value: &Value, answers: &[Value]) -> Result<(), Invalid> {
    let empty = Map::new();
    let fields = value.as_object().unwrap_or(&empty);
    let mut wrong = Invalid("dict_checker:unclear");
    for answer in answers.iter().filter(|answer| *answer != "") {
        let accepted = answer.as_object().unwrap_or(&empty);
        match fields_fit(fields, accepted) {
            Ok(()) => return Ok(()),
            Err(other) => wrong = other,
        }
    }
    Err(wrong)
}

fn fields_fit(fields: &Map<String, Value>, accepted: &Map<String, Value>) -> Result<(), Invalid> {
    let list = |answers: &Value| answers.as_array().cloned().unwrap_or_default();
    let mut wrong = None;
    for (key, value) in fields {
        let Some(answers) = accepted.get(key) else {
            wrong = Some(Invalid("value_error:dict_key"));
            break;
        };
        let value = standard_value(value);
        if !list(answers).iter().any(|answer| same(&standard_value(answer), &value)) {
            wrong = Some(Invalid("value_error:dict_value"));
            break;
        }
    }
    let is_missing = |(key, answers): (&String, &Value)| {
        !fields.contains_key(key) && !list(answers).iter().any(|answer| answer == "")
    };
    if accepted.iter().any(is_missing) {
        wrong = Some(Invalid("value_error:dict_key"));
    }
    wrong.map_or(Ok(()), Err)
}

fn objects(value: &Value, answers: &[Value]) -> Result<(), Invalid> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut wrong = Invalid("list_dict_checker:unclear");
    for answer in answers {
        let accepted = answer.as_array().map(Vec::as_slice).unwrap_or_default();
        if items.len() != accepted.len() {
            wrong = Invalid("value_error:list_dict_count");
            continue;
        }
        let check =
            |(item, accepted): (&Value, &Value)| one_object(item, std::slice::from_ref(accepted));
        match items.iter().zip(accepted).try_for_each(check) {
            Ok(()) => return Ok(()),
            Err(other) => wrong = other,
        }
    }
    Err(wrong)
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{call, outcome};
    use serde_json::{Value, json};
    use toolmark_outcome::Profile::Bfcl;

    fn functions() -> Value {
        let parameters = json!({
            "type": "dict",
            "properties": {
                "n": {"type": "integer"},
                "x": {"type": "float"},
                "s": {"type": "string"},
                "l": {"type": "array", "items": {"type": "string"}},
                "d": {"type": "dict"},
            },
            "required": ["n"],
        });
        json!([{"name": "geo.area", "parameters": parameters}])
    }

    fn ask(mode: &str, reference: &Value, made: &Value) -> (bool, Option<String>) {
        let config = json!({"mode": mode, "reference": reference, "functions": functions()});
        let outcome = outcome(Bfcl, config, made);
        let error = outcome.metrics.get("error_type").and_then(|e| e.as_str()).map(str::to_owned);
        (outcome.metrics["valid"] == true, error)
    }

    #[test]
    fn one_call() {
        let accepted = json!({"n": [1, 2], "x": [2.0, ""], "s": ["New York", ""], "l": [["A", "b"], ""], "d": [{"k": [1, 2], "o": [""]}, ""]});
        for (args, error) in [
            (json!({"n": 1}), None),
            (json!({"n": 2, "x": 2, "s": "new-york."}), None),
            (json!({"n": 1, "l": ["a", "B"]}), None),
            (json!({"n": 1, "d": {"k": 2}}), None),
            (json!({}), Some("simple_function_checker:missing_required")),
            (json!({"n": 1, "z": 1}), Some("simple_function_checker:unexpected_param")),
            (json!({"n": 1.0}), Some("type_error:simple")),
            (json!({"n": true}), Some("type_error:simple")),
            (json!({"n": 3}), Some("value_error:others")),
            (json!({"n": 1, "s": "Boston"}), Some("value_error:string")),
            (json!({"n": 1, "l": ["b", "a"]}), Some("value_error:list/tuple")),
            (json!({"n": 1, "d": {"k": 3}}), Some("value_error:dict_value")),
            (json!({"n": 1, "d": {"k": 1, "y": 1}}), Some("value_error:dict_key")),
        ] {
            let reference = json!([call("geo.area", accepted.clone())]);
            let (valid, kind) = ask("simple", &reference, &json!([call("geo_area", args.clone())]));
            assert_eq!((valid, kind.as_deref()), (error.is_none(), error), "{args}");
        }
        let reference = json!([call("geo.area", json!({"n": [1], "s": ["x"]}))]);
        let (_, kind) = ask("simple", &reference, &json!([call("geo_area", json!({"n": 1}))]));
        assert_eq!(kind.as_deref(), Some("simple_function_checker:missing_optional"));
    }

    #[test]
    fn several_and_none() {
        let wide = call("geo.area", json!({"n": [1, 2]}));
        let narrow = call("geo.area", json!({"n": [1]}));
        let made = json!([call("geo_area", json!({"n": 1})), call("geo_area", json!({"n": 2}))]);
        assert!(ask("parallel", &json!([narrow.clone(), wide.clone()]), &made).0);
        // The first takes what only the second could use.
        assert!(!ask("parallel", &json!([wide, narrow]), &made).0);
        assert!(ask("irrelevance", &json!([]), &json!([])).0);
        assert!(!ask("irrelevance", &json!([]), &made).0);
        assert!(ask("relevance", &json!([]), &made).0);
    }
}
