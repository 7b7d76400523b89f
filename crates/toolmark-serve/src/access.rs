//! Access control: tokens, and the headers that distinguish a program on this machine from a page
//! of another site.

use axum::http::{HeaderMap, StatusCode, header};
use sha2::{Digest, Sha256};
use std::net::SocketAddr;
use subtle::ConstantTimeEq;
use toolmark_pattern::is_wildcard_match;

/// Minimum length of a token; shorter ones can be guessed.
const MIN_TOKEN: usize = 16;

/// Kind of access that a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccessScope {
    /// Send telemetry.
    Ingest,
    /// Read data.
    Read,
    /// Decide about issues.
    Write,
}

impl AccessScope {
    fn from_word(word: &str) -> Option<Self> {
        match word {
            "ingest" => Some(Self::Ingest),
            "read" => Some(Self::Read),
            "write" => Some(Self::Write),
            _ => None,
        }
    }
}

/// Reason for denying a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Denied {
    /// The host name of the request is not one of this server.
    #[error("this server does not go by that name; ask for the address it printed")]
    Host,
    /// The request comes from a page of another site.
    #[error("requests of other sites are refused")]
    Origin,
    /// A changing request without the header that only the own page sends.
    #[error("changes need the header `X-Toolmark: 1`")]
    NoMark,
    /// The request has no token.
    #[error("a token is needed: `Authorization: Bearer …`")]
    NoToken,
    /// The token is unknown.
    #[error("the token is unknown")]
    WrongToken,
    /// The token does not allow this.
    #[error("the token does not allow this")]
    Scope,
    /// The key of the request is unknown.
    #[error("the key in `x-toolmark-key` is unknown; --ingest-key names those there are")]
    Key,
}

impl Denied {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::NoToken | Self::WrongToken => StatusCode::UNAUTHORIZED,
            Self::Host => StatusCode::MISDIRECTED_REQUEST,
            Self::Origin | Self::NoMark | Self::Scope | Self::Key => StatusCode::FORBIDDEN,
        }
    }

    /// Code for programs.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Host => "wrong_host",
            Self::Origin => "wrong_origin",
            Self::NoMark => "no_mark",
            Self::NoToken => "no_token",
            Self::WrongToken => "wrong_token",
            Self::Scope => "wrong_scope",
            Self::Key => "wrong_key",
        }
    }
}

/// A token and its scopes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AccessToken {
    hash: [u8; 32],
    scopes: Vec<AccessScope>,
    key: Option<IngestKey>,
}

/// The sender of a token's telemetry, and the tools that its agent may use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IngestKey {
    /// Name.
    pub name: String,
    /// Allowed tools; empty for all.
    pub allowed: Vec<String>,
    /// Denied tools.
    pub denied: Vec<String>,
}

impl IngestKey {
    /// Version of the tool lists.
    pub(crate) fn version(&self) -> String {
        format!("allow={} deny={}", self.allowed.join(","), self.denied.join(","))
    }

    /// Whether a tool may be used. A denied tool may not, even if it is allowed as well. `*`
    /// matches anything.
    pub(crate) fn allows(&self, tool: &str) -> bool {
        let has = |list: &[String]| list.iter().any(|one| is_wildcard_match(one, tool));
        !has(&self.denied) && (self.allowed.is_empty() || has(&self.allowed))
    }
}

/// Tokens of a file: one per line, with their scopes.
#[derive(Debug, Clone, Default)]
pub struct AccessTokens {
    all: Vec<AccessToken>,
    /// Keys that senders name themselves, on this machine.
    named: Vec<IngestKey>,
}

/// Header in which a sender without a token names its key.
const KEY_HEADER: &str = "x-toolmark-key";

/// Reason why tokens or keys are invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// A token is too short.
    #[error("line {0}: a token has at least {MIN_TOKEN} characters")]
    Short(usize),
    /// An unknown setting of a token.
    #[error("line {0}: expected name=, allow= or deny=")]
    Setting(usize),
    /// An unknown scope.
    #[error("line {0}: a scope is one of ingest, read and write")]
    Scope(usize),
    /// A token with a list of tools has no name.
    #[error("line {0}: a key with allow= or deny= needs name=")]
    Unnamed(usize),
    /// The file has no token.
    #[error("there is no token in it")]
    Empty,
    /// A key has no name.
    #[error("there is no name")]
    NoName,
    /// An unknown setting of a key.
    #[error("`{0}` is neither allow= nor deny=")]
    KeySetting(String),
    /// A key has no name or no list of tools.
    #[error("a key has a name, and allow= or deny=")]
    Incomplete,
    /// Two keys have the same name.
    #[error("there are two keys {0}")]
    Twice(String),
}

impl AccessTokens {
    /// Parses lines such as `TOKEN read,write` and `TOKEN ingest name=ci deny=Bash,WebFetch`. A
    /// token without scopes has all of them.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let mut all: Vec<AccessToken> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
            let Some(token) = words.next() else { continue };
            if token.len() < MIN_TOKEN {
                return Err(TokenError::Short(number));
            }
            let mut scopes = Vec::new();
            let mut key = IngestKey::default();
            for word in words {
                let list = |text: &str| text.split(',').map(str::to_owned).collect();
                match word.split_once('=') {
                    Some(("name", name)) => name.clone_into(&mut key.name),
                    Some(("allow", tools)) => key.allowed = list(tools),
                    Some(("deny", tools)) => key.denied = list(tools),
                    Some(_) => return Err(TokenError::Setting(number)),
                    None => {
                        for scope in word.split(',') {
                            let scope =
                                AccessScope::from_word(scope).ok_or(TokenError::Scope(number))?;
                            scopes.push(scope);
                        }
                    }
                }
            }
            if scopes.is_empty() {
                scopes = vec![AccessScope::Ingest, AccessScope::Read, AccessScope::Write];
            }
            let has_tools = !key.allowed.is_empty() || !key.denied.is_empty();
            if has_tools && key.name.is_empty() {
                return Err(TokenError::Unnamed(number));
            }
            let key = (!key.name.is_empty()).then_some(key);
            all.push(AccessToken { hash: Sha256::digest(token).into(), scopes, key });
        }
        if all.is_empty() {
            return Err(TokenError::Empty);
        }
        Ok(Self { all, named: Vec::new() })
    }

    /// Adds a key that senders name themselves: `NAME allow=Read,Grep deny=Bash`.
    pub fn add_key(&mut self, text: &str) -> Result<(), TokenError> {
        let mut words = text.split_whitespace();
        let name = words.next().ok_or(TokenError::NoName)?.to_owned();
        let mut key = IngestKey { name, ..IngestKey::default() };
        for word in words {
            let list = |text: &str| text.split(',').map(str::to_owned).collect();
            match word.split_once('=') {
                Some(("allow", tools)) => key.allowed = list(tools),
                Some(("deny", tools)) => key.denied = list(tools),
                _ => return Err(TokenError::KeySetting(word.to_owned())),
            }
        }
        if key.name.contains('=') || (key.allowed.is_empty() && key.denied.is_empty()) {
            return Err(TokenError::Incomplete);
        }
        if self.keys().any(|known| known.name == key.name) {
            return Err(TokenError::Twice(key.name));
        }
        self.named.push(key);
        Ok(())
    }

    /// Whether there are no tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The keys for telemetry.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &IngestKey> {
        self.all.iter().filter_map(|token| token.key.as_ref()).chain(&self.named)
    }

    /// Returns the key that a sender names itself.
    fn named(&self, headers: &HeaderMap) -> Result<Option<String>, Denied> {
        let Some(name) = headers.get(KEY_HEADER) else { return Ok(None) };
        let is_named = |key: &&IngestKey| key.name.as_bytes() == name.as_bytes();
        let key = self.named.iter().find(is_named).ok_or(Denied::Key)?;
        Ok(Some(key.name.clone()))
    }
}

/// Access rules of one address.
#[derive(Debug)]
pub(crate) struct Access {
    tokens: AccessTokens,
    /// Host names of this server; `None` if they are unknown.
    names: Option<Vec<String>>,
}

impl Access {
    /// Returns the access rules of an address. With tokens, other sites cannot send requests in the
    /// name of the user, so host names are not checked if the server is reachable from other
    /// machines.
    pub(crate) fn new(address: SocketAddr, tokens: AccessTokens) -> Self {
        let port = address.port();
        let names = address.ip().is_loopback().then(|| {
            let mut names =
                vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned()];
            names.extend(names.clone().iter().map(|name| format!("{name}:{port}")));
            let own = address.to_string();
            names.push(own);
            names
        });
        Self { tokens, names }
    }

    /// Checks host and origin of a request. `is_page` is set for files of the page, which any site
    /// may link to.
    pub(crate) fn check_site(&self, headers: &HeaderMap, is_page: bool) -> Result<(), Denied> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST).map(str::to_ascii_lowercase);
        if let (Some(names), Some(host)) = (&self.names, &host)
            && !names.contains(host)
        {
            return Err(Denied::Host);
        }
        if let Some(origin) = text(header::ORIGIN) {
            let origin = origin.to_ascii_lowercase();
            let site = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if site.is_none() || site != host.as_deref() {
                return Err(Denied::Origin);
            }
        }
        let is_foreign = headers
            .get("sec-fetch-site")
            .is_some_and(|site| matches!(site.as_bytes(), b"cross-site" | b"same-site"));
        if is_foreign && !is_page {
            return Err(Denied::Origin);
        }
        Ok(())
    }

    /// Checks a request with these headers. Returns its telemetry key, if it has one.
    pub(crate) fn check(
        &self,
        headers: &HeaderMap,
        scope: AccessScope,
    ) -> Result<Option<String>, Denied> {
        self.check_site(headers, false)?;
        if scope == AccessScope::Write && headers.get("x-toolmark").is_none_or(|mark| mark != "1") {
            return Err(Denied::NoMark);
        }
        if self.tokens.all.is_empty() {
            return self.tokens.named(headers);
        }
        let sent = headers.get(header::AUTHORIZATION).ok_or(Denied::NoToken)?;
        let sent = sent.as_bytes().strip_prefix(b"Bearer ").ok_or(Denied::NoToken)?;
        let hash: [u8; 32] = Sha256::digest(sent.trim_ascii()).into();
        // All tokens are compared, so that the time does not depend on the match.
        let mut found = None;
        for token in &self.tokens.all {
            if bool::from(token.hash.ct_eq(&hash)) {
                found = Some(token);
            }
        }
        let token = found.ok_or(Denied::WrongToken)?;
        if !token.scopes.contains(&scope) {
            return Err(Denied::Scope);
        }
        match &token.key {
            Some(key) => Ok(Some(key.name.clone())),
            None => self.tokens.named(headers),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: &str = "read-0123456789abcdef";
    const SEND: &str = "send-0123456789abcdef";

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(
                header::HeaderName::from_bytes(name.as_bytes()).unwrap(),
                value.parse().unwrap(),
            );
        }
        headers
    }

    #[test]
    fn sites_and_names() {
        let access = Access::new("127.0.0.1:4319".parse().unwrap(), AccessTokens::default());
        let ok = Ok(None);
        for (pairs, scope, want) in [
            (&[("host", "127.0.0.1:4319")][..], AccessScope::Read, ok.clone()),
            (&[("host", "LocalHost:4319")], AccessScope::Read, ok.clone()),
            (&[], AccessScope::Ingest, ok.clone()),
            (&[("host", "evil.example:4319")], AccessScope::Read, Err(Denied::Host)),
            (&[("host", "127.0.0.1.evil.example")], AccessScope::Read, Err(Denied::Host)),
            (
                &[("host", "127.0.0.1:4319"), ("origin", "http://127.0.0.1:4319")],
                AccessScope::Read,
                ok.clone(),
            ),
            (
                &[("host", "127.0.0.1:4319"), ("origin", "http://127.0.0.1:8000")],
                AccessScope::Read,
                Err(Denied::Origin),
            ),
            (
                &[("host", "127.0.0.1:4319"), ("origin", "null")],
                AccessScope::Ingest,
                Err(Denied::Origin),
            ),
            (
                &[("host", "127.0.0.1:4319"), ("sec-fetch-site", "cross-site")],
                AccessScope::Read,
                Err(Denied::Origin),
            ),
            (&[("host", "127.0.0.1:4319")], AccessScope::Write, Err(Denied::NoMark)),
            (&[("host", "127.0.0.1:4319"), ("x-toolmark", "1")], AccessScope::Write, ok.clone()),
        ] {
            assert_eq!(access.check(&headers(pairs), scope), want, "{pairs:?}");
        }
        let link = headers(&[("host", "localhost:4319"), ("sec-fetch-site", "cross-site")]);
        assert_eq!(access.check_site(&link, true), Ok(()));
    }

    #[test]
    fn tokens_allow_what_they_say() {
        let text = format!("# team\n{READ} read\n\n{SEND} ingest name=ci deny=Bash,WebFetch\n");
        let tokens = AccessTokens::parse(&text).unwrap();
        assert_eq!(tokens.keys().next().unwrap().denied, ["Bash", "WebFetch"]);
        let access = Access::new("192.0.2.1:4319".parse().unwrap(), tokens);
        let bearer = |token: &str| headers(&[("authorization", &format!("Bearer {token}"))]);
        for (headers, scope, want) in [
            (bearer(READ), AccessScope::Read, Ok(None)),
            (bearer(READ), AccessScope::Ingest, Err(Denied::Scope)),
            (bearer(SEND), AccessScope::Ingest, Ok(Some("ci".to_owned()))),
            (bearer(&READ[1..]), AccessScope::Read, Err(Denied::WrongToken)),
            (bearer(""), AccessScope::Read, Err(Denied::WrongToken)),
            (headers(&[]), AccessScope::Read, Err(Denied::NoToken)),
        ] {
            assert_eq!(access.check(&headers, scope), want, "{headers:?}");
        }
    }

    #[test]
    fn bad_lines_are_named() {
        for (text, want) in [
            ("", "there is no token in it"),
            ("short", "line 1: a token has at least 16 characters"),
            ("\n0123456789abcdef all", "line 2: a scope is one of ingest, read and write"),
            ("0123456789abcdef deny=Bash", "line 1: a key with allow= or deny= needs name="),
            ("0123456789abcdef who=me", "line 1: expected name=, allow= or deny="),
        ] {
            assert_eq!(AccessTokens::parse(text).unwrap_err().to_string(), want);
        }
    }
}
