//! Clients of clouds and hosting services: commands whose verb alone does not say what they do.
//!
//! ```denied
//! netlify api deleteSite --data '{"site_id":"x"}'
//! wrangler d1 time-travel restore mydb --bookmark=x
//! hcloud server rebuild s --image ubuntu-22.04
//! doctl compute droplet-action rebuild 1 --image ubuntu
//! gcloud sql backups restore 1 --restore-instance=i
//! aws rds restore-db-cluster-to-point-in-time --db-cluster-identifier x
//! ```
//! ```asked
//! aws autoscaling set-desired-capacity --auto-scaling-group-name g --desired-capacity 0
//! wrangler rollback
//! wrangler d1 migrations apply db --remote
//! az vm open-port --port 22 -g g -n n
//! aws s3 presign s3://b/x.csv
//! gcloud compute instances add-metadata vm --metadata ssh-keys=x
//! firebase auth:import users.csv
//! firebase database:set /users data.json
//! slack-cli channel archive C1
//! gcloud compute firewall-rules create open --allow=tcp:22 --source-ranges=0.0.0.0/0
//! gsutil iam ch allUsers:objectViewer gs://b
//! gsutil acl ch -u AllUsers:R gs://b/x
//! az storage container set-permission -n c --public-access blob
//! gh ssh-key add key.pub
//! glab variable export
//! az functionapp keys list -n f -g rg
//! aws ec2 get-password-data --instance-id i
//! ```
//! ```allowed
//! netlify api listSites
//! wrangler d1 time-travel info mydb
//! wrangler versions list
//! wrangler d1 migrations apply db --local
//! wrangler d1 migrations list db --remote
//! hcloud server list
//! aws autoscaling describe-auto-scaling-groups
//! firebase auth:export /tmp/users.json
//! gsutil iam get gs://b
//! gcloud compute firewall-rules list
//! gcloud sql backups list -i i
//! gh ssh-key list
//! glab variable list
//! glab mr list
//! ```

use super::{
    CHANGES, DELETES, ENTERS, GRANTS, LETS_IN, MOVES_MONEY, NOTHING, PUBLISHES, REMOVES, REPLACES,
    RUNS_FOREIGN, SENDS, SHOWS_SECRET, SPENDS, STOPS, Tool, WEAKENS,
};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["aws"],
        values: "--profile --region --output --endpoint-url --query",
        rows: &[
            ("eks update-kubeconfig", NOTHING),
            ("s3 rm|rb", DELETES),
            ("s3 sync --delete", DELETES),
            ("s3 mv *://* --recursive", CHANGES),
            ("ec2 run-instances|request-spot-instances", SPENDS),
            ("ec2 purchase-reserved-instances-offering", SPENDS),
            ("ssm start-session", ENTERS),
            ("ecs execute-command", ENTERS),
            ("dynamodb batch-write-item|transact-write-items", CHANGES),
            ("autoscaling set-desired-capacity|update-auto-scaling-group", CHANGES),
            ("s3 presign", GRANTS),
            ("autoscaling suspend-processes|exit-standby|enter-standby", CHANGES),
            ("rds restore-*|promote-read-replica|failover-*|switchover-*", REPLACES),
            ("rds reboot-*|stop-*", STOPS),
            ("ec2 get-password-data|create-key-pair", SHOWS_SECRET),
            ("lightsail download-default-key-pair", SHOWS_SECRET),
            ("eks get-token", SHOWS_SECRET),
            (
                "iam add-user-to-group|attach-group-policy|put-group-policy|update-assume-role-policy",
                GRANTS,
            ),
            ("iam create-login-profile|update-login-profile|upload-ssh-public-key", GRANTS),
            ("lambda add-permission", GRANTS),
            ("cloudtrail stop-logging|delete-trail", WEAKENS),
            ("guardduty disable-*|disassociate-*", WEAKENS),
            ("ssm send-command", CHANGES),
            ("ec2 modify-snapshot-attribute|modify-image-attribute", GRANTS),
            ("ec2 replace-*|disassociate-*", CHANGES),
            ("cloudfront create-invalidation", CHANGES),
            ("configure|sso", NOTHING),
            (
                "* update-*|put-*|import-*|restore-*|send-*|publish*|modify-*|change-*|close-*|deploy",
                CHANGES,
            ),
        ],
    },
    Tool {
        names: &["gcloud"],
        values: "--project --zone --region --account --configuration --format",
        rows: &[
            ("sql backups restore", REPLACES),
            ("sql import", REPLACES),
            ("sql instances clone|patch|promote-replica|failover", CHANGES),
            ("sql users set-password", CHANGES),
            ("compute firewall-rules create|update --source-ranges=*0.0.0.0/0*", GRANTS),
            ("compute firewall-rules create !--source-ranges", GRANTS),
            (
                "storage buckets add-iam-policy-binding --member=allUsers|--member=allAuthenticatedUsers",
                GRANTS,
            ),
            (
                "storage buckets update --clear-lifecycle|--no-versioning|--clear-retention-period",
                WEAKENS,
            ),
            ("storage rsync --delete-unmatched-destination-objects", DELETES),
            ("compute instances reset|suspend", STOPS),
            ("compute instances set-machine-type|move", CHANGES),
            ("container clusters resize", CHANGES),
            ("firestore import", CHANGES),
            ("compute instances|project-info add-metadata", GRANTS),
            ("sql instances patch --authorized-networks", GRANTS),
            ("kms decrypt", SHOWS_SECRET),
            ("run services add-iam-policy-binding|set-iam-policy", GRANTS),
            ("run services update-traffic", CHANGES),
            ("functions add-iam-policy-binding", GRANTS),
        ],
    },
    Tool {
        names: &["gsutil"],
        values: "-o -h -u -p",
        rows: &[
            ("rsync -d|-rd|-dr !-n", DELETES),
            ("iam|acl|defacl set", GRANTS),
            ("iam|acl|defacl ch", GRANTS),
            ("lifecycle|versioning|retention set", WEAKENS),
            ("rsync -d", DELETES),
        ],
    },
    Tool {
        names: &["az"],
        values: "--subscription -g --resource-group -n --name -o --output --query",
        rows: &[
            ("storage container set-permission --public-access=blob", GRANTS),
            ("storage container set-permission --public-access=container", GRANTS),
            ("storage account update --allow-blob-public-access=true", GRANTS),
            (
                "functionapp|webapp|eventhubs|servicebus|iot|maps|search|cognitiveservices keys|hub|admin-key|query-key list|show|list-keys",
                SHOWS_SECRET,
            ),
            ("cognitiveservices account keys", SHOWS_SECRET),
            ("servicebus|eventhubs namespace authorization-rule keys", SHOWS_SECRET),
            ("iot hub connection-string", SHOWS_SECRET),
            (
                "webapp|functionapp deployment list-publishing-profiles|list-publishing-credentials",
                SHOWS_SECRET,
            ),
            ("aks get-credentials --admin|-a", SHOWS_SECRET),
            ("vm run-command", CHANGES),
            ("vm open-port", GRANTS),
            ("acr update --anonymous-pull-enabled=true", GRANTS),
            ("storage account|blob|container generate-sas", GRANTS),
            ("redis flush|force-reboot", DELETES),
            ("sql server firewall-rule create", GRANTS),
            ("vm deallocate|stop|restart|redeploy|reimage|generalize", STOPS),
            ("sql db restore|import|replica", REPLACES),
            ("postgres|mysql flexible-server restore|restart", REPLACES),
            ("network nsg rule create --access=Allow --source-address-prefixes=*", GRANTS),
            ("network nsg rule create !--source-address-prefixes", GRANTS),
            ("deployment group create --mode=Complete", REPLACES),
            ("lock delete", WEAKENS),
        ],
    },
    Tool {
        names: &["netlify", "ntl"],
        values: "--filter --auth",
        rows: &[
            ("api delete*|remove*|cancel*|rollback*|unlink*|disable*", DELETES),
            ("api update*|set*|create*|restore*|lock*", CHANGES),
            ("blobs:delete", DELETES),
        ],
    },
    Tool {
        names: &["wrangler"],
        values: "-c --config -e --env",
        rows: &[
            ("d1 time-travel restore", REPLACES),
            ("d1 migrations apply --remote", CHANGES),
            ("rollback", CHANGES),
            ("versions deploy", CHANGES),
            ("versions secret", CHANGES),
            ("r2 bucket lifecycle|lock|sippy|cors|dev-url", CHANGES),
            ("kv bulk delete", DELETES),
            ("tail", NOTHING),
        ],
    },
    Tool {
        names: &["hcloud"],
        values: "--context --config",
        rows: &[
            ("server rebuild", REPLACES),
            ("server poweroff|shutdown|reset|reboot", STOPS),
            ("server reset-password|request-console", SHOWS_SECRET),
            ("server|volume|load-balancer|firewall detach*|remove*|disable*", CHANGES),
            ("firewall add-rule|replace-rules|delete-rule", GRANTS),
        ],
    },
    Tool {
        names: &["doctl"],
        values: "-t --access-token -c --context -o --output",
        rows: &[
            ("compute droplet-action rebuild|restore", REPLACES),
            (
                "compute droplet-action power-off|shutdown|power-cycle|reboot|resize|password-reset",
                STOPS,
            ),
            ("databases user reset|get", SHOWS_SECRET),
            ("databases migrate|resize", CHANGES),
        ],
    },
    Tool {
        names: &["linode-cli", "vultr-cli", "scw", "exo", "openstack", "civo"],
        values: "--region --zone -p --profile",
        rows: &[
            ("linodes|instance|server|volumes rebuild|reinstall|rescue", REPLACES),
            ("compute instance reset|stop", REPLACES),
            ("instance server terminate", DELETES),
            ("instance server stop|reboot|standby", STOPS),
            ("linodes|instance|server shutdown|stop|reboot|halt|pause|shelve", STOPS),
            ("object-storage keys-*", SHOWS_SECRET),
            ("security group rule create", GRANTS),
        ],
    },
    Tool {
        names: &["firebase"],
        values: "--project -P --token --config",
        rows: &[
            ("*:delete|*:remove|*:disable", DELETES),
            ("auth:import", CHANGES),
            ("database:set|database:update|database:push", CHANGES),
            (
                "hosting:clone|hosting:rollback|remoteconfig:rollback|appdistribution:distribute",
                PUBLISHES,
            ),
            (
                "functions:config:set|functions:config:unset|functions:secrets:set|functions:secrets:prune",
                CHANGES,
            ),
        ],
    },
    Tool {
        names: &["slack-cli", "slackcli"],
        values: "-t --token",
        rows: &[
            ("channel|channels|group archive|kick|rename", CHANGES),
            ("chat|file send|upload|delete", CHANGES),
        ],
    },
    Tool {
        names: &["gh"],
        values: "-R --repo --hostname",
        rows: &[
            ("ssh-key|gpg-key add", LETS_IN),
            ("repo deploy-key add", LETS_IN),
            ("auth refresh -s|--scopes", GRANTS),
            ("extension install|upgrade", RUNS_FOREIGN),
            ("ruleset|repo unarchive", CHANGES),
        ],
    },
    Tool {
        names: &["glab"],
        values: "-R --repo -g --group",
        rows: &[
            ("variable export|get", SHOWS_SECRET),
            ("ssh-key add", LETS_IN),
            ("deploy-key add", LETS_IN),
            ("token create|rotate|revoke", CHANGES),
            ("ci|pipeline delete", DELETES),
        ],
    },
    Tool {
        names: &["pscale", "turso", "neonctl", "neon"],
        values: "--org --project-id",
        rows: &[
            ("password create", SHOWS_SECRET),
            ("db tokens create|invalidate", SHOWS_SECRET),
            ("group tokens create|invalidate", SHOWS_SECRET),
            ("branch|branches restore|reset|promote|demote|set-default|safe-migrations", CHANGES),
            ("backup restore", REPLACES),
            ("deploy-request deploy|revert", CHANGES),
        ],
    },
    Tool {
        names: &["heroku"],
        values: "-a --app -r --remote",
        rows: &[
            (
                "pg:reset|pg:copy|pg:promote|pg:kill|repo:reset|repo:purge_cache|container:rm",
                DELETES,
            ),
            ("pg:restore|pg:backups:restore", REPLACES),
            ("git:remote|apps:info|auth:whoami", NOTHING),
            ("keys:add|access:add|members:add", LETS_IN),
            ("pg:upgrade|pg:promote|pg:unfollow|pg:killall|pipelines:promote", CHANGES),
        ],
    },
    Tool {
        names: &["databricks"],
        values: "-p --profile",
        rows: &[
            ("secrets get-secret", SHOWS_SECRET),
            ("tokens create", SHOWS_SECRET),
            ("fs rm -r|--recursive", DELETES),
            ("workspace import-dir|import --overwrite|-o", REPLACES),
        ],
    },
    Tool {
        names: &["hf", "huggingface-cli"],
        values: "--token --repo-type",
        rows: &[
            ("auth token", SHOWS_SECRET),
            ("repo-files delete", DELETES),
            ("repo settings --private=false", GRANTS),
        ],
    },
    Tool { names: &["azcopy"], values: "", rows: &[("sync --delete-destination=true", DELETES)] },
    Tool {
        names: &["vault"],
        values: "-address -namespace -format -field -mount",
        rows: &[
            ("secrets move", CHANGES),
            ("read|list", NOTHING),
            ("kv get|list|put|patch|enable-versioning", NOTHING),
            ("kv metadata get|list|put", NOTHING),
            ("operator seal|rekey|step-down", DELETES),
            ("secrets|auth|audit disable", DELETES),
            ("lease|token revoke", DELETES),
        ],
    },
    Tool { names: &["mc"], values: "", rows: &[("mirror --remove|--overwrite", DELETES)] },
    Tool {
        names: &["stripe"],
        values: "--api-key -p --project-name",
        rows: &[
            ("* void|archive|cancel|deactivate|delete", CHANGES),
            ("listen|trigger|logs|login|config", NOTHING),
            ("* list|retrieve|get|search", NOTHING),
            ("refunds|payouts|transfers|charges|payment_intents|topups", MOVES_MONEY),
            ("create|confirm|capture", MOVES_MONEY),
        ],
    },
    Tool {
        names: &["twilio", "slack", "sendgrid", "resend", "pd"],
        values: "-t --token -p --profile",
        rows: &[
            ("*messages:create|*calls:create|*email:send|*chat:send|send|trigger", SENDS),
            ("* send|trigger", SENDS),
        ],
    },
    Tool { names: &["railway"], values: "", rows: &[("down", DELETES)] },
    Tool { names: &["kamal", "dokku", "cap"], values: "", rows: &[("app remove", DELETES)] },
    Tool { names: &["dvc"], values: "", rows: &[("gc", REMOVES)] },
    Tool {
        names: &["cloudinary", "cld"],
        values: "",
        rows: &[("api|admin|uploader delete*|destroy*", DELETES)],
    },
    Tool {
        names: &["cf"],
        values: "-o -s",
        rows: &[
            ("unbind-*|unmap-*|disable-*|purge-*|unset-*|remove-*", CHANGES),
            ("stop|restart|restage", STOPS),
        ],
    },
];
