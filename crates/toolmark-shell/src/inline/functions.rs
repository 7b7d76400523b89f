//! Effects and return values of function calls, by the tables of functions.

use super::tables::{
    BARE_SPAWNS, CODE, COMMANDS, DELETES_FILE, DELETES_TREE, ENVIRONMENT, FORKS, GLOBS, HOMES,
    HTTP, HTTP_DELETES, JOINS, LISTS, PATHS, PROGRAMS, READS, SAME, SPAWNS, TEMPORARY,
    TEMPORARY_DIRECTORY, WRITES,
};
use super::value::{InlineValue, PartialText};
use super::{Language, decode};
use crate::expand::Arg;
use crate::lookup::{NameLookup, column};

/// Effect of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Deed {
    /// Passes text to a shell.
    Shell(PartialText),
    /// Starts a program.
    Run(Vec<Arg>),
    Delete {
        what: InlineValue,
        tree: bool,
    },
    Write {
        path: InlineValue,
        appends: bool,
    },
    Read(InlineValue),
    /// Runs text as code of the same language.
    Code(String),
    /// Sends a statement to a database.
    Statement(String),
    /// Drops the content of a database.
    Drop(String),
    /// Starts a copy of the program.
    Fork,
    /// Calls a function whose name is built at run time.
    Reflect,
}

/// Whether the bare name of a function is sufficient in this language; a few names have other
/// meanings in other languages.
fn is_bare_program(name: &str, language: Language) -> bool {
    let is_shared = matches!(name, "rename" | "truncate" | "chdir" | "move");
    !is_shared || matches!(language, Language::Perl | Language::Php)
}

/// Whether a table has a function. Names in it may follow those of their modules.
fn has(table: &[&str], name: &str) -> bool {
    table.iter().any(|entry| {
        name.strip_suffix(entry).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    })
}

/// All these tables, to detect quickly that a function is in none.
const TABLES: &[&[&str]] = &[
    CODE,
    COMMANDS,
    DELETES_FILE,
    DELETES_TREE,
    ENVIRONMENT,
    FORKS,
    GLOBS,
    HOMES,
    HTTP,
    HTTP_DELETES,
    JOINS,
    LISTS,
    PATHS,
    READS,
    SAME,
    SPAWNS,
    TEMPORARY,
    TEMPORARY_DIRECTORY,
    WRITES,
];
const OF_PROGRAMS: [&[&str]; PROGRAMS.len()] = column!(PROGRAMS.1, &[] as &[&str]);
static LISTED: NameLookup<2048> = NameLookup::new(TABLES);
static LISTED_PROGRAMS: NameLookup<256> = NameLookup::new(&OF_PROGRAMS);

/// Whether any table has the function. Most functions of most code are in none.
fn is_listed(name: &str) -> bool {
    let mut rest = Some(name);
    while let Some(part) = rest {
        if LISTED.has(part) || LISTED_PROGRAMS.has(part) {
            return true;
        }
        rest = part.split_once('.').map(|(_, rest)| rest);
    }
    false
}

/// Whether a call of this function without parentheses should be read.
pub(super) fn is_known(name: &str, language: Language) -> bool {
    let tables =
        [SPAWNS, DELETES_TREE, DELETES_FILE, LISTS, GLOBS, WRITES, READS, CODE, FORKS, TEMPORARY];
    let is_listed = is_listed(name);
    BARE_SPAWNS.contains(&name)
        || is_listed && tables.iter().any(|table| has(table, name))
        || is_listed && program(name, language).is_some()
        || matches!(name, "unlink" | "rmdir" | "open" | "kill" | "require" | "delete" | "chmod")
}

fn program(name: &str, language: Language) -> Option<&'static [&'static str]> {
    let (words, _) = PROGRAMS.iter().find(|(_, table)| has(table, name))?;
    is_bare_program(name, language).then_some(*words)
}

/// Return value and effect of a call.
pub(super) struct Called {
    pub(super) value: InlineValue,
    pub(super) deed: Option<Deed>,
}

impl Called {
    fn value(value: InlineValue) -> Self {
        Self { value, deed: None }
    }

    fn deed(deed: Deed) -> Self {
        Self { value: InlineValue::Unknown, deed: Some(deed) }
    }
}

/// A call: the function and its positional and named arguments.
pub(super) struct FunctionCall<'c> {
    pub(super) name: &'c str,
    pub(super) args: &'c [InlineValue],
    pub(super) named: &'c [(String, InlineValue)],
    pub(super) language: Language,
    /// Program that reads the code.
    pub(super) program: &'c str,
}

impl FunctionCall<'_> {
    fn first(&self) -> InlineValue {
        self.args.first().cloned().unwrap_or(InlineValue::Unknown)
    }

    fn option(&self, key: &str) -> Option<&InlineValue> {
        let maps = self.args.iter().filter_map(|arg| match arg {
            InlineValue::Map(pairs) => Some(pairs),
            _ => None,
        });
        let mut pairs = self.named.iter().chain(maps.flatten());
        pairs.find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    pub(super) fn apply(&self) -> Called {
        let name = self.name;
        let is_listed = is_listed(name);
        let table = |table: &[&str]| is_listed && has(table, name);
        if let Some(called) = self.thread() {
            return called;
        }
        if let Some(called) = self.rows() {
            return called;
        }
        // `from plumbum.cmd import rm`, `import sh`: every program is a function.
        let own = ["plumbum.cmd.", "sh."].iter().find_map(|start| name.strip_prefix(start));
        if let Some(program) = own.filter(|name| !name.contains('.'))
            && self.language == Language::Python
        {
            return self.program(&[program]);
        }
        match name.strip_prefix("process.mainModule.").unwrap_or(name) {
            "unlink" if !self.args.is_empty() => {
                let tree = self.option("recursive").is_some();
                return Called::deed(Deed::Delete { what: operands(self.args), tree });
            }
            "rmdir" if matches!(self.language, Language::Php | Language::Perl) => {
                return Called::deed(Deed::Delete { what: operands(self.args), tree: false });
            }
            "rm" if self.program == "julia" => {
                let tree = self.option("recursive").is_some();
                return Called::deed(Deed::Delete { what: self.first(), tree });
            }
            "delete" if self.language == Language::Vim => {
                return Called::deed(Deed::Delete { what: self.first(), tree: true });
            }
            "getattr" => return self.reflect(),
            "require" | "import" | "__import__" | "importlib.import_module" => {
                return Called::value(match self.first().certain() {
                    Some(module) => InlineValue::Name(module_name(module)),
                    None => InlineValue::Unknown,
                });
            }
            "exec" if self.language == Language::Python => return self.code(),
            "open" | "io.open" | "codecs.open" | "File.open" | "fopen" | "fs.openSync"
            | "File.new" => return self.open(),
            "kill" | "os.kill" | "process.kill" | "Process.kill" | "posix_kill" => {
                return self.kill();
            }
            "os.chmod" | "chmodSync" | "fs.chmodSync" | "File.chmod" | "FileUtils.chmod"
            | "FileUtils.chmod_R" | "chmod" => return self.chmod(),
            "map" | "array_map" | "array_walk" | "call_user_func" | "filter" => {
                return self.each();
            }
            "find" | "finddepth" if self.language == Language::Perl => {
                // `find(sub { unlink }, "/srv")`
                let paths = self.args.iter().filter(|arg| arg.known().is_some()).cloned();
                return Called::value(files_below(&InlineValue::List(paths.collect())));
            }
            "chr" | "String.fromCharCode" | "fromCharCode" => return self.characters(),
            "Runtime.getRuntime" => return Called::value(InlineValue::Name("Runtime".into())),
            _ => {}
        }
        if table(TEMPORARY) {
            Called::value(InlineValue::Temporary)
        } else if table(TEMPORARY_DIRECTORY) {
            Called::value(InlineValue::text("/tmp"))
        } else if table(HOMES) {
            Called::value(InlineValue::Path(PartialText::plain("~")))
        } else if table(ENVIRONMENT) {
            Called::value(self.first().certain().map_or(InlineValue::Unknown, variable))
        } else if table(DELETES_TREE) {
            // `removeItem(atPath: "…")`
            let labels = ["atPath", "at", "path", "directory"];
            let named = || labels.iter().find_map(|label| self.option(label)).cloned();
            let what = match self.args {
                [] => named().unwrap_or(InlineValue::Unknown),
                args => operands(args),
            };
            Called::deed(Deed::Delete { what, tree: true })
        } else if table(DELETES_FILE) {
            Called::deed(Deed::Delete { what: operands(self.args), tree: false })
        } else if table(COMMANDS) {
            Called::value(InlineValue::Command(self.words()))
        } else if table(SPAWNS) || is_other_spawn(name, self.language) {
            self.spawn()
        } else if is_listed && let Some(program) = program(name, self.language) {
            self.program(program)
        } else if table(LISTS) {
            Called::value(files_below(&self.first()))
        } else if table(GLOBS) {
            Called::value(match self.first() {
                InlineValue::Text(known) | InlineValue::Path(known) => InlineValue::Files(known),
                other => other,
            })
        } else if table(JOINS) {
            let mut parts = self.args.iter();
            let first = parts.next().cloned().unwrap_or(InlineValue::Unknown);
            Called::value(parts.fold(first, |all, part| all.join(part)))
        } else if table(PATHS) {
            let joined = self.args.iter().skip(1).fold(self.first(), |all, part| all.join(part));
            Called::value(match joined {
                InlineValue::Text(known) => InlineValue::Path(known),
                other => other,
            })
        } else if table(SAME) {
            Called::value(self.first())
        } else if table(WRITES) {
            if self.args.get(1).and_then(InlineValue::certain) == Some("") {
                return empty(&self.first());
            }
            let appends = self.option("flag").and_then(InlineValue::certain) == Some("a")
                || self.args.iter().any(|arg| *arg == InlineValue::Name("FILE_APPEND".into()));
            Called::deed(Deed::Write { path: self.first(), appends })
        } else if table(READS) {
            Called { value: InlineValue::Unknown, deed: Some(Deed::Read(self.first())) }
        } else if table(HTTP_DELETES) {
            self.http_delete()
        } else if table(HTTP) {
            let is_delete = |value: &InlineValue| {
                value.certain().is_some_and(|text| text.eq_ignore_ascii_case("delete"))
            };
            let by_option = self.option("method").is_some_and(is_delete);
            match by_option || self.args.iter().any(is_delete) {
                true => self.http_delete(),
                false => Called::value(InlineValue::Unknown),
            }
        } else if table(CODE) {
            self.code()
        } else if table(FORKS) {
            Called::deed(Deed::Fork)
        } else {
            Called::value(decode::function(name, self.args).unwrap_or(InlineValue::Unknown))
        }
    }

    /// Evaluates `Order.objects.filter(…).delete()`: selected rows of a table.
    fn rows(&self) -> Option<Called> {
        let is_query = self.name.contains(".objects.")
            || self.name.ends_with(".query") && self.language == Language::Python;
        match self.name.strip_prefix("rows.") {
            Some("delete") => Some(Called::deed(Deed::Drop("rows".to_owned()))),
            Some(_) => Some(Called::value(InlineValue::Name("rows".into()))),
            None if is_query => Some(Called::value(InlineValue::Name("rows".into()))),
            None => None,
        }
    }

    /// Evaluates `Thread(target=os.system, args=('…',))`.
    fn thread(&self) -> Option<Called> {
        let Some(InlineValue::Name(target)) = self.option("target") else { return None };
        let Some(InlineValue::List(args)) = self.option("args") else { return None };
        let inner = FunctionCall { name: target, args, named: &[], ..*self };
        let called = inner.apply();
        called.deed.is_some().then_some(called)
    }

    /// Evaluates a function that is applied to every element.
    fn each(&self) -> Called {
        let function = self.args.iter().find_map(|arg| match arg {
            InlineValue::Name(name) => Some(name.clone()),
            value if self.language == Language::Php => value.certain().map(str::to_owned),
            _ => None,
        });
        let others = self.args.iter().filter(|arg| !matches!(arg, InlineValue::Name(_)));
        let mut values = others.filter(|arg| function.as_deref() != arg.certain());
        match (&function, values.next_back()) {
            (Some(name), Some(values)) => {
                let element = [values.element()];
                FunctionCall { name, args: &element, named: &[], ..*self }.apply()
            }
            _ => Called::value(InlineValue::Unknown),
        }
    }

    fn reflect(&self) -> Called {
        match (self.args.first(), self.args.get(1)) {
            (Some(InlineValue::Name(module)), Some(member)) => match member.certain() {
                Some(member) => Called::value(InlineValue::Name(format!("{module}.{member}"))),
                None if matches!(&**module, "os" | "shutil" | "subprocess" | "pathlib") => {
                    Called::deed(Deed::Reflect)
                }
                None => Called::value(InlineValue::Unknown),
            },
            _ => Called::value(InlineValue::Unknown),
        }
    }

    fn code(&self) -> Called {
        match self.first().certain() {
            Some(code) => Called::deed(Deed::Code(code.to_owned())),
            None => Called::value(InlineValue::Unknown),
        }
    }

    fn open(&self) -> Called {
        let text = |at: usize| self.args.get(at).and_then(InlineValue::certain).unwrap_or("");
        if self.language == Language::Perl {
            let command = |text: &str| Called::deed(Deed::Shell(PartialText::plain(text)));
            let write = |path: InlineValue, appends| Called::deed(Deed::Write { path, appends });
            let third = self.args.get(2).cloned();
            return match (text(1).trim(), third) {
                ("-|" | "|-", _) => {
                    let words: Vec<Arg> =
                        self.args.iter().skip(2).flat_map(InlineValue::args).collect();
                    match words.as_slice() {
                        [only] => command(&only.text),
                        _ => Called::deed(Deed::Run(words)),
                    }
                }
                (mode, Some(path)) if mode.starts_with(['>', '+']) => {
                    write(path, mode.starts_with(">>"))
                }
                (_, Some(path)) => Called::deed(Deed::Read(path)),
                (mode, None) if mode.ends_with('|') || mode.starts_with('|') => {
                    command(mode.trim_matches(['|', ' ']))
                }
                (mode, None) if mode.starts_with('>') => write(
                    InlineValue::text(mode.trim_start_matches(['>', ' '])),
                    mode.starts_with(">>"),
                ),
                _ => Called::deed(Deed::Read(InlineValue::text(text(1)))),
            };
        }
        if let Some(command) = text(0).strip_prefix('|') {
            return Called::deed(Deed::Shell(PartialText::plain(command)));
        }
        let mode = self.option("mode").and_then(InlineValue::certain).unwrap_or(text(1));
        let value = InlineValue::Unknown;
        match mode.starts_with(['w', 'a', 'x', 'c']) || mode.contains('+') {
            true => {
                let appends = mode.starts_with('a');
                let value = match self.first() {
                    InlineValue::Text(known) | InlineValue::Path(known)
                        if mode.starts_with('w') =>
                    {
                        InlineValue::Opened(known)
                    }
                    _ => value,
                };
                Called { value, deed: Some(Deed::Write { path: self.first(), appends }) }
            }
            false => Called { value, deed: Some(Deed::Read(self.first())) },
        }
    }

    fn kill(&self) -> Called {
        let everything = |arg: &InlineValue| *arg == InlineValue::Number("-1".into());
        match self.args.iter().any(everything) {
            true => Called::deed(Deed::Run(plain_words(&["kill", "-9", "-1"]))),
            false => Called::value(InlineValue::Unknown),
        }
    }

    fn chmod(&self) -> Called {
        let mode = self.args.iter().find_map(|arg| match arg {
            InlineValue::Number(mode) => Some(mode.trim_start_matches("0o").to_owned()),
            _ => None,
        });
        let paths = self.args.iter().filter(|arg| arg.known().is_some());
        let Some(mode) = mode else { return Called::value(InlineValue::Unknown) };
        let is_wide = self.name.ends_with("_R");
        let mut words = plain_words(if is_wide { &["chmod", "-R"] } else { &["chmod"] });
        words.push(Arg::plain(&mode));
        words.extend(paths.flat_map(InlineValue::args));
        Called::deed(Deed::Run(words))
    }

    fn characters(&self) -> Called {
        let character = |text: &str| {
            let number = match text.strip_prefix("0x") {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => text.parse().ok()?,
            };
            char::from_u32(number).map(String::from)
        };
        let all: Vec<InlineValue> = self.args.iter().map(|arg| arg.map_text(character)).collect();
        Called::value(match all.as_slice() {
            [one] => one.clone(),
            all => InlineValue::concat_all(all, ""),
        })
    }

    fn http_delete(&self) -> Called {
        let url = self.option("url").into_iter().chain(self.args);
        let mut urls =
            url.filter_map(InlineValue::known).filter(|known| known.text.contains("://"));
        let url = urls.next().map_or("https://$UNKNOWN", |known| known.text.as_str());
        let mut words = plain_words(&["curl", "-X", "DELETE"]);
        words.push(Arg { dynamic: url.contains('$'), ..Arg::plain(url) });
        Called::deed(Deed::Run(words))
    }

    fn program(&self, program: &[&str]) -> Called {
        let mut words = plain_words(program);
        let values = self.args.iter().filter(|arg| !matches!(arg, InlineValue::Number(_)));
        words.extend(values.flat_map(InlineValue::args));
        Called::deed(Deed::Run(words))
    }

    /// Returns the words of a program from any argument form.
    fn words(&self) -> Vec<InlineValue> {
        let mut words: Vec<InlineValue> = Vec::new();
        let given = self.args.iter().skip_while(|arg| matches!(arg, InlineValue::Name(_)));
        for arg in given {
            match arg {
                InlineValue::List(values) => words.extend(values.iter().cloned()),
                InlineValue::Map(_) | InlineValue::Unknown if !words.is_empty() => {}
                arg => words.push(arg.clone()),
            }
        }
        for key in ["cmd", "args"] {
            if let Some(InlineValue::List(values)) = self.option(key) {
                words.extend(values.iter().cloned());
            }
        }
        // `execvp("git", ["git", "clean"])` names the program twice.
        let base = |value: &InlineValue| {
            value.certain().map(|text| text.rsplit('/').next().unwrap_or(text).to_owned())
        };
        if let [program, again, ..] = words.as_slice()
            && base(program).is_some()
            && base(program) == base(again)
        {
            words.remove(0);
        }
        words
    }

    fn spawn(&self) -> Called {
        let words = self.words();
        let is_list = matches!(self.args.first(), Some(InlineValue::List(_)));
        Called::deed(match words.as_slice() {
            [] | [InlineValue::Unknown | InlineValue::Name(_)] => {
                return Called::value(InlineValue::Unknown);
            }
            [InlineValue::OneOf(values)] => match values.first().and_then(InlineValue::known) {
                Some(known) => Deed::Shell(known.clone()),
                None => return Called::value(InlineValue::Unknown),
            },
            [only] if !is_list => match only.known() {
                Some(known) => Deed::Shell(known.clone()),
                None => return Called::value(InlineValue::Unknown),
            },
            words => Deed::Run(words.iter().flat_map(InlineValue::args).collect()),
        })
    }
}

/// Whether a function that is not listed with its module starts a command.
fn is_other_spawn(name: &str, language: Language) -> bool {
    let of_family = ["os.exec", "os.spawn", "Open3."];
    (BARE_SPAWNS.contains(&name) && language != Language::Python)
        || of_family.iter().any(|start| {
            name.strip_prefix(start).is_some_and(|rest| {
                rest.len() < 10 && rest.chars().all(|c| c.is_ascii_lowercase() || c.is_numeric())
            })
        })
}

/// Returns the deed of a command built from words.
pub(super) fn command(words: &[InlineValue]) -> Option<Deed> {
    let args: Vec<Arg> = words.iter().flat_map(InlineValue::args).collect();
    (!args.is_empty()).then_some(Deed::Run(args))
}

/// Returns the canonical module name for a name it is loaded by.
pub(super) fn module_name(module: &str) -> String {
    let module = module.trim_start_matches("node:");
    match module {
        "fs/promises" | "fs-extra" | "graceful-fs" => "fs".to_owned(),
        module => module.replace("::", "."),
    }
}

/// Returns the value of an environment variable if its location is known.
pub(super) fn variable(name: &str) -> InlineValue {
    match name {
        "HOME" | "USERPROFILE" => InlineValue::text("~"),
        "TMPDIR" | "TEMP" | "TMP" => InlineValue::text("/tmp"),
        "PWD" => InlineValue::text("."),
        _ => InlineValue::Unknown,
    }
}

/// Evaluates a call that leaves a file empty.
pub(super) fn empty(path: &InlineValue) -> Called {
    let mut words = plain_words(&["truncate", "-s", "0"]);
    words.extend(path.args());
    Called::deed(Deed::Run(words))
}

fn plain_words(words: &[&str]) -> Vec<Arg> {
    words.iter().map(|word| Arg::plain(word)).collect()
}

fn files_below(value: &InlineValue) -> InlineValue {
    match value {
        InlineValue::Text(known) | InlineValue::Path(known) => {
            let text = format!("{}/*", known.text.trim_end_matches('/'));
            InlineValue::Files(PartialText { text, dynamic: known.dynamic })
        }
        InlineValue::List(values) | InlineValue::OneOf(values) => {
            InlineValue::OneOf(values.iter().map(files_below).collect())
        }
        other => other.clone(),
    }
}

/// Returns the operands of a call that may take several, without its options.
fn operands(args: &[InlineValue]) -> InlineValue {
    let is_more = |value: &&InlineValue| {
        matches!(value, InlineValue::Text(_) | InlineValue::Path(_) | InlineValue::Files(_))
    };
    match args {
        [] => InlineValue::Unknown,
        [first] => first.clone(),
        [first, rest @ ..] => InlineValue::List(
            std::iter::once(first).chain(rest.iter().filter(is_more)).cloned().collect(),
        ),
    }
}
