//! Words to arguments, as far as the text alone proves them: quotes, `~`,
//! `$HOME`, `$PWD`, `$TMPDIR`, variables assigned literally before, loop
//! variables, defaults and brace lists. Everything else is dynamic.

use crate::ir::{Part, Word};

/// One argument of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arg {
    /// The text; what is known only at run time is kept as written.
    pub text: String,
    /// A part is known only at run time.
    pub dynamic: bool,
    /// It contains an unquoted pattern.
    pub glob: bool,
    /// It starts with a quote.
    pub quoted: bool,
    /// It is in a directory just made for temporary files.
    pub temporary: bool,
}

impl Arg {
    /// A literal word.
    pub(crate) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// The text if it is proven.
    pub(crate) fn literal(&self) -> Option<&str> {
        (!self.dynamic).then_some(self.text.as_str())
    }
}

/// What a variable holds.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// One of these texts.
    Texts(Vec<String>),
    /// A path that `mktemp` made.
    Temporary,
    /// The output of a download.
    Remote,
    /// The content of a secret.
    Secret,
    /// Not known.
    Dynamic,
}

/// Variables in the order of assignment; the last one counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables(Vec<(String, Value)>);

impl Variables {
    pub(crate) fn set(&mut self, name: &str, value: Value) {
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

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

/// The most arguments one word may expand to.
const MAX_ARGS: usize = 64;

/// The arguments a word becomes. `cwd` is what `$PWD` stands for.
pub(crate) fn expand(word: &Word, variables: &Variables, cwd: Option<&str>) -> Vec<Arg> {
    let quoted = matches!(word.parts.first(), Some(Part::Text { quoted: true, .. }));
    let mut out = vec![Arg { quoted, ..Arg::default() }];
    let mut brace = false;
    for (index, part) in word.parts.iter().enumerate() {
        match part {
            Part::Text { text, quoted } => {
                let home = index == 0 && !quoted && (text == "~" || text.starts_with("~/"));
                for arg in &mut out {
                    if *quoted && text.starts_with('~') && arg.text.is_empty() {
                        arg.text.push_str("./");
                    }
                    arg.text.push_str(text);
                    arg.glob |= !quoted && text.contains(['*', '?', '[']);
                }
                brace |= !quoted && text.contains('{') && !home;
            }
            Part::Parameter { name, default, plain, .. } => {
                let values = lookup(name, *plain, default.as_ref(), variables, cwd);
                match values {
                    Lookup::Texts(values) => product(&mut out, &values),
                    Lookup::Temporary => {
                        for arg in &mut out {
                            arg.temporary |= arg.text.is_empty();
                            arg.dynamic |= !arg.temporary;
                            arg.text.push_str("/tmp/$");
                            arg.text.push_str(name);
                        }
                    }
                    Lookup::Dynamic => {
                        for arg in &mut out {
                            arg.dynamic = true;
                            arg.text.push('$');
                            arg.text.push_str(name);
                        }
                    }
                }
            }
            Part::Command { script, .. } => {
                let known = crate::pipes::literal_output(script);
                match known {
                    Some(text) => product(&mut out, &[text]),
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
            Part::Process(_) => {
                for arg in &mut out {
                    arg.dynamic = true;
                    arg.text.push_str("/dev/fd/63");
                }
            }
            Part::Arithmetic(_) => {
                for arg in &mut out {
                    arg.dynamic = true;
                    arg.text.push_str("$((…))");
                }
            }
        }
    }
    if brace {
        return out.iter().flat_map(braces).take(MAX_ARGS).collect();
    }
    let unquoted = word.parts.len() == 1
        && matches!(
            word.parts.first(),
            Some(Part::Parameter { quoted: false, .. } | Part::Command { quoted: false, .. })
        );
    if unquoted && out.iter().any(|arg| !arg.dynamic && arg.text.contains([' ', '\t', '\n'])) {
        // An unquoted value is split into words.
        return out
            .iter()
            .flat_map(|arg| {
                arg.text.split_whitespace().map(|piece| Arg {
                    text: piece.to_owned(),
                    glob: piece.contains(['*', '?']),
                    ..arg.clone()
                })
            })
            .take(MAX_ARGS)
            .collect();
    }
    out
}

enum Lookup {
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
) -> Lookup {
    let simple = plain || default.is_some();
    match variables.get(name) {
        Some(Value::Texts(texts)) if simple => return Lookup::Texts(texts.clone()),
        Some(Value::Temporary) if simple => return Lookup::Temporary,
        Some(_) => return Lookup::Dynamic,
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
        (Some(text), _) if simple => Lookup::Texts(vec![text]),
        (_, Some(word)) => {
            let args = expand(word, variables, cwd);
            if args.iter().any(|arg| arg.dynamic) {
                Lookup::Dynamic
            } else {
                Lookup::Texts(args.into_iter().map(|arg| arg.text).collect())
            }
        }
        _ => Lookup::Dynamic,
    }
}

fn product(args: &mut Vec<Arg>, values: &[String]) {
    if let [value] = values {
        for arg in args.iter_mut() {
            arg.text.push_str(value);
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

/// `a{b,c}d` as its list; only lists, one level at a time.
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
    use crate::ir::Node;
    use crate::parse::parse;

    fn texts(text: &str, variables: &Variables) -> Vec<String> {
        let script = parse(text);
        let Node::Simple(simple) = &script.items[0].pipeline.stages[0] else { panic!() };
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
        variables.set("D", Value::Texts(vec!["/etc".into(), "/usr".into()]));
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
