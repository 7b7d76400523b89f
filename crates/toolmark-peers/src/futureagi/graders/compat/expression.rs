//! Parses a Python expression that is a call, with its arguments as values.
//!
//! All of Python's expression grammar is supported far enough to validate an
//! expression, but only literals keep a value; any other expression is opaque. The
//! nesting is bounded: deeper expressions are not calls.

use super::literal::{Literal, PythonFailure};
use super::token::{PythonToken, is_binary, is_keyword, tokens};
use toolmark_base::{SortedMap, SortedSet};

/// Maximum nesting depth, two per bracket. CPython supports twice as many brackets; realistic
/// calls need far fewer.
const MAX_DEPTH: u32 = 200;

/// A parsed call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expressed {
    /// Bare name, or last attribute; empty for any other callee.
    pub(super) name: String,
    /// Keyword arguments, and positional ones as `__positional_0` and so on.
    pub(super) arguments: SortedMap<String, Literal>,
}

/// Kinds of expressions that are distinguished.
enum ExpressionNode {
    Value(Literal),
    Name(String),
    /// An attribute access, with the name of the attribute.
    Attribute(String),
    Call(Box<Expressed>),
    Other,
}

impl ExpressionNode {
    fn value(self) -> Literal {
        match self {
            Self::Value(value) => value,
            Self::Name(name) => Literal::Text(name),
            Self::Attribute(_) | Self::Call(_) | Self::Other => Literal::OPAQUE,
        }
    }
}

/// Error: the text is not an expression.
struct NoExpression;

type ParsedExpression<T> = Result<T, NoExpression>;

/// Parses a call; `None` if the text is not a call.
pub(super) fn call(text: &str) -> Result<Option<Expressed>, PythonFailure> {
    let Some(tokens) = tokens(text.trim()) else { return Ok(None) };
    let mut parser = ExpressionParser { tokens: &tokens, at: 0, depth: 0 };
    let Ok(ExpressionNode::Call(call)) = parser.expression() else { return Ok(None) };
    if parser.peek().is_some() {
        return Ok(None);
    }
    let unhashable = call.arguments.values().find_map(Literal::unhashable);
    match unhashable {
        Some(type_word) => {
            Err(PythonFailure::Raised(format!("a {type_word} is used as a key or in a set")))
        }
        None => Ok(Some(*call)),
    }
}

struct ExpressionParser<'t, 'a> {
    tokens: &'t [PythonToken<'a>],
    at: usize,
    depth: u32,
}

impl<'a> ExpressionParser<'_, 'a> {
    fn peek(&self) -> Option<&PythonToken<'a>> {
        self.tokens.get(self.at)
    }

    fn is_op(&self, op: &str) -> bool {
        matches!(self.peek(), Some(PythonToken::Op(found)) if *found == op)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(PythonToken::Word(found)) if *found == word)
    }

    fn eat_op(&mut self, op: &str) -> bool {
        let found = self.is_op(op);
        self.at += usize::from(found);
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn expect_op(&mut self, op: &str) -> ParsedExpression<()> {
        if self.eat_op(op) { Ok(()) } else { Err(NoExpression) }
    }

    fn expect_word(&mut self, word: &str) -> ParsedExpression<()> {
        if self.eat_word(word) { Ok(()) } else { Err(NoExpression) }
    }

    fn name(&mut self) -> ParsedExpression<&'a str> {
        match self.peek() {
            Some(PythonToken::Word(word)) if !is_keyword(word) => {
                let word = *word;
                self.at += 1;
                Ok(word)
            }
            _ => Err(NoExpression),
        }
    }

    /// Runs a nested parser and bounds the depth. All recursion goes through this function.
    fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> ParsedExpression<T>,
    ) -> ParsedExpression<T> {
        if self.depth == MAX_DEPTH {
            return Err(NoExpression);
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Parses a conditional, a lambda, or a simpler expression.
    fn expression(&mut self) -> ParsedExpression<ExpressionNode> {
        self.nested(|p| {
            if p.eat_word("lambda") {
                return p.lambda();
            }
            let node = p.disjunction()?;
            if !p.eat_word("if") {
                return Ok(node);
            }
            p.disjunction()?;
            p.expect_word("else")?;
            p.expression()?;
            Ok(ExpressionNode::Other)
        })
    }

    fn lambda(&mut self) -> ParsedExpression<ExpressionNode> {
        while !self.eat_op(":") {
            if self.eat_op("*") {
                if self.is_name() {
                    self.name()?;
                }
            } else if self.eat_op("**") {
                self.name()?;
            } else if !self.eat_op("/") {
                self.name()?;
                if self.eat_op("=") {
                    self.expression()?;
                }
            }
            if !self.is_op(":") {
                self.expect_op(",")?;
            }
        }
        self.expression()?;
        Ok(ExpressionNode::Other)
    }

    fn is_name(&self) -> bool {
        matches!(self.peek(), Some(PythonToken::Word(word)) if !is_keyword(word))
    }

    fn disjunction(&mut self) -> ParsedExpression<ExpressionNode> {
        let mut node = self.negation()?;
        while self.eat_word("or") || self.eat_word("and") {
            self.negation()?;
            node = ExpressionNode::Other;
        }
        Ok(node)
    }

    fn negation(&mut self) -> ParsedExpression<ExpressionNode> {
        let mut negated = false;
        while self.eat_word("not") {
            negated = true;
        }
        let node = self.binary()?;
        Ok(if negated { ExpressionNode::Other } else { node })
    }

    /// Parses comparisons and arithmetic: precedence does not matter
    /// because the result is opaque, but `not in` and `is not` are single operators.
    fn binary(&mut self) -> ParsedExpression<ExpressionNode> {
        let mut node = self.unary()?;
        loop {
            if self.is_word("not") {
                self.at += 1;
                self.expect_word("in")?;
            } else if self.peek().is_some_and(is_binary) {
                let is = self.is_word("is");
                self.at += 1;
                if is {
                    self.eat_word("not");
                }
            } else {
                return Ok(node);
            }
            self.unary()?;
            node = ExpressionNode::Other;
        }
    }

    fn unary(&mut self) -> ParsedExpression<ExpressionNode> {
        let mut signed = false;
        while self.eat_op("-") || self.eat_op("+") || self.eat_op("~") {
            signed = true;
        }
        signed |= self.eat_word("await");
        let mut node = self.postfix()?;
        if self.eat_op("**") {
            self.nested(Self::unary)?;
            node = ExpressionNode::Other;
        }
        Ok(if signed { ExpressionNode::Other } else { node })
    }

    fn postfix(&mut self) -> ParsedExpression<ExpressionNode> {
        let mut node = self.atom()?;
        loop {
            if self.eat_op(".") {
                node = ExpressionNode::Attribute(self.name()?.to_owned());
            } else if self.eat_op("(") {
                let name = match node {
                    ExpressionNode::Name(name) | ExpressionNode::Attribute(name) => name,
                    _ => String::new(),
                };
                let arguments = self.nested(Self::arguments)?;
                node = ExpressionNode::Call(Box::new(Expressed { name, arguments }));
            } else if self.eat_op("[") {
                self.nested(Self::subscript)?;
                node = ExpressionNode::Other;
            } else {
                return Ok(node);
            }
        }
    }

    fn subscript(&mut self) -> ParsedExpression<()> {
        loop {
            self.slice()?;
            if self.eat_op("]") {
                return Ok(());
            }
            self.expect_op(",")?;
            if self.eat_op("]") {
                return Ok(());
            }
        }
    }

    fn slice(&mut self) -> ParsedExpression<()> {
        let ends = |p: &Self| p.is_op(":") || p.is_op(",") || p.is_op("]");
        let mut empty = ends(self);
        if !empty {
            self.eat_op("*");
            self.named()?;
        }
        for _ in 0..2 {
            if self.eat_op(":") {
                empty = false;
                if !ends(self) {
                    self.expression()?;
                }
            }
        }
        if empty { Err(NoExpression) } else { Ok(()) }
    }

    /// Parses an expression, or `name := expression`.
    fn named(&mut self) -> ParsedExpression<ExpressionNode> {
        if let [PythonToken::Word(word), PythonToken::Op(":="), ..] = &self.tokens[self.at..]
            && !is_keyword(word)
        {
            self.at += 2;
            self.expression()?;
            return Ok(ExpressionNode::Other);
        }
        self.expression()
    }

    /// Parses the arguments between the parentheses of a call.
    fn arguments(&mut self) -> ParsedExpression<SortedMap<String, Literal>> {
        let mut arguments = SortedMap::new();
        let mut keywords: Vec<(String, Literal)> = Vec::new();
        let mut positional = 0usize;
        let mut after_mapping = false;
        while !self.eat_op(")") {
            if self.eat_op("**") {
                self.expression()?;
                after_mapping = true;
            } else if self.eat_op("*") {
                self.expression()?;
                if after_mapping {
                    return Err(NoExpression);
                }
                arguments.insert(format!("__positional_{positional}"), Literal::OPAQUE);
                positional += 1;
            } else if let [PythonToken::Word(word), PythonToken::Op("="), ..] =
                &self.tokens[self.at..]
            {
                if is_keyword(word) {
                    return Err(NoExpression);
                }
                self.at += 2;
                keywords.push(((*word).to_owned(), self.expression()?.value()));
            } else {
                let mut value = self.named()?.value();
                if self.is_comprehension() {
                    self.comprehension()?;
                    value = Literal::OPAQUE;
                    // It must be the only argument.
                    if positional > 0 || !self.is_op(")") {
                        return Err(NoExpression);
                    }
                }
                // `f(a=1, 2)` is not valid Python.
                if !keywords.is_empty() || after_mapping {
                    return Err(NoExpression);
                }
                arguments.insert(format!("__positional_{positional}"), value);
                positional += 1;
            }
            if !self.is_op(")") {
                self.expect_op(",")?;
            }
        }
        arguments.extend(keywords);
        Ok(arguments)
    }

    fn is_comprehension(&self) -> bool {
        self.is_word("for") || self.is_word("async")
    }

    fn comprehension(&mut self) -> ParsedExpression<()> {
        while self.is_comprehension() {
            self.eat_word("async");
            self.expect_word("for")?;
            loop {
                self.eat_op("*");
                // Up to `in`, which would otherwise be read as a comparison.
                self.postfix()?;
                if !self.eat_op(",") || self.is_word("in") {
                    break;
                }
            }
            self.expect_word("in")?;
            self.disjunction()?;
            while self.eat_word("if") {
                self.disjunction()?;
            }
        }
        Ok(())
    }

    fn atom(&mut self) -> ParsedExpression<ExpressionNode> {
        let Some(token) = self.peek() else { return Err(NoExpression) };
        let node = match token {
            PythonToken::Value(value) => ExpressionNode::Value(value.clone()),
            PythonToken::Text(text) => {
                let mut whole = text.clone();
                self.at += 1;
                return self.texts(&mut whole);
            }
            PythonToken::Bytes(bytes) => {
                let mut whole = bytes.clone();
                self.at += 1;
                while let Some(PythonToken::Bytes(more)) = self.peek() {
                    whole.push_str(more);
                    self.at += 1;
                }
                return Ok(ExpressionNode::Value(Literal::Bytes(whole)));
            }
            PythonToken::Formatted => {
                self.at += 1;
                self.texts(&mut String::new())?;
                return Ok(ExpressionNode::Other);
            }
            PythonToken::Word("True") => ExpressionNode::Value(Literal::Bool(true)),
            PythonToken::Word("False") => ExpressionNode::Value(Literal::Bool(false)),
            PythonToken::Word("None") => ExpressionNode::Value(Literal::None),
            PythonToken::Word(word) if !is_keyword(word) => {
                ExpressionNode::Name((*word).to_owned())
            }
            PythonToken::Op("...") => ExpressionNode::Value(Literal::Ellipsis),
            PythonToken::Op("(") => return self.bracketed(Self::parentheses),
            PythonToken::Op("[") => return self.bracketed(Self::list),
            PythonToken::Op("{") => return self.bracketed(Self::braces),
            _ => return Err(NoExpression),
        };
        self.at += 1;
        Ok(node)
    }

    /// Concatenates adjacent texts; if one of them is formatted, the result is opaque.
    fn texts(&mut self, whole: &mut String) -> ParsedExpression<ExpressionNode> {
        let mut formatted = false;
        loop {
            match self.peek() {
                Some(PythonToken::Text(more)) => whole.push_str(more),
                Some(PythonToken::Formatted) => formatted = true,
                // Text and bytes do not mix.
                Some(PythonToken::Bytes(_)) => return Err(NoExpression),
                _ => break,
            }
            self.at += 1;
        }
        let text = std::mem::take(whole);
        Ok(if formatted {
            ExpressionNode::Other
        } else {
            ExpressionNode::Value(Literal::Text(text))
        })
    }

    fn bracketed(
        &mut self,
        parse: impl FnOnce(&mut Self) -> ParsedExpression<ExpressionNode>,
    ) -> ParsedExpression<ExpressionNode> {
        self.at += 1;
        self.nested(parse)
    }

    fn parentheses(&mut self) -> ParsedExpression<ExpressionNode> {
        if self.eat_op(")") {
            return Ok(ExpressionNode::Value(Literal::Tuple(Vec::new())));
        }
        if self.eat_word("yield") {
            if self.eat_word("from") || !self.is_op(")") {
                let first = self.item()?;
                self.items(first, ")")?;
            } else {
                self.expect_op(")")?;
            }
            return Ok(ExpressionNode::Other);
        }
        let first = self.item()?;
        if self.is_comprehension() {
            self.comprehension()?;
            self.expect_op(")")?;
            return Ok(ExpressionNode::Other);
        }
        if self.eat_op(")") {
            // Parentheses are dropped; `(*a)` is not valid Python.
            return first.ok_or(NoExpression);
        }
        let items = self.items(first, ")")?;
        Ok(ExpressionNode::Value(Literal::Tuple(items)))
    }

    fn list(&mut self) -> ParsedExpression<ExpressionNode> {
        if self.eat_op("]") {
            return Ok(ExpressionNode::Value(Literal::List(Vec::new())));
        }
        let first = self.item()?;
        if self.is_comprehension() {
            self.comprehension()?;
            self.expect_op("]")?;
            return Ok(ExpressionNode::Other);
        }
        Ok(ExpressionNode::Value(Literal::List(self.items(first, "]")?)))
    }

    /// Parses one element; `None` for a starred one.
    fn item(&mut self) -> ParsedExpression<Option<ExpressionNode>> {
        if self.eat_op("*") {
            self.binary()?;
            return Ok(None);
        }
        self.named().map(Some)
    }

    /// Parses the elements after the first, up to the closing bracket.
    fn items(
        &mut self,
        first: Option<ExpressionNode>,
        close: &str,
    ) -> ParsedExpression<Vec<Literal>> {
        let value =
            |node: Option<ExpressionNode>| node.map_or(Literal::OPAQUE, ExpressionNode::value);
        let mut items = vec![value(first)];
        while !self.eat_op(close) {
            self.expect_op(",")?;
            if !self.is_op(close) {
                items.push(value(self.item()?));
            }
        }
        Ok(items)
    }

    fn braces(&mut self) -> ParsedExpression<ExpressionNode> {
        if self.eat_op("}") {
            return Ok(ExpressionNode::Value(Literal::Dict(SortedMap::new())));
        }
        if self.eat_op("**") {
            self.binary()?;
            return self.dict(None);
        }
        let first = self.item()?;
        if let Some(key) = first {
            if self.eat_op(":") {
                let value = self.expression()?;
                if self.is_comprehension() {
                    self.comprehension()?;
                    self.expect_op("}")?;
                    return Ok(ExpressionNode::Other);
                }
                return self.dict(Some((key.value(), value.value())));
            }
            if self.is_comprehension() {
                self.comprehension()?;
                self.expect_op("}")?;
                return Ok(ExpressionNode::Other);
            }
            let items = self.items(Some(key), "}")?;
            return Ok(Self::set(&items));
        }
        let items = self.items(None, "}")?;
        Ok(Self::set(&items))
    }

    fn set(items: &[Literal]) -> ExpressionNode {
        let mut keys = SortedSet::new();
        for item in items {
            match item.key() {
                Some(key) => keys.insert(key),
                None => return ExpressionNode::Value(Literal::Unhashable(item.type_word())),
            };
        }
        let opaque = items.iter().any(Literal::is_opaque_key);
        ExpressionNode::Value(if opaque { Literal::Opaque("set") } else { Literal::Set(keys) })
    }

    /// Parses the entries of a dict after the first; those of `**` mappings are dropped.
    fn dict(&mut self, first: Option<(Literal, Literal)>) -> ParsedExpression<ExpressionNode> {
        let mut entries = SortedMap::new();
        let (mut opaque, mut unhashable) = (false, None);
        let mut next = first;
        loop {
            if let Some((key, value)) = next.take() {
                opaque |= key.is_opaque_key();
                match key.key() {
                    Some(key) => drop(entries.insert(key, value)),
                    None => unhashable = Some(key.type_word()),
                }
            }
            if self.eat_op("}") {
                break;
            }
            self.expect_op(",")?;
            if self.eat_op("}") {
                break;
            }
            if self.eat_op("**") {
                self.binary()?;
                continue;
            }
            let key = self.expression()?.value();
            self.expect_op(":")?;
            next = Some((key, self.expression()?.value()));
        }
        Ok(match unhashable {
            Some(type_word) => ExpressionNode::Value(Literal::Unhashable(type_word)),
            None if opaque => ExpressionNode::Value(Literal::Opaque("dict")),
            None => ExpressionNode::Value(Literal::Dict(entries)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn args(text: &str) -> SortedMap<String, Literal> {
        call(text).unwrap().unwrap_or_else(|| panic!("{text} is a call")).arguments
    }

    #[test]
    fn values_that_json_has() {
        for (text, want) in [
            ("f()", json!({})),
            ("f(a=1, b='x', c=None, d=True)", json!({"a": 1, "b": "x", "c": null, "d": true})),
            ("f(1, 'two', k=3)", json!({"__positional_0": 1, "__positional_1": "two", "k": 3})),
            ("f(a=1, a=2)", json!({"a": 2})),
            ("f(a=north, b=true)", json!({"a": "north", "b": "true"})),
            (
                "f(a=[1, [2.5, 'x'],], b={'k': {'l': []}})",
                json!({"a": [1, [2.5, "x"]], "b": {"k": {"l": []}}}),
            ),
            ("f(a='x' \"y\", b=\"\"\"z\nw\"\"\")", json!({"a": "xy", "b": "z\nw"})),
            ("f(a=r'\\n', b='\\n\\x41\\u00e9\\101')", json!({"a": "\\n", "b": "\nAéA"})),
            ("f(a=1_000, b=0x1F, c=1e3, d=.5)", json!({"a": 1000, "b": 31, "c": 1000.0, "d": 0.5})),
            ("f(a=(1), **rest)", json!({"a": 1})),
            ("f(a={**x, 'k': 1})", json!({"a": {"k": 1}})),
            ("f(  # why\n a=1\n)", json!({"a": 1})),
        ] {
            let Value::Object(map) = want else { unreachable!() };
            let want: SortedMap<String, Literal> =
                map.iter().map(|(k, v)| (k.clone(), Literal::from_json(v))).collect();
            assert_eq!(args(text), want, "{text}");
        }
    }

    #[test]
    fn what_is_no_literal_is_opaque() {
        const VALUES: &str = "-1 ¦ 1 + 2 ¦ g(1) ¦ a.b ¦ a[0] ¦ a[1:2, ::3] ¦ f'{x}' ¦ 'a' f'b' ¦ lambda: 1 ¦ \
            lambda x, *y, z=1, **w: x ¦ 1 if a else 2 ¦ not a ¦ a and b or c ¦ \
            a < b is not c ¦ [x for x in y if x] ¦ {x: 1 for x, y in z} ¦ (x for x in y) ¦ \
            2 ** -1 ¦ a not in b ¦ (yield) ¦ (x := 1)";
        for value in VALUES.split(" ¦ ") {
            let found = args(&format!("f(v={value})"));
            assert_eq!(found["v"], Literal::OPAQUE, "{value}");
        }
        assert_eq!(args("f(*a)")["__positional_0"], Literal::OPAQUE);
        assert_eq!(args("f(x for x in y)")["__positional_0"], Literal::OPAQUE);
    }

    #[test]
    fn values_that_json_lacks() {
        let two = || vec![Literal::Int(1), Literal::Int(2)];
        assert_eq!(args("f(v=(1, 2))")["v"], Literal::Tuple(two()));
        assert_eq!(args("f(v=(1, 2,))")["v"], Literal::Tuple(two()));
        assert_eq!(args("f(v={1, 2})")["v"], args("f(v={2, 1.0, True})")["v"]);
        assert_eq!(args("f(v={-1: 2})")["v"], Literal::Opaque("dict"));
        assert_eq!(args("f(v={a.b})")["v"], Literal::Opaque("set"));
        assert_eq!(args("f(v=b'x')")["v"], Literal::Bytes("x".to_owned()));
        assert_eq!(args("f(v=2j)")["v"], Literal::Imaginary(2.0));
        assert_eq!(args("f(v=...)")["v"], Literal::Ellipsis);
        assert_eq!(args("f(v={1: 'a', True: 'b'})")["v"], args("f(v={1.0: 'b'})")["v"]);
    }

    #[test]
    fn names_of_callees() {
        for (text, name) in [
            ("f()", "f"),
            ("a.b.c(x=1)", "c"),
            ("(f)(1)", "f"),
            ("g(1)(2)", ""),
            ("a[0](2)", ""),
            ("g().h()", "h"),
            ("  f(x=1)\n", "f"),
            ("ünï(x=1)", "ünï"),
        ] {
            let found = call(text).unwrap().map(|call| call.name);
            assert_eq!(found.as_deref(), Some(name), "{text}");
        }
    }

    #[test]
    fn what_is_no_call() {
        const TEXTS: &str = " ¦ f ¦ please use f ¦ call f(x=1) ¦ f(x=1) now ¦ f(x=1).y ¦ f(x=1), g() ¦ \
            [f(x=1)] ¦ f(x=1) + 1 ¦ f(x=) ¦ f(x ¦ f(x=1)) ¦ f(x=1, 2) ¦ f(,) ¦ f('a) ¦ \
            f(a b) ¦ f(if=1) ¦ if(x) ¦ x = f(1) ¦ f(1); g(2) ¦ f(01) ¦ f(1__0) ¦ f(x==) ¦ \
            1 ¦ f(b'é') ¦ f(\"a\nb\") ¦ -f(1) ¦ f($) ¦ f(1abc) ¦ f('a' b'c') ¦ \
            f(a for a in b, c) ¦ f(x+y:=1) ¦ f(a[x y])";
        for text in TEXTS.split(" ¦ ") {
            assert_eq!(call(text), Ok(None), "{text}");
        }
    }

    #[test]
    fn what_raises() {
        for text in ["f(x={[1]: 2})", "f(x={[1]})", "f(x={(1, {}): 2})", "f(x=[{'a': {[1]}}])"] {
            assert!(matches!(call(text), Err(PythonFailure::Raised(_))), "{text}");
        }
        // What is never evaluated does not raise.
        assert!(call("f(x=g({[1]: 2}))").is_ok_and(|found| found.is_some()));
        assert_eq!(call("-f({[1]: 2})"), Ok(None));
    }

    #[test]
    fn nesting_is_bounded() {
        for (open, close) in
            [("[", "]"), ("(", ")"), ("g(", ")"), ("{1:", "}"), ("a[", "]"), ("2**", "")]
        {
            let text = format!("f(x={}1{})", open.repeat(20_000), close.repeat(20_000));
            assert_eq!(call(&text), Ok(None), "{open}");
        }
        let signs = format!("f(x={}1)", "-".repeat(20_000));
        assert!(call(&signs).unwrap().is_some());
        let conditions = format!("f(x={}1)", "1 if 1 else ".repeat(20_000));
        assert_eq!(call(&conditions), Ok(None));
    }
}
