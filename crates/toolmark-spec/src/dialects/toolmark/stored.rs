//! Reads the cases of a JSON Lines file one by one.

use super::case::{self, Defaults};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use toolmark_base::SortedMap;
use toolmark_config::json;
use toolmark_config::plain::{JsonCursor, ObjectKeys, PlainText};
use toolmark_grade::graders::{CallShapes, EXPECT, PlainExpect};
use toolmark_grade::run_plan::RunSettings;
use toolmark_grade::{
    Case, CaseFacts, CaseReader, Graders, LoadOptions, Loading, Match, Planned, StoredCases,
};
use toolmark_outcome::{CaseContext, SpecPlace};

/// Builds cases from lines.
struct StoredCaseReader {
    file: Arc<str>,
    directory: PathBuf,
    defaults: Defaults,
    options: LoadOptions,
    graders: Graders,
    /// Shapes of recently read calls. A reader takes them and gives them back.
    shapes: Mutex<CallShapes>,
}

/// Opens the cases of a file, unless there is a problem or a warning about one of them.
pub(super) fn open(
    path: &Path,
    defaults: &Defaults,
    loading: &Loading<'_>,
) -> Option<Arc<StoredCases>> {
    let reader = StoredCaseReader {
        file: path.to_string_lossy().into(),
        directory: path.parent().unwrap_or(Path::new(".")).to_owned(),
        defaults: defaults.clone(),
        options: loading.options.clone(),
        graders: loading.graders,
        shapes: Mutex::default(),
    };
    let stored = StoredCases::open(path, Box::new(reader))?;
    (!stored.is_empty()).then(|| Arc::new(stored))
}

impl CaseReader for StoredCaseReader {
    fn facts<'l>(&self, line: &'l str, number: u32) -> Option<CaseFacts<'l>> {
        let plain = self.with_shapes(|shapes| {
            PlainCase::read(line, |cursor| PlainExpect::check(cursor, shapes).map(|_| ()))
        });
        if let Some((plain, ())) = plain {
            let asks_judge = self.defaults.built.iter().any(Planned::asks_judge);
            let id = Cow::Borrowed(plain.id);
            return Some(CaseFacts { id, prompt: None, traces: Vec::new(), asks_judge });
        }
        let case = self.read(line, number)?;
        if case.run != RunSettings::default() {
            // How it is run counts for the verdict of all its trials, so it is held.
            return None;
        }
        Some(CaseFacts {
            asks_judge: case.graders.iter().any(Planned::asks_judge),
            id: Cow::Owned(case.id),
            prompt: case.matches.prompts.into_iter().next(),
            traces: case.matches.traces,
        })
    }

    fn case(&self, line: &Arc<str>, number: u32) -> Option<Case> {
        self.quick(line, number).or_else(|| self.read(line, number))
    }
}

impl StoredCaseReader {
    /// Calls `read` with the recorded call shapes. If another thread is using them, `read`
    /// gets empty ones instead of waiting.
    fn with_shapes<T>(&self, read: impl FnOnce(&mut CallShapes) -> T) -> T {
        let kept = || self.shapes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut shapes = std::mem::take(&mut *kept());
        let made = read(&mut shapes);
        *kept() = shapes;
        made
    }

    /// Reads any case. `None` if there is a problem or a warning about it.
    fn read(&self, line: &str, number: u32) -> Option<Case> {
        let node = json::tree(line)?;
        let file = Arc::clone(&self.file);
        let loading = Loading::new(file, line, &self.directory, &self.options, self.graders);
        let mut loading = loading.at_line(number);
        let case = case::read_case(&node, &self.defaults, &SortedMap::new(), &mut loading);
        let (problems, includes) = loading.finish();
        case.filter(|_| problems.is_empty() && includes.is_empty())
    }

    /// Reads a case that has only an ID and expectations.
    fn quick(&self, line: &Arc<str>, number: u32) -> Option<Case> {
        let (plain, grader) = self.with_shapes(|shapes| {
            PlainCase::read(line, |cursor| PlainExpect::build(cursor, line, shapes))
        })?;
        let place = |at: usize| SpecPlace {
            file: Arc::clone(&self.file).into(),
            line: number,
            column: u32::try_from(1 + line.get(..at).map_or(0, |before| before.chars().count()))
                .unwrap_or(u32::MAX),
        };
        let own = Planned {
            name: EXPECT.id.to_owned(),
            type_word: EXPECT.id.to_owned(),
            info: &EXPECT,
            profile: self.options.profile.unwrap_or(self.defaults.profile),
            weight: 1.0,
            required: false,
            min_score: None,
            negate: false,
            turn: None,
            grader,
            place: place(plain.expect),
        };
        let mut graders = Vec::with_capacity(1 + self.defaults.built.len());
        graders.push(own);
        graders.extend(self.defaults.built.iter().cloned());
        Some(Case {
            id: plain.id.to_owned(),
            tags: SortedMap::new(),
            matches: Match::default(),
            context: Arc::new(CaseContext {
                case: plain.id.to_owned(),
                directory: self.directory.clone(),
                ..CaseContext::default()
            }),
            graders: case::named_apart(graders),
            scoring: case::scoring(None, &self.defaults, &self.options),
            trials: None,
            run: RunSettings::default(),
            target: None,
            place: place(plain.start),
        })
    }
}

/// A case that has only an ID and expectations, both plain.
struct PlainCase<'l> {
    id: &'l str,
    /// Position at which the case begins.
    start: usize,
    /// Position at which the expectation begins.
    expect: usize,
}

impl<'l> PlainCase<'l> {
    /// Reads the case; `read` reads the expectation.
    fn read<T>(
        line: &'l str,
        mut read: impl FnMut(&mut JsonCursor<'l, '_>) -> Option<T>,
    ) -> Option<(Self, T)> {
        let text = PlainText::new(line)?;
        let mut cursor = text.start();
        let (mut id, mut expect) = (None, None);
        let mut keys = ObjectKeys::default();
        cursor.peek()?;
        let start = cursor.at();
        cursor.take(b'{')?;
        while let Some(key) = cursor.key(&mut keys)? {
            match key {
                b"id" => id = Some(cursor.string()?),
                b"expect" => {
                    cursor.peek()?;
                    expect = Some((cursor.at(), read(&mut cursor)?));
                }
                _ => return None,
            }
        }
        let (expect, what) = expect.filter(|_| cursor.is_done())?;
        Some((Self { id: id?, start, expect }, what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use toolmark_grade::RunSelection;
    use toolmark_grade::{Grading, Plan};
    use toolmark_outcome::{Environment, Redactor};
    use toolmark_trace::{ReadOptions, read};

    fn plan(spec: &str, cases: &str, stores_cases: bool) -> (tempfile::TempDir, Plan) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("cases.jsonl"), cases).unwrap();
        std::fs::write(dir.path().join("spec.yaml"), spec).unwrap();
        let options = LoadOptions { stores_cases, ..LoadOptions::default() };
        let loaded = crate::load(&dir.path().join("spec.yaml"), &options).unwrap();
        let said: Vec<_> = loaded.includes.iter().flat_map(|file| &file.problems).collect();
        (dir, loaded.plan.unwrap_or_else(|| panic!("{:?} {said:?}", loaded.problems)))
    }

    /// Returns the outcomes of traces, as JSON lines without the directory.
    fn outcomes(spec: &str, cases: &str, traces: &str, stores_cases: bool) -> Vec<String> {
        let (dir, plan) = plan(spec, cases, stores_cases);
        assert_eq!(plan.stored.is_some(), stores_cases, "{cases}");
        let grading = Grading::new(&plan, None, Environment::default(), RunSelection::default());
        let traces = std::io::Cursor::new(traces.to_owned());
        let runs = read(traces, "traces.jsonl", &ReadOptions::default()).unwrap();
        let graded = runs.filter_map(|run| grading.grade(&run).ok()).collect();
        let result = grading.finish(graded, Vec::new()).redact(Redactor::new(true));
        let dir = dir.path().to_string_lossy();
        let lines = result.outcomes.iter().map(|o| {
            // JSON does not have the places in the spec, JUnit has.
            format!("{} {:?}", serde_json::to_string(o).unwrap(), o.place)
        });
        lines.map(|line| line.replace(&*dir, "")).collect()
    }

    const SPEC: &str = "cases: cases.jsonl\n";

    const TRACES: &str = concat!(
        r#"{"id":"a","output_messages":[{"role":"assistant","content":"","tool_calls":["#,
        r#"{"tool":"x","input":{"k":1,"l":["b"]}},{"tool":"y","input":{}}]}]}"#,
        "\n",
        r#"{"id":"b","output_messages":[{"role":"assistant","content":"","tool_calls":["#,
        r#"{"tool":"x","input":{"l":["b"],"k":1.0}},{"tool":"x","input":{"k":2}}]}]}"#,
        "\n",
    );

    #[test]
    fn what_stays_in_its_file_is_graded_alike() {
        for case in [
            r#"{"id":"a","expect":{"sequence":["x",{"tool":"y"}]}}"#,
            r#"{"id":"a","expect":{"sequence":[{"tool":"y"},"x"],"extras":"forbid"}}"#,
            r#" { "expect" : {"calls":[{"name":"x","args":{"k":1},"args_match":"contains"}]}, "id":"b"} "#,
            r#"{"id":"b","expect":{"calls":["z*","x"],"sequence":["x"],"extras":"allow"}}"#,
            r#"{"id":"b","expect":{"calls":[{"tool":"x","args":{"k":1,"l":["b"]},"args_match":"exact"}]}}"#,
            r#"{"id":"é","expect":{"sequence":["x"]}}"#,
            // Not plain, and read another way.
            r#"{"id":"a","expect":{"forbidden":["y"]},"tags":["t"],"prompt":"do it"}"#,
            r#"{"id":7,"expect":{"calls":[{"tool":"x","args":{"k":1e0}}]}}"#,
        ] {
            let cases = format!("\n{case}\n{}\n", r#"{"id":"other","expect":{"sequence":["x"]}}"#);
            for spec in [SPEC, "cases: cases.jsonl\nthreshold: 0.5\nexpect: {none: true}\n"] {
                let whole = outcomes(spec, &cases, TRACES, false);
                assert_eq!(outcomes(spec, &cases, TRACES, true), whole, "{case}");
            }
        }
    }

    #[test]
    fn what_is_worth_a_word_is_held() {
        for case in [
            r#"{"id":"a","expect":{"sequence":[{"tool":"x","args_match":"exact"}]}}"#,
            r#"{"id":"a"}"#,
        ] {
            let (_dir, plan) = plan(SPEC, case, true);
            assert!(plan.stored.is_none(), "{case}");
            assert_eq!(plan.cases.len(), 1);
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!(null)),
            Just(json!(true)),
            prop::sample::select(vec![json!(0), json!(1), json!(1.0), json!(-2.5)]),
            prop::sample::select(vec![
                json!("a"),
                json!("\n"),
                json!("ghp_a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8")
            ]),
        ];
        leaf.prop_recursive(2, 6, 2, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
                prop::collection::vec(("[ab]", inner), 0..3)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    fn args() -> impl Strategy<Value = Value> {
        prop::collection::vec(("[ab]", value()), 0..3)
            .prop_map(|fields| Value::Object(fields.into_iter().collect()))
    }

    fn call() -> impl Strategy<Value = (String, Value, Option<&'static str>)> {
        let how = prop::sample::select(vec![None, Some("exact"), Some("contains"), Some("within")]);
        ("[xy]", args(), how)
    }

    /// Generates an expected call: a name, a pattern of names, or a call with arguments.
    fn wanted() -> impl Strategy<Value = Value> {
        let with_args = call().prop_map(|(tool, args, how)| match how {
            Some(how) => json!({"tool": tool, "args": args, "args_match": how}),
            None => json!({"name": tool, "args": args}),
        });
        let named =
            prop::sample::select(vec![json!("x"), json!({"tool": "y"}), json!("?"), json!("z*")]);
        prop_oneof![4 => with_args, 1 => named]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn lines_say_what_trees_say(
            list in prop::collection::vec(wanted(), 1..4),
            made in prop::collection::vec(call(), 0..5),
            // More calls than a word has bits.
            again in prop::sample::select(vec![1, 1, 1, 30]),
            key in prop::sample::select(vec!["sequence", "calls"]),
            extras in prop::sample::select(vec!["allow", "forbid"]),
        ) {
            let case = json!({"id": "a", "expect": {key: list, "extras": extras}}).to_string();
            let calls: Vec<Value> = made.iter()
                .map(|(tool, args, _)| json!({"tool": tool, "input": args})).collect();
            let calls = vec![calls; again].concat();
            let message = json!({"role": "assistant", "content": "", "tool_calls": calls});
            let trace = json!({"id": "a", "output_messages": [message]}).to_string();
            let whole = outcomes(SPEC, &case, &trace, false);
            prop_assert_eq!(outcomes(SPEC, &case, &trace, true), whole);
        }
    }
}
