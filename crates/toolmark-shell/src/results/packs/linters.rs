//! # Linters, formatters and scanners
//!
//! Findings are failures, whatever the exit code; warnings alone are not.
//!
//! ```result failed
//! $ npx markdownlint-cli2 a.md 2>&1 | tail -3
//! Summary: 2 error(s)
//! a.md:3:81 error MD013/line-length Line length [Expected: 80; Actual: 90]
//! ```
//! ```result passed
//! $ markdownlint-cli2 a.md | tail -2
//! Summary: 0 error(s)
//! ```
//! ```result failed
//! $ npx eslint src | head -4
//! /w/src/a.ts
//!   3:7  error  'x' is assigned a value but never used  no-unused-vars
//! ```
//! ```result passed
//! $ vale a.md | tail -1
//! 0 errors, 3 warnings and 1 suggestion in 1 file.
//! ```
//! ```result failed
//! $ sqlfluff lint a.sql | tail -3
//! == [a.sql] FAIL
//! L:   2 | P:   8 | L010 | Keywords must be consistently upper case.
//! All Finished!
//! ```
//! ```result nothing-tested
//! $ cspell 'docs/**' | tail -1
//! CSpell: Files checked: 0, Issues found: 0 in 0 files.
//! ```
//! ```result failed
//! $ trivy fs . | tail -1
//! Total: 3 (HIGH: 2, CRITICAL: 1)
//! ```

use super::{CommandLineParser, ProgramPurpose, ResultKind, ResultProgram};

pub(super) static PACK: &[ResultProgram] = &[
    ResultProgram {
        names: &[
            "markdownlint",
            "markdownlint-cli2",
            "mdl",
            "vale",
            "textlint",
            "remark",
            "alex",
            "cspell",
            "codespell",
            "typos",
            "lychee",
            "commitlint",
            "stylelint",
            "html-validate",
            "djlint",
            "jscpd",
            "depcheck",
            "madge",
            "dprint",
            "tslint",
            "standard",
            "solhint",
            "sqlfluff lint",
            "spectral",
            "redocly",
            "ajv",
            "check-jsonschema",
            "hadolint",
            "yamllint",
            "tflint",
            "actionlint",
            "ansible-lint",
            "buf lint",
            "protolint",
            "dotenv-linter",
            "editorconfig-checker",
            "vint",
            "luacheck",
            "selene",
            "stylua",
            "shfmt",
            "taplo",
            "tsp",
        ],
        work: ProgramPurpose::Builds,
        parser: CommandLineParser::Commander,
        lines: LINES,
    },
    ResultProgram {
        names: &["sqlfluff"],
        work: ProgramPurpose::Acts,
        parser: CommandLineParser::Click,
        lines: &[
            (ResultKind::UsageError, &["User Error: *"]),
            (ResultKind::Failed, &["* unfixable linting violations found", "ERROR: *"]),
            (ResultKind::Passed, &["All Finished*!", "Done. Please check your files to confirm."]),
        ],
    },
    ResultProgram {
        names: &[
            "ktlint",
            "detekt",
            "checkstyle",
            "spotless",
            "pmd",
            "swiftformat",
            "reek",
            "erb_lint",
            "erblint",
            "haml-lint",
            "phpcs",
            "phpcbf",
            "phpmd",
            "pint",
            "rector",
            "psalm",
            "revive",
            "errcheck",
            "gosec",
            "gofumpt",
            "golines",
            "govulncheck",
            "deadcode",
            "fieldalignment",
            "modernize",
            "nilaway",
            "pydocstyle",
            "pycodestyle",
            "vulture",
            "radon",
            "interrogate",
            "bandit",
        ],
        work: ProgramPurpose::Builds,
        parser: CommandLineParser::Unknown,
        lines: LINES,
    },
    ResultProgram {
        names: &[
            "semgrep",
            "trivy",
            "grype",
            "snyk",
            "gitleaks",
            "trufflehog",
            "checkov",
            "tfsec",
            "kubeval",
            "kubeconform",
            "osv-scanner",
            "dependency-check",
            "cargo audit",
            "cargo deny",
            "npm audit",
            "pip-audit",
            "safety",
        ],
        work: ProgramPurpose::Acts,
        parser: CommandLineParser::Cobra,
        lines: SCANS,
    },
];

const LINES: &[(ResultKind, &[&str])] = &[
    (
        ResultKind::NothingTested,
        &[
            "*Files checked: 0,*",
            "No files to lint*",
            "No files matching the pattern*",
            "Linting: 0 file*",
            "Linting: 0 files*",
            "* 0 files checked*",
        ],
    ),
    (
        ResultKind::UsageError,
        &["E100 *", "*Runtime error*no such option*", "Invalid option '*", "User Error: *"],
    ),
    (
        ResultKind::Failed,
        &[
            "Summary: # error*",
            "Summary: # issue*",
            "*:# error MD*",
            "*:#:# error MD*",
            "*:# MD#*",
            "*:#:# MD#*",
            "#:# *error *",
            "✖ # error*",
            "*# error*, *# warning*",
            "# problem* (# error*",
            "== [*] FAIL",
            "L: * | P: * | *",
            "*:#:#: [error] *",
            "*:#:# error *",
            "*:#:#: *",
            "*:#: *",
            "*Issues found: # in *",
            "# clone* found*",
            "# error* found*",
            "Found # error*",
            "Found # problem*",
            "✖*found # problem*",
            "FOUND # ERROR*",
            "error[*]: *",
            "error: *",
            "ERROR: *",
        ],
    ),
    (
        ResultKind::Passed,
        &[
            "Summary: 0 *",
            "*0 errors, *",
            "✖ 0 errors, *",
            "All Finished*!",
            "*Issues found: 0 in *",
            "No issues found*",
            "No problems found*",
            "*no offenses detected",
            "Compilation completed successfully*",
            "* fixable linting violations found",
            "Done. Please check your files to confirm.",
        ],
    ),
];

const SCANS: &[(ResultKind, &[&str])] = &[
    (
        ResultKind::Failed,
        &[
            "Total: # (*",
            "*# vulnerabilit* found*",
            "found # vulnerabilit*",
            "# vulnerabilit*",
            "*leaks found: #*",
            "Failed checks: #*",
            "*, Failed checks: #, *",
            "Ran # rule* on # file*: # finding*",
            "Found # known vulnerabilit*",
            "error: # vulnerabilit* found*",
            "error[*]: *",
            "FATAL *",
            "ERROR *",
        ],
    ),
    (
        ResultKind::NotAuthenticated,
        &["*`snyk auth`*", "*Use `snyk auth` to authenticate*", "*SNYK-0005*"],
    ),
    (
        ResultKind::Passed,
        &[
            "found 0 vulnerabilities",
            "No known vulnerabilities found",
            "No vulnerabilities found*",
            "*no leaks found",
            "Total: 0 (*",
            "*: 0 findings.",
            "✔ Tested # dependencies *, no vulnerable paths found.",
        ],
    ),
];
