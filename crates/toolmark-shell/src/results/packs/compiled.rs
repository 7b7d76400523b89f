//! # Go, Rust, JVM, Apple, .NET, C and other compiled languages
//!
//! ```result failed
//! $ cargo test 2>&1 | tail -3
//! test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out
//! ```
//! ```result passed
//! $ go test ./... | tail -2
//! ok  	example.com/a	0.01s
//! ?   	example.com/b	[no test files]
//! ```
//! ```result nothing-tested
//! $ go test -run Frob ./a 2>&1 | tail -2
//! ok  	example.com/a	0.01s [no tests to run]
//! ```
//! ```result nothing-tested
//! $ golangci-lint run 2>&1 | tail -3
//! level=error msg="[linters_context] typechecking error: pattern ./...: directory prefix . does not contain main module"
//! 0 issues.
//! ```
//! ```result wrong-directory
//! $ cargo build || true
//! error: could not find `Cargo.toml` in `/w` or any parent directory
//! ```
//! ```result usage-error
//! $ cargo test --frob 2>&1 | tail -5
//! error: unexpected argument '--frob' found
//! ```
//! ```result failed
//! $ ./gradlew test | tail -3
//! BUILD FAILED in 3s
//! ```

use super::{CommandLineParser, ProgramPurpose, ResultKind, ResultProgram};

pub(super) static PACK: &[ResultProgram] = &[
    ResultProgram {
        names: &["cargo test", "cargo nextest", "cargo t"],
        work: ProgramPurpose::Tests,
        parser: CommandLineParser::Clap,
        lines: &[
            (
                ResultKind::Failed,
                &[
                    "test result: FAILED*",
                    "error: test failed, *",
                    "test * ... FAILED",
                    "Summary *# failed*",
                    "error: test run failed",
                    "FAIL [*",
                ],
            ),
            (
                ResultKind::NothingTested,
                &[
                    "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; # filtered out*",
                    "error: no tests to run*",
                ],
            ),
            (ResultKind::Passed, &["test result: ok. # passed*", "Summary *# passed*"]),
        ],
    },
    ResultProgram {
        names: &["cargo", "rustc", "cross", "wasm-pack", "rustup", "trunk"],
        work: ProgramPurpose::Builds,
        parser: CommandLineParser::Clap,
        lines: CARGO,
    },
    ResultProgram {
        names: &["rustfmt", "cargo fmt"],
        work: ProgramPurpose::Builds,
        parser: CommandLineParser::Clap,
        lines: &[(ResultKind::Failed, &["Diff in *", "error: *", "error[*"])],
    },
    ResultProgram {
        names: &["go test", "gotestsum", "ginkgo"],
        work: ProgramPurpose::Tests,
        parser: CommandLineParser::GoFlag,
        lines: &[
            (
                ResultKind::Failed,
                &[
                    "FAIL",
                    "FAIL\t*",
                    "--- FAIL: *",
                    "panic: *",
                    "DONE # tests, *# failure*",
                    "*.go:#:#: *",
                    "Ginkgo ran * suite*",
                    "[Fail] *",
                ],
            ),
            (
                ResultKind::NothingTested,
                &[
                    "testing: warning: no tests to run",
                    "ok *[no tests to run]",
                    "no Go files in *",
                    "go: warning: \"*\" matched no packages",
                    "no packages to test",
                ],
            ),
            (ResultKind::WrongDirectory, WRONG_MODULE),
            (
                ResultKind::NotFound,
                &[
                    "stat *: directory not found",
                    "package * is not in std*",
                    "no required module provides package *",
                ],
            ),
            (
                ResultKind::Passed,
                &[
                    "ok  \t*s",
                    "ok  \t*(cached)",
                    "PASS",
                    "--- PASS: *",
                    "ok  \t*s\tcoverage: *",
                    "DONE # tests in *",
                ],
            ),
        ],
    },
    ResultProgram {
        names: &["go", "gofmt", "goimports", "staticcheck", "gopls", "buf"],
        work: ProgramPurpose::Builds,
        parser: CommandLineParser::GoFlag,
        lines: &[
            (ResultKind::WrongDirectory, WRONG_MODULE),
            (
                ResultKind::UsageError,
                &[
                    "go *: unknown command",
                    "go: unknown subcommand *",
                    "usage: go *",
                    "Run 'go help *' for usage.",
                ],
            ),
            (
                ResultKind::NotFound,
                &[
                    "stat *: no such file or directory",
                    "lstat *: no such file or directory",
                    "package * is not in std*",
                    "go: module * not found",
                    "no required module provides package *",
                ],
            ),
            (
                ResultKind::NothingTested,
                &["go: warning: \"*\" matched no packages", "no Go files in *"],
            ),
            (ResultKind::Failed, &["*.go:#:#: *", "go: *", "FAIL*", "panic: *", "exit status #"]),
        ],
    },
    ResultProgram {
        names: &["golangci-lint"],
        work: ProgramPurpose::Builds,
        parser: CommandLineParser::Cobra,
        lines: &[
            (
                ResultKind::NothingTested,
                &[
                    "*typechecking error: *",
                    "level=error msg=*no go files to analyze*",
                    "*context loading failed: no go files to analyze*",
                ],
            ),
            (
                ResultKind::UsageError,
                &[
                    "The command is terminated due to an error: *",
                    "Error: unknown *",
                    "Error: can't load config: *",
                ],
            ),
            (ResultKind::Failed, &["*.go:#:#: *", "# issues:", "# issues."]),
            (ResultKind::Passed, &["0 issues."]),
        ],
    },
    ResultProgram {
        names: &[
            "gradle", "gradlew", "mvn", "mvnw", "ant", "sbt", "javac", "kotlinc", "bazel", "java",
            "lein",
        ],
        work: ProgramPurpose::Builds,
        parser: CommandLineParser::Unknown,
        lines: &[
            (
                ResultKind::Failed,
                &[
                    "BUILD FAILED*",
                    "FAILURE: Build failed *",
                    "[ERROR] *",
                    "[INFO] BUILD FAILURE",
                    "*Tests run: *, Failures: #*",
                    "*Tests run: *, Errors: #*",
                    "e: *",
                    "* FAILED",
                    "[error] *",
                    "*.java:#: error: *",
                    "# errors",
                    "# error",
                    "Exception in thread *",
                    "* Execution failed for task *",
                    "> Task :* FAILED",
                    "Could not resolve all *",
                    "Could not determine the dependencies of task *",
                    "ERROR: *",
                ],
            ),
            (
                ResultKind::UsageError,
                &[
                    "Unknown command-line option '*",
                    "error: invalid flag: *",
                    "Error: Could not find or load main class *",
                    "Error: Unable to access jarfile *",
                    "Task '*' not found in *",
                    "[ERROR] Unknown lifecycle phase *",
                    "Unrecognized option: *",
                ],
            ),
            (
                ResultKind::MissingProgram,
                &[
                    "*Unable to locate a Java Runtime*",
                    "ERROR: JAVA_HOME is *",
                    "The JAVA_HOME environment variable is not defined correctly*",
                    "*zsh: command not found: java",
                ],
            ),
            (
                ResultKind::WrongDirectory,
                &["*there is no POM in this directory*", "*does not contain a Gradle build*"],
            ),
            (
                ResultKind::NothingTested,
                &["No tests found for given includes: *", "*No tests were executed!*"],
            ),
            (
                ResultKind::Passed,
                &[
                    "BUILD SUCCESSFUL*",
                    "[INFO] BUILD SUCCESS",
                    "[success] *",
                    "INFO: Build completed successfully*",
                ],
            ),
        ],
    },
    ResultProgram {
        names: &["xcodebuild", "swift", "xcrun", "swiftc", "swiftlint", "pod", "tuist", "fastlane"],
        work: ProgramPurpose::Builds,
        parser: CommandLineParser::Unknown,
        lines: &[
            (
                ResultKind::Failed,
                &[
                    "** BUILD FAILED ***",
                    "** TEST FAILED ***",
                    "** ARCHIVE FAILED ***",
                    "*: error: *",
                    "error: *",
                    "*with # failure* (*",
                    "The following build commands failed:",
                    "Testing failed:",
                    "[!] *",
                ],
            ),
            (
                ResultKind::UsageError,
                &[
                    "xcodebuild: error: invalid option *",
                    "error: Unknown option '*",
                    "error: Unexpected argument '*",
                    "error: Missing expected argument *",
                    "xcodebuild: error: Unknown build action *",
                ],
            ),
            (
                ResultKind::WrongDirectory,
                &[
                    "xcodebuild: error: The directory * does not contain an Xcode project*",
                    "error: Could not find Package.swift in *",
                ],
            ),
            (
                ResultKind::NotFound,
                &[
                    "xcodebuild: error: Unable to find a *",
                    "xcodebuild: error: * does not contain a scheme *",
                ],
            ),
            (
                ResultKind::NothingTested,
                &["*Executed 0 tests, *", "warning: No matching test cases were run*"],
            ),
            (
                ResultKind::Passed,
                &[
                    "** BUILD SUCCEEDED ***",
                    "** TEST SUCCEEDED ***",
                    "Build complete! *",
                    "*Executed # tests, with 0 failures *",
                    "Done linting! Found 0 violations*",
                ],
            ),
        ],
    },
    ResultProgram {
        names: &["dotnet", "msbuild", "nuget"],
        work: ProgramPurpose::Builds,
        parser: CommandLineParser::Unknown,
        lines: &[
            (
                ResultKind::Failed,
                &[
                    "Build FAILED.",
                    "Failed! *",
                    "*: error *: *",
                    "# Error(s)",
                    "Test Run Failed.",
                    "error: *",
                ],
            ),
            (
                ResultKind::WrongDirectory,
                &["MSBUILD : error MSB1003: *", "*Couldn't find a project to run.*"],
            ),
            (
                ResultKind::UsageError,
                &[
                    "MSBUILD : error MSB1001: *",
                    "Unrecognized command or argument '*",
                    "Could not execute because the specified command or file was not found.",
                ],
            ),
            (
                ResultKind::NothingTested,
                &["No test matches the given testcase filter *", "No test is available in *"],
            ),
            (ResultKind::Passed, &["Build succeeded*", "Passed! *", "Test Run Successful."]),
        ],
    },
    ResultProgram {
        names: &[
            "gcc",
            "g++",
            "cc",
            "clang",
            "clang++",
            "cmake",
            "ninja",
            "meson",
            "ctest",
            "zig",
            "ld",
            "shellcheck",
            "nasm",
            "clang-tidy",
            "cppcheck",
        ],
        work: ProgramPurpose::Builds,
        parser: CommandLineParser::Unknown,
        lines: &[
            (
                ResultKind::UsageError,
                &[
                    "*: error: unrecognized command-line option *",
                    "*: error: unknown argument*",
                    "CMake Error: Unknown argument *",
                    "CMake Error: The source directory * does not exist.",
                ],
            ),
            (
                ResultKind::NotFound,
                &[
                    "*: error: *: No such file or directory",
                    "*: error: no such file or directory: *",
                ],
            ),
            (ResultKind::NothingTested, &["No tests were found!!!"]),
            (
                ResultKind::Failed,
                &[
                    "*:#:#: error: *",
                    "*:#: error: *",
                    "*: fatal error: *",
                    "*: undefined reference to *",
                    "CMake Error *",
                    "ninja: build stopped: *",
                    "FAILED: *",
                    "*# tests failed out of #",
                    "In * line #:",
                    "*linker command failed*",
                    "ld: *",
                    "collect2: error: *",
                    "error: *",
                ],
            ),
            (
                ResultKind::Passed,
                &[
                    "100% tests passed, *",
                    "-- Build files have been written to: *",
                    "[100%] Built target *",
                    "ninja: no work to do.",
                ],
            ),
        ],
    },
    ResultProgram {
        names: &["flutter", "dart", "fvm"],
        work: ProgramPurpose::Builds,
        parser: CommandLineParser::Unknown,
        lines: &[
            (
                ResultKind::Failed,
                &[
                    "# issue* found*",
                    "*: Some tests failed.",
                    "Error: *",
                    "Failed to *",
                    "error • *",
                    "*# error*",
                    "FAILURE: *",
                    "BUILD FAILED*",
                    "Because * version solving failed.",
                ],
            ),
            (
                ResultKind::UsageError,
                &[
                    "Could not find an option named *",
                    "Could not find a command named *",
                    "Could not find a subcommand named *",
                ],
            ),
            (
                ResultKind::WrongDirectory,
                &[
                    "Error: No pubspec.yaml file found.",
                    "Expected to find project root in current working directory.",
                ],
            ),
            (ResultKind::NothingTested, &["No tests ran.", "No tests match *"]),
            (
                ResultKind::Passed,
                &["No issues found!*", "*: All tests passed!", "✓ Built *", "Got dependencies!*"],
            ),
        ],
    },
];

const WRONG_MODULE: &[&str] = &[
    "go: go.mod file not found *",
    "go: cannot find main module*",
    "pattern *: directory prefix * does not contain main module*",
    "go: updates to go.mod needed",
    "main module (*) does not contain package *",
];

const CARGO: &[(ResultKind, &[&str])] = &[
    (
        ResultKind::WrongDirectory,
        &["error: could not find `Cargo.toml` in *", "error: manifest path `*` does not exist*"],
    ),
    (
        ResultKind::NotFound,
        &[
            "error: package ID specification `*` did not match any packages*",
            "error: no test target named *",
            "error: no bin target named *",
            "error: no example target named *",
            "error: package `*` not found in workspace*",
            "error: couldn't read *",
            "error: toolchain '*' is not installed",
        ],
    ),
    (
        ResultKind::Failed,
        &[
            "error[E*",
            "error: could not compile *",
            "error: *",
            "error[*",
            "warning: build failed, *",
        ],
    ),
    (ResultKind::Passed, &["Finished `*", "Finished *", "Documenting *", "Installed package *"]),
];
