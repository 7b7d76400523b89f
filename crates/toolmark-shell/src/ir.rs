//! The command representation used by everything else: scripts of pipelines of commands, words with
//! their quoting, redirections and here-documents. Every node has its byte range in the source
//! text.

use std::borrow::Cow;

/// A byte range in the text from which a script was read.
pub type ScriptSpan = std::ops::Range<usize>;

/// A parsed piece of shell text.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// The statements in order.
    pub items: Vec<PipelineItem>,
    /// Reason why the text is not completely understood.
    pub partial: Option<Partial>,
}

/// Reason why a text is not completely understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partial {
    /// A shell would report a syntax error; the pieces were read nevertheless.
    Syntax,
    /// The text is nested too deeply; the rest was not read.
    TooDeep,
}

/// One pipeline and the operator after it.
#[derive(Debug, Clone)]
pub struct PipelineItem {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// The operator after it.
    pub after: Operator,
}

/// Operator between a pipeline and the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `;` or a line end.
    Then,
    /// The operator `&&`.
    And,
    /// The operator `||`.
    Or,
    /// The operator `&`.
    Background,
    /// End of the list.
    End,
}

/// Commands joined by `|`.
#[derive(Debug, Clone, Default)]
pub struct Pipeline {
    /// Whether the pipeline begins with `!`.
    pub negated: bool,
    /// Stages of the pipeline.
    pub stages: Vec<IrNode>,
}

/// One stage of a pipeline.
#[derive(Debug, Clone)]
pub enum IrNode {
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
    /// Byte range.
    pub span: ScriptSpan,
}

/// A command made of commands.
#[derive(Debug, Clone)]
pub struct Compound {
    /// Kind of compound command, with its parts.
    pub kind: CompoundKind,
    /// Redirections of the whole command.
    pub redirections: Vec<Redirection>,
    /// Byte range.
    pub span: ScriptSpan,
}

/// The compound commands.
#[derive(Debug, Clone)]
pub enum CompoundKind {
    /// A subshell: `( … )`.
    Subshell(Script),
    /// A group: `{ …; }`.
    Group(Script),
    /// `if`: conditions and bodies in the order of the text.
    Branches(Vec<Script>),
    /// `while` and `until`: the condition, then the body.
    Loop {
        /// Whether the loop runs until the condition holds.
        until: bool,
        /// The condition and the body.
        parts: Vec<Script>,
    },
    /// `for` and `select`.
    For {
        /// The loop variable.
        name: String,
        /// Words iterated over; empty means the arguments of the script.
        words: Vec<Word>,
        /// The body.
        body: Script,
    },
    /// `case`.
    Case {
        /// Compared word.
        word: Word,
        /// The bodies of the arms.
        arms: Vec<Script>,
    },
    /// A function definition.
    Function {
        /// Function name.
        name: String,
        /// Function body.
        body: Box<IrNode>,
    },
    /// `[[ … ]]` and `(( … ))`: tests, in which only substitutions are executed.
    Test(Vec<Word>),
}

/// `NAME=value` before a command or alone.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// Variable name.
    pub name: String,
    /// Words of the value; an array has several.
    pub values: Vec<Word>,
    /// Whether the value is appended: `NAME+=value`.
    pub appends: bool,
    /// Whether an array is assigned: `NAME=(…)`.
    pub is_array: bool,
    /// Subscript in `NAME[…]=value`.
    pub subscript: Vec<WordPart>,
}

/// A word as written.
#[derive(Debug, Clone, Default)]
pub struct Word {
    /// Parts of the word.
    pub parts: Vec<WordPart>,
    /// Byte range.
    pub span: ScriptSpan,
}

/// A part of a word.
#[derive(Debug, Clone)]
pub enum WordPart {
    /// Text, after quote removal.
    Text {
        /// The text.
        text: String,
        /// Whether the text was quoted or escaped.
        quoted: bool,
    },
    /// `$NAME` or `${NAME…}`.
    Parameter {
        /// Parameter name.
        name: String,
        /// Whether the parameter is a plain `$NAME` or `${NAME}`.
        plain: bool,
        /// Default word of `${NAME:-word}` and `${NAME-word}`.
        default: Option<Word>,
        /// Whether the parameter was in double quotes.
        quoted: bool,
    },
    /// `$(…)` or backticks.
    Command {
        /// Executed script.
        script: Script,
        /// Whether the substitution was in double quotes.
        quoted: bool,
    },
    /// `<(…)` or `>(…)`.
    Process {
        /// Executed script.
        script: Script,
        /// Whether it is `>(…)`, which reads the output of the command.
        reads: bool,
    },
    /// `$((…))`: the commands inside.
    Arithmetic(Vec<WordPart>),
}

/// A redirection.
#[derive(Debug, Clone)]
pub struct Redirection {
    /// Kind of redirection.
    pub kind: RedirectionKind,
    /// Name of the variable that receives the descriptor: `{fd}<file`.
    pub variable: Option<String>,
    /// Index of the here-document, until its body is attached.
    pub(crate) pending: Option<u32>,
    /// The descriptor before the operator.
    pub descriptor: Option<u32>,
    /// The file, the here-string, or the delimiter.
    pub target: Word,
    /// The body of a here-document.
    pub body: Option<HereDocument>,
}

/// Redirection operators by meaning.
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
    /// Whether the shell expands the text, which requires an unquoted delimiter.
    pub expands: bool,
    /// Parts of the text, if it is expanded.
    pub parts: Vec<WordPart>,
}

impl Word {
    /// Returns the text if the word is the same in every environment; borrowed if it is in one
    /// piece, as most are.
    pub fn fixed(&self) -> Option<Cow<'_, str>> {
        match &self.parts[..] {
            [WordPart::Text { text, .. }] => Some(Cow::Borrowed(text)),
            _ => self.literal().map(Cow::Owned),
        }
    }

    /// Returns the same text as an owned string.
    pub fn literal(&self) -> Option<String> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                WordPart::Text { text, .. } => out.push_str(text),
                _ => return None,
            }
        }
        Some(out)
    }

    /// Returns whether the word contains an unquoted `*`, `?` or `[`.
    pub fn is_glob(&self) -> bool {
        self.parts.iter().any(
            |part| matches!(part, WordPart::Text { text, quoted: false } if text.contains(['*', '?', '['])),
        )
    }

    /// Returns the scripts of `>(…)`, which read the output of the command.
    pub(crate) fn readers(&self) -> impl Iterator<Item = &Script> {
        self.parts.iter().filter_map(|part| match part {
            WordPart::Process { script, reads: true } => Some(script),
            _ => None,
        })
    }

    /// Returns the scripts executed by the substitutions.
    pub fn scripts(&self) -> Vec<&Script> {
        let mut out = Vec::new();
        scripts_of(&self.parts, &mut out);
        out
    }
}

/// Collects the scripts that a list of parts executes.
pub(crate) fn scripts_of<'a>(parts: &'a [WordPart], out: &mut Vec<&'a Script>) {
    for part in parts {
        match part {
            WordPart::Command { script, .. } | WordPart::Process { script, .. } => out.push(script),
            WordPart::Arithmetic(inner) => scripts_of(inner, out),
            WordPart::Parameter { default: Some(word), .. } => scripts_of(&word.parts, out),
            _ => {}
        }
    }
}
