//! The language of a build, of tests or of a linter: detected by the messages of its tools in the
//! output, or by the program of the command.

use toolmark_base::word_enum;

word_enum! {
    /// Language of a failed check.
    pub enum Language {
        /// Go.
        Go = "go",
        /// Rust.
        Rust = "rust",
        /// Python.
        Python = "python",
        /// JavaScript and TypeScript.
        JavaScript = "javascript",
        /// Java, Kotlin and Scala.
        Java = "java",
        /// C and C++.
        C = "c",
        /// C# and F#.
        DotNet = "dotnet",
        /// Ruby.
        Ruby = "ruby",
        /// PHP.
        Php = "php",
        /// Swift.
        Swift = "swift",
        /// Shell scripts.
        Shell = "shell",
        /// SQL.
        Sql = "sql",
        /// A program of the system.
        Program = "program",
        /// Unknown or irrelevant.
        None = "",
    }
}

/// Words of commands with their languages.
const PROGRAMS: &[(&str, Language)] = &[
    ("cargo", Language::Rust),
    ("rustc", Language::Rust),
    ("clippy", Language::Rust),
    ("go", Language::Go),
    ("gofmt", Language::Go),
    ("golangci-lint", Language::Go),
    ("gotestsum", Language::Go),
    ("pytest", Language::Python),
    ("python", Language::Python),
    ("python3", Language::Python),
    ("ruff", Language::Python),
    ("mypy", Language::Python),
    ("pyright", Language::Python),
    ("flake8", Language::Python),
    ("pylint", Language::Python),
    ("black", Language::Python),
    ("tox", Language::Python),
    ("uv", Language::Python),
    ("poetry", Language::Python),
    ("pip", Language::Python),
    ("npm", Language::JavaScript),
    ("npx", Language::JavaScript),
    ("pnpm", Language::JavaScript),
    ("yarn", Language::JavaScript),
    ("bun", Language::JavaScript),
    ("bunx", Language::JavaScript),
    ("node", Language::JavaScript),
    ("deno", Language::JavaScript),
    ("tsc", Language::JavaScript),
    ("eslint", Language::JavaScript),
    ("prettier", Language::JavaScript),
    ("biome", Language::JavaScript),
    ("jest", Language::JavaScript),
    ("vitest", Language::JavaScript),
    ("mvn", Language::Java),
    ("gradle", Language::Java),
    ("gradlew", Language::Java),
    ("javac", Language::Java),
    ("sbt", Language::Java),
    ("make", Language::C),
    ("cmake", Language::C),
    ("gcc", Language::C),
    ("g++", Language::C),
    ("clang", Language::C),
    ("ninja", Language::C),
    ("ctest", Language::C),
    ("dotnet", Language::DotNet),
    ("bundle", Language::Ruby),
    ("rspec", Language::Ruby),
    ("rubocop", Language::Ruby),
    ("rake", Language::Ruby),
    ("ruby", Language::Ruby),
    ("composer", Language::Php),
    ("phpunit", Language::Php),
    ("php", Language::Php),
    ("swift", Language::Swift),
    ("xcodebuild", Language::Swift),
    ("shellcheck", Language::Shell),
    ("bats", Language::Shell),
    ("sqlfluff", Language::Sql),
];

/// File name extensions with their languages.
const ENDINGS: &[(&str, Language)] = &[
    (".go:", Language::Go),
    (".rs:", Language::Rust),
    (".py:", Language::Python),
    (".py\"", Language::Python),
    (".ts:", Language::JavaScript),
    (".tsx:", Language::JavaScript),
    (".ts(", Language::JavaScript),
    (".js:", Language::JavaScript),
    (".java:", Language::Java),
    (".kt:", Language::Java),
    (".rb:", Language::Ruby),
    (".php:", Language::Php),
    (".cs(", Language::DotNet),
    (".swift:", Language::Swift),
    (".c:", Language::C),
    (".cpp:", Language::C),
    (".h:", Language::C),
];

impl Language {
    /// Returns the language of a command and its output: that of the program, else that of the
    /// first file named with a position.
    #[must_use]
    pub fn of(command: &str, text: &str) -> Self {
        let words = command
            .split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | '/' | '\\'));
        let mut words = words.map(|word| word.trim_matches(['"', '\'']));
        let of_word = |word: &str| PROGRAMS.iter().find(|(name, _)| *name == word);
        match words.find_map(of_word) {
            Some((_, language)) => *language,
            None => Self::of_text(text),
        }
    }

    /// Returns the language of the first file named with a position.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        let text = crate::template::cut(text, 8 << 10);
        let first =
            ENDINGS.iter().filter_map(|(ending, language)| Some((text.find(ending)?, language)));
        first.min_by_key(|(at, _)| *at).map_or(Self::None, |(_, language)| *language)
    }

    /// Returns the display name.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Go => "Go",
            Self::Rust => "Rust",
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
            Self::Java => "Java",
            Self::C => "C",
            Self::DotNet => ".NET",
            Self::Ruby => "Ruby",
            Self::Php => "PHP",
            Self::Swift => "Swift",
            Self::Shell => "shell",
            Self::Sql => "SQL",
            Self::Program | Self::None => "",
        }
    }
}
