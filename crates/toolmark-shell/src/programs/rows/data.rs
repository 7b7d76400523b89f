//! Databases, their administration, migrations, pipelines and models, beside the programs that have
//! files of their own.
//!
//! ```denied
//! bin/magento setup:uninstall -n
//! bench drop-site site1.local
//! bench --site s restore --force x.sql
//! influxd restore -portable /backup
//! mongoimport --drop -d app -c users users.json
//! hdfs dfs -rm -r /data
//! hdfs namenode -format
//! ldapdelete -D cn=admin cn=bob,dc=x
//! xtrabackup --copy-back --target-dir=/backup
//! convex import --replace data.zip
//! meilisearch --import-dump x --ignore-dump-if-db-exists
//! ```
//! ```asked
//! mlflow gc
//! ollama rm llama3
//! hasura migrate apply --down all
//! dagster asset wipe --all
//! wp option delete siteurl
//! wp search-replace a b --all-tables
//! surreal sql --endpoint x --query 'REMOVE DATABASE db'
//! bfg --delete-files id_rsa
//! occ maintenance:mode --on
//! pt-online-schema-change --alter 'drop column a' D=shop,t=users --execute
//! temporal workflow terminate --workflow-id x
//! supabase migration repair --status reverted 2024
//! ```
//! ```allowed
//! bin/magento cache:flush
//! bench --site s migrate
//! mongoimport -d app -c users users.json
//! hdfs dfs -ls /data
//! hasura migrate apply
//! ollama pull llama3
//! ollama run llama3 hi
//! mlflow ui
//! temporal workflow list
//! temporal server start-dev
//! convex dev
//! convex import --table t data.json
//! pt-online-schema-change --alter 'drop column a' D=shop,t=users --dry-run
//! supabase migration list
//! influxd version
//! wp search-replace a b --dry-run
//! sanity dataset list
//! ```

use super::{CHANGES, DELETES, DROPS, NOTHING, REMOVES, REPLACES, SHOWS_SECRET, STOPS, Tool};

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["magento", "n98-magerun", "n98-magerun2", "magerun"],
        values: "",
        rows: &[
            ("setup:uninstall|setup:rollback|db:drop|module:uninstall", DROPS),
            ("admin:user:delete|customer:delete|eav:attribute:remove", DROPS),
            ("maintenance:enable|setup:db-schema:upgrade", CHANGES),
        ],
    },
    Tool {
        names: &["bench"],
        values: "--site",
        rows: &[
            ("drop-site|reinstall|uninstall-app|remove-from-installed-apps", DROPS),
            ("restore|partial-restore", REPLACES),
            ("destroy-all-sessions|remove-app|trim-database|trim-tables", CHANGES),
        ],
    },
    Tool {
        names: &["occ"],
        values: "",
        rows: &[
            ("user:delete|group:delete|trashbin:cleanup|versions:cleanup|files:cleanup", DROPS),
            ("maintenance:mode --on", CHANGES),
            ("app:remove|app:disable|encryption:disable|db:convert-type", CHANGES),
        ],
    },
    Tool {
        names: &["craft", "statamic", "typo3", "moosh", "tootctl", "joomla"],
        values: "",
        rows: &[
            ("db/restore|db/drop-all-tables|db/drop-table-prefix|migrate/down", DROPS),
            ("gc --delete-all-trashed", DROPS),
            ("self-destruct", DROPS),
            ("accounts|media|statuses|domains delete|remove|cull|purge", DROPS),
            ("cleanup:*|course-delete|user-delete|database-drop", DROPS),
        ],
    },
    Tool {
        names: &["gitlab-backup", "gitlab-ctl", "gitlab-rake", "discourse", "ghost"],
        values: "",
        rows: &[
            ("restore|gitlab:backup:restore", REPLACES),
            ("cleanse|uninstall|remap|destroy", DROPS),
            ("stop|restart|reconfigure", STOPS),
        ],
    },
    Tool {
        names: &["ldapdelete", "ldapmodrdn"],
        values: "-D -w -H -h -p -f",
        rows: &[("!-n", DELETES)],
    },
    Tool {
        names: &["ldapmodify", "ipa", "samba-tool", "kcadm", "kcadm.sh"],
        values: "-D -w -H -f",
        rows: &[
            ("*-del|*-disable", DELETES),
            ("user|group|computer|ou|dns delete|remove|disable", DELETES),
            ("delete", DELETES),
        ],
    },
    Tool {
        names: &["mongoimport"],
        values: "-d -c -h -u -p --db --collection --uri --file",
        rows: &[("--drop", DROPS)],
    },
    Tool { names: &["mongofiles"], values: "-d -h --db", rows: &[("delete|delete_id", DELETES)] },
    Tool {
        names: &["arangorestore", "couchbase-cli", "cbbackupmgr", "cbq"],
        values: "-c -u -p",
        rows: &[
            ("--overwrite", REPLACES),
            ("bucket-delete|bucket-flush|collection-manage|rebalance-stop|server-remove", DELETES),
            ("remove", DELETES),
        ],
    },
    Tool {
        names: &["influxd", "influx_inspect"],
        values: "-db -host",
        rows: &[("restore|upgrade|deletetsm", REPLACES), ("inspect delete-tsm", REPLACES)],
    },
    Tool {
        names: &["meilisearch"],
        values: "",
        rows: &[("--ignore-dump-if-db-exists|--ignore-snapshot-if-db-exists", DROPS)],
    },
    Tool {
        names: &["algolia", "typesense"],
        values: "-y --application-name",
        rows: &[(
            "indices|objects|rules|synonyms|index|collection delete|clear|browse-delete",
            DELETES,
        )],
    },
    Tool {
        names: &["hdfs", "hadoop"],
        values: "",
        rows: &[
            ("namenode -format", DROPS),
            ("dfs|fs -rm|-rmr|-rmdir|-truncate|-expunge", DELETES),
            ("dfsadmin -safemode", CHANGES),
            ("dfs|fs -chmod|-chown -R", CHANGES),
        ],
    },
    Tool {
        names: &["xtrabackup", "mariabackup", "mariadb-backup", "innobackupex"],
        values: "",
        rows: &[("--copy-back|--move-back", REPLACES)],
    },
    Tool {
        names: &["pt-online-schema-change", "gh-ost", "pt-table-sync"],
        values: "--alter",
        rows: &[("--execute !--dry-run", CHANGES)],
    },
    Tool { names: &["pt-archiver"], values: "", rows: &[("--purge !--dry-run", DELETES)] },
    Tool { names: &["pt-kill"], values: "", rows: &[("--kill|--kill-query", STOPS)] },
    Tool {
        names: &["mysqlimport"],
        values: "-u -h -p",
        rows: &[("--delete|-d|--replace", REPLACES)],
    },
    Tool {
        names: &["sqlite-utils"],
        values: "",
        rows: &[("drop-table|drop-view", DROPS), ("insert --truncate|--replace", REMOVES)],
    },
    Tool {
        names: &["litestream"],
        values: "-o",
        rows: &[("restore !-if-db-not-exists", REPLACES)],
    },
    Tool { names: &["memcflush", "memcrm"], values: "", rows: &[("", DELETES)] },
    Tool {
        names: &["hasura"],
        values: "--project --endpoint --database-name",
        rows: &[
            ("migrate apply --down|--goto", CHANGES),
            ("migrate delete|squash", CHANGES),
            ("metadata clear", DELETES),
        ],
    },
    Tool {
        names: &["supabase"],
        values: "--project-ref --workdir",
        rows: &[
            ("migration repair|squash|down", CHANGES),
            ("config push", CHANGES),
            ("projects api-keys", SHOWS_SECRET),
            ("orgs|projects|snippets delete", DELETES),
            ("sso|domains|vanity-subdomains|network-bans remove|delete", DELETES),
        ],
    },
    Tool {
        names: &["convex"],
        values: "--table",
        rows: &[("import --replace|--replace-all|-y", REPLACES), ("env remove|unset", CHANGES)],
    },
    Tool {
        names: &["ejabberdctl", "prosodyctl", "mosquitto_ctrl"],
        values: "",
        rows: &[
            ("unregister|delete_*|destroy_*|deluser|kick_*", DELETES),
            ("dynsec delete*", DELETES),
        ],
    },
    Tool { names: &["ollama"], values: "", rows: &[("rm", REMOVES), ("push", CHANGES)] },
    Tool {
        names: &["mlflow"],
        values: "",
        rows: &[("gc", REMOVES), ("experiments|runs|models delete", REMOVES)],
    },
    Tool {
        names: &["dagster"],
        values: "",
        rows: &[("asset|run wipe*|delete", REMOVES), ("instance migrate", CHANGES)],
    },
    Tool {
        names: &["wandb"],
        values: "-p --project -e --entity",
        rows: &[
            ("sync --clean", REMOVES),
            ("sweep --cancel|--stop", STOPS),
            ("launch-agent", NOTHING),
        ],
    },
    Tool {
        names: &["temporal"],
        values: "--address --namespace -n --env",
        rows: &[
            ("workflow delete", DELETES),
            ("workflow terminate|cancel|reset|reset-batch", CHANGES),
            ("operator namespace|nexus delete", DELETES),
            ("operator search-attribute remove", CHANGES),
            ("batch|schedule terminate|delete", DELETES),
        ],
    },
    Tool {
        names: &["ray", "sky", "skypilot"],
        values: "--address",
        rows: &[("down", DELETES), ("stop|cancel", STOPS), ("job|jobs stop|cancel|delete", STOPS)],
    },
    Tool {
        names: &["vastai", "runpodctl"],
        values: "",
        rows: &[("destroy|remove", DELETES), ("stop", STOPS)],
    },
    Tool {
        names: &["sqlmesh", "meltano", "abctl"],
        values: "-p",
        rows: &[
            ("destroy|janitor|invalidate", DELETES),
            ("state clear", REMOVES),
            ("local uninstall --persisted", DROPS),
        ],
    },
    Tool { names: &["rq"], values: "-u --url", rows: &[("empty", DELETES), ("suspend", STOPS)] },
    Tool {
        names: &["surreal"],
        values: "--endpoint -e --user -u --pass -p --ns --db",
        rows: &[
            ("sql --query=*REMOVE*|--query=*DELETE*|--query=*remove*|--query=*delete*", CHANGES),
            ("import", CHANGES),
        ],
    },
    Tool {
        names: &["contentful"],
        values: "--space-id --environment-id",
        rows: &[("space migration|import|delete", CHANGES), ("merge", CHANGES)],
    },
    Tool {
        names: &["sanity"],
        values: "--dataset --project",
        rows: &[
            ("dataset import --replace|--missing", REPLACES),
            ("dataset visibility set", CHANGES),
            ("deploy|undeploy", CHANGES),
        ],
    },
    Tool {
        names: &["strapi"],
        values: "--to --from",
        rows: &[("transfer|import --force", REPLACES), ("transfer|import", CHANGES)],
    },
    Tool {
        names: &["wp"],
        values: "--path --url",
        rows: &[
            (
                "option|term|menu|media|comment|cron|role|cap|widget|transient delete|reset|unschedule",
                CHANGES,
            ),
            ("search-replace !--dry-run", CHANGES),
            ("db import", REPLACES),
        ],
    },
    Tool {
        names: &["drush"],
        values: "-r -l --uri --root",
        rows: &[
            ("sql:sync|sql-sync|rsync|core:rsync", REPLACES),
            ("entity:delete|user:cancel|pm:uninstall|pmu", CHANGES),
        ],
    },
    Tool {
        names: &["etcdctl"],
        values: "--endpoints",
        rows: &[("user|role delete|revoke-role", DELETES), ("member remove", DELETES)],
    },
    Tool { names: &["bfg"], values: "", rows: &[("!--version|-v", super::REWRITES)] },
];
