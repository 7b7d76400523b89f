//! Calls: the syntax after a value, with its arguments and the blocks and functions passed along.

use super::{InlineReader, MAX_DEEDS, is_keyword};
use crate::inline::functions::{self, Called, Deed, FunctionCall};
use crate::inline::lex::SourceToken;
use crate::inline::value::{InlineValue, PartialText};
use crate::inline::{Language, decode};

impl InlineReader<'_> {
    pub(super) fn postfix(&mut self, mut value: InlineValue) -> InlineValue {
        let dots = matches!(self.language, Language::Perl | Language::Php);
        loop {
            // A chain may go on in the next line.
            if matches!(self.peek(), Some(SourceToken::Line)) {
                let lines =
                    self.tokens[self.at..].iter().take_while(|t| **t == SourceToken::Line).count();
                if !dots && self.is_mark_at(lines, ".") {
                    self.at += lines;
                }
            }
            match self.peek() {
                Some(SourceToken::Mark("." | "?.")) if dots => return self.finish(value),
                Some(SourceToken::Mark("." | "?." | "->" | "::")) => {
                    let Some(SourceToken::Name(member)) = self.peek_at(1) else {
                        // `"rm -rf x".!` of Scala
                        if self.is_mark_at(1, "!")
                            && let InlineValue::Text(known) = &value
                        {
                            self.perform(Deed::Shell(known.clone()));
                        }
                        return self.finish(value);
                    };
                    self.at += 2;
                    value = self.member(value, member);
                }
                Some(SourceToken::Mark("(")) => {
                    let receiver = value.clone();
                    let (args, named) = self.arguments(Some(&receiver));
                    value = match value {
                        InlineValue::Name(name) => self.call(&name, &args, &named),
                        InlineValue::OneOf(values) => self.call_any(&values, &args, &named),
                        _ => InlineValue::Unknown,
                    };
                }
                Some(SourceToken::Mark("["))
                    if !matches!(value, InlineValue::Unknown | InlineValue::Number(_)) =>
                {
                    value = self.index(value);
                }
                Some(SourceToken::Text(_)) if is_template(&value) => {
                    // `$`rm -rf x`` of JavaScript
                    if let InlineValue::Text(known) = self.primary() {
                        self.perform(Deed::Shell(known));
                    }
                    value = InlineValue::Unknown;
                }
                _ => match value {
                    InlineValue::Name(name) if self.takes_bare(&name) => {
                        let args = self.bare_arguments();
                        value = self.call(&name, &args, &[]);
                    }
                    value => return self.finish(value),
                },
            }
            self.block(&value);
        }
    }

    pub(super) fn finish(&mut self, value: InlineValue) -> InlineValue {
        if let InlineValue::Command(words) = &value
            && let Some(deed) = functions::command(words)
        {
            self.perform(deed);
        }
        value
    }

    /// Whether a function is called without parentheses here.
    pub(super) fn takes_bare(&self, name: &str) -> bool {
        let has_bare = matches!(
            self.language,
            Language::Ruby | Language::Perl | Language::Php | Language::Lisp | Language::Other
        );
        let is_operand = match self.peek() {
            Some(SourceToken::Text(_) | SourceToken::Words(_)) => true,
            Some(SourceToken::Number(_)) => self.language == Language::Perl,
            Some(SourceToken::Name(word)) => !is_keyword(word) || word == "my",
            // `unlink;` and `unlink }` of Perl work on `$_`.
            Some(SourceToken::Mark("}" | ";") | SourceToken::Line) | None => {
                let is_ruby = self.language == Language::Ruby && name == "fork";
                is_ruby || self.language == Language::Perl
            }
            Some(SourceToken::Mark("*" | "[" | "<")) => {
                matches!(self.language, Language::Ruby)
            }
            _ => false,
        };
        let is_own = matches!(self.peek(), Some(SourceToken::Name(word)) if matches!(word.as_str(), "for" | "foreach" | "while"))
            && self.language == Language::Perl;
        has_bare && (is_operand || is_own) && functions::is_known(name, self.language)
    }

    pub(super) fn bare_arguments(&mut self) -> Vec<InlineValue> {
        let mut args = Vec::new();
        loop {
            match self.peek() {
                None | Some(SourceToken::Line | SourceToken::Mark(";" | "}" | ")" | "]")) => break,
                Some(SourceToken::Mark(",")) => self.at += 1,
                Some(SourceToken::Name(name)) if name == "my" => self.at += 1,
                Some(SourceToken::Name(name)) if matches!(name.as_str(), "for" | "foreach") => {
                    // The names after it were bound in the first reading.
                    self.binding();
                }
                Some(SourceToken::Name(name)) if is_keyword(name) => break,
                _ => {
                    let before = self.at;
                    args.push(self.expression());
                    if self.at == before {
                        self.at += 1;
                        break;
                    }
                }
            }
        }
        if args.is_empty() { vec![self.element.clone()] } else { args }
    }

    /// Reads a block, which takes the values of the expression before it: `{ |x| … }`, `do |x|`.
    pub(super) fn block(&mut self, value: &InlineValue) {
        let is_block = self.is_mark("{") || self.is_name("do");
        if !is_block || !self.is_mark_at(1, "|") || self.language == Language::JavaScript {
            return;
        }
        self.at += 2;
        while let Some(SourceToken::Name(name)) = self.peek() {
            self.bind(name, value.element());
            self.at += 1;
            self.take_mark(",");
        }
        self.take_mark("|");
    }

    pub(super) fn member(&mut self, value: InlineValue, member: &str) -> InlineValue {
        if let InlineValue::Name(name) = &value {
            return InlineValue::Name(format!("{name}.{member}"));
        }
        // `[IO.File]::Delete(…)` of PowerShell names a class.
        if let InlineValue::List(values) = &value
            && let [InlineValue::Name(name)] = values.as_slice()
            && self.language == Language::PowerShell
        {
            return InlineValue::Name(format!("{name}.{member}"));
        }
        let (args, named) = match self.is_mark("(") {
            true => self.arguments(Some(&value)),
            false if self.language == Language::Ruby && self.takes_bare("unlink") => {
                (Vec::new(), Vec::new())
            }
            false => (Vec::new(), Vec::new()),
        };
        self.method(&value, member, &args, &named)
    }

    pub(super) fn index(&mut self, value: InlineValue) -> InlineValue {
        let start = self.at;
        let InlineValue::List(keys) = self.list() else { return InlineValue::Unknown };
        let reverses = self.tokens.get(start..self.at).is_some_and(|tokens| {
            let marks: Vec<&str> = tokens
                .iter()
                .filter_map(|token| match token {
                    SourceToken::Mark(mark) => Some(*mark),
                    _ => None,
                })
                .collect();
            matches!(marks.as_slice(), ["[", "::", "-", "]"])
        });
        if reverses {
            return value.map_text(decode::reversed);
        }
        match (value, keys.first()) {
            (InlineValue::Name(name), Some(key)) => match key.certain() {
                Some(key) if is_environment(&name) => functions::variable(key),
                Some(pattern) if name == "Dir" => InlineValue::Files(PartialText::plain(pattern)),
                Some(key) => InlineValue::Name(format!("{name}.{key}")),
                None => InlineValue::Unknown,
            },
            (InlineValue::List(values), Some(InlineValue::Number(at))) => at
                .parse()
                .ok()
                .and_then(|at: usize| values.get(at).cloned())
                .unwrap_or(InlineValue::Unknown),
            (InlineValue::Map(pairs), Some(key)) => {
                let found = pairs.iter().find(|(name, _)| Some(name.as_str()) == key.certain());
                found.map_or(InlineValue::Unknown, |(_, value)| value.clone())
            }
            (value @ (InlineValue::Files(_) | InlineValue::OneOf(_)), _) => value,
            _ => InlineValue::Unknown,
        }
    }

    /// Reads the positional and named arguments of a call.
    pub(super) fn arguments(
        &mut self,
        receiver: Option<&InlineValue>,
    ) -> (Vec<InlineValue>, Vec<(String, InlineValue)>) {
        let (mut args, mut named) = (Vec::new(), Vec::new());
        self.at += 1;
        while let Some(token) = self.peek() {
            match token {
                SourceToken::Mark(")") => break,
                SourceToken::Line | SourceToken::Mark("," | ";") => self.at += 1,
                SourceToken::Name(name) if matches!(name.as_str(), "for" | "foreach") => {
                    self.binding()
                }
                SourceToken::Name(name) if self.is_assigned() || self.is_mark_at(1, ":") => {
                    self.at += 2;
                    let value = self.expression();
                    named.push((name.clone(), value));
                }
                _ if self.parameters(receiver) => {}
                _ => {
                    let before = self.at;
                    args.push(self.expression());
                    if self.at == before {
                        self.at += 1;
                    }
                }
            }
        }
        self.take_mark(")");
        (args, named)
    }

    /// Reads parameters that take the values of the receiver that the function is passed to: `x
    /// =>`, `(x) =>`, `({x}) =>`, `function (x)`.
    pub(super) fn parameters(&mut self, receiver: Option<&InlineValue>) -> bool {
        if self.language != Language::JavaScript {
            return false;
        }
        let mut at = 0;
        while matches!(self.peek_at(at), Some(SourceToken::Name(name)) if matches!(name.as_str(), "async" | "function"))
        {
            at += 1;
        }
        let is_function = at > 0 && self.is_mark_at(at, "(");
        let mut names = Vec::new();
        let mut takes_apart = false;
        if self.is_mark_at(at, "(") {
            at += 1;
            while let Some(token) = self.peek_at(at) {
                match token {
                    SourceToken::Name(name) => names.push(name.clone()),
                    SourceToken::Mark("{") => takes_apart = true,
                    SourceToken::Mark(",") | SourceToken::Mark("}") => {}
                    _ => break,
                }
                at += 1;
            }
            if !self.is_mark_at(at, ")") {
                return false;
            }
            at += 1;
        } else if let Some(SourceToken::Name(name)) = self.peek_at(at) {
            names.push(name.clone());
            at += 1;
        } else {
            return false;
        }
        if !is_function && !self.is_mark_at(at, "=>") {
            return false;
        }
        let value = receiver.map_or(InlineValue::Unknown, |value| match value {
            InlineValue::Name(name) => match name.rsplit_once('.') {
                // `import('fs').then(…)`
                Some((module, "then" | "forEach" | "map")) => InlineValue::Name(module.to_owned()),
                _ => InlineValue::Unknown,
            },
            value => value.element(),
        });
        for name in names {
            let value = match &value {
                InlineValue::Name(module) if takes_apart => {
                    InlineValue::Name(format!("{module}.{name}"))
                }
                value => value.clone(),
            };
            self.bind(&name, value);
        }
        self.at += at + usize::from(!is_function);
        true
    }

    pub(super) fn call_any(
        &mut self,
        values: &[InlineValue],
        args: &[InlineValue],
        named: &[(String, InlineValue)],
    ) -> InlineValue {
        let mut value = InlineValue::Unknown;
        for function in values {
            if let InlineValue::Name(name) = function {
                value = self.call(name, args, named);
            }
        }
        value
    }

    pub(in crate::inline) fn call(
        &mut self,
        name: &str,
        args: &[InlineValue],
        named: &[(String, InlineValue)],
    ) -> InlineValue {
        let name = ["globalThis.", "window.", "builtins.", "__builtins__.", "System."]
            .iter()
            .find_map(|start| {
                name.strip_prefix(start).filter(|rest| rest.contains('.') || *start != "System.")
            })
            .unwrap_or(name);
        // The first name may be bound to a module.
        let full = match name.split_once('.') {
            Some((first, rest)) => match self.names.get(first) {
                Some(InlineValue::Name(module)) => format!("{module}.{rest}"),
                _ => name.to_owned(),
            },
            None => name.to_owned(),
        };
        let (language, program) = (self.language, self.program);
        let call = FunctionCall { name: &full, args, named, language, program };
        let Called { value, deed } = call.apply();
        let has_deed = deed.is_some();
        if let Some(deed) = deed {
            self.perform(deed);
        }
        if let InlineValue::Files(_) | InlineValue::OneOf(_) = &value
            && self.found.listed.len() < MAX_DEEDS
        {
            self.found.listed.push(value.clone());
            self.element = value.element();
        }
        if value == InlineValue::Unknown
            && !has_deed
            && let Some((_, method)) = full.rsplit_once('.')
        {
            // The thing it belongs to is not known.
            return self.method(&InlineValue::Unknown, method, args, named);
        }
        value
    }
}

fn is_environment(name: &str) -> bool {
    matches!(name, "os.environ" | "environ" | "process.env" | "ENV" | "$_ENV" | "$ENV" | "%ENV")
}

/// Whether a template after this name is a command: `$`…``.
fn is_template(value: &InlineValue) -> bool {
    matches!(value, InlineValue::Name(name)
        if matches!(name.as_str(), "$" | "Bun.$" | "bun.$" | "zx.$" | "execa.$" | "sh" | "$.sync"))
}
