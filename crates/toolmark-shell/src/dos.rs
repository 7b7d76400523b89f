//! Translation of `cmd.exe` command lines and PowerShell variables to shell syntax: carets and
//! `%VAR%` are resolved, backslashes become slashes.

use crate::lookup::NameLookup;
use std::borrow::Cow;

/// Maximum length of a text that is rewritten, in bytes.
const LONGEST: usize = 64 << 10;

/// Commands that exist only in `cmd.exe`, or that take options with a slash there.
const COMMANDS: &[&str] = &[
    "cmd",
    "%comspec%",
    "del",
    "erase",
    "rd",
    "rmdir",
    "format",
    "deltree",
    "copy",
    "move",
    "ren",
    "attrib",
    "robocopy",
    "xcopy",
    "forfiles",
    "start",
    "reg",
    "takeown",
    "cipher",
    "vssadmin",
    "wbadmin",
    "bcdedit",
    "for",
    "if",
    "call",
    "type",
    "powershell",
    "pwsh",
    "remove-item",
    "ri",
];

static KNOWN: NameLookup<64> = NameLookup::new(&[COMMANDS]);

/// Returns the text in shell syntax; `None` if it is not a Windows command line.
pub(crate) fn as_shell(text: &str) -> Option<String> {
    if text.len() > LONGEST {
        return None;
    }
    // A Windows command line contains a character that most others lack.
    if !text.bytes().any(|b| matches!(b, b'\\' | b'%' | b'/' | b'$')) {
        return None;
    }
    let plain = without_carets(text);
    let ends = |b: &u8| matches!(b, b'&' | b'|' | b'\n' | b';' | b'(');
    let is_one = || {
        let mut parts = plain.as_bytes().split(ends).map(std::str::from_utf8);
        may_be_of_windows(plain.as_bytes()) && parts.any(|part| part.is_ok_and(is_command))
    };
    let has_variable = plain.match_indices('$').any(|(at, _)| {
        let name = plain.get(at + 1..at + 5);
        name.is_some_and(|name| name.eq_ignore_ascii_case("env:"))
    });
    if !has_variable && !is_one() {
        return None;
    }
    let plain = without_loops(&plain);
    let resolved = with_variables(&plain).replace('\\', "/");
    (resolved != text).then_some(resolved)
}

/// Returns whether a word of a text may look like one of Windows. Most texts contain nothing like
/// it, which is detected without splitting them.
fn may_be_of_windows(text: &[u8]) -> bool {
    let ends_word = |b: Option<&u8>| {
        b.is_none_or(|b| {
            let is_sign = matches!(b, b'\x0b' | b'&' | b'|' | b';' | b'(');
            is_sign || b.is_ascii_whitespace() || !b.is_ascii()
        })
    };
    // `/s`
    let is_option = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        let rest = text.get(at + 1..).unwrap_or_default();
        let is_letter = |b: &&u8| b.is_ascii_alphabetic() || **b == b':';
        let length = rest.iter().take(6).take_while(is_letter).count();
        (1..6).contains(&length) && ends_word(before) && ends_word(rest.get(length))
    };
    text.iter().enumerate().any(|(at, byte)| match byte {
        b'\\' | b'%' => true,
        b'/' => is_option(at),
        _ => false,
    })
}

/// Returns whether a part of a line begins with such a command and looks like one of Windows.
fn is_command(part: &str) -> bool {
    let mut words = part.split_whitespace();
    let first = words.next().unwrap_or("").trim_start_matches('@');
    let first = first.rsplit(['\\', '/']).next().unwrap_or("").trim_matches('"');
    let parts = first.len().checked_sub(".exe".len()).and_then(|at| first.split_at_checked(at));
    let first = match parts {
        Some((stem, end)) if end.eq_ignore_ascii_case(".exe") => stem,
        _ => first,
    };
    let is_option = |word: &str| {
        let rest = word.strip_prefix('/').unwrap_or("");
        !rest.is_empty()
            && rest.len() < 6
            && rest.chars().all(|c| c.is_ascii_alphabetic() || c == ':')
    };
    let is_windows =
        |word: &str| is_option(word) || word.contains('\\') || word.matches('%').count() > 1;
    let first = match first.bytes().any(|b| b.is_ascii_uppercase()) {
        true => Cow::Owned(first.to_ascii_lowercase()),
        false => Cow::Borrowed(first),
    };
    let is_known = KNOWN.has(&first) || crate::programs::windows::knows(&first);
    is_known && (first == "%comspec%" || words.any(is_windows))
}

/// Replaces `for /r C:\\Data %f in (*) do del "%f"` with the command it repeats, applied to the
/// loop's files.
fn without_loops(text: &str) -> Cow<'_, str> {
    let lower = text.to_ascii_lowercase();
    let Some(start) = lower.find("for /") else { return Cow::Borrowed(text) };
    let Some(body) = lower.get(start..).and_then(|rest| rest.find(" do ")).map(|at| start + at)
    else {
        return Cow::Borrowed(text);
    };
    let head = text.get(start + 4..body).unwrap_or("");
    let Some(at) = head.find('%') else { return Cow::Borrowed(text) };
    let variable: String =
        head.get(at..).unwrap_or("").chars().take_while(|c| !c.is_whitespace()).collect();
    let kind = head.get(..2).unwrap_or("").to_ascii_lowercase();
    let root = head.get(2..at).unwrap_or("").trim().trim_matches('"');
    let set = head.split_once('(').map_or("", |(_, rest)| rest.trim_end().trim_end_matches(')'));
    let over = match kind.as_str() {
        "/r" if !root.is_empty() => format!("{root}\\*"),
        "/r" | "/d" | "/l" if !set.trim().is_empty() => set.trim().to_owned(),
        // The output of another command.
        _ => "%FOUND%".to_owned(),
    };
    let command = text.get(body + 4..).unwrap_or("");
    let command = command.trim_start_matches('@').replace(&variable, &over);
    Cow::Owned(format!("{}{command}", text.get(..start).unwrap_or("")))
}

/// Removes carets: `d^el` is `del`; a caret before a line end joins lines.
fn without_carets(text: &str) -> Cow<'_, str> {
    if !text.contains('^') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '^' => out.extend(chars.next().filter(|next| *next != '\n')),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Rewrites `%USERPROFILE%` and `$env:TEMP` as paths if their location is known, and as shell
/// variables otherwise.
fn with_variables(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['%', '$']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '(' | ')');
        if let Some(inner) = from.strip_prefix('%') {
            // `%VAR:~0,1%` is a part of the value.
            let end = inner.find('%').filter(|end| {
                let name = inner.get(..*end).unwrap_or("");
                let name = name.split(':').next().unwrap_or("");
                !name.is_empty() && name.chars().all(is_name)
            });
            if let Some(end) = end {
                let name = inner.get(..end).unwrap_or("");
                out.push_str(&value(name));
                rest = inner.get(end + 1..).unwrap_or("");
                continue;
            }
        } else if from.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("$env:")) {
            let name = from.get(5..).unwrap_or("");
            let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let (name, after) = name.split_at(end.unwrap_or(name.len()));
            out.push_str(&value(name));
            rest = after;
            continue;
        }
        out.push_str(from.get(..1).unwrap_or(""));
        rest = from.get(1..).unwrap_or("");
    }
    out.push_str(rest);
    out
}

pub(crate) fn value(name: &str) -> Cow<'static, str> {
    Cow::Borrowed(match name.to_ascii_uppercase().as_str() {
        "USERPROFILE" | "HOMEPATH" | "HOME" => "~",
        "HOMEDRIVE" => "",
        "SYSTEMDRIVE" => "C:",
        "TEMP" | "TMP" => "/tmp",
        "SYSTEMROOT" | "WINDIR" => "C:/Windows",
        "PROGRAMFILES" | "PROGRAMDATA" => "C:/ProgramData",
        "APPDATA" => "~/AppData/Roaming",
        "LOCALAPPDATA" => "~/AppData/Local",
        "COMSPEC" => "cmd",
        "CD" => ".",
        name => {
            let plain: String =
                name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            return Cow::Owned(format!("${{{plain}}}"));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::check;

    #[test]
    fn as_a_shell_would_have_it() {
        for (text, want) in [
            (r"del /s C:\data", Some("del /s C:/data")),
            (r"d^el /s %USERPROFILE%\docs", Some("del /s ~/docs")),
            ("rd /s /q %X%", Some("rd /s /q ${X}")),
            ("%COMSPEC% /c dir", Some("cmd /c dir")),
            ("ri -r $env:USERPROFILE/x", Some("ri -r ~/x")),
            ("rm -rf /tmp/x", None),
            (r"grep 'a\.b' f", None),
            ("echo 100% of $HOME", None),
            ("date +%Y%m", None),
        ] {
            assert_eq!(as_shell(text).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn decisions() {
        check(
            &[
                r"del /s /q C:\Users\me\docs",
                r"rd /s /q C:\Users\me\docs",
                r"rmdir /S /Q %USERPROFILE%\docs",
                r"cmd /c rd /s /q C:\Users\me\docs",
                r#"cmd.exe /c "del /f /s /q C:\Users\me\*""#,
                r"d^e^l /s /q C:\Users\me\docs",
                r"%COMSPEC% /c rd /s /q %USERPROFILE%",
                "format D: /q /y",
                "vssadmin delete shadows /all /quiet",
                r"robocopy C:\empty C:\Users\me\docs /MIR",
                r#"for /d %i in (C:\Users\*) do rmdir /s /q "%i""#,
                "Remove-Item -Recurse -Force $env:USERPROFILE\\docs",
            ],
            &["Remove-Item -Recurse $env:X", r#"for /r C:\Users\me\docs %f in (*) do del "%f""#],
            &[
                r"dir C:\Users\me",
                r"del build\app.log",
                r"rd /s /q node_modules",
                r"type C:\Users\me\app\README.md",
                r"cmd /c dir",
                r"copy a.txt b.txt",
                r"robocopy src dst /E",
                "rmdir /tmp/x",
                r"for /r src %f in (*.ts) do type %f",
            ],
        );
    }
}
