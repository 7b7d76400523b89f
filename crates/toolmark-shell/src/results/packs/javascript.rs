//! # JavaScript and TypeScript
//!
//! ```result failed
//! $ npx vitest run 2>&1 | tail -5
//!  Test Files  1 failed | 3 passed (4)
//!       Tests  2 failed | 30 passed (32)
//! ```
//! ```result passed
//! $ bun test | tail -3
//!  1321 pass
//!  0 fail
//! ```
//! ```result failed
//! $ npx tsc --noEmit | head -3
//! src/a.ts(1,2): error TS2322: Type 'x' is not assignable to type 'y'.
//! ```
//! ```result usage-error
//! $ npm run frob 2>&1 | tail -3
//! npm error Missing script: "frob"
//! ```
//! ```result wrong-directory
//! $ npm test || true
//! npm error enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/w/package.json'
//! ```
//! ```result nothing-tested
//! $ npx jest frob | tail -3
//! No tests found, exiting with code 1
//! ```
//! ```result failed
//! $ node -e 'x()' | tail -3
//! ReferenceError: x is not defined
//! ```
//! ```result missing-program
//! $ bun run lint || true
//! /bin/bash: line 1: biome: command not found
//! ```

use super::{CommandLineParser, ProgramPurpose, ResultKind, ResultProgram};

pub(super) static PACK: &[ResultProgram] = &[
    ResultProgram {
        names: &[
            "vitest",
            "jest",
            "mocha",
            "ava",
            "playwright",
            "cypress",
            "bun test",
            "tap",
            "karma",
            "deno test",
            "wdio",
            "node --test",
        ],
        work: ProgramPurpose::Tests,
        parser: CommandLineParser::Commander,
        lines: TESTS,
    },
    ResultProgram {
        names: &[
            "tsc",
            "tsgo",
            "vite",
            "webpack",
            "rollup",
            "esbuild",
            "next",
            "tsup",
            "turbo",
            "nx",
            "eslint",
            "prettier",
            "biome",
            "oxlint",
            "svelte-check",
            "vue-tsc",
            "stylelint",
            "xo",
            "markdownlint",
            "markdownlint-cli2",
            "deno check",
            "deno lint",
            "knip",
            "astro",
            "expo",
        ],
        work: ProgramPurpose::Builds,
        parser: CommandLineParser::Commander,
        lines: BUILDS,
    },
    ResultProgram {
        names: &[
            "npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "bun", "deno", "lerna", "corepack",
            "nvm", "fnm", "volta",
        ],
        work: ProgramPurpose::Carries,
        parser: CommandLineParser::Commander,
        lines: MANAGERS,
    },
    ResultProgram {
        names: &["node", "tsx", "ts-node", "nodemon"],
        work: ProgramPurpose::Carries,
        parser: CommandLineParser::Commander,
        lines: NODE,
    },
];

const TESTS: &[(ResultKind, &[&str])] = &[
    (
        ResultKind::Failed,
        &[
            "Test Files *# failed*",
            "Tests *# failed*",
            "Tests: *# failed*",
            "Test Suites: *# failed*",
            "# failed",
            "# failing",
            "# fail",
            "# tests failed:",
            "(fail) *",
            "✗ *",
            "✘ *",
            "✖ *",
            "#) [*] › *",
            "FAIL *",
            "npm ERR! Test failed*",
            "Error: No test suite found in file *",
            "* fail #",
            "# failed, *",
            "error: # error between tests",
            "# Unhandled error between tests",
            "⎯* Failed Tests # ⎯*",
            "⎯* Failed Suites # ⎯*",
            "ERROR: Coverage for *does not meet *",
            "ℹ fail #",
            "not ok # *",
            "✖ # of # failed *",
            "Suite result: FAILED*",
            "Encountered # failing test*",
            "Failed tests:",
            "Error: Timed out waiting *ms from config.webServer.",
            "Error: * is already used, make sure that nothing is running on the port*",
            "Error: Process from config.webServer was not able to start*",
            "error: script \"test*\" exited with code #*",
            "Jest: \"*\" coverage threshold * not met: *",
        ],
    ),
    (
        ResultKind::MissingProgram,
        &[
            "*browserType.launch: Executable doesn't exist at *",
            "║ Looks like Playwright * was just installed or updated*",
            "Error: Cannot find module '@playwright/test'*",
            "*Cypress executable not found at: *",
        ],
    ),
    (
        ResultKind::NothingTested,
        &[
            "No tests found*",
            "ℹ tests 0",
            "No test specs found*",
            "Can't run because no spec files were found.",
            "Error: No test files found*",
            "No test files found*",
            "Error: No tests found*",
            "0 passing*",
            "No files found matching *",
            "error: 0 test files matching *",
            "The following filters did not match any test files:",
        ],
    ),
    (
        ResultKind::Passed,
        &[
            "# pass",
            "# passing*",
            "# passed*",
            "Tests *# passed*",
            "Tests: *# passed*",
            "Test Files *# passed*",
            "Ran # tests *",
            "# pass *",
            "ℹ pass #",
            "All specs passed!*",
            "Suite result: ok. *",
            "✔ # test* passed",
        ],
    ),
];

const BUILDS: &[(ResultKind, &[&str])] = &[
    (
        ResultKind::Failed,
        &[
            "*: error TS*",
            "error TS*",
            "Found # error*",
            "✖ # problem* (# error*",
            "✖ # error*",
            "*# problem* (# error*",
            "✘ [ERROR] *",
            "[error] *",
            "# error*",
            "#:# *error *",
            "*:#:# error *",
            "*:#:# - error TS*",
            "*: error: *",
            "[ERROR] *",
            "Error: *",
            "✖ *: * exited with *",
            "ERROR run failed: *",
            "NX Running target * failed*",
            "NX   Running target * failed*",
            "lerna ERR! *",
            "Compiler run failed*",
            "Error HH#: *",
            "compiled with # error*",
            "webpack * compiled with # error*",
            "✗ Build failed *",
            "error [*",
            "*.tsp:#:# - error *",
            "Some errors were emitted while *",
            "× Some errors were emitted while *",
            "Failed to compile*",
            "Build failed*",
            "error during build:*",
            "ERROR in *",
            "× Build failed*",
            "x Build failed *",
            "Module not found: *",
            "[vite]: Rollup failed *",
            "RollupError: *",
            "Code style issues found in *",
            "[warn] Code style issues *",
            "Summary: # error*",
            "svelte-check found # error*",
            "Tasks: * failed*",
            "Failed: *",
            "Type error: *",
            "Checked # file* Found # error*",
            "NX   Ran target * failed*",
        ],
    ),
    (
        ResultKind::NothingTested,
        &[
            "No files matching the pattern *",
            "No files were processed in the specified paths.",
            "Checked 0 files*",
            "Validated 0 files*",
            "Linted 0 files*",
            "Processed 0 files*",
            "error TS18003: No inputs were found *",
            "× No files were processed *",
        ],
    ),
    (
        ResultKind::UsageError,
        &[
            "Invalid option '*",
            "error TS5*",
            "error TS6*",
            "ESLint couldn't find *",
            "[error] No files matching the pattern were found: *",
        ],
    ),
    (
        ResultKind::Passed,
        &[
            "Found 0 errors*",
            "✓ built in *",
            "Checked # file*No fixes applied.",
            "Checked # file*",
            "All matched files use Prettier code style!",
            "✓ Compiled successfully*",
            "Compiled successfully*",
            "webpack * compiled successfully *",
            "⚡ Done in *",
            "✨ Done in *",
            "Build complete*",
            "[SUCCESS] *",
            "Application bundle generation complete*",
            "NX Successfully ran target *",
            "NX   Successfully ran target *",
            "Compilation completed successfully*",
            "Compiler run successful*",
            "○ (Static) *prerendered as static content",
            "*Build completed *",
            "[build] Complete!",
            "Tasks: *# successful*",
            "Summary: 0 error*",
            "svelte-check found 0 errors *",
            "Found # warning*",
        ],
    ),
];

const MANAGERS: &[(ResultKind, &[&str])] = &[
    (
        ResultKind::WrongDirectory,
        &[
            "*Could not read package.json: *",
            "*ERR_PNPM_NO_IMPORTER_MANIFEST_FOUND*",
            "*No package.json found in *",
            "*No package.json was found *",
            "error: No package.json was found *",
            "*Couldn't find a package.json file in *",
            "*ENOENT: no such file or directory, open '*package.json'",
            "*ERR_PNPM_UNSUPPORTED_ENGINE*",
            "error * The engine \"node\" is incompatible with this module*",
            "npm error code EBADENGINE",
            "npm ERR! code EBADENGINE",
            "No projects matched the filters in *",
            "No projects found in *",
        ],
    ),
    (
        ResultKind::UsageError,
        &[
            "npm ERR! Missing script: *",
            "npm error Missing script: *",
            "npm ERR! missing script: *",
            "*ERR_PNPM_NO_SCRIPT*",
            "error Command \"*\" not found.",
            "Usage Error: Couldn't find a script named *",
            "*Couldn't find a script named *",
            "error: unknown command '*",
            "*ERR_PNPM_NO_SCRIPT_OR_SERVER*",
            "*ERR_PNPM_RECURSIVE_RUN_NO_SCRIPT*",
            "error: Script not found *",
            "error: Module not found *",
            "Unknown command: *",
            "npm error code EUSAGE",
            "npm ERR! code EUSAGE",
            "npm ERR! Unknown command*",
            "npm error Unknown command*",
            "npm error could not determine executable to run",
            "npm ERR! could not determine executable to run",
            "None of the selected packages has a \"*\" script",
            "*ERR_PNPM_UNKNOWN_OPTION*",
            "Usage Error: *",
            "error: Invalid Argument '*",
        ],
    ),
    (
        ResultKind::MissingProgram,
        &["*Command \"*\" not found", "error: could not determine executable to run for package *"],
    ),
    (
        ResultKind::NotAuthenticated,
        &[
            "npm ERR! code ENEEDAUTH",
            "*ERR_PNPM_FETCH_403*",
            "npm error code E403",
            "npm error code EOTP",
            "npm error code ENEEDAUTH",
            "npm ERR! code E401",
            "npm error code E401",
            "*ERR_PNPM_FETCH_401*",
        ],
    ),
    (
        ResultKind::NotFound,
        &[
            "npm ERR! code E404",
            "npm error code E404",
            "*ERR_PNPM_FETCH_404*",
            "error: GET * - 404",
            "npm error code ETARGET",
            "*No versions available for *",
        ],
    ),
    (
        ResultKind::Failed,
        &[
            "npm ERR! *",
            "npm error *",
            "*ELIFECYCLE*ommand failed*",
            "ERR_PNPM_*",
            "error: script \"*\" exited with code *",
            "error Command failed with exit code *",
            "error: script \"*\" was terminated by signal *",
            "Error: Command failed: *",
            "*error: \"*\" exited with code *",
            "command (*) exited with code *",
            "error: lockfile had changes, but lockfile is frozen",
            "* WARN  Local package.json exists, but node_modules missing*",
        ],
    ),
    (
        ResultKind::Passed,
        &[
            "added # package*",
            "up to date*",
            "changed # package*",
            "Done in *",
            "removed # package*",
            "# packages installed*",
            "Already up to date",
            "found 0 vulnerabilities",
        ],
    ),
];

const NODE: &[(ResultKind, &[&str])] = &[
    (ResultKind::UsageError, &["node: bad option: *", "*: -e requires an argument", "[eval]:#"]),
    (
        ResultKind::MissingProgram,
        &[
            "Error: Cannot find module *",
            "Error [ERR_MODULE_NOT_FOUND]: *",
            "code: 'MODULE_NOT_FOUND',",
        ],
    ),
    (
        ResultKind::Failed,
        &[
            "Uncaught *",
            "SyntaxError: *",
            "TypeError: *",
            "ReferenceError: *",
            "RangeError: *",
            "Error: *",
            "AssertionError*: *",
            "AggregateError*",
            "node:internal/*:#",
            "Node.js v*",
            "*EADDRINUSE*",
            "TSError: *",
        ],
    ),
];
