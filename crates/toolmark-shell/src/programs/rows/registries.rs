//! Package registries and system packages: what is published, taken back or removed.
//!
//! ```denied
//! npm publish --tag next
//! pnpm -r publish --no-git-checks
//! cargo yank --version 1.0.0 x
//! dotnet nuget delete X 1.0
//! gradle publishToSonatype
//! goreleaser release
//! chezmoi purge
//! ```
//! ```asked
//! npm dist-tag rm x latest
//! yarn npm tag remove x latest
//! gem owner -r bob x
//! pacman -Rdd base
//! zypper rm x
//! conda env remove -n x
//! nix store gc
//! ```
//! ```allowed
//! gradle publishToMavenLocal
//! goreleaser release --snapshot
//! npm dist-tag ls x
//! pacman -Qs x
//! apt-get remove -s x
//! conda list
//! npm cache clean --force
//! cargo owner --list x
//! ```

use super::{
    CHANGES_PACKAGE, DROPS, NOTHING, PUBLISHES_FOREVER, REGENERABLE, REMOVES, REMOVES_PACKAGES,
    Tool, UNPUBLISHES,
};

/// Options with values of the clients of JavaScript.
const NODE: &str =
    "--prefix -w --workspace -C --dir --filter -F --registry --tag --access --otp --cwd --config";

pub(super) const TOOLS: &[Tool] = &[
    Tool {
        names: &["npm", "pnpm", "yarn", "bun"],
        values: NODE,
        rows: &[
            ("publish", PUBLISHES_FOREVER),
            ("npm publish", PUBLISHES_FOREVER),
            ("unpublish", UNPUBLISHES),
            ("deprecate", CHANGES_PACKAGE),
            ("npm tag remove", CHANGES_PACKAGE),
            ("access|owner|team|dist-tag|token|org|star public|restricted|add|rm", CHANGES_PACKAGE),
            ("access|owner|team|dist-tag|token|org revoke|remove|set|destroy", CHANGES_PACKAGE),
            ("cache|prune", REGENERABLE),
        ],
    },
    Tool {
        names: &[
            "poetry",
            "uv",
            "hatch",
            "flit",
            "jsr",
            "deno",
            "lerna",
            "pdm",
            "rye",
            "changeset",
            "conan",
        ],
        values: "--directory --project -C",
        rows: &[("publish", PUBLISHES_FOREVER)],
    },
    Tool {
        names: &["vsce", "ovsx"],
        values: "-p --pat -i",
        rows: &[("publish", PUBLISHES_FOREVER), ("unpublish", UNPUBLISHES)],
    },
    Tool {
        names: &["cargo"],
        values: "--manifest-path --registry --index -p --package",
        rows: &[
            ("publish", PUBLISHES_FOREVER),
            ("yank", UNPUBLISHES),
            ("owner --remove|-r", UNPUBLISHES),
            ("owner --list|-l", NOTHING),
            ("owner", CHANGES_PACKAGE),
            ("clean", REGENERABLE),
        ],
    },
    Tool {
        names: &["gem"],
        values: "--key -k --host",
        rows: &[
            ("push", PUBLISHES_FOREVER),
            ("yank", UNPUBLISHES),
            ("owner -r|--remove|-a|--add", CHANGES_PACKAGE),
            ("uninstall -a|--all|-aIx|-ax|-aI", REMOVES_PACKAGES),
        ],
    },
    Tool {
        names: &["twine", "luarocks", "anaconda"],
        values: "-r --repository",
        rows: &[("upload", PUBLISHES_FOREVER)],
    },
    Tool {
        names: &["pod"],
        values: "",
        rows: &[("trunk me|info", NOTHING), ("trunk", PUBLISHES_FOREVER)],
    },
    Tool {
        names: &["mvn", "mvnw"],
        values: "-pl -f -P -s",
        rows: &[
            ("deploy", PUBLISHES_FOREVER),
            ("*release:perform|*release:prepare|nexus-staging:release", PUBLISHES_FOREVER),
            ("* deploy|*release:perform", PUBLISHES_FOREVER),
        ],
    },
    Tool {
        names: &["gradle", "gradlew"],
        values: "-p -b -x -I",
        rows: &[("*ToMavenLocal", NOTHING), ("publish*", PUBLISHES_FOREVER)],
    },
    Tool {
        names: &["dotnet", "nuget"],
        values: "-s --source -k --api-key",
        rows: &[
            ("nuget push", PUBLISHES_FOREVER),
            ("push", PUBLISHES_FOREVER),
            ("nuget delete", UNPUBLISHES),
            ("delete", UNPUBLISHES),
        ],
    },
    Tool {
        names: &["semantic-release", "np", "release-it"],
        values: "",
        rows: &[("!--snapshot|--skip-publish|-d|--version", PUBLISHES_FOREVER)],
    },
    Tool {
        names: &["goreleaser"],
        values: "-f --config",
        rows: &[("release !--snapshot|--skip-publish|-d", PUBLISHES_FOREVER)],
    },
    Tool { names: &["gh-pages"], values: "", rows: &[("-d|--dist", PUBLISHES_FOREVER)] },
    Tool { names: &["flutter", "dart"], values: "", rows: &[("pub publish", PUBLISHES_FOREVER)] },
    Tool {
        names: &[
            "apt", "apt-get", "aptitude", "yum", "dnf", "zypper", "apk", "snap", "flatpak",
            "choco", "winget", "pkg", "port", "emerge", "opkg", "scoop", "brew",
        ],
        values: "-o -c -t",
        rows: &[
            ("-s|--simulate|--just-print|-n|--assume-no", NOTHING),
            ("remove|rm|purge|autoremove|erase|del|uninstall", REMOVES_PACKAGES),
            ("dist-upgrade|full-upgrade", REMOVES_PACKAGES),
        ],
    },
    Tool { names: &["xbps-remove"], values: "", rows: &[("!-n", REMOVES_PACKAGES)] },
    Tool {
        names: &["pacman"],
        values: "",
        rows: &[("-R*", REMOVES_PACKAGES), ("--remove", REMOVES_PACKAGES)],
    },
    Tool { names: &["dpkg"], values: "", rows: &[("-r|-P|--purge|--remove", REMOVES_PACKAGES)] },
    Tool { names: &["rpm"], values: "", rows: &[("-e|--erase", REMOVES_PACKAGES)] },
    Tool { names: &["nix-collect-garbage"], values: "", rows: &[("", REMOVES_PACKAGES)] },
    Tool { names: &["nix"], values: "", rows: &[("store gc|delete", REMOVES_PACKAGES)] },
    Tool {
        names: &["conda", "mamba", "micromamba"],
        values: "-n --name -p --prefix",
        rows: &[("env remove", REMOVES), ("remove --all", REMOVES), ("upload", PUBLISHES_FOREVER)],
    },
    Tool { names: &["chezmoi"], values: "", rows: &[("purge|destroy", DROPS)] },
];
