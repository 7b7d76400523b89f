//! `cd` and similar commands, which set the directory of later commands.
//!
//! ```denied
//! cd / && rm -rf tmp
//! cd && rm -rf x
//! cd ../.. ; rm -rf build
//! pushd /etc && rm -rf nginx
//! ```
//! ```asked
//! cd "$D" && rm -rf src
//! ```
//! ```allowed
//! cd /tmp/x && rm -rf src
//! (cd /etc); rm -rf dist
//! cd "$D" && rm -rf node_modules
//! cd $(mktemp -d) && rm -rf x
//! cd src && cargo test
//! ```

use crate::run::CommandRun;

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let target = run.args.iter().find(|arg| !matches!(arg.text.as_str(), "-P" | "-L" | "--"));
    run.analyzer.cwd = match (run.name, target) {
        ("popd", _) => None,
        (_, None) => Some("~".to_owned()),
        (_, Some(arg)) if arg.text == "-" || (arg.dynamic && !arg.temporary) => None,
        (_, Some(arg)) if arg.temporary => Some("/tmp/$(mktemp)".to_owned()),
        (_, Some(arg)) => {
            let relative = !arg.text.starts_with(['/', '~']);
            if relative && run.analyzer.cwd.is_none() {
                None
            } else {
                Some(run.analyzer.place(&arg.text).path)
            }
        }
    };
}
