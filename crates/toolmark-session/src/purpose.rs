//! Purpose of a command: testing, building, searching or other. It is derived from the
//! programs and their first words, anywhere in a script.

use std::borrow::Cow;
use toolmark_shell::commands;
use toolmark_shell::ir::{Script, Simple, Word};

/// Purpose of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Runs tests.
    Tests,
    /// Builds, type-checks or lints.
    Builds,
    /// Searches, and fails if there are no matches.
    Searches,
    /// Any other purpose.
    Other,
}

/// Returns the purpose of a script: tests if it tests, else a build if it builds,
/// else a search where its last stage searches.
pub fn purpose(script: &Script) -> Purpose {
    let visits = commands(script);
    let mut found = Purpose::Other;
    for visit in &visits {
        match of_simple(visit.command) {
            Purpose::Tests => return Purpose::Tests,
            Purpose::Builds => found = Purpose::Builds,
            _ => {}
        }
    }
    let last = visits.iter().rev().find(|visit| !visit.position.nested);
    match (found, last.map(|last| words(last.command))) {
        (Purpose::Other, Some(last)) if searches(&last) => Purpose::Searches,
        _ => found,
    }
}

/// The commands of a script that test or build, each as its words.
pub fn check_commands(script: &Script) -> Vec<String> {
    let visits = commands(script);
    let checks = visits
        .iter()
        .filter(|visit| matches!(of_simple(visit.command), Purpose::Tests | Purpose::Builds));
    checks.map(|visit| words(visit.command).join(" ")).collect()
}

fn words(command: &Simple) -> Vec<Cow<'_, str>> {
    command.words.iter().take(8).map(|word| Word::fixed(word).unwrap_or_default()).collect()
}

fn searches(words: &[Cow<'_, str>]) -> bool {
    let name = words.first().map_or("", |word| program(word));
    match name {
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "pgrep" | "which" | "diff" | "cmp" | "test"
        | "[" => true,
        "command" => words.get(1).is_some_and(|word| word == "-v"),
        "git" => words.iter().skip(1).any(|word| {
            matches!(
                &**word,
                "grep" | "--quiet" | "--exit-code" | "--is-ancestor" | "--verify" | "--get"
            )
        }),
        _ => false,
    }
}

fn program(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

/// Programs that only run another program.
const WRAPPERS: &[&str] = &[
    "npx", "bunx", "uvx", "time", "nice", "env", "sudo", "exec", "timeout", "xvfb-run", "stdbuf",
    "rtk",
];

/// Options of package managers that select a part of the project.
const PART_OPTIONS: &[&str] =
    &["--filter", "-F", "--dir", "-C", "--workspace", "-w", "--prefix", "--cwd", "--project"];

/// Programs with a subcommand that runs another program: `poetry run pytest`.
const RUNNERS: &[&str] = &["poetry", "uv", "pipenv", "hatch", "rye", "bundle", "pdm"];

fn of_simple(command: &Simple) -> Purpose {
    let owned = words(command);
    let mut words: &[Cow<'_, str>] = &owned;
    while let [first, rest @ ..] = words {
        let name = program(first);
        if WRAPPERS.contains(&name) {
            // Options and numbers of the wrapper are skipped with it.
            let skipped = rest
                .iter()
                .take_while(|w| {
                    w.starts_with('-')
                        || w.starts_with(|c: char| c.is_ascii_digit())
                        || w.contains('=')
                })
                .count();
            words = rest.get(skipped..).unwrap_or_default();
        } else if RUNNERS.contains(&name) && rest.first().is_some_and(|w| w == "run" || w == "exec")
        {
            words = rest.get(1..).unwrap_or_default();
        } else {
            break;
        }
    }
    let [first, rest @ ..] = words else { return Purpose::Other };
    let is_value = |n: usize| {
        let before = n.checked_sub(1).and_then(|n| rest.get(n));
        before.is_some_and(|before| PART_OPTIONS.contains(&&**before))
    };
    let plain: Vec<&str> = rest
        .iter()
        .enumerate()
        .filter(|(n, w)| !w.starts_with('-') && !w.starts_with('+') && !is_value(*n))
        .map(|(_, w)| &**w)
        .collect();
    let verb = plain.first().copied().unwrap_or("");
    let is_asked = rest
        .iter()
        .any(|w| matches!(&**w, "--help" | "-h" | "--version" | "--list" | "--collect-only"));
    if is_asked {
        return Purpose::Other;
    }
    match program(first) {
        "pytest" | "py.test" | "tox" | "nox" | "jest" | "vitest" | "mocha" | "ava" | "rspec"
        | "phpunit" | "ctest" | "bats" | "gotestsum" | "nextest" => Purpose::Tests,
        "tsc" | "tsgo" | "gcc" | "g++" | "cc" | "clang" | "clang++" | "javac" | "rustc"
        | "ninja" | "eslint" | "prettier" | "tsp" | "biome" | "ruff" | "mypy" | "pyright"
        | "flake8" | "pylint" | "golangci-lint" | "clippy-driver" | "webpack" | "rollup"
        | "esbuild" | "xcodebuild" | "shellcheck" => Purpose::Builds,
        "cargo" => match verb {
            "test" | "nextest" => Purpose::Tests,
            "build" | "check" | "clippy" | "b" | "c" => Purpose::Builds,
            "t" => Purpose::Tests,
            _ => Purpose::Other,
        },
        "go" | "dotnet" | "swift" | "zig" | "mix" | "deno" | "sbt" | "lein" | "bazel" => match verb
        {
            "test" => Purpose::Tests,
            "build" | "vet" | "compile" | "check" => Purpose::Builds,
            _ => Purpose::Other,
        },
        "npm" | "pnpm" | "yarn" | "bun" | "mise" | "just" | "task" | "turbo" | "nx"
        | "composer" | "rake" | "rails" => {
            let verb = match verb {
                "run" | "run-script" | "exec" => plain.get(1).copied().unwrap_or(""),
                verb => verb,
            };
            of_target(verb)
        }
        "make" | "gmake" | "cmake" => {
            match plain.iter().map(|word| of_target(word)).find(|p| *p == Purpose::Tests) {
                Some(tests) => tests,
                None if plain.iter().any(|word| matches!(*word, "install" | "clean")) => {
                    Purpose::Other
                }
                None => Purpose::Builds,
            }
        }
        "mvn" | "gradle" | "gradlew" | "mvnw" => {
            let is_test = plain.iter().any(|word| matches!(*word, "test" | "verify" | "check"));
            if is_test { Purpose::Tests } else { Purpose::Builds }
        }
        "python" | "python3" | "py" => {
            match rest
                .iter()
                .position(|w| w == "-m")
                .and_then(|at| rest.get(at + 1))
                .map(|word| &**word)
            {
                Some("pytest" | "unittest" | "nose" | "tox") => Purpose::Tests,
                Some("django") if plain.contains(&"test") => Purpose::Tests,
                Some("mypy" | "ruff" | "flake8" | "pylint" | "compileall" | "py_compile") => {
                    Purpose::Builds
                }
                _ if matches!(program(verb), "runtests.py" | "manage.py") => {
                    match program(verb) == "runtests.py" || plain.get(1) == Some(&"test") {
                        true => Purpose::Tests,
                        false => Purpose::Other,
                    }
                }
                _ => Purpose::Other,
            }
        }
        "node" if rest.iter().any(|w| w == "--test") => Purpose::Tests,
        _ => Purpose::Other,
    }
}

/// Returns the purpose of a task runner's target, by its name.
fn of_target(name: &str) -> Purpose {
    let start = name.split([':', '-', '_', '.']).next().unwrap_or(name);
    match start {
        "test" | "tests" | "t" | "vitest" | "jest" => Purpose::Tests,
        "build" | "check" | "lint" | "typecheck" | "tsc" | "compile" | "eslint" => Purpose::Builds,
        _ => Purpose::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_are_run_for() {
        use Purpose::{Builds, Other, Searches, Tests};
        for (text, want) in [
            ("cargo test -p x 2>&1 | tail -20", Tests),
            ("cd a && npm run test:unit", Tests),
            ("npx vitest run", Tests),
            ("timeout 60 poetry run pytest -q", Tests),
            ("python3 -m pytest a", Tests),
            ("python manage.py test", Tests),
            ("make -j4 check", Builds),
            ("make test", Tests),
            ("go vet ./...", Builds),
            ("pnpm --filter web test", Tests),
            ("pnpm --filter @a/web exec tsc --noEmit", Builds),
            ("npx tsc --noEmit", Builds),
            ("pytest --version", Other),
            ("make install", Other),
            ("grep -rn x . | grep y", Searches),
            ("which foo", Searches),
            ("git diff --quiet", Searches),
            ("grep x a; cargo build", Builds),
            ("cat a | grep x; ls", Other),
            ("git log", Other),
            ("", Other),
        ] {
            assert_eq!(purpose(&toolmark_shell::parse(text)), want, "{text}");
        }
    }
}
