//! Commands that substitute a tool of the host: they read one file, search text or names,
//! edit or write one file.
//!
//! A command line substitutes a tool only as a whole. Any additional operation (a second
//! command, a filter that computes something, a substitution, an option that no tool has)
//! makes it an ordinary command.

use toolmark_shell::ir::{
    IrNode, Operator, PipelineItem, Redirection, RedirectionKind, Script, Simple, Word, WordPart,
};

/// Maximum number of lines that the shell appends as quickly as a tool.
const FEW_LINES: usize = 3;

/// Operation of a command line that a tool could do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// Shows a file, or lines of it.
    Read,
    /// Finds text in files.
    SearchContent,
    /// Finds files by name.
    SearchNames,
    /// Lists a directory.
    List,
    /// Replaces text in a file.
    Edit,
    /// Writes a file.
    Write,
}

/// A command line that substitutes a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandIn {
    /// Operation.
    pub deed: Deed,
    /// Name of the program.
    pub program: String,
    /// File or directory that the command names, as written.
    pub target: Option<String>,
    /// Directory that the command changes to first.
    pub directory: Option<String>,
    /// Equivalence of the tool.
    pub fit: Equivalence,
    /// Lines that the command shows, if it shows a file.
    pub span: Option<LineSpan>,
    /// Whether the command numbers the lines.
    pub is_numbered: bool,
}

/// Files that a command line shows, one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownFiles {
    /// Files, each with the directory that the command line changes to first.
    pub files: Vec<(Option<String>, String)>,
    /// Number of texts that it prints between them.
    pub separators: usize,
    /// Whether it lists directories as well.
    pub is_mixed: bool,
}

/// Range of lines of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineSpan {
    /// From the first to the second line, both included.
    Lines(u64, u64),
    /// A number of lines at the end.
    End(u64),
}

impl LineSpan {
    /// All lines.
    pub const WHOLE: Self = Self::Lines(1, u64::MAX);

    /// Whether the range contains the other range, however long the file is.
    #[must_use]
    pub fn holds(self, other: Self) -> bool {
        match (self, other) {
            (Self::Lines(from, to), Self::Lines(first, last)) => from <= first && last <= to,
            (Self::End(all), Self::End(some)) => some <= all,
            (Self::Lines(1, u64::MAX), Self::End(_)) => true,
            _ => false,
        }
    }
}

/// Returns the lines of a file that `cat`, `head`, `tail` or `sed -n` show; `None` if a pipe
/// removes some of them.
fn span(program: &str, words: &[Arg], rest: &[&Simple]) -> Option<LineSpan> {
    let texts = || words.iter().map(|word| word.text.as_str());
    let number = |text: &str| text.trim_start_matches(['-', 'n', '+']).parse::<u64>().ok();
    let count = || {
        let given = texts().find(|text| is_count(text) || text.starts_with("-n"));
        match given {
            Some("-n") => texts().skip_while(|text| *text != "-n").nth(1),
            given => given,
        }
    };
    if !rest.is_empty() {
        return None;
    }
    match program {
        "cat" | "nl" => Some(LineSpan::Lines(1, u64::MAX)),
        "head" => Some(LineSpan::Lines(1, count().map_or(Some(10), number)?)),
        "tail" => match count() {
            Some(text) if text.contains('+') => Some(LineSpan::Lines(number(text)?, u64::MAX)),
            count => Some(LineSpan::End(count.map_or(Some(10), number)?)),
        },
        "sed" => {
            let lines = texts().find(|text| is_lines(text))?.trim().strip_suffix('p')?;
            let (from, to) = lines.split_once(',').unwrap_or((lines, lines));
            let to = if to == "$" { u64::MAX } else { to.parse().ok()? };
            Some(LineSpan::Lines(from.parse().ok()?, to))
        }
        _ => None,
    }
}

/// Equivalence of a tool and a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Equivalence {
    /// Not quite equivalent: the tool has no such option, or needs several calls.
    Loose,
    /// Equivalent in another form: lines counted from the start, one more file.
    Near,
    /// Exactly equivalent.
    Exact,
}

impl Equivalence {
    fn exact_if(is_exact: bool) -> Self {
        if is_exact { Self::Exact } else { Self::Loose }
    }
}

/// Returns the tool that a script substitutes, if it does nothing else.
pub(super) fn stand_in(script: &Script) -> Option<StandIn> {
    if script.partial.is_some() {
        return None;
    }
    let (directory, item) = match script.items.as_slice() {
        [item] => (None, item),
        [first, item] if first.after == Operator::And => (Some(directory(first)?), item),
        _ => return None,
    };
    if item.after == Operator::Background || item.pipeline.negated {
        return None;
    }
    let mut stages = Vec::new();
    for node in &item.pipeline.stages {
        let IrNode::Simple(simple) = node else { return None };
        if !simple.assignments.is_empty() {
            return None;
        }
        stages.push(simple);
    }
    let (first, rest) = stages.split_first()?;
    let program = first.words.first()?.literal()?;
    let words: Option<Vec<Arg>> = first.words.iter().skip(1).map(Arg::of).collect();
    let words = words?;
    let found = match program.as_str() {
        "cat" if writes_here(first) => write(first, &words, rest),
        "cat" if rest.len() == 1 && is_quiet(first) && filters(rest) => pour(&words, rest),
        "echo" | "printf" if output(first).is_some() => write(first, &words, rest),
        _ if !is_quiet(first) => None,
        "cat" | "head" | "tail" | "nl" | "sed" => read(&program, &words, rest)
            .or_else(|| (program == "sed").then(|| edit(&words, rest)).flatten()),
        "grep" | "egrep" | "fgrep" | "rg" => search(&program, &words, rest),
        "find" if rest.first().is_some_and(|next| is_called(next, "xargs")) => {
            search_found(&words, rest)
        }
        "find" if filters(rest) => names_with(&words, rest),
        "find" => names(&words, rest).or_else(|| search_each(&words, rest)),
        "ls" => list(&words, rest),
        _ => None,
    };
    let shown = || span(&program, &words, rest);
    let span = found.as_ref().filter(|(deed, ..)| *deed == Deed::Read).and_then(|_| shown());
    let is_numbered = program == "nl" || (program == "cat" && numbers(&words));
    found.map(|(deed, target, fit)| StandIn {
        deed,
        program,
        target,
        directory,
        fit,
        span,
        is_numbered,
    })
}

/// Whether the options of `cat` number the lines.
fn numbers(words: &[Arg]) -> bool {
    words.iter().any(|word| matches!(word.text.as_str(), "-n" | "-b"))
}

/// Returns the files that a script shows, if it does nothing but show several of them.
pub(super) fn shown_files(script: &Script) -> Option<ShownFiles> {
    if script.partial.is_some() {
        return None;
    }
    let mut shown = ShownFiles::default();
    let mut directory: Option<String> = None;
    let mut named: Vec<(&str, String)> = Vec::new();
    for item in &script.items {
        if let Some(constants) = constants(item) {
            named.extend(constants);
            continue;
        }
        // What comes after `||` is for a file that does not exist.
        if matches!(item.after, Operator::Background | Operator::Or) || item.pipeline.negated {
            return None;
        }
        let mut stages = Vec::with_capacity(item.pipeline.stages.len());
        for node in &item.pipeline.stages {
            let IrNode::Simple(simple) = node else { return None };
            if !simple.assignments.is_empty() || !is_quiet(simple) {
                return None;
            }
            stages.push(simple);
        }
        let (first, rest) = stages.split_first()?;
        let program = first.words.first()?.literal()?;
        if matches!(program.as_str(), "echo" | "printf") && rest.is_empty() {
            shown.separators += 1;
            continue;
        }
        let words = first.words.iter().skip(1).map(|word| Arg::with(word, &named));
        let words = words.collect::<Option<Vec<Arg>>>()?;
        match (program.as_str(), words.as_slice()) {
            ("cd", [to]) if rest.is_empty() && item.after == Operator::And => {
                directory = Some(match &directory {
                    Some(from) => crate::path::resolve(Some(from), &to.text),
                    None => to.text.clone(),
                });
            }
            ("cat" | "nl", words) if rest.iter().all(|simple| takes_lines(simple)) => {
                for word in words {
                    match word.text.as_str() {
                        "-n" | "-b" | "-ba" => continue,
                        _ if word.is_option() || word.is_glob => return None,
                        _ => {}
                    }
                    shown.files.push((directory.clone(), word.text.clone()));
                }
            }
            // A listing in between shows no file.
            ("ls", words)
                if !words.iter().any(Arg::is_option)
                    && rest.iter().all(|simple| takes_lines(simple)) =>
            {
                shown.is_mixed = true;
            }
            ("head" | "tail" | "sed", words) => {
                let (_, file, _) = read(&program, words, rest)?;
                shown.files.push((directory.clone(), file?));
            }
            _ => return None,
        }
    }
    (!shown.files.is_empty()).then_some(shown)
}

type StandInMatch = Option<(Deed, Option<String>, Equivalence)>;

/// A word that does not depend on the environment.
struct Arg {
    text: String,
    is_glob: bool,
}

impl Arg {
    fn of(word: &Word) -> Option<Self> {
        let text = word.literal()?;
        let is_braced = text.contains('{') && text.contains(',');
        Some(Self { text, is_glob: word.is_glob() || is_braced })
    }

    /// A word with constants of the same command line.
    fn with(word: &Word, named: &[(&str, String)]) -> Option<Self> {
        if named.is_empty() {
            return Self::of(word);
        }
        let mut text = String::new();
        for part in &word.parts {
            match part {
                WordPart::Text { text: fixed, .. } => text.push_str(fixed),
                WordPart::Parameter { name, plain: true, .. } => {
                    text.push_str(&named.iter().rev().find(|(one, _)| one == name)?.1);
                }
                _ => return None,
            }
        }
        Some(Self { text, is_glob: word.is_glob() })
    }

    fn is_option(&self) -> bool {
        self.text.len() > 1 && self.text.starts_with('-')
    }
}

/// Returns the constants that an item sets, if it does nothing else.
fn constants(item: &PipelineItem) -> Option<Vec<(&str, String)>> {
    let [IrNode::Simple(simple)] = item.pipeline.stages.as_slice() else { return None };
    if !simple.words.is_empty() || simple.assignments.is_empty() {
        return None;
    }
    let constant = |one: &'_ toolmark_shell::ir::Assignment| match one.values.as_slice() {
        [value] if !one.appends && !one.is_array => value.literal(),
        _ => None,
    };
    simple.assignments.iter().map(|one| Some((one.name.as_str(), constant(one)?))).collect()
}

/// Returns the directory of `cd DIR`.
fn directory(item: &PipelineItem) -> Option<String> {
    let [IrNode::Simple(simple)] = item.pipeline.stages.as_slice() else { return None };
    match simple.words.as_slice() {
        [cd, dir] if cd.fixed()? == "cd" && simple.redirections.is_empty() => dir.literal(),
        _ => None,
    }
}

/// Whether nothing is redirected except errors to `/dev/null`.
fn is_quiet(simple: &Simple) -> bool {
    simple.redirections.iter().all(is_silent)
}

fn is_silent(redirection: &Redirection) -> bool {
    match redirection.kind {
        RedirectionKind::Duplicate => true,
        RedirectionKind::Write => {
            redirection.descriptor == Some(2)
                && redirection.target.fixed().is_some_and(|file| file == "/dev/null")
        }
        _ => false,
    }
}

/// Returns the only file that the output is written to.
fn output(simple: &Simple) -> Option<(String, RedirectionKind)> {
    let writes =
        |r: &&Redirection| matches!(r.kind, RedirectionKind::Write | RedirectionKind::Append);
    let mut outputs = simple.redirections.iter().filter(writes);
    let one = outputs.next().filter(|r| r.descriptor.is_none_or(|d| d == 1))?;
    let file = one.target.literal()?;
    let others = simple.redirections.iter().filter(|r| !std::ptr::eq(*r, one));
    let is_all = others.into_iter().all(|r| r.kind == RedirectionKind::HereDocument);
    (is_all && !file.starts_with("/dev/") && !one.target.is_glob()).then_some((file, one.kind))
}

/// Whether the command is `cat > FILE` with a here-document.
fn writes_here(simple: &Simple) -> bool {
    simple.redirections.iter().any(|r| r.kind == RedirectionKind::HereDocument)
}

fn write(simple: &Simple, words: &[Arg], rest: &[&Simple]) -> StandInMatch {
    let (file, kind) = output(simple)?;
    let bodies = simple.redirections.iter().filter_map(|r| r.body.as_ref());
    // The agent could not have written a text that the shell expands.
    let is_plain = |body: &toolmark_shell::ir::HereDocument| {
        !body.expands || body.parts.iter().all(|p| matches!(p, WordPart::Text { .. }))
    };
    let is_cat = writes_here(simple);
    let is_fixed = bodies.into_iter().all(is_plain)
        && if is_cat { words.is_empty() } else { words.iter().all(|word| !word.is_glob) };
    // `>>` is meant for a single line; appending a long text is an edit at the end.
    let is_long = simple
        .redirections
        .iter()
        .filter_map(|r| r.body.as_ref())
        .any(|body| body.text.trim_end().lines().count() > FEW_LINES);
    let (deed, fit) = match kind {
        RedirectionKind::Append if is_long => (Deed::Edit, Equivalence::Near),
        RedirectionKind::Append => return None,
        _ => (Deed::Write, Equivalence::Exact),
    };
    (rest.is_empty() && is_fixed).then_some((deed, Some(file), fit))
}

/// Whether the command is a `head` or `tail` that only selects lines of its input.
fn takes_lines(simple: &Simple) -> bool {
    let words: Option<Vec<String>> = simple.words.iter().map(Word::literal).collect();
    let Some(words) = words.filter(|_| is_quiet(simple)) else { return false };
    match words.split_first() {
        Some((program, rest)) if program == "head" || program == "tail" => {
            rest.iter().all(|word| is_count(word) || word == "-n")
        }
        Some((program, [option, lines])) if program == "sed" => option == "-n" && is_lines(lines),
        _ => false,
    }
}

/// Whether a word is a number of lines: `20`, `-20`, `-n20`, `+5`.
fn is_count(word: &str) -> bool {
    let number = word.strip_prefix("-n").or_else(|| word.strip_prefix('-')).unwrap_or(word);
    let number = number.strip_prefix('+').unwrap_or(number);
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a word is a line range of sed: `5p`, `5,20p`, `5,$p`.
fn is_lines(word: &str) -> bool {
    let Some(lines) = word.trim().strip_suffix('p') else { return false };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match lines.split_once(',') {
        Some((from, to)) => is_number(from) && (is_number(to) || to == "$"),
        None => is_number(lines),
    }
}

fn read(program: &str, words: &[Arg], rest: &[&Simple]) -> StandInMatch {
    if !rest.iter().all(|simple| takes_lines(simple)) {
        return None;
    }
    let mut file = None;
    let (mut is_lines_only, mut is_end) = (false, program == "tail");
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        match program {
            "cat" | "nl" if matches!(text, "-n" | "-b" | "-ba" | "-b a") => {}
            "head" | "tail" if text == "-n" => {
                let count = words.next()?;
                if !is_count(&count.text) {
                    return None;
                }
                is_end &= !count.text.starts_with('+');
            }
            "head" | "tail" if word.is_option() && is_count(text) => {
                is_end &= !text.contains('+');
            }
            "sed" if text == "-n" => {}
            "sed" if !is_lines_only && is_lines(text) => is_lines_only = true,
            _ if word.is_option() || word.is_glob || file.is_some() => return None,
            _ => file = Some(text.to_owned()),
        }
    }
    let file = file?;
    if program == "sed" && !is_lines_only {
        return None;
    }
    // Generated files have no lines that a tool could count.
    let is_special = ["/proc/", "/sys/", "/dev/"].iter().any(|start| file.starts_with(start));
    let counts_from_end = |simple: &&Simple| {
        simple.words.first().and_then(Word::literal).is_some_and(|name| name == "tail")
    };
    is_end |= rest.iter().any(counts_from_end);
    let fit = match is_end {
        false => Equivalence::Exact,
        // The end of a growing file changes constantly.
        true if grows(&file) => Equivalence::Loose,
        true => Equivalence::Near,
    };
    (file != "-" && !is_special).then_some((Deed::Read, Some(file), fit))
}

/// Whether programs append to the file while they run.
fn grows(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending, "log" | "out" | "output" | "txt" | "jsonl" | "ndjson" | "err" | "csv" | "")
        || name.contains("log")
}

/// Whether the stage runs this program.
fn is_called(simple: &Simple, program: &str) -> bool {
    simple.words.first().and_then(Word::literal).is_some_and(|name| name == program)
}

fn filters(rest: &[&Simple]) -> bool {
    rest.first().is_some_and(|next| ["grep", "egrep", "rg"].iter().any(|p| is_called(next, p)))
}

/// Recognizes `cat FILE | grep PATTERN`, the search of one file.
fn pour(words: &[Arg], rest: &[&Simple]) -> StandInMatch {
    let ([file], [grep]) = (words, rest) else { return None };
    if file.is_option() || file.is_glob || !is_quiet(grep) {
        return None;
    }
    let mut given: Vec<Arg> = grep.words.iter().skip(1).map(Arg::of).collect::<Option<_>>()?;
    given.push(Arg { text: file.text.clone(), is_glob: false });
    let (deed, target, fit) = search(&grep.words.first()?.fixed()?, &given, &[])?;
    // With explicit files, grep would ignore its input.
    (target.as_ref() == Some(&file.text)).then_some((deed, target, fit))
}

/// Recognizes `find DIR -name … | xargs grep PATTERN`, the search of a directory.
fn search_found(words: &[Arg], rest: &[&Simple]) -> StandInMatch {
    let (xargs, rest) = rest.split_first()?;
    let (_, target, _) = names(words, &[])?;
    let given: Vec<Arg> = xargs.words.iter().skip(1).map(Arg::of).collect::<Option<_>>()?;
    let at = given.iter().position(|word| !matches!(word.text.as_str(), "-0" | "-r" | "-I{}"))?;
    let (program, given) = given.get(at..)?.split_first()?;
    if !matches!(program.text.as_str(), "grep" | "egrep" | "rg") || !is_quiet(xargs) {
        return None;
    }
    let mut given: Vec<Arg> =
        given.iter().map(|w| Arg { text: w.text.clone(), is_glob: w.is_glob }).collect();
    given.push(Arg { text: target.clone().unwrap_or_else(|| ".".to_owned()), is_glob: false });
    let (deed, _, fit) = search(&program.text, &given, rest)?;
    Some((deed, target, fit))
}

fn edit(words: &[Arg], rest: &[&Simple]) -> StandInMatch {
    let (mut in_place, mut script, mut file) = (false, None, None);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-i" | "--in-place" => {
                in_place = true;
            }
            // BSD sed requires the suffix of the backup, which is empty.
            "" if in_place => {}
            "-E" | "-r" => {}
            "-e" if script.is_none() => script = Some(words.next()?.text.as_str()),
            _ if word.is_option() || word.is_glob => return None,
            text if script.is_none() => script = Some(text),
            text if file.is_none() => file = Some(text),
            _ => return None,
        }
    }
    let (script, file) = (script?, file?);
    // A single replacement; sed is the right program for several or multi-line ones.
    let is_one = script.starts_with("s/") || script.starts_with("s|") || script.starts_with("s#");
    let everywhere = script.ends_with('g');
    let is_line = script.bytes().next().is_some_and(|b| b.is_ascii_digit());
    let is_clear = in_place && rest.is_empty() && (is_one || is_line) && !script.contains('\n');
    let fit = Equivalence::exact_if(is_one && !everywhere);
    is_clear.then(|| (Deed::Edit, Some(file.to_owned()), fit))
}

/// Options of grep and ripgrep that search tools have too, or do not need.
const SEARCH_OPTIONS: &[&str] = &[
    "--color=never",
    "--extended-regexp",
    "--files-with-matches",
    "--fixed-strings",
    "--hidden",
    "--ignore-case",
    "--line-number",
    "--multiline",
    "--no-heading",
    "--no-messages",
    "--recursive",
    "--with-filename",
    "--word-regexp",
];

/// Options of grep and ripgrep that have a value.
const VALUED: &[&str] =
    &["-A", "-B", "-C", "-m", "-g", "-t", "-e", "--glob", "--type", "--max-count", "--context"];

fn search(program: &str, words: &[Arg], rest: &[&Simple]) -> StandInMatch {
    if !rest.iter().all(|simple| takes_lines(simple)) {
        return None;
    }
    let is_rg = program == "rg";
    let (mut pattern, mut paths, mut is_deep) = (false, Vec::new(), is_rg);
    let mut words = words.iter();
    let mut is_over = false;
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if is_over || !word.is_option() {
            match pattern {
                true => paths.push(word),
                false => pattern = true,
            }
        } else if text == "--" {
            is_over = true;
        } else if VALUED.contains(&text) {
            words.next()?;
            pattern |= text == "-e";
        } else if let Some(name) = text.strip_prefix("--") {
            let is_choice = [
                "include=",
                "exclude=",
                "exclude-dir=",
                "glob=",
                "type=",
                "context=",
                "max-count=",
            ];
            is_deep |= text == "--recursive";
            if !SEARCH_OPTIONS.contains(&text) && !is_choice.iter().any(|o| name.starts_with(o)) {
                return None;
            }
        } else {
            let letters = text.get(1..)?.trim_end_matches(|c: char| c.is_ascii_digit());
            is_deep |= !is_rg && letters.contains(['r', 'R']);
            if !letters.chars().all(|c| "rRnHhiIsEFGlwcABCmS".contains(c)) {
                return None;
            }
        }
    }
    let has_files = !paths.is_empty() || is_deep;
    let target = match paths.as_slice() {
        [one] => Some(one.text.clone()),
        _ => None,
    };
    let fit = match paths.len() {
        1 if paths.iter().all(|path| is_files_of_directory(path)) => Equivalence::Near,
        _ if paths.iter().any(|path| path.is_glob) => Equivalence::Loose,
        0 | 1 => Equivalence::Exact,
        2 | 3 => Equivalence::Near,
        _ => Equivalence::Loose,
    };
    (pattern && has_files).then_some((Deed::SearchContent, target, fit))
}

/// Whether a word is `DIR/*.ext`, which search tools take as a directory and a glob.
fn is_files_of_directory(path: &Arg) -> bool {
    let Some((directory, name)) = path.text.rsplit_once('/') else { return false };
    path.is_glob && name.starts_with("*.") && !directory.contains(['*', '?', '[', '{'])
}

/// Recognizes `find DIR … -exec grep -l PATTERN {} \\;`, the search of a directory.
fn search_each(words: &[Arg], rest: &[&Simple]) -> StandInMatch {
    let at = words.iter().position(|word| word.text == "-exec")?;
    let (tests, run) = (words.get(..at)?, words.get(at + 1..)?);
    let (end, run) = run.split_last()?;
    let (program, given) = run.split_first()?;
    let is_grep = matches!(program.text.as_str(), "grep" | "egrep" | "rg");
    if !is_grep || !matches!(end.text.as_str(), ";" | "+") {
        return None;
    }
    let (_, target, _) = names(tests, &[])?;
    let given: Vec<Arg> = given
        .iter()
        .map(|word| match word.text.as_str() {
            "{}" => Arg { text: target.clone().unwrap_or_else(|| ".".to_owned()), is_glob: false },
            text => Arg { text: text.to_owned(), is_glob: word.is_glob },
        })
        .collect();
    let (deed, _, fit) = search(&program.text, &given, rest)?;
    Some((deed, target, fit))
}

/// Recognizes `find DIR -name … | grep WORD`, the search of names.
fn names_with(words: &[Arg], rest: &[&Simple]) -> StandInMatch {
    let (grep, rest) = rest.split_first()?;
    let given: Vec<Arg> = grep.words.iter().skip(1).map(Arg::of).collect::<Option<_>>()?;
    let is_plain = matches!(given.as_slice(), [_])
        || matches!(given.as_slice(), [option, _] if matches!(option.text.as_str(), "-i" | "-E"));
    if !is_plain || !is_quiet(grep) {
        return None;
    }
    let (deed, target, fit) = names(words, rest)?;
    Some((deed, target, fit.min(Equivalence::Near)))
}

/// Recognizes `find` with tests that file name patterns can express too.
fn names(words: &[Arg], rest: &[&Simple]) -> StandInMatch {
    let is_sort = |simple: &Simple| {
        simple.words.len() == 1
            && is_quiet(simple)
            && simple.words.first().and_then(Word::literal).is_some_and(|name| name == "sort")
    };
    if !rest.iter().all(|simple| takes_lines(simple) || is_sort(simple)) {
        return None;
    }
    let mut words = words.iter().peekable();
    let target = words.next_if(|word| !word.is_option() && word.text != "!" && word.text != "(");
    if target.is_some_and(|target| target.is_glob) {
        return None;
    }
    let (mut is_named, mut is_near, mut is_exact) = (false, false, true);
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-name" => {
                words.next()?;
                is_named = true;
            }
            "-path" | "-wholename" => {
                words.next()?;
                is_named = true;
                is_near = true;
            }
            "-iname" => {
                words.next()?;
                is_named = true;
                is_exact = false;
            }
            "-type" if words.next()?.text == "f" => {}
            "-maxdepth" | "-mindepth" => {
                words.next()?;
                is_exact = false;
            }
            "-not" | "!" => {
                let test = words.next()?;
                if !matches!(test.text.as_str(), "-path" | "-name") {
                    return None;
                }
                words.next()?;
            }
            "-o" | "-or" | "(" | ")" | "-print" => {}
            _ => return None,
        }
    }
    let fit = match Equivalence::exact_if(is_exact) {
        Equivalence::Exact if is_near => Equivalence::Near,
        fit => fit,
    };
    is_named.then(|| (Deed::SearchNames, target.map(|t| t.text.clone()), fit))
}

fn list(words: &[Arg], rest: &[&Simple]) -> StandInMatch {
    if !rest.iter().all(|simple| takes_lines(simple)) {
        return None;
    }
    let mut target: Option<&Arg> = None;
    let mut fit = Equivalence::Exact;
    for word in words {
        match word.text.as_str() {
            "-1" | "-a" | "-A" | "-1a" | "-a1" => {}
            // Sizes and dates are seldom what is wanted.
            "-l" | "-la" | "-al" | "-lA" | "-lh" | "-lah" | "-alh" | "-lha" => {
                fit = Equivalence::Near
            }
            _ if word.is_option() || target.is_some() => return None,
            _ => target = Some(word),
        }
    }
    match target {
        Some(target) if target.is_glob => {
            Some((Deed::SearchNames, Some(target.text.clone()), Equivalence::Loose))
        }
        target => Some((Deed::List, target.map(|t| t.text.clone()), fit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::CommandLine;

    fn stood_in(text: &str) -> Option<StandIn> {
        CommandLine::new(text).stand_in().cloned()
    }

    #[test]
    fn what_stands_in_for_what() {
        for (text, deed, target, fit) in [
            ("cat a.rs", Deed::Read, "a.rs", Equivalence::Exact),
            ("cd /w && cat -n a.rs 2>/dev/null", Deed::Read, "a.rs", Equivalence::Exact),
            ("ls -la src", Deed::List, "src", Equivalence::Near),
            ("head -n 20 a.rs", Deed::Read, "a.rs", Equivalence::Exact),
            ("head -20 a.rs", Deed::Read, "a.rs", Equivalence::Exact),
            ("tail -n +20 a.rs", Deed::Read, "a.rs", Equivalence::Exact),
            ("tail -5 a.rs", Deed::Read, "a.rs", Equivalence::Near),
            ("tail -5 a.log", Deed::Read, "a.log", Equivalence::Loose),
            ("sed -n '5,20p' a.rs", Deed::Read, "a.rs", Equivalence::Exact),
            ("nl -ba a.rs | sed -n '5,20p'", Deed::Read, "a.rs", Equivalence::Exact),
            ("cat a.rs | head -50", Deed::Read, "a.rs", Equivalence::Exact),
            ("grep -rn 'x y' src/", Deed::SearchContent, "src/", Equivalence::Exact),
            ("grep -n foo a.rs b.rs", Deed::SearchContent, "", Equivalence::Near),
            ("cat a.rs | grep -n foo", Deed::SearchContent, "a.rs", Equivalence::Exact),
            (
                "find src -name '*.rs' | xargs grep -l foo | head -5",
                Deed::SearchContent,
                "src",
                Equivalence::Exact,
            ),
            ("cat >> a.rs <<'E'\n1\n2\n3\n4\n5\nE", Deed::Edit, "a.rs", Equivalence::Near),
            ("rg foo", Deed::SearchContent, "", Equivalence::Exact),
            (
                "rg -n -A 3 foo src 2>/dev/null | head -20",
                Deed::SearchContent,
                "src",
                Equivalence::Exact,
            ),
            ("grep -rn foo . --include=*.rs", Deed::SearchContent, ".", Equivalence::Exact),
            ("find . -name '*.rs' -type f | head -20", Deed::SearchNames, ".", Equivalence::Exact),
            (
                "find src -name a -not -path '*/x/*' | sort",
                Deed::SearchNames,
                "src",
                Equivalence::Exact,
            ),
            (
                "find src -type f -name '*.rs' | grep -i hook",
                Deed::SearchNames,
                "src",
                Equivalence::Near,
            ),
            ("find src -name '*.rs' -path '*/cmd/*'", Deed::SearchNames, "src", Equivalence::Near),
            (
                "find src -name '*.rs' -exec grep -l 'a b' {} \\;",
                Deed::SearchContent,
                "src",
                Equivalence::Exact,
            ),
            ("grep -n foo src/*.rs", Deed::SearchContent, "src/*.rs", Equivalence::Near),
            ("ls src/*.rs", Deed::SearchNames, "src/*.rs", Equivalence::Loose),
            ("ls -a src", Deed::List, "src", Equivalence::Exact),
            ("sed -i 's/a/b/' a.rs", Deed::Edit, "a.rs", Equivalence::Exact),
            ("sed -i '' 's/a/b/g' a.rs", Deed::Edit, "a.rs", Equivalence::Loose),
            ("echo 'x' > a.txt", Deed::Write, "a.txt", Equivalence::Exact),
            ("cat > a.txt <<'EOF'\n$x\nEOF", Deed::Write, "a.txt", Equivalence::Exact),
            ("cat <<EOF > a.txt\nx\nEOF", Deed::Write, "a.txt", Equivalence::Exact),
        ] {
            let found = stood_in(text).unwrap_or_else(|| panic!("{text}"));
            let target = Some(target.to_owned()).filter(|t| !t.is_empty());
            assert_eq!((found.deed, found.target, found.fit), (deed, target, fit), "{text}");
        }
    }

    #[test]
    fn lines_that_are_shown() {
        let span = |text: &str| stood_in(text).and_then(|found| found.span);
        for (text, want) in [
            ("cat a.rs", Some(LineSpan::Lines(1, u64::MAX))),
            ("head -n 20 a.rs", Some(LineSpan::Lines(1, 20))),
            ("head -20 a.rs", Some(LineSpan::Lines(1, 20))),
            ("tail -n 30 a.rs", Some(LineSpan::End(30))),
            ("tail a.rs", Some(LineSpan::End(10))),
            ("tail -n +5 a.rs", Some(LineSpan::Lines(5, u64::MAX))),
            ("sed -n '5,20p' a.rs", Some(LineSpan::Lines(5, 20))),
            ("cat a.rs | head -5", None),
            ("grep -n x a.rs", None),
        ] {
            assert_eq!(span(text), want, "{text}");
        }
        assert!(LineSpan::End(120).holds(LineSpan::End(30)));
        assert!(!LineSpan::Lines(1, 20).holds(LineSpan::End(3)));
    }

    #[test]
    fn commands_of_their_own_right() {
        for text in [
            "",
            "cat a b",
            "cat *.rs",
            "cat $FILE",
            "cat a | wc -l",
            "cat a | python3 -",
            "cat a > b",
            "cat a; ls",
            "cat a && make",
            "cat a &",
            "cat -A a",
            "cat -",
            "cat /proc/cpuinfo",
            "cat <<EOF\nx\nEOF",
            "cat > a <<EOF\n$(date)\nEOF",
            "cat >> a <<EOF\nx\nEOF",
            "tail -f log",
            "head -c 100 a",
            "head a b",
            "sed 's/a/b/' a",
            "sed -n '/x/p' a",
            "sed -i 's/a/b/' a b",
            "sed -i 's/a/b/' *.rs",
            "sed -i.bak 's/a/b/' a",
            "sudo cat a",
            "grep foo",
            "ps | grep foo",
            "grep -v foo a",
            "grep -o foo a",
            "grep -q foo a",
            "grep -rn foo . | wc -l",
            "grep -rl foo . | xargs sed -i s/a/b/",
            "rg --json foo",
            "find . -type f",
            "find . -type d -name x",
            "find . -name x -delete",
            "find . -name x -exec rm {} +",
            "find . -name x -exec grep -q y {} +",
            "find . -name x | grep -v y",
            "find . -mtime -1 -name x",
            "find . -name x | xargs cat",
            "ls -lt | head",
            "ls a b",
            "echo x",
            "echo x >> a",
            "echo $(date) > a",
            "echo x > /dev/null",
            "echo x | tee a",
            "printf '%s' \"$X\" > a",
            "X=1 cat a",
            "! grep -rn foo .",
        ] {
            assert_eq!(stood_in(text), None, "{text}");
        }
        assert_eq!(stood_in(&"cat a;".repeat(100_000)), None);
    }
}
