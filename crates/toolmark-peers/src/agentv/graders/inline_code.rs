//! `javascript` and `python`: code that grades the answer.
//!
//! The code runs in a separate process (`node`, `python3`), with the usual limits on
//! programs. If the interpreter is not installed, or programs may not be run, the verdict
//! is unknown.

use super::code_grader::{GraderCommand, input};
use super::reading::number;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use toolmark_config::{Node, Spanned};
use toolmark_grade::{AnswerCost, Determinism, Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_match::Building;
use toolmark_outcome::{Cause, Evidence, EvidenceRole, Outcome, Subject, Verdict, excerpt};

/// Code that grades the answer.
#[derive(Debug, Deserialize, JsonSchema)]
struct InlineCodeConfig {
    /// An expression, the body of a function, or a file (`file://…`).
    value: Spanned<String>,
    /// Minimum score; without it, any score above 0 passes.
    #[serde(default)]
    threshold: Option<f64>,
    /// Passed to the code as `context.config`.
    #[serde(default)]
    #[schemars(with = "Option<Value>")]
    config: Option<Node>,
}

/// JavaScript program that reads its input, runs the code and prints the result.
const JAVASCRIPT_PROGRAM: &str = r#"
const told = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const AsyncFunction = (async () => {}).constructor;
const make = () => {
  if (told.file) {
    const found = require(require('path').resolve(told.file));
    return found.default ?? found;
  }
  const names = ['output', 'context', 'require'];
  let made;
  try { made = new AsyncFunction(...names, `return (${told.code}\n)`); }
  catch { made = new AsyncFunction(...names, told.code); }
  return (output, context) => made(output, context, require);
};
Promise.resolve().then(() => make()(told.output, told.context))
  .then((result) => console.log('\n' + JSON.stringify({ result: result ?? null })));
"#;

/// The same program in Python.
const PYTHON_PROGRAM: &str = r#"
import importlib.util, json, sys, textwrap
told = json.load(sys.stdin)
output, context = told["output"], told["context"]
if told.get("file"):
    spec = importlib.util.spec_from_file_location("asserted", told["file"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = module.get_assert(output, context)
else:
    names = {"output": output, "context": context, "json": json}
    try:
        code = compile(told["code"].strip(), "value", "eval")
    except SyntaxError:
        body = textwrap.indent(textwrap.dedent(told["code"]), "    ")
        exec("def asserted(output, context):\n" + body, names)
        result = names["asserted"](output, context)
    else:
        result = eval(code, names)
print("\n" + json.dumps({"result": result}))
"#;

const TAXONOMY: Taxonomy = Taxonomy {
    determinism: Determinism::Environment,
    cost: AnswerCost::Medium,
    ..Taxonomy::OUTPUT
};

pub(crate) static JAVASCRIPT: GraderInfo = GraderInfo {
    id: "javascript",
    aliases: &[],
    origin: "agentv",
    summary: "evaluates a JavaScript expression",
    docs: "Evaluates a piece of JavaScript. `value` is an expression, the body of a function, or `file://` and the file of a module; it sees `output`, the final answer, and `context` with `vars`, `prompt` and what `code-grader` tells a program. It gives true or false, a score (`threshold` passes, else any above 0), or an object of `pass`, `score` and `reason`.

It is run by `node`. Where that is not installed, or programs may not be run, it is unknown.",
    example: "type: javascript\nconfig:\n  value: output.length < 100",
    taxonomy: TAXONOMY,
    profiles: &[],
    schema: schema_of::<InlineCodeConfig>,
    build: |building| build(building, "node", &["-e", JAVASCRIPT_PROGRAM]),
};

pub(crate) static PYTHON: GraderInfo = GraderInfo {
    id: "python",
    aliases: &[],
    origin: "agentv",
    summary: "evaluates a Python expression",
    docs: "Evaluates a piece of Python. `value` is an expression, the body of a function, or `file://` and a file that defines `get_assert(output, context)`. `javascript` describes its input and output.

It is run by `python3`. Where that is not installed, or programs may not be run, it is unknown.",
    example: "type: python\nconfig:\n  value: len(output) < 100",
    taxonomy: TAXONOMY,
    profiles: &[],
    schema: schema_of::<InlineCodeConfig>,
    build: |building| build(building, "python3", &["-c", PYTHON_PROGRAM]),
};

struct InlineCode {
    command: GraderCommand,
    code: String,
    threshold: Option<f64>,
    config: Value,
}

fn build(building: &mut Building<'_>, program: &str, args: &[&str]) -> Option<Arc<dyn Grader>> {
    let config = building.read::<InlineCodeConfig>()?;
    if config.value.value.trim().is_empty() {
        building.reject(config.value.span, "empty-text", "the code is empty");
        return None;
    }
    Some(Arc::new(InlineCode {
        command: GraderCommand::program(program, args, building.directory),
        code: config.value.value,
        threshold: config.threshold,
        config: config.config.map_or(Value::Null, |config| config.to_json()),
    }))
}

impl Grader for InlineCode {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let output = match subject.view.output() {
            Ok(output) => output.into_owned(),
            Err(missing) => return Outcome::unknown(Cause::MissingEvidence, missing.0),
        };
        let told = self.told(output, subject);
        let finished = match self.command.run(&told, subject) {
            Ok(finished) => finished,
            Err(error) => return Outcome::unknown(Cause::Program, error.to_string()),
        };
        let said = finished.stdout.trim();
        let answer = said.lines().last().and_then(|line| serde_json::from_str(line).ok());
        let result = answer.as_ref().and_then(|answer: &Value| answer.get("result"));
        let outcome = match result.filter(|_| finished.code == Some(0)) {
            Some(result) => self.judge(result),
            None if finished.timed_out => {
                Outcome::unknown(Cause::Program, "the code took too long")
            }
            None => {
                let why = format!("the code failed: {}", excerpt(finished.stderr.trim()));
                Outcome::unknown(Cause::Program, why)
            }
        };
        let words = Evidence::words(EvidenceRole::Context, "what the code gave");
        outcome.with_evidence([words.with_excerpt(said)])
    }
}

impl InlineCode {
    fn told(&self, output: String, subject: &Subject<'_>) -> Value {
        let mut context = match input(subject, &Map::new()) {
            Value::Object(context) => context,
            _ => Map::new(),
        };
        let spec = subject.context.spec.as_deref();
        let vars = spec.and_then(|spec| spec.get("vars")).cloned();
        context.insert("vars".into(), vars.unwrap_or_else(|| json!({})));
        context.insert("prompt".into(), json!(subject.context.prompts.first()));
        context.insert("config".into(), self.config.clone());
        let mut told = json!({ "output": output, "context": context });
        match self.code.trim().strip_prefix("file://") {
            // A function of the file may be named behind it.
            Some(file) => told["file"] = json!(file.split(':').next().unwrap_or(file)),
            None => told["code"] = json!(self.code),
        }
        told
    }

    /// Converts a result: a verdict, a score, or both with a reason.
    fn judge(&self, result: &Value) -> Outcome {
        let passes = |score: f64| match self.threshold {
            Some(threshold) => score >= threshold,
            None => score > 0.0,
        };
        match result {
            Value::Bool(holds) => Outcome::binary(*holds, format!("the code gave {holds}")),
            Value::Number(score) => {
                let score = score.as_f64().unwrap_or(0.0);
                let reason = format!("the code gave {}", number(score));
                Outcome::scored(Verdict::of(passes(score)), score.clamp(0.0, 1.0), reason)
            }
            Value::Object(said) => {
                let score = said.get("score").and_then(Value::as_f64);
                let pass = ["pass", "pass_"].iter().find_map(|key| said.get(*key)?.as_bool());
                let Some(pass) = pass.or_else(|| score.map(passes)) else {
                    let why = "the code gave neither pass nor score";
                    return Outcome::unknown(Cause::Program, why);
                };
                let score = score.unwrap_or(f64::from(u8::from(pass))).clamp(0.0, 1.0);
                let reason = said.get("reason").and_then(Value::as_str).map(excerpt);
                let reason = reason.unwrap_or_else(|| format!("the code gave {}", number(score)));
                Outcome::scored(Verdict::of(pass), score, reason)
            }
            other => {
                let why =
                    format!("the code gave {}, which is no verdict", excerpt(&other.to_string()));
                Outcome::unknown(Cause::Program, why)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{agentv, complaints, grade};
    use serde_json::{Value, json};
    use std::process::{Command, Stdio};
    use toolmark_outcome::{Cause, Verdict};

    fn has(program: &str) -> bool {
        let mut command = Command::new(program);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    #[test]
    fn code_decides() {
        let made = agentv(json!([{"tool": "a", "input": {}, "output": "x"}]));
        let unknown = Verdict::Unknown(Cause::Program);
        for (id, program, config, verdict, score) in [
            ("javascript", "node", json!("output.length > 0"), Verdict::Pass, Some(1.0)),
            ("javascript", "node", json!("const n = 1;\nreturn n > 2;"), Verdict::Fail, Some(0.0)),
            (
                "javascript",
                "node",
                json!("({score: 0.5, pass: true, reason: 'so'})"),
                Verdict::Pass,
                Some(0.5),
            ),
            ("javascript", "node", json!("throw new Error('no')"), unknown, None),
            ("python", "python3", json!("len(output) > 0"), Verdict::Pass, Some(1.0)),
            (
                "python",
                "python3",
                json!("n = len(output)\nreturn n > 1000"),
                Verdict::Fail,
                Some(0.0),
            ),
            ("python", "python3", json!("0.25"), Verdict::Pass, Some(0.25)),
            ("python", "python3", json!("context['nothing']"), unknown, None),
            ("python", "python3", json!("file://none.py"), unknown, None),
        ] {
            let outcome = grade(id, json!({"value": config}), &made);
            let (verdict, score) = if has(program) { (verdict, score) } else { (unknown, None) };
            assert_eq!((outcome.verdict, outcome.score), (verdict, score), "{id} {config}");
        }
        let config: Value = json!({"value": "0.25", "threshold": 0.5});
        let verdict = if has("python3") { Verdict::Fail } else { unknown };
        assert_eq!(grade("python", config, &made).verdict, verdict);
    }

    #[test]
    fn mistakes() {
        assert!(complaints("python", &json!({"value": " "})).join("").contains("empty"));
        assert!(complaints("javascript", &json!({})).join("").contains("value"));
    }
}
