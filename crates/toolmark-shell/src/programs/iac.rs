//! Infrastructure as code and virtual machines: `terraform`, `pulumi`, `vagrant` and similar tools.
//!
//! ```denied
//! terraform destroy -auto-approve
//! terraform apply -auto-approve
//! terraform apply -destroy
//! tofu state rm a.b
//! terraform workspace delete x
//! pulumi destroy
//! pulumi up -y
//! cdk destroy --all
//! serverless remove
//! vagrant destroy -f
//! terragrunt run-all destroy -auto-approve
//! sam delete
//! eksctl delete cluster x
//! virsh undefine x
//! terraform -chdir=x destroy -auto-approve
//! ```
//! ```asked
//! terraform destroy
//! terraform apply
//! pulumi up
//! terraform force-unlock 1
//! terraform state mv a b
//! ```
//! ```allowed
//! terraform plan
//! terraform plan -destroy
//! terraform init
//! terraform state list
//! pulumi preview
//! cdk diff
//! cdk deploy
//! ansible-playbook --check x.yml
//! vagrant up
//! terraform destroy --help
//! terraform -chdir=x -help destroy
//! terraform fmt -check
//! ```

use super::verbs::{self, Verb};
use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::program::{Program, Syntax};
use crate::run::CommandRun;

pub(super) static PROGRAMS: &[Program] = &[Program {
    names: "terraform|tofu|terragrunt",
    syntax: Syntax::Go,
    options: "chdir= help version v",
    is_open: true,
    ..Program::NONE
}];

/// Whether one of these options is given, with one dash or two.
fn has_option(args: &[Arg], flags: &[&str]) -> bool {
    args.iter().any(|arg| {
        flags.contains(&arg.text.trim_start_matches('-').split('=').next().unwrap_or(""))
            && arg.text.starts_with('-')
    })
}

fn terraform(run: &mut CommandRun<'_, '_>, words: &[&str]) {
    let (args, target) = (run.args, words.join(" "));
    let has = |flags: &[&str]| has_option(args, flags);

    let auto = has(&["auto-approve", "terragrunt-non-interactive"]);
    let all: Vec<&str> =
        words.iter().copied().filter(|word| !matches!(*word, "run-all" | "run" | "--")).collect();
    match all.as_slice() {
        ["destroy", ..] if auto => run.remote(&target, "destroys infrastructure"),
        ["destroy", ..] => run.ask(
            EffectKind::RemoteState,
            &target,
            EffectScope::Remote,
            "destroys infrastructure after a prompt",
        ),
        ["apply", ..] if has(&["destroy"]) => run.remote(&target, "destroys infrastructure"),
        ["apply", ..] if auto => run.remote(&target, "changes infrastructure without a prompt"),
        ["state", "rm", ..] | ["workspace", "delete", ..] => {
            run.remote(&target, "removes infrastructure from the state")
        }
        ["state", "mv" | "push" | "replace-provider", ..]
        | ["force-unlock" | "taint" | "untaint", ..] => run.ask(
            EffectKind::RemoteState,
            &target,
            EffectScope::Remote,
            "changes the state of infrastructure",
        ),
        ["apply", ..] => run.ask(
            EffectKind::RemoteState,
            &target,
            EffectScope::Remote,
            "changes infrastructure after a prompt",
        ),
        _ => {}
    }
}

fn pulumi(run: &mut CommandRun<'_, '_>, words: &[&str]) {
    let (args, target) = (run.args, words.join(" "));
    let has = |flags: &[&str]| has_option(args, flags);
    match words {
        ["destroy", ..] | ["stack", "rm", ..] | ["state", "delete", ..] => {
            if has(&["preview-only"]) {
                return;
            }
            run.remote(&target, "destroys infrastructure");
        }
        ["up" | "update", ..] if has(&["y", "yes", "f", "skip-preview"]) => {
            run.remote(&target, "changes infrastructure without a prompt")
        }
        ["up" | "update", ..] | ["cancel" | "refresh", ..] => {
            run.ask(EffectKind::RemoteState, &target, EffectScope::Remote, "changes infrastructure")
        }
        _ => {}
    }
}

fn ansible(run: &mut CommandRun<'_, '_>, target: &str) {
    let args = run.args;
    let has = |flags: &[&str]| has_option(args, flags);

    if run.name == "ansible-playbook"
        && super::names_production(args)
        && !has(&["check", "C", "syntax-check", "list-tasks", "list-hosts"])
    {
        run.ask(
            EffectKind::RemoteState,
            target,
            EffectScope::Remote,
            "changes production machines",
        );
    }
    if args.iter().any(|arg| {
        arg.text == "--check"
            || arg.text == "-C"
            || arg.text.starts_with("--syntax")
            || arg.text.starts_with("--list")
    }) {
        return;
    }
    if run.name == "ansible"
        && let Some(at) = args.iter().position(|arg| arg.text == "-a" || arg.text == "--args")
        && let Some(given) = args.get(at + 1)
    {
        let text = given.text.clone();
        let module = args.windows(2).find_map(|pair| match pair {
            [flag, module] if matches!(flag.text.as_str(), "-m" | "--module-name") => {
                Some(module.text.rsplit('.').next().unwrap_or("").to_owned())
            }
            _ => None,
        });
        if matches!(module.as_deref(), None | Some("shell" | "command" | "raw")) {
            run.shell_text(&text);
        } else if matches!(module.as_deref(), Some("service" | "systemd" | "systemd_service"))
            && (text.contains("state=stopped") || text.contains("enabled=no"))
            || module.as_deref() == Some("reboot")
        {
            run.ask(
                EffectKind::StopService,
                &text,
                EffectScope::Remote,
                "stops services of other machines",
            );
        } else if ["state=absent", "state: absent"].iter().any(|s| text.contains(s)) {
            run.remote(&text, "removes something from other machines");
        }
    }
}

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    // GitHub's agent has the name of a tool of Amazon's.
    if run.name == "copilot" {
        super::agents::run(run);
    }
    let args = run.args;
    let words = super::cloud::words(args);
    let has = |flags: &[&str]| has_option(args, flags);
    let own = PROGRAMS.iter().find(|program| program.is_named(run.name));
    let informs = own.is_some_and(|program| program.parse_until(args, true).0.informs());
    if informs || super::only_informs(args) {
        return;
    }
    let target = words.join(" ");
    match run.name {
        "terraform" | "tofu" | "terragrunt" => terraform(run, &words),
        "pulumi" => pulumi(run, &words),
        "ansible" | "ansible-playbook" => ansible(run, &target),
        "virsh" => {
            if words.iter().any(|word| {
                matches!(
                    *word,
                    "destroy"
                        | "undefine"
                        | "vol-delete"
                        | "pool-delete"
                        | "snapshot-delete"
                        | "net-destroy"
                        | "vol-wipe"
                )
            }) {
                destroy_machine(run, &target);
            }
        }
        "vboxmanage" => {
            if words.iter().any(|word| matches!(*word, "unregistervm" | "closemedium"))
                && has(&["delete"])
            {
                destroy_machine(run, &target);
            }
        }
        "vagrant" | "multipass" | "lxc" | "incus" | "prlctl" | "qm" | "pct" => {
            if let Some(Verb::Destroys) = verbs::find(&words, 3) {
                destroy_machine(run, &target);
            }
            if run.name == "vagrant"
                && words.first() == Some(&"ssh")
                && let Some(at) = args.iter().position(|arg| arg.text == "-c")
                && let Some(command) = args.get(at + 1)
            {
                let text = command.text.clone();
                run.shell_text(&text);
            }
        }
        "consul" | "nomad" => {
            if words.first() == Some(&"kv") && words.get(1) == Some(&"delete")
                || words.iter().take(3).any(|word| {
                    matches!(
                        *word,
                        "stop" | "purge" | "delete" | "deregister" | "leave" | "force-leave"
                    )
                })
            {
                run.remote(&target, "deletes from a service");
            }
        }
        // A deploy without confirmation, or to production.
        "cdk" | "sam" | "serverless" | "sls" | "cdktf" | "sst" | "eb" | "copilot"
            if words.contains(&"deploy")
                && (super::names_production(args)
                    || has(&["no-confirm-changeset", "auto-approve"])
                    || args
                        .iter()
                        .any(|arg| matches!(&*arg.text, "never" | "--require-approval=never"))) =>
        {
            run.ask(
                EffectKind::RemoteState,
                &target,
                EffectScope::Remote,
                "deploys without a prompt",
            );
        }
        "eb" => {
            if words.first() == Some(&"terminate") {
                run.remote(&target, "destroys infrastructure");
            }
        }
        _ => match verbs::find(&words, 3) {
            Some(Verb::Destroys) => run.remote(&target, "destroys infrastructure"),
            Some(Verb::Disturbs) => run.ask(
                EffectKind::RemoteState,
                &target,
                EffectScope::Remote,
                "changes infrastructure",
            ),
            None => {}
        },
    }
}

fn destroy_machine(run: &mut CommandRun<'_, '_>, target: &str) {
    run.effect(
        EffectKind::Delete,
        target,
        EffectScope::Outside,
        Reversibility::R4,
        "destroys a machine",
    );
}
