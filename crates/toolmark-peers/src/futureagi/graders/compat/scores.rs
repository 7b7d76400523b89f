//! The four formulas of the library.

use super::definitions::DeclaredFunction;
use super::literal::{Literal, PythonFailure, python_equal, same};
use super::normalise::NormalizedCall;
use crate::scores::python;
use toolmark_base::SortedSet;

/// Settings for grading a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flags {
    pub(super) strict: bool,
    pub(super) ignore_extra: bool,
    pub(super) ordered: bool,
    /// Weights of name, presence and value, as configured and not normalized.
    pub(super) weights: [f64; 3],
}

/// A score and its description.
pub(super) type DescribedScore = Result<(f64, String), PythonFailure>;

/// Rounds to four decimals, as the library does for every score.
fn rounded(score: f64) -> f64 {
    python::rounded(score, 4)
}

pub(super) fn name_match(actual: &NormalizedCall, expected: &NormalizedCall) -> (f64, String) {
    if actual.name == expected.name {
        (1.0, format!("the names are both {:?}", actual.name))
    } else {
        (0.0, format!("{:?} was called, {:?} was expected", actual.name, expected.name))
    }
}

pub(super) fn exact_match(
    actual: &NormalizedCall,
    expected: &NormalizedCall,
    flags: Flags,
) -> DescribedScore {
    if actual.name != expected.name {
        return Ok(name_match(actual, expected));
    }
    if let Some(missing) =
        expected.arguments.keys().find(|key| !actual.arguments.contains_key(*key))
    {
        return Ok((0.0, format!("argument {missing:?} is missing")));
    }
    let extra = actual.arguments.keys().find(|key| !expected.arguments.contains_key(*key));
    if let Some(extra) = extra.filter(|_| !flags.ignore_extra) {
        return Ok((0.0, format!("argument {extra:?} was not expected")));
    }
    for (key, want) in &expected.arguments {
        if let Some(value) = actual.arguments.get(key)
            && !same(value, want, flags.strict)?
        {
            return Ok((0.0, format!("argument {key:?} has another value")));
        }
    }
    Ok((1.0, format!("the calls of {:?} are the same", actual.name)))
}

/// Scores a call against another: weighted name, presence and values.
fn pair(
    actual: &NormalizedCall,
    expected: &NormalizedCall,
    flags: Flags,
) -> Result<f64, PythonFailure> {
    let (made, gold) = (&actual.arguments, &expected.arguments);
    let name = f64::from(u8::from(actual.name == expected.name));
    let (presence, value) = if gold.is_empty() {
        (f64::from(u8::from(made.is_empty() || flags.ignore_extra)), 1.0)
    } else {
        let (mut present, mut equal) = (0.0, 0.0);
        for (key, want) in gold {
            if let Some(value) = made.get(key) {
                present += 1.0;
                if same(value, want, flags.strict)? {
                    equal += 1.0;
                }
            }
        }
        let all = gold.len() as f64;
        (present / all, equal / all)
    };
    let [name_weight, presence_weight, value_weight] = flags.weights;
    Ok(rounded(name * name_weight + presence * presence_weight + value * value_weight))
}

/// Maximum number of compared values.
const MAX_WORK: usize = 100_000_000;

pub(super) fn accuracy(
    actual: &[NormalizedCall],
    expected: &[NormalizedCall],
    flags: Flags,
) -> DescribedScore {
    if let ([actual], [expected]) = (actual, expected) {
        return Ok((pair(actual, expected, flags)?, "one call against one".to_owned()));
    }
    if flags.ordered {
        if actual.len() != expected.len() {
            let counts = format!("{} calls were made, {} expected", actual.len(), expected.len());
            return Ok((0.0, counts));
        }
        let mut sum = 0.0;
        for (actual, expected) in actual.iter().zip(expected) {
            sum += pair(actual, expected, flags)?;
        }
        let mean = sum / expected.len() as f64;
        return Ok((rounded(mean), format!("{} calls, one after the other", expected.len())));
    }
    let values: usize =
        expected.iter().flat_map(|call| call.arguments.values()).map(Literal::size).sum();
    if (values + expected.len()).saturating_mul(actual.len()) > MAX_WORK {
        return Err(PythonFailure::Raised(
            "there are too many pairs of calls to compare".to_owned(),
        ));
    }
    let (mut matched, mut sum) = (0.0, 0.0);
    for expected in expected {
        let mut best = 0.0_f64;
        for actual in actual {
            best = best.max(pair(actual, expected, flags)?);
        }
        if best > 0.0 {
            matched += 1.0;
            sum += best;
        }
    }
    if matched == 0.0 {
        return Ok((0.0, "no expected call resembles one that was made".to_owned()));
    }
    let coverage = matched / expected.len() as f64;
    let reason =
        format!("{matched} of {} expected calls resemble one that was made", expected.len());
    Ok((rounded(coverage * (sum / matched)), reason))
}

/// Whether a value has the type that a definition names. The library treats any unknown type
/// name as a string.
fn has_type(value: &Literal, word: &str, strict: bool) -> bool {
    let word = word.to_lowercase();
    if matches!(value, Literal::Bool(_)) {
        return word == "boolean";
    }
    let int = value.type_word() == "int";
    let float = value.type_word() == "float";
    match word.as_str() {
        "integer" => int || float && !strict,
        "number" => int || float,
        "boolean" => false,
        "array" => value.type_word() == "list",
        "object" => value.type_word() == "dict",
        "null" => value.type_word() == "NoneType",
        _ => value.type_word() == "str",
    }
}

pub(super) fn validation(
    actual: &NormalizedCall,
    definitions: &[DeclaredFunction],
    flags: Flags,
) -> (f64, String) {
    let Some(definition) = definitions.iter().find(|known| known.name == actual.name) else {
        return (0.0, format!("{:?} is not among the definitions", actual.name));
    };
    let (mut checks, mut passed) = (0usize, 0usize);
    let mut wrong = Vec::new();
    for parameter in &definition.parameters {
        checks += 1;
        let fault = match actual.arguments.get(&parameter.name) {
            None if parameter.required => Some("is missing"),
            None => None,
            Some(value) if !has_type(value, &parameter.type_word, flags.strict) => {
                Some("has another type")
            }
            Some(value) => {
                let listed = parameter.one_of.iter().any(|choice| python_equal(value, choice));
                (!parameter.one_of.is_empty() && !listed)
                    .then_some("is not one of the allowed values")
            }
        };
        match fault {
            None => passed += 1,
            Some(fault) => wrong.push(format!("{:?} {fault}", parameter.name)),
        }
    }
    if !flags.ignore_extra {
        let declared: SortedSet<&str> =
            definition.parameters.iter().map(|known| known.name.as_str()).collect();
        for extra in actual.arguments.keys().filter(|key| !declared.contains(key.as_str())) {
            checks += 1;
            wrong.push(format!("{extra:?} is not declared"));
        }
    }
    if checks == 0 {
        return (1.0, "there is no parameter to check".to_owned());
    }
    wrong.truncate(10);
    let reason = match wrong.is_empty() {
        true => format!("all {checks} checks hold"),
        false => wrong.join("; "),
    };
    (rounded(passed as f64 / checks as f64), reason)
}
