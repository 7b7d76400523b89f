//! Expansion of words to arguments, as far as the text alone proves them: quotes, `~`, `$HOME`,
//! `$PWD`, `$TMPDIR`, variables assigned literally before, loop variables, arrays, defaults and
//! brace lists. Everything else is dynamic.

use crate::ir::{Script, Word, WordPart};

/// One argument of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arg {
    /// Text of the argument; parts known only at run time are kept as written.
    pub text: String,
    /// Whether a part is known only at run time.
    pub dynamic: bool,
    /// Whether the argument contains an unquoted pattern.
    pub glob: bool,
    /// Whether the argument starts with a quote.
    pub quoted: bool,
    /// Whether the argument is in a directory just made for temporary files.
    pub temporary: bool,
}

impl Arg {
    /// Creates an argument from a literal word.
    pub(crate) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// Returns the text if it is proven.
    pub(crate) fn literal(&self) -> Option<&str> {
        (!self.dynamic).then_some(self.text.as_str())
    }
}

/// Value of a variable.
#[derive(Debug, Clone)]
pub(crate) enum ShellVariable {
    /// One of these texts.
    Texts(Vec<String>),
    /// A path that `mktemp` made.
    Temporary,
    /// The output of a download.
    Remote,
    /// The content of a secret.
    Secret,
    /// Reference to this variable: `declare -n`.
    Reference(String),
    /// Unknown value.
    Dynamic,
}

/// Maximum length of a chain of name references.
const MAX_REFERENCES: usize = 8;
/// Maximum length of a text that is tracked: `a=$a$a` doubles it each time.
const MAX_TEXT: usize = 16 << 10;
/// Maximum number of texts that one variable may hold.
const MAX_TEXTS: usize = 32;

impl ShellVariable {
    /// Limits the value to the size that is tracked.
    fn bounded(self) -> Self {
        match self {
            Self::Texts(texts) if texts.iter().map(String::len).sum::<usize>() > MAX_TEXT => {
                Self::Dynamic
            }
            Self::Texts(mut texts) => {
                texts.truncate(MAX_TEXTS);
                Self::Texts(texts)
            }
            value => value,
        }
    }

    /// Returns the value after `NAME+=more`.
    pub(crate) fn with(self, more: Self, is_array: bool) -> Self {
        match (self, more) {
            (Self::Texts(mut texts), Self::Texts(more)) if is_array => {
                texts.extend(more);
                Self::Texts(texts)
            }
            (Self::Texts(texts), Self::Texts(more)) => {
                let more = more.concat();
                Self::Texts(texts.into_iter().map(|text| text + &more).collect())
            }
            (one @ (Self::Secret | Self::Remote), _) | (_, one @ (Self::Secret | Self::Remote)) => {
                one
            }
            _ => Self::Dynamic,
        }
    }
}

/// Returns a name for the output of a substitution that no variable of the script has. The value is
/// set anew before each use.
fn output_name(script: &Script) -> String {
    format!("$({:p})", std::ptr::from_ref(script))
}

/// Variables in the order of their first assignment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables(Vec<(String, ShellVariable)>);

impl Variables {
    /// Remembers the output of a substitution, or that it is unknown.
    pub(crate) fn set_output(&mut self, script: &Script, text: Option<String>) {
        let value = text.map_or(ShellVariable::Dynamic, |text| ShellVariable::Texts(vec![text]));
        self.set(&output_name(script), value);
    }

    fn output(&self, script: &Script) -> Option<String> {
        match self.get(&output_name(script)) {
            Some(ShellVariable::Texts(texts)) => texts.first().cloned(),
            _ => None,
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: ShellVariable) {
        let value = value.bounded();
        match self.0.iter().position(|(known, _)| known == name) {
            Some(at) => {
                if let Some((_, slot)) = self.0.get_mut(at) {
                    *slot = value;
                }
            }
            None if self.0.len() < 256 => self.0.push((name.to_owned(), value)),
            None => {}
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&ShellVariable> {
        let mut name = name;
        for _ in 0..MAX_REFERENCES {
            match self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value) {
                Some(ShellVariable::Reference(target)) => name = target,
                found => return found,
            }
        }
        Some(&ShellVariable::Dynamic)
    }

    /// Sets the arguments of a script or function, `$1` and on and `$@`.
    pub(crate) fn set_arguments(&mut self, args: &[Arg]) {
        let value = |arg: &Arg| match arg.literal() {
            Some(text) => ShellVariable::Texts(vec![text.to_owned()]),
            None => ShellVariable::Dynamic,
        };
        for (index, arg) in args.iter().enumerate().take(9) {
            self.set(&(index + 1).to_string(), value(arg));
        }
        let texts: Option<Vec<String>> =
            args.iter().map(|arg| arg.literal().map(str::to_owned)).collect();
        let all = texts
            .filter(|texts| texts.len() <= MAX_TEXTS)
            .map_or(ShellVariable::Dynamic, ShellVariable::Texts);
        self.set("@", all.clone());
        self.set("*", all);
    }

    /// Returns the element named by `NAME[INDEX]`.
    fn element(&self, name: &str) -> Option<String> {
        let (name, index) = name.strip_suffix(']')?.split_once('[')?;
        let Some(ShellVariable::Texts(texts)) = self.get(name) else { return None };
        let by_key = || texts.iter().find(|text| keyed(text).0 == Some(index));
        let found = by_key().or_else(|| texts.get(index.parse::<usize>().ok()?))?;
        Some(keyed(found).1.to_owned())
    }

    /// Returns whether unquoted values are split into words at a character.
    fn separates(&self, c: char) -> bool {
        match self.get("IFS") {
            Some(ShellVariable::Texts(texts)) => texts.iter().any(|text| text.contains(c)),
            _ => matches!(c, ' ' | '\t' | '\n'),
        }
    }
}

/// Splits an element of `declare -A`: `[key]=value`.
fn keyed(text: &str) -> (Option<&str>, &str) {
    match text.strip_prefix('[').and_then(|rest| rest.split_once("]=")) {
        Some((key, value)) => (Some(key), value),
        None => (None, text),
    }
}

/// Separator between the words that an unquoted value is split into.
const SPLIT: char = '\0';

/// Maximum number of arguments one word may expand to.
const MAX_ARGS: usize = 64;

/// Returns the arguments that a word expands to. `cwd` is the value of `$PWD`.
pub(crate) fn expand(word: &Word, variables: &Variables, cwd: Option<&str>) -> Vec<Arg> {
    let quoted = matches!(word.parts.first(), Some(WordPart::Text { quoted: true, .. }));
    let mut out = vec![Arg { quoted, ..Arg::default() }];
    let mut brace = false;
    for part in &word.parts {
        match part {
            WordPart::Text { text, quoted } => {
                for arg in &mut out {
                    if *quoted && text.starts_with('~') && arg.text.is_empty() {
                        arg.text.push_str("./");
                    }
                    arg.text.push_str(text);
                    arg.glob |= !quoted && text.contains(['*', '?', '[']);
                }
                brace |= !quoted && text.contains('{');
            }
            WordPart::Parameter { name, default, plain, quoted } => {
                let values = lookup(name, *plain, default.as_ref(), variables, cwd);
                match values {
                    ExpandLookup::Texts(values) => {
                        product(&mut out, &split(values, *quoted, variables))
                    }
                    ExpandLookup::Temporary => {
                        for arg in &mut out {
                            arg.temporary |= arg.text.is_empty();
                            arg.dynamic |= !arg.temporary;
                            arg.text.push_str("/tmp/$");
                            arg.text.push_str(name);
                        }
                    }
                    ExpandLookup::Dynamic => {
                        for arg in &mut out {
                            arg.dynamic = true;
                            arg.text.push('$');
                            arg.text.push_str(name);
                        }
                    }
                }
            }
            WordPart::Command { script, quoted } => {
                let known = crate::pipes::literal_output(script);
                let known = known.or_else(|| variables.output(script));
                match known {
                    Some(text) => product(&mut out, &split(vec![text], *quoted, variables)),
                    None => {
                        let temporary = crate::pipes::makes_temporary(script);
                        for arg in &mut out {
                            arg.temporary |= temporary && arg.text.is_empty();
                            arg.dynamic |= !temporary;
                            arg.text.push_str("$(…)");
                        }
                    }
                }
            }
            WordPart::Process { .. } => {
                for arg in &mut out {
                    arg.dynamic = true;
                    arg.text.push_str("/dev/fd/63");
                }
            }
            WordPart::Arithmetic(_) => {
                for arg in &mut out {
                    arg.dynamic = true;
                    arg.text.push_str("$((…))");
                }
            }
        }
    }
    if brace {
        let all = out.iter().flat_map(braces).take(MAX_ARGS).collect::<Vec<_>>();
        return all.iter().flat_map(pieces).take(MAX_ARGS).collect();
    }
    if out.iter().any(|arg| arg.text.contains(SPLIT)) {
        return out.iter().flat_map(pieces).take(MAX_ARGS).collect();
    }
    out
}

/// Inserts separators at the points where values are split into words.
fn split(values: Vec<String>, quoted: bool, variables: &Variables) -> Vec<String> {
    if quoted {
        return values;
    }
    let mark = |c: char| if variables.separates(c) { SPLIT } else { c };
    values.into_iter().map(|value| value.chars().map(mark).collect()).collect()
}

/// Splits an argument at these separators into words.
fn pieces(arg: &Arg) -> Vec<Arg> {
    if !arg.text.contains(SPLIT) {
        return vec![arg.clone()];
    }
    let words = arg.text.split(SPLIT).filter(|word| !word.is_empty());
    words
        .map(|word| Arg {
            text: word.to_owned(),
            glob: arg.glob || word.contains(['*', '?']),
            ..arg.clone()
        })
        .collect()
}

enum ExpandLookup {
    Texts(Vec<String>),
    Temporary,
    Dynamic,
}

fn lookup(
    name: &str,
    plain: bool,
    default: Option<&Word>,
    variables: &Variables,
    cwd: Option<&str>,
) -> ExpandLookup {
    let simple = plain || default.is_some();
    // `${!name}`: the variable whose name it holds.
    if let Some(ShellVariable::Texts(texts)) =
        name.strip_prefix('!').and_then(|name| variables.get(name))
        && let [target] = texts.as_slice()
        && !target.starts_with('!')
    {
        return lookup(target, true, default, variables, cwd);
    }
    if let Some(element) = variables.element(name) {
        return ExpandLookup::Texts(vec![element]);
    }
    match variables.get(name) {
        Some(ShellVariable::Texts(texts)) if simple => {
            return ExpandLookup::Texts(
                texts.iter().map(|text| keyed(text).1.to_owned()).collect(),
            );
        }
        Some(ShellVariable::Temporary) if simple => return ExpandLookup::Temporary,
        Some(_) => return ExpandLookup::Dynamic,
        None => {}
    }
    let known = match name {
        "HOME" => Some("~".to_owned()),
        "PWD" => cwd.map(str::to_owned),
        "TMPDIR" | "TMP" | "TEMP" | "RUNNER_TEMP" => Some("/tmp".to_owned()),
        "IFS" => Some(" ".to_owned()),
        _ => None,
    };
    match (known, default) {
        (Some(text), _) if simple => ExpandLookup::Texts(vec![text]),
        (_, Some(word)) => {
            let args = expand(word, variables, cwd);
            if args.iter().any(|arg| arg.dynamic) {
                ExpandLookup::Dynamic
            } else {
                ExpandLookup::Texts(args.into_iter().map(|arg| arg.text).collect())
            }
        }
        _ => ExpandLookup::Dynamic,
    }
}

fn product(args: &mut Vec<Arg>, values: &[String]) {
    if let [value] = values {
        for arg in args.iter_mut() {
            if arg.text.len() + value.len() > MAX_TEXT {
                arg.dynamic = true;
            } else {
                arg.text.push_str(value);
            }
        }
        return;
    }
    let before = std::mem::take(args);
    for arg in &before {
        for value in values {
            if args.len() < MAX_ARGS {
                args.push(Arg { text: format!("{}{value}", arg.text), ..arg.clone() });
            }
        }
    }
}

/// Expands `a{b,c}d` to its list; lists only, one level at a time.
fn braces(arg: &Arg) -> Vec<Arg> {
    let mut done = Vec::new();
    let mut todo = vec![arg.text.clone()];
    while let Some(text) = todo.pop() {
        let list = text.find('{').and_then(|open| {
            let close = matching(&text, open)?;
            let inner = text.get(open + 1..close)?;
            inner.contains(',').then_some((open, close))
        });
        match list {
            Some((open, close)) if done.len() + todo.len() < MAX_ARGS => {
                let inner = text.get(open + 1..close).unwrap_or("");
                let (head, tail) =
                    (text.get(..open).unwrap_or(""), text.get(close + 1..).unwrap_or(""));
                let mut pieces: Vec<_> = split_top(inner)
                    .map(|piece| format!("{head}{piece}{tail}"))
                    .take(MAX_ARGS)
                    .collect();
                pieces.reverse();
                todo.extend(pieces);
            }
            _ => done.push(Arg { text, ..arg.clone() }),
        }
    }
    done
}

fn matching(text: &str, open: usize) -> Option<usize> {
    let mut level = 0_usize;
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '{' => level += 1,
            '}' => {
                level -= 1;
                if level == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

fn split_top(text: &str) -> impl Iterator<Item = &str> {
    let mut level = 0_i32;
    text.split(move |c| {
        match c {
            '{' => level += 1,
            '}' => level -= 1,
            _ => {}
        }
        c == ',' && level == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::IrNode;
    use crate::parse::parse;

    fn texts(text: &str, variables: &Variables) -> Vec<String> {
        let script = parse(text);
        let IrNode::Simple(simple) = &script.items[0].pipeline.stages[0] else { panic!() };
        simple
            .words
            .iter()
            .flat_map(|word| expand(word, variables, Some("/w")))
            .map(|arg| if arg.dynamic { format!("?{}", arg.text) } else { arg.text })
            .collect()
    }

    #[test]
    fn what_is_proven() {
        let mut variables = Variables::default();
        variables.set("D", ShellVariable::Texts(vec!["/etc".into(), "/usr".into()]));
        for (text, expected) in [
            ("x $D/a", vec!["x", "/etc/a", "/usr/a"]),
            ("x ${T:-/tmp}/a", vec!["x", "/tmp/a"]),
            ("x $PWD/a ~/b", vec!["x", "/w/a", "~/b"]),
            ("x \"$U/a\"", vec!["x", "?$U/a"]),
            ("x a{b,{c,d}}e", vec!["x", "abe", "ace", "ade"]),
            ("x '~'", vec!["x", "./~"]),
            ("x $(echo hi)", vec!["x", "hi"]),
        ] {
            assert_eq!(texts(text, &variables), expected, "{text}");
        }
    }
}
