//! Tasks of application frameworks and migration tools that drop or empty databases.
//!
//! ```denied
//! rails db:drop
//! bundle exec rake db:reset
//! RAILS_ENV=production rails db:migrate:reset
//! php artisan migrate:fresh
//! python manage.py flush
//! npx prisma migrate reset
//! mix ecto.reset
//! prisma db push --force-reset
//! npx sequelize-cli db:drop
//! alembic downgrade base
//! bin/rails db:drop
//! python3 manage.py reset_db --noinput
//! flyway clean
//! wp db reset --yes
//! supabase db reset --linked
//! echo 'DROP TABLE users;' | python manage.py dbshell
//! npx drizzle-kit push --force
//! php bin/console dbal:run-sql 'DELETE FROM users'
//! ```
//! ```asked
//! rails db:rollback
//! php artisan migrate:rollback
//! alembic downgrade -1
//! diesel migration revert
//! supabase db reset
//! php bin/console doctrine:fixtures:load -n
//! bin/rails runner 'Account.delete_all'
//! echo 'User.delete_all' | rails console -e production
//! php artisan tinker --execute='App\Models\User::truncate();'
//! php artisan tinker --execute 'DB::table("users")->delete();'
//! mix run -e 'Repo.delete_all(User)'
//! flask shell <<< 'db.drop_all()'
//! ```
//! ```allowed
//! rails db:migrate
//! bundle exec rake db:migrate:status RAILS_ENV=test
//! php artisan migrate
//! python manage.py migrate
//! prisma generate
//! mix test
//! RAILS_ENV=test rails db:drop
//! rails db:seed
//! npx prisma db push
//! alembic upgrade head
//! alembic downgrade head:base --sql
//! rails g migration Drop
//! bin/rails runner 'puts User.count'
//! php artisan tinker --execute='echo User::count();'
//! mix run -e 'IO.puts 1'
//! npx drizzle-kit push
//! ```

use crate::effects::{Certainty, EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::inline::{self, Language};
use crate::pipes::Flow;
use crate::run::CommandRun;
use Reversibility::{R3, R4, R5};

/// Returns the reversibility of a task, and the reason.
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
            } else if any(&["doctrine:fixtures:load"]) && !any(&["--append"]) {
                Some((R3, "empties a database before it fills it"))
            } else {
                None
            }
        }
        "manage.py" | "django-admin" => match first {
            "flush" | "reset_db" | "sqlflush" if first != "sqlflush" => drops,
            "migrate" if words.last() == Some(&"zero") => drops,
            // To the first migrations it goes back.
            "migrate" if words.get(2).is_some_and(|to| to.starts_with("000")) => back,
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
                "migrate:down:all",
                "schema:fresh",
                "migration:fresh",
                "db:migrate:undo:all",
                "drop",
            ]) || (name == "drizzle-kit" && first == "push" && any(&["--force"]))
            {
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
            } else if any(&["undo"]) || words.iter().any(|word| word.starts_with("rollback")) {
                back
            } else {
                None
            }
        }
        "supabase" => match (first, second) {
            ("db", "reset") if any(&["--linked", "--db-url"]) => drops,
            // Without a name it is the database of this machine.
            ("db", "reset") => Some((R3, "resets a local database")),
            ("db", "push") if any(&["--linked", "--include-all"]) => {
                Some((R3, "changes a shared database"))
            }
            (
                "projects" | "branches" | "secrets" | "functions" | "storage",
                "delete" | "rm" | "unset",
            ) => Some((R5, "deletes from a service")),
            ("stop", _) if any(&["--no-backup"]) => drops,
            _ => None,
        },
        "atlas" if first == "schema" && second == "apply" && any(&["--auto-approve"]) => {
            Some((R3, "changes a schema without a prompt"))
        }
        "atlas" if second == "delete" => Some((R5, "deletes from a service")),
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

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    named(run, run.name, 0);
}

/// Ways to pass code to the application that a framework loads.
struct Console {
    programs: &'static [&'static str],
    /// Words before the code, each with its aliases.
    verbs: &'static [&'static str],
    language: Language,
    /// Options whose value is code.
    options: &'static [&'static str],
    /// Whether the first word after the verb is code.
    operand: bool,
}

const CONSOLES: &[Console] = &[
    Console {
        programs: &["manage.py", "django-admin"],
        verbs: &["shell", "shell_plus"],
        language: Language::Python,
        options: &["-c", "--command"],
        operand: false,
    },
    Console {
        programs: &["flask"],
        verbs: &["shell"],
        language: Language::Python,
        options: &[],
        operand: false,
    },
    Console {
        programs: &["rails", "spring", "hanami"],
        verbs: &["runner", "r"],
        language: Language::Ruby,
        options: &[],
        operand: true,
    },
    Console {
        programs: &["rails", "spring", "hanami"],
        verbs: &["console", "c"],
        language: Language::Ruby,
        options: &[],
        operand: false,
    },
    Console {
        programs: &["artisan"],
        verbs: &["tinker"],
        language: Language::Php,
        options: &["--execute"],
        operand: true,
    },
    Console {
        programs: &["wp"],
        verbs: &["eval", "shell"],
        language: Language::Php,
        options: &[],
        operand: true,
    },
    Console {
        programs: &["drush"],
        verbs: &["php:eval", "ev", "eval", "php-eval", "php:cli"],
        language: Language::Php,
        options: &[],
        operand: true,
    },
    Console {
        programs: &["mix", "iex"],
        verbs: &["run"],
        language: Language::Other,
        options: &["-e", "--eval"],
        operand: false,
    },
];

/// Methods of object mappers that affect every row, or thousands of rows.
const MASS: &[&str] = &[
    ".delete_all",
    ".destroy_all",
    ".truncate",
    "::truncate(",
    "->truncate(",
    "->delete(",
    "->forceDelete(",
    "::destroy(",
    "->each->delete",
    ".objects.all().delete(",
    ".drop_all(",
    "Schema::drop",
    "Schema.drop",
    "dropAllTables",
    "dropIfExists(",
    ".raw_delete(",
    "->dropTable(",
    ".flushdb",
    ".flushall",
    "::flushdb",
    "::flushall",
    "Rails.cache.clear",
];

/// Analyzes code that a framework runs with the application loaded: `manage.py shell -c CODE`,
/// `rails runner CODE`, `artisan tinker --execute=CODE`, or piped into its console.
fn code(run: &mut CommandRun<'_, '_>, name: &str, args: &[Arg]) {
    let words: Vec<&str> = args.iter().map(|arg| arg.text.as_str()).collect();
    let Some((verb, rest)) = words.split_first() else { return };
    let consoles =
        CONSOLES.iter().filter(|row| row.programs.contains(&name) && row.verbs.contains(verb));
    for console in consoles {
        let attached = |word: &&str| {
            let (option, code) = word.split_once('=')?;
            console.options.contains(&option).then(|| code.to_owned())
        };
        let next = rest.windows(2).find_map(|pair| match pair {
            [option, code] if console.options.contains(option) => Some((*code).to_owned()),
            _ => None,
        });
        let operand = || {
            let mut operands = rest.iter().filter(|word| !word.starts_with('-'));
            operands.next().filter(|_| console.operand).map(|word| (*word).to_owned())
        };
        let fed = || match &run.call.input {
            Flow::Text(text) => Some(text.clone()),
            _ => None,
        };
        let given = rest.iter().find_map(attached).or(next).or_else(operand).or_else(fed);
        let Some(code) = given else { continue };
        inline::scan(run, console.language, &code);
        let flat: String = code.chars().filter(|c| !c.is_whitespace()).collect();
        if MASS.iter().any(|word| flat.contains(word)) {
            let (scope, certainty) = (EffectScope::Remote, Certainty::Likely);
            let why = "deletes the rows of a table";
            run.sure(EffectKind::Delete, "rows", scope, R5, certainty, why);
        }
    }
}

/// Commands that pass statements to the database of a framework, with the words before the
/// statement.
const STATEMENTS: &[(&[&str], &[&str])] = &[
    (
        &["console", "bin/console", "symfony", "doctrine"],
        &["dbal:run-sql", "doctrine:query:sql", "orm:run-dql"],
    ),
    (&["drush"], &["sql:query", "sql-query", "sqlq"]),
    (&["wp"], &["db", "query"]),
    (&["typeorm"], &["query"]),
    (&["manage.py", "django-admin"], &["dbshell"]),
    (&["rails", "spring"], &["dbconsole", "db"]),
    (&["artisan"], &["db"]),
    (&["prisma"], &["db", "execute"]),
    (&["hasura", "supabase"], &["db", "query", "sql"]),
];

/// Analyzes SQL passed to a framework in words or through a pipe.
fn statements(run: &mut CommandRun<'_, '_>, name: &str, args: &[Arg]) {
    let verb = args.first().map_or("", |arg| arg.text.as_str());
    let fits = |row: &&(&[&str], &[&str])| row.0.contains(&name) && row.1.contains(&verb);
    if !STATEMENTS.iter().any(|row| fits(&row)) {
        return;
    }
    let words = args.iter().skip(1).filter(|arg| crate::sql::is_statement(&arg.text));
    let mut texts: Vec<String> = words.map(|arg| arg.text.clone()).collect();
    match &run.call.input {
        Flow::Text(text) => texts.push(text.clone()),
        // The input comes from another task: `manage.py sqlflush | manage.py dbshell`.
        Flow::Unknown if verb == "dbshell" || verb == "dbconsole" => {
            let (scope, certainty) = (EffectScope::Remote, Certainty::Unresolved);
            let why = "runs statements known only at run time";
            run.sure(EffectKind::Delete, "its input", scope, R3, certainty, why);
        }
        _ => {}
    }
    for text in texts {
        let words = [Arg::plain("psql"), Arg::plain("-c"), Arg::plain(&text)];
        run.inner(words.to_vec(), Flow::None);
    }
}

/// Analyzes the words from `at` as those of the framework's own command.
pub(super) fn named(run: &mut CommandRun<'_, '_>, name: &str, at: usize) {
    let args = run.args.get(at..).unwrap_or_default();
    // alembic prints the statements instead of running them.
    let is_offline = name == "alembic" && args.iter().any(|arg| arg.text == "--sql");
    if is_offline || super::only_informs(args) {
        return;
    }
    code(run, name, args);
    statements(run, name, args);
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
                    "--force-reset"
                        | "--accept-data-loss"
                        | "--full-refresh"
                        | "--no-backup"
                        | "--force"
                        | "--append"
                        | "--auto-approve"
                        | "--linked"
                        | "--include-all"
                        | "--db-url"
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
    run.effect(EffectKind::Delete, &target, EffectScope::Remote, level, why);
}
