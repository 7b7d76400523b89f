//! API keys: their sources, and their removal from all output.
//!
//! A key is held in a [`Secret`], which cannot be printed, and is only ever written into a header
//! or a variable. Everything a server or a program returns is searched for the key before it is
//! shown, because servers repeat their input.

use crate::config::KeySource;
use crate::providers::{FaultKind, ProviderFault, Reply};
use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use toolmark_config::quoted;
use toolmark_process::{ProcessProgram, run};
use toolmark_redact::sanitize;

/// Replacement for a key.
const MASK: &str = "[key]";

/// Timeout of a program that prints the key.
const KEY_COMMAND_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum length of a message, in characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// Minimum length of a secret key, in bytes. Shorter keys are words such as `none` for local
/// servers: they are not secret, and removing them from a model's answer would damage its quotes.
const MIN_SECRET_BYTES: usize = 8;

/// A key, which cannot be printed.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl Secret {
    /// Creates a key that is valid in a header; `None` if it is empty.
    fn new(text: &str, place: &str) -> Result<Option<Self>, ProviderFault> {
        let text = text.trim();
        if !text.bytes().all(|b| matches!(b, 0x20..=0x7e)) {
            let message = format!("the key {place} has characters that are invalid in a header");
            return Err(ProviderFault::new(FaultKind::Key, message));
        }
        Ok((!text.is_empty()).then(|| Self(text.to_owned())))
    }

    /// Returns the key itself, for the one header or variable it is written to.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns the encodings in which the key may occur in a text.
    fn encodings(&self) -> Vec<String> {
        let json = serde_json::to_string(&self.0).unwrap_or_default();
        let json = json.strip_prefix('"').and_then(|json| json.strip_suffix('"'));
        let json = json.unwrap_or_default().to_owned();
        let encoded = percent_encode(&self.0);
        let mut all = vec![self.0.clone(), json.replace('/', "\\/"), json];
        all.extend([lower_hex(&encoded), encoded]);
        // Longest first: one within another would leave the rest of it.
        all.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        all.dedup();
        all.retain(|encoding| !encoding.is_empty());
        all
    }
}

/// Gets the key, if one is needed. Errors are a [`FaultKind::Key`]. Programs are started in
/// `directory`.
pub(crate) fn resolve(
    source: &KeySource,
    directory: &Path,
) -> Result<Option<Secret>, ProviderFault> {
    match source {
        KeySource::None => Ok(None),
        KeySource::Env(name) => {
            let missing =
                || ProviderFault::new(FaultKind::Key, format!("the variable {name} has no key"));
            let value = std::env::var_os(name).ok_or_else(missing)?;
            let place = format!("in the variable {name}");
            Secret::new(&value.to_string_lossy(), &place)?.ok_or_else(missing).map(Some)
        }
        KeySource::Command(words) => key_of_command(words, directory).map(Some),
    }
}

/// Gets the key from a program, which runs only once even if several models need it, because the
/// user may have to unlock the key. A failure is remembered too.
fn key_of_command(words: &[String], directory: &Path) -> Result<Secret, ProviderFault> {
    type SecretSlot = Arc<OnceLock<Result<Secret, ProviderFault>>>;
    static KEYS: Mutex<BTreeMap<(PathBuf, Vec<String>), SecretSlot>> = Mutex::new(BTreeMap::new());
    let place = (directory.to_owned(), words.to_owned());
    let cell = {
        let mut all = KEYS.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(place).or_default())
    };
    cell.get_or_init(|| run_key_command(words, directory)).clone()
}

fn run_key_command(words: &[String], directory: &Path) -> Result<Secret, ProviderFault> {
    let fault = |what: String| ProviderFault::new(FaultKind::Key, message(&what, &[]));
    let Some((name, args)) = words.split_first() else {
        return Err(fault("the key command is empty".to_owned()));
    };
    let mut program = ProcessProgram::new(name, directory);
    program.args = args.to_vec();
    program.timeout = KEY_COMMAND_TIMEOUT;
    let called = quoted(name);
    let finished = run(program).map_err(|why| fault(format!("the key command: {why}")))?;
    if finished.timed_out {
        let limit = KEY_COMMAND_TIMEOUT.as_secs();
        return Err(fault(format!("the key command {called} took longer than {limit} s")));
    }
    // Its output may contain the key, so only the exit code is repeated.
    if finished.code != Some(0) {
        let how = finished.code.map_or("by a signal".into(), |code| format!("with code {code}"));
        return Err(fault(format!("the key command {called} ended {how}")));
    }
    let first = finished.stdout.lines().next().unwrap_or_default();
    let place = format!("from the command {called}");
    Secret::new(first, &place)?
        .ok_or_else(|| fault(format!("the key command {called} printed no key")))
}

/// Masks the key in a text, in every encoding.
pub(crate) fn scrub(text: &str, secret: &Secret) -> String {
    let mut out = text.to_owned();
    for encoding in secret.encodings() {
        if out.contains(&encoding) {
            out = out.replace(&encoding, MASK);
        }
    }
    out
}

/// Returns text for output: without keys and control characters, on one line and of bounded length.
pub(crate) fn message(text: &str, secrets: &[Secret]) -> String {
    let mut text = text.to_owned();
    // Before truncation, which could leave the beginning of a key.
    for secret in secrets {
        text = scrub(&text, secret);
    }
    let mut out = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let word = sanitize(word);
        length += usize::from(length > 0) + word.chars().count();
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&word);
        if length > MAX_MESSAGE_CHARS {
            let end = out.char_indices().nth(MAX_MESSAGE_CHARS).map_or(out.len(), |(at, _)| at);
            out.truncate(end);
            out.push('…');
            break;
        }
    }
    out
}

/// Masks keys in a result.
pub(crate) fn scrub_result(
    result: Result<Reply, ProviderFault>,
    secrets: &[Secret],
) -> Result<Reply, ProviderFault> {
    match result {
        Err(fault) => Err(ProviderFault { message: message(&fault.message, secrets), ..fault }),
        Ok(mut reply) => {
            for secret in secrets.iter().filter(|secret| secret.0.len() >= MIN_SECRET_BYTES) {
                let texts = reply.answers.iter_mut().chain(&mut reply.refusal);
                for text in texts.chain([&mut reply.text]) {
                    *text = scrub(text, secret);
                }
            }
            Ok(reply)
        }
    }
}

/// Percent-encodes a part of an address.
pub(crate) fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// Returns the encoding with `%2f` for `%2F`, which is equally valid.
fn lower_hex(encoded: &str) -> String {
    let mut parts = encoded.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (hex, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        let _ = write!(out, "%{}{rest}", hex.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret {
        Secret::new(text, "").unwrap().unwrap()
    }

    fn commanded(words: &[&str]) -> Result<Option<Secret>, ProviderFault> {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        resolve(&KeySource::Command(words), &std::env::temp_dir())
    }

    #[test]
    fn no_format_prints_it() {
        let key = secret("sk-very-secret");
        assert_eq!(
            format!("{key} {key:?} {:?} {:#?}", Some(&key), [&key]).matches("sk-").count(),
            0
        );
    }

    #[test]
    fn every_form_is_taken_out() {
        for (key, text, want) in [
            ("sk-abcdef", "key sk-abcdef, again sk-abcdef.", "key [key], again [key]."),
            ("a\"b\\c/d+e", r#"{"k": "a\"b\\c/d+e"}"#, r#"{"k": "[key]"}"#),
            ("a\"b\\c/d+e", r#"{"k": "a\"b\\c\/d+e"}"#, r#"{"k": "[key]"}"#),
            ("a\"b\\c/d+e", "?k=a%22b%5Cc%2Fd%2Be&x", "?k=[key]&x"),
            ("a\"b\\c/d+e", "?k=a%22b%5cc%2fd%2be&x", "?k=[key]&x"),
            ("sk-abcdef", "sk-abcde", "sk-abcde"),
        ] {
            assert_eq!(scrub(text, &secret(key)), want, "{key}");
        }
    }

    #[test]
    fn messages_are_short_lines_without_keys() {
        let key = [secret("sk-abcdef")];
        assert_eq!(message(" a\r\n\tb \u{1b}[31mred\u{7} ", &key), "a b red\u{2407}");
        // The key is where the message is truncated.
        let long = format!("{}sk-abcdef and more", "x".repeat(MAX_MESSAGE_CHARS - 4));
        let cut = message(&long, &key);
        assert_eq!(cut.chars().count(), MAX_MESSAGE_CHARS + 1);
        assert!(cut.ends_with("[key…"), "{cut}");
        assert_eq!(
            message(&"é ".repeat(MAX_MESSAGE_CHARS), &[]).chars().count(),
            MAX_MESSAGE_CHARS + 1
        );
        assert_eq!(message(&"y".repeat(MAX_MESSAGE_CHARS), &[]).chars().count(), MAX_MESSAGE_CHARS);
    }

    #[test]
    fn replies_are_scrubbed_but_not_of_words_that_are_no_keys() {
        let reply = |word: &str| Reply {
            answers: vec![format!("{{\"a\":\"{word}\"}}")],
            text: format!("say {word}"),
            refusal: Some(word.to_owned()),
            ..Reply::default()
        };
        let clean = scrub_result(Ok(reply("sk-abcdef")), &[secret("sk-abcdef")]).unwrap();
        assert_eq!(clean, reply("[key]"));
        assert_eq!(scrub_result(Ok(reply("EMPTY")), &[secret("EMPTY")]).unwrap(), reply("EMPTY"));
        let fault = ProviderFault::new(FaultKind::Server, "a EMPTY\nb");
        assert_eq!(scrub_result(Err(fault), &[secret("EMPTY")]).unwrap_err().message, "a [key] b");
    }

    #[test]
    fn a_missing_variable_is_named() {
        let fault = resolve(&KeySource::Env("TOOLMARK_NO_SUCH".into()), Path::new("")).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Key);
        assert_eq!(fault.message, "the variable TOOLMARK_NO_SUCH has no key");
        assert_eq!(resolve(&KeySource::None, Path::new("")), Ok(None));
    }

    #[cfg(unix)]
    #[test]
    fn programs_say_keys() {
        assert_eq!(commanded(&["printf", " k-1 \nk-2\n"]), Ok(Some(secret("k-1"))));
        for (words, want) in [
            (
                &["sh", "-c", "echo sk-leak; echo sk-leak >&2; exit 3"][..],
                "\"sh\" ended with code 3",
            ),
            (&["true"], "\"true\" printed no key"),
            (&["printf", "k\u{7}"], "invalid in a header"),
            (&["toolmark-no-such-program"], "toolmark-no-such-program"),
            (&[], "is empty"),
        ] {
            let fault = commanded(words).unwrap_err();
            assert_eq!(fault.kind, FaultKind::Key);
            assert!(fault.message.contains(want), "{fault}");
            assert!(!fault.message.contains("sk-leak"), "{fault}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_asked_once() {
        let dir = tempfile::tempdir().unwrap();
        let source = KeySource::Command(
            ["sh", "-c", "echo x >> asked; echo k-1234"].map(str::to_owned).to_vec(),
        );
        let ask = || resolve(&source, dir.path()).unwrap().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(ask);
            }
        });
        assert_eq!(ask(), secret("k-1234"));
        assert_eq!(std::fs::read_to_string(dir.path().join("asked")).unwrap(), "x\n");
    }
}
