//! Programs that change files in place or write them: `sed -i`, `tee`,
//! `truncate`, editors in scripts.

use crate::effects::{Certainty, Kind, Reversibility, Scope};
use crate::options::Grammar;
use crate::run::Run;
use crate::write;

pub(super) fn run(run: &mut Run<'_, '_>) {
    let call = run.call;
    match run.name {
        "fallocate" => {
            let parsed = Grammar { short: "lo", long: &["length", "offset"], ..Grammar::default() }
                .parse(run.args);
            // More than most disks have left.
            let is_huge = parsed.value("l", "length").is_some_and(|size| {
                let digits = size.trim_end_matches(|c: char| !c.is_ascii_digit());
                let number: u64 = digits.parse().unwrap_or(0);
                let unit = size.get(digits.len()..).and_then(|unit| unit.chars().next());
                match unit {
                    Some('G' | 'g') => number >= 50,
                    Some('T' | 't' | 'P' | 'p') => number > 0,
                    _ => number >= 50 << 30,
                }
            });
            if is_huge {
                run.ask(Kind::StopService, &run.line(), Scope::System, "fills the disk");
            }
        }
        "truncate" => {
            let parsed =
                Grammar { short: "sr", long: &["size", "reference"], ..Grammar::default() }
                    .parse(run.args);
            let size = parsed.value("s", "size").unwrap_or("0");
            if parsed.informs() || size.starts_with(['+', '>']) {
                return;
            }
            for arg in &parsed.operands {
                let place = run.analyzer.place(&arg.text);
                let new = matches!(place.scope, Scope::Temp | Scope::TreeArtefact)
                    || (!size.starts_with('0') && !size.starts_with('-'));
                let level = if new { Reversibility::R2 } else { Reversibility::R4 };
                run.effect(Kind::Overwrite, &place.display, place.scope, level, "truncates a file");
            }
        }
        "tee" | "sponge" => {
            let parsed = Grammar { short: "", long: &["output-error"], ..Grammar::default() }
                .parse(run.args);
            if parsed.informs() {
                return;
            }
            for arg in &parsed.operands {
                run.analyzer.write_file(arg, parsed.has("a", "append"), run.name, call);
            }
        }
        "sed" | "gsed" => sed(run),
        "sort" | "split" => {
            let parsed = Grammar {
                short: "okStT",
                long: &["output", "key", "field-separator"],
                ..Grammar::default()
            }
            .parse(run.args);
            if let Some(given) = parsed.last("o", "output")
                && let Some(text) = given.value
            {
                let arg = crate::expand::Arg {
                    dynamic: given.dynamic,
                    ..crate::expand::Arg::plain(text)
                };
                run.analyzer.write_file(&arg, false, run.name, call);
            }
            for arg in &parsed.operands {
                run.analyzer.read_file(arg, run.name, call);
            }
        }
        "touch" | "mkdir" => {
            for arg in (Grammar { short: "mdrtA", ..Grammar::default() }).parse(run.args).operands {
                let place = run.analyzer.place(&arg.text);
                if let Some((Kind::Persist, level, why)) =
                    write::classify(run.analyzer.context, &place, true)
                {
                    // An empty directory takes no effect; one in place of a file may.
                    if run.name == "touch" || level > Reversibility::R3 {
                        run.effect(Kind::Persist, &place.display, place.scope, level, why);
                    }
                }
            }
        }
        "vim" | "vi" | "nvim" | "nano" | "ex" | "ed" => {
            // `-c '!command'` and `+!command`.
            let mut previous = "";
            for arg in run.args {
                let given = arg
                    .text
                    .strip_prefix('+')
                    .or(Some(arg.text.as_str()).filter(|_| matches!(previous, "-c" | "--cmd")));
                if let Some(command) =
                    given.and_then(|text| text.trim_start_matches(':').strip_prefix('!'))
                {
                    run.shell_text(command);
                }
                previous = arg.text.as_str();
            }
            let scripts: Vec<String> = run.args.iter().map(|arg| arg.text.clone()).collect();
            for text in scripts.iter().filter(|text| text.contains("delete(")) {
                crate::inline::scan(run, crate::inline::Language::Vim, text);
            }
            ed_commands(run);
            for arg in (Grammar { short: "cSsu", ..Grammar::default() }).parse(run.args).operands {
                let place = run.analyzer.place(&arg.text);
                if matches!(place.scope, Scope::System)
                    || write::persists(run.analyzer.context, &place.path).is_some()
                {
                    run.analyzer.write_file(arg, true, run.name, call);
                }
            }
        }
        _ => {}
    }
}

/// Lines that `ed` and `ex` read: `!command`, and `w` to write the file.
fn ed_commands(run: &mut Run<'_, '_>) {
    let crate::pipes::Flow::Text(text) = run.call.input.clone() else { return };
    if !matches!(run.name, "ed" | "ex") {
        return;
    }
    for command in text.lines().filter_map(|line| line.trim().strip_prefix('!')) {
        run.shell_text(command);
    }
    let writes = text.lines().any(|line| matches!(line.trim(), "w" | "wq" | "x" | "w!" | "wq!"));
    if writes {
        let call = run.call;
        let operands = run.args.iter().filter(|arg| !arg.text.starts_with('-'));
        for arg in operands.cloned().collect::<Vec<_>>() {
            run.analyzer.write_file(&arg, false, run.name, call);
        }
    }
}

fn sed(run: &mut Run<'_, '_>) {
    let call = run.call;
    let parsed = Grammar {
        short: "efl",
        long: &["expression", "file", "line-length"],
        ..Grammar::default()
    }
    .parse(run.args);
    if parsed.informs() {
        return;
    }
    let script_given = parsed.has("e", "expression") || parsed.has("f", "file");
    let given = parsed.options.iter().filter(|given| matches!(given.name, "e" | "expression"));
    let mut scripts: Vec<String> =
        given.filter_map(|given| given.value).map(str::to_owned).collect();
    if !script_given {
        scripts.extend(parsed.operands.iter().map(|arg| arg.text.clone()).find(|s| !s.is_empty()));
    }
    scripts.iter().for_each(|script| sed_commands(run, script));
    // `sed -i ''`: elsewhere the ending of the copy is a word of its own.
    let ending = usize::from(parsed.operands.first().is_some_and(|arg| arg.text.is_empty()));
    let skipped = ending + usize::from(!script_given);
    let files: Vec<_> = parsed.operands.iter().skip(skipped).copied().collect();
    let in_place = parsed.has("i", "in-place") || parsed.has("I", "");
    let quiet = parsed.has("n", "quiet") || parsed.has("", "silent");
    let names_only = quiet && matches!(&scripts[..], [script] if hides_values(script));
    for arg in files {
        if in_place {
            let place = run.analyzer.place(&arg.text);
            if !arg.dynamic && !arg.glob {
                run.analyzer.left.change(&place.path);
            }
            if !arg.dynamic
                && let Some((kind, level, why)) =
                    write::classify(run.analyzer.context, &place, true)
            {
                let level = if place.scope == Scope::System { Reversibility::R4 } else { level };
                run.effect(kind, &place.display, place.scope, level, why);
            }
        } else if !names_only {
            run.analyzer.read_file(arg, run.name, call);
        }
    }
}

/// `s/=.*$/=…/`: does a script of `sed` take away what stands behind every `=`, and
/// nothing else? Lines without one are shown unless `-n` is given.
fn hides_values(script: &str) -> bool {
    let mut chars = script.chars();
    let (Some('s'), Some(mark)) = (chars.next(), chars.next()) else { return false };
    let parts: Vec<&str> = chars.as_str().split(mark).collect();
    let [pattern, replacement, flags] = parts[..] else { return false };
    matches!(pattern, "=.*" | "=.*$" | "=..*" | "=..*$" | "=.\\+" | "=.\\+$")
        && !replacement.contains(['&', '\\'])
        && matches!(flags, "p" | "gp" | "pg")
}

/// Text in pieces at every mark that no backslash stands before.
fn split_unescaped(text: &str, mark: char) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == mark {
            pieces.push(String::new());
            continue;
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(c);
            piece.extend((c == '\\').then(|| chars.next()).flatten());
        }
    }
    pieces
}

/// `sed` runs what follows its command `e`, and with the flag `e` what a
/// replacement makes of the input.
fn sed_commands(run: &mut Run<'_, '_>, script: &str) {
    for line in script.split(['\n', ';']) {
        let address =
            |c: char| c.is_ascii_digit() || matches!(c, '$' | ',' | '!' | ' ' | '~' | '+');
        let command = line.trim_start_matches(address);
        // `/pattern/e command`
        let command = match command.strip_prefix('/').and_then(|rest| rest.split_once('/')) {
            Some((_, rest)) => rest.trim_start_matches(address),
            None => command,
        };
        if let Some(text) = command.strip_prefix("e ") {
            run.shell_text(text);
            continue;
        }
        if let Some(path) = command.strip_prefix("w ") {
            let call = run.call;
            run.analyzer.write_file(&crate::expand::Arg::plain(path.trim()), false, run.name, call);
            continue;
        }
        let mut chars = command.chars();
        let (Some('s'), Some(mark)) = (chars.next(), chars.next()) else { continue };
        let parts = split_unescaped(chars.as_str(), mark);
        if !mark.is_alphanumeric()
            && let [_, made, flags] = parts.as_slice()
            && flags.len() < 6
            && flags.chars().all(|c| c.is_ascii_alphanumeric())
            && flags.contains('e')
        {
            let (scope, certainty) = (Scope::Unknown, Certainty::Unresolved);
            let why = "runs text built at run time";
            run.shell_text(&made.replace('\\', ""));
            run.sure(Kind::ExecuteUntrusted, script, scope, Reversibility::R1, certainty, why);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::programs::check;

    #[test]
    fn writers() {
        check(
            &[
                "truncate -s 0 a.txt",
                "echo x | tee /etc/hostname",
                "sed -i s/a/b/ /etc/passwd",
                "echo x > /etc/passwd",
                ": > /var/log/syslog",
                "echo x > /dev/sda",
                "echo x > .git/HEAD",
                "vim -es -c '!rm -rf src' -c q",
                "chronic rm -rf src",
                "echo b > /proc/sysrq-trigger",
            ],
            &[
                "echo x >> ~/.bashrc",
                "echo x | tee ~/.profile",
                "echo x > .git/hooks/pre-push",
                "sed -i s/a/b/ ~/.zshrc",
                "echo x > /data/f",
                ": > src/x.rs",
                "> src/x.rs",
                "cp /dev/null src/x.rs",
            ],
            &[
                "echo x > f.txt",
                "ls >| out",
                "echo x >> log 2>&1",
                "tee -a /tmp/x",
                "sed -i s/a/b/ src/x.rs",
                "sed -i '' '/a,$/d' src/x.rs",
                "sed -n 1,5p f",
                "cat a > /dev/null",
                "truncate -s 1M /tmp/x",
                "make &> build.log",
                ": > build.log",
                "for x in a b; do echo $x; done > list.txt",
                "date > ~/t.txt",
                "touch a",
                "mkdir -p a/b",
                "sort -o a a",
                "cat > /tmp/x <<'E'\nrm -rf /\nE",
            ],
        );
    }
}
