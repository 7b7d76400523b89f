//! # Python
//!
//! ```result failed
//! $ pytest -q 2>&1 | tail -3
//! FAILED tests/test_a.py::test_x - assert 1 == 2
//! 1 failed, 30 passed in 2.1s
//! ```
//! ```result nothing-tested
//! $ python -m pytest -k frob | tail -1
//! ========== 30 deselected in 0.10s ==========
//! ```
//! ```result passed
//! $ uv run pytest | tail -1
//! ========== 30 passed, 2 warnings in 0.10s ==========
//! ```
//! ```result failed
//! $ python3 a.py | head -20
//! Traceback (most recent call last):
//!   File "a.py", line 1, in <module>
//! KeyError: 'x'
//! ```
//! ```result missing-program
//! $ python a.py | tail -2
//! ModuleNotFoundError: No module named 'frob'
//! ```
//! ```result usage-error
//! $ ruff check --frob . | head
//! error: unexpected argument '--frob' found
//! ```
//! ```result wrong-directory
//! $ poetry install | tail -1
//! Poetry could not find a pyproject.toml file in /w or its parents
//! ```

use super::{CommandLineParser, ProgramPurpose, ResultKind, ResultProgram};

pub(super) static PACK: &[ResultProgram] = &[
    ResultProgram {
        names: &[
            "pytest",
            "py.test",
            "tox",
            "nox",
            "nose2",
            "unittest",
            "behave",
            "manage.py test",
        ],
        work: ProgramPurpose::Tests,
        parser: CommandLineParser::Argparse,
        lines: TESTS,
    },
    ResultProgram {
        names: &["ruff", "uvx ruff", "ty"],
        work: ProgramPurpose::Builds,
        parser: CommandLineParser::Clap,
        lines: LINTERS,
    },
    ResultProgram {
        names: &[
            "mypy",
            "pyright",
            "flake8",
            "pylint",
            "black",
            "isort",
            "bandit",
            "pyre",
            "basedpyright",
            "autopep8",
            "pre-commit",
        ],
        work: ProgramPurpose::Builds,
        parser: CommandLineParser::Argparse,
        lines: LINTERS,
    },
    ResultProgram {
        names: &["uv", "rye", "pixi"],
        work: ProgramPurpose::Acts,
        parser: CommandLineParser::Clap,
        lines: INSTALLERS,
    },
    ResultProgram {
        names: &[
            "pip", "pip3", "pipx", "poetry", "pdm", "pipenv", "hatch", "conda", "mamba", "twine",
        ],
        work: ProgramPurpose::Acts,
        parser: CommandLineParser::Argparse,
        lines: INSTALLERS,
    },
    ResultProgram {
        names: &["python", "python3", "py", "pypy3", "ipython", "django-admin", "flask", "uvicorn"],
        work: ProgramPurpose::Carries,
        parser: CommandLineParser::Argparse,
        lines: PYTHON,
    },
];

const TESTS: &[(ResultKind, &[&str])] = &[
    (
        ResultKind::Failed,
        &[
            "FAILED *::*",
            "ERROR *::*",
            "ERROR *.py",
            "ERROR *.py - *",
            "ERROR: *",
            "*evaluation failed :(*",
            "* FAIL code #*",
            "nox > Session * failed.",
            "AssertionError*",
            "*# failed*in *s*",
            "*# error*in *s*",
            "FAILED (failures=*",
            "FAILED (errors=*",
            "!* Interrupted: # error* during collection !*",
            "E   *Error*: *",
            "INTERNALERROR> *",
            "FAIL: *",
            "ImportError while loading conftest *",
        ],
    ),
    (
        ResultKind::NothingTested,
        &[
            "*no tests ran in *",
            "collected 0 items*",
            "Ran 0 tests in *",
            "*# deselected in *",
            "NO TESTS RAN",
            "ERROR: No matching tests*",
        ],
    ),
    (ResultKind::NotFound, &["ERROR: file or directory not found: *", "ERROR: not found: *"]),
    (
        ResultKind::UsageError,
        &["ERROR: usage: *", "usage: pytest *", "ERROR: Wrong expression passed to '*"],
    ),
    (
        ResultKind::Passed,
        &[
            "*# passed*in *s*",
            "OK",
            "OK (*",
            "*congratulations :)*",
            "nox > Session * was successful.",
        ],
    ),
];

const LINTERS: &[(ResultKind, &[&str])] = &[
    (
        ResultKind::Failed,
        &[
            "Found # error*",
            "# error*, *",
            "*:#: error: *",
            "*:#:#: error: *",
            "*.py:#:#: *",
            "Oh no! *",
            "would reformat *",
            "# file* would be reformatted*",
            "Would reformat: *",
            "*...Failed",
            "- hook id: *",
            "error[*]: *",
        ],
    ),
    (
        ResultKind::NothingTested,
        &[
            "No Python files found under the given path(s)*",
            "warning: No Python files found *",
            "There are no .py[i] files in directory *",
            "No source files found.",
            "No files to check*",
        ],
    ),
    (
        ResultKind::Passed,
        &[
            "All checks passed!",
            "Success: no issues found in # source file*",
            "0 errors, *",
            "# file* already formatted",
            "# file* left unchanged*",
            "# file* reformatted*",
            "All done! *",
            "Your code has been rated at 10.00/10*",
        ],
    ),
];

const INSTALLERS: &[(ResultKind, &[&str])] = &[
    (
        ResultKind::WrongDirectory,
        &[
            "Poetry could not find a pyproject.toml file *",
            "error: No `pyproject.toml` found in *",
            "*Neither 'setup.py' nor 'pyproject.toml' found.",
        ],
    ),
    (
        ResultKind::NotFound,
        &[
            "ERROR: No matching distribution found for *",
            "ERROR: Could not find a version that satisfies *",
            "error: Failed to read *",
            "ERROR: Could not open requirements file: *",
            "PackagesNotFoundError: *",
        ],
    ),
    (ResultKind::NothingMatched, &["WARNING: Package(s) not found: *"]),
    (
        ResultKind::MissingProgram,
        &["error: Failed to spawn: *", "Command not found: *", "*: No module named *"],
    ),
    (
        ResultKind::Refused,
        &[
            "error: externally-managed-environment",
            "ERROR: Could not install packages due to an OSError: *Permission denied*",
            "× This environment is externally managed",
        ],
    ),
    (
        ResultKind::Failed,
        &[
            "ERROR: *",
            "error: *",
            "× No solution found when resolving dependencies*",
            "error: No virtual environment found*",
            "CondaError: *",
            "CondaHTTPError: *",
            "SolvingError*",
            "*SolverProblemError*",
            "pip._vendor.*Error: *",
            "× Failed to build *",
        ],
    ),
    (
        ResultKind::Passed,
        &[
            "Successfully installed *",
            "Requirement already satisfied: *",
            "Installed # package*",
            "Resolved # package*",
            "Audited # package*",
            "Prepared # package*",
        ],
    ),
];

const PYTHON: &[(ResultKind, &[&str])] = &[
    (
        ResultKind::MissingProgram,
        &["ModuleNotFoundError: *", "*: No module named *", "ImportError: No module named *"],
    ),
    (ResultKind::NotFound, &["*: can't open file '*': [Errno 2] *"]),
    (
        ResultKind::UsageError,
        &["File \"<string>\", line #", "usage: *", "IndentationError: *", "*: error: *"],
    ),
    (
        ResultKind::Failed,
        &[
            "Traceback (most recent call last):",
            "SyntaxError: *",
            "*: can't open file *",
            "CommandError: *",
        ],
    ),
];
