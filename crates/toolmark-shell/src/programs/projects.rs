//! Files that a command line writes and then has a tool run: sources that are compiled or run, the
//! files that define the tasks of a project, playbooks.
//!
//! ```asked
//! printf 'int main(){ system("rm -rf /srv/data"); }' > x.c && gcc x.c -o x && ./x
//! echo 'rm -rf ~/code' > .envrc && direnv allow
//! cat > x.c <<'E'
//! | int main(){ execlp("rm","rm","-rf","/srv/m",(char*)0); }
//! | E
//! | gcc x.c && ./a.out
//! cat > main.go <<'E'
//! | package main
//! | import "os"
//! | func main(){ os.RemoveAll("/srv/data") }
//! | E
//! | go run main.go
//! cat > m.rs <<'E'
//! | fn main(){ std::fs::remove_dir_all("/srv/d").unwrap(); }
//! | E
//! | rustc m.rs && ./m
//! cat > conftest.py <<'E'
//! | import shutil; shutil.rmtree('/srv/data')
//! | E
//! | pytest
//! cat > p.yml <<'E'
//! | - hosts: all
//! |   tasks:
//! |     - command: rm -rf /var/lib/mysql
//! | E
//! | ansible-playbook p.yml
//! cat > p.yml <<'E'
//! | - hosts: all
//! |   tasks:
//! |     - file: path=/var/www state=absent
//! | E
//! | ansible-playbook p.yml
//! ```
//! ```allowed
//! cat > x.c <<'E'
//! | int main(){return 0;}
//! | E
//! | gcc x.c -o x && ./x
//! cat > x.c <<'E'
//! | int main(){ system("rm -rf /srv/data"); }
//! | E
//! cat > p.yml <<'E'
//! | - hosts: all
//! |   tasks:
//! |     - name: rm -rf /
//! |       ping:
//! | E
//! | ansible-playbook p.yml
//! ```

use super::runners::suspect;
use crate::effects::{Certainty, EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::inline::{self, Language};
use crate::run::CommandRun;

/// Way in which the file of a tool is read.
#[derive(Clone, Copy)]
enum ProjectReading {
    /// Every line is shell text.
    Shell,
    /// Indented lines are shell text.
    Recipes,
    /// YAML: values of command keys are shell text.
    Yaml,
    Code(Language),
}

/// Tools, with the files that they run without naming them.
const FILES: &[(&[&str], &[&str], ProjectReading)] = &[
    (&["direnv"], &[".envrc"], ProjectReading::Shell),
    (&["rake", "rails"], &["Rakefile", "rakefile"], ProjectReading::Code(Language::Ruby)),
    (&["bundle", "bundler"], &["Gemfile"], ProjectReading::Code(Language::Ruby)),
    (&["vagrant"], &["Vagrantfile"], ProjectReading::Code(Language::Ruby)),
    (&["pytest", "py.test"], &["conftest.py"], ProjectReading::Code(Language::Python)),
    (&["inv", "invoke"], &["tasks.py"], ProjectReading::Code(Language::Python)),
    (&["fab"], &["fabfile.py"], ProjectReading::Code(Language::Python)),
    (&["nox"], &["noxfile.py"], ProjectReading::Code(Language::Python)),
    (&["scons"], &["SConstruct"], ProjectReading::Code(Language::Python)),
    (&["doit"], &["dodo.py"], ProjectReading::Code(Language::Python)),
    (&["pip", "pip3", "uv", "pipx"], &["setup.py"], ProjectReading::Code(Language::Python)),
    (&["gulp"], &["gulpfile.js", "gulpfile.mjs"], ProjectReading::Code(Language::JavaScript)),
    (&["grunt"], &["Gruntfile.js"], ProjectReading::Code(Language::JavaScript)),
    (&["jake"], &["Jakefile"], ProjectReading::Code(Language::JavaScript)),
    (
        &["vite", "vitest"],
        &["vite.config.js", "vite.config.ts", "vitest.config.ts"],
        ProjectReading::Code(Language::JavaScript),
    ),
    (&["webpack"], &["webpack.config.js"], ProjectReading::Code(Language::JavaScript)),
    (&["rollup"], &["rollup.config.js"], ProjectReading::Code(Language::JavaScript)),
    (&["jest"], &["jest.config.js"], ProjectReading::Code(Language::JavaScript)),
    (
        &["eslint"],
        &["eslint.config.js", ".eslintrc.js"],
        ProjectReading::Code(Language::JavaScript),
    ),
    (&["cargo"], &["build.rs"], ProjectReading::Code(Language::Other)),
    (&["mix"], &["mix.exs"], ProjectReading::Code(Language::Other)),
    (
        &["gradle", "gradlew"],
        &["build.gradle", "build.gradle.kts"],
        ProjectReading::Code(Language::Other),
    ),
    (&["sbt"], &["build.sbt"], ProjectReading::Code(Language::Other)),
    (&["cmake"], &["CMakeLists.txt"], ProjectReading::Code(Language::Other)),
    (&["pre-commit"], &[".pre-commit-config.yaml"], ProjectReading::Yaml),
    (
        &["docker-compose", "podman-compose"],
        &["docker-compose.yml", "compose.yaml"],
        ProjectReading::Yaml,
    ),
    (&["tox"], &["tox.ini"], ProjectReading::Recipes),
    (&["ninja"], &["build.ninja"], ProjectReading::Yaml),
];

/// Whether a program is a compiler that makes a program from a source.
fn compiles(name: &str) -> bool {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'));
    matches!(
        base,
        "gcc"
            | "cc"
            | "c"
            | "clang"
            | "g++"
            | "c++"
            | "clang++"
            | "tcc"
            | "rustc"
            | "ghc"
            | "ocamlopt"
            | "ocamlfind"
            | "ocamlc"
            | "swiftc"
            | "dmd"
            | "ldc"
            | "gdc"
            | "fpc"
            | "gfortran"
            | "zig"
            | "nim"
            | "crystal"
            | "kotlinc"
            | "javac"
            | "go"
            | "mcs"
            | "csc"
            | "valac"
            | "gnatmake"
            | "musl-gcc"
            | "nvcc"
            | "odin"
            | "v"
    )
}

/// Whether a program runs a source at once, compiled or interpreted.
fn runs_sources(name: &str, first: &str) -> bool {
    match name {
        "go" | "dart" | "zig" | "v" | "crystal" | "scala-cli" | "odin" => {
            matches!(first, "run" | "test")
        }
        "nim" => matches!(first, "r" | "c" | "e" | "compile"),
        "cargo" => matches!(first, "run" | "script"),
        "dotnet" => matches!(first, "run" | "fsi" | "script"),
        "java" | "swift" | "rust-script" | "kotlinc" | "kotlin" | "scala" | "tcc" | "csi"
        | "fsi" | "dotnet-script" | "groovy" | "runghc" | "runhaskell" | "stack" | "ocaml"
        | "escript" | "gorun" | "cling" | "root" | "rdmd" => true,
        _ => false,
    }
}

fn is_source(file: &str) -> bool {
    let endings = [
        "c", "cc", "cpp", "cxx", "rs", "go", "java", "kt", "kts", "swift", "dart", "zig", "nim",
        "cr", "v", "hs", "ml", "d", "pas", "f90", "cs", "csx", "fsx", "scala", "sc", "groovy",
        "erl", "ex", "exs", "m", "vala", "adb", "cu",
    ];
    file.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending))
}

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    if matches!(run.name, "ansible-playbook" | "ansible-pull" | "ansible-runner") {
        playbooks(run);
    }
    if super::only_informs(run.args) {
        return;
    }
    super::tasks::run(run);
    let is_fed = matches!(run.call.input, crate::pipes::Flow::Text(_)) && compiles(run.name);
    if run.analyzer.made.is_empty() && !is_fed {
        if run.analyzer.context.facts.is_some() {
            sources(run);
        }
        return;
    }
    let is_compose = run.args.first().is_some_and(|arg| arg.text == "compose");
    let name = if is_compose { "docker-compose" } else { run.name };
    for (programs, files, reading) in FILES {
        if programs.contains(&name) {
            let texts: Vec<String> = files.iter().filter_map(|file| written(run, file)).collect();
            for text in texts {
                suspect(run, |run| read(run, &text, *reading));
            }
        }
    }
    sources(run);
}

/// Returns the content that the command line itself wrote into a file before.
pub(super) fn written(run: &CommandRun<'_, '_>, file: &str) -> Option<String> {
    let path = run.analyzer.place(file).path;
    run.analyzer.made.text(&path).map(str::to_owned)
}

/// Returns the text of a source that the command line or the session wrote.
fn source_text(run: &CommandRun<'_, '_>, file: &str) -> Option<String> {
    let path = run.analyzer.place(file).path;
    let is_own = || run.analyzer.context.facts.is_some_and(|facts| facts.made(&path));
    written(run, file).or_else(|| is_own().then(|| run.analyzer.script_text(file))?)
}

fn read(run: &mut CommandRun<'_, '_>, text: &str, reading: ProjectReading) {
    match reading {
        ProjectReading::Shell => run.shell_text(text),
        ProjectReading::Recipes => {
            for line in text.lines().filter(|line| line.starts_with([' ', '\t'])) {
                run.shell_text(line.trim_start_matches(['@', '-', ' ', '\t']));
            }
        }
        ProjectReading::Yaml => yaml(run, text),
        ProjectReading::Code(language) => inline::scan(run, language, text),
    }
}

/// Whether the value of a key is a command.
fn is_command_key(key: &str) -> bool {
    let key = key.rsplit('.').next().unwrap_or(key).trim_matches('"');
    matches!(
        key,
        "cmd"
            | "command"
            | "shell"
            | "raw"
            | "run"
            | "script"
            | "entry"
            | "sh"
            | "win_shell"
            | "win_command"
            | "entrypoint"
            | "argv"
            | "expect"
    )
}

/// Analyzes commands in YAML: values of command keys, items of lists, and the lines of a block.
fn yaml(run: &mut CommandRun<'_, '_>, text: &str) {
    for line in text.lines().take(1024) {
        let line = line.trim().trim_start_matches("- ").trim();
        let is_key = |key: &str| {
            !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "._-\"".contains(c))
        };
        let pair = line
            .split_once(':')
            .filter(|(key, rest)| is_key(key) && (rest.is_empty() || rest.starts_with(' ')));
        let command = match pair {
            Some((key, value)) if is_command_key(key) => value,
            Some(_) => continue,
            None => line,
        };
        let command = command.trim().trim_matches(['"', '\'']);
        if !command.is_empty() && !command.starts_with(['|', '>', '#', '[', '{']) {
            run.shell_text(command);
        }
    }
}

/// Analyzes a playbook that the command line or the session wrote.
fn playbooks(run: &mut CommandRun<'_, '_>) {
    let looks = |arg: &Arg| {
        matches!(&*arg.text, "--check" | "-C" | "--syntax-check" | "--list-tasks" | "--list-hosts")
    };
    if run.args.iter().any(looks) {
        return;
    }
    // `ansible-pull` fetches what it runs.
    if run.name == "ansible-pull" && !run.args.is_empty() {
        let (kind, level) = (EffectKind::ExecuteUntrusted, Reversibility::R3);
        run.effect(
            kind,
            &run.line(),
            EffectScope::Remote,
            level,
            "runs a playbook of a repository",
        );
    }
    let destroys = |arg: &&Arg| {
        let name = arg.text.rsplit('/').next().unwrap_or("");
        let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
        words.any(|word| matches!(word, "teardown" | "destroy" | "wipe" | "purge" | "decommission"))
    };
    let named = run.args.iter().filter(|arg| arg.text.ends_with(".yml")).find(destroys);
    if let Some(file) = named.map(|arg| arg.text.clone()) {
        let (scope, certainty) = (EffectScope::Remote, Certainty::Likely);
        let why = "runs a playbook that says it destroys";
        run.sure(EffectKind::RemoteState, &file, scope, Reversibility::R3, certainty, why);
    }
    let files: Vec<String> = run
        .args
        .iter()
        .filter(|arg| arg.text.ends_with(".yml") || arg.text.ends_with(".yaml"))
        .filter_map(|arg| run.analyzer.script_text(&arg.text))
        .collect();
    for text in files {
        suspect(run, |run| yaml(run, &text));
        if text.contains("state: absent") || text.contains("state=absent") {
            let (scope, certainty) = (EffectScope::Remote, Certainty::Likely);
            let why = "removes something from other machines";
            run.sure(
                EffectKind::RemoteState,
                "a playbook",
                scope,
                Reversibility::R5,
                certainty,
                why,
            );
        }
    }
}

/// Analyzes a program compiled from a source.
pub(crate) fn run_source(run: &mut CommandRun<'_, '_>, text: &str) {
    suspect(run, |run| inline::scan(run, Language::Other, text));
}

/// Analyzes sources that were just written: run at once, or compiled to a program that may be run.
fn sources(run: &mut CommandRun<'_, '_>) {
    let first = run.args.first().map_or("", |arg| arg.text.as_str());
    let runs = runs_sources(run.name, first);
    if !runs && !compiles(run.name) {
        return;
    }
    let files = run.args.iter().filter(|arg| is_source(&arg.text));
    let mut texts: Vec<(String, String)> =
        files.filter_map(|arg| Some((arg.text.clone(), source_text(run, &arg.text)?))).collect();
    // `gcc -xc -` reads what flows in; `java NAME` starts what was compiled.
    if let (true, crate::pipes::Flow::Text(text)) =
        (run.args.iter().any(|arg| arg.text == "-"), &run.call.input)
    {
        texts.push(("a.out".to_owned(), text.clone()));
    }
    let compiled = run.args.iter().filter(|_| runs).find_map(|arg| {
        let path = run.analyzer.place(&arg.text).path;
        run.analyzer.made.source(&path).map(str::to_owned)
    });
    if let Some(text) = compiled {
        run_source(run, &text);
    }
    // `go run .` takes what is there.
    if texts.is_empty() && run.args.iter().any(|arg| matches!(&*arg.text, "." | "./...")) {
        let usual = ["main.go", "src/main.rs", "main.zig", "main.v"];
        texts.extend(
            usual.iter().filter_map(|file| Some(((*file).to_owned(), source_text(run, file)?))),
        );
    }
    for (file, text) in texts {
        if runs {
            suspect(run, |run| inline::scan(run, Language::Other, &text));
        }
        let named = run.args.windows(2).find_map(|pair| match pair {
            [flag, path] if flag.text == "-o" => Some(path.text.clone()),
            _ => None,
        });
        let stem = file.rsplit_once('.').map_or(file.as_str(), |(stem, _)| stem).to_owned();
        let outputs = match named {
            Some(path) => vec![path],
            None => vec!["a.out".to_owned(), stem.rsplit('/').next().unwrap_or("").to_owned()],
        };
        for output in outputs {
            let path = run.analyzer.place(&output).path;
            run.analyzer.made.compile(&path, &text);
        }
    }
}
