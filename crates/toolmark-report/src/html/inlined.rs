//! An HTML report as one file: the page with its script and style sheet, and the embedded data.

use super::{HtmlSection, notes, safe};
use crate::ReportError;
use crate::page::{REPORT, SCRIPT, STYLE};
use crate::terminal::harmless_json;
use base64::Engine as _;
use flate2::{Compression, GzBuilder};
use maud::{Markup, html};
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::Write;

/// Maximum size of uncompressed data.
const MAX_PLAIN: usize = 256 << 10;

/// Placeholders in the page, in order.
const TITLE: &str = "<title>toolmark</title>";
const CSS: &str = "/*toolmark:css*/";
const STATIC: &str = "<!--toolmark:static-->";
const DATA: &str = "<!--toolmark:data-->";
const JS: &str = "/*toolmark:js*/";

/// An HTML report as one file.
pub(super) struct HtmlDocument {
    pub(super) parts: Vec<HtmlSection>,
    /// Version and creation time.
    pub(super) about: String,
}

/// Data for the script of the page.
#[derive(Serialize)]
struct Inlined<'d> {
    /// Initial page.
    page: &'static str,
    about: &'d str,
    notes: Vec<&'d str>,
    /// Responses by the address that a server would have for them.
    data: Map<String, Value>,
}

impl HtmlDocument {
    pub(super) fn write(mut self, out: &mut dyn Write) -> Result<(), ReportError> {
        let title = self.parts.first().map_or("toolmark", |part| &part.title);
        let title = html! { title { (safe(title)) } }.into_string();
        let tables = self.tables().into_string();
        // Without data there is nothing for the script to do; the tables are all there is.
        let data = self.data()?;
        let script = if data.is_some() { SCRIPT } else { "" };
        let data = data.unwrap_or_default();
        let mut rest = REPORT;
        for (marker, text) in
            [(TITLE, &*title), (CSS, STYLE), (STATIC, &tables), (DATA, &data), (JS, script)]
        {
            let (before, after) = rest.split_once(marker).unwrap_or((rest, ""));
            out.write_all(before.as_bytes())?;
            out.write_all(text.as_bytes())?;
            rest = after;
        }
        Ok(out.write_all(rest.as_bytes())?)
    }

    fn tables(&self) -> Markup {
        html! {
            main id="static" {
                @for part in &self.parts { (part.tables) (notes(&part.notes)) }
                p { (self.about) }
            }
        }
    }

    /// Returns the element with the data; `None` if no part has any.
    fn data(&mut self) -> Result<Option<String>, ReportError> {
        let mut data = Map::new();
        for part in &mut self.parts {
            data.extend(part.data.drain(..).map(|(name, value)| (name.to_owned(), value)));
        }
        let Some(first) = self.parts.first().filter(|_| !data.is_empty()) else { return Ok(None) };
        let notes = self.parts.iter().flat_map(|part| &part.notes).map(|note| &**note).collect();
        let inlined = Inlined { page: first.page, about: &self.about, notes, data };
        let json = harmless_json(serde_json::to_string(&inlined)?);
        if json.len() <= MAX_PLAIN {
            return Ok(Some(element("", &escaped(&json))));
        }
        // Without a name and a time in its head, the same data are the same bytes.
        let mut packed = GzBuilder::new().write(Vec::new(), Compression::default());
        packed.write_all(json.as_bytes())?;
        let text = base64::engine::general_purpose::STANDARD.encode(packed.finish()?);
        Ok(Some(element(" data-encoding=\"gzip-base64\"", &text)))
    }
}

fn element(encoding: &str, text: &str) -> String {
    format!("<script type=\"application/json\" id=\"toolmark-data\"{encoding}>{text}</script>")
}

/// Escapes JSON so that it cannot end the element, begin a comment or end a script line.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", c as u32));
            }
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::Digest as _;

    #[test]
    fn the_policy_allows_the_script_and_the_style_of_the_page_and_no_other() {
        for text in [SCRIPT, STYLE] {
            let digest = sha2::Sha256::digest(text);
            let hash = base64::engine::general_purpose::STANDARD.encode(digest);
            assert!(REPORT.contains(&format!("'sha256-{hash}'")), "npm run build in web/");
        }
        assert!(REPORT.contains("default-src 'none'") && !REPORT.contains("unsafe"));
    }

    #[test]
    fn every_marker_is_there_once_and_in_this_order() {
        let mut last = 0;
        for marker in [TITLE, CSS, STATIC, DATA, JS] {
            assert_eq!(REPORT.matches(marker).count(), 1, "{marker}");
            let at = REPORT.find(marker).unwrap();
            assert!(at > last, "{marker}");
            last = at;
        }
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
    }

    #[test]
    fn nothing_ends_the_element_of_the_data() {
        let hostile = serde_json::json!({"a": "</script><!-- & \u{2028}\u{2029} \u{202e}"});
        let text = escaped(&harmless_json(hostile.to_string()));
        assert!(text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' '), "{text}");
        assert!(!text.contains(['<', '>', '&']), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), hostile);
    }

    #[test]
    fn the_page_has_nothing_that_a_terminal_obeys() {
        let obeyed =
            |text: &str| text.chars().find(|c| *c != '\n' && crate::terminal::text::is_obeyed(*c));
        for text in [REPORT, SCRIPT, STYLE] {
            assert_eq!(obeyed(text), None);
        }
    }
}
