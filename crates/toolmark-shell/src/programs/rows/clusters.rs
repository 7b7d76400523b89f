//! Containers, clusters, virtual machines and distributed storage, beside the programs that have
//! files of their own.
//!
//! ```denied
//! govc vm.destroy vm1
//! juju kill-controller c
//! skopeo delete docker://r.example/app:v1
//! crane delete r.example/app@sha256:0
//! ceph osd purge 3 --yes-i-really-mean-it
//! rbd rm pool/image
//! gluster volume delete data
//! rke remove --force
//! gitlab-runner unregister --all-runners
//! aws-nuke run --no-dry-run
//! ```
//! ```asked
//! kubectl auth reconcile -f rbac.yaml
//! kubectl proxy --address=0.0.0.0 --accept-hosts='.*'
//! kubectl expose deploy x --type=LoadBalancer
//! ctr images rm docker.io/library/x
//! ctr -n k8s.io images rm docker.io/library/x
//! crictl rmi --prune
//! packer build -force image.pkr.hcl
//! gitlab-runner stop
//! ```
//! ```allowed
//! kubectl proxy
//! ctr images ls
//! crictl ps
//! govc vm.info vm1
//! juju status
//! packer build image.pkr.hcl
//! kubectl auth can-i delete pods
//! ceph status
//! rbd ls pool
//! skopeo inspect docker://r.example/app:v1
//! crane digest r.example/app
//! gitlab-runner list
//! ```

use super::{
    Act, CHANGES, DELETES, DROPS, EXPOSES, GRANTS, NOTHING, REMOVES, REPLACES, SHOWS_SECRET, STOPS,
    Tool, act,
};
use crate::effects::{EffectKind, EffectScope, Reversibility};
use Reversibility::{R1, R3, R5};

const READS_SECRET: Act = act(EffectKind::ReadSecret, EffectScope::Remote, R1, "reads a secret");
const RECREATES: Act =
    act(EffectKind::RemoteState, EffectScope::Remote, R5, "deletes and recreates");
const EMPTIES_NODE: Act =
    act(EffectKind::RemoteState, EffectScope::Remote, R5, "moves everything off a node");
const STOPS_ALL: Act =
    act(EffectKind::RemoteState, EffectScope::Remote, R5, "stops all of a workload");
const CHANGES_CLUSTER: Act =
    act(EffectKind::RemoteState, EffectScope::Remote, R3, "changes what runs in a cluster");
const APPLIES_FOREIGN: Act =
    act(EffectKind::ExecuteUntrusted, EffectScope::Remote, R1, "applies what an address holds");
const GIVES_ALL: Act =
    act(EffectKind::Privilege, EffectScope::Remote, R3, "gives somebody all rights");

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["kubectl", "k", "oc"],
        values: "-n --namespace --context --kubeconfig --cluster --user -l --selector -c",
        rows: &[
            ("drain", EMPTIES_NODE),
            ("replace|apply --force|--prune", RECREATES),
            ("scale --replicas=0", STOPS_ALL),
            ("scale", CHANGES_CLUSTER),
            ("rollout undo|restart|pause|resume", CHANGES_CLUSTER),
            ("cordon|uncordon|taint|patch|edit|set|replace|annotate", CHANGES_CLUSTER),
            ("evict|adm|certificate", CHANGES_CLUSTER),
            ("label --all", CHANGES_CLUSTER),
            ("get secret* -o=*yaml*|-o=*json*|-o=*template*", READS_SECRET),
            ("get secret* --output=*yaml*|--output=*json*|--output=*template*", READS_SECRET),
            ("get secret* -oyaml|-ojson", READS_SECRET),
            ("apply|create -f=*://*|--filename=*://*", APPLIES_FOREIGN),
            ("apply|create -k=*://*|--kustomize=*://*", APPLIES_FOREIGN),
            ("create clusterrolebinding|rolebinding --clusterrole=cluster-admin", GIVES_ALL),
            ("config delete*|unset*", CHANGES_CLUSTER),
            ("proxy --address=0.0.0.0", EXPOSES),
            ("proxy --accept-hosts|--disable-filter", EXPOSES),
            ("auth reconcile", GRANTS),
            ("expose --type=LoadBalancer|--type=NodePort", GRANTS),
        ],
    },
    Tool {
        names: &["ctr"],
        values: "-n --namespace -a --address",
        rows: &[
            ("i|image|images rm|remove|del|delete|prune", REMOVES),
            (
                "c|container|containers|snapshot|snapshots|content|leases|namespace|namespaces|ns rm|remove|del|delete|prune",
                REMOVES,
            ),
            ("t|task|tasks kill|rm|delete|del", STOPS),
        ],
    },
    Tool {
        names: &["crictl"],
        values: "-r -i -c",
        rows: &[("rm|rmi|rmp", REMOVES), ("stop|stopp", STOPS)],
    },
    Tool {
        names: &["packer"],
        values: "-var -var-file",
        rows: &[("build -force|--force|-force=true", CHANGES)],
    },
    Tool {
        names: &["skopeo", "crane", "regctl", "oras", "reg", "img"],
        values: "-u --platform",
        rows: &[("delete", DELETES), ("tag|manifest|image|blob|repo|index delete|rm", DELETES)],
    },
    Tool {
        names: &["aws-nuke", "cloud-nuke", "azure-nuke", "gcp-nuke", "leftovers"],
        values: "--config -c --region",
        rows: &[
            ("inspect-*|defaults-*|version|completion|resource-types", NOTHING),
            ("!--dry-run --no-dry-run|--force", DELETES),
            ("aws|azure|gcp|delete-tags", DELETES),
        ],
    },
    Tool {
        names: &["talosctl"],
        values: "-n -e --nodes",
        rows: &[("wipe|reset|upgrade", DELETES), ("shutdown|reboot", STOPS)],
    },
    Tool {
        names: &["puppet", "chef-server-ctl"],
        values: "",
        rows: &[
            ("resource *|user|package|service|file ensure=absent", CHANGES),
            ("resource * * ensure=absent|ensure=purged|ensure=stopped", CHANGES),
            ("cleanse|uninstall|cleanup", DELETES),
        ],
    },
    Tool {
        names: &["nomad"],
        values: "-address -namespace",
        rows: &[("system gc|reconcile", CHANGES), ("node drain|eligibility", STOPS)],
    },
    Tool {
        names: &["govc"],
        values: "-u -dc -ds",
        rows: &[
            ("*.destroy|*.rm|*.remove|*.delete|*.unregister", DELETES),
            ("vm.power -off|-reset|-s", STOPS),
            ("host.shutdown|host.maintenance.enter|datastore.maintenance.enter", STOPS),
        ],
    },
    Tool {
        names: &["juju"],
        values: "-m --model -c --controller",
        rows: &[
            (
                "kill-controller|destroy-*|remove-application|remove-unit|remove-machine|remove-storage",
                DELETES,
            ),
            ("remove-*|revoke*|detach-storage|disable-user|unregister", CHANGES),
        ],
    },
    Tool {
        names: &["ceph"],
        values: "-c -n --id",
        rows: &[
            ("osd purge|destroy|rm|lost", DELETES),
            ("osd pool delete|rm", DELETES),
            ("fs rm|fail", DELETES),
            ("mon|mds|auth|mgr rm|remove|del|fail", DELETES),
            ("orch rm|host", CHANGES),
            ("osd out|down|set", CHANGES),
        ],
    },
    Tool {
        names: &["rbd"],
        values: "-p --pool -c",
        rows: &[
            ("rm|remove|trash", DELETES),
            ("snap rm|remove|purge|rollback|revert", DELETES),
            ("pool init", REPLACES),
        ],
    },
    Tool {
        names: &["rados"],
        values: "-p --pool -c",
        rows: &[("rm|purge|rmpool|cppool", DELETES)],
    },
    Tool {
        names: &["radosgw-admin"],
        values: "",
        rows: &[("bucket|user|object|key|realm|zone rm|delete|unlink", DELETES)],
    },
    Tool {
        names: &["gluster"],
        values: "",
        rows: &[
            ("volume delete|reset|remove-brick|replace-brick|clear-locks", DELETES),
            ("volume stop", STOPS),
            ("peer detach", CHANGES),
            ("snapshot delete|restore", DELETES),
        ],
    },
    Tool {
        names: &["drbdadm", "targetcli", "iscsiadm", "multipath"],
        values: "-m -T -p",
        rows: &[
            ("wipe-md|create-md|clearconfig|invalidate|invalidate-remote", DROPS),
            ("-F", CHANGES),
            ("-o=delete|--op=delete|-u|--logout", CHANGES),
        ],
    },
    Tool {
        names: &[
            "rke",
            "rke2",
            "k0s",
            "kapp",
            "tanzu",
            "kubespray",
            "kubekey",
            "kk",
            "k3sup",
            "arkade",
        ],
        values: "-n -a --config",
        rows: &[
            ("remove|reset|delete", DELETES),
            ("cluster delete", DELETES),
            ("delete cluster", DELETES),
        ],
    },
    Tool {
        names: &["gitlab-runner"],
        values: "-n --name -c --config",
        rows: &[
            ("unregister|uninstall|reset-token", DELETES),
            ("verify --delete", DELETES),
            ("stop|restart", STOPS),
        ],
    },
    Tool {
        names: &["buildah", "img-store"],
        values: "",
        rows: &[("rm|rmi|prune -a|--all|-f|--force", REMOVES), ("prune", REMOVES)],
    },
    Tool {
        names: &["helm-secrets", "kubeseal"],
        values: "",
        rows: &[("dec|view|decrypt", SHOWS_SECRET)],
    },
    Tool {
        names: &["nodetool"],
        values: "-h -p -u -pw",
        rows: &[
            ("decommission|removenode|assassinate|clearsnapshot|truncatehints|scrub", DELETES),
            ("drain|stopdaemon|disable*", STOPS),
        ],
    },
    Tool {
        names: &["tiup", "pd-ctl"],
        values: "-u",
        rows: &[
            ("cluster destroy|clean|prune|scale-in", DELETES),
            ("cluster stop|restart", STOPS),
            ("uninstall --all|--self", REMOVES),
            ("store|member|region delete|remove", DELETES),
        ],
    },
    Tool {
        names: &["docker", "podman"],
        values: "-H --host -c --context",
        rows: &[
            ("trust revoke", DELETES),
            ("kube down --force", DROPS),
            ("swarm ca --rotate", CHANGES),
        ],
    },
    Tool {
        names: &["vboxmanage"],
        values: "",
        rows: &[
            ("controlvm * poweroff|reset|acpipowerbutton", STOPS),
            ("snapshot * delete|restore|restorecurrent", DROPS),
        ],
    },
    Tool {
        names: &["redis-cli", "valkey-cli"],
        values: "-h -p -a -u -n",
        rows: &[
            ("--cluster=del-node|--cluster=reshard|--cluster=rebalance", CHANGES),
            ("del-node --cluster", CHANGES),
        ],
    },
    Tool {
        names: &["celery"],
        values: "-A --app -b --broker",
        rows: &[("control shutdown|cancel_consumer|revoke", STOPS)],
    },
    Tool {
        names: &["ansible"],
        values: "-i -u -l -b -e -f",
        rows: &[("-m=reboot|--module-name=reboot|-m=ansible.builtin.reboot", STOPS)],
    },
    Tool { names: &["zpool"], values: "", rows: &[("export|offline|detach", STOPS)] },
    Tool { names: &["k3s-killall", "k3s-killall.sh"], values: "", rows: &[("", STOPS)] },
    Tool { names: &["atrm"], values: "", rows: &[("*", REMOVES)] },
];
