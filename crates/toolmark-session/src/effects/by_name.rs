//! Tools without a description in any toolset, such as those of MCP servers: effects derived
//! from their names and arguments.

use crate::tool_effect::{ToolEffect, own_words, split_words};
use serde_json::Value;
use std::borrow::Cow;
use toolmark_shell::{
    Analysis, Certainty, Effect, EffectKind, EffectScope, Reversibility, ShellContext, analyze,
    is_sql_statement,
};

/// Arguments that contain a command.
const COMMANDS: &[&str] = &["command", "cmd", "script", "shell_command", "chars", "input", "code"];
/// Arguments that contain a path.
const PATHS: &[&str] = &[
    "path",
    "file_path",
    "filePath",
    "filename",
    "file",
    "paths",
    "files",
    "target",
    "source",
    "destination",
    "notebook_path",
    "target_file",
    "include",
    "directory",
    "dir",
    "uri",
];
/// Arguments that contain a statement for a database.
const STATEMENTS: &[&str] = &["sql", "query", "statement", "queries", "statements"];

/// Action suggested by a tool's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    /// Runs its input.
    Runs,
    /// Writes, moves or changes something.
    Writes,
    /// Deletes something irreversibly.
    Deletes,
    /// Stops, disables or reverts something.
    Disturbs,
    /// Transfers money.
    Pays,
    /// Sends a message to people.
    Sends,
    /// Reveals a secret.
    Reveals,
    /// Grants permissions, or publishes something.
    Grants,
    /// None of these actions.
    Nothing,
}

/// Name of a tool, split once for all questions about it.
pub(super) struct ToolName<'n> {
    name: &'n str,
    /// Words without those of the server, separated by blanks.
    words: String,
    pub(super) says: Says,
}

impl<'n> ToolName<'n> {
    pub(super) fn new(name: &'n str) -> Self {
        let words = own_words(name);
        let says = words_say(name, &words);
        Self { name, words, says }
    }

    fn has(&self, is_it: impl Fn(&str) -> bool) -> bool {
        self.words.split(' ').any(is_it)
    }
}

pub(super) fn says(name: &str) -> Says {
    words_say(name, &own_words(name))
}

fn words_say(name: &str, words: &str) -> Says {
    let effect = ToolEffect::of_words(name, words);
    let mut said = NameMeaning {
        only_reads: effect == Some(ToolEffect::Read),
        pays: effect == Some(ToolEffect::Money),
        ..NameMeaning::default()
    };
    for (at, word) in words.split(' ').filter(|word| !word.is_empty()).enumerate() {
        match word {
            // The words after a reading verb are irrelevant: `get_drop_view` drops nothing.
            "get" | "read" | "show" | "fetch" | "retrieve" | "export" if at == 0 => {
                said.shows = true;
            }
            "dry" => said.only_reads = true,
            word if is_of_view(word) => said.is_of_view = true,
            "send" | "broadcast" | "blast" | "schedule" => said.sends |= at == 0,
            "tweet" | "toot" => said.posts |= at == 0,
            "post" | "publish" => said.posts |= at == 0,
            "email" | "emails" | "mail" | "mails" | "sms" | "newsletter" | "invite" | "invites"
            | "campaign" | "campaigns" | "notification" | "notifications" | "push"
            | "announcement" | "fax" | "letter" | "whatsapp" | "mms" | "voicemail" | "dm" => {
                said.is_mail = true;
            }
            "secret" | "secrets" | "password" | "passwords" | "credential" | "credentials"
            | "apikey" | "keypair" => said.is_secret = true,
            "scanning" | "alert" | "alerts" | "policy" | "metadata" | "names" | "rotation"
            | "scan" | "leak" | "leaks" => said.is_about = true,
            "reveal" | "decrypt" | "unseal" | "dump" => said.reveals |= at == 0,
            "grant" | "impersonate" | "promote" | "assign" | "elevate" | "whitelist"
            | "allowlist" => said.grants |= at == 0,
            "role" | "roles" | "admin" | "owner" | "permission" | "permissions" | "access"
            | "ownership" | "policy_binding" | "superuser" | "production" => said.is_right = true,
            "delete" | "destroy" | "drop" | "purge" | "flushall" | "flushdb" | "wipe" | "erase"
            | "terminate" | "truncate" | "uninstall" | "rmdir" | "unlink" | "nuke" | "rm"
            | "del" | "shred" | "obliterate" | "remove" | "deregister" | "unpublish"
            | "decommission" | "teardown" => {
                said.deletes = true;
            }
            // Cancelling, archiving and clearing are everyday operations of many tools.
            "revoke" | "kill" | "shutdown" | "reboot" | "deactivate" | "disable" | "suspend"
            | "ban" | "rollback" | "reset" | "flush" | "detach" => {
                said.disturbs |= at == 0;
            }
            "stop" => said.stops |= at == 0,
            "instance" | "instances" | "server" | "service" | "vm" | "container" | "cluster"
            | "database" | "machine" | "node" | "deployment" => said.is_service = true,
            "run" | "exec" | "execute" | "shell" | "bash" | "terminal" | "powershell"
            | "command" | "stdin" | "eval" | "python" | "ipython" | "repl" => said.runs = true,
            "write" | "edit" | "create" | "update" | "insert" | "replace" | "append" | "save"
            | "move" | "rename" | "patch" | "copy" | "upload" | "put" => {
                said.writes = true;
            }
            _ => {}
        }
    }
    match said {
        NameMeaning { shows: true, is_secret: true, is_about: false, .. } => Says::Reveals,
        NameMeaning { reveals: true, .. } if said.is_secret => Says::Reveals,
        NameMeaning { only_reads: true, .. } => Says::Nothing,
        NameMeaning { pays: true, .. } => Says::Pays,
        NameMeaning { deletes: true, is_of_view: false, .. } => Says::Deletes,
        NameMeaning { sends: true, is_mail: true, .. } => Says::Sends,
        NameMeaning { posts: true, is_mail: true, .. } => Says::Sends,
        NameMeaning { grants: true, is_right: true, .. } => Says::Grants,
        NameMeaning { runs: true, .. } => Says::Runs,
        NameMeaning { disturbs: true, is_of_view: false, .. } => Says::Disturbs,
        NameMeaning { stops: true, is_service: true, .. } => Says::Disturbs,
        NameMeaning { writes: true, .. } => Says::Writes,
        _ => Says::Nothing,
    }
}

/// Meaning of the words of a name.
#[derive(Default)]
struct NameMeaning {
    only_reads: bool,
    pays: bool,
    deletes: bool,
    disturbs: bool,
    stops: bool,
    sends: bool,
    posts: bool,
    is_mail: bool,
    shows: bool,
    is_secret: bool,
    is_about: bool,
    reveals: bool,
    grants: bool,
    is_right: bool,
    is_service: bool,
    is_of_view: bool,
    runs: bool,
    writes: bool,
}

/// Whether the word names a part of the user interface, or something that is restored with
/// one click, so that nothing is lost.
fn is_of_view(word: &str) -> bool {
    matches!(
        word,
        "label"
            | "labels"
            | "reaction"
            | "reactions"
            | "assignee"
            | "assignees"
            | "reviewer"
            | "reviewers"
            | "filter"
            | "filters"
            | "breakpoint"
            | "breakpoints"
            | "highlight"
            | "bookmark"
            | "favorite"
            | "star"
            | "emoji"
            | "cart"
            | "browser"
            | "tab"
            | "page"
            | "window"
            | "form"
            | "field"
            | "input"
            | "zoom"
            | "selection"
            | "console"
            | "timer"
            | "background"
            | "duplicates"
            | "whitespace"
            | "screenshot"
            | "recording"
            | "thinking"
            | "todo"
            | "todos"
            | "watch"
            | "thread"
            | "context"
    )
}

/// Arguments that select the operation of a tool.
const VERBS: &[&str] = &["action", "operation", "op", "method", "verb", "mode", "subcommand"];

/// Whether an argument requests an irreversible deletion.
fn deletes_by_argument(args: &Value) -> bool {
    texts(args, VERBS).into_iter().any(|verb| {
        let verb = own_words(verb);
        let first = verb.split(' ').find(|word| !word.is_empty()).unwrap_or("").to_owned();
        says(&first) == Says::Deletes
    })
}

/// Returns the texts of these arguments, in the order of the keys; a list has several texts.
/// Arguments may be nested: `{"arguments": {"path": …}}`.
fn texts<'v>(args: &'v Value, keys: &[&str]) -> Vec<&'v str> {
    /// Maximum nesting depth of arguments.
    const DEPTH: usize = 3;
    let mut found = Vec::new();
    collect(args, keys, DEPTH, &mut found);
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, text)| text).collect()
}

fn collect<'v>(args: &'v Value, keys: &[&str], depth: usize, found: &mut Vec<(usize, &'v str)>) {
    /// Maximum number of texts.
    const MAX_TEXTS: usize = 256;
    let inner: Vec<&Value> = match args {
        Value::Object(fields) => {
            for (key, value) in fields {
                let Some(at) = keys.iter().position(|known| known == key) else { continue };
                match value {
                    Value::Array(items) => {
                        found.extend(items.iter().filter_map(Value::as_str).map(|text| (at, text)));
                    }
                    value => found.extend(value.as_str().map(|text| (at, text))),
                }
            }
            fields.values().filter(|value| value.is_object() || value.is_array()).collect()
        }
        Value::Array(items) => items.iter().filter(|item| item.is_object()).take(64).collect(),
        _ => return,
    };
    found.truncate(MAX_TEXTS);
    if depth > 0 {
        inner.into_iter().for_each(|value| collect(value, keys, depth - 1, found));
    }
}

/// Returns the paths in the usual arguments.
pub(super) fn paths(args: &Value) -> Vec<&str> {
    texts(args, PATHS)
}

/// Returns the command in the usual arguments: text, or a list of words.
pub(super) fn command(args: &Value) -> Option<Cow<'_, str>> {
    let by_key = || command_by_key(args).map(Cow::Borrowed);
    let given = args.get("command").and_then(Value::as_array);
    let text = texts(args, COMMANDS).into_iter().next().map(Cow::Borrowed).or_else(by_key);
    let rest = ["args", "argv"].iter().find_map(|key| args.get(*key)?.as_array());
    match (given, text, rest) {
        (Some(words), _, None) => Some(Cow::Owned(super::command_line(words))),
        (_, Some(text), Some(rest)) => {
            Some(Cow::Owned(format!("{text} {}", super::command_line(rest))))
        }
        (_, None, Some(rest)) => Some(Cow::Owned(super::command_line(rest))),
        (_, text, None) => text,
    }
}

/// Returns the command line equivalent to the input of a tool: its command, or an interpreter
/// with its code.
fn as_command<'v>(name: &str, args: &'v Value) -> Option<Cow<'v, str>> {
    let given = command(args);
    let keys =
        ["code", "script", "source_code", "source", "snippet", "program", "python", "javascript"];
    let code = texts(args, &keys);
    let Some(code) = code.first().filter(|code| given.as_deref().is_none_or(|it| it == **code))
    else {
        return given;
    };
    let language = ["language", "lang", "runtime", "kernel", "interpreter"];
    let stated = texts(args, &language).into_iter().next().map(str::to_lowercase);
    // The name of the server also reveals the language.
    let words = split_words(name);
    let says = |all: &[&str]| {
        let is_stated =
            stated.as_deref().is_some_and(|it| all.iter().any(|one| it.starts_with(one)));
        is_stated || words.split(' ').any(|word| all.contains(&word))
    };
    let has = |all: &[&str]| all.iter().any(|one| code.contains(one));
    let quoted = super::quoted(code);
    let line = if says(&["bash", "sh", "shell", "zsh", "terminal"]) {
        code.to_string()
    } else if says(&["python", "py", "ipython", "jupyter"]) {
        format!("python3 -c {quoted}")
    } else if says(&["node", "javascript", "js", "typescript", "ts", "deno", "bun"]) {
        format!("node -e {quoted}")
    } else if says(&["ruby", "rb"]) {
        format!("ruby -e {quoted}")
    } else if says(&["php"]) {
        format!("php -r {quoted}")
    } else if says(&["perl"]) {
        format!("perl -e {quoted}")
    } else if says(&["sql", "postgres", "mysql", "sqlite"]) {
        format!("psql -c {quoted}")
    } else if says(&["powershell", "pwsh"]) {
        format!("pwsh -c {quoted}")
    } else if has(&["require(", "const ", "await ", "=>", "process."]) {
        format!("node -e {quoted}")
    } else if has(&["import ", "def ", "print(", "os.", "shutil."]) {
        format!("python3 -c {quoted}")
    } else {
        code.to_string()
    };
    Some(Cow::Owned(line))
}

/// Returns the text of an argument whose name identifies a command: `cli_command`.
fn command_by_key(args: &Value) -> Option<&str> {
    let mut fields = args.as_object()?.iter();
    fields.find_map(|(key, value)| {
        let says = key.ends_with("command") || key.ends_with("cmd");
        value.as_str().filter(|_| says)
    })
}

/// Returns the effects suggested by a tool's name: on the text it runs, the paths it deletes,
/// or the statements it sends.
pub(super) fn analyze_named(
    tool: &ToolName<'_>,
    args: &Value,
    context: &ShellContext<'_>,
) -> Option<Analysis> {
    let name = tool.name;
    let says = match tool.says {
        Says::Nothing | Says::Writes if deletes_by_argument(args) => Says::Deletes,
        says => says,
    };
    if is_rehearsal(args) {
        return None;
    }
    // The name makes the effect likely, but does not prove it.
    let run = |text: &str| {
        let found = analyze(text, context);
        let mut analysis = Analysis { coverage: found.coverage, ..Analysis::default() };
        for effect in found.effects {
            let certainty = effect.certainty.max(Certainty::Likely);
            analysis.add(Effect { certainty, ..effect });
        }
        if found.decision > analysis.decision && analysis.effects.is_empty() {
            (analysis.decision, analysis.reason) = (found.decision, found.reason);
        }
        Some(analysis)
    };
    let statement = texts(args, STATEMENTS).join("; ");
    if is_deleting_mutation(&statement) {
        return Some(only(name, "says that it deletes"));
    }
    if !statement.is_empty() && is_sql_statement(&statement) {
        return run(&format!("psql -c {}", super::quoted(&statement)));
    }
    if let Some(why) = by_flags(tool, args) {
        return Some(only(name, why));
    }
    // A hard reset or a forced push.
    let is_hard = |value: &Value| value == "hard" || value == "--hard";
    if args.as_object().is_some_and(|args| args.values().any(is_hard)) && name.contains("reset") {
        return Some(only(name, "says that it discards changes"));
    }
    if says == Says::Nothing && ends_payment(name) {
        return Some(only(name, "says that it ends what is paid for"));
    }
    match says {
        Says::Runs => {
            let command = as_command(name, args)?;
            // A server for a single program receives only its arguments.
            let server = split_words(name);
            match server.split(' ').any(|word| matches!(word, "redis" | "valkey")) {
                true => run(&format!("redis-cli {command}")),
                false => run(&command),
            }
        }
        // A function that is built into an agent writes to the named recipients.
        Says::Sends if !has_server(name) && writes_to_few(args) => None,
        Says::Sends => Some(only_with(name, Reversibility::R3, "says that it sends a message")),
        Says::Reveals => {
            let mut analysis = only_with(name, Reversibility::R1, "says that it shows a secret");
            analysis.effects.iter_mut().for_each(|effect| effect.kind = EffectKind::ReadSecret);
            let effects = std::mem::take(&mut analysis.effects);
            let mut analysis = Analysis::default();
            effects.into_iter().for_each(|effect| analysis.add(effect));
            Some(analysis)
        }
        Says::Grants => {
            Some(only_with(name, Reversibility::R3, "says that it gives rights to somebody"))
        }
        Says::Deletes => {
            let paths = paths(args);
            if paths.is_empty() || is_elsewhere(args) {
                return Some(only(name, "says that it deletes"));
            }
            let paths: Vec<_> = paths.into_iter().map(super::quoted).collect();
            let is_tree = args.get("recursive") == Some(&Value::Bool(true));
            let is_file = tool.has(|word| word == "file") && !is_tree;
            let flags = if is_file { "-f" } else { "-rf" };
            run(&format!("rm {flags} -- {}", paths.join(" ")))
        }
        Says::Disturbs => {
            Some(only_with(name, Reversibility::R3, "says that it stops or takes back something"))
        }
        // Among built-in functions, only those that transfer a sum count.
        Says::Pays if !has_server(name) && !moves_sum(tool) => None,
        Says::Pays if has_amount(args) || is_always_paid(tool) => {
            Some(only(name, "says that it moves money"))
        }
        Says::Pays => None,
        Says::Writes | Says::Nothing => run(command_by_key(args)?),
    }
}

/// Whether the name of a tool belongs to a server.
fn has_server(name: &str) -> bool {
    name.contains("__") || name.starts_with("mcp_") || name.contains(['-', '/', ':'])
}

/// Whether a message is sent to a few named people without attachments.
fn writes_to_few(args: &Value) -> bool {
    /// Maximum number of recipients that is not a mailing.
    const FEW: usize = 3;
    let keys = ["to", "cc", "bcc", "recipient", "recipients", "email", "emails"];
    let everybody =
        ["all", "everyone", "everybody", "list", "team", "customers", "users", "subscribers"];
    let given = texts(args, &keys);
    let people: Vec<&str> = given
        .iter()
        .flat_map(|text| text.split([',', ';']))
        .map(str::trim)
        .filter(|one| !one.is_empty())
        .collect();
    let is_many = |person: &&str| {
        let words = split_words(person);
        words.split(' ').any(|word| everybody.contains(&word))
    };
    let attaches =
        args.as_object().is_some_and(|args| args.keys().any(|key| key.starts_with("attach")));
    !people.is_empty() && people.len() <= FEW && !people.iter().any(is_many) && !attaches
}

/// Whether the file belongs to a remote service, judging by the other arguments.
fn is_elsewhere(args: &Value) -> bool {
    let keys = [
        "owner",
        "repo",
        "repository",
        "bucket",
        "branch",
        "sha",
        "workspace",
        "project",
        "project_id",
        "projectId",
        "site",
        "drive_id",
        "container",
        "host",
        "server",
        "share",
        "namespace",
        "space",
    ];
    args.as_object().is_some_and(|args| args.keys().any(|key| keys.contains(&key.as_str())))
}

/// Whether the arguments contain an amount of money, at any nesting level.
fn has_amount(args: &Value) -> bool {
    const KEYS: &[&str] = &[
        "amount", "amounts", "total", "price", "cents", "sum", "limit", "quantity", "qty", "value",
        "currency",
    ];
    fn has(value: &Value, depth: usize) -> bool {
        match value {
            Value::Object(fields) => {
                fields.keys().any(|key| {
                    let words = split_words(key);
                    words.split(' ').any(|word| KEYS.contains(&word))
                }) || depth > 0 && fields.values().any(|value| has(value, depth - 1))
            }
            Value::Array(items) => {
                depth > 0 && items.iter().take(64).any(|item| has(item, depth - 1))
            }
            _ => false,
        }
    }
    has(args, 3)
}

/// Whether the name means a transfer of money.
fn moves_sum(tool: &ToolName<'_>) -> bool {
    tool.has(|word| {
        matches!(
            word,
            "refund" | "payout" | "transfer" | "withdraw" | "charge" | "wire" | "disburse"
        )
    })
}

/// Whether the name means a payment regardless of the arguments.
fn is_always_paid(tool: &ToolName<'_>) -> bool {
    tool.has(|word| {
        matches!(word, "refund" | "payout" | "payouts" | "purchase" | "buy" | "withdraw" | "wire")
    })
}

/// Returns the meaning of arguments that are switched on: destruction, or publication.
fn by_flags(tool: &ToolName<'_>, args: &Value) -> Option<&'static str> {
    let destroys = |key: &String| {
        let words = split_words(key);
        let mut words = words.split(' ').filter(|word| !word.is_empty());
        words.next().is_some_and(|first| says(first) == Says::Deletes) && words.next().is_none()
    };
    // A dry run destroys nothing.
    if tool.words.ends_with("plan") {
        return None;
    }
    let mut fields = args.as_object()?.iter();
    if fields.any(|(key, value)| *value == Value::Bool(true) && destroys(key)) {
        return Some("is told to destroy");
    }
    let keys = ["type", "visibility", "access", "acl", "scope", "grantee", "audience"];
    let all = ["anyone", "everyone", "allusers", "public", "public-read", "public-read-write"];
    let is_public = |text: &&str| all.iter().any(|word| text.eq_ignore_ascii_case(word));
    let shares = tool.has(|word| {
        matches!(word, "share" | "permission" | "permissions" | "acl" | "visibility" | "access")
    });
    (shares && texts(args, &keys).iter().any(is_public)).then_some("makes something public")
}

/// Whether the text is a deleting GraphQL mutation: `mutation { deleteRepository … }`.
fn is_deleting_mutation(text: &str) -> bool {
    let mut names = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    text.trim_start().starts_with("mutation") && names.any(|name| says(name) == Says::Deletes)
}

/// Whether the name cancels a payment. Cancelling is harmless for many tools, but not for
/// those that handle money.
fn ends_payment(name: &str) -> bool {
    let servers = ["stripe", "paypal", "braintree", "adyen", "square", "billing"];
    // Most names have neither word.
    let bytes = name.as_bytes();
    let may = |word: &[u8]| bytes.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    if !may(b"cancel") && !may(b"void") {
        return false;
    }
    let all = split_words(name);
    let has = |list: &[&str]| all.split(' ').any(|word| list.contains(&word));
    has(&["cancel", "void"]) && has(&servers)
}

/// Whether the call is a dry run.
fn is_rehearsal(args: &Value) -> bool {
    let keys = ["dry_run", "dryRun", "dryrun", "preview", "what_if"];
    super::is_set(args, &keys)
}

/// Returns an analysis with one effect that is likely from the name alone.
fn only(name: &str, why: &'static str) -> Analysis {
    only_with(name, Reversibility::R4, why)
}

fn only_with(name: &str, reversibility: Reversibility, why: &'static str) -> Analysis {
    let mut analysis = Analysis::default();
    analysis.add(Effect {
        kind: EffectKind::RemoteState,
        target: name.to_owned(),
        scope: EffectScope::Remote,
        reversibility,
        certainty: Certainty::Likely,
        span: (0, 0),
        program: name.to_owned(),
        why,
    });
    analysis
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolmark_shell::Decision;

    #[test]
    fn names() {
        for (name, want) in [
            ("mcp__github__delete_repository", Says::Deletes),
            ("mcp__fs__move_file", Says::Writes),
            ("db/dropTable", Says::Deletes),
            ("runCommand", Says::Runs),
            ("mcp__stripe__create_refund", Says::Pays),
            ("transfer_to_human_agents", Says::Nothing),
            ("inspect_refund_settlement", Says::Nothing),
            ("review_payment_transfer", Says::Nothing),
            ("process_refund", Says::Pays),
            ("order_refund_status", Says::Nothing),
            ("calculate_dividend_payout", Says::Nothing),
            ("mcp__delete__get_issue", Says::Nothing),
            ("browser_click", Says::Nothing),
            ("mcp__db__drop_view", Says::Deletes),
            ("delete_list", Says::Deletes),
            ("git_status", Says::Nothing),
            ("getDeletedItems", Says::Nothing),
            ("NotebookEdit", Says::Writes),
            ("remove_collaborator", Says::Deletes),
            ("remove_label", Says::Nothing),
            ("cancel_order", Says::Nothing),
            ("revoke_token", Says::Disturbs),
            ("electromagnetic_force", Says::Nothing),
            ("stop_instance", Says::Disturbs),
            ("browser_clear_cookies", Says::Nothing),
            ("restore_backup", Says::Nothing),
        ] {
            assert_eq!(says(name), want, "{name}");
        }
    }

    #[test]
    fn decisions() {
        let context = ShellContext { cwd: Some("/w/shop"), ..ShellContext::default() };
        for (name, args, want) in [
            ("mcp__x__exec", json!({"cmd": "rm -rf /srv"}), Some(Decision::Ask)),
            ("mcp__x__exec", json!({"cmd": "ls"}), Some(Decision::Allow)),
            ("mcp__db__query", json!({"sql": "DROP TABLE users"}), Some(Decision::Ask)),
            ("mcp__db__query", json!({"sql": "select 1"}), Some(Decision::Allow)),
            ("mcp__gh__delete_branch", json!({"branch": "x"}), Some(Decision::Ask)),
            ("mcp__fs__delete_file", json!({"path": "/srv/x"}), Some(Decision::Ask)),
            (
                "mcp__py__execute_code",
                json!({"code": "import shutil\nshutil.rmtree('/srv/data')"}),
                Some(Decision::Ask),
            ),
            (
                "mcp__box__run",
                json!({"language": "javascript", "code": "require('fs').rmSync('/srv',{recursive:true})"}),
                Some(Decision::Ask),
            ),
            ("mcp__py__run_python", json!({"code": "print('rm -rf /')"}), Some(Decision::Allow)),
            ("mcp__sh__run_script", json!({"script": "rm -rf /srv"}), Some(Decision::Ask)),
            (
                "mcp__x__run",
                json!({"language": "sql", "code": "DROP TABLE t"}),
                Some(Decision::Ask),
            ),
            ("mcp__search__query", json!({"query": "how to delete a file"}), None),
            ("mcp__s3__object", json!({"action": "delete", "key": "x"}), Some(Decision::Ask)),
            ("mcp__http__request", json!({"method": "DELETE", "url": "u"}), Some(Decision::Ask)),
            ("mcp__s3__object", json!({"action": "list"}), None),
            ("mcp__k8s__delete_pod", json!({"name": "x", "dry_run": true}), None),
            (
                "mcp__gh__graphql",
                json!({"query": "mutation { deleteRef(input: {}) { id } }"}),
                Some(Decision::Ask),
            ),
            (
                "mcp__db__call",
                json!({"arguments": {"sql": "DROP TABLE users"}}),
                Some(Decision::Ask),
            ),
            ("mcp__fs__delete_file", json!({"path": "notes.txt"}), Some(Decision::Allow)),
            ("mcp__gh__get_issue", json!({"number": 1}), None),
            ("mcp__vault__read_secret", json!({"path": "prod/stripe"}), Some(Decision::Ask)),
            ("mcp__gh__get_secret_scanning_alert", json!({"number": 1}), None),
            ("mcp__vault__list_secrets", json!({"path": "prod"}), None),
            (
                "mcp__paypal__create_payout",
                json!({"items": [{"amount": "1"}]}),
                Some(Decision::Ask),
            ),
            ("mcp__paypal__get_payout_status", json!({"batch_id": "B1"}), None),
            ("inspect_refund_settlement", json!({"refund_id": "R1", "amount": 20}), None),
            ("shop-assess_charge_dispute", json!({"amount": 20}), None),
            ("mcp__shop__process_refund", json!({"order_id": "1"}), Some(Decision::Ask)),
            ("ticket_buy", json!({"price": 20}), None),
            ("mcp__shop__buy", json!({"sku": "x"}), Some(Decision::Ask)),
            ("send_email", json!({"to": "john@h.example"}), None),
            ("send_email", json!({"to": "all-customers@h.example"}), Some(Decision::Ask)),
            ("mcp__gmail__send_email", json!({"to": "john@h.example"}), Some(Decision::Ask)),
            ("mcp_mailchimp_send_campaign", json!({"campaign_id": "c"}), Some(Decision::Ask)),
            ("mcp_brex_issue_card", json!({"limit": 50000}), Some(Decision::Ask)),
            (
                "github-delete_file",
                json!({"owner": "a", "repo": "b", "path": "src/x.ts"}),
                Some(Decision::Ask),
            ),
            ("github-list_commits", json!({"owner": "a"}), None),
            ("mcp__okta__grant_role", json!({"user": "x", "role": "admin"}), Some(Decision::Ask)),
        ] {
            let decision = analyze_named(&ToolName::new(name), &args, &context)
                .map(|analysis| analysis.decision);
            assert_eq!(decision, want, "{name}");
        }
    }
}
