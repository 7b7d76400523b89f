//! Database clients: the SQL passed to them, commands of other stores, and programs that drop or
//! overwrite whole databases.
//!
//! ```denied
//! psql -c 'DROP TABLE x'
//! psql -h h -d d -c "DELETE FROM audit;"
//! mysql -e 'TRUNCATE TABLE t'
//! mysql -uroot -e "drop database d"
//! sqlite3 app.db 'DROP TABLE t'
//! echo 'drop table x' | psql
//! redis-cli -h h FLUSHALL
//! mongosh --eval 'db.dropDatabase()'
//! mongosh d --eval db.users.drop()
//! dropdb prod
//! pg_restore --clean -d d f
//! mongorestore --drop dump
//! DROP TABLE users
//! DELETE FROM users;
//! TRUNCATE TABLE users
//! psql -c 'UPDATE users SET a=1'
//! mysqladmin -u root drop prod
//! mongo d --eval 'db.x.deleteMany({})'
//! psql -c '\! rm -rf /srv/data'
//! mysql -e 'system rm -rf /srv/data'
//! psql -c "COPY (SELECT 1) TO PROGRAM 'rm -rf /srv/data'"
//! clickhouse-client -q 'ALTER TABLE events DELETE WHERE 1'
//! bq query 'CREATE OR REPLACE TABLE x.y AS SELECT * FROM x.y WHERE FALSE'
//! cypher-shell 'MATCH (n) DETACH DELETE n'
//! psql <<E
//! | DROP TABLE x;
//! | E
//! ```
//! ```asked
//! psql -c 'DELETE FROM t WHERE id=1'
//! redis-cli DEL k
//! psql -c 'drop index i'
//! mongosh --eval 'db.x.deleteOne({a:1})'
//! ```
//! ```allowed
//! psql -c 'SELECT * FROM dropdown'
//! mysql -e 'SELECT 1'
//! sqlite3 -readonly app.db 'drop table t'
//! sqlite3 :memory: 'drop table t'
//! redis-cli GET k
//! mongosh --eval 'db.users.find()'
//! pg_dump d > x.sql
//! psql -c 'CREATE TABLE t(a int)'
//! psql --help
//! redis-cli ping
//! psql -c "INSERT INTO t VALUES ('drop table x')"
//! sqlite3 /tmp/x.db 'drop table t'
//! update-notes
//! psql -l
//! ```

use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::pipes::Flow;
use crate::program::Program;
use crate::run::CommandRun;
use crate::sql;
use Reversibility::{R3, R4, R5};

/// Whether words read as SQL rather than as a program with files.
pub(super) fn is_sql(args: &[Arg]) -> bool {
    args.first().is_some_and(|arg| arg.text.eq_ignore_ascii_case("table"))
}

/// Analyzes SQL given as the command itself.
pub(super) fn bare(run: &mut CommandRun<'_, '_>) {
    let text = format!("{} {}", run.name, run.line());
    if let Some(found) = sql::worst(&text) {
        run.effect(
            EffectKind::Delete,
            &found.target,
            EffectScope::Remote,
            found.reversibility,
            found.why,
        );
    }
}

const MYSQL: Program = Program::open(
    "e= h= u= P= D= S= h= command= execute= query= file= host= port= username= user= dbname= \
     database= url= set= output= init-command= statement= sql=",
);
const SQLCMD: Program = Program::open(
    "Q= q= S= U= P= d= i= command= execute= query= file= host= port= username= user= dbname= \
     database= url= set= output= init-command= statement= sql=",
);
const CLIENT: Program = Program::open(
    "c= f= h= p= U= d= v= L= F= o= P= R= e= q= T= V= command= execute= query= file= host= port= \
     username= user= dbname= database= url= set= output= init-command= statement= sql=",
);

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    match run.name {
        "redis-cli" | "valkey-cli" => redis(run),
        "mongosh" | "mongo" | "arangosh" => mongo(run),
        "dropdb" if drops_trial(run.args) => trial(run, &run.line()),
        "dropdb" | "dropuser" | "pg_dropcluster" => whole(run, "drops a database"),
        "pg_restore" => {
            if run.args.iter().any(|arg| matches!(arg.text.as_str(), "-c" | "--clean")) {
                whole(run, "drops objects before it restores them");
            }
        }
        "mongorestore" => {
            if run.args.iter().any(|arg| arg.text == "--drop") {
                whole(run, "drops collections before it restores them");
            }
        }
        "mysqladmin" | "mariadb-admin" => {
            let words = super::plain_words(run.args);
            if words.iter().any(|word| matches!(*word, "drop")) {
                match words.last().is_some_and(|name| sql::is_trial(name)) {
                    true => trial(run, &words.join(" ")),
                    false => whole(run, "drops a database"),
                }
            } else if words.contains(&"shutdown") {
                run.ask(
                    EffectKind::StopService,
                    "the server",
                    EffectScope::Remote,
                    "stops a database server",
                );
            }
        }
        "pg_resetwal" | "neo4j-admin" => {
            if run.name == "pg_resetwal"
                && !super::only_informs(run.args)
                && !run.args.iter().any(|arg| arg.text == "-n")
            {
                whole(run, "resets the log of a database");
            }
            let words = super::plain_words(run.args);
            if words.iter().any(|word| matches!(*word, "delete" | "drop" | "load"))
                && (!words.contains(&"load")
                    || run.args.iter().any(|arg| arg.text.contains("overwrite")))
            {
                whole(run, "replaces or deletes a database");
            }
        }
        "etcdctl" => {
            let words = super::plain_words(run.args);
            if words.first() == Some(&"del") {
                whole(run, "deletes keys");
            } else if words.contains(&"restore") {
                run.ask(
                    EffectKind::Overwrite,
                    &words.join(" "),
                    EffectScope::Outside,
                    "replaces a store",
                );
            }
        }
        "memcached-tool" if run.args.iter().any(|arg| arg.text.starts_with("flush")) => {
            whole(run, "empties the store");
        }
        "createdb" | "initdb" | "couchdb" | "memcached-tool" => {}
        _ => client(run),
    }
}

/// Reports the loss of a database for tests on this machine, which the next run makes anew.
fn trial(run: &mut CommandRun<'_, '_>, target: &str) {
    let why = "drops a database for tests";
    run.effect(EffectKind::Delete, target, EffectScope::Outside, Reversibility::R2, why);
}

/// Whether a host is this machine.
fn is_here(host: Option<&str>) -> bool {
    host.is_none_or(|host| {
        matches!(host, "localhost" | "127.0.0.1" | "::1") || host.starts_with('/')
    })
}

/// Whether the database of a client is one for tests on this machine: by an option, an operand,
/// the environment or an address.
fn is_trial_here(run: &CommandRun<'_, '_>, parsed: &crate::options::ParsedOptions<'_>) -> bool {
    let name = parsed.value("d", "dbname").or_else(|| parsed.value("D", "database"));
    let operand = parsed.operands.first().filter(|arg| !arg.dynamic && !arg.text.contains(' '));
    let name = name.or(operand.map(|arg| arg.text.as_str()));
    let name = name.map(str::to_owned).or_else(|| run.variable("PGDATABASE"));
    let Some(name) = name else { return false };
    let host = parsed.value("h", "host").map(str::to_owned).or_else(|| run.variable("PGHOST"));
    match name.split_once("://") {
        Some((_, rest)) => {
            let (server, database) = rest.split_once('/').unwrap_or((rest, ""));
            let host = server.rsplit('@').next().unwrap_or("").split(':').next();
            is_here(host) && sql::is_for_tests(database.split('?').next().unwrap_or(""))
        }
        None => is_here(host.as_deref()) && sql::is_for_tests(&name),
    }
}

/// Whether every database has the name of a test database, and none is on another machine.
fn drops_trial(args: &[Arg]) -> bool {
    let parsed = Program::open("h= p= U= host= port= username=").parse(args);
    let mut names = parsed.operands.iter().peekable();
    is_here(parsed.value("h", "host"))
        && names.peek().is_some()
        && names.all(|arg| !arg.dynamic && sql::is_for_tests(&arg.text))
}

fn whole(run: &mut CommandRun<'_, '_>, why: &'static str) {
    if !super::only_informs(run.args) {
        let target = run.line();
        run.effect(EffectKind::Delete, &target, EffectScope::Remote, R5, why);
    }
}

fn client(run: &mut CommandRun<'_, '_>) {
    let args = run.args;
    let name = run.name;
    let read_only = args.iter().any(|arg| {
        matches!(
            arg.text.as_str(),
            "-readonly"
                | "--readonly"
                | "--read-only"
                | "--read_only"
                | "--safe-updates"
                | "-U"
                | "--i-am-a-dummy"
        )
    });
    if super::only_informs(args) || (read_only && !matches!(name, "psql" | "sqlcmd")) {
        return;
    }
    if matches!(name, "bq" | "turso" | "snow" | "cockroach" | "influx") {
        super::cloud::run(run);
    }
    let local = matches!(name, "sqlite3" | "sqlite" | "duckdb" | "litecli");
    let grammar = match name {
        "mysql" | "mariadb" | "mycli" => MYSQL,
        "sqlcmd" => SQLCMD,
        _ => CLIENT,
    };
    let mut texts: Vec<String> = Vec::new();
    let parsed = grammar.parse(args);
    for given in &parsed.options {
        let text = matches!(
            given.name,
            "c" | "command"
                | "e"
                | "execute"
                | "q"
                | "Q"
                | "query"
                | "init-command"
                | "statement"
                | "sql"
        );
        if text && let Some(value) = given.value {
            texts.push(value.to_owned());
            if given.dynamic && value.starts_with('$') && !value.contains(' ') {
                let why = "runs statements known only at run time";
                run.ask(EffectKind::Delete, value, EffectScope::Remote, why);
            }
        }
    }
    // `influx -execute TEXT`
    texts.extend(args.windows(2).filter_map(|pair| match pair {
        [flag, text] if matches!(&*flag.text, "-execute" | "-query" | "-cmd") => {
            Some(text.text.clone())
        }
        _ => None,
    }));
    // Operands behind the database are SQL for the embedded clients.
    if local || texts.is_empty() {
        texts.extend(
            parsed.operands.iter().filter(|arg| arg.text.contains(' ')).map(|arg| arg.text.clone()),
        );
    }
    match &run.call.input {
        Flow::Text(text) => texts.push(text.clone()),
        Flow::File(path) => {
            unseen(run, path);
            texts.extend(run.analyzer.script_text(path));
        }
        Flow::Unknown
            if !local
                && (super::names_production(args)
                    || parsed
                        .operands
                        .first()
                        .is_some_and(|arg| arg.dynamic && arg.text.starts_with('$'))) =>
        {
            let why = "runs statements known only at run time";
            run.ask(EffectKind::Delete, "its input", EffectScope::Remote, why);
        }
        _ => {}
    }
    if local && let Some(file) = parsed.operands.first() {
        let call = run.call;
        run.analyzer.read_file(file, name, call);
    }
    // A file that the command line or the session wrote is read.
    let is_file = |name: &str| matches!(name, "f" | "file" | "i");
    for given in parsed.options.iter().filter(|given| is_file(given.name)) {
        unseen(run, given.value.unwrap_or(""));
    }
    let files = parsed.options.iter().filter(|given| is_file(given.name));
    texts.extend(
        files.filter_map(|given| given.value).filter_map(|file| run.analyzer.script_text(file)),
    );
    let file = parsed.operands.first().map(|arg| arg.text.clone()).unwrap_or_default();
    let memory = local && (file == ":memory:" || file.is_empty());
    for text in texts {
        for shell in shell_escapes(&text) {
            run.shell_text(&shell);
        }
        if local && text.lines().any(|line| line.trim().starts_with(".open --new ")) {
            run.effect(
                EffectKind::Delete,
                &file,
                EffectScope::Outside,
                R4,
                "makes a database anew",
            );
        }
        let read = text.lines().find_map(|line| line.trim().strip_prefix(".read "));
        if let Some(path) = read.filter(|_| local && !memory) {
            unseen(run, path.trim());
        }
        if local && !memory && text.lines().any(|line| line.trim().starts_with(".restore ")) {
            let place = run.analyzer.place(&file);
            let level = if place.scope == EffectScope::Temp { Reversibility::R2 } else { R4 };
            run.effect(EffectKind::Delete, &file, place.scope, level, "replaces a database");
        }
        let Some(found) = sql::worst(&text) else { continue };
        if memory {
            continue;
        }
        // A database with the name of a test database needs approval.
        let is_trial = !local
            && parsed.operands.first().is_some_and(|arg| {
                !arg.dynamic && !arg.text.contains(' ') && sql::is_trial(&arg.text)
            });
        let drops_trial = found.why == sql::DROPS_TRIAL
            && is_here(parsed.value("h", "host"))
            && sql::is_for_tests(&found.target);
        // From a database for tests, another one can be dropped.
        let is_inside = !text.to_ascii_lowercase().contains("database");
        if !local && (is_inside && is_trial_here(run, &parsed) || drops_trial) {
            trial(run, &found.target);
        } else if is_trial && is_here(parsed.value("h", "host")) {
            run.ask(EffectKind::Delete, &found.target, EffectScope::Remote, found.why);
        } else if local {
            let place = run.analyzer.place(&file);
            let level = match (place.scope, found.reversibility) {
                (EffectScope::Temp, _) => Reversibility::R2,
                (_, R5) => R4,
                // Rows of a file of the work tree that are chosen by a condition.
                (
                    EffectScope::TreeTracked
                    | EffectScope::TreeUntracked
                    | EffectScope::TreeArtefact,
                    R3,
                ) if found.why == "changes rows" => Reversibility::R2,
                (_, level) => level,
            };
            run.effect(EffectKind::Delete, &found.target, place.scope, level, found.why);
        } else {
            run.effect(
                EffectKind::Delete,
                &found.target,
                EffectScope::Remote,
                found.reversibility,
                found.why,
            );
        }
    }
}

/// Asks about a file of statements that the session did not write if it runs in production or if
/// its name suggests destruction.
fn unseen(run: &mut CommandRun<'_, '_>, file: &str) {
    let is_test = || {
        let grammar = if run.name.contains("mysql") { MYSQL } else { CLIENT };
        is_trial_here(run, &grammar.parse(run.args))
    };
    if file.is_empty() || run.analyzer.script_text(file).is_some() || is_test() {
        return;
    }
    let base = file.rsplit('/').next().unwrap_or(file);
    let mut words = base.split(|c: char| !c.is_ascii_alphanumeric());
    let says = words.any(|word| {
        matches!(
            word.to_ascii_lowercase().as_str(),
            "drop" | "wipe" | "purge" | "nuke" | "truncate" | "destroy" | "teardown" | "reset"
        )
    });
    let is_elsewhere = run.args.iter().any(|arg| arg.dynamic && arg.text.starts_with('$'));
    if says || is_elsewhere || super::names_production(run.args) {
        run.ask(EffectKind::RemoteState, file, EffectScope::Remote, "runs statements from a file");
    }
}

/// Returns the commands that a client passes to a shell: `\\! cmd`, `.shell cmd`, `system cmd`, and
/// the program of `COPY … TO PROGRAM 'cmd'`.
fn shell_escapes(text: &str) -> Vec<String> {
    const LEADS: &[&str] = &[
        "\\!",
        ".shell ",
        ".system ",
        "system ",
        "\\o |",
        "\\g |",
        "!!",
        "host ",
        ".once |",
        ".output |",
    ];
    let mut out = Vec::new();
    for line in text.split(['\n', ';']) {
        let line = line.trim();
        let lower = line.to_ascii_lowercase();
        let lead = LEADS.iter().find(|lead| lower.starts_with(**lead));
        out.extend(lead.and_then(|lead| line.get(lead.len()..)).map(|rest| rest.trim().to_owned()));
        for word in [
            "program '",
            "sys_exec('",
            "sys_eval('",
            "xp_cmdshell '",
            "pg_execute_server_program '",
        ] {
            let found = lower.find(word).and_then(|at| line.get(at + word.len()..));
            out.extend(found.and_then(|rest| rest.split('\'').next()).map(str::to_owned));
        }
    }
    out.truncate(16);
    out
}

fn redis(run: &mut CommandRun<'_, '_>) {
    let parsed = Program::open("h= p= s= a= u= n= r= i= x= d= user= pass=").parse(run.args);
    if parsed.informs() {
        return;
    }
    let mut words: Vec<String> =
        parsed.operands.iter().map(|arg| arg.text.to_ascii_lowercase()).collect();
    if let Flow::Text(text) = &run.call.input {
        words.extend(
            text.lines()
                .filter_map(|line| line.split_whitespace().next())
                .map(str::to_ascii_lowercase),
        );
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["flushall" | "flushdb", ..] => whole(run, "empties the store"),
        ["del" | "unlink" | "shutdown" | "rename" | "xtrim" | "ltrim", ..] => {
            run.ask(EffectKind::Delete, &words.join(" "), EffectScope::Remote, "deletes keys")
        }
        ["config", "set" | "resetstat" | "rewrite", ..]
        | ["script", "flush", ..]
        | ["debug", ..]
        | ["cluster", "reset", ..]
        | ["acl", "deluser", ..]
        | ["function", "flush" | "delete", ..] => run.ask(
            EffectKind::RemoteState,
            &words.join(" "),
            EffectScope::Remote,
            "changes a server",
        ),
        ["eval", code, ..] if code.contains("flush") || code.contains("'del'") => {
            whole(run, "empties the store")
        }
        rest if rest.iter().any(|word| matches!(*word, "flushall" | "flushdb"))
            && !matches!(rest.first(), Some(&("get" | "set" | "echo" | "help"))) =>
        {
            whole(run, "empties the store")
        }
        _ => {}
    }
}

fn mongo(run: &mut CommandRun<'_, '_>) {
    let parsed =
        Program::open("u= p= f= eval= username= password= host= port= file=").parse(run.args);
    let mut code = parsed.value("", "eval").unwrap_or("").to_owned();
    if let Flow::Text(text) = &run.call.input {
        code.push_str(text);
    }
    // `mongosh DB FILE`
    let files: Vec<String> = parsed
        .operands
        .iter()
        .filter(|arg| arg.text.ends_with(".js"))
        .filter_map(|arg| run.analyzer.script_text(&arg.text))
        .collect();
    code.push_str(&files.join("\n"));
    let flat: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    let all = [
        "dropDatabase(",
        "dropDatabase:",
        ".drop(",
        "dropIndexes(",
        ".remove({})",
        ".remove()",
        "deleteMany({})",
        "deleteMany()",
        "dropUser(",
        "dropAllUsers",
        "_drop(",
        "_truncate",
        ".dropCollection(",
        ".shutdownServer(",
    ];
    if all.iter().any(|piece| flat.contains(piece)) {
        run.effect(
            EffectKind::Delete,
            &code,
            EffectScope::Remote,
            R5,
            "drops or empties a collection",
        );
    } else if flat.contains("updateMany({}")
        || flat.contains("deleteMany(")
        || flat.contains("deleteOne(")
        || flat.contains(".remove(")
        || flat.contains("findOneAndDelete(")
    {
        run.effect(EffectKind::Delete, &code, EffectScope::Remote, R3, "deletes documents");
    }
}
