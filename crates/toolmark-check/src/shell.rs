//! What rules ask about shell commands. All of it in one place, so that how
//! commands are read can change without any rule noticing.
//!
//! Words are split as a shell does; whatever goes beyond that (substitutions,
//! here-documents, compound commands) makes a script *opaque*: nothing is
//! claimed about what it leaves alone.

pub mod stand_in;

/// A longer text is not looked at.
const LONGEST: usize = 64 << 10;

/// A command with its words and where its output goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Simple {
    /// The words, quotes removed.
    pub words: Vec<String>,
    /// The files its output goes to.
    pub outputs: Vec<String>,
}

/// The commands of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// The simple commands, in order.
    pub commands: Vec<Simple>,
    /// Is there more to it than these commands show?
    pub opaque: bool,
}

/// Splits a text into its simple commands.
#[must_use]
pub fn simple_commands(text: &str) -> Script {
    let mut script = Script::default();
    if text.len() > LONGEST {
        script.opaque = true;
        return script;
    }
    let mut splitter = Splitter::default();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                splitter.in_word = true;
                splitter.word.extend(chars.by_ref().take_while(|c| *c != '\''));
            }
            '"' => {
                splitter.in_word = true;
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => splitter.word.extend(chars.next()),
                        '$' if chars.peek() == Some(&'(') => script.opaque = true,
                        '`' => script.opaque = true,
                        c => splitter.word.push(c),
                    }
                }
            }
            '\\' => match chars.next() {
                Some('\n') | None => {}
                Some(c) => splitter.push(c),
            },
            '$' | '<' if chars.peek() == Some(&'(') => script.opaque = true,
            '`' | '(' | ')' => script.opaque = true,
            '<' if chars.peek() == Some(&'<') => script.opaque = true,
            '<' => splitter.end_word(),
            '>' => {
                // `2>` and `&>`: the number is no word of the command.
                if splitter.word.chars().all(|c| c.is_ascii_digit()) {
                    splitter.word.clear();
                    splitter.in_word = false;
                }
                splitter.end_word();
                // `>>` and `>|`.
                let _ = chars.next_if(|c| matches!(c, '>' | '|'));
                splitter.output = Output::Next;
                if chars.next_if_eq(&'&').is_some() {
                    splitter.output = Output::Stream;
                }
            }
            '&' if chars.peek() == Some(&'>') => splitter.end_word(),
            ';' | '\n' | '|' | '&' => {
                splitter.end_command(&mut script);
            }
            '#' if !splitter.in_word => while chars.next_if(|c| *c != '\n').is_some() {},
            c if c.is_whitespace() => splitter.end_word(),
            c => splitter.push(c),
        }
    }
    splitter.end_command(&mut script);
    script
}

/// Where the next word goes.
#[derive(Default, Clone, Copy, PartialEq)]
enum Output {
    #[default]
    None,
    /// It is the file the output goes to.
    Next,
    /// It is a stream of the command's own.
    Stream,
}

#[derive(Default)]
struct Splitter {
    word: String,
    in_word: bool,
    output: Output,
    current: Simple,
}

impl Splitter {
    fn push(&mut self, c: char) {
        self.in_word = true;
        self.word.push(c);
    }

    fn end_word(&mut self) {
        if !std::mem::take(&mut self.in_word) {
            return;
        }
        let word = std::mem::take(&mut self.word);
        match std::mem::take(&mut self.output) {
            Output::None => self.current.words.push(word),
            Output::Next => self.current.outputs.push(word),
            Output::Stream => {}
        }
    }

    fn end_command(&mut self, script: &mut Script) {
        self.end_word();
        self.output = Output::None;
        let command = std::mem::take(&mut self.current);
        if !command.words.is_empty() || !command.outputs.is_empty() {
            script.commands.push(command);
        }
    }
}

/// Programs that change no file, whatever their arguments.
const LOOKING: &[&str] = &[
    "basename",
    "cat",
    "cd",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "env",
    "false",
    "fgrep",
    "file",
    "grep",
    "head",
    "hostname",
    "id",
    "jq",
    "ls",
    "md5sum",
    "nl",
    "od",
    "printenv",
    "printf",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "rg",
    "sha256sum",
    "sleep",
    "stat",
    "tail",
    "test",
    "tr",
    "tree",
    "true",
    "type",
    "uname",
    "uniq",
    "wc",
    "which",
    "whoami",
    "[",
];

/// Commands of git that change neither files nor history.
const LOOKING_GIT: &[&str] = &[
    "blame",
    "cat-file",
    "describe",
    "diff",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "reflog",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "status",
];

/// Is it certain that a command changes no file?
#[must_use]
pub fn only_looks(text: &str) -> bool {
    let script = simple_commands(text);
    !script.opaque && script.commands.iter().all(looks)
}

fn looks(command: &Simple) -> bool {
    if command.outputs.iter().any(|file| file != "/dev/null") {
        return false;
    }
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => true,
        ["git", rest @ ..] => {
            let mut rest = rest.iter().copied();
            let mut verb = rest.next();
            while matches!(verb, Some("-C")) {
                rest.next();
                verb = rest.next();
            }
            let quiet = !rest.any(|word| word.starts_with("--output") || word == "-o");
            verb.is_some_and(|verb| verb == "--no-pager" || LOOKING_GIT.contains(&verb)) && quiet
        }
        ["find", rest @ ..] => !rest.iter().any(|word| {
            matches!(*word, "-delete" | "-exec" | "-execdir" | "-ok" | "-okdir")
                || word.starts_with("-fprint")
                || word.starts_with("-fls")
        }),
        ["sed", rest @ ..] => !rest
            .iter()
            .any(|w| w.starts_with("-i") || w.starts_with("--in-place") || w.contains('w')),
        ["sort", rest @ ..] => {
            !rest.iter().any(|w| w.starts_with("-o") || w.starts_with("--output"))
        }
        ["rg", rest @ ..] => !rest.iter().any(|w| w.starts_with("--pre")),
        ["env", _, ..] => false,
        [name, ..] => LOOKING.contains(name),
    }
}

/// What a command surely did to files, if it worked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileEffect {
    /// The file is there, with a content that is not known.
    Written(String),
    /// The file is gone.
    Removed(String),
}

/// What a command surely does to files, with paths as it names them. Nothing is
/// claimed about scripts that change the directory or hold more than is seen.
#[must_use]
pub fn file_effects(text: &str) -> Vec<FileEffect> {
    let script = simple_commands(text);
    let mut effects = Vec::new();
    let is_plain = |word: &str| !word.contains(['*', '?', '[', '{', '$', '~']);
    if script.opaque || script.commands.iter().any(|c| c.words.first().is_some_and(|w| w == "cd")) {
        return effects;
    }
    for command in &script.commands {
        let written = command.outputs.iter().filter(|file| !file.starts_with("/dev/"));
        effects.extend(written.filter(|f| is_plain(f)).cloned().map(FileEffect::Written));
        let Some((name, words)) = command.words.split_first() else { continue };
        let files = words.iter().filter(|word| !word.starts_with('-') && is_plain(word)).cloned();
        match name.as_str() {
            "rm" | "unlink" => effects.extend(files.map(FileEffect::Removed)),
            "touch" | "tee" => effects.extend(files.map(FileEffect::Written)),
            _ => {}
        }
    }
    effects
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_outputs() {
        let script = simple_commands("cd '/a b' && echo \"x y\"\\ z > out.txt 2>&1 | wc -l # no");
        let words: Vec<_> = script.commands.iter().map(|c| c.words.join("|")).collect();
        assert_eq!(words, ["cd|/a b", "echo|x y z", "wc|-l"]);
        assert_eq!(script.commands[1].outputs, ["out.txt"]);
        assert!(!script.opaque);
        assert!(simple_commands("cat <<EOF\nx\nEOF").opaque);
        assert!(simple_commands("echo \"$(rm x)\"").opaque);
    }

    #[test]
    fn what_is_done_to_files() {
        let written = |file: &str| FileEffect::Written(file.into());
        let removed = |file: &str| FileEffect::Removed(file.into());
        for (text, want) in [
            ("echo x > a.txt", vec![written("a.txt")]),
            ("rm -f a b", vec![removed("a"), removed("b")]),
            ("ls | tee out 2>/dev/null", vec![written("out")]),
            ("cd x && rm a", vec![]),
            ("rm *.o $X", vec![]),
            ("echo $(rm a)", vec![]),
        ] {
            assert_eq!(file_effects(text), want, "{text}");
        }
    }

    #[test]
    fn what_surely_changes_nothing() {
        for text in [
            "ls -la",
            "cat a | head -3",
            "git status && git log -3",
            "git -C /w diff",
            "find . -name '*.rs'",
            "grep -rn x . 2>/dev/null",
            "sed -n '1,20p' a.rs",
            "cd /w; pwd",
            "sort a | uniq -c",
            "rg 'a|b' src",
        ] {
            assert!(only_looks(text), "{text}");
        }
        for text in [
            "rm a",
            "cargo fmt",
            "echo x > a",
            "cat a >> b",
            "git checkout .",
            "find . -delete",
            "sed -i s/a/b/ x",
            "sort -o a a",
            "env rm a",
            "echo `rm a`",
            "echo $(rm a)",
            "ls & cargo fmt",
            "ls\nmake",
            "cat <<E > a\nE",
            "echo x >| a",
            "echo x &> a",
            "sed -n 'w out' a",
            "git diff --output=a",
            "X=1 make",
        ] {
            assert!(!only_looks(text), "{text}");
        }
        assert!(!only_looks(&"ls;".repeat(100_000)));
    }
}
