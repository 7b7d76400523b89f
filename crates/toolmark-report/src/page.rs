//! The page of `web/`, as it is built: `toolmark serve` serves these files, and reports
//! have them inside.

/// The page as it is served.
pub const INDEX: &str = include_str!("../../../web/dist/index.html");
/// Its script.
pub const SCRIPT: &str = include_str!("../../../web/dist/app.js");
/// Its style sheet.
pub const STYLE: &str = include_str!("../../../web/dist/app.css");
/// A report without its data. Its policy knows script and style sheet by their hashes.
pub(crate) const REPORT: &str = include_str!("../../../web/dist/report.html");
