//! Paths: made absolute, cleared of `..` and sorted into scopes.

use crate::ShellContext;
use crate::effects::EffectScope;
use crate::lookup::NameLookup;
use crate::windows;
use std::borrow::Cow;

/// Root of the work tree when nothing is known about it: a name that no path has.
pub(crate) const TREE: &str = "/\u{1}tree";

/// Directories and files that tools can regenerate.
const ARTEFACTS: &[&str] = &[
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "Cargo.lock",
    "poetry.lock",
    "bun.lockb",
    "Gemfile.lock",
    "composer.lock",
    "uv.lock",
    "node_modules",
    "target",
    "dist",
    "build",
    "out",
    ".next",
    ".nuxt",
    ".output",
    ".svelte-kit",
    ".turbo",
    ".parcel-cache",
    ".cache",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    "coverage",
    "htmlcov",
    ".coverage",
    ".nyc_output",
    ".venv",
    "venv",
    ".eggs",
    ".gradle",
    "obj",
    ".terraform",
    ".dart_tool",
    "Pods",
    "DerivedData",
    ".angular",
    ".vite",
    "tmp",
    ".tmp",
    "temp",
    "_build",
    "deps",
    "elm-stuff",
    "zig-out",
    "zig-cache",
    ".zig-cache",
    "storybook-static",
    ".serverless",
    ".docusaurus",
    "test-results",
    "TestResults",
    "test-output",
    ".aws-sam",
    "cdk.out",
    ".phpunit.cache",
    ".jekyll-cache",
    ".eslintcache",
    ".stylelintcache",
    ".swc",
    ".pnpm-store",
    ".nx",
    ".rpt2_cache",
    ".pdm-build",
    ".scannerwork",
    "_site",
    "playwright-report",
    ".ipynb_checkpoints",
    ".sass-cache",
    "bower_components",
    ".yarn-cache",
    "cmake-build-debug",
    "cmake-build-release",
    "Debug",
    "Release",
    ".build",
    ".expo",
    ".astro",
    ".wrangler",
    ".vercel",
    ".netlify",
    ".DS_Store",
    "blib",
    "site-packages",
    ".hypothesis",
    ".stack-work",
    "dist-newstyle",
    ".bloop",
    ".metals",
    "logs",
    "log",
];

const ARTEFACT_ENDINGS: &[&str] = &[
    ".egg-info",
    ".pyc",
    ".pyo",
    ".o",
    ".obj",
    ".class",
    ".log",
    ".tmp",
    ".swp",
    ".bak",
    ".orig",
    ".tsbuildinfo",
    ".gcda",
    ".gcno",
    ".profraw",
    ".lcov",
    ".rej",
];

static KNOWN_ARTEFACTS: NameLookup<256> = NameLookup::new(&[ARTEFACTS]);
static KNOWN_ENDINGS: NameLookup<64> = NameLookup::new(&[ARTEFACT_ENDINGS]);

const TEMP: &[&str] = &[
    "/tmp",
    "/var/tmp",
    "/private/tmp",
    "/private/var/tmp",
    "/private/var/folders",
    "/var/folders",
    "/dev/shm",
];

const SYSTEM: &[&str] = &[
    "/etc",
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/boot",
    "/sys",
    "/proc",
    "/var",
    "/opt",
    "/System",
    "/Library",
    "/Applications",
    "/private",
    "/run",
    "/nix",
    "/snap",
];

/// A path and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathLocation {
    /// Path for messages: relative inside the tree.
    pub(crate) display: String,
    /// Absolute path, if known.
    pub(crate) path: String,
    /// Scope of the location.
    pub(crate) scope: EffectScope,
    /// Whether the path is the root of its scope: the tree, the home, a temp directory.
    pub(crate) whole: bool,
    /// Another path was given, and a link leads from there to here.
    pub(crate) through_link: bool,
}

/// Joins the paths and removes `.` and `..` without accessing the file system.
pub(crate) fn normalise(cwd: &str, path: &str) -> String {
    if path.starts_with('/') && is_normal(path) {
        return path.to_owned();
    }
    if !path.starts_with(['/', '~']) && !path.is_empty() && is_normal(cwd) && is_normal(path) {
        return format!("{cwd}/{path}");
    }
    let mut parts: Vec<&str> = Vec::new();
    let absolute = path.starts_with('/') || path.starts_with('~');
    let base = if absolute { "" } else { cwd };
    for part in base.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts == ["~"] => parts = vec!["home"],
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    if parts.first().is_some_and(|first| first.starts_with('~')) {
        parts.join("/")
    } else {
        format!("/{}", parts.join("/"))
    }
}

/// Normalizes a path relative to the file system root.
pub(crate) fn from_top(path: &str) -> Cow<'_, str> {
    match path.starts_with('/') && is_normal(path) {
        true => Cow::Borrowed(path),
        false => Cow::Owned(normalise("/", path)),
    }
}

/// Whether a path is already normalized. Most are, and need no allocation. A path without a leading
/// `/` is treated as the rest of a path.
fn is_normal(path: &str) -> bool {
    let rest = path.strip_prefix('/').unwrap_or(path);
    !rest.starts_with('~') && has_plain_parts(rest)
}

/// Whether a path consists of names only, without `.`, `..` or empty parts. Called for nearly every
/// path.
#[must_use]
pub fn has_plain_parts(path: &str) -> bool {
    let bytes = path.as_bytes();
    let ([first, .., last] | [first @ last]) = bytes else { return false };
    // A part that is not a name is empty or begins with a dot. The whole path is scanned,
    // because a loop without an early end takes many bytes at a time.
    let is_odd = |slash: &u8, next: &u8| (*slash == b'/') & ((*next == b'/') | (*next == b'.'));
    let pairs = bytes.iter().zip(&bytes[1..]);
    let may_be_odd = pairs.fold(false, |odd, (slash, next)| odd | is_odd(slash, next))
        || matches!(first, b'/' | b'.')
        || *last == b'/';
    !may_be_odd || path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

fn below(path: &str, root: &str) -> bool {
    let root = root.trim_end_matches('/');
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a part of the path is generated by a tool.
pub(crate) fn is_artefact(relative: &str) -> bool {
    let mut parts = relative.split('/').filter(|part| !part.is_empty());
    parts.any(|part| {
        // Every ending but that of a backup has its only dot first.
        let ending = part.rfind('.').filter(|at| *at > 0).and_then(|at| part.get(at..));
        KNOWN_ARTEFACTS.has(part)
            || ending.is_some_and(|ending| KNOWN_ENDINGS.has(ending))
            || part.ends_with('~') && part.len() > 1
            || part.starts_with("bazel-")
            || part.starts_with('.') && part.ends_with("cache")
            || part.starts_with("cmake-build-")
    })
}

/// Directories that a tool regenerates, with these tools.
const REBUILT: &[(&[&str], &[&str])] = &[
    (&["vendor"], &["composer", "bundle", "go", "cargo", "dep", "glide", "govendor", "carton"]),
    (&["bin", "obj"], &["dotnet", "msbuild", "nuget"]),
    (
        &["bin"],
        &[
            "go",
            "make",
            "gmake",
            "javac",
            "gcc",
            "g++",
            "cc",
            "clang",
            "cmake",
            "ninja",
            "gradle",
            "gradlew",
            "mvn",
            "tsc",
            "zig",
            "shards",
            "dart",
            "goreleaser",
            "mage",
        ],
    ),
    (&["lib", "libs"], &["tsc", "babel", "rollup", "swc", "lerna", "rescript"]),
    (&["packages"], &["nuget", "dotnet"]),
    (&["public"], &["hugo", "gatsby", "zola", "hexo", "vuepress"]),
    (&["site"], &["mkdocs", "pandoc"]),
    (
        &["generated", "gen", "__generated__"],
        &[
            "buf",
            "protoc",
            "graphql-codegen",
            "openapi-generator",
            "openapi-generator-cli",
            "prisma",
            "sqlc",
            "go",
        ],
    ),
    (&["third_party", "external"], &["conan", "vcpkg", "gclient", "cmake"]),
    (&["env"], &["virtualenv", "conda"]),
    (
        &["reports", "report", "allure-results", "allure-report"],
        &["pytest", "mvn", "gradle", "allure"],
    ),
    (&["roles", "collections"], &["ansible-galaxy"]),
    (&["charts"], &["helm"]),
    (&["carthage", "Carthage"], &["carthage"]),
];

/// Whether a part of a path is regenerated by one of these programs.
pub(crate) fn is_rebuilt(path: &str, programs: &[String]) -> bool {
    let has = |tools: &[&str]| programs.iter().any(|program| tools.contains(&program.as_str()));
    REBUILT
        .iter()
        .any(|(names, tools)| path.split('/').any(|part| names.contains(&part)) && has(tools))
}

impl ShellContext<'_> {
    /// Returns whether a path in a home directory is the home directory itself; `None` for a path
    /// outside of one.
    fn is_home(&self, path: &str) -> Option<bool> {
        if path == "~" || path.starts_with("~/") {
            return Some(path == "~");
        }
        if let Some(home) = self.home
            && below(path, home)
        {
            return Some(path.trim_end_matches('/') == home.trim_end_matches('/'));
        }
        for root in ["/home", "/Users"] {
            if let Some(rest) = path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/')) {
                return Some(!rest.contains('/'));
            }
        }
        if below(path, "/root") {
            return Some(path == "/root");
        }
        (path.starts_with('~')).then_some(!path.contains('/'))
    }

    fn temp_root(&self, path: &str) -> Option<bool> {
        let roots = TEMP.iter().chain(self.temp.iter());
        roots.filter(|root| below(path, root)).map(|root| path == root.trim_end_matches('/')).next()
    }

    /// Returns the directory in which the command starts.
    pub(crate) fn start(&self) -> String {
        match self.cwd {
            Some(cwd) if windows::has_drive(cwd) => windows::normalise("", cwd),
            Some(cwd) => normalise("/", cwd),
            None => TREE.to_owned(),
        }
    }

    fn tree_relative<'p>(&self, path: &'p str) -> Option<&'p str> {
        let inside = |root: &str| {
            let root = root.trim_end_matches('/');
            path.strip_prefix(root).filter(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        if let Some(rest) = inside(TREE) {
            return Some(rest);
        }
        for root in self.roots.iter().chain(self.writable) {
            let root = from_top(root);
            if let Some(rest) = inside(&root) {
                return Some(rest);
            }
        }
        // Without declared roots the directory the command starts in is the
        // tree, unless projects are not kept there. One in a temporary directory
        // is a tree like others.
        let cwd = self.cwd?;
        if !self.roots.is_empty() {
            return None;
        }
        let cwd = from_top(cwd);
        let rest = inside(&cwd)?;
        let unfit = cwd == "/"
            || self.is_home(&cwd) == Some(true)
            || self.temp_root(&cwd) == Some(true)
            || SYSTEM.iter().any(|system| below(&cwd, system));
        if unfit { None } else { Some(rest) }
    }

    /// Determines the location of a path. Without a known `cwd` a relative path is unknown.
    pub(crate) fn place(&self, cwd: Option<&str>, path: &str) -> PathLocation {
        if let Some(session) = self.cwd {
            if let Some(path) = windows::respelled(session, path) {
                return self.place_as_spelled(cwd, &path);
            }
            if let Some(cwd) = cwd.and_then(|cwd| windows::respelled(session, cwd)) {
                return self.place_as_spelled(Some(&cwd), path);
            }
        }
        self.place_as_spelled(cwd, path)
    }

    fn place_as_spelled(&self, cwd: Option<&str>, path: &str) -> PathLocation {
        let relative = !(path.starts_with('/') || path.starts_with('~'));
        let base = cwd.filter(|cwd| relative && windows::has_drive(cwd));
        if base.is_some() || windows::has_drive(path) {
            return windows::place(self, base.unwrap_or("C:"), path);
        }
        let Some(base) = cwd.or((!relative).then_some("/")) else {
            let scope =
                if is_artefact(path) { EffectScope::TreeArtefact } else { EffectScope::Unknown };
            return PathLocation {
                display: path.into(),
                path: path.into(),
                scope,
                whole: false,
                through_link: false,
            };
        };
        let mut full = normalise(base, path);
        if let (Some(home), Some(rest)) = (self.home, full.strip_prefix('~'))
            && (rest.is_empty() || rest.starts_with('/'))
        {
            full = normalise("/", &format!("{home}{rest}"));
        }
        // A trailing pattern names everything in its directory.
        let (stem, all) = match full.rsplit_once('/') {
            Some((stem, "*" | ".*" | "**" | "{*,.*}")) => {
                (if stem.is_empty() { "/" } else { stem }, true)
            }
            _ => (full.as_str(), false),
        };
        let relative = self.tree_relative(&full);
        let of_stem = if all { self.tree_relative(stem) } else { relative };
        let (scope, whole) = self.scope_of(stem, of_stem, all);
        let display = match relative {
            Some("") => ".".to_owned(),
            Some(rest) => rest.trim_start_matches('/').to_owned(),
            None => full.clone(),
        };
        PathLocation { display, path: full, scope, whole, through_link: false }
    }

    /// Returns the scope of a path, given its relative path in the tree.
    fn scope_of(&self, path: &str, relative: Option<&str>, all: bool) -> (EffectScope, bool) {
        if path == "/" {
            return (EffectScope::System, true);
        }
        if let Some(rest) = relative {
            let rest = rest.trim_start_matches('/');
            // Some file systems do not tell the case apart.
            if rest.split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
                return (EffectScope::VcsMetadata, rest.eq_ignore_ascii_case(".git"));
            }
            if is_artefact(rest) {
                return (EffectScope::TreeArtefact, false);
            }
            let tracked = self.facts.and_then(|facts| facts.tracked(path));
            let scope = if tracked == Some(true) {
                EffectScope::TreeTracked
            } else {
                EffectScope::TreeUntracked
            };
            return (scope, rest.is_empty());
        }
        if let Some(root) = self.temp_root(path) {
            // The temp directory itself belongs to everybody, what is in it does not.
            return if root && !all {
                (EffectScope::Outside, true)
            } else {
                (EffectScope::Temp, false)
            };
        }
        if path.starts_with("/dev/") || path == "/dev" {
            return (EffectScope::Device, false);
        }
        if let Some(whole) = self.is_home(path) {
            return (EffectScope::Home, whole);
        }
        if matches!(
            path,
            "/home" | "/Users" | "/root" | "/mnt" | "/media" | "/srv" | "/dev" | "/Volumes"
        ) {
            return (EffectScope::System, true);
        }
        if let Some(system) = SYSTEM.iter().find(|system| below(path, system)) {
            return (EffectScope::System, path == *system);
        }
        (EffectScope::Outside, path.matches('/').count() < 2)
    }
}

/// Whether a path is a device file that discards or generates data.
pub(crate) fn is_harmless_device(path: &str) -> bool {
    matches!(
        path,
        "/dev/null"
            | "/dev/zero"
            | "/dev/stdout"
            | "/dev/stderr"
            | "/dev/stdin"
            | "/dev/tty"
            | "/dev/random"
            | "/dev/urandom"
            | "/dev/full"
    ) || path.starts_with("/dev/fd/")
        || path.starts_with("/dev/pts/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes() {
        let context = ShellContext::default();
        let home = ShellContext { cwd: Some("~"), ..ShellContext::default() };
        let inside = ShellContext {
            cwd: Some("/home/me/app"),
            home: Some("/home/me"),
            ..ShellContext::default()
        };
        let writable = ShellContext { writable: &["/home/me/notes"], ..inside };
        for (context, path, scope) in [
            (&context, "src/main.rs", EffectScope::TreeUntracked),
            (&context, "node_modules", EffectScope::TreeArtefact),
            (&context, ".git/config", EffectScope::VcsMetadata),
            (&context, "../x/y", EffectScope::Outside),
            (&context, "/tmp/../etc/x", EffectScope::System),
            (&context, "/tmp/*", EffectScope::Temp),
            (&context, "/tmp", EffectScope::Outside),
            (&context, "~/x", EffectScope::Home),
            (&context, "/dev/sda", EffectScope::Device),
            (&context, "/home", EffectScope::System),
            (&home, "node_modules", EffectScope::Home),
            (&inside, "src", EffectScope::TreeUntracked),
            (&inside, "~/app/src", EffectScope::TreeUntracked),
            (&inside, "..", EffectScope::Home),
            (&inside, "~/notes/x", EffectScope::Home),
            (&writable, "~/notes/x", EffectScope::TreeUntracked),
            (&writable, "src", EffectScope::TreeUntracked),
        ] {
            let start = context.start();
            assert_eq!(context.place(Some(&start), path).scope, scope, "{path}");
        }
        assert!(context.place(Some(TREE), "./*").whole);
        assert!(context.place(Some(TREE), ".").whole);
    }
}
