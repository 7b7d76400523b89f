//! Processes, services, network configuration and scheduled jobs.
//!
//! ```denied
//! crontab -r
//! kill -9 -1
//! :(){ :|:& };:
//! ```
//! ```asked
//! kill -9 1234
//! pkill nginx
//! pkill -f 'python3 worker.py --queue mail'
//! pkill -f next
//! killall node
//! reboot
//! shutdown -h now
//! systemctl stop sshd
//! service mysql stop
//! iptables -F
//! ufw disable
//! ip link set eth0 down
//! crontab -e
//! crontab jobs.txt
//! systemctl enable x
//! nft flush ruleset
//! pm2 delete all
//! init 0
//! ```
//! ```allowed
//! fuser -k 3000/tcp
//! kill -15 1234
//! kill $!
//! kill -0 12
//! kill %1
//! systemctl status x
//! service nginx status
//! iptables -L
//! crontab -l
//! ip addr
//! ps aux
//! shutdown -c
//! ufw status
//! systemctl list-units
//! pm2 list
//! ip route show
//! kill -9 $PID
//! pkill -f 'nest start --watch'
//! ```

use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::program::Program;
use crate::run::CommandRun;
use Reversibility::{R0, R2, R3, R4};

/// Programs that serve work in progress, each with the word that starts the server. They hold no
/// data that is lost with them: one command starts them again.
const DEVELOPMENT_SERVERS: &[(&str, &[&str])] = &[
    ("nest", &["start"]),
    ("next", &["dev"]),
    ("nuxt", &["dev"]),
    ("astro", &["dev"]),
    ("remix", &["dev"]),
    ("vite", &["dev", "serve", "preview"]),
    ("ng", &["serve"]),
    ("vue-cli-service", &["serve"]),
    ("webpack", &["serve", "--watch"]),
    ("react-scripts", &["start"]),
    ("expo", &["start"]),
    ("wrangler", &["dev"]),
    ("tsx", &["watch"]),
    ("tsc", &["--watch", "-w"]),
    ("cargo", &["watch"]),
    ("flask", &["run"]),
    ("manage.py", &["runserver"]),
    ("rails", &["server"]),
    ("artisan", &["serve"]),
    ("hugo", &["server"]),
    ("mkdocs", &["serve"]),
    ("jekyll", &["serve"]),
    ("npm", &["run"]),
    ("pnpm", &["dev", "run"]),
    ("yarn", &["dev", "run"]),
    ("bun", &["dev", "run"]),
];

/// Whether a text names the command line of such a server.
fn is_development_server(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(2).any(|pair| {
        let [program, verb] = pair else { return false };
        let program = program.rsplit('/').next().unwrap_or(program);
        DEVELOPMENT_SERVERS.iter().any(|(name, verbs)| *name == program && verbs.contains(verb))
    })
}

/// Whether `pkill -f TEXT` stops a process that the session started, or a server of work in
/// progress. The length of the text is not evidence, because others may run the same program.
fn stops_own(run: &CommandRun<'_, '_>, words: &[&str]) -> bool {
    let [text] = words else { return false };
    let by_line = run.args.iter().any(|arg| {
        let flags = arg.text.strip_prefix('-').unwrap_or("");
        arg.text == "--full" || (!flags.starts_with('-') && flags.contains('f'))
    });
    let has_wildcard = text.contains(['*', '|', '[', '$']) || run.args.iter().any(|a| a.dynamic);
    let facts = run.analyzer.context.facts;
    let is_own = || facts.is_some_and(|facts| facts.started(text));
    by_line && !has_wildcard && (is_development_server(text) || is_own())
}

/// Whether the operands are ports on which people develop, and not those of databases.
fn words_are_own_ports(args: &[Arg]) -> bool {
    let stores = [3306, 5432, 6379, 9200, 11211, 27017, 5984, 2379, 9092, 5672];
    let is_own = |text: &str| {
        let port = text.split_once('/').filter(|(_, kind)| *kind == "tcp").map(|(port, _)| port);
        let port = port.and_then(|port| port.parse::<u32>().ok());
        port.is_some_and(|port| port >= 1024 && !stores.contains(&port))
    };
    let mut words = args.iter().filter(|arg| !arg.text.starts_with('-')).peekable();
    words.peek().is_some() && words.all(|arg| is_own(&arg.text))
}

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let args = run.args;
    let words = super::plain_words(args);
    let first = words.first().copied().unwrap_or("");
    let second = words.get(1).copied().unwrap_or("");
    let has = |flags: &[&str]| args.iter().any(|arg| flags.contains(&arg.text.as_str()));
    if has(&["--help", "--version"]) {
        return;
    }
    let target = run.line();
    let stop = |run: &mut CommandRun<'_, '_>, why: &'static str| {
        run.ask(EffectKind::StopService, &run.line(), EffectScope::System, why)
    };
    match run.name {
        "kill" => {
            let hard = has(&["-9", "-KILL", "-SIGKILL"]) || args.windows(2).any(|pair| matches!(pair, [a, b] if matches!(a.text.as_str(), "-s" | "-n" | "--signal") && matches!(b.text.as_str(), "9" | "KILL" | "SIGKILL")));
            let everything =
                words.contains(&"1") || args.iter().skip(1).any(|arg| arg.text == "-1");
            let own = args.iter().any(|arg| arg.dynamic || arg.text.starts_with('%'));
            // `kill $(pgrep toolmark)`
            let is_guard = run.analyzer.commands.iter().any(|command| {
                command.program == "pgrep"
                    && command.args.iter().any(|arg| arg.text.contains("toolmark"))
            });
            if is_guard && own {
                run.effect(
                    EffectKind::Persist,
                    "toolmark",
                    EffectScope::System,
                    R4,
                    "stops the guard",
                );
            }
            if everything {
                run.effect(
                    EffectKind::StopService,
                    &target,
                    EffectScope::System,
                    R4,
                    "kills everything",
                );
            } else if hard && !own {
                stop(run, "kills a process");
            } else {
                run.effect(
                    EffectKind::StopService,
                    &target,
                    EffectScope::System,
                    R0,
                    "signals a process",
                );
            }
        }
        "pkill" | "killall" | "xkill" | "skill" | "taskkill" => {
            let lists = has(&["-l", "-0", "--list"]);
            if lists || args.is_empty() {
                return;
            }
            let is_own = run.name == "pkill" && stops_own(run, &words);
            match is_own {
                true => {
                    let why = "stops a program of the session";
                    run.effect(EffectKind::StopService, &target, EffectScope::System, R2, why);
                }
                false => stop(run, "stops every process of that name"),
            }
        }
        "fuser" => {
            let kills = args.iter().any(|arg| arg.text.starts_with("-k") || arg.text == "--kill");
            if kills && !words_are_own_ports(args) {
                stop(run, "stops whatever uses a file or port");
            }
        }
        "killall5" => stop(run, "stops every process"),
        "shutdown" => {
            if !has(&["-c", "--show", "-k"]) {
                stop(run, "shuts down the machine");
            }
        }
        "reboot" | "halt" | "poweroff" => stop(run, "shuts down the machine"),
        "init" | "telinit" => {
            if matches!(first, "0" | "1" | "6" | "s" | "S") {
                stop(run, "shuts down the machine");
            }
        }
        "systemctl" | "service" | "launchctl" | "rc-service" | "sv" | "supervisorctl" | "pm2"
        | "forever" | "initctl" | "monit" | "update-rc.d" | "chkconfig" | "loginctl"
        | "machinectl" => manager(run, first, second),
        "iptables" | "ip6tables" => {
            if has(&["-F", "--flush", "-X", "--delete-chain", "-D", "-Z", "-P", "--policy"]) {
                stop(run, "changes the firewall");
            }
        }
        "nft" => {
            if matches!(first, "flush" | "delete" | "reset") {
                stop(run, "changes the firewall");
            }
        }
        "ufw" => {
            if words.iter().any(|word| matches!(*word, "disable" | "reset" | "delete")) {
                stop(run, "changes the firewall");
            }
        }
        "pfctl" => {
            if has(&["-F", "-d", "-Fa"]) {
                stop(run, "changes the firewall");
            }
        }
        "firewall-cmd" => {
            if args.iter().any(|arg| {
                arg.text.starts_with("--remove")
                    || arg.text == "--panic-on"
                    || arg.text.starts_with("--delete")
            }) {
                stop(run, "changes the firewall");
            }
        }
        "ip" => {
            let down = words.contains(&"down") && words.contains(&"set");
            if down || words.iter().any(|word| matches!(*word, "flush" | "del" | "delete")) {
                stop(run, "changes network settings");
            }
        }
        "ifconfig" | "ifdown" | "wg-quick" => {
            if words.contains(&"down") || run.name == "ifdown" {
                stop(run, "brings the network down");
            }
        }
        "route" | "ipset" | "ipvsadm" | "tc" => {
            if words.iter().any(|word| matches!(*word, "del" | "delete" | "flush" | "destroy"))
                || (run.name == "ipvsadm" && has(&["-C"]))
            {
                stop(run, "changes network settings");
            }
        }
        "nmcli" => {
            if words.iter().any(|word| matches!(*word, "delete" | "del"))
                || (words.contains(&"off") && matches!(first, "networking" | "n"))
            {
                stop(run, "changes network settings");
            }
        }
        "crontab" => {
            if let crate::pipes::Flow::Text(text) = &run.call.input {
                let jobs: Vec<String> = text
                    .lines()
                    .filter_map(|line| {
                        line.split_whitespace()
                            .nth(5)
                            .and_then(|word| line.find(word))
                            .and_then(|at| line.get(at..))
                    })
                    .map(str::to_owned)
                    .collect();
                run.effect(
                    EffectKind::Persist,
                    "the crontab",
                    EffectScope::Home,
                    R3,
                    "replaces all scheduled jobs",
                );
                jobs.iter().for_each(|job| run.shell_text(job));
            }
            let parsed = Program::open("u=").parse(args);
            if parsed.has("r", "") {
                run.effect(
                    EffectKind::Delete,
                    "the crontab",
                    EffectScope::Home,
                    R4,
                    "deletes all scheduled jobs",
                );
            } else if parsed.has("e", "")
                || !parsed.operands.is_empty()
                || (parsed.options.is_empty() && !args.is_empty())
            {
                run.effect(
                    EffectKind::Persist,
                    "the crontab",
                    EffectScope::Home,
                    R3,
                    "replaces the scheduled jobs",
                );
            }
        }
        "at" | "batch" => {
            if !has(&["-l", "-c", "-V", "-r", "-q"]) && (!args.is_empty() || run.name == "batch") {
                run.effect(
                    EffectKind::Persist,
                    &target,
                    EffectScope::System,
                    Reversibility::R1,
                    "schedules a job",
                );
            }
        }
        _ => {}
    }
}

fn manager(run: &mut CommandRun<'_, '_>, first: &str, second: &str) {
    let verb = if run.name == "service" || run.name == "rc-service" { second } else { first };
    let target = run.line();
    match verb {
        "stop" | "disable" | "mask" | "kill" | "poweroff" | "reboot" | "halt" | "isolate"
        | "delete" | "unload" | "bootout" | "remove" | "rescue" | "emergency" | "suspend"
        | "hibernate" | "off" | "terminate-user" | "terminate-session" | "kill-session"
        | "terminate" => {
            run.ask(EffectKind::StopService, &target, EffectScope::System, "stops a service");
        }
        "restart" if matches!(run.name, "systemctl" | "service") => run.effect(
            EffectKind::StopService,
            &target,
            EffectScope::System,
            R0,
            "restarts a service",
        ),
        "enable" | "load" | "bootstrap" | "link" | "edit" | "set-default" if run.name != "sv" => {
            run.effect(
                EffectKind::Persist,
                &target,
                EffectScope::System,
                Reversibility::R1,
                "takes effect in later sessions",
            );
        }
        _ => {}
    }
}
