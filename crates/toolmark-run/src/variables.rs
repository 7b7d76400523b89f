//! The environment of a trial: empty except for variables that programs generally need and those
//! that the spec names.

use crate::mask::Mask;
use std::collections::BTreeMap;
use std::ffi::OsString;
use toolmark_grade::run_plan::{Variable, VariableValue};
use toolmark_hosts::launch::Launch;

/// Variables passed to every program: program paths, language and network settings.
const PASSED: &[&str] = &[
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TERM",
    "USER",
    "LOGNAME",
    "SHELL",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
];

/// Environment variables with their values.
#[derive(Debug, Clone, Default)]
pub struct Environ {
    values: BTreeMap<String, OsString>,
    /// Names of the variables that are inherited from the user and may be secret.
    secret: Vec<String>,
}

/// Looks up a variable.
pub type VariableLookup<'a> = &'a (dyn Fn(&str) -> Option<OsString> + Sync);

impl Environ {
    /// Returns the variables for every program.
    #[must_use]
    pub fn base(lookup: VariableLookup<'_>) -> Self {
        let mut environ = Self::default();
        for name in PASSED {
            if let Some(value) = lookup(name) {
                environ.set(name, value);
            }
        }
        environ
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.values.insert(name.to_owned(), value.into());
    }

    /// Adds the API keys and addresses of a host that are set.
    pub fn pass_host(&mut self, launch: &Launch, lookup: VariableLookup<'_>) {
        for name in launch.passes {
            if let Some(value) = lookup(name) {
                self.set(name, value);
                self.secret.push((*name).to_owned());
            }
        }
    }

    /// Adds the variables of a spec. Returns those that are not set.
    pub fn add(&mut self, variables: &[Variable], lookup: VariableLookup<'_>) -> Vec<String> {
        let mut missing = Vec::new();
        for variable in variables {
            match &variable.value {
                VariableValue::Literal(value) => self.set(&variable.name, value),
                VariableValue::Inherited { name, required } => match lookup(name) {
                    Some(value) => self.set(&variable.name, value),
                    None if *required => missing.push(name.clone()),
                    None => {}
                },
            }
            self.secret.push(variable.name.clone());
        }
        missing
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// The variables as a process takes them.
    #[must_use]
    pub fn pairs(&self) -> Vec<(OsString, OsString)> {
        self.values.iter().map(|(name, value)| (name.into(), value.clone())).collect()
    }

    /// Returns a mask for the values that may be secret.
    #[must_use]
    pub(crate) fn mask(&self) -> Mask {
        let names = self.secret.iter().filter(|name| !is_plain(name));
        Mask::new(names.filter_map(|name| self.values.get(name)?.to_str()))
    }
}

/// Whether variables with this name hold addresses or options rather than secrets. Masking them
/// would make traces hard to read without protecting anything.
fn is_plain(name: &str) -> bool {
    let plain = ["URL", "MODEL", "REGION", "TYPE", "API", "OFFLINE", "RETRIES", "CONFIG", "PATH"];
    let name = name.to_uppercase();
    let is_key = ["KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CRED"];
    let last = name.rsplit('_').next().unwrap_or(&name);
    plain.contains(&last) && !is_key.iter().any(|word| last.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(name: &str) -> Option<OsString> {
        match name {
            "PATH" => Some("/bin".into()),
            "MY_KEY" => Some("value-of-my-key".into()),
            "SOME_BASE_URL" => Some("http://127.0.0.1:1234".into()),
            "UNRELATED" => Some("x".into()),
            _ => None,
        }
    }

    #[test]
    fn only_what_is_named_is_passed_on() {
        let mut environ = Environ::base(&lookup);
        let variables = [
            Variable::new("KEY", "${{ MY_KEY }}"),
            Variable::new("MODE", "test"),
            Variable::inherited("NOT_SET"),
            Variable::inherited("SOME_BASE_URL"),
        ];
        assert_eq!(environ.add(&variables, &lookup), ["NOT_SET"]);
        assert_eq!(environ.names().collect::<Vec<_>>(), ["KEY", "MODE", "PATH", "SOME_BASE_URL"]);
        let mask = environ.mask();
        let text = "value-of-my-key test http://127.0.0.1:1234";
        assert_eq!(mask.apply_text(text), "[redacted] test http://127.0.0.1:1234");
    }
}
