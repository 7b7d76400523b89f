//! Names under which code imports modules and functions: `import subprocess as s`, `from shutil
//! import rmtree as r`, `const {rm} = require('fs/promises')`.

use super::Language;

/// Maximum number of names tracked.
const MAX_NAMES: usize = 64;

/// Returns the short names in the code with their full names.
pub(super) fn in_code(code: &str, language: Language) -> Vec<(String, String)> {
    let mut names = match language {
        Language::Python => python(code),
        Language::JavaScript => javascript(code),
        _ => Vec::new(),
    };
    names.retain(|(short, full)| short != full && is_name(short));
    names.truncate(MAX_NAMES);
    names
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

fn python(code: &str) -> Vec<(String, String)> {
    let mut names = Vec::new();
    for statement in code.split(['\n', ';']) {
        let statement = statement.trim();
        if let Some(rest) = statement.strip_prefix("import ") {
            for item in rest.split(',') {
                if let Some((module, short)) = item.split_once(" as ") {
                    names.push((short.trim().to_owned(), module.trim().to_owned()));
                }
            }
        } else if let Some((module, list)) =
            statement.strip_prefix("from ").and_then(|rest| rest.split_once(" import "))
        {
            for item in list.trim_matches(['(', ')', ' ']).split(',') {
                let (name, short) = item.split_once(" as ").unwrap_or((item, item));
                let full = format!("{}.{}", module.trim(), name.trim());
                names.push((short.trim().to_owned(), full));
            }
        }
    }
    names
}

fn javascript(code: &str) -> Vec<(String, String)> {
    let mut names = Vec::new();
    let places = code.match_indices("require(").chain(code.match_indices(" from "));
    for (at, _) in places.take(MAX_NAMES) {
        let module = code.get(at..).unwrap_or("").split(['\'', '"', '`']).nth(1).unwrap_or("");
        let module = module.trim_start_matches("node:");
        let module = match module {
            "fs/promises" | "fs-extra" | "graceful-fs" => "fs",
            module => module,
        };
        let before = code.get(..at).unwrap_or("");
        let statement = before.rsplit([';', '\n']).next().unwrap_or("");
        match (statement.find('{'), statement.rfind('}')) {
            (Some(open), Some(close)) if open < close => {
                for item in statement.get(open + 1..close).unwrap_or("").split(',') {
                    let parts = item.split_once(':').or_else(|| item.split_once(" as "));
                    let (name, short) = parts.unwrap_or((item, item));
                    names.push((short.trim().to_owned(), format!("{module}.{}", name.trim())));
                }
            }
            _ => {
                let left = statement.trim().trim_end_matches('=').trim();
                let short = left.split_whitespace().last().unwrap_or("");
                names.push((short.to_owned(), module.to_owned()));
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (language, code, short, full) in [
            (Language::Python, "import subprocess as s; s.run()", "s", "subprocess"),
            (Language::Python, "from shutil import rmtree as r\nr()", "r", "shutil.rmtree"),
            (Language::Python, "from os import (path, system)", "system", "os.system"),
            (Language::JavaScript, "const {rm}=require('fs/promises');rm()", "rm", "fs.rm"),
            (Language::JavaScript, "const {rm: z} = require('fs')", "z", "fs.rm"),
            (Language::JavaScript, "import {rmSync as z} from 'node:fs'", "z", "fs.rmSync"),
            (Language::JavaScript, "const c = require('child_process')", "c", "child_process"),
        ] {
            let found = in_code(code, language);
            assert!(found.contains(&(short.to_owned(), full.to_owned())), "{code} {found:?}");
        }
    }
}
