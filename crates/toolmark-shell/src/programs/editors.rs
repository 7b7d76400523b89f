//! Editors in scripts: `vim`, `ex` and `ed` with commands that run programs, delete files or empty
//! the edited file.
//!
//! ```denied
//! vim -es -c '!rm -rf src' -c q
//! vim -es -c 'silent !rm -rf /srv/data' -c 'qa!'
//! nvim --headless +'call system("rm -rf /srv/data")' +q
//! nvim --headless -c 'lua os.execute("rm -rf /srv/data")' +q
//! ed -s f <<< '!rm -rf /srv/data'
//! ```
//! ```asked
//! ex -sc '%d|x' src/a.ts
//! ex -s +'%d' -cwq src/a.ts
//! printf '%%d\nwq\n' | ed -s src/a.ts
//! vim -Es +'bufdo %d' +wall +q src/*.rs
//! ```
//! ```allowed
//! vim README.md
//! nvim +PlugInstall +qall
//! ex -sc '%s/a/b/g|x' x.txt
//! ed -s x.txt <<< $'1p\nq'
//! ed -s x.txt <<< $'3d\nw\nq'
//! vim +42 src/main.rs
//! vim -c 'set nu' x
//! ```

use crate::effects::EffectScope;
use crate::inline::{self, Language};
use crate::pipes::Flow;
use crate::program::Program;
use crate::run::CommandRun;
use crate::write;

/// Words that may precede a command without changing its effect.
const MODIFIERS: &[&str] = &[
    "silent!",
    "silent",
    "sil!",
    "sil",
    "noautocmd",
    "noa",
    "keepjumps",
    "keepalt",
    "bufdo",
    "argdo",
    "windo",
    "tabdo",
    "verbose",
    "exe",
    "execute",
    "call",
    "normal!",
    "normal",
];

/// Combined effect of the commands.
#[derive(Default)]
struct EditorEffect {
    empties: bool,
    writes: bool,
}

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let mut edit = EditorEffect::default();
    for text in commands(run) {
        command(run, &text, &mut edit);
    }
    scripts(run);
    let is_line_editor = matches!(run.name, "ed" | "ex" | "red");
    let grammar = if is_line_editor {
        Program::open("c= p=")
    } else {
        Program::open("c= S= s= u= l= cmd= startuptime=")
    };
    let call = run.call;
    for arg in grammar.parse(run.args).operands {
        let place = run.analyzer.place(&arg.text);
        let persists = write::persists(run.analyzer.context, &place.path).is_some();
        if arg.text.starts_with('+') {
            continue;
        }
        if edit.empties && edit.writes {
            run.analyzer.empty_file(arg, run.name, call);
        }
        if is_line_editor && edit.writes {
            run.analyzer.write_file(arg, false, run.name, call);
        } else if place.scope == EffectScope::System || persists {
            run.analyzer.write_file(arg, true, run.name, call);
        }
    }
}

/// Returns the commands of an editor: from options, as `+command`, and line by line.
fn commands(run: &CommandRun<'_, '_>) -> Vec<String> {
    let mut out = Vec::new();
    let mut previous = "";
    for arg in run.args {
        let text = arg.text.as_str();
        let takes_next = matches!(previous, "-c" | "--cmd")
            || !previous.starts_with("--") && previous.starts_with('-') && previous.ends_with('c');
        if takes_next {
            out.push(text.to_owned());
        } else if let Some(command) = text.strip_prefix('+').or_else(|| {
            // `-cwq` is `-c wq`.
            text.strip_prefix("-c").filter(|rest| !rest.is_empty())
        }) {
            out.push(command.to_owned());
        }
        previous = if takes_next { "" } else { text };
    }
    if let Flow::Text(text) = &run.call.input
        && matches!(run.name, "ed" | "ex" | "red")
    {
        out.extend(text.lines().map(str::to_owned));
    }
    out
}

/// Analyzes scripts that the session wrote: `vim -S FILE`, `nvim -l FILE`.
fn scripts(run: &mut CommandRun<'_, '_>) {
    let pairs: Vec<(bool, String)> = run
        .args
        .windows(2)
        .filter_map(|pair| match pair {
            [flag, file] if matches!(&*flag.text, "-S" | "-s" | "-l") => {
                Some((flag.text == "-l", file.text.clone()))
            }
            _ => None,
        })
        .collect();
    for (is_lua, file) in pairs {
        let text = match (&run.call.input, file.as_str()) {
            (Flow::Text(text), "/dev/stdin" | "-") => Some(text.clone()),
            _ => run.analyzer.script_text(&file),
        };
        let Some(text) = text else { continue };
        if is_lua {
            inline::scan(run, Language::Other, &text);
        } else {
            let mut edit = EditorEffect::default();
            text.lines().take(256).for_each(|line| command(run, line, &mut edit));
        }
    }
}

fn command(run: &mut CommandRun<'_, '_>, text: &str, edit: &mut EditorEffect) {
    let mut text = text.trim().trim_start_matches(':').trim_start();
    while let Some((first, rest)) = text.split_once(' ')
        && MODIFIERS.contains(&first)
    {
        text = rest.trim_start();
    }
    // A command in quotes is one that `execute` runs.
    let bare = text.trim_matches(['"', '\'']);
    // `!cmd`, `r !cmd`, `w !cmd`, `%!cmd`
    let shell = bare.split_once('!').filter(|(before, after)| {
        let before = before.trim();
        !after.trim().is_empty()
            && (matches!(
                before,
                "" | "r" | "read" | "w" | "write" | "%" | "." | "te" | "term" | "terminal"
            ) || before.chars().all(|c| c.is_ascii_digit() || ",$%.".contains(c)))
    });
    if let Some((_, command)) = shell {
        return run.shell_text(command);
    }
    if let Some(command) = bare.strip_prefix("terminal ").or_else(|| bare.strip_prefix("term ")) {
        return run.shell_text(command);
    }
    let languages = [
        ("lua ", Language::Other),
        ("py ", Language::Python),
        ("py3 ", Language::Python),
        ("python ", Language::Python),
        ("python3 ", Language::Python),
        ("pyx ", Language::Python),
        ("ruby ", Language::Ruby),
        ("rub ", Language::Ruby),
        ("perl ", Language::Perl),
        ("perldo ", Language::Perl),
    ];
    for (lead, language) in languages {
        if let Some(code) = text.strip_prefix(lead) {
            return inline::scan(run, language, code);
        }
    }
    if ["delete(", "system(", "systemlist(", "writefile(", "rename("]
        .iter()
        .any(|call| text.contains(call))
    {
        inline::scan(run, Language::Vim, text);
    }
    for part in text.split('|') {
        let part = part.trim().trim_matches(['"', '\'']);
        let part = part.strip_prefix("silent ").unwrap_or(part);
        edit.empties |= matches!(
            part,
            "%d" | "%d_"
                | "%d _"
                | "%delete"
                | "%de"
                | "1,$d"
                | "1,$delete"
                | "0,$d"
                | ",d"
                | "g/^/d"
                | "g/./d"
                | "g/.*/d"
                | "ggdG"
                | "%c"
        );
        edit.writes |= matches!(
            part.trim_end_matches('!'),
            "w" | "wq"
                | "x"
                | "xit"
                | "wa"
                | "wall"
                | "wqa"
                | "wqall"
                | "xa"
                | "xall"
                | "up"
                | "update"
                | "write"
                | "ZZ"
                | "W"
        );
    }
}
