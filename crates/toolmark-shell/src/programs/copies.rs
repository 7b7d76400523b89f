//! Programs that copy and move: `cp`, `mv`, `install`, `ln`, `rsync`, `scp`.
//!
//! ```denied
//! mv src /dev/null
//! mv /etc/passwd x
//! cp x /usr/bin/
//! cp -t /etc x
//! rsync -a --delete a/ /data/b/
//! rsync -a --del a/ h:/b
//! rsync -a --remove-source-files a/ h:b
//! scp ~/.ssh/id_rsa h:
//! scp -qvoProxyCommand='rm -rf /' a h:
//! mv file /etc/
//! install -m755 x /usr/local/bin/x
//! cp /etc/shadow /usr/x
//! mv src /tmp/old && rm -rf /tmp/old
//! mv src /tmp/ && rm -rf /tmp/src
//! mkdir -p /tmp/t; mv src lib /tmp/t; rm -rf /tmp/t
//! ```
//! ```asked
//! cp ~/.aws/credentials .
//! cp hook .git/hooks/pre-commit
//! cp x ~/.bashrc
//! rsync -a --delete a/ "$D"
//! mv .git .git.bak
//! ```
//! ```allowed
//! mv a b
//! cp -r a b
//! cp a ~/backup/
//! rsync -a a/ /dest/
//! rsync -an --delete a/ /dest/
//! rsync --delete --dry-run a h:b
//! cp .env.example .env
//! ln -s a b
//! scp h:x .
//! rsync -a --delete src/ dist/
//! rsync -a --exclude --delete a/ b/
//! mv /tmp/x .
//! mv src /tmp/old
//! mv node_modules /tmp/old && rm -rf /tmp/old
//! mv a.json /tmp/a.json && rm -f /tmp/a.json
//! mv src /tmp/old && rm -rf /tmp/other
//! mv /tmp/a /tmp/b && mv /tmp/b /tmp/a && rm -rf /tmp/a
//! cp .env .env.backup
//! ```

use crate::effects::{Certainty, EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::program::Program;
use crate::run::CommandRun;
use crate::secrets::{Secrecy, secrecy};
use crate::write;

pub(super) static PROGRAMS: &[Program] = &[
    Program {
        names: "cp|gcp",
        options: "a/archive attributes-only b backup=? c copy-contents d debug f/force H \
                  i/interactive keep-directory-symlink l/link L/dereference N n/no-clobber \
                  P/no-dereference p preserve=? no-preserve= parents R/recursive r reflink=? \
                  remove-destination s/symbolic-link S/suffix= sparse= strip-trailing-slashes \
                  t/target-directory= T u update=? v/verbose X x/one-file-system Z context=? help \
                  version",
        ..Program::NONE
    },
    Program {
        names: "mv|gmv",
        options: "b backup=? debug exchange f/force h i/interactive no-copy n/no-clobber \
                  strip-trailing-slashes S/suffix= t/target-directory= T u update=? v/verbose \
                  Z/context help version",
        ..Program::NONE
    },
    Program {
        names: "ln",
        options: "b backup=? d F/directory f/force h i/interactive L/logical n/no-dereference \
                  P/physical r/relative s/symbolic S/suffix= t/target-directory= T v/verbose help \
                  version",
        ..Program::NONE
    },
    Program {
        names: "install",
        options: "b backup=? B= c C/compare D debug d/directory f= g/group= h= l= M= m/mode= N= \
                  o/owner= p/preserve-timestamps preserve-context s/strip strip-program= S/suffix= \
                  t/target-directory= T U u v/verbose Z context=? help version",
        ..Program::NONE
    },
];

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    match run.name {
        "rsync" => rsync(run),
        "scp" | "sftp" => scp(run),
        _ => copy(run),
    }
}

/// Remembers a move into a temporary directory, which does not make the content temporary.
fn remember_moved(run: &mut CommandRun<'_, '_>, source: &Arg, target: &Arg) {
    let base = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let inside = format!("{}/{base}", target.text.trim_end_matches('/'));
    for to in [&target.text, &inside] {
        let place = run.analyzer.place(to);
        if place.scope == EffectScope::Temp {
            run.analyzer.moved.push((place.path, source.clone()));
        }
    }
}

fn copy(run: &mut CommandRun<'_, '_>) {
    let moves = matches!(run.name, "mv" | "gmv");
    let known = PROGRAMS.iter().find(|program| program.is_named(run.name));
    let parsed = known.unwrap_or(&Program::open("")).parse(run.args);
    if parsed.informs() {
        return;
    }
    let (target, sources): (Option<Arg>, &[&Arg]) = match parsed.last("t", "target-directory") {
        Some(given) => (
            given.value.map(|text| Arg { dynamic: given.dynamic, ..Arg::plain(text) }),
            &parsed.operands,
        ),
        None => match parsed.operands.split_last() {
            Some((last, rest)) if !rest.is_empty() => (Some((*last).clone()), rest),
            _ => (None, &parsed.operands),
        },
    };
    let Some(target) = target else { return };
    let call = run.call;
    for source in sources {
        let place = run.analyzer.place(&source.text);
        if source.text == "/dev/null" && !target.dynamic {
            let emptied = run.analyzer.place(&target.text);
            if !matches!(emptied.scope, EffectScope::Temp | EffectScope::TreeArtefact) {
                run.ask(EffectKind::Overwrite, &emptied.display, emptied.scope, "empties a file");
            }
        }
        if moves && !source.dynamic && !target.dynamic && place.scope != EffectScope::Temp {
            remember_moved(run, source, &target);
        }
        if moves {
            if target.text == "/dev/null" {
                let level = if place.scope == EffectScope::Temp {
                    Reversibility::R2
                } else {
                    Reversibility::R4
                };
                run.effect(
                    EffectKind::Delete,
                    &place.display,
                    place.scope,
                    level,
                    "moves files to /dev/null",
                );
            } else if (place.scope == EffectScope::System
                || (place.whole && place.scope == EffectScope::Home))
                && !source.dynamic
            {
                run.effect(
                    EffectKind::Delete,
                    &place.display,
                    place.scope,
                    Reversibility::R4,
                    "moves system files away",
                );
            } else if is_swept(run, source, &target) {
                let why = "moves files to where they are lost";
                run.sure(
                    EffectKind::Delete,
                    &source.text,
                    place.scope,
                    Reversibility::R3,
                    Certainty::Likely,
                    why,
                );
            } else if place.scope == EffectScope::VcsMetadata && place.whole {
                run.effect(
                    EffectKind::Delete,
                    &place.display,
                    place.scope,
                    Reversibility::R3,
                    "moves version control data away",
                );
            }
        } else if run.name != "ln"
            && !matches!(run.analyzer.place(&target.text).scope, EffectScope::TreeUntracked if secrecy(&source.text) == Some(Secrecy::Secret) && source.text.contains(".env"))
        {
            // A secret keeps its place only if it is copied within the tree.
            run.analyzer.read_file(source, run.name, call);
        }
        if secrecy(&place.path).is_some() && !target.dynamic {
            let path = run.analyzer.place(&target.text).path;
            run.analyzer.copies.push(path);
        }
    }
    if target.dynamic || target.text == "/dev/null" {
        return;
    }
    // Into a directory whose files take effect by themselves.
    for source in sources.iter().filter(|source| !source.dynamic) {
        let base = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or("");
        let inside = format!("{}/{base}", target.text.trim_end_matches('/'));
        let place = run.analyzer.place(&inside);
        if let Some((level, why)) = write::persists(run.analyzer.context, &place.path)
            && (target.text.ends_with('/')
                || write::persists(
                    run.analyzer.context,
                    &format!("{}/x", run.analyzer.place(&target.text).path),
                )
                .is_some())
        {
            run.effect(EffectKind::Persist, &place.display, place.scope, level, why);
        }
    }
    let keeps = parsed.has("n", "no-clobber") || parsed.has("b", "backup");
    let place = run.analyzer.place(&target.text);
    match write::classify(run.analyzer.context, &place, keeps) {
        // A copy to another place of the user's is ordinary work.
        Some((_, Reversibility::R3, _)) if place.scope == EffectScope::Outside => {
            run.effect(
                EffectKind::Overwrite,
                &place.display,
                place.scope,
                Reversibility::R2,
                "copies outside the work tree",
            );
        }
        Some((kind, level, why)) => run.effect(kind, &place.display, place.scope, level, why),
        None => {}
    }
}

/// Whether a move clears away many files: the whole tree, an operand known only at run time, or a
/// directory of the home moved to a place that is emptied automatically.
fn is_swept(run: &CommandRun<'_, '_>, source: &Arg, target: &Arg) -> bool {
    let place = run.analyzer.place(&source.text);
    let to = run.analyzer.place(&target.text).scope;
    let in_tree = matches!(place.scope, EffectScope::TreeTracked | EffectScope::TreeUntracked);
    let is_all = source.glob && matches!(&*source.text, "*" | "./*" | "**" | "**/*");
    let is_unknown =
        source.dynamic && source.glob && source.text.starts_with('$') && target.dynamic;
    is_unknown
        || to == EffectScope::Temp
            && (in_tree && is_all
                || matches!(place.scope, EffectScope::Home | EffectScope::Outside)
                    && !source.dynamic
                    && !source.text.contains('.'))
}

/// Whether an operand names another machine.
fn is_remote(text: &str) -> bool {
    let Some((host, _)) = text.split_once(':') else { return false };
    !host.is_empty() && !host.contains('/') && !host.starts_with('.') && host.len() > 1
}

/// Options of rsync with values; the others do not change what is read here.
const RSYNC: Program = Program::open(
    "e= f= T= M= B= rsh= exclude= include= filter= exclude-from= include-from= \
             files-from= temp-dir= bwlimit= partial-dir= log-file= backup-dir= suffix= \
             rsync-path= chmod= chown= max-size= min-size= timeout= port= out-format= \
             compare-dest= link-dest= max-delete= info= password-file=",
);

fn rsync(run: &mut CommandRun<'_, '_>) {
    let parsed = RSYNC.parse(run.args);
    if parsed.informs() || parsed.rehearses() || parsed.has("n", "") || parsed.exact("list-only") {
        return;
    }
    for given in &parsed.options {
        if matches!(given.name, "e" | "rsh" | "rsync-path")
            && let Some(text) = given.value.map(str::to_owned)
        {
            super::runners::suspect(run, |run| run.shell_text(&text));
        }
    }
    let Some((target, sources)) = parsed.operands.split_last() else { return };
    let deletes = parsed
        .options
        .iter()
        .any(|given| given.long && (given.name == "del" || given.name.starts_with("delete")));
    if deletes {
        let (scope, level, certainty) = destination(run, target);
        run.sure(
            EffectKind::Delete,
            &target.text,
            scope,
            level,
            certainty,
            "deletes files missing from the source",
        );
    }
    if parsed.exact("remove-source-files") || parsed.exact("remove-sent-files") {
        let path = run.analyzer.place(&target.text).path;
        run.analyzer.left.bring(&path);
        for source in sources {
            let place = run.analyzer.place(&source.text);
            run.effect(
                EffectKind::Delete,
                &place.display,
                place.scope,
                Reversibility::R4,
                "deletes the source",
            );
        }
    }
    let call = run.call;
    for source in sources {
        let place = run.analyzer.place(&source.text);
        if is_remote(&target.text) && secrecy(&place.path).is_some() {
            run.effect(
                EffectKind::SendOut,
                &source.text,
                EffectScope::Remote,
                Reversibility::R5,
                "sends a secret to another machine",
            );
        } else if is_remote(&target.text)
            && place.whole
            && matches!(place.scope, EffectScope::Home | EffectScope::System)
        {
            run.effect(
                EffectKind::SendOut,
                &source.text,
                EffectScope::Remote,
                Reversibility::R3,
                "sends a whole home directory to another machine",
            );
        } else if !is_remote(&source.text) {
            run.analyzer.read_file(source, run.name, call);
        }
    }
    if !is_remote(&target.text) && !target.dynamic && !sources.is_empty() {
        let place = run.analyzer.place(&target.text);
        if let Some((kind, level, why)) = write::classify(run.analyzer.context, &place, false)
            && place.scope != EffectScope::Outside
        {
            run.effect(kind, &place.display, place.scope, level, why);
        }
    }
}

fn destination(run: &CommandRun<'_, '_>, target: &Arg) -> (EffectScope, Reversibility, Certainty) {
    if is_remote(&target.text) {
        return (EffectScope::Remote, Reversibility::R5, Certainty::Proven);
    }
    if target.dynamic {
        return (EffectScope::Unknown, Reversibility::R4, Certainty::Unresolved);
    }
    let scope = run.analyzer.place(&target.text).scope;
    let level = if matches!(scope, EffectScope::Temp | EffectScope::TreeArtefact) {
        Reversibility::R2
    } else {
        Reversibility::R4
    };
    (scope, level, Certainty::Proven)
}

/// Reports a copy over the configuration of another machine.
fn configures(run: &mut CommandRun<'_, '_>, target: &Arg) {
    let Some((_, path)) = target.text.split_once(':').filter(|_| is_remote(&target.text)) else {
        return;
    };
    let starts = ["/etc/", "/usr/", "/boot/", "/lib/", "/root/", "/var/spool/cron", ".ssh/"];
    if starts.iter().any(|start| path.starts_with(start)) {
        let why = "replaces the configuration of another machine";
        run.ask(EffectKind::RemoteState, &target.text, EffectScope::Remote, why);
    }
}

fn scp(run: &mut CommandRun<'_, '_>) {
    let parsed = Program::open("c= D= F= i= J= l= o= P= S= X= b=").parse(run.args);
    for given in parsed.options.iter().filter(|given| given.name == "o") {
        if let Some(text) = given.value.and_then(|value| value.strip_prefix("ProxyCommand=")) {
            run.shell_text(text);
        }
    }
    let Some((target, sources)) = parsed.operands.split_last() else { return };
    // Files from another machine were not inspected.
    for source in sources.iter().filter(|source| is_remote(&source.text)) {
        let base = source.text.rsplit(['/', ':']).next().unwrap_or("");
        for file in [target.text.clone(), format!("{}/{base}", target.text.trim_end_matches('/'))] {
            let path = run.analyzer.place(&file).path;
            run.analyzer.downloads.push(path);
        }
    }
    configures(run, target);
    for source in sources {
        let secret =
            secrecy(&source.text).or_else(|| secrecy(&run.analyzer.place(&source.text).path));
        let copied = run.analyzer.is_copy(&run.analyzer.place(&source.text).path);
        if is_remote(&target.text) && (secret.is_some() || copied) {
            run.effect(
                EffectKind::SendOut,
                &source.text,
                EffectScope::Remote,
                Reversibility::R5,
                "sends a secret to another machine",
            );
        }
    }
    if !is_remote(&target.text) && !target.dynamic {
        let call = run.call;
        let place = run.analyzer.place(&target.text);
        if matches!(place.scope, EffectScope::System | EffectScope::Device) {
            run.analyzer.write_file(target, false, run.name, call);
        }
    }
}
