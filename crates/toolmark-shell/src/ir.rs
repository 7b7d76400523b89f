//! The command representation everything else works on: scripts of pipelines
//! of commands, words with their quoting, redirections and here-documents.
//! Every piece knows its byte range in the text it was read from.

use std::borrow::Cow;

/// A byte range in the text a script was read from.
pub type Span = std::ops::Range<usize>;

/// A parsed piece of shell text.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// The statements in order.
    pub items: Vec<Item>,
    /// Why the text is not understood completely, if it is not.
    pub partial: Option<Partial>,
}

/// Why a text is not understood completely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partial {
    /// A shell would report a syntax error; the pieces were read anyway.
    Syntax,
    /// It is nested too deeply; the rest was not read.
    TooDeep,
}

/// One pipeline and what follows it.
#[derive(Debug, Clone)]
pub struct Item {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// The operator after it.
    pub after: Operator,
}

/// What joins a pipeline to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `;` or a line end.
    Then,
    /// `&&`.
    And,
    /// `||`.
    Or,
    /// `&`.
    Background,
    /// Nothing follows.
    End,
}

/// Commands joined by `|`.
#[derive(Debug, Clone, Default)]
pub struct Pipeline {
    /// It begins with `!`.
    pub negated: bool,
    /// Its stages.
    pub stages: Vec<Node>,
}

/// One stage of a pipeline.
#[derive(Debug, Clone)]
pub enum Node {
    /// A command with its words.
    Simple(Simple),
    /// A command made of commands.
    Compound(Compound),
}

/// A command with its words.
#[derive(Debug, Clone, Default)]
pub struct Simple {
    /// The assignments before the first word.
    pub assignments: Vec<Assignment>,
    /// The words, the program first.
    pub words: Vec<Word>,
    /// The redirections in order.
    pub redirections: Vec<Redirection>,
    /// Its position.
    pub span: Span,
}

/// A command made of commands.
#[derive(Debug, Clone)]
pub struct Compound {
    /// Which one, with its parts.
    pub kind: CompoundKind,
    /// Redirections of the whole.
    pub redirections: Vec<Redirection>,
    /// Its position.
    pub span: Span,
}

/// The compound commands.
#[derive(Debug, Clone)]
pub enum CompoundKind {
    /// `( … )`.
    Subshell(Script),
    /// `{ …; }`.
    Group(Script),
    /// `if`: conditions and bodies in the order of the text.
    Branches(Vec<Script>),
    /// `while` and `until`: the condition, then the body.
    Loop {
        /// It goes on until the condition holds.
        until: bool,
        /// The condition and the body.
        parts: Vec<Script>,
    },
    /// `for` and `select`.
    For {
        /// The loop variable.
        name: String,
        /// What it runs over; nothing means the arguments of the script.
        words: Vec<Word>,
        /// The body.
        body: Script,
    },
    /// `case`.
    Case {
        /// What is compared.
        word: Word,
        /// The bodies of the arms.
        arms: Vec<Script>,
    },
    /// A function definition.
    Function {
        /// Its name.
        name: String,
        /// Its body.
        body: Box<Node>,
    },
    /// `[[ … ]]` and `(( … ))`: tests, of which only substitutions execute.
    Test(Vec<Word>),
}

/// `NAME=value` before a command or alone.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// The value; an array has several words.
    pub values: Vec<Word>,
    /// `NAME+=value`: it is added to what the variable holds.
    pub appends: bool,
    /// `NAME=(…)`.
    pub is_array: bool,
    /// What stands in `NAME[…]=value`.
    pub subscript: Vec<Part>,
}

/// A word as written.
#[derive(Debug, Clone, Default)]
pub struct Word {
    /// Its parts.
    pub parts: Vec<Part>,
    /// Its position.
    pub span: Span,
}

/// A part of a word.
#[derive(Debug, Clone)]
pub enum Part {
    /// Text, after quote removal.
    Text {
        /// The text.
        text: String,
        /// It was quoted or escaped.
        quoted: bool,
    },
    /// `$NAME` or `${NAME…}`.
    Parameter {
        /// The name.
        name: String,
        /// It is a plain `$NAME` or `${NAME}`.
        plain: bool,
        /// The word of `${NAME:-word}` and `${NAME-word}`.
        default: Option<Word>,
        /// It was in double quotes.
        quoted: bool,
    },
    /// `$(…)` or backticks.
    Command {
        /// What is executed.
        script: Script,
        /// It was in double quotes.
        quoted: bool,
    },
    /// `<(…)` or `>(…)`.
    Process {
        /// What is executed.
        script: Script,
        /// It is `>(…)`: it reads what the command writes.
        reads: bool,
    },
    /// `$((…))`: the commands inside.
    Arithmetic(Vec<Part>),
}

/// A redirection.
#[derive(Debug, Clone)]
pub struct Redirection {
    /// What it does.
    pub kind: RedirectionKind,
    /// The descriptor before the operator.
    pub descriptor: Option<u32>,
    /// The file, the here-string, or the delimiter.
    pub target: Word,
    /// The body of a here-document.
    pub body: Option<HereDocument>,
}

/// The redirection operators by what they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectionKind {
    /// `<`.
    Read,
    /// `>`, `>|`, `&>`, `<>`.
    Write,
    /// `>>`, `&>>`.
    Append,
    /// `>&1`, `<&3`, `>&-`.
    Duplicate,
    /// `<<<`.
    HereString,
    /// `<<`, `<<-`.
    HereDocument,
}

/// The body of a here-document.
#[derive(Debug, Clone, Default)]
pub struct HereDocument {
    /// The text.
    pub text: String,
    /// The shell expands it: the delimiter is not quoted.
    pub expands: bool,
    /// The parts, when it expands.
    pub parts: Vec<Part>,
}

impl Word {
    /// The text, if the word is the same whatever the environment is; borrowed where it
    /// is in one piece, as most are.
    pub fn fixed(&self) -> Option<Cow<'_, str>> {
        match &self.parts[..] {
            [Part::Text { text, .. }] => Some(Cow::Borrowed(text)),
            _ => self.literal().map(Cow::Owned),
        }
    }

    /// The same, to be kept.
    pub fn literal(&self) -> Option<String> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text { text, .. } => out.push_str(text),
                _ => return None,
            }
        }
        Some(out)
    }

    /// Whether it contains an unquoted `*`, `?` or `[`.
    pub fn is_glob(&self) -> bool {
        self.parts.iter().any(
            |part| matches!(part, Part::Text { text, quoted: false } if text.contains(['*', '?', '['])),
        )
    }

    /// The scripts of `>(…)`, which read what the command writes.
    pub(crate) fn readers(&self) -> impl Iterator<Item = &Script> {
        self.parts.iter().filter_map(|part| match part {
            Part::Process { script, reads: true } => Some(script),
            _ => None,
        })
    }

    /// The scripts its substitutions execute.
    pub fn scripts(&self) -> Vec<&Script> {
        let mut out = Vec::new();
        scripts_of(&self.parts, &mut out);
        out
    }
}

/// Collects the scripts that a list of parts executes.
pub(crate) fn scripts_of<'a>(parts: &'a [Part], out: &mut Vec<&'a Script>) {
    for part in parts {
        match part {
            Part::Command { script, .. } | Part::Process { script, .. } => out.push(script),
            Part::Arithmetic(inner) => scripts_of(inner, out),
            Part::Parameter { default: Some(word), .. } => scripts_of(&word.parts, out),
            _ => {}
        }
    }
}
