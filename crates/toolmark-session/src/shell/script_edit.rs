//! Inline scripts that replace text in one file, as an editing tool does:
//! `python3 - <<'EOF'` with `open(path).read()`, `.replace(…)` and a write.

use super::stand_in::{Deed, Equivalence, StandIn};
use toolmark_shell::ir::{RedirectionKind, Script, Simple};

/// Maximum length of a script that is examined.
const LONGEST: usize = 16 << 10;

/// Returns the edit that a command line makes with an inline script, beside whatever else it does.
pub(super) fn script_edit(script: &Script) -> Option<StandIn> {
    toolmark_shell::commands(script).iter().find_map(|visit| {
        let program = visit.command.words.first()?.fixed()?;
        let program = program.rsplit('/').next()?;
        if !matches!(program, "python" | "python3" | "node" | "ruby") {
            return None;
        }
        let file = edited_file(&inline(visit.command)?)?;
        Some(StandIn {
            deed: Deed::Edit,
            program: program.to_owned(),
            target: Some(file),
            directory: None,
            fit: Equivalence::Near,
            span: None,
            is_numbered: false,
        })
    })
}

/// Returns the script that a command line passes to an interpreter.
fn inline(command: &Simple) -> Option<String> {
    let here = command.redirections.iter().find(|r| r.kind == RedirectionKind::HereDocument);
    if let Some(body) = here.and_then(|here| here.body.as_ref()) {
        return (body.text.len() <= LONGEST).then(|| body.text.clone());
    }
    let mut words = command.words.iter().skip(1);
    let option = words.next()?.fixed()?;
    let code = words.next()?.literal()?;
    (matches!(&*option, "-c" | "-e") && code.len() <= LONGEST).then_some(code)
}

/// Returns the file in which a script replaces texts, if it is a single one. Patterns and loops
/// over files are more than an editing tool does.
fn edited_file(script: &str) -> Option<String> {
    const MORE: &[&str] =
        &["re.sub", "glob(", "os.walk", "rglob", "iterdir", "readdir", "sys.argv"];
    const WRITES: &[&str] = &[".write(", "write_text(", "writeFileSync(", "File.write("];
    let has = |words: &[&str]| words.iter().any(|word| script.contains(word));
    if !script.contains(".replace(") || !has(WRITES) || has(MORE) {
        return None;
    }
    let mut files: Vec<&str> = script.lines().flat_map(paths_in).collect();
    files.dedup();
    let (file, others) = files.split_first()?;
    others.iter().all(|other| other == file).then(|| (*file).to_owned())
}

/// Returns the paths that a line of a script opens or gives a name.
fn paths_in(line: &str) -> impl Iterator<Item = &str> {
    let opens = ["open(", "Path(", "readFileSync(", "File.read("];
    line.split([';']).filter_map(move |part| {
        let part = part.trim();
        let at = opens.iter().find_map(|open| part.find(open).map(|at| at + open.len()));
        let assigned = || {
            let (name, value) = part.split_once('=')?;
            let is_name = name.trim().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            is_name.then(|| part.len() - value.trim_start().len())
        };
        let rest = part.get(at.or_else(assigned)?..)?;
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (path, after) = rest.get(1..)?.split_once(quote)?;
        let name = path.rsplit('/').next()?;
        let is_path = name.contains('.') && !path.contains([' ', '\\', '\n', '(', '{', '*']);
        (is_path && !path.is_empty() && !after.starts_with(quote)).then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use crate::shell::CommandLine;

    #[test]
    fn edits_by_inline_scripts() {
        for (text, file) in [
            (
                "cd /w\npython3 - <<'PY'\np=\"src/a.py\"; t=open(p).read()\nt = t.replace(\"x\", \"y\")\nopen(p,'w').write(t)\nPY\nmake test",
                Some("src/a.py"),
            ),
            (
                "python3 -c \"s=open('a.txt').read(); open('a.txt','w').write(s.replace('1','2'))\"",
                Some("a.txt"),
            ),
            (
                "python3 - <<'E'\nfrom pathlib import Path\nf = Path('a.md')\nf.write_text(f.read_text().replace('a', 'b'))\nE",
                Some("a.md"),
            ),
            // Two files, a pattern, or no edit.
            (
                "python3 - <<'E'\nfor p in ['a.md','b.md']:\n    s=open('a.md').read().replace('a','b')\n    open('b.md','w').write(s)\nE",
                None,
            ),
            (
                "python3 - <<'E'\nimport re\ns=open('a.md').read()\nopen('a.md','w').write(re.sub('a','b',s).replace('x','y'))\nE",
                None,
            ),
            ("python3 -c \"print(open('a.txt').read().replace('1','2'))\"", None),
            ("python3 fix.py", None),
        ] {
            let line = CommandLine::new(text);
            let found = line.script_edit().and_then(|found| found.target);
            assert_eq!(found.as_deref(), file, "{text}");
        }
    }
}
