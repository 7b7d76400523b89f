//! Detection of paths that hold secrets. Content counts, metadata does not: each program's rules
//! decide what it reads.

use crate::context::ShellContext;
use crate::lookup::NameLookup;
use crate::paths::from_top;
use crate::protect::{PathNames, Protection};
use std::borrow::Cow;

/// Secrecy level of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrecy {
    /// Keys, passwords and tokens.
    Secret,
    /// Not secret, but should not leave the machine.
    Private,
}

/// Whether the file at `path` holds keys, passwords or tokens, judging by its name.
pub fn is_secret(path: &str) -> bool {
    secrecy(path) == Some(Secrecy::Secret)
}

impl ShellContext<'_> {
    /// Returns the secrecy of the file at `path`, by its name or by the caller's list.
    pub(crate) fn secrecy(&self, path: &str) -> Option<Secrecy> {
        let names = PathNames::of(path);
        let mut credentials =
            self.protected.iter().filter(|known| known.because == Protection::Credentials);
        let kept = credentials.any(|known| names.hit(known.path, false));
        if kept { Some(Secrecy::Secret) } else { secrecy(path) }
    }
}

/// Names of files that hold secrets, some of them only in certain directories.
const NAMES: &[&str] = &[
    ".env",
    ".envrc",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "credentials.yml",
    "credentials.yaml",
    "secrets.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.toml",
    "secrets.env",
    "master.key",
    "wallet.dat",
    ".htpasswd",
    "shadow",
    "gshadow",
    "sudoers",
    "opasswd",
    "service-account.json",
    "serviceaccount.json",
    "private.pem",
    "privkey.pem",
    "Login Data",
    "logins.json",
    "key4.db",
    ".vault-token",
    "terraform.tfstate",
    ".terraformrc",
    "hosts.yml",
    "auth.json",
    "auth.toml",
    ".dockercfg",
    "kubeconfig",
    ".boto",
    ".s3cfg",
    "token",
    "secret",
    "secrets",
    ".secrets",
];
/// Endings of packed files and of copies.
const PACKED: &[&str] = &[".gz", ".xz", ".bz2", ".zst", ".zip", ".b64", ".bak", ".old", ".orig"];

/// Directories in which programs keep messages, mail and what was visited.
const PRIVATE_STORES: &[&str] = &[
    "Library/Messages/",
    "Library/Mail/",
    "Library/Safari/",
    "Library/Cookies/",
    "Application Support/Signal/",
    "Application Support/AddressBook/",
    "Application Support/Google/Chrome/",
    "Application Support/Firefox/",
];

static KNOWN: NameLookup<128> = NameLookup::new(&[NAMES]);

/// Returns the secrecy of the file at `path` by its name.
pub(crate) fn secrecy(path: &str) -> Option<Secrecy> {
    let is_whole = path.starts_with(['/', '~']);
    let full = if is_whole { from_top(path) } else { Cow::Borrowed(path) };
    let name = full.rsplit('/').next().unwrap_or("");
    // Some file systems do not tell the case apart: `.ENV` is `.env`.
    let lower = match name.bytes().any(|b| b.is_ascii_uppercase()) {
        true => Cow::Owned(name.to_ascii_lowercase()),
        false => Cow::Borrowed(name),
    };
    let name = if name == "Login Data" { name } else { &*lower };
    // What was packed is as secret as before.
    let name = PACKED.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    if full.starts_with("/run/secrets/") || full.starts_with("/var/run/secrets/") {
        return Some(Secrecy::Secret);
    }
    let last_word = name.rfind(['.', '-', '_']).and_then(|at| name.get(at + 1..));
    let public = name.ends_with(".pub")
        || matches!(
            last_word,
            Some(
                "example" | "sample" | "template" | "dist" | "defaults" | "schema" | "md" | "test"
            )
        );
    if public {
        return None;
    }
    let has = |piece: &str| full.contains(piece);
    let named = KNOWN.has(name);
    // Some names are secret only where their programs keep them.
    let named = named
        && match name {
            "shadow" | "gshadow" | "sudoers" | "opasswd" => {
                has("/etc/") || full.starts_with("etc/")
            }
            "hosts.yml" => has("gh/"),
            "token" | "secret" | "secrets" | "auth.json" | "auth.toml" => {
                full.starts_with(['~', '$'])
                    || full.starts_with("/run/")
                    || full.starts_with("/var/run")
                    || full.starts_with("/home/")
                    || full.starts_with("/root/")
            }
            _ => true,
        };
    let env_file = name.strip_prefix(".env.").is_some_and(|end| !end.is_empty());
    let ending = match name.rsplit_once('.') {
        Some((stem, ending)) => {
            !stem.is_empty()
                && matches!(
                    ending,
                    "pem"
                        | "key"
                        | "p12"
                        | "pfx"
                        | "jks"
                        | "keystore"
                        | "kdbx"
                        | "ppk"
                        | "asc"
                        | "gpg"
                        | "tfvars"
                )
        }
        None => false,
    };
    let ending = ending
        || ["_rsa", "_ed25519"].iter().any(|end| name.ends_with(end) && name.len() > end.len());
    let ending = ending
        && !name.starts_with("cert")
        && !name.contains("ca-")
        && !name.contains("fullchain")
        && !name.contains("chain.pem");
    const SECRET_STORES: &[&str] = &[
        ".ssh/",
        ".aws/",
        ".gnupg/",
        ".kube/config",
        ".docker/config.json",
        ".config/gcloud/",
        ".azure/",
        ".password-store/",
        ".config/op/",
        ".mozilla/firefox/",
        ".electrum/",
        ".bitcoin/",
        ".terraform.d/credentials",
        ".m2/settings.xml",
        ".config/rclone/rclone.conf",
        ".config/hub",
        ".config/doctl/config.yaml",
        ".config/stripe/config.toml",
        ".config/ngrok/",
        ".config/sops/",
        ".config/age/",
        ".config/configstore/",
        ".config/.wrangler/",
        ".wrangler/config/",
        ".fly/config.yml",
        ".railway/config.json",
        ".supabase/access-token",
        ".databrickscfg",
        ".snowsql/config",
        ".sentryclirc",
        ".config/heroku/",
    ];
    let kept = full.bytes().enumerate().any(|(at, byte)| {
        let starts = |start: &str| full.get(at..).is_some_and(|rest| rest.starts_with(start));
        match byte {
            b'.' => SECRET_STORES.iter().any(|start| starts(start)),
            b'/' => starts("/Keychains/"),
            b'g' => starts("google-chrome/"),
            b'L' | b'A' => PRIVATE_STORES.iter().any(|start| starts(start)),
            _ => false,
        }
    });
    let kept = kept
        || ["/.ssh", "/.aws", "/.gnupg", "/.password-store"].iter().any(|end| full.ends_with(end));
    let harmless =
        matches!(name, "config" | "known_hosts" | "authorized_keys" | "authorized_keys2")
            && !has(".kube/")
            || name.starts_with("known_hosts");
    let environ = full.starts_with("/proc/") && name == "environ";
    if (named || env_file || ending || (kept && !harmless) || environ) && !name.is_empty() {
        return Some(Secrecy::Secret);
    }
    let history = matches!(
        name,
        ".bash_history"
            | ".zsh_history"
            | ".psql_history"
            | ".mysql_history"
            | ".python_history"
            | ".node_repl_history"
    );
    if history {
        return Some(Secrecy::Secret);
    }
    let account = matches!(&*full, "/etc/passwd" | "/etc/group" | "/etc/hosts" | "/etc/fstab");
    (account
        || (has("/.ssh/") && !harmless)
        || name.contains("secret")
        || name.contains("password"))
    .then_some(Secrecy::Private)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_name() {
        for path in [
            ".env",
            "app/.env.production",
            "~/.ssh/id_ed25519",
            "~/.aws/credentials",
            "/etc/shadow",
            "/proc/1/environ",
            "server.key",
            "~/.kube/config",
            "~/.config/gh/hosts.yml",
            "~/Library/Messages/chat.db",
            "certs/server.key.xz",
            "$CODEX_HOME/auth.json",
        ] {
            assert_eq!(secrecy(path), Some(Secrecy::Secret), "{path}");
        }
        for path in [
            ".env.example",
            ".env.sample",
            "~/.ssh/id_rsa.pub",
            "~/.ssh/known_hosts",
            "~/.ssh/config",
            "src/token",
            "docs/hosts.yml",
            "README.md",
            "ca-bundle.pem",
        ] {
            assert_eq!(secrecy(path), None, "{path}");
        }
        assert_eq!(secrecy("/etc/passwd"), Some(Secrecy::Private));
    }
}
