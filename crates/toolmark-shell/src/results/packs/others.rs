//! # Ruby, PHP, task runners, containers, infrastructure, databases and remote machines
//!
//! ```result failed
//! $ bundle exec rspec 2>&1 | tail -3
//! 12 examples, 1 failure
//! ```
//! ```result wrong-directory
//! $ bundle install 2>&1 | tail -2
//! Could not locate Gemfile
//! ```
//! ```result usage-error
//! $ make frob || true
//! make: *** No rule to make target 'frob'.  Stop.
//! ```
//! ```result failed
//! $ make test; echo done
//! test result: FAILED. 4 passed; 1 failed
//! make: *** [Makefile:3: test] Error 101
//! done
//! ```
//! ```result not-found
//! $ kubectl get pod frob || true
//! Error from server (NotFound): pods "frob" not found
//! ```
//! ```result refused
//! $ docker ps | head -3
//! permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock
//! ```
//! ```result failed
//! $ psql -c 'select x' | head
//! ERROR:  column "x" does not exist
//! ```
//! ```result not-authenticated
//! $ ssh host ls | head
//! dev@host: Permission denied (publickey).
//! ```

use super::{CommandLineParser, ProgramPurpose, ResultKind, ResultProgram};

pub(super) static PACK: &[ResultProgram] = &[
    ResultProgram {
        names: &[
            "rspec",
            "rails test",
            "minitest",
            "cucumber",
            "phpunit",
            "pest",
            "bats",
            "busted",
            "mix test",
        ],
        work: ProgramPurpose::Tests,
        parser: CommandLineParser::Unknown,
        lines: &[
            (
                ResultKind::Failed,
                &[
                    "# example*, # failure*",
                    "*# runs, *# failures*",
                    "*# runs, *# errors*",
                    "FAILURES!*",
                    "ERRORS!",
                    "Tests: *Failures: #*",
                    "Tests: *Errors: #*",
                    "not ok # *",
                    "*# tests, # failure*",
                    "rspec ./*",
                    "An error occurred while loading *",
                ],
            ),
            (
                ResultKind::NothingTested,
                &[
                    "0 examples, 0 failures*",
                    "No tests executed!",
                    "0 runs, *",
                    "*All examples were filtered out*",
                ],
            ),
            (ResultKind::UsageError, &["invalid option: *", "Unknown option \"*"]),
            (
                ResultKind::Passed,
                &[
                    "# example*, 0 failures*",
                    "*# runs, *0 failures, 0 errors*",
                    "OK (# test*",
                    "*# test*, 0 failures*",
                ],
            ),
        ],
    },
    ResultProgram {
        names: &["rubocop", "phpstan", "php-cs-fixer", "standardrb", "brakeman", "credo"],
        work: ProgramPurpose::Builds,
        parser: CommandLineParser::Unknown,
        lines: &[
            (
                ResultKind::Failed,
                &[
                    "# file* inspected, # offense*",
                    "[ERROR] Found # error*",
                    "*:#:#: *",
                    "*# offense* detected*",
                    "# offense* detected*",
                    "# error*",
                ],
            ),
            (ResultKind::Passed, &["*no offenses detected", "[OK] No errors"]),
        ],
    },
    ResultProgram {
        names: &[
            "bundle",
            "gem",
            "ruby",
            "rails",
            "rake",
            "php",
            "composer",
            "artisan",
            "mix",
            "elixir",
            "perl",
            "lua",
            "Rscript",
            "julia",
            "ghc",
            "cabal",
            "stack",
            "osascript",
        ],
        work: ProgramPurpose::Carries,
        parser: CommandLineParser::Unknown,
        lines: &[
            (
                ResultKind::WrongDirectory,
                &[
                    "Could not locate Gemfile*",
                    "*No Rakefile found *",
                    "Composer could not find a composer.json file *",
                    "** (Mix) Could not find a Mix.Project*",
                ],
            ),
            (
                ResultKind::MissingProgram,
                &[
                    "bundler: command not found: *",
                    "*cannot load such file -- *",
                    "Could not find * in locally installed gems*",
                ],
            ),
            (
                ResultKind::UsageError,
                &[
                    "Unrecognized command \"*",
                    "Don't know how to build task '*",
                    "Unknown switches *",
                    "Command \"*\" is not defined.",
                    "** (Mix) The task \"*\" could not be found*",
                    "syntax error at *",
                ],
            ),
            (
                ResultKind::NotFound,
                &[
                    "Can't open perl script *",
                    "Could not open input file: *",
                    "ruby: No such file or directory *",
                ],
            ),
            (
                ResultKind::Failed,
                &[
                    "rake aborted!*",
                    "*: undefined method *",
                    "*:#:in *",
                    "PHP Fatal error: *",
                    "PHP Parse error: *",
                    "Fatal error: *",
                    "** (*Error) *",
                    "Error: *",
                    "ERROR: *",
                    "Could not find gem *",
                ],
            ),
        ],
    },
    ResultProgram {
        names: &[
            "make",
            "gmake",
            "just",
            "task",
            "mise",
            "rtk",
            "lefthook",
            "earthly",
            "bash",
            "sh",
            "zsh",
            "fish",
            "pwsh",
            "powershell",
            "cmd",
            "husky",
            "lint-staged",
            "act",
            "script",
        ],
        work: ProgramPurpose::Carries,
        parser: CommandLineParser::Clap,
        lines: &[
            (
                ResultKind::UsageError,
                &[
                    "*make*: *** No rule to make target *",
                    "error: Justfile does not contain recipe *",
                    "error: Recipe `*` got * argument*",
                    "task: Task \"*\" does not exist",
                    "mise ERROR no task * found*",
                    "mise ERROR unknown *",
                    "make: invalid option -- *",
                    "make: unrecognized option *",
                    "*just --list*",
                    "error: Unknown attribute *",
                    "usage: rtk *",
                    "*bash: *: invalid option",
                ],
            ),
            (
                ResultKind::WrongDirectory,
                &[
                    "*make*: *** No targets specified and no makefile found.*",
                    "error: No justfile found*",
                    "task: No Taskfile found*",
                ],
            ),
            (
                ResultKind::NotFound,
                &[
                    "*bash: *: No such file or directory",
                    "sh: *: No such file or directory",
                    "sh: #: *: not found",
                ],
            ),
            (
                ResultKind::Failed,
                &[
                    "*make*: *** [*",
                    "error: Recipe `*` failed *",
                    "*ERROR task failed",
                    "task: Failed to run task *",
                    "lefthook: *",
                    "✗ lint-staged *",
                    "✖ lint-staged *",
                    "✖ *:",
                    "mise ERROR *",
                    "exit status #",
                ],
            ),
        ],
    },
    ResultProgram {
        names: &["docker", "podman", "docker-compose", "nerdctl", "colima"],
        work: ProgramPurpose::Acts,
        parser: CommandLineParser::Cobra,
        lines: &[
            (
                ResultKind::Refused,
                &[
                    "*permission denied while trying to connect to the Docker daemon socket*",
                    "*denied: *",
                ],
            ),
            (
                ResultKind::Failed,
                &[
                    "*Cannot connect to the Docker daemon *",
                    "ERROR: failed to *",
                    "ERROR: *",
                    "Error response from daemon: *",
                    "failed to solve: *",
                    "* exited with code #",
                    "error during connect: *",
                    "failed to connect to the docker API *",
                ],
            ),
            (
                ResultKind::NotFound,
                &[
                    "*: No such container: *",
                    "Error: No such object: *",
                    "Error response from daemon: No such *",
                    "Error: No such *",
                    "no such service: *",
                    "*manifest unknown*",
                    "*pull access denied *",
                ],
            ),
            (ResultKind::WrongDirectory, &["no configuration file provided: not found"]),
            (
                ResultKind::UsageError,
                &[
                    "docker: '*' is not a docker command.*",
                    "\"docker *\" requires *",
                    "docker: unknown command: *",
                    "unknown docker command: *",
                    "See 'docker * --help'.",
                    "docker: invalid reference format*",
                ],
            ),
            (ResultKind::NotAuthenticated, &["*unauthorized: *", "*no basic auth credentials*"]),
            (ResultKind::RateLimited, &["*toomanyrequests: *"]),
            (
                ResultKind::Passed,
                &[
                    "Successfully built *",
                    "Successfully tagged *",
                    "* Started",
                    "* Running",
                    "* Healthy",
                    "CONTAINER ID *",
                    "* Removed",
                    "* Created",
                ],
            ),
        ],
    },
    ResultProgram {
        names: &[
            "kubectl",
            "helm",
            "terraform",
            "tofu",
            "pulumi",
            "ansible",
            "ansible-playbook",
            "k9s",
            "minikube",
            "kind",
            "argocd",
            "flux",
            "skaffold",
            "eksctl",
            "kustomize",
            "cdk",
            "serverless",
            "sam",
        ],
        work: ProgramPurpose::Shows,
        parser: CommandLineParser::Cobra,
        lines: &[
            (
                ResultKind::NotFound,
                &[
                    "Error from server (NotFound): *",
                    "Error: release: not found",
                    "Error: INSTALLATION FAILED: *not found*",
                    "error: the server doesn't have a resource type *",
                    "Error: repo * not found",
                    "error: the path \"*\" does not exist",
                ],
            ),
            (ResultKind::Refused, &["Error from server (Forbidden): *"]),
            (
                ResultKind::NotAuthenticated,
                &[
                    "error: You must be logged in to the server*",
                    "*Unable to locate credentials*",
                    "Error: No valid credential sources found*",
                    "*ExpiredToken*",
                ],
            ),
            (
                ResultKind::WrongDirectory,
                &["Error: No configuration files", "error: no Pulumi.yaml project file found*"],
            ),
            (ResultKind::NothingMatched, &["No resources found*"]),
            (
                ResultKind::UsageError,
                &[
                    "Error: Unsupported argument",
                    "error: resource(s) were provided, but no name was specified",
                    "Terraform has no command named *",
                    "error: *required*",
                ],
            ),
            (
                ResultKind::Failed,
                &[
                    "Error from server *",
                    "Error: *",
                    "│ Error: *",
                    "Unable to connect to the server: *",
                    "The connection to the server * was refused*",
                    "fatal: [*",
                    "* failed=#*",
                    "error: *",
                ],
            ),
            (
                ResultKind::Passed,
                &[
                    "* configured",
                    "* created",
                    "* unchanged",
                    "Apply complete! *",
                    "No changes. *",
                    "Success! The configuration is valid*",
                    "Plan: *",
                    "NAME *",
                ],
            ),
        ],
    },
    ResultProgram {
        names: &[
            "psql",
            "mysql",
            "mariadb",
            "sqlite3",
            "redis-cli",
            "mongosh",
            "mongo",
            "duckdb",
            "clickhouse-client",
            "pg_dump",
            "sqlcmd",
            "bd",
            "prisma",
            "drizzle-kit",
            "alembic",
            "flyway",
        ],
        work: ProgramPurpose::Shows,
        parser: CommandLineParser::Unknown,
        lines: &[
            (
                ResultKind::NotAuthenticated,
                &[
                    "*password authentication failed *",
                    "*fe_sendauth: no password supplied",
                    "ERROR 1045 *",
                    "(error) NOAUTH *",
                    "*: no password supplied",
                ],
            ),
            (
                ResultKind::NotFound,
                &[
                    "*database \"*\" does not exist",
                    "Error: unable to open database *",
                    "Error: in prepare, no such table: *",
                    "*no such table: *",
                    "ERROR 1049 *",
                    "ERROR 1146 *",
                    "*: relation \"*\" does not exist*",
                    "ERROR:  relation \"*\" does not exist*",
                ],
            ),
            (
                ResultKind::UsageError,
                &[
                    "ERROR:  syntax error at or near *",
                    "*: syntax error",
                    "Error: near \"*",
                    "*Parse error *: near *",
                    "ERROR 1064 *",
                    "psql: error: invalid *",
                    "(error) ERR unknown command *",
                    "(error) ERR wrong number of arguments *",
                ],
            ),
            (
                ResultKind::Failed,
                &[
                    "ERROR:  column *",
                    "ERROR: *",
                    "psql: error: *",
                    "ERROR # (*",
                    "Error: *",
                    "(error) *",
                    "Parse error *",
                    "Runtime error *",
                    "Could not connect to Redis *",
                    "MongoServerError: *",
                    "SyntaxError: *",
                ],
            ),
            (ResultKind::NothingMatched, &["(0 rows)", "Empty set*", "(empty array)", "(nil)"]),
            (
                ResultKind::Passed,
                &[
                    "(# row*)",
                    "# rows in set*",
                    "INSERT 0 *",
                    "UPDATE #",
                    "CREATE *",
                    "ALTER *",
                    "OK",
                    "PONG",
                ],
            ),
        ],
    },
    ResultProgram {
        names: &["ssh", "scp", "sftp", "mosh", "wsl", "adb", "vagrant", "multipass"],
        work: ProgramPurpose::Carries,
        parser: CommandLineParser::Getopt,
        lines: &[
            (
                ResultKind::NotAuthenticated,
                &["*: Permission denied (*", "Host key verification failed."],
            ),
            (
                ResultKind::NotFound,
                &[
                    "ssh: Could not resolve hostname *",
                    "scp: *: No such file or directory",
                    "adb: no devices/emulators found",
                ],
            ),
            (
                ResultKind::Failed,
                &[
                    "ssh: connect to host *",
                    "kex_exchange_identification: *",
                    "Connection closed by *",
                    "client_loop: send disconnect*",
                    "adb: *",
                    "Connection to * timed out*",
                ],
            ),
        ],
    },
    ResultProgram {
        names: &[
            "systemctl",
            "service",
            "journalctl",
            "launchctl",
            "apt",
            "apt-get",
            "dpkg",
            "brew",
            "yum",
            "dnf",
            "pacman",
            "snap",
            "apk",
            "choco",
            "winget",
            "tmux",
            "screen",
            "crontab",
            "ufw",
            "nginx",
            "certbot",
            "kill",
            "pkill",
            "killall",
            "nc",
            "ping",
            "dig",
            "nslookup",
            "openssl",
            "gpg",
            "ffmpeg",
            "magick",
            "convert",
            "pandoc",
            "code",
            "claude",
            "codex",
            "gemini",
        ],
        work: ProgramPurpose::Acts,
        parser: CommandLineParser::Getopt,
        lines: &[
            (
                ResultKind::NotFound,
                &[
                    "Unit * could not be found.",
                    "Failed to * *.service: Unit * not found.",
                    "E: Unable to locate package *",
                    "Error: No available formula with the name *",
                    "can't find session: *",
                    "no server running on *",
                    "error connecting to * (No such file or directory)",
                    "can't find pane: *",
                    "can't find window: *",
                    "*: No such process",
                    "Error: No such keg: *",
                    "No matching processes belonging to you were found",
                    "*: no process found",
                ],
            ),
            (
                ResultKind::Refused,
                &[
                    "E: Could not open lock file * (13: Permission denied)",
                    "Failed to *: Access denied",
                    "*: Interactive authentication required.",
                    "*: Operation not permitted",
                ],
            ),
            (
                ResultKind::UsageError,
                &[
                    "unknown command: *",
                    "Unknown operation *",
                    "E: Invalid operation *",
                    "Error: Unknown command: *",
                    "usage: tmux*",
                    "usage: nc *",
                    "tmux: unknown option *",
                    "Unrecognized option '*",
                    "Error: Invalid option: *",
                    "unknown option -- *",
                ],
            ),
            (
                ResultKind::Failed,
                &[
                    "E: *",
                    "Error: *",
                    "Failed to *",
                    "Job for * failed *",
                    "duplicate session: *",
                    "nginx: [emerg] *",
                    "nginx: configuration file * test failed",
                    "Active: failed *",
                ],
            ),
            (
                ResultKind::Passed,
                &["nginx: configuration file * test is successful", "Active: active *"],
            ),
        ],
    },
];
