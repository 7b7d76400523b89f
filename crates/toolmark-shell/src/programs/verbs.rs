//! Verbs of service clients: which destroy, which only read, and how to find the verb among the
//! words.

/// Whether a verb destroys data that others may need.
pub(super) fn destroys(verb: &str) -> bool {
    matches!(
        verb,
        "delete"
            | "destroy"
            | "terminate"
            | "purge"
            | "rm"
            | "remove"
            | "rb"
            | "deregister"
            | "revoke"
            | "wipe"
            | "drop"
            | "del"
            | "erase"
            | "nuke"
            | "unpublish"
            | "uninstall"
            | "delete-all"
            | "reset"
            | "truncate"
            | "batch-delete"
            | "decommission"
            | "schedule-deletion"
            | "empty"
            | "remove-iam-policy-binding"
            | "abandon"
            | "shred"
            | "obliterate"
            | "teardown"
            | "deleteall"
            | "rmr"
            | "expunge"
            | "obliterate-all"
    ) || [
        "delete-",
        "terminate-",
        "destroy-",
        "purge-",
        "deregister-",
        "revoke-",
        "batch-delete-",
        "remove-",
        "delete_",
        "destroy_",
        "purge_",
        "drop-",
        "erase-",
        "wipe-",
        "force-delete-",
        "bulk-delete",
        "admin-delete-",
        "batch-remove-",
    ]
    .iter()
    .any(|start| verb.starts_with(start))
        || ["-delete", "-destroy", "-purge", "-terminate"].iter().any(|end| verb.ends_with(end))
}

/// Whether a verb requires review by the user.
pub(super) fn disturbs(verb: &str) -> bool {
    matches!(
        verb,
        "disable"
            | "stop"
            | "detach"
            | "unset"
            | "kill"
            | "cancel"
            | "archive"
            | "rollback"
            | "suspend"
            | "deactivate"
            | "release"
            | "unlink"
            | "evict"
            | "scale-down"
            | "force-unlock"
            | "shutdown"
            | "reboot"
            | "clear"
            | "transfer"
            | "failover"
            | "deallocate"
            | "maintenance"
            | "restart"
    ) || [
        "stop-",
        "disable-",
        "detach-",
        "cancel-",
        "release-",
        "reset-",
        "reboot-",
        "failover-",
        "modify-",
        "put-bucket-policy",
        "put-bucket-acl",
        "put-public-access",
        "update-secret",
        "put-secret",
        "schedule-key-deletion",
        "disassociate-",
        "unset-",
        "attach-user-policy",
        "attach-role-policy",
        "create-access-key",
        "put-user-policy",
        "put-role-policy",
        "authorize-security-group",
    ]
    .iter()
    .any(|start| verb.starts_with(start))
}

/// Whether a verb reads, creates, or makes changes that can be undone.
pub(super) fn looks(verb: &str) -> bool {
    matches!(
        verb,
        "list"
            | "ls"
            | "describe"
            | "get"
            | "show"
            | "view"
            | "info"
            | "status"
            | "create"
            | "add"
            | "new"
            | "init"
            | "login"
            | "logout"
            | "search"
            | "find"
            | "read"
            | "watch"
            | "logs"
            | "log"
            | "tail"
            | "diff"
            | "validate"
            | "check"
            | "test"
            | "help"
            | "version"
            | "config"
            | "whoami"
            | "open"
            | "download"
            | "pull"
            | "clone"
            | "fetch"
            | "history"
            | "explain"
            | "wait"
            | "inspect"
            | "head"
            | "cat"
            | "run"
            | "set"
            | "update"
            | "edit"
            | "put"
            | "apply"
            | "deploy"
            | "build"
            | "start"
            | "enable"
            | "import"
            | "export"
            | "copy"
            | "cp"
            | "push"
            | "exec"
            | "ssh"
            | "connect"
            | "dev"
            | "serve"
            | "up"
            | "print"
            | "lint"
            | "format"
            | "completion"
    ) || [
        "list-",
        "describe-",
        "get-",
        "create-",
        "head-",
        "lookup-",
        "batch-get-",
        "wait-",
        "test-",
        "list_",
        "start-",
        "generate-",
        "validate-",
        "query",
        "scan",
        "tag-",
        "search-",
    ]
    .iter()
    .any(|start| verb.starts_with(start))
}

/// Returns the first word of a compound name: `PurgeTenants`, `delete_user`, `dropTable`.
pub(super) fn first_word(name: &str) -> String {
    let mut word = String::new();
    for c in name.chars() {
        let ends = !c.is_alphanumeric() || c.is_uppercase() && !word.is_empty();
        if ends && !word.is_empty() {
            break;
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
    }
    word
}

/// Effect of the verb among the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// Destroys data.
    Destroys,
    /// Requires review.
    Disturbs,
}

/// Returns the effect of the first word that is a verb; words are split at colons, as some clients
/// write `apps:destroy`. Only the first `reach` words are considered.
pub(super) fn find(words: &[&str], reach: usize) -> Option<Verb> {
    for word in words.iter().take(reach) {
        let mut verdict = None;
        let mut safe = false;
        for piece in word.split(':') {
            // `DeleteInstance` of some clouds
            let camel = piece.contains(|c: char| c.is_ascii_uppercase()).then(|| first_word(piece));
            if destroys(piece) || camel.as_deref().is_some_and(destroys) {
                verdict = Some(Verb::Destroys);
            } else if disturbs(piece) && verdict.is_none() {
                verdict = Some(Verb::Disturbs);
            } else if looks(piece) {
                safe = true;
            }
        }
        if verdict.is_some() {
            return verdict;
        }
        // `config`, `test` and the like may be groups: `config delete`.
        if safe
            && !matches!(
                *word,
                "config"
                    | "run"
                    | "test"
                    | "log"
                    | "logs"
                    | "info"
                    | "version"
                    | "history"
                    | "build"
                    | "deploy"
                    | "env"
                    | "set"
                    | "dev"
            )
        {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_verb_decides() {
        assert_eq!(find(&["compute", "instances", "delete", "x"], 5), Some(Verb::Destroys));
        assert_eq!(find(&["compute", "instances", "list", "delete"], 5), None);
        assert_eq!(find(&["apps:destroy"], 5), Some(Verb::Destroys));
        assert_eq!(find(&["run", "services", "delete", "x"], 5), Some(Verb::Destroys));
        assert_eq!(find(&["ps:stop"], 5), Some(Verb::Disturbs));
        assert_eq!(find(&["create", "delete"], 5), None);
    }
}
