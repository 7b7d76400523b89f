//! Kubernetes and the tools around it.
//!
//! ```denied
//! kubectl delete ns x
//! k delete -n test
//! kubectl -n prod delete pod x
//! kubectl drain n --force
//! kubectl scale deploy/x --replicas=0
//! kubectl apply -f x --force
//! helm uninstall x
//! helm -n a delete x
//! helm upgrade x c --force
//! velero backup delete x
//! kubectl exec p -- rm -rf /data
//! kubectl --context prod delete -f x.yaml
//! argocd app delete x
//! ```
//! ```asked
//! kubectl rollout restart deploy/x
//! helm rollback x 1
//! kubectl cordon n
//! kubectl scale deploy x --replicas=3
//! kubectl get secret x -o yaml
//! kind delete cluster
//! ```
//! ```allowed
//! kubectl get pods
//! kubectl delete pod x --dry-run=client
//! kubectl describe pod
//! kubectl apply -f x.yaml
//! kubectl logs delete
//! helm list
//! helm upgrade x c
//! helm uninstall x --dry-run
//! kubectl exec p -- ls
//! kubectl diff -f x
//! velero backup describe x
//! minikube start
//! ```

use super::verbs::{self, Verb};
use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::pipes::Flow;
use crate::run::CommandRun;

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let args = run.args;
    let split = args.iter().position(|arg| arg.text == "--").unwrap_or(args.len());
    let own = args.get(..split).unwrap_or_default();
    if super::only_informs(own) {
        return;
    }
    let words = super::cloud::words(own);
    let target = words.join(" ");
    let has = |flags: &[&str]| {
        own.iter().any(|arg| flags.contains(&arg.text.split('=').next().unwrap_or("")))
    };
    match run.name {
        "kubectl" | "k" | "oc" => match words.as_slice() {
            ["delete", ..] if is_local(own) => {
                let why = "deletes from a local cluster";
                run.ask(EffectKind::RemoteState, &target, EffectScope::Outside, why);
            }
            ["delete", ..] => run.remote(&target, "deletes from a cluster"),
            ["exec" | "debug" | "run" | "rsh", ..] => {
                let is_wide = own.iter().any(|arg| {
                    let text = arg.text.as_str();
                    text.contains("hostPID")
                        || text.contains("privileged")
                        || text.contains("hostPath")
                });
                if is_wide || words.get(1).is_some_and(|word| word.starts_with("node/")) {
                    let (kind, level) = (EffectKind::Privilege, Reversibility::R3);
                    run.effect(
                        kind,
                        &target,
                        EffectScope::Remote,
                        level,
                        "runs with the rights of a node",
                    );
                }
                let inner = args.get(split + 1..).unwrap_or_default().to_vec();
                if !inner.is_empty() {
                    super::carriers::elsewhere(run, EffectScope::Remote, |run| {
                        run.inner(inner, Flow::Unknown);
                    });
                }
            }
            ["apply" | "create" | "cp", ..] if super::names_production(own) => ask(run, &target),
            ["apply" | "create", ..]
                if matches!(&run.call.input, Flow::Text(text)
                        if ["hostPID", "privileged", "hostPath", "hostNetwork"].iter().any(|word| text.contains(word))) =>
            {
                let (kind, level) = (EffectKind::Privilege, Reversibility::R3);
                run.effect(
                    kind,
                    &target,
                    EffectScope::Remote,
                    level,
                    "runs with the rights of a node",
                );
            }
            _ => {}
        },
        "helm" | "helmfile" => match words.as_slice() {
            ["upgrade" | "install" | "apply" | "sync", ..] if super::names_production(own) => {
                ask(run, &target)
            }
            ["uninstall" | "delete" | "del" | "un" | "destroy", ..] => {
                run.remote(&target, "removes a release")
            }
            ["upgrade", ..] if has(&["--force"]) => {
                run.remote(&target, "replaces resources by force")
            }
            ["rollback", ..] => ask(run, &target),
            ["push", ..] => run.effect(
                EffectKind::Spend,
                &target,
                EffectScope::Remote,
                Reversibility::R3,
                "publishes a chart",
            ),
            ["install" | "upgrade" | "template", ..]
                if words.iter().any(|word| word.starts_with("http")) =>
            {
                let (kind, level) = (EffectKind::ExecuteUntrusted, Reversibility::R1);
                run.effect(
                    kind,
                    &target,
                    EffectScope::Remote,
                    level,
                    "applies what an address holds",
                );
            }
            _ => {}
        },
        "argocd" if words.get(1) == Some(&"sync") => ask(run, &target),
        "kubeadm" | "k3s" | "talosctl" => {
            if matches!(words.first(), Some(&("reset" | "k3s-uninstall"))) {
                run.remote(&target, "resets a node");
            }
        }
        "kind" | "k3d" | "minikube" | "microk8s" => {
            if let Some(Verb::Destroys) = verbs::find(&words, 3) {
                run.effect(
                    EffectKind::Delete,
                    &target,
                    EffectScope::Outside,
                    Reversibility::R3,
                    "deletes a local cluster",
                );
            }
        }
        _ => match verbs::find(&words, 3) {
            Some(Verb::Destroys) => run.remote(&target, "deletes from a cluster"),
            Some(Verb::Disturbs) => ask(run, &target),
            None => {}
        },
    }
}

fn ask(run: &mut CommandRun<'_, '_>, target: &str) {
    run.ask(EffectKind::RemoteState, target, EffectScope::Remote, "changes what runs in a cluster");
}

/// Whether the cluster runs on this machine.
fn is_local(args: &[Arg]) -> bool {
    let attached = args.iter().find_map(|arg| arg.text.strip_prefix("--context="));
    let next = || {
        let at = args.iter().position(|arg| arg.text == "--context")?;
        Some(args.get(at + 1)?.text.as_str())
    };
    attached.or_else(next).is_some_and(|name| {
        let names =
            ["minikube", "docker-desktop", "rancher-desktop", "colima", "orbstack", "microk8s"];
        name.starts_with("kind-") || name.starts_with("k3d-") || names.contains(&name)
    })
}
