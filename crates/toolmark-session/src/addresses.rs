//! URLs in text, and signs that make them suspicious: letters that look like others, an IP
//! address instead of a name, a service that only collects data.

/// A URL in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address<'t> {
    /// Complete URL.
    pub text: &'t str,
    /// Host, without user and port.
    pub host: &'t str,
}

/// Returns up to `most` URLs of a text, in order.
pub fn addresses(text: &str, most: usize) -> impl Iterator<Item = Address<'_>> {
    memchr::memmem::find_iter(text.as_bytes(), b"://")
        .filter_map(move |at| {
            let scheme = text.get(..at)?.bytes().rev().take_while(u8::is_ascii_alphabetic).count();
            if !(3..=5).contains(&scheme) {
                return None;
            }
            let rest = text.get(at + 3..)?;
            let is_end = |c: char| c.is_whitespace() || "\"'`<>\\|;()".contains(c);
            let end = rest.find(is_end).unwrap_or(rest.len());
            let host = rest.get(..end)?.split(['/', '?', '#']).next()?;
            let host = host.rsplit('@').next()?;
            let host = match host.strip_prefix('[') {
                Some(rest) => rest.split(']').next()?,
                None => host.split(':').next()?,
            };
            let text = text.get(at - scheme..at + 3 + end)?;
            (!host.is_empty()).then_some(Address { text, host })
        })
        .take(most)
}

/// Returns the reason why a host name alone is suspicious.
#[must_use]
pub fn suspicious(host: &str) -> Option<&'static str> {
    if host.split('.').any(|label| label.starts_with("xn--")) {
        return Some("a host name in punycode, which may look like another");
    }
    let mixed = host.split('.').any(|label| {
        let ascii = label.chars().any(|c| c.is_ascii_alphabetic());
        // Cyrillic and Greek letters look like Latin ones.
        let other =
            label.chars().any(|c| matches!(c, '\u{370}'..='\u{3ff}' | '\u{400}'..='\u{52f}'));
        ascii && other
    });
    mixed.then_some("a host name that mixes alphabets, which may look like another")
}

/// Whether the host is an IP address outside the private networks.
#[must_use]
pub fn is_public_number(host: &str) -> bool {
    let Ok(ip) = host.parse::<std::net::Ipv4Addr>() else { return false };
    !(ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_unspecified()
        || ip.is_documentation()
        || ip.is_broadcast())
}

/// Whether the host is a service that accepts data and shows it to anyone, or to the creator
/// of the URL.
#[must_use]
pub fn is_drop(host: &str) -> bool {
    const DROPS: &[&str] = &[
        "transfer.sh",
        "pastebin.com",
        "paste.ee",
        "paste.rs",
        "dpaste.com",
        "dpaste.org",
        "hastebin.com",
        "0x0.st",
        "ix.io",
        "termbin.com",
        "sprunge.us",
        "file.io",
        "webhook.site",
        "requestbin.com",
        "requestbin.net",
        "pipedream.net",
        "ngrok.io",
        "ngrok-free.app",
        "interact.sh",
        "oast.pro",
        "oast.fun",
        "burpcollaborator.net",
        "anonfiles.com",
        "gofile.io",
        "bashupload.com",
        "catbox.moe",
    ];
    DROPS.iter().any(|drop| {
        host.strip_suffix(drop).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        let text = "curl https://u:p@a.example:80/x?y 'http://[::1]/z' ftp://b/ x://c";
        let hosts: Vec<_> = addresses(text, 9).map(|address| address.host).collect();
        assert_eq!(hosts, ["a.example", "::1", "b"]);
        assert!(suspicious("xn--ggle-55da.com").is_some());
        assert!(suspicious("g\u{43e}ogle.com").is_some());
        assert!(suspicious("google.com").is_none());
        assert!(suspicious("\u{43f}\u{440}\u{438}.\u{440}\u{444}").is_none());
        assert!(is_public_number("45.9.148.108"));
        assert!(!is_public_number("192.168.0.1") && !is_public_number("example.com"));
        assert!(is_drop("transfer.sh") && is_drop("abc.ngrok.io") && !is_drop("notfile.iox"));
        assert!(!is_drop("profile.io"));
    }
}
