//! Files that control what an agent may do: the settings and hooks of hosts and the files of the
//! guard. The caller names them ([`ShellContext::protected`]); this module matches paths against them
//! and determines which commands change the files they name.

use crate::analyze::{Analyzer, CommandContext};
use crate::context::ShellContext;
use crate::effects::{Certainty, EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::on_disk::{MAX_MATCHES, OnDisk, is_match};
use crate::run::program_name;
use std::cell::OnceCell;

/// Reason why a file is protected, the most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protection {
    /// The policy or log of the guard, or the guard itself.
    Policy,
    /// Settings that define what the agent may do, or which hooks run.
    Settings,
    /// A project's own policy, which can only be stricter than the user's.
    ProjectPolicy,
    /// A file whose content takes effect in later sessions. It may be removed.
    Lasting,
    /// A file that holds keys or tokens. Changing it is like changing any other secret.
    Credentials,
}

impl Protection {
    /// Returns the effect of changing such a file; `None` if only reading it counts.
    pub(crate) fn on_write(self) -> Option<&'static str> {
        match self {
            Self::Policy | Self::ProjectPolicy => Some("changes what the guard lets through"),
            Self::Settings => Some("changes what the agent may do"),
            Self::Lasting => Some("takes effect in later sessions"),
            Self::Credentials => None,
        }
    }

    /// Returns how far a change to such a file can be undone. Once the guard is removed, no later
    /// command is held back.
    pub(crate) fn level(self) -> Reversibility {
        match self {
            Self::Policy | Self::Settings => Reversibility::R4,
            Self::ProjectPolicy | Self::Lasting | Self::Credentials => Reversibility::R3,
        }
    }

    /// Returns the effect of removing such a file.
    fn on_removal(self) -> Option<&'static str> {
        self.on_write().filter(|_| self != Self::Lasting)
    }
}

/// A protected file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protected<'a> {
    /// The end of the path, or the whole path if it begins with `/`. Everything below is protected
    /// too. One `*` in a name matches any part of it.
    pub path: &'a str,
    /// Reason for the protection.
    pub because: Protection,
}

/// Part of a path that a command changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The file that it names.
    Itself,
    /// All that is there and below it.
    Below,
    /// It puts files below the path whose names are not known.
    Into,
}

impl Reach {
    /// Of what deletes or moves directories too, or files only.
    pub(crate) fn of(recursive: bool) -> Self {
        if recursive { Self::Below } else { Self::Itself }
    }
}

impl ShellContext<'_> {
    /// Returns the protection of a path. A pattern, or a directory above protected files, counts
    /// only if something protected exists there, as far as that is known.
    pub(crate) fn protection(&self, path: &str, reach: Reach) -> Option<Protection> {
        let names = PathNames::of(path);
        let disk = self.facts.filter(|facts| facts.is_here()).map(OnDisk::new);
        let is_hit = |known: &&Protected<'_>| {
            let mut starts = names.starts(known.path, reach != Reach::Itself);
            starts.any(|at| names.is_covered(at, known.path, reach, disk.as_ref()))
        };
        self.protected.iter().filter(is_hit).map(|known| known.because).min()
    }
}

impl Analyzer<'_> {
    /// A file that a command takes away, moves or changes the rights of.
    pub(crate) fn disturb(
        &mut self,
        arg: &Arg,
        reach: Reach,
        program: &str,
        call: &CommandContext,
    ) {
        let place = self.place(&arg.text);
        let is_whole = place.whole && reach != Reach::Itself;
        // What is put into the home or a temp directory has names of its own.
        if is_whole && reach == Reach::Into {
            return;
        }
        let Some(protection) = self.context.protection(&place.path, reach) else { return };
        let Some(why) = protection.on_removal() else { return };
        let why = match place.scope {
            EffectScope::Home if is_whole => {
                "changes the whole home directory, the guard's files too"
            }
            _ if is_whole => "changes a whole directory, the guard's files too",
            _ => why,
        };
        let (scope, level) = (place.scope, protection.level());
        // The path before its name is irrelevant, known or not.
        let certainty = Certainty::Proven;
        self.push(call, program, EffectKind::Persist, &place.display, scope, level, certainty, why);
    }

    /// Reports the protected files that a command changes through their names. Files that it
    /// deletes or writes are detected with deletes and writes.
    pub(crate) fn protect(&mut self, name: &str, args: &[Arg], call: &CommandContext) {
        if self.context.protected.is_empty() {
            return;
        }
        let operands = || args.iter().filter(|arg| !arg.text.starts_with('-'));
        if changes_operands(name, args) {
            for arg in operands() {
                self.disturb(arg, Reach::Below, name, call);
            }
        }
        match name {
            "cp" | "gcp" | "mv" | "gmv" | "install" | "ln" | "rsync" | "scp" => {
                self.protect_target(name, args, call);
            }
            "find" | "gfind" | "fd" | "fdfind" => {
                let acts = |arg: &Arg| {
                    matches!(arg.text.as_str(), "-delete" | "-exec" | "-execdir" | "-x" | "-X")
                };
                // The program it runs may only read.
                let runs = args.iter().position(acts).and_then(|at| args.get(at + 1));
                let only_looks = runs.is_some_and(|arg| {
                    matches!(
                        program_name(&arg.text).as_str(),
                        "grep"
                            | "cat"
                            | "head"
                            | "tail"
                            | "ls"
                            | "wc"
                            | "file"
                            | "stat"
                            | "echo"
                            | "rg"
                            | "md5sum"
                            | "sha256sum"
                            | "du"
                            | "basename"
                            | "dirname"
                    )
                });
                if let Some(at) = args.iter().position(acts).filter(|_| !only_looks) {
                    self.protect_from_find(name, args.get(..at).unwrap_or_default(), call);
                }
            }
            _ => {}
        }
        for directory in &filled_directories(name, args) {
            self.disturb(directory, Reach::Into, name, call);
            // `wget -P DIRECTORY https://…/NAME`
            for base in args.iter().filter_map(|arg| arg.text.split_once("://")?.1.rsplit_once('/'))
            {
                let text = format!("{}/{}", directory.text.trim_end_matches('/'), base.1);
                let file = Arg { text, ..directory.clone() };
                self.disturb(&file, Reach::Itself, name, call);
            }
        }
        self.protect_from_code(name, args, call);
        if removes_guard(name, args) || self.changes_looked_up_guard(name, args) {
            let (scope, certainty) = (EffectScope::Unknown, Certainty::Proven);
            let (level, why) = (Protection::Policy.level(), "takes the guard away");
            self.push(call, name, EffectKind::Persist, "toolmark", scope, level, certainty, why);
        }
    }

    /// Reports the protected files named by code on the command line, if the code changes files at
    /// all.
    fn protect_from_code(&mut self, name: &str, args: &[Arg], call: &CommandContext) {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        if !matches!(
            stem,
            "python" | "pypy" | "node" | "nodejs" | "deno" | "bun" | "ruby" | "php" | "perl"
        ) {
            return;
        }
        let changes = |text: &str| CHANGES.iter().any(|word| text.contains(word));
        for arg in args.iter().filter(|arg| arg.text.contains(['(', ' ']) && changes(&arg.text)) {
            let is_path = |c: char| c.is_alphanumeric() || "/._-~".contains(c);
            for word in arg.text.split(|c| !is_path(c)).filter(|word| word.contains('.')) {
                self.disturb(&Arg::plain(word), Reach::Itself, name, call);
            }
        }
    }

    /// Whether a command is `rm $(which toolmark)` or similar: the path may be unknown, but its
    /// target is the guard.
    fn changes_looked_up_guard(&self, name: &str, args: &[Arg]) -> bool {
        let changes = changes_operands(name, args)
            || matches!(name, "rm" | "grm" | "unlink" | "cp" | "gcp" | "install" | "tee" | "dd");
        let is_own = |arg: &Arg| {
            let (directory, base) = arg.text.rsplit_once('/').unwrap_or_default();
            directory.ends_with("/bin") && is_guard(base)
        };
        if changes && args.iter().any(is_own) {
            return true;
        }
        changes
            && args.iter().any(|arg| arg.dynamic)
            && self.commands.iter().any(|command| {
                matches!(&*command.program, "which" | "command" | "type" | "whereis" | "where")
                    && command.args.iter().any(|arg| is_guard(&arg.text))
            })
    }

    /// Reports protected files copied or moved into a directory, where they keep their names.
    fn protect_target(&mut self, name: &str, args: &[Arg], call: &CommandContext) {
        let mut operands: Vec<&Arg> =
            args.iter().filter(|arg| !arg.text.starts_with('-')).collect();
        let given = args.iter().position(|arg| arg.text == "-t").and_then(|at| args.get(at + 1));
        let Some(target) = given.or_else(|| operands.pop()) else { return };
        let recursive = name == "rsync"
            || args.iter().any(|arg| {
                arg.text.starts_with("--recursive")
                    || arg.text.starts_with('-') && arg.text.contains(['r', 'R', 'a', 'T'])
            });
        if recursive {
            self.disturb(target, Reach::Into, name, call);
            self.fill_home(target, &operands, name, call);
        }
        let reach = if recursive { Reach::Into } else { Reach::Itself };
        for source in operands {
            let base = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            let found = self.matching_names(source).unwrap_or_else(|| vec![base.to_owned()]);
            for base in found {
                let text = format!("{}/{base}", target.text.trim_end_matches('/'));
                self.disturb(&Arg { text, ..target.clone() }, reach, name, call);
            }
        }
    }

    /// All that is in a directory is copied into the home directory: settings of agents and
    /// of shells may be among it.
    fn fill_home(&mut self, target: &Arg, sources: &[&Arg], name: &str, call: &CommandContext) {
        let place = self.place(&target.text);
        let is_open = |arg: &&Arg| arg.text.ends_with(['/', '.', '*']);
        if place.scope != EffectScope::Home || !place.whole || !sources.iter().any(is_open) {
            return;
        }
        let (kind, level, certainty) =
            (EffectKind::Overwrite, Reversibility::R3, Certainty::Likely);
        let why = "copies over files of the home directory whose names are not known";
        self.push(call, name, kind, &place.display, place.scope, level, certainty, why);
    }

    /// The names that a pattern in the last part of a path means, where that is known.
    fn matching_names(&self, arg: &Arg) -> Option<Vec<String>> {
        let path = self.place(&arg.text).path;
        let (directory, base) = path.rsplit_once('/')?;
        if !base.bytes().any(is_wildcard) || directory.bytes().any(is_wildcard) {
            return None;
        }
        let names = self.context.facts.filter(|facts| facts.is_here())?.names(directory)?;
        Some(names.into_iter().filter(|name| is_match(base, name)).take(MAX_MATCHES).collect())
    }

    /// Records what `find` deletes or changes: its starting points, and files by name.
    fn protect_from_find(&mut self, program: &str, tests: &[Arg], call: &CommandContext) {
        let is_name = |arg: &Arg| matches!(&*arg.text, "-name" | "-iname");
        let is_open = |arg: &Arg| matches!(&*arg.text, "-o" | "-or" | "," | "!" | "-not");
        // Only files of these names are found then.
        let is_narrow = tests.iter().any(is_name) && !tests.iter().any(is_open);
        let roots = || tests.iter().take_while(|arg| !arg.text.starts_with(['-', '(', '!']));
        let mut before: Option<&Arg> = None;
        let mut is_past_roots = false;
        for arg in tests {
            is_past_roots |= arg.text.starts_with(['-', '(', '!']);
            if before.is_some_and(is_name) {
                let roots: Vec<&Arg> = roots().collect();
                self.disturb_any_named(arg, &roots, program, call);
            } else if is_past_roots || !is_narrow {
                self.disturb(arg, Reach::Below, program, call);
                if !matches!(program, "find" | "gfind") {
                    self.disturb_any_named(arg, &[], program, call);
                }
            }
            before = Some(arg);
        }
    }

    /// Files of a name, wherever they are below some directories.
    fn disturb_any_named(
        &mut self,
        arg: &Arg,
        roots: &[&Arg],
        program: &str,
        call: &CommandContext,
    ) {
        let wanted = ProtectedName::of(arg.text.rsplit('/').next().unwrap_or_default());
        let disk = self.context.facts.filter(|facts| facts.is_here()).map(OnDisk::new);
        let starts: Vec<String> = match roots {
            [] => vec![self.place(".").path],
            roots => roots.iter().map(|root| self.place(&root.text).path).collect(),
        };
        let certainty = |known: &Protected<'_>| {
            known.because.on_removal()?;
            let path = known.path.trim_end_matches('/');
            let (parts, own) = path.rsplit_once('/').unwrap_or(("", path));
            // Those of a project are in its directory, those of the user have a whole path.
            let is_in = |disk: &OnDisk<'_>, start: &String| {
                let directory = format!("{start}/{parts}");
                !path.starts_with('/') && disk.has(&directory, own, &wanted) == Some(true)
            };
            let is_found = |start: &String| wanted.is_found(start, path, disk.as_ref());
            if starts.iter().any(is_found) {
                return Some(Certainty::Proven);
            }
            // Many files have the last name of a longer path.
            let is_whole = !path.contains('/');
            let by_name = if is_whole { Certainty::Proven } else { Certainty::Likely };
            match &disk {
                _ if !wanted.has_wildcard => wanted.fits(own, true).then_some(by_name),
                None => (is_whole && wanted.identifies(own, 0, 1)).then_some(by_name),
                Some(disk) => {
                    starts.iter().any(|start| is_in(disk, start)).then_some(Certainty::Proven)
                }
            }
        };
        let protected = self.context.protected.iter();
        let found = protected.filter_map(|known| Some((certainty(known)?, known.because)));
        let Some((certainty, because)) = found.min() else { return };
        let Some(why) = because.on_removal() else { return };
        let (scope, level) = (EffectScope::Unknown, because.level());
        self.push(call, program, EffectKind::Persist, &arg.text, scope, level, certainty, why);
    }
}

/// Words with which code changes files.
const CHANGES: &[&str] = &[
    "write",
    "unlink",
    "remove",
    "delete",
    "rename",
    "replace",
    "truncate",
    "rmtree",
    "rmSync",
    "move",
    "copy",
    "symlink",
    "chmod",
    "mkdir",
    "'w",
    "\"w",
    "'a'",
    "\"a\"",
    "'x'",
    "\"x\"",
    "file_put_contents",
    "fopen",
    "'>",
    "\">",
];

fn is_guard(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let name = name.split('@').next().unwrap_or(name);
    matches!(name, "toolmark" | "toolmark-hook")
}

/// Whether a package manager removes the guard.
fn removes_guard(name: &str, args: &[Arg]) -> bool {
    let manages = matches!(
        name,
        "cargo"
            | "brew"
            | "npm"
            | "pnpm"
            | "yarn"
            | "bun"
            | "pip"
            | "pip3"
            | "pipx"
            | "uv"
            | "apt"
            | "apt-get"
            | "dnf"
            | "yum"
            | "zypper"
            | "apk"
            | "pacman"
            | "snap"
            | "nix-env"
            | "nix"
            | "scoop"
            | "winget"
            | "choco"
            | "port"
            | "dpkg"
            | "rpm"
    );
    let removes = |arg: &Arg| {
        matches!(
            arg.text.as_str(),
            "uninstall"
                | "remove"
                | "rm"
                | "un"
                | "purge"
                | "erase"
                | "unlink"
                | "del"
                | "delete"
                | "-r"
                | "-R"
                | "-Rs"
                | "-Rns"
                | "-e"
                | "--uninstall"
                | "--remove"
                | "--purge"
        )
    };
    manages && args.iter().any(removes) && args.iter().any(|arg| is_guard(&arg.text))
}

/// Returns the directories that a command fills with files whose names it does not specify.
fn filled_directories(name: &str, args: &[Arg]) -> Vec<Arg> {
    let flags: &[&str] = match name {
        "tar" | "gtar" | "bsdtar" => &["-C", "--directory"],
        "unzip" => &["-d"],
        "wget" => &["-P", "--directory-prefix"],
        "curl" => &["--output-dir"],
        "cpio" => &["-D", "--directory"],
        "7z" | "7za" | "7zz" => &["-o"],
        "git" if args.iter().any(|arg| arg.text == "clone") => {
            let last = args.last().filter(|arg| !arg.text.contains("://"));
            return last.cloned().into_iter().collect();
        }
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        let Some(flag) = flags.iter().find(|flag| arg.text.starts_with(**flag)) else { continue };
        let rest = arg.text.get(flag.len()..).unwrap_or_default();
        match rest.strip_prefix('=').unwrap_or(rest) {
            "" => found.extend(args.get(at + 1).cloned()),
            directory => found.push(Arg { text: directory.to_owned(), ..arg.clone() }),
        }
    }
    found
}

/// Whether a command changes or removes the files it is given, even if nothing is lost by it.
#[must_use]
pub fn changes_operands(program: &str, args: &[Arg]) -> bool {
    let first = || args.iter().map(|arg| arg.text.as_str()).find(|text| !text.starts_with('-'));
    let has =
        |flags: &[&str]| args.iter().any(|arg| flags.iter().any(|flag| arg.text.starts_with(flag)));
    match program {
        "mv" | "gmv" | "rename" | "ln" | "touch" | "truncate" | "chmod" | "gchmod" | "chown"
        | "gchown" | "chgrp" | "setfacl" | "chattr" | "chflags" | "icacls" | "takeown"
        | "shred" | "gshred" | "wipe" | "scrub" | "trash" | "trash-put" | "rmdir" | "patch"
        | "dos2unix" => true,
        "git" | "hub" => match first() {
            // A file that is only removed from the index stays in place.
            Some("rm") => !has(&["--cached"]),
            Some("restore") => !has(&["--staged", "-S"]) || has(&["--worktree", "-W", "-SW"]),
            verb => matches!(verb, Some("mv" | "checkout" | "clean" | "stash" | "checkout-index")),
        },
        "awk" | "gawk" => has(&["-iinplace", "inplace"]),
        "perl" | "ruby" | "yq" => has(&["-i", "-pi", "-ni", "--inplace"]),
        _ => has(&["--in-place", "--inplace", "--write", "--fix"]),
    }
}

/// The names in a path, split once for all protected files, and only if one of them begins like a
/// protected name.
pub(crate) struct PathNames<'a> {
    path: &'a str,
    names: OnceCell<Vec<ProtectedName<'a>>>,
    /// Bit set of the letters that names begin with.
    first: u128,
    /// Whether a name may begin with any letter.
    any: bool,
}

pub(crate) struct ProtectedName<'a> {
    pub(crate) text: &'a str,
    has_wildcard: bool,
    /// First two bytes, in lower case.
    start: [u8; 2],
}

impl<'a> ProtectedName<'a> {
    fn of(text: &'a str) -> Self {
        let has_wildcard = text.bytes().any(is_wildcard);
        let byte = |at: usize| text.as_bytes().get(at).map_or(0, u8::to_ascii_lowercase);
        Self { text, has_wildcard, start: [byte(0), byte(1)] }
    }

    /// Whether the name may be the first name of a protected path. Most are not, which two bytes
    /// decide.
    fn may_be_first(&self, protected: &[u8]) -> bool {
        self.has_wildcard
            || match protected {
                [b'*', ..] => true,
                [first, second, ..] if !matches!(second, b'*' | b'/') => {
                    self.start == [first.to_ascii_lowercase(), second.to_ascii_lowercase()]
                }
                [first, ..] => self.start[0] == first.to_ascii_lowercase(),
                [] => true,
            }
    }

    /// Returns whether a search for this name from a directory down finds the protected file.
    fn is_found(&self, directory: &str, protected: &str, disk: Option<&OnDisk<'_>>) -> bool {
        let names = PathNames::of(directory);
        let own: Vec<&str> = protected.trim_matches('/').split('/').collect();
        names.starts(protected, true).any(|start| {
            let rest = own.get(names.all().len() - start..).unwrap_or_default();
            let Some((last, parts)) = rest.split_last() else { return true };
            let at = [&[directory], parts].concat().join("/");
            let on_disk = disk.and_then(|disk| disk.has(&at, last, self));
            on_disk.unwrap_or_else(|| match self.has_wildcard {
                true => self.identifies(last, 1, 2),
                false => self.fits(last, false),
            })
        })
    }

    /// Returns whether a pattern spells enough of a protected name to mean it, at this depth of a
    /// protected path with `parts` names.
    fn identifies(&self, protected: &str, depth: usize, parts: usize) -> bool {
        /// A shorter beginning is found in many names.
        const SHORTEST: usize = 3;
        /// Endings of the names of settings files.
        const ENDINGS: &[&str] = &["", ".json", ".local.json", ".toml", "x"];
        let mut said = self.text.split(['*', '?', '[', ']']);
        match (depth, parts) {
            // It is looked for in every directory.
            (0, 1) => {
                let is_letter = |c: char| c.is_alphanumeric();
                let fixed = protected.split('*').max_by_key(|part| part.len()).unwrap_or_default();
                let fixed = fixed.trim_start_matches(|c| !is_letter(c)).to_ascii_lowercase();
                said.any(|part| part.to_ascii_lowercase().contains(&fixed))
            }
            (0, _) => said.next().is_some_and(|start| start.len() >= SHORTEST),
            _ => {
                let pattern = without_sets(self.text);
                let mut names = ENDINGS.iter().map(|ending| protected.replace('*', ending));
                names.any(|name| can_be_equal(name.as_bytes(), &pattern))
            }
        }
    }

    /// Whether the name can match a protected name. Either may have wildcards; some file systems
    /// ignore case. A name that begins with a wildcard is not sufficient on its own.
    fn fits(&self, protected: &str, alone: bool) -> bool {
        // Of two patterns almost any two can be equal: `*.toolmark-backup` and `abc*` are. The
        // name has to say a part of what is protected.
        if self.has_wildcard && protected.starts_with('*') {
            /// Minimum length of a part that is compared; a shorter one occurs in many names.
            const SHORTEST: usize = 4;
            let own = protected.trim_start_matches('*').to_ascii_lowercase();
            let name = self.text.to_ascii_lowercase();
            let says = |part: &str| part.len() >= SHORTEST && own.contains(part);
            return name.split(['*', '?', '[', ']']).any(says)
                && can_be_equal(protected.as_bytes(), &without_sets(self.text));
        }
        if self.has_wildcard {
            return !(alone && self.text.starts_with(['*', '?', '[']))
                && can_be_equal(protected.as_bytes(), &without_sets(self.text));
        }
        // Most names differ here already.
        let first = |text: &str| text.bytes().next().map(|b| b.to_ascii_lowercase());
        if first(protected) != first(self.text) && !protected.starts_with('*') {
            return false;
        }
        let is = |a: Option<&str>, b: &str| a.is_some_and(|a| a.eq_ignore_ascii_case(b));
        match protected.split_once('*') {
            None => protected.eq_ignore_ascii_case(self.text),
            Some((start, end)) => {
                let rest = self.text.len().checked_sub(end.len()).filter(|at| *at >= start.len());
                is(self.text.get(..start.len()), start)
                    && rest.is_some_and(|at| is(self.text.get(at..), end))
            }
        }
    }
}

impl<'a> PathNames<'a> {
    pub(crate) fn of(path: &'a str) -> Self {
        let (mut first, mut any) = (0, false);
        let mut before = b'/';
        for byte in path.bytes() {
            if before == b'/' && byte.is_ascii() {
                first |= 1 << byte.to_ascii_lowercase();
            }
            any |= !byte.is_ascii() || is_wildcard(byte);
            before = byte;
        }
        Self { path, names: OnceCell::new(), first, any }
    }

    fn all(&self) -> &[ProtectedName<'a>] {
        /// Initial capacity; few paths are deeper.
        const DEEP: usize = 16;
        self.names.get_or_init(|| {
            let mut names: Vec<ProtectedName<'a>> = Vec::with_capacity(DEEP);
            names.extend(
                self.path.split('/').filter(|name| !name.is_empty()).map(ProtectedName::of),
            );
            names
        })
    }

    /// Returns whether the path may name a protected file or something below it; with `below`,
    /// whether a protected file is below the path.
    pub(crate) fn hit(&self, protected: &str, below: bool) -> bool {
        self.starts(protected, below).next().is_some()
    }

    /// From which of its names on the path may be what is protected.
    fn starts(&self, protected: &str, below: bool) -> impl Iterator<Item = usize> {
        // Most paths have no name that begins like it.
        let differs = match protected.as_bytes() {
            [first, ..] => {
                !self.any
                    && first.is_ascii()
                    && !matches!(first, b'/' | b'*')
                    && self.first & 1 << first.to_ascii_lowercase() == 0
            }
            [] => false,
        };
        let names = if differs { &[] } else { self.all() };
        let starts = if protected.starts_with('/') { names.len().min(1) } else { names.len() };
        let protected = protected.trim_matches('/');
        (0..starts).filter(move |start| {
            names[*start].may_be_first(protected.as_bytes())
                && begins_alike(protected, &names[*start..], below)
        })
    }

    /// Returns whether a protected file exists that the path matches from this name on. Without a
    /// disk, the pattern must spell enough of the name.
    fn is_covered(
        &self,
        start: usize,
        protected: &str,
        reach: Reach,
        disk: Option<&OnDisk<'_>>,
    ) -> bool {
        let names = self.all();
        let has_pattern = names.iter().any(|name| name.has_wildcard);
        let own: Vec<&str> = protected.trim_matches('/').split('/').collect();
        let is_above = names.len() - start < own.len();
        if !has_pattern && (!is_above || reach == Reach::Into) {
            return true;
        }
        let Some(disk) = disk.filter(|_| reach != Reach::Into) else {
            let pairs = names.iter().skip(start).zip(&own).enumerate();
            return pairs
                .filter(|(_, (name, _))| name.has_wildcard)
                .all(|(depth, (name, own_name))| name.identifies(own_name, depth, own.len()));
        };
        let parts = names.len().max(start + own.len());
        let steps = (0..parts).map(|at| {
            let own = at.checked_sub(start).and_then(|at| own.get(at).copied());
            (names.get(at).map(|name| name.text), own)
        });
        disk.has_steps(self.top(), &steps.collect::<Vec<_>>())
    }

    /// Prefix before the first name.
    fn top(&self) -> &'static str {
        if self.path.starts_with('/') { "/" } else { "" }
    }
}

pub(crate) fn is_wildcard(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[')
}

fn begins_alike(protected: &str, names: &[ProtectedName<'_>], below: bool) -> bool {
    let mut names = names.iter();
    for (depth, own) in protected.split('/').enumerate() {
        match names.next() {
            Some(name) if name.fits(own, depth == 0) => {}
            Some(_) => return false,
            // The path ends above what is protected.
            None => return below && depth > 0,
        }
    }
    true
}

/// Maximum length of a name that is compared in full: no file system has longer ones.
const MAX_NAME: usize = 255;

/// A name in which a set of characters stands as any character.
pub(crate) fn without_sets(name: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = name.as_bytes().get(..MAX_NAME).unwrap_or(name.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let end = after.iter().position(|b| *b == b']').filter(|_| *first == b'[');
        out.push(if end.is_some() { b'?' } else { *first });
        rest = end.and_then(|end| after.get(end + 1..)).unwrap_or(after);
    }
    out
}

/// Returns whether some text matches both patterns.
pub(crate) fn can_be_equal(one: &[u8], other: &[u8]) -> bool {
    // Whether the first parts of both can be equal, row by row.
    let mut row = vec![false; other.len() + 1];
    for i in 0..=one.len() {
        let mut next = vec![false; other.len() + 1];
        for j in 0..=other.len() {
            let before = |row: &[bool], at: Option<usize>| at.is_some_and(|at| row[at]);
            let (up, left) = (i.checked_sub(1).map(|i| one[i]), j.checked_sub(1).map(|j| other[j]));
            let alike = match (up, left) {
                (Some(b'?'), Some(_)) | (Some(_), Some(b'?')) => true,
                (Some(a), Some(b)) => a.eq_ignore_ascii_case(&b),
                _ => false,
            };
            let by_star = |here: Option<u8>, there: Option<u8>| {
                here.is_some() && (here == Some(b'*') || there == Some(b'*'))
            };
            next[j] = (i == 0 && j == 0)
                || (alike && i > 0 && before(&row, j.checked_sub(1)))
                || (by_star(up, left) && i > 0 && row[j])
                || (by_star(left, up) && before(&next, j.checked_sub(1)));
        }
        row = next;
    }
    row.last() == Some(&true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decision, analyze, analyze_write};

    const PROTECTED: &[Protected<'_>] = &[
        Protected { path: ".agent/settings*", because: Protection::Settings },
        Protected { path: ".ci/hooks/", because: Protection::Settings },
        Protected { path: "policy.yaml", because: Protection::Policy },
        Protected { path: "/moved/settings.json", because: Protection::Settings },
        Protected { path: ".agent/", because: Protection::Lasting },
        Protected { path: ".agent/key.json", because: Protection::Credentials },
        Protected { path: "*.agent-backup", because: Protection::Policy },
    ];

    #[test]
    fn paths() {
        let context = ShellContext { protected: PROTECTED, ..ShellContext::default() };
        use Protection::{Lasting, Policy, Settings};
        for (path, below, want) in [
            ("/w/.agent/settings.json", false, Some(Settings)),
            ("~/.Agent/SETTINGS.local.json", false, Some(Settings)),
            ("/w/.agent/*.json", false, Some(Settings)),
            ("/w/.ag*", true, Some(Settings)),
            ("/w/.agent/notes.md", false, Some(Lasting)),
            ("/w/.agent", false, Some(Lasting)),
            ("/w/.agent", true, Some(Settings)),
            ("/w/.ci", true, Some(Settings)),
            ("/w/.ci", false, None),
            ("/w/.ci/hooks/a/b", false, Some(Settings)),
            ("/w/.ci/workflows", true, None),
            ("/w/policy.yaml", false, Some(Policy)),
            ("/w/deep/policy.yaml", false, Some(Policy)),
            ("/w/.agent/[s]ett?ngs.json", false, Some(Settings)),
            ("/w/.agent/n*.md", false, Some(Lasting)),
            ("/w/*.yaml", false, None),
            ("/w/a.agent-backup", false, Some(Policy)),
            ("/w/a*.agent-backup", false, Some(Policy)),
            ("/w/a.*-backup", false, None),
            ("/w/*backup*", false, None),
            ("/w/pol*", false, None),
            ("/w/policy.yaml*", false, Some(Policy)),
            ("/w/.a*", true, None),
            ("/w/.agent/*.md", true, Some(Lasting)),
            ("/w/core.*", false, None),
            ("/w/a*", false, None),
            ("/w/*", true, None),
            ("/w", true, None),
            ("/moved/settings.json", false, Some(Settings)),
            ("/moved", true, Some(Settings)),
            ("/w/moved/settings.json", false, None),
        ] {
            let reach = Reach::of(below);
            assert_eq!(context.protection(path, reach), want, "{path} {below}");
        }
    }

    #[test]
    fn commands() {
        let context = ShellContext { protected: PROTECTED, ..ShellContext::default() };
        let protects = |command: &str| {
            let analysis = analyze(command, &context);
            let persists = analysis.effects.iter().any(|e| e.kind == EffectKind::Persist);
            assert_eq!(persists, analysis.decision != Decision::Allow, "{command}");
            persists
        };
        for command in [
            "echo {} > .agent/settings.json",
            "echo >> ~/.agent/settings.local.json",
            "tee .ci/hooks/x.json",
            "rm policy.yaml",
            "rm -f ~/.agent/settings.json",
            "cd .agent && rm settings.json",
            "unlink .agent/settings.json",
            "rm \"$ROOT/.agent/settings.json\"",
            "mv .agent/settings.json x",
            "mv x .agent/settings.json",
            "mv a/settings.json .agent/",
            "cp a/settings.json .agent",
            "cp -r other/. .agent",
            "cp x policy.yaml",
            "mv .agent .agent.bak",
            "ln -sf x .agent/settings.json",
            "ln -s .agent/settings.json x",
            "sed -i s/a/b/ policy.yaml",
            "perl -pi -e s/a/b/ policy.yaml",
            "truncate -s 1M policy.yaml",
            "chmod 444 policy.yaml",
            "git rm policy.yaml",
            "git mv policy.yaml x",
            "git rm -f policy.yaml",
            "git restore policy.yaml",
            "git restore --staged --worktree policy.yaml",
            "git restore -SW policy.yaml",
            "npx prettier --write policy.yaml",
            "dd if=x of=policy.yaml",
            "find . -name settings.json -exec mv {} x \\;",
            "find .agent -name '*.json' -delete",
            "find .agent -delete",
            "find . -not -name x -path './.agent/*' -delete",
            "find .ci/hooks -name '*.sh' -delete",
            "rm -f *.agent-backup",
            "cp -r other/.agent ~",
            "wget -P .agent https://x.org/settings.json",
            "python3 -c \"import os; os.remove('policy.yaml')\"",
            "python3 -c \"open('.agent/settings.json', 'w')\"",
            "python3 -c \"import pathlib; pathlib.Path('~/.agent/settings.json').write_text('')\"",
            "ruby -e 'File.delete(File.expand_path(\"~/.agent/settings.json\"))'",
            "php -r 'unlink(getenv(\"HOME\").\"/.agent/settings.json\");'",
            "awk -i inplace '{print}' policy.yaml",
            "tar xf x.tar -C ~/.agent",
            "unzip -o x.zip -d .agent",
            "wget -P ~/.agent https://x.org/settings.json",
            "git clone https://x.org/y ~/.agent",
            "mv ~/.agent{,.bak}",
            "cargo uninstall toolmark",
            "npm rm -g @x/toolmark",
            "rm $(which toolmark)",
            "chmod -x \"$(command -v toolmark-hook)\"",
        ] {
            assert!(protects(command), "{command}");
        }
        for command in [
            "cat .agent/settings.json",
            "cp .agent/settings.json /tmp/x",
            "grep -i hook .agent/settings.json",
            "rm .agent/notes.md",
            "mv .agent/notes.md x",
            "git add policy.yaml",
            "git diff policy.yaml",
            "git rm --cached policy.yaml",
            "git rm -r --cached .agent",
            "git restore --staged policy.yaml",
            "git restore -S policy.yaml",
            "sed -i s/a/b/ *",
            "chmod 644 *",
            "rm -f *backup*",
            "rm pol*",
            "git mv pol* x",
            "mv *poli* x",
            "cp docs/pol* out/",
            "find . -name '*backup*' -exec mv {} x \\;",
            "find .agent -name '*.md' -exec mv {} x \\;",
            "wget -P /tmp https://x.org/a.tgz",
            "tar cf x.tar -C .. d",
            "rm settings.json",
            "mv a b",
            "diff policy.yaml x",
            "python3 -c \"import json; print(json.load(open('.agent/settings.json')))\"",
            "tar xf x.tar -C build",
            "git clone https://x.org/.agent",
            "which toolmark",
            "cargo install toolmark",
            "npm rm -g prettier",
        ] {
            assert!(!protects(command), "{command}");
        }
    }

    #[test]
    fn the_home_directory_as_a_whole() {
        let path = "/home/me/.config/x/policy.yaml";
        let protected = [Protected { path, because: Protection::Policy }];
        let context = ShellContext {
            protected: &protected,
            cwd: Some("/home/me/app"),
            home: Some("/home/me"),
            ..ShellContext::default()
        };
        for (command, decision) in [
            ("rm -rf ~", Decision::Deny),
            ("rm -rf /home/me", Decision::Deny),
            ("cp -r dotfiles/. ~", Decision::Ask),
            ("cp -r dotfiles ~", Decision::Allow),
            ("wget -P ~ https://x.org/a.tgz", Decision::Allow),
        ] {
            let analysis = analyze(command, &context);
            assert_eq!(analysis.decision, decision, "{command}: {}", analysis.reason);
            assert!(!analysis.reason.contains("lets through"), "{command}: {}", analysis.reason);
        }
    }

    #[test]
    fn without_a_directory_too() {
        let context = ShellContext { protected: PROTECTED, ..ShellContext::default() };
        for path in ["/srv/app/.agent/settings.json", "~/.agent/settings.json", "policy.yaml"] {
            assert_eq!(analyze_write(path, &context).decision, Decision::Deny, "{path}");
        }
        assert_eq!(analyze_write("/srv/app/x", &context).decision, Decision::Allow);
    }
}
