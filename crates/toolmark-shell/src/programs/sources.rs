//! Where the code of packages comes from: which runners start packages that everybody knows,
//! and which addresses are no registry.

/// Tools that people start without installing them, by the names of their packages. A name that
/// is not here may be a typo that somebody waits for.
const WELL_KNOWN: &[&str] = &[
    // JavaScript
    "eslint", "prettier", "tsc", "typescript", "ts-node", "tsx", "vitest", "jest", "mocha", "ava", "tap", "c8", "nyc",
    "playwright", "cypress", "puppeteer", "vite", "webpack", "webpack-cli", "rollup", "parcel", "esbuild", "swc", "tsup",
    "turbo", "nx", "lerna", "rush", "next", "nuxt", "nuxi", "astro", "gatsby", "remix", "svelte-kit", "svelte-check", "sv",
    "vue-tsc", "vue", "ng", "angular", "expo", "react-native", "eas-cli", "eas", "storybook", "sb", "husky", "lint-staged",
    "commitlint", "changeset", "semantic-release", "release-it", "np", "standard-version", "rimraf", "del-cli", "shx",
    "cross-env", "concurrently", "npm-run-all", "nodemon", "serve", "http-server", "live-server", "json-server", "degit",
    "tiged", "create-react-app", "create-next-app", "create-vite", "create-vue", "create-svelte", "create-astro",
    "create-remix", "create-expo-app", "create-t3-app", "create-nx-workspace", "create-turbo", "create-docusaurus",
    "create-electron-app", "create-tauri-app", "create-solid", "create-hono", "create-cloudflare", "create-payload-app",
    "create-strapi-app", "create-rspack", "create-rsbuild", "create-qwik", "create-convex", "create-llama", "create-mcp",
    "shadcn", "shadcn-ui", "tailwindcss", "postcss", "sass", "stylelint", "biome", "oxlint", "dprint", "xo", "standard",
    "knip", "depcheck", "madge", "dependency-cruiser", "npm-check-updates", "ncu", "npm-check", "license-checker", "syncpack",
    "size-limit", "bundlesize", "source-map-explorer", "webpack-bundle-analyzer", "publint", "attw", "are-the-types-wrong",
    "typedoc", "jsdoc", "documentation", "graphql-codegen", "openapi-typescript", "openapi-generator-cli", "swagger-cli",
    "redocly", "spectral", "json-schema-to-typescript", "quicktype", "prisma", "drizzle-kit", "knex", "sequelize",
    "sequelize-cli", "typeorm", "mikro-orm", "kysely", "zod", "wrangler", "vercel", "netlify", "netlify-cli", "firebase",
    "firebase-tools", "supabase", "convex", "sst", "cdk", "aws-cdk", "serverless", "sls", "pm2", "ts-json-schema-generator",
    "patch-package", "envinfo", "browserslist", "update-browserslist-db", "caniuse-lite", "autocannon", "lighthouse", "lhci",
    "pa11y", "axe", "cspell", "markdownlint", "markdownlint-cli", "markdownlint-cli2", "remark", "textlint", "alex", "doctoc",
    "mermaid", "mmdc", "marp", "slidev", "vitepress", "vuepress", "docusaurus", "hexo", "eleventy", "gh-pages", "surge",
    "localtunnel", "ngrok", "cowsay", "envsub", "dotenv", "dotenv-cli", "env-cmd", "yalc", "verdaccio", "npm", "yarn", "pnpm",
    "bun", "corepack", "node", "deno", "node-gyp", "electron", "electron-builder", "electron-forge", "tauri", "capacitor",
    "cap", "ionic", "cordova", "gulp", "grunt", "babel", "tslint", "flow", "karma", "jasmine", "wdio", "testcafe",
    "nightwatch", "detox", "msw", "newman", "artillery", "k6", "tldr", "fkill", "fkill-cli", "kill-port", "wait-on",
    "start-server-and-test", "is-ci", "semver", "uuid", "nanoid", "plop", "hygen", "yo", "sao", "ember", "elm", "elm-test",
    "elm-format", "spago", "purs", "rescript", "shadow-cljs", "sqlite3", "hardhat", "truffle", "ganache", "foundry",
    "near-cli", "solhint", "mcp-inspector", "repomix", "promptfoo", "ccusage", "gltfjsx", "svgo", "imagemin", "sharp",
    "sharp-cli", "squoosh", "pwa-asset-generator", "workbox", "workbox-cli", "tsd", "dtslint", "api-extractor", "rollup-plugin",
    "unbuild", "tsdown", "bunchee", "microbundle", "ncc", "pkg", "nexe", "esno", "jiti", "vite-node", "swc-node", "zx",
    "claude", "claude-code", "codex", "gemini", "gemini-cli", "copilot", "opencode", "opencode-ai", "gulp-cli", "vsce",
    "ovsx", "web-ext", "chrome-webstore-upload", "react-devtools", "react-scripts", "craco", "medusa", "strapi", "payload",
    "keystone", "sanity", "contentful", "tinacms", "directus", "apollo", "rover", "relay-compiler", "gql.tada", "ts-prune",
    "ts-unused-exports", "type-coverage", "jscpd", "plato", "sort-package-json", "npm-packlist", "resolve-tspaths",
    "tsc-alias", "tsconfck", "cpy", "cpy-cli", "mkdirp", "ncp", "copyfiles", "onchange", "chokidar", "chokidar-cli", "trash",
    "trash-cli", "open", "open-cli", "clipboardy", "live-server", "browser-sync", "mkcert", "local-ssl-proxy", "json",
    // Python
    "ruff", "black", "isort", "mypy", "pyright", "basedpyright", "flake8", "pylint", "pytest", "tox", "nox", "hatch", "pdm",
    "poetry", "uv", "pip", "pipenv", "build", "pyproject-build", "twine", "pre-commit", "cookiecutter", "copier", "mkdocs",
    "sphinx", "sphinx-build", "jupyter", "jupyterlab", "notebook", "nbconvert", "ipython", "httpie", "http", "yt-dlp",
    "bandit", "safety", "pip-audit", "semgrep", "codespell", "djlint", "sqlfluff", "yamllint", "ansible", "ansible-lint",
    "awscli", "aws", "black", "pyupgrade", "autoflake", "vulture", "radon", "coverage", "hypothesis", "locust", "scrapy",
    "streamlit", "gradio", "fastapi", "uvicorn", "gunicorn", "flask", "django", "django-admin", "alembic", "datasette",
    "sqlite-utils", "csvkit", "visidata", "pgcli", "mycli", "litecli", "pipx", "conda-lock", "commitizen", "cz", "bumpver",
    "bump2version", "towncrier", "gitlint", "interrogate", "pydocstyle", "pdoc", "reuse", "validate-pyproject", "ty",
    "marimo", "dvc", "mlflow", "wandb", "huggingface-cli", "hf", "ruff-lsp", "pylsp", "virtualenv", "mcp", "aider",
    "aider-chat", "files-to-prompt", "llm", "ttok", "strip-tags", "cibuildwheel", "maturin", "meson", "ninja", "cmake",
    "python", "pyinstaller", "briefcase", "pyoxidizer", "shiv", "pex", "cython", "numba", "pip-tools", "pip-compile",
];

/// Scopes whose packages everybody knows.
const SCOPES: &[&str] = &[
    "@angular", "@nestjs", "@playwright", "@biomejs", "@storybook", "@changesets", "@openapitools", "@tailwindcss",
    "@sveltejs", "@redwoodjs", "@modelcontextprotocol", "@types", "@babel", "@vue", "@nuxt", "@astrojs", "@remix-run",
    "@ionic", "@capacitor", "@aws-cdk", "@aws-amplify", "@cloudflare", "@vercel", "@netlify", "@expo", "@react-native",
    "@react-native-community", "@microsoft", "@redocly", "@stoplight", "@graphql-codegen", "@apollo", "@prisma", "@sentry",
    "@shopify", "@salesforce", "@sanity", "@strapi", "@docusaurus", "@11ty", "@marp-team", "@mermaid-js", "@commitlint",
    "@electron-forge", "@tauri-apps", "@swc", "@rspack", "@rsbuild", "@tanstack", "@trpc", "@hey-api", "@kubb", "@arethetypeswrong",
    "@anthropic-ai", "@openai", "@google", "@github", "@next", "@mikro-orm", "@nx", "@bufbuild", "@stryker-mutator",
    "@lhci", "@axe-core", "@size-limit", "@manypkg", "@pnpm", "@yarnpkg", "@antfu", "@unocss", "@vitejs", "@vitest",
    "@web", "@wdio", "@cucumber", "@typescript-eslint", "@eslint", "@ast-grep", "@svgr", "@hono", "@elastic", "@mdx-js",
];

/// Is a package one that people start by its name every day?
pub(super) fn is_well_known(package: &str) -> bool {
    let package = package.strip_prefix("npm:").unwrap_or(package);
    if package.starts_with('@') {
        let scope = package.split('/').next().unwrap_or("");
        return SCOPES.contains(&scope);
    }
    let name = package.split(['@', '=', '[', '>', '<', '~']).next().unwrap_or(package);
    WELL_KNOWN.contains(&name)
}

/// Owners of Go modules that people install tools from.
const GO_OWNERS: &[&str] = &[
    "golang.org/", "google.golang.org/", "k8s.io/", "sigs.k8s.io/", "go.uber.org/", "honnef.co/", "mvdan.cc/", "gotest.tools/",
    "github.com/golangci/", "github.com/golang/", "github.com/google/", "github.com/go-delve/", "github.com/air-verse/",
    "github.com/cosmtrek/", "github.com/swaggo/", "github.com/sqlc-dev/", "github.com/golang-migrate/", "github.com/pressly/",
    "github.com/securego/", "github.com/goreleaser/", "github.com/bufbuild/", "github.com/vektra/", "github.com/matryer/",
    "github.com/rakyll/", "github.com/charmbracelet/", "github.com/spf13/", "github.com/cespare/", "github.com/fatih/",
    "github.com/josharian/", "github.com/hashicorp/", "github.com/uber-go/", "github.com/onsi/", "github.com/stretchr/",
    "github.com/mgechev/", "github.com/client9/", "github.com/kisielk/", "github.com/daixiang0/", "github.com/segmentio/",
    "github.com/a-h/", "github.com/oapi-codegen/", "github.com/deepmap/", "github.com/99designs/", "github.com/grpc-ecosystem/",
    "github.com/envoyproxy/", "github.com/mikefarah/", "github.com/junegunn/", "github.com/jesseduffield/", "github.com/rogpeppe/",
    "github.com/magefile/", "github.com/go-task/", "github.com/evanw/", "github.com/gotesttools/", "github.com/axw/",
    "github.com/boumenot/", "github.com/jstemmer/", "github.com/tinygo-org/", "github.com/wailsapp/", "github.com/nektos/",
    "github.com/cli/", "github.com/docker/", "github.com/kubernetes/", "github.com/helm/", "github.com/terraform-linters/",
];

/// Is a Go module of somebody whose tools are well known?
pub(super) fn is_known_module(module: &str) -> bool {
    GO_OWNERS.iter().any(|owner| module.starts_with(owner))
}

/// An address that packages are taken from and that is no registry: of a file, of a repository.
pub(super) fn foreign_source(word: &str) -> Option<&str> {
    const OWN: &[&str] = &[
        "https://pypi.org", "https://files.pythonhosted.org", "https://registry.npmjs.org", "https://registry.yarnpkg.com",
        "https://download.pytorch.org", "https://pypi.nvidia.com", "https://rubygems.org", "https://crates.io",
        "https://packagist.org", "https://repo.maven.apache.org", "https://proxy.golang.org", "https://jsr.io",
        "https://npm.jsr.io", "https://conda.anaconda.org", "https://data.pyg.org",
    ];
    let address = word.split_once("@http").map_or(word, |(name, _)| word.get(name.len() + 1..).unwrap_or(word));
    let address = address.split_once(" @ ").map_or(address, |(_, address)| address);
    let starts = ["http://", "https://", "git+", "git://", "github:", "gitlab:", "bitbucket:", "gist:", "git@"];
    if !starts.iter().any(|start| address.starts_with(start)) || OWN.iter().any(|own| address.starts_with(own)) {
        return None;
    }
    let host = address.split("://").nth(1).unwrap_or("");
    (!["localhost", "127.0.0.1", "[::1]"].iter().any(|own| host.starts_with(own))).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages() {
        for name in ["eslint", "create-vite@latest", "@angular/cli@17", "ruff==0.5", "npm:tsx"] {
            assert!(is_well_known(name), "{name}");
        }
        for name in ["cowsay-but-evil", "some-unknown-formatter", "@rand/x"] {
            assert!(!is_well_known(name), "{name}");
        }
    }

    #[test]
    fn addresses() {
        for word in ["git+https://github.com/a/b", "x@https://codeload.github.com/z/e", "http://203.0.113.7/e.tgz"] {
            assert!(foreign_source(word).is_some(), "{word}");
        }
        for word in ["react", "react@18", "https://download.pytorch.org/whl/cpu", "http://localhost:4873/", "./x.tgz"] {
            assert!(foreign_source(word).is_none(), "{word}");
        }
    }
}
