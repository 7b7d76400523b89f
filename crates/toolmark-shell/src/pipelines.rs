//! Pipelines with effects that none of their stages has alone: stopping all listed processes,
//! showing the secrets of the environment, building statements for a database.

use crate::effects::{EffectKind, Reversibility};
use crate::ir::{IrNode, Pipeline, Word};
use Reversibility::{R1, R3};

/// One stage: the program and its literal words.
struct Stage {
    name: String,
    words: Vec<String>,
}

/// Returns the effect of a pipeline: the kind, target, reversibility and reason.
pub(crate) fn effect(
    pipeline: &Pipeline,
) -> Option<(EffectKind, &'static str, Reversibility, &'static str)> {
    let stages: Vec<Stage> = pipeline.stages.iter().filter_map(stage).collect();
    let first = stages.first()?;
    let last = stages.last()?;
    if kills(last) && lists_everything(&stages) {
        return Some((EffectKind::StopService, "every process", R3, "kills whatever is running"));
    }
    if kills(last) && stages.iter().any(names_store) {
        return Some((EffectKind::StopService, "a database", R3, "kills a database server"));
    }
    if matches!(first.name.as_str(), "env" | "printenv" | "export" | "set")
        && first.words.is_empty()
        && shows_secrets(&stages)
    {
        return Some((EffectKind::ReadSecret, "the environment", R1, "shows secrets"));
    }
    let is_client =
        |stage: &Stage| matches!(stage.name.as_str(), "mysql" | "mariadb" | "psql" | "sqlite3");
    let builds = |stage: &Stage| {
        let text = stage.words.join(" ").to_ascii_lowercase();
        text.contains("select")
            && ["'drop ", "'truncate ", "'delete "].iter().any(|word| text.contains(word))
    };
    if is_client(last) && is_client(first) && builds(first) {
        return Some((EffectKind::Delete, "tables", R3, "runs statements that it builds"));
    }
    None
}

fn stage(node: &IrNode) -> Option<Stage> {
    let IrNode::Simple(simple) = node else { return None };
    let mut words = simple.words.iter().map(|word| Word::literal(word).unwrap_or_default());
    let name = crate::run::program_name(&words.next()?);
    Some(Stage { name, words: words.collect() })
}

/// Whether a stage is `xargs kill`, also after options.
fn kills(stage: &Stage) -> bool {
    stage.name == "xargs"
        && stage.words.iter().any(|word| matches!(word.as_str(), "kill" | "sudo"))
        && stage.words.iter().any(|word| word == "kill")
}

/// Whether all processes are listed without a filter.
fn lists_everything(stages: &[Stage]) -> bool {
    let lists = stages.first().is_some_and(|stage| stage.name == "ps");
    let chooses = stages.iter().any(|stage| match stage.name.as_str() {
        "grep" | "egrep" | "rg" | "pgrep" | "head" | "tail" => true,
        "awk" | "gawk" | "sed" => stage.words.iter().any(|word| word.contains(['/', '~', '='])),
        "ps" => stage.words.iter().any(|word| matches!(word.as_str(), "-C" | "-p" | "--ppid")),
        _ => false,
    });
    lists && !chooses
}

/// Whether a stage names the port of a database: `lsof -ti:5432`.
fn names_store(stage: &Stage) -> bool {
    let ports = ["5432", "3306", "27017", "6379", "1433", "1521", "9200", "5984", "9042"];
    matches!(stage.name.as_str(), "lsof" | "fuser" | "ss" | "netstat")
        && stage.words.iter().any(|word| {
            ports.iter().any(|port| word.strip_suffix(port).is_some_and(|rest| rest.ends_with(':')))
        })
}

/// Whether variables are selected by names of secrets and shown with their values.
fn shows_secrets(stages: &[Stage]) -> bool {
    let names = ["key", "token", "secret", "passw", "credential"];
    let chooses = |stage: &Stage| {
        let counts = stage.words.iter().any(|word| {
            matches!(word.as_str(), "-c" | "-q" | "--count" | "--quiet" | "-v" | "-o" | "-l")
        });
        matches!(stage.name.as_str(), "grep" | "egrep" | "rg")
            && !counts
            && stage.words.iter().any(|word| {
                let word = word.to_ascii_lowercase();
                !word.starts_with('-') && names.iter().any(|name| word.contains(name))
            })
    };
    let hides = |stage: &Stage| matches!(stage.name.as_str(), "cut" | "sed" | "awk" | "wc" | "tr");
    stages.iter().any(chooses) && !stages.iter().any(hides)
}

#[cfg(test)]
mod tests {
    use crate::programs::check;

    #[test]
    fn stages_together() {
        check(
            &[],
            &[
                "ps aux | awk '{print $2}' | xargs kill -9",
                "lsof -ti:5432 | xargs kill -9",
                "printenv | grep -i -E 'key|token'",
                "mysql -e \"SELECT CONCAT('DROP TABLE ', x) FROM t\" | mysql crm",
            ],
            &[
                "ps aux | grep vite | awk '{print $2}' | xargs kill",
                "lsof -ti:3000 | xargs kill -9",
                "printenv | grep -i path",
                "env | grep TOKEN | cut -d= -f1",
                "env | grep -c SECRET",
                "mysql -e 'SELECT 1' | head",
            ],
        );
    }
}
