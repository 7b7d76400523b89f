//! Tasks of application frameworks and migration tools that drop or empty
//! databases.

use crate::effects::{Kind, Reversibility, Scope};
use crate::expand::Arg;
use crate::inline::{self, Language};
use crate::run::Run;
use Reversibility::{R3, R4, R5};

/// How bad a task is.
fn level(name: &str, words: &[&str]) -> Option<(Reversibility, &'static str)> {
    let drops = Some((R4, "drops or empties a database"));
    let back = Some((R3, "rolls back migrations"));
    let first = words.first().copied().unwrap_or("");
    let second = words.get(1).copied().unwrap_or("");
    let any = |tasks: &[&str]| words.iter().any(|word| tasks.contains(word));
    match name {
        "rails" | "rake" | "spring" => {
            let drop = words.iter().any(|word| {
                let task = word.split('[').next().unwrap_or(word);
                matches!(
                    task,
                    "db:drop"
                        | "db:reset"
                        | "db:purge"
                        | "db:truncate_all"
                        | "db:migrate:reset"
                        | "db:schema:load"
                        | "db:structure:load"
                        | "db:setup"
                        | "db:seed:replant"
                        | "db:drop:all"
                ) || (task.starts_with("db:drop:") || task.starts_with("db:reset:"))
            });
            if drop {
                drops
            } else if any(&["db:rollback", "db:migrate:down"]) {
                back
            } else {
                None
            }
        }
        "artisan" | "symfony" | "console" | "bin/console" | "doctrine" => {
            if any(&[
                "migrate:fresh",
                "migrate:reset",
                "migrate:refresh",
                "db:wipe",
                "doctrine:database:drop",
                "doctrine:schema:drop",
                "queue:flush",
                "tenants:migrate-fresh",
                "orm:schema-tool:drop",
                "telescope:clear",
            ]) {
                drops
            } else if any(&["migrate:rollback"]) {
                back
            } else {
                None
            }
        }
        "manage.py" | "django-admin" => match first {
            "flush" | "reset_db" | "sqlflush" if first != "sqlflush" => drops,
            "migrate" if words.last() == Some(&"zero") => drops,
            _ => None,
        },
        "prisma" => match (first, second) {
            ("migrate", "reset") => drops,
            ("db", "push") if any(&["--force-reset", "--accept-data-loss"]) => drops,
            ("db", "execute") => Some((R3, "runs SQL from a file")),
            _ => None,
        },
        "mix" => {
            if any(&["ecto.drop", "ecto.reset"]) {
                drops
            } else if any(&["ecto.rollback"]) {
                back
            } else if any(&["hex.publish"]) {
                Some((R5, "publishes"))
            } else {
                None
            }
        }
        "knex" | "sequelize" | "sequelize-cli" | "typeorm" | "mikro-orm" | "drizzle-kit" => {
            if any(&[
                "db:drop",
                "schema:drop",
                "migrate:rollback:all",
                "schema:fresh",
                "migration:fresh",
                "db:migrate:undo:all",
                "drop",
            ]) {
                drops
            } else if any(&["migrate:rollback", "db:migrate:undo", "migration:revert"]) {
                back
            } else {
                None
            }
        }
        "alembic" | "flask" => {
            let words: Vec<&str> = words.iter().copied().filter(|word| *word != "db").collect();
            match words.as_slice() {
                ["downgrade", "base", ..] => drops,
                ["downgrade", ..] => back,
                _ => None,
            }
        }
        "flyway" | "liquibase" => {
            if any(&["clean", "dropAll", "drop-all", "dropall"]) {
                drops
            } else if any(&["rollback", "undo"]) {
                back
            } else {
                None
            }
        }
        "supabase" => match (first, second) {
            ("db", "reset") => drops,
            (
                "projects" | "branches" | "secrets" | "functions" | "storage",
                "delete" | "rm" | "unset",
            ) => Some((R5, "deletes from a service")),
            ("stop", _) if any(&["--no-backup"]) => drops,
            _ => None,
        },
        "dbmate" | "goose" | "migrate" | "sqlx" | "diesel" | "sea-orm-cli" | "hasura" | "atlas"
        | "phinx" | "refinery" | "sqitch" => {
            if any(&["drop", "reset", "fresh", "refresh"])
                || (first == "schema" && second == "clean")
            {
                drops
            } else if any(&["down", "rollback", "revert", "down-to"]) {
                back
            } else {
                None
            }
        }
        "wp" => match (first, second) {
            ("db", "drop" | "reset" | "clean") | ("site", "empty" | "delete") => drops,
            ("plugin" | "theme" | "post" | "user", "delete" | "uninstall") => {
                Some((R4, "deletes from a site"))
            }
            _ => None,
        },
        "drush" => {
            if any(&["sql-drop", "sql:drop", "site-install", "si", "site:install"]) {
                drops
            } else {
                None
            }
        }
        "dbt" => {
            if any(&["--full-refresh"]) {
                Some((R3, "rebuilds tables"))
            } else {
                None
            }
        }
        _ => None,
    }
}

pub(super) fn run(run: &mut Run<'_, '_>) {
    named(run, run.name, 0);
}

/// Code that a framework runs with the application loaded: `manage.py shell -c CODE`, `rails
/// runner CODE`, `artisan tinker --execute=CODE`.
fn code(run: &mut Run<'_, '_>, name: &str, args: &[Arg]) {
    let words: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
    let (language, code) = match (name, words.as_slice()) {
        ("manage.py" | "django-admin", ["shell" | "shell_plus", rest @ ..]) => {
            let given = rest.iter().position(|word| matches!(*word, "-c" | "--command"));
            (Language::Python, given.and_then(|at| rest.get(at + 1)).copied())
        }
        ("rails" | "spring", ["runner" | "r", rest @ ..]) => {
            (Language::Ruby, rest.iter().find(|word| !word.starts_with('-')).copied())
        }
        ("artisan", ["tinker", rest @ ..]) => {
            let given = rest.iter().find_map(|word| word.strip_prefix("--execute="));
            (Language::Php, given.or_else(|| rest.last().copied()))
        }
        _ => return,
    };
    if let Some(code) = code {
        inline::scan(run, language, code);
    }
}

/// Analyzes the words from `at` as those of the framework's own command.
pub(super) fn named(run: &mut Run<'_, '_>, name: &str, at: usize) {
    let args = run.args.get(at..).unwrap_or_default();
    if super::only_informs(args) {
        return;
    }
    code(run, name, args);
    let words: Vec<&str> = args
        .iter()
        .map(|arg| arg.text.as_str())
        .filter(|word| !word.contains('=') || word.starts_with("--"))
        .collect();
    let words: Vec<&str> = words
        .iter()
        .copied()
        .filter(|word| {
            !word.starts_with('-')
                || matches!(
                    *word,
                    "--force-reset" | "--accept-data-loss" | "--full-refresh" | "--no-backup"
                )
        })
        .collect();
    let Some((mut level, why)) = level(name, &words) else { return };
    let environment =
        ["RAILS_ENV", "RACK_ENV", "APP_ENV", "NODE_ENV", "MIX_ENV", "DJANGO_SETTINGS_MODULE"]
            .iter()
            .find_map(|name| run.env(name).map(str::to_owned))
            .or_else(|| {
                args.iter().find_map(|arg| {
                    arg.text
                        .split_once('=')
                        .filter(|(name, _)| name.ends_with("ENV") || *name == "--env")
                        .map(|(_, value)| value.to_owned())
                })
            });
    match environment.as_deref() {
        Some(value) if value.contains("prod") || value.contains("staging") => level = R5,
        Some("test") => level = Reversibility::R2,
        _ => {}
    }
    let target = words.join(" ");
    run.effect(Kind::Delete, &target, Scope::Remote, level, why);
}

#[cfg(test)]
mod tests {
    use crate::programs::check;

    #[test]
    fn tasks() {
        check(
            &[
                "rails db:drop",
                "bundle exec rake db:reset",
                "RAILS_ENV=production rails db:migrate:reset",
                "php artisan migrate:fresh",
                "python manage.py flush",
                "npx prisma migrate reset",
                "mix ecto.reset",
                "prisma db push --force-reset",
                "npx sequelize-cli db:drop",
                "alembic downgrade base",
                "bin/rails db:drop",
                "python3 manage.py reset_db --noinput",
                "flyway clean",
                "wp db reset --yes",
            ],
            &[
                "rails db:rollback",
                "php artisan migrate:rollback",
                "alembic downgrade -1",
                "diesel migration revert",
            ],
            &[
                "rails db:migrate",
                "bundle exec rake db:migrate:status RAILS_ENV=test",
                "php artisan migrate",
                "python manage.py migrate",
                "prisma generate",
                "mix test",
                "RAILS_ENV=test rails db:drop",
                "rails db:seed",
                "npx prisma db push",
                "alembic upgrade head",
                "rails g migration Drop",
            ],
        );
    }
}
