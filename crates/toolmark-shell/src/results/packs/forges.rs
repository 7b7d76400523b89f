//! # gh, glab and other clients of services
//!
//! ```result usage-error
//! $ gh pr view 7 --json checks 2>&1 | head -3
//! Unknown JSON field: "checks"
//! Available fields:
//!   additions
//! ```
//! ```result usage-error
//! $ gh run view 7 --frob | tail -2
//! unknown flag: --frob
//!
//! Usage:  gh run view [<run-id>] [flags]
//! ```
//! ```result not-authenticated
//! $ gh pr list | head
//! To get started with GitHub CLI, please run:  gh auth login
//! ```
//! ```result not-found
//! $ gh api repos/a/b/frob --jq .x | head
//! gh: Not Found (HTTP 404)
//! ```
//! ```result passed
//! $ gh pr checks 7 | tail -3
//! Test	fail	1m2s	https://example.com/1
//! ```
//! ```result rate-limited
//! $ aws ec2 describe-vpcs || true
//! An error occurred (Throttling) when calling the DescribeVpcs operation: Rate exceeded
//! ```

use super::{CommandLineParser, ProgramPurpose, ResultKind, ResultProgram};

pub(super) static PACK: &[ResultProgram] = &[
    ResultProgram {
        names: &[
            "gh", "glab", "hub", "heroku", "vercel", "netlify", "flyctl", "fly", "supabase",
            "wrangler", "railway",
        ],
        work: ProgramPurpose::Shows,
        parser: CommandLineParser::Cobra,
        lines: LINES,
    },
    ResultProgram {
        names: &["aws", "gcloud", "az", "gsutil", "bq", "doctl"],
        work: ProgramPurpose::Shows,
        parser: CommandLineParser::Argparse,
        lines: LINES,
    },
    ResultProgram {
        names: &[
            "curl",
            "wget",
            "http",
            "httpie",
            "xh",
            "Invoke-RestMethod",
            "Invoke-WebRequest",
            "irm",
            "iwr",
        ],
        work: ProgramPurpose::Fetches,
        parser: CommandLineParser::Getopt,
        lines: &[
            (
                ResultKind::UsageError,
                &[
                    "curl: (2) *",
                    "curl: (3) *",
                    "curl: option *",
                    "curl: try 'curl --help' *",
                    "wget: missing URL",
                ],
            ),
            (ResultKind::NotAuthenticated, &["curl: (22) *error: 401*", "*ERROR 401: *"]),
            (ResultKind::Refused, &["curl: (22) *error: 403*", "*ERROR 403: *"]),
            (
                ResultKind::NotFound,
                &["curl: (22) *error: 404*", "curl: (6) *", "*ERROR 404: *", "curl: (37) *"],
            ),
            (ResultKind::RateLimited, &["curl: (22) *error: 429*", "*ERROR 429: *"]),
            (ResultKind::CutOff, &["curl: (28) *", "curl: (18) *"]),
            (ResultKind::Failed, &["curl: (*) *", "*failed: Connection refused.", "*ERROR #: *"]),
        ],
    },
];

const LINES: &[(ResultKind, &[&str])] = &[
    (
        ResultKind::UsageError,
        &[
            "Unknown JSON field: *",
            "*gh: Field '*' doesn't *",
            "*gh: Variable *",
            "*gh: Argument * on Field *",
            "*gh: Parse error on *",
            "*gh: Expected *",
            "gh: Validation Failed (HTTP 422)",
            "accepts at most * arg(s), received *",
            "accepts * arg(s), received *",
            "Specify one or more comma-separated fields for `--json`:",
            "failed to parse jq expression*",
            "jq: error: syntax error*",
            "unknown argument *",
            "specify only one of *",
            "must provide *",
            "cannot use *",
            "argument required when *",
            "*required when not running interactively",
            "*: 'argument' is required*",
            "aws: error: *",
            "ERROR: (gcloud.*) Invalid *",
            "ERROR: (gcloud.*) unrecognized arguments*",
            "ERROR: (gcloud.*) argument *",
            "Unknown options: *",
        ],
    ),
    (
        ResultKind::NotAuthenticated,
        &[
            "To get started with GitHub CLI, please run: *gh auth login*",
            "gh: To use GitHub CLI in a GitHub Actions workflow, set the GH_TOKEN *",
            "*You are not logged into any GitHub hosts*",
            "*gh auth login*",
            "gh: Bad credentials (HTTP 401)",
            "HTTP 401: *",
            "Error: No existing credentials found*",
            "*it's necessary to set a CLOUDFLARE_API_TOKEN *",
            "Access token not provided. *",
            "Error: no access token available. *",
            "Error: Failed to authenticate, have you run *",
            "*Please run `*login`*",
            "*must be authenticated*",
            "*Reauthentication required*",
            "*SSO session associated with this profile has expired*",
            "*InvalidClientTokenId*",
            "*UnrecognizedClientException*",
            "glab: 401 *",
            "Unable to locate credentials*",
            "*ExpiredToken*",
            "*You do not currently have an active account selected.",
            "*Please run 'az login' to setup account.*",
            "Error: Not logged in*",
            "Error: No existing credentials found. Please run `*login`*",
            "*not authenticated*",
        ],
    ),
    (
        ResultKind::Refused,
        &[
            "gh: Resource not accessible by *",
            "HTTP 403: *",
            "*Must have admin rights to Repository*",
            "*AccessDenied*",
            "*PERMISSION_DENIED*",
            "GraphQL: * does not have the correct permissions to execute *",
        ],
    ),
    (
        ResultKind::RateLimited,
        &[
            "*API rate limit exceeded*",
            "*secondary rate limit*",
            "*(Throttling*) *",
            "*Too Many Requests*",
            "gh: * (HTTP 429)",
        ],
    ),
    (
        ResultKind::NotFound,
        &[
            "gh: Not Found (HTTP 404)",
            "HTTP 404: *",
            "GraphQL: Could not resolve to a *",
            "could not find any workflows named *",
            "no pull requests found for branch *",
            "failed to get run*: HTTP 404*",
            "release not found",
            "*(ResourceNotFoundException)*",
            "*(NoSuch*) when calling *",
            "*(InvalidInstanceID.NotFound)*",
            "*NOT_FOUND*",
            "*(ResourceNotFound) *",
        ],
    ),
    (
        ResultKind::WrongDirectory,
        &[
            "failed to run git: fatal: not a git repository*",
            "fatal: not a git repository*",
            "no git remotes found",
            "none of the git remotes configured for this repository *",
        ],
    ),
    (
        ResultKind::NothingMatched,
        &[
            "no pull requests match your search in *",
            "no open pull requests in *",
            "no open issues in *",
            "no issues match your search in *",
            "no runs found",
            "no checks reported on the '*' branch",
            "no releases found",
            "no matches found",
            "No issues match your search in *",
            "No pull requests match your search in *",
            "no artifacts found",
            "no caches found",
            "no secrets found",
            "no gists found",
            "no repositories match *",
            "no workflows are enabled*",
        ],
    ),
    (
        ResultKind::Failed,
        &[
            "gh: * (HTTP 5*)",
            "gh: * (HTTP 4*)",
            "GraphQL: *",
            "failed to *",
            "pull request create failed: *",
            "a pull request for branch * already exists:",
            "X Pull request * is not mergeable: *",
            "error connecting to *",
            "An error occurred (*) when calling the * operation*",
            "ERROR: (gcloud.*",
            "invalid character * looking for beginning of value",
        ],
    ),
];
