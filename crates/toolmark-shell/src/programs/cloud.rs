//! Clients of cloud and hosting services, recognized by the verb among their words.
//!
//! ```denied
//! aws s3 rb s3://b --force
//! aws s3 rm s3://b/x --recursive
//! aws --profile p ec2 terminate-instances --instance-ids i
//! aws s3 sync . s3://b --delete
//! aws rds delete-db-instance --db-instance-identifier x
//! gcloud compute instances delete x --zone z
//! gcloud run services delete x
//! gsutil -m rm -r gs://b
//! az group delete --name x --yes
//! az storage account delete -n x
//! az search service delete -n s -g g
//! heroku apps:destroy -a x
//! heroku pg:reset
//! fly apps destroy x
//! vercel remove x
//! vercel env rm X
//! netlify sites:delete
//! doctl compute droplet delete 1
//! wrangler delete
//! firebase firestore:delete --all-collections
//! vault kv destroy x
//! vault secrets disable x
//! op item delete x
//! circleci context delete a b
//! railway down --yes x delete
//! wrangler d1 execute prod-db --remote --command 'DROP TABLE users'
//! aws s3 cp ~/.aws/credentials s3://b/
//! ```
//! ```asked
//! heroku ps:stop web
//! gcloud sql instances restart x
//! aws ec2 stop-instances --instance-ids i
//! fly secrets unset A
//! aws secretsmanager update-secret --secret-id a
//! netlify env:unset A
//! heroku maintenance:on
//! aws secretsmanager get-secret-value --secret-id a
//! aws s3 cp a s3://b/
//! aws s3 mv s3://a s3://b --recursive
//! aws s3 cp ./index.html s3://b/index.html --acl public-read
//! aws lambda update-function-code --function-name x --zip-file fileb://f.zip
//! vercel --prod --yes
//! fly deploy
//! gcloud app deploy -q
//! gcloud projects add-iam-policy-binding x --member=allUsers --role=roles/owner
//! ```
//! ```allowed
//! aws s3 ls
//! aws s3 rm s3://b --recursive --dryrun
//! aws --endpoint-url http://localhost:4566 s3 rb s3://test --force
//! gcloud compute instances list
//! az vm list
//! heroku logs
//! vercel deploy
//! fly deploy --config fly.staging.toml -a x-staging
//! vault kv get a
//! aws help
//! gcloud auth login
//! aws ec2 describe-instances --filters delete
//! vault read secret/x
//! doppler secrets get A
//! op item get x
//! aws ec2 create-tags --tags Key=delete
//! wrangler dev
//! wrangler d1 execute dev-db --local --command 'drop table t'
//! gcloud projects describe delete
//! heroku run rails console
//! aws s3 mv s3://a s3://b
//! ```

use super::verbs::{self, Verb};
use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::lookup::NameLookup;
use crate::run::CommandRun;

/// Names of such clients.
pub(super) const NAMES: &[&str] = &[
    "aws",
    "gcloud",
    "gsutil",
    "az",
    "heroku",
    "fly",
    "flyctl",
    "vercel",
    "netlify",
    "doctl",
    "wrangler",
    "railway",
    "render",
    "firebase",
    "vault",
    "op",
    "doppler",
    "linode-cli",
    "hcloud",
    "ibmcloud",
    "oci",
    "scw",
    "aliyun",
    "tccli",
    "civo",
    "vultr-cli",
    "vultr",
    "exo",
    "openstack",
    "nova",
    "cf",
    "circleci",
    "travis",
    "jenkins-cli",
    "buildkite-agent",
    "bk",
    "s3cmd",
    "s5cmd",
    "mc",
    "b2",
    "azcopy",
    "stripe",
    "twilio",
    "sentry-cli",
    "datadog-ci",
    "newrelic",
    "auth0",
    "okta",
    "cloudflared",
    "planetscale",
    "pscale",
    "neonctl",
    "neon",
    "turso",
    "snow",
    "bq",
    "cockroach",
    "ccloud",
    "influx",
    "algolia",
    "meilisearch",
    "elasticsearch",
    "infisical",
    "sops",
    "berglas",
    "akamai",
    "fastly",
    "ngrok",
    "upstash",
    "convex",
    "amplify",
    "appwrite",
    "dokku",
    "caprover",
    "kamal",
    "cap",
    "shopify",
    "salesforce",
    "sf",
    "sfdx",
    "databricks",
    "dbfs",
    "wandb",
    "huggingface-cli",
    "hf",
    "kaggle",
    "replicate",
    "modal",
    "runpodctl",
    "vast",
    "launchdarkly",
    "ldcli",
    "splitio",
    "unleash",
    "statsig",
    "pagerduty",
    "pd",
    "opsgenie",
    "slack",
    "jira",
    "acli",
    "linear",
    "notion",
    "todoist",
    "zoom",
    "akeyless",
    "conjur",
    "bws",
    "bw",
    "lpass",
    "rhoas",
    "rosa",
    "ocm",
    "tsh",
    "tctl",
    "teleport",
    "boundary",
    "waypoint",
    "tailscale",
    "zerotier-cli",
    "jfrog",
    "jf",
    "cloudsmith",
    "gitlab-runner",
    "drone",
    "woodpecker-cli",
    "argo",
    "spin",
    "deployctl",
    "surge",
    "now",
    "nhost",
    "koyeb",
    "northflank",
    "porter",
    "qovery",
    "platform",
    "upsun",
    "terminus",
    "acquia",
    "lagoon",
    "pantheon",
    "getambassador",
    "kong",
    "deck",
    "rancher-cli",
    "esxcli",
    "govc",
    "powercli",
    "xe",
    "maas",
    "juju",
    "mgmt",
    "elasticdump",
    "curator",
    "opensearch-cli",
    "cypher",
    "namecheap",
    "godaddy",
    "cli53",
    "flarectl",
    "cf-terraforming",
    "lightsail",
    "ask",
    "expo",
    "eas",
    "apollo",
    "ionic",
    "appcenter",
    "codemagic",
    "mongocli",
    "atlas-cli",
    "mongodb-atlas",
    "steampipe",
    "xata",
    "edgedb",
    "gel",
    "prefect",
    "dagster",
    "airflow",
    "mlflow",
    "dvc",
];
static KNOWN: NameLookup<512> = NameLookup::new(&[NAMES]);

/// Whether a program is such a client.
pub(super) fn knows(name: &str) -> bool {
    KNOWN.has(name)
}

/// Whether an option may precede the words and takes a value.
fn valued(text: &str) -> bool {
    text.starts_with('-')
        && !text.contains('=')
        && matches!(
            text.trim_start_matches('-'),
            "profile"
                | "region"
                | "output"
                | "endpoint-url"
                | "query"
                | "color"
                | "project"
                | "account"
                | "app"
                | "a"
                | "configuration"
                | "format"
                | "zone"
                | "subscription"
                | "context"
                | "t"
                | "access-token"
                | "token"
                | "org"
                | "o"
                | "team"
                | "scope"
                | "s"
                | "c"
                | "config"
                | "cwd"
                | "e"
                | "environment"
                | "namespace"
                | "n"
                | "address"
                | "ca-cert"
                | "resource-group"
                | "g"
                | "url"
                | "user"
                | "u"
                | "h"
                | "host"
                | "r"
                | "auth"
                | "p"
                | "server"
        )
}

/// Returns the words that are neither options nor their values.
pub(super) fn words(args: &[Arg]) -> Vec<&str> {
    let mut out = Vec::new();
    let mut skip = false;
    for arg in args {
        let text = arg.text.as_str();
        if std::mem::take(&mut skip) {
            continue;
        }
        if text.starts_with('-') && text.len() > 1 {
            skip = valued(text);
        } else {
            out.push(text);
        }
    }
    out
}

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let args = run.args;
    if super::only_informs(args)
        || args.iter().any(|arg| matches!(arg.text.as_str(), "--no-run" | "--noop"))
    {
        return;
    }
    if is_emulated(args) {
        return;
    }
    statements(run);
    // `gcloud compute ssh VM --command TEXT`
    let command = args.iter().enumerate().find_map(|(at, arg)| match arg.text.split_once('=') {
        Some(("--command", value)) => Some(value.to_owned()),
        _ if arg.text == "--command" => args.get(at + 1).map(|next| next.text.clone()),
        _ => None,
    });
    if let Some(text) = command.filter(|text| !crate::sql::is_statement(text)) {
        super::runners::suspect(run, |run| run.shell_text(&text));
    }
    let words = words(args);
    let target = words.join(" ");
    let reach = match run.name {
        "aws" => 2,
        "gsutil" | "s3cmd" | "s5cmd" | "vault" | "mc" => 3,
        _ => 6,
    };
    // Nothing is left running.
    let scales = words.iter().any(|word| word.contains("scale") || *word == "resize");
    if scales && args.iter().any(|arg| arg.text == "0" || arg.text.ends_with("=0")) {
        return run.remote(&target, "stops all of a workload");
    }
    if enters_production(run, &words) {
        let (kind, why) = (EffectKind::Privilege, "runs a command in production");
        return run.effect(kind, &target, EffectScope::Remote, Reversibility::R1, why);
    }
    // A protection of data is disabled.
    let weakens = args.iter().any(|arg| {
        [
            "--no-deletion-protection",
            "--no-backup",
            "--no-versioning",
            "--no-enable-point-in-time-recovery",
            "--skip-final-snapshot",
        ]
        .iter()
        .any(|flag| arg.text.starts_with(flag))
    });
    let grants = words.windows(3).any(|three| matches!(three, ["role", "assignment", "create"]));
    if weakens || grants {
        return run.ask(
            EffectKind::RemoteState,
            &target,
            EffectScope::Remote,
            "weakens what protects a service",
        );
    }
    if deploys(run, &words) {
        return run.ask(
            EffectKind::RemoteState,
            &target,
            EffectScope::Remote,
            "deploys to where people use it",
        );
    }
    // No names stand among the words of az: `az search service delete`.
    if run.name == "az" && words.iter().take(reach).any(|word| verbs::destroys(word)) {
        return run.remote(&target, "deletes from a service");
    }
    match verbs::find(&words, reach) {
        Some(Verb::Destroys) => {
            let keys = words
                .iter()
                .take(reach)
                .any(|word| verbs::destroys(word) || word.split(':').any(verbs::destroys));
            if keys {
                run.remote(&target, "deletes from a service");
            }
        }
        Some(Verb::Disturbs) => run.effect(
            EffectKind::RemoteState,
            &target,
            EffectScope::Remote,
            Reversibility::R3,
            "changes what runs at a service",
        ),
        None => {}
    }
}

/// Whether a client talks to an emulator on this machine.
pub(super) fn is_emulated(args: &[Arg]) -> bool {
    let is_endpoint =
        |text: &str| matches!(text, "--endpoint-url" | "--endpoint" | "--api-url" | "--emulator");
    let is_here = |url: &str| super::network::is_own(url);
    args.iter().enumerate().any(|(at, arg)| match arg.text.split_once('=') {
        Some((name, url)) => is_endpoint(name) && is_here(url),
        None => is_endpoint(&arg.text) && args.get(at + 1).is_some_and(|next| is_here(&next.text)),
    })
}

/// Whether a client opens a shell or runs a command where people are.
fn enters_production(run: &CommandRun<'_, '_>, words: &[&str]) -> bool {
    let enters = |word: &&str| {
        matches!(*word, "ssh" | "run" | "run:detached" | "ps:exec" | "console" | "start-session")
    };
    matches!(run.name, "fly" | "flyctl" | "heroku" | "railway" | "render" | "gcloud" | "aws" | "eb")
        && super::names_production(run.args)
        && words.iter().take(2).any(enters)
}

/// Analyzes database statements passed to a service client: `--command 'DROP TABLE x'`.
fn statements(run: &mut CommandRun<'_, '_>) {
    if run.args.iter().any(|arg| arg.text == "--local") {
        return;
    }
    let texts = run.args.iter().map(|arg| {
        let attached = arg.text.strip_prefix("--").and_then(|rest| rest.split_once('='));
        attached.map_or(arg.text.as_str(), |(_, value)| value)
    });
    let found: Vec<_> = texts
        .filter(|text| text.contains(' ') && crate::sql::is_statement(text))
        .filter_map(crate::sql::worst)
        .collect();
    for found in found {
        run.effect(
            EffectKind::Delete,
            &found.target,
            EffectScope::Remote,
            found.reversibility,
            found.why,
        );
    }
}

/// Whether a command deploys to production. Names of a trial environment are excluded.
fn deploys(run: &CommandRun<'_, '_>, words: &[&str]) -> bool {
    let has = |flags: &[&str]| run.args.iter().any(|arg| flags.contains(&arg.text.as_str()));
    let is_trial = |word: &str| {
        let mut parts = word.split(|c: char| !c.is_ascii_alphanumeric());
        crate::sql::is_trial(word)
            || parts.any(|part| matches!(part, "staging" | "preview" | "local" | "qa"))
    };
    if run.args.iter().any(|arg| is_trial(&arg.text)) || has(&["--build-only", "--no-promote"]) {
        return false;
    }
    let first = words.first().copied().unwrap_or("");
    match run.name {
        "vercel" | "netlify" => has(&["--prod", "--production", "-p"]) || first == "promote",
        "fly" | "flyctl" | "wrangler" | "firebase" | "kamal" | "eas" | "deployctl" | "surge"
        | "now" | "amplify" | "koyeb" | "convex" | "sst" | "shopify" => {
            matches!(first, "deploy" | "publish" | "redeploy" | "launch" | "up" | "submit")
                && (first != "up" || run.name == "amplify")
        }
        "cap" | "dokku" => words.contains(&"deploy"),
        "railway" => matches!(first, "up" | "deploy" | "redeploy"),
        "gcloud" | "az" => {
            words.iter().take(4).any(|word| {
                matches!(
                    *word,
                    "deploy" | "set-iam-policy" | "add-iam-policy-binding" | "deployment"
                )
            }) && !words.iter().any(|word| {
                matches!(*word, "what-if" | "list" | "show" | "describe" | "validate" | "slot")
            })
        }
        "aws" => words.get(1) == Some(&"deploy"),
        _ => false,
    }
}

/// Reports a copy to a bucket, which sends a file out.
pub(super) fn upload(run: &mut CommandRun<'_, '_>) {
    let words = words(run.args);
    let is_copy = match (run.name, words.as_slice()) {
        ("aws", ["s3", verb, ..]) => matches!(*verb, "cp" | "mv" | "sync"),
        ("gsutil", [verb, ..]) => matches!(*verb, "cp" | "mv"),
        _ => false,
    };
    if !is_copy || super::only_informs(run.args) || is_emulated(run.args) {
        return;
    }
    let remote = |text: &str| text.contains("://");
    let is_verb = |word: &&str| matches!(*word, "cp" | "mv" | "sync" | "rsync" | "copy");
    let Some(at) = words.iter().position(is_verb) else { return };
    let operands = words.get(at + 1..).unwrap_or_default();
    // Behind the target stand values of options.
    let target = operands.iter().skip(1).find(|word| remote(word));
    let Some((source, target)) = operands.first().zip(target).filter(|(source, _)| !remote(source))
    else {
        return;
    };
    let why = "replaces what a bucket holds";
    run.effect(EffectKind::RemoteState, target, EffectScope::Remote, Reversibility::R3, why);
    if crate::secrets::secrecy(source).is_some() && source.contains(['/', '.']) {
        let (kind, level) = (EffectKind::SendOut, Reversibility::R5);
        run.effect(kind, source, EffectScope::Remote, level, "sends a secret to a service");
    }
    if run.args.iter().any(|arg| arg.text == "public-read") {
        let (kind, level) = (EffectKind::SendOut, Reversibility::R3);
        run.effect(kind, target, EffectScope::Remote, level, "makes an upload public");
    }
}
