//! Builds samples from a file of labels: its rows, the traces that they name, and the parts of them
//! that a judge sees.

use super::rubric::{RubricOverrides, names, no_such};
use crate::Failure;
use crate::inputs::InputFile;
use crate::reading::{End, FileReader};
use crate::{ActionEvents, FileDiagnostics, ProgressStatus, Tone, Verbosity, human};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use toolmark_dataset::DatasetReadError;
use toolmark_judge::calibration::{
    About, Calibration, Calibrator, LabelProblem, LabelRow, LabelledSample, RawLabel, RubricTask,
    SampleError, interpret, read_rows, rubric_digest,
};
use toolmark_outcome::judging::{Material, built_in};
use toolmark_trace::Trajectory;

/// A question and its samples.
#[derive(Debug)]
pub struct SampleGroup {
    /// The question.
    pub asked: RubricTask,
    /// Its samples, in the order of the file.
    pub samples: Vec<LabelledSample>,
}

/// A file of labels, ready for the judge.
#[derive(Debug)]
pub struct Labelled {
    /// One per rubric, in the order of the file.
    pub groups: Vec<SampleGroup>,
    /// Rows that cannot be used, in the order of the file.
    pub skipped: Vec<LabelProblem>,
    /// Read errors of usable traces.
    pub unread: Vec<FileDiagnostics>,
}

/// Reads a file of labels and the traces it names.
pub fn read(
    path: &Path,
    usual: Option<&RubricTask>,
    wanted: RubricOverrides,
    reader: &FileReader,
) -> Result<Labelled, Failure> {
    let name = path.display();
    let values = toolmark_dataset::read(path).map_err(|error| match error {
        DatasetReadError::File(error) => error.into(),
        DatasetReadError::Rows(_) => {
            Failure::unread(format!("the labels in {name} are invalid")).causes(error.messages())
        }
    })?;
    if values.is_empty() {
        return Err(Failure::unread(format!("{name} has no rows")));
    }
    let (rows, mut skipped) = read_rows(values.iter().map(|row| (row.line, &*row.value)));
    drop(values);
    if usual.is_none()
        && let Some(row) = rows.iter().find(|row| row.rubric.is_none())
    {
        let message = format!("{name}:{}: the row has no rubric", row.line);
        return Err(Failure::usage(message)
            .hint(format!("--rubric sets one for rows without: {}", names())));
    }
    let parts = by_rubric(rows, usual, wanted, &mut skipped)?;
    let mut traces = Traces::new(path, reader);
    let mut groups = Vec::with_capacity(parts.len());
    for (asked, rows) in parts {
        let samples = traces.samples(&asked, rows, &mut skipped);
        if !samples.is_empty() {
            groups.push(SampleGroup { asked, samples });
        }
    }
    skipped.sort_by_key(|problem| problem.line);
    if groups.is_empty() {
        let failure = Failure::unread(format!("{name} has no row that can be used"));
        return Err(failure.causes(skipped.iter().map(|problem| place(path, problem))));
    }
    Ok(Labelled { groups, skipped, unread: traces.unread.into_values().collect() })
}

/// Asks the judge about all samples; a calibration per group.
///
/// # Errors
///
/// If an event could not be taken.
pub fn measure(
    calibrator: &Calibrator<'_>,
    groups: &[SampleGroup],
    status: &ProgressStatus,
    events: &mut dyn ActionEvents,
) -> io::Result<Vec<Calibration>> {
    let asked = |group: &SampleGroup| calibrator.count_judgements(&group.asked, &group.samples);
    let judgements: u64 = groups.iter().map(asked).sum();
    if events.verbosity() > Verbosity::Quiet {
        let labels: usize = groups.iter().map(|group| group.samples.len()).sum();
        let words = format!(
            "asking {} for {} on {}",
            calibrator.setup.model,
            human::things(judgements, "judgement"),
            human::things(labels as u64, "label"),
        );
        events.note(Tone::Note, events.redactor().apply(words))?;
    }
    let progress = events.progress(judgements, "judgements");
    status.beside(&progress);
    let one = |group: &SampleGroup| {
        calibrator.calibrate(&group.asked, &group.samples, &|n| progress.advance(n))
    };
    let found = groups.iter().map(one).collect();
    progress.finish();
    Ok(found)
}

/// Formats a problem with its source position.
pub fn place(path: &Path, problem: &LabelProblem) -> String {
    format!("{}:{}: {}", path.display(), problem.line, problem.message)
}

/// Groups the rows by rubric.
fn by_rubric(
    rows: Vec<LabelRow>,
    usual: Option<&RubricTask>,
    wanted: RubricOverrides,
    skipped: &mut Vec<LabelProblem>,
) -> Result<Vec<(RubricTask, Vec<LabelRow>)>, Failure> {
    let mut parts: Vec<(RubricTask, Vec<LabelRow>)> = Vec::new();
    // Rubrics by the names of rows, and parts by what tells rubrics apart.
    let mut known: BTreeMap<Option<String>, Option<usize>> = BTreeMap::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows {
        let part = match known.get(&row.rubric) {
            Some(part) => *part,
            None => {
                let asked = match &row.rubric {
                    None => usual.cloned(),
                    Some(name) => {
                        built_in(name).map(|rubric| wanted.built_in(rubric)).transpose()?
                    }
                };
                let part = asked.map(|asked| {
                    let next = parts.len();
                    let at = *places.entry(rubric_digest(&asked.rubric)).or_insert(next);
                    if at == next {
                        parts.push((asked, Vec::new()));
                    }
                    at
                });
                known.insert(row.rubric.clone(), part);
                part
            }
        };
        match part.and_then(|part| parts.get_mut(part)) {
            Some((_, rows)) => rows.push(row),
            None => {
                let name = row.rubric.as_deref().unwrap_or_default();
                skipped.push(LabelProblem { line: row.line, message: no_such(name) });
            }
        }
    }
    Ok(parts)
}

/// The traces that the rows name, loaded one at a time.
struct Traces<'a> {
    /// Directory of the file of labels.
    directory: PathBuf,
    reader: &'a FileReader,
    /// Read errors by file, because several rubrics may use one file.
    unread: BTreeMap<PathBuf, FileDiagnostics>,
}

impl<'a> Traces<'a> {
    fn new(labels: &Path, reader: &'a FileReader) -> Self {
        let directory = labels.parent().map(Path::to_owned).unwrap_or_default();
        Self { directory, reader, unread: BTreeMap::new() }
    }

    /// Returns the samples of the rows, in order.
    fn samples(
        &mut self,
        asked: &RubricTask,
        rows: Vec<LabelRow>,
        skipped: &mut Vec<LabelProblem>,
    ) -> Vec<LabelledSample> {
        let written: Vec<RawLabel> = rows.iter().map(|row| row.label).collect();
        let labels = interpret(&written, asked.rubric.scale);
        let mut materials = self.materials(asked, &rows);
        let mut samples = Vec::with_capacity(rows.len());
        for (at, (row, label)) in rows.into_iter().zip(labels).enumerate() {
            let found = materials.remove(&at).unwrap_or(Err(SampleError::Nothing));
            let mut wrong =
                |message: String| skipped.push(LabelProblem { line: row.line, message });
            match (label, found) {
                (Ok(label), Ok(materials)) => {
                    samples.push(LabelledSample { id: row.id, label, materials });
                }
                (Err(error), _) => wrong(error.to_string()),
                (_, Err(error)) => wrong(error.to_string()),
            }
        }
        samples
    }

    /// Returns the material that the judge sees for each row. Every trace is read once, and only
    /// one is in memory.
    fn materials(
        &mut self,
        asked: &RubricTask,
        rows: &[LabelRow],
    ) -> BTreeMap<usize, Result<Vec<Material>, SampleError>> {
        let mut by_trace: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut found = BTreeMap::new();
        for (at, row) in rows.iter().enumerate() {
            match &row.about {
                About::Trace { path, .. } => by_trace.entry(path).or_default().push(at),
                About::Inputs(texts) => {
                    found.insert(at, asked.of_inputs(texts));
                }
            }
        }
        for (path, places) in by_trace {
            let runs = self.load(path);
            for at in places {
                let materials = match (&runs, rows.get(at).map(|row| &row.about)) {
                    (Ok(runs), Some(About::Trace { run, call, .. })) => {
                        let materials = asked.of_trace(runs, run.as_ref(), call.as_ref());
                        materials.map_err(|why| SampleError::At(path.to_owned(), Box::new(why)))
                    }
                    (Err(why), _) => Err(why.clone()),
                    (Ok(_), _) => continue,
                };
                found.insert(at, materials);
            }
        }
        found
    }

    fn load(&mut self, path: &str) -> Result<Vec<Trajectory>, SampleError> {
        let path = self.directory.join(path);
        let input = InputFile::named(&path);
        let unread = |end: End| SampleError::Unread(end.error().unwrap_or_default());
        let mut runs = self.reader.open(&input).map_err(unread)?;
        let all = runs.by_ref().collect();
        self.unread.insert(path, runs.end().findings);
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verbosity;
    use crate::pool::Pool;
    use toolmark_trace::ReadOptions;

    const CHAT: &str = r#"{"role":"user","content":"Fix the typo"}
{"role":"assistant","content":"I edit it.","tool_calls":[{"id":"c1","function":{"name":"Edit","arguments":"{\"file_path\":\"a\"}"}}]}
{"role":"tool","tool_call_id":"c1","content":"done"}
{"role":"assistant","content":"Fixed."}"#;

    fn labelled(name: &str, text: &str, rubric: Option<&str>) -> Result<Labelled, Failure> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("runs")).unwrap();
        std::fs::write(dir.path().join("runs/chat.jsonl"), CHAT).unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        let usual = rubric.map(|name| RubricTask::built_in(built_in(name).unwrap()));
        let reader = FileReader::new(ReadOptions::default(), Pool::new(None), Verbosity::Quiet);
        read(&path, usual.as_ref(), RubricOverrides::default(), &reader)
    }

    #[test]
    fn rows_become_samples_of_their_rubrics() {
        let text = r#"{"id":"a","label":"pass","trace":"runs/chat.jsonl","call":0}
{"id":"b","label":0.5,"trace":"runs/chat.jsonl","call":"c1","rubric":"tool-selection"}
{"id":"c","label":0,"inputs":{"user_request":"x","tool_input":"{}"},"rubric":"EditMinimalScope"}
{"id":"d","label":true,"trace":"runs/chat.jsonl","call":4}
{"id":"e","label":true,"trace":"runs/gone.jsonl","call":4}
{"id":"f","label":true,"trace":"runs/chat.jsonl","call":0,"rubric":"nonsense"}
{"id":"a","label":true,"trace":"runs/chat.jsonl"}
{"id":"g","label":7,"trace":"runs/chat.jsonl","call":0}
"#;
        let found = labelled("labels.jsonl", text, Some("edit-minimal-scope")).unwrap();
        let ids: Vec<Vec<&str>> = found
            .groups
            .iter()
            .map(|group| group.samples.iter().map(|sample| sample.id.as_str()).collect())
            .collect();
        assert_eq!(ids, [vec!["a", "c"], vec!["b"]]);
        let lines: Vec<u64> = found.skipped.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [4, 5, 6, 7, 8], "{:?}", found.skipped);
        for (problem, want) in found.skipped.iter().zip([
            "no call 4",
            "gone.jsonl",
            "unknown rubric",
            "already used",
            "label 7",
        ]) {
            assert!(problem.message.contains(want), "{problem:?}");
        }
    }

    #[test]
    fn tables_and_lists_are_read_alike() {
        let csv =
            "id,label,trace,call,rubric\na,pass,runs/chat.jsonl,0,\nb,0,runs/chat.jsonl,c1,\n";
        let json = r#"[{"id":"a","label":true,"trace":"runs/chat.jsonl","call":0},
            {"id":"b","label":0,"trace":"runs/chat.jsonl","call":"c1"}]"#;
        for (name, text) in [("l.csv", csv), ("l.json", json)] {
            let found = labelled(name, text, Some("edit-minimal-scope")).unwrap();
            assert_eq!(found.groups[0].samples.len(), 2, "{name}: {:?}", found.skipped);
            assert_eq!(found.groups[0].samples[1].materials.len(), 3);
        }
    }

    #[test]
    fn nothing_usable_is_an_error() {
        let row = r#"{"id":"a","label":1,"trace":"runs/chat.jsonl","call":9}"#;
        for (name, text, rubric, want) in [
            ("l.jsonl", "", None, "it is empty"),
            ("l.jsonl", row, None, "l.jsonl:1: the row has no rubric"),
            ("l.jsonl", row, Some("tool-selection"), "no row that can be used"),
            ("l.jsonl", "nope", Some("tool-selection"), "l.jsonl:1:2: not JSON"),
        ] {
            let failure = labelled(name, text, rubric).unwrap_err();
            let words = format!("{}: {}", failure.message, failure.causes.join("; "));
            assert!(words.contains(want), "{words}");
        }
    }
}
