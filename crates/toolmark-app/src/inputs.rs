//! Expands the arguments of the command line into the files to read.

mod repeats;

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use toolmark_base::{ReadFileError, ReadFileErrorKind, read_file};
use toolmark_run::RunStore;
use toolmark_trace::{
    Joined, ReadError, ReadOptions, Trajectories, Trajectory, join_sub_agents, read, read_path,
};
use walkdir::WalkDir;

/// Name of stdin in every output.
const STDIN: &str = "<stdin>";

/// One file to read. The type is small because there may be millions of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile(InputSource);

#[derive(Debug, Clone, PartialEq, Eq)]
enum InputSource {
    /// A file named by the user.
    Named(Box<Path>),
    /// A file found in a directory.
    Met(Box<Path>),
    Stdin,
    Broken(Box<Broken>),
}

impl InputFile {
    /// Whether the user named it, and it is a file.
    #[must_use]
    pub fn is_named_file(&self) -> bool {
        matches!(&self.0, InputSource::Named(path) if path.is_file())
    }
}

/// An argument that is not a file, or a directory that could not be walked.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Broken {
    name: String,
    problem: String,
}

impl InputFile {
    /// A file named by the user, `-` for stdin.
    pub fn named(path: &Path) -> Self {
        Self(if path == Path::new("-") {
            InputSource::Stdin
        } else {
            InputSource::Named(path.into())
        })
    }

    fn met(path: PathBuf) -> Self {
        Self(InputSource::Met(path.into_boxed_path()))
    }

    fn broken(name: &Path, problem: impl Into<String>) -> Self {
        let name = name.to_string_lossy().into_owned();
        Self(InputSource::Broken(Box::new(Broken { name, problem: problem.into() })))
    }

    /// Whether the user named the file, rather than a directory that contains it.
    pub fn is_named(&self) -> bool {
        !matches!(self.0, InputSource::Met(_))
    }

    /// Name in outputs.
    pub fn name(&self) -> String {
        match &self.0 {
            InputSource::Named(path) | InputSource::Met(path) => {
                path.to_string_lossy().into_owned()
            }
            InputSource::Stdin => STDIN.to_owned(),
            InputSource::Broken(broken) => broken.name.clone(),
        }
    }

    /// Path of the file; `None` for stdin.
    pub fn path(&self) -> Option<&Path> {
        match &self.0 {
            InputSource::Named(path) | InputSource::Met(path) => Some(path),
            _ => None,
        }
    }

    /// Reads the sub-agents of a run of this input from the files beside it. In a directory, those
    /// files are already inputs of their own.
    pub fn join(&self, run: &mut Trajectory, runs: &Trajectories, options: &ReadOptions) -> Joined {
        match &self.0 {
            InputSource::Named(path) => join_sub_agents(run, path, runs.format(), options),
            _ => Joined::default(),
        }
    }

    /// Opens the input.
    pub fn read(&self, options: &ReadOptions) -> Result<Trajectories, ReadError> {
        match &self.0 {
            InputSource::Stdin => read(io::stdin(), STDIN, options),
            InputSource::Named(path) | InputSource::Met(path) => read_path(path, options),
            InputSource::Broken(broken) => {
                let problem = io::Error::other(broken.problem.clone());
                Err(ReadFileError::io(Path::new(&broken.name), problem).into())
            }
        }
    }
}

/// Opens a file of lines that the user named, which must not be empty.
pub fn open_lines(path: &Path) -> Result<BufReader<File>, ReadFileError> {
    let mut lines = BufReader::new(read_file::open(path)?);
    let first = lines.fill_buf().map_err(|error| ReadFileError::io(path, error))?;
    if first.is_empty() {
        return Err(ReadFileError::new(path, ReadFileErrorKind::Empty));
    }
    if first.contains(&0) {
        return Err(ReadFileError::new(path, ReadFileErrorKind::Binary));
    }
    Ok(lines)
}

/// Returns the files behind the arguments, in the order of the arguments; the files of a directory
/// or pattern are sorted by name.
pub fn expand(arguments: &[PathBuf]) -> Vec<InputFile> {
    let mut inputs = Vec::new();
    for argument in arguments {
        if argument == Path::new("-") || argument.exists() {
            expand_path(argument, &mut inputs);
        } else {
            expand_pattern(argument, &mut inputs);
        }
    }
    inputs
}

fn expand_path(path: &Path, inputs: &mut Vec<InputFile>) {
    if let Some(store) = RunStore::open(path) {
        // Of a run, the traces of its trials: what else it keeps is about them.
        let traces = store.records().into_iter().filter_map(|record| record.trace_path());
        inputs.extend(traces.map(|trace| InputFile::named(&trace)));
    } else if path.is_dir() {
        walk(path, inputs);
    } else {
        inputs.push(InputFile::named(path));
    }
}

/// Returns the files behind the lines of a list. They are treated like files of a directory: files
/// that are not traces are skipped, and files of sub-agents are inputs of their own.
pub fn expand_listed(names: &[PathBuf]) -> Vec<InputFile> {
    let mut inputs = Vec::new();
    for name in names {
        match name.metadata() {
            Ok(found) if found.is_dir() => expand_path(name, &mut inputs),
            Ok(_) => inputs.push(InputFile::met(name.clone())),
            Err(_) => inputs.push(InputFile::named(name)),
        }
    }
    repeats::leave_out(&mut inputs);
    inputs
}

/// Expands a pattern that the shell passed on, because it does not support it (`**`) or expands no
/// patterns.
fn expand_pattern(argument: &Path, inputs: &mut Vec<InputFile>) {
    let pattern = argument.to_string_lossy();
    if !pattern.contains(['*', '?', '[']) {
        // Opening it fails with the reason.
        inputs.push(InputFile::named(argument));
        return;
    }
    let before = inputs.len();
    match glob::glob(&pattern) {
        Ok(paths) => {
            for path in paths.filter_map(Result::ok) {
                expand_path(&path, inputs);
            }
            if inputs.len() == before {
                inputs.push(InputFile::broken(argument, "no file matches this pattern"));
            }
        }
        Err(error) => inputs.push(InputFile::broken(argument, format!("bad pattern: {error}"))),
    }
}

fn walk(dir: &Path, inputs: &mut Vec<InputFile>) {
    let mut met = Vec::new();
    let entries = WalkDir::new(dir)
        .follow_links(true)
        .sort_by_file_name()
        .into_iter()
        // The inside of a repository's database is not a trace of an agent.
        .filter_entry(|e| e.file_name() != ".git");
    for entry in entries {
        match entry {
            Ok(entry) if entry.file_type().is_file() => met.push(InputFile::met(entry.into_path())),
            Ok(_) => {}
            // A link to a directory above leads nowhere new.
            Err(error) if error.loop_ancestor().is_some() => {}
            Err(error) => {
                let path = error.path().unwrap_or(dir).to_owned();
                let problem =
                    error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                met.push(InputFile::broken(&path, problem));
            }
        }
    }
    repeats::leave_out(&mut met);
    // Of a million files, no second list is made.
    match inputs.is_empty() {
        true => *inputs = met,
        false => inputs.append(&mut met),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_directories_and_patterns() {
        let dir = tempfile::tempdir().unwrap();
        let at = |p: &str| dir.path().join(p);
        std::fs::create_dir_all(at("sub/.git")).unwrap();
        for file in ["b.jsonl", "a.jsonl", "sub/c.json", "sub/.git/config"] {
            std::fs::write(at(file), "x").unwrap();
        }
        let names = |args: &[PathBuf]| -> Vec<String> {
            let root = dir.path().to_string_lossy().into_owned() + "/";
            expand(args).iter().map(|i| i.name().replace(&root, "")).collect()
        };
        assert_eq!(names(&[dir.path().to_owned()]), ["a.jsonl", "b.jsonl", "sub/c.json"]);
        assert_eq!(names(&[at("*.jsonl")]), ["a.jsonl", "b.jsonl"]);
        assert_eq!(names(&[at("**/*.json")]), ["sub/c.json"]);
        assert_eq!(
            names(&["-".into(), at("b.jsonl"), at("a.jsonl")]),
            ["<stdin>", "b.jsonl", "a.jsonl"]
        );
        let listed = expand_listed(&[at("b.jsonl"), at("sub"), at("none")]);
        let listed: Vec<_> = listed.iter().map(|i| (i.name(), i.is_named())).collect();
        let name = |path: &str| at(path).to_string_lossy().into_owned();
        let expected = [("b.jsonl", false), ("sub/c.json", false), ("none", true)];
        assert_eq!(listed, expected.map(|(path, is_named)| (name(path), is_named)));
        let broken = expand(&[at("none.jsonl"), at("none*")]);
        assert_eq!(broken.len(), 2);
        assert!(broken.iter().all(|i| i.is_named() && i.read(&ReadOptions::default()).is_err()));
    }
}
