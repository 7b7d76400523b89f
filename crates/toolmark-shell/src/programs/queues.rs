//! Queues and streams: Kafka, RabbitMQ, NATS and similar systems.
//!
//! ```denied
//! kafka-topics --bootstrap-server h:9092 --delete --topic t
//! kafka-topics.sh --delete --topic t
//! rabbitmqctl delete_user x
//! rabbitmqctl force_reset
//! rabbitmqadmin delete queue name=x
//! nats stream delete X
//! nats kv del A b
//! kafka-consumer-groups --reset-offsets --execute --group g
//! celery -A app purge
//! rpk topic delete x
//! ```
//! ```asked
//! rabbitmqctl stop_app
//! ```
//! ```allowed
//! kafka-topics --list
//! kafka-topics --create --topic delete
//! rabbitmqctl list_queues
//! nats stream info X
//! nats kv get A b
//! kafka-consumer-groups --reset-offsets --dry-run
//! ```

use super::verbs::{self, Verb};
use crate::effects::{EffectKind, EffectScope};
use crate::run::CommandRun;

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let args = run.args;
    if super::only_informs(args) {
        return;
    }
    let name = run.name.strip_suffix(".sh").unwrap_or(run.name).to_owned();
    let has = |flags: &[&str]| args.iter().any(|arg| flags.contains(&arg.text.as_str()));
    let target = run.line();
    let words = super::plain_words(args);
    match name.as_str() {
        "kafka-topics" if has(&["--delete"]) => run.remote(&target, "deletes a topic"),
        "kafka-consumer-groups" if has(&["--delete", "--delete-offsets"]) => {
            run.remote(&target, "deletes a group")
        }
        "kafka-consumer-groups" if has(&["--reset-offsets"]) && has(&["--execute"]) => {
            run.remote(&target, "moves the offsets of a group")
        }
        "kafka-acls" if has(&["--remove"]) => run.remote(&target, "revokes access"),
        "kafka-configs"
            if args.iter().any(|arg| arg.text.contains("retention.") && arg.text.contains('=')) =>
        {
            run.ask(
                EffectKind::RemoteState,
                &run.line(),
                EffectScope::Remote,
                "changes how long messages are kept",
            );
        }
        "kafka-configs" if args.iter().any(|arg| arg.text.starts_with("--delete-config")) => {
            run.ask(EffectKind::RemoteState, &target, EffectScope::Remote, "changes a setting")
        }
        "kafka-delete-records" => run.remote(&target, "deletes records"),
        "kafka-streams-application-reset" => run.remote(&target, "resets an application"),
        "rabbitmqctl" => {
            let verb = words.first().copied().unwrap_or("");
            if verb.starts_with("delete_")
                || verb.starts_with("purge_")
                || verb.starts_with("clear_")
                || matches!(verb, "reset" | "force_reset" | "forget_cluster_node")
            {
                run.remote(&target, "deletes from a broker");
            } else if matches!(verb, "stop" | "stop_app" | "shutdown" | "close_all_connections") {
                run.ask(EffectKind::StopService, &target, EffectScope::Remote, "stops a broker");
            }
        }
        "postsuper" if has(&["-d"]) => run.remote(&target, "deletes mail that was not sent"),
        "exim" | "exim4" if has(&["-Mrm"]) => run.remote(&target, "deletes mail that was not sent"),
        "doveadm" if words.iter().any(|w| matches!(*w, "expunge" | "delete" | "purge")) => {
            run.remote(&target, "deletes mail");
        }
        "postsuper" | "exim" | "exim4" | "doveadm" => {}
        "celery" if words.contains(&"purge") => run.remote(&target, "deletes tasks"),
        "celery" => {}
        name if name.starts_with("kafka-") => {}
        _ => match verbs::find(&words, 3) {
            Some(Verb::Destroys) => run.remote(&target, "deletes from a broker"),
            Some(Verb::Disturbs) => {
                run.ask(EffectKind::RemoteState, &target, EffectScope::Remote, "changes a broker")
            }
            None => {}
        },
    }
}
