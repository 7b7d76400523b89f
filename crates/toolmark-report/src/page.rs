//! The built web page of `web/`: `toolmark serve` serves these files, and HTML reports embed them.

/// The HTML page of the server.
pub const INDEX: &str = include_str!("../../../web/dist/index.html");
/// The script of the page.
pub const SCRIPT: &str = include_str!("../../../web/dist/app.js");
/// The style sheet of the page.
pub const STYLE: &str = include_str!("../../../web/dist/app.css");
/// A report without its data. Its content security policy allows script and style sheet by their
/// hashes.
pub(crate) const REPORT: &str = include_str!("../../../web/dist/report.html");
