//! The evaluators configured in the `serve:` section of a file: rules, graders and judges.

use crate::exit::Failure;
use crate::human;
use crate::judging::JudgeArgs;
use crate::printer::Printer;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolmark_app::ActionEvents;
use toolmark_app::Stop;
use toolmark_app::grade::spec::report_problems;
use toolmark_app::judge::{ByRules, JudgeRequest};
use toolmark_check::config::chooses;
use toolmark_check::{Checker, RULES, Rule, Toolsets};
use toolmark_config::{Node, Problem, SourceText, parse};
use toolmark_grade::{LoadOptions, Plan, Planned};
use toolmark_outcome::judging::Judge;
use toolmark_outcome::{CaseContext, Confidence, Environment, FindingSource, Outcome, Verdict};
use toolmark_serve::config::{EvaluationUnit, ServeSettings, TagSettings, read_settings};
use toolmark_serve::{CallEvaluator, Evaluated, EvaluationSubject, Tag, version_of};
use toolmark_trace::{RecordedCalls, Trajectory};

/// Name of the default file.
const DEFAULT_FILE: &str = "toolmark.yaml";

/// The word for all rules.
const ALL_RULES: &str = "rules";

/// Reads the evaluators of a file; empty if the file or the section does not exist.
pub(super) fn open(
    named: Option<&Path>,
    judge: &JudgeArgs,
    printer: &mut Printer,
) -> Result<Vec<Tag>, Stop> {
    let path = named.unwrap_or(Path::new(DEFAULT_FILE));
    if named.is_none() && !path.is_file() {
        return Ok(Vec::new());
    }
    let source = match named {
        Some(path) => SourceText::open_named(path)?,
        None => SourceText::open(path)?,
    };
    let parsed = parse(&source);
    let part = parsed.node.as_ref().and_then(|root| root.get("serve"));
    let Some(part) = part.filter(|part| !part.is_null()) else {
        return match named {
            None => Ok(Vec::new()),
            Some(_) => {
                let failure = Failure::usage(format!("{} has no `serve:` section", path.display()));
                Err(failure.hint("write what to evaluate under `serve: {evaluate: …}`").into())
            }
        };
    };
    let mut problems: Vec<Problem> = parsed.problems;
    problems.retain(Problem::is_error);
    let settings = read_settings(part, &mut problems);
    let rules = settings.evaluate.iter().map(|tag| rules_of(tag, &mut problems)).collect();
    printer.problems(&source, &problems)?;
    let errors = problems.iter().filter(|problem| problem.is_error()).count();
    if errors > 0 {
        return Err(broken(path, errors).into());
    }
    make(path, settings, rules, judge, printer)
}

/// Lints the section in a spec.
pub(crate) fn lint(path: &Path, source: &SourceText) -> Vec<Problem> {
    let parsed = parse(source);
    let part = parsed.node.as_ref().and_then(|root| root.get("serve"));
    // A part that is not a map, and invalid YAML, are reported by the spec itself.
    let Some(part) = part.filter(|part| part.as_map().is_some()) else { return Vec::new() };
    let mut problems = Vec::new();
    let settings = read_settings(part, &mut problems);
    for (number, tag) in (1..).zip(&settings.evaluate) {
        let _ = rules_of(tag, &mut problems);
        let loaded = load(path, number, tag);
        // Their places are in a text of their own: the entry is pointed at.
        let at = tag.run.first().map(|node| node.span).unwrap_or_default();
        problems.extend(loaded.into_iter().flat_map(|one| one.problems).map(|one| one.at(at)));
    }
    problems
}

fn broken(path: &Path, errors: usize) -> Failure {
    let errors = human::things(errors as u64, "error");
    Failure::usage(format!("{} has {errors}; nothing is evaluated", path.display()))
}

/// The rules that an entry names, one list per name.
fn rules_of(tag: &TagSettings, problems: &mut Vec<Problem>) -> Vec<RuleEvaluator> {
    let mut all = Vec::new();
    for node in &tag.run {
        let Some(word) = node.as_str() else { continue };
        let rules: Vec<&'static Rule> =
            RULES.iter().copied().filter(|rule| chooses(word, rule)).collect();
        if word == ALL_RULES {
            all.push(RuleEvaluator { name: ALL_RULES.to_owned(), checker: Checker::default() });
        } else if rules.is_empty() {
            let message = format!("`{word}` is neither `{ALL_RULES}` nor a rule");
            let problem = Problem::error("unknown-rule", message).at(node.span);
            problems.push(problem.help("graders are maps: {type: …}"));
        } else {
            let checker = Checker::new(rules, Confidence::Low, Toolsets::default());
            all.push(RuleEvaluator { name: format!("rule:{word}"), checker });
        }
    }
    all
}

/// Loads the graders of an entry as a separate spec.
fn load(path: &Path, number: usize, tag: &TagSettings) -> Option<toolmark_grade::LoadedSpec> {
    let graders: Vec<Value> =
        tag.run.iter().filter(|node| node.as_str().is_none()).map(grader).collect();
    if graders.is_empty() {
        return None;
    }
    let is_call = tag.on.kind == EvaluationUnit::Call;
    let graders: Vec<Value> =
        graders.into_iter().map(|one| if is_call { about_call(one) } else { one }).collect();
    let name = format!("{}: entry {number} of serve.evaluate", path.display());
    let source = SourceText::new(name, json!({"graders": graders}).to_string());
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    Some(toolmark_spec::load_source(source, directory, &LoadOptions::default()))
}

fn grader(node: &Node) -> Value {
    node.to_json()
}

/// Restricts a judge to one sampled call, so that it does not see the whole run.
fn about_call(mut grader: Value) -> Value {
    let is_judge = grader.get("type").is_some_and(|word| word == "judge");
    let config = match grader.get("config") {
        Some(Value::Object(_)) => grader.get_mut("config"),
        _ => Some(&mut grader),
    };
    if let Some(Value::Object(config)) = config.filter(|_| is_judge) {
        config.entry("calls").or_insert_with(|| json!({"sample": 1}));
    }
    grader
}

fn make(
    path: &Path,
    settings: ServeSettings,
    rules: Vec<Vec<RuleEvaluator>>,
    judge: &JudgeArgs,
    printer: &mut Printer,
) -> Result<Vec<Tag>, Stop> {
    let mut plans: Vec<(PathBuf, Option<Plan>)> = Vec::new();
    for (number, tag) in (1..).zip(&settings.evaluate) {
        let mut plan = None;
        if let Some(loaded) = load(path, number, tag) {
            report_problems(printer, &loaded.source, &loaded.problems)?;
            let errors = loaded.problems.iter().filter(|problem| problem.is_error()).count();
            plan = loaded.plan.filter(|_| errors == 0);
            if plan.is_none() {
                return Err(broken(path, errors.max(1)).into());
            }
        }
        plans.push((path.to_owned(), plan));
    }
    let asks = |plan: &Option<Plan>| plan.as_ref().is_some_and(Plan::asks_judge);
    let asking = plans.iter().find_map(|(_, plan)| plan.as_ref().filter(|plan| plan.asks_judge()));
    let judge = match asking {
        None => None,
        Some(plan) => {
            let request = JudgeRequest {
                part_of: Some(path),
                usual: &plan.judge,
                // A stranger's file may name programs.
                may_run: false,
                gates: false,
            };
            judge.options().open(&request, printer)?
        }
    };
    let client = judge.map(|judge| judge.client as Arc<dyn Judge>);
    let environment = Arc::new(Environment {
        may_run: false,
        judge: client.clone(),
        findings: client.map(|_| Arc::new(ByRules::default()) as Arc<dyn FindingSource>),
        ..Environment::default()
    });
    let mut tags = Vec::new();
    for ((settings, rules), (_, plan)) in settings.evaluate.into_iter().zip(rules).zip(plans) {
        let is_judged = asks(&plan);
        let versions = versions(&settings.run);
        let case = plan.and_then(|plan| plan.every);
        let mut run: Vec<Arc<dyn CallEvaluator>> =
            rules.into_iter().map(|rules| Arc::new(rules) as Arc<dyn CallEvaluator>).collect();
        if let Some(case) = case {
            let context = Arc::clone(&case.context);
            for (planned, version) in case.graders.into_iter().zip(versions) {
                let is_costly = is_judged && planned.asks_judge();
                let environment = Arc::clone(&environment);
                let context = Arc::clone(&context);
                run.push(Arc::new(Grader { planned, version, context, environment, is_costly }));
            }
        }
        tags.push(Tag { on: settings.on, run, sample: settings.sample });
    }
    Ok(tags)
}

/// Versions of the graders, derived from their configurations.
fn versions(run: &[Node]) -> Vec<String> {
    let graders = run.iter().filter(|node| node.as_str().is_none());
    graders.map(|node| version_of(&node.to_json().to_string())).collect()
}

/// Rules of `toolmark check`.
struct RuleEvaluator {
    name: String,
    checker: Checker,
}

impl CallEvaluator for RuleEvaluator {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn is_costly(&self) -> bool {
        false
    }

    fn evaluate(&self, run: &Trajectory, parts: &[EvaluationSubject]) -> Vec<Evaluated> {
        let findings = self.checker.check_alone(run).findings;
        let is_recorded = run.calls_recorded() != RecordedCalls::Not;
        let answer = |part: &EvaluationSubject| {
            let mut about = findings.iter().filter(|finding| match part {
                EvaluationSubject::Session => true,
                EvaluationSubject::Call(at) => {
                    let call = finding.evidence.first().and_then(|one| one.call.as_ref());
                    call.is_some_and(|call| call.index == *at)
                }
            });
            match about.next() {
                Some(finding) => Evaluated {
                    verdict: "fail",
                    score: None,
                    reason: format!("{}: {}", finding.code, finding.message.raw()),
                },
                None if !is_recorded => Evaluated {
                    verdict: "unknown",
                    score: None,
                    reason: "the calls are not recorded".to_owned(),
                },
                None => Evaluated {
                    verdict: "pass",
                    score: None,
                    reason: "no rule finds fault".to_owned(),
                },
            }
        };
        parts.iter().map(answer).collect()
    }
}

/// A grader of a spec, or a judge.
struct Grader {
    planned: Planned,
    version: String,
    context: Arc<CaseContext>,
    environment: Arc<Environment>,
    is_costly: bool,
}

impl CallEvaluator for Grader {
    fn name(&self) -> &str {
        &self.planned.name
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn is_costly(&self) -> bool {
        self.is_costly
    }

    fn evaluate(&self, run: &Trajectory, parts: &[EvaluationSubject]) -> Vec<Evaluated> {
        let ask = |part: &EvaluationSubject| match part {
            EvaluationSubject::Session => self.planned.ask(&self.context, run, &self.environment),
            EvaluationSubject::Call(at) => {
                self.planned.ask_call(&self.context, run, *at, &self.environment)
            }
        };
        parts.iter().map(|part| answer(ask(part), self.planned.min_score)).collect()
    }
}

fn answer(outcome: Outcome, min_score: Option<f64>) -> Evaluated {
    let verdict = match (outcome.verdict, outcome.score, min_score) {
        (Verdict::Unknown(_), ..) => "unknown",
        (_, Some(score), Some(least)) => {
            if score >= least {
                "pass"
            } else {
                "fail"
            }
        }
        (Verdict::Pass, ..) => "pass",
        (Verdict::Fail, ..) => "fail",
    };
    Evaluated { verdict, score: outcome.score, reason: outcome.reason.raw().to_owned() }
}
