//! Access to a server: the names that it may be called by, the pages that may call it, and the
//! links, sessions and tokens of its clients.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, header};
use sha2::{Digest, Sha256};

use crate::problem::Problem;

/// The limit on open sessions; a further one ends the oldest.
const SESSIONS: usize = 1_000;
/// The least length of a token, in bytes.
const SHORTEST: usize = 20;
/// The number of random bytes in a link, a session or a token.
const RANDOM: usize = 24;

type Hash = [u8; 32];

fn hash(text: &str) -> Hash {
    Sha256::digest(text.as_bytes()).into()
}

/// Makes a text of 192 random bits, in hex.
pub(crate) fn random_text() -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; RANDOM];
    getrandom::fill(&mut bytes)?;
    Ok(syrch::syrch_core::text::hex(bytes))
}

/// The problem that the system has no random bytes.
pub(crate) fn no_random_bytes(error: getrandom::Error) -> Problem {
    Problem::from_class("unexpected", format!("the system has no random bytes: {error}"))
}

/// The token of programs. Nothing but its digest is stored, so that it cannot be shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Token(Hash);

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

impl Token {
    /// A token with that text. `None` if it is too short to be a secret, or cannot stand in a
    /// header.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let is_visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        (text.len() >= SHORTEST && is_visible).then(|| Self(hash(text)))
    }

    /// Makes the text of a new token.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn make_text() -> std::io::Result<String> {
        random_text().map_err(|error| std::io::Error::other(error.to_string()))
    }
}

/// A client that may use the interface, as limits count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Client(Hash);

/// The rules of access of one server.
pub(crate) struct Access {
    address: SocketAddr,
    /// Names as they may stand in `Host`, in lower case.
    names: Vec<String>,
    token: Option<Token>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The code of the link that nobody has used yet.
    code: Option<Hash>,
    sessions: HashSet<Hash>,
    order: VecDeque<Hash>,
}

impl Access {
    /// The rules for a server at that address, which listens already.
    pub(crate) fn new(address: SocketAddr, names: &[String], token: Option<Token>) -> Self {
        let names = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Self { address, names, token, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the link that opens the page once, in place of an earlier one. The code stands in the
    /// fragment, which browsers do not send.
    pub(crate) fn make_link(&self) -> Result<String, getrandom::Error> {
        let code = random_text()?;
        self.state().code = Some(hash(&code));
        let host = match self.names.first().filter(|_| !self.address.ip().is_loopback()) {
            Some(name) if name.contains(':') => name.clone(),
            Some(name) => format!("{name}:{}", self.address.port()),
            // No browser goes to the address that stands for all of a machine's.
            None if self.address.ip().is_unspecified() => {
                format!("localhost:{}", self.address.port())
            }
            None => self.address.to_string(),
        };
        Ok(format!("http://{host}/#code={code}"))
    }

    /// The name of the cookie. The ports of a host share cookies, so the port is part of it.
    pub(crate) fn cookie_name(&self) -> String {
        format!("syrch-{}", self.address.port())
    }

    /// Opens a session for the code of a link, once. Returns the session; `None` if the code is
    /// wrong or was used before.
    pub(crate) fn open_session(&self, code: &str) -> Result<Option<String>, getrandom::Error> {
        let session = random_text()?;
        let mut state = self.state();
        if state.code != Some(hash(code)) {
            return Ok(None);
        }
        state.code = None;
        let id = hash(&session);
        state.sessions.insert(id);
        state.order.push_back(id);
        if state.order.len() > SESSIONS
            && let Some(oldest) = state.order.pop_front()
        {
            state.sessions.remove(&oldest);
        }
        Ok(Some(session))
    }

    /// Refuses a request by another name than the server's: a foreign name that leads to this
    /// address belongs to a foreign page (DNS rebinding).
    pub(crate) fn check_host(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        match host.filter(|host| self.is_own(host)) {
            Some(_) if hosts.next().is_none() => Ok(()),
            _ => Err(Problem::new(
                StatusCode::MISDIRECTED_REQUEST,
                "wrong-host",
                "the server is not called by this name; `--name` of `serve` allows further ones",
            )),
        }
    }

    /// Returns whether a host, with a port or without, is this server's.
    fn is_own(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        if self.names.contains(&host) {
            return true;
        }
        let Ok(authority) = host.parse::<Authority>() else { return false };
        if authority.as_str().contains('@') {
            return false;
        }
        let name = authority.host();
        if self.names.iter().any(|own| own == name) {
            return true;
        }
        let port = authority.port_u16().unwrap_or(80);
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        // No foreign name leads here by an address.
        let own = self.address.ip();
        let is_address = bare.parse::<IpAddr>().is_ok_and(|ip| ip == own || own.is_unspecified());
        let is_loopback = (own.is_loopback() || own.is_unspecified()) && name == "localhost";
        port == self.address.port() && (is_address || is_loopback)
    }

    /// Refuses a request that a page of another origin makes.
    pub(crate) fn check_origin(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let foreign = Problem::new(
            StatusCode::FORBIDDEN,
            "wrong-origin",
            "a page of another origin may not call this server",
        );
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            let host = ["http://", "https://"].iter().find_map(|start| origin.strip_prefix(start));
            if !host.is_some_and(|host| self.is_own_origin(origin, host)) {
                return Err(foreign);
            }
        }
        match headers.get("sec-fetch-site").map(|site| site.to_str().unwrap_or_default()) {
            None | Some("same-origin" | "none") => Ok(()),
            Some(_) => Err(foreign),
        }
    }

    /// An address is called without TLS; a name may be that of a proxy with TLS.
    fn is_own_origin(&self, origin: &str, host: &str) -> bool {
        let is_plain = origin.starts_with("http://");
        let is_named = self.names.iter().any(|name| {
            host.eq_ignore_ascii_case(name)
                || host.rsplit_once(':').is_some_and(|(bare, _)| bare.eq_ignore_ascii_case(name))
        });
        is_named || is_plain && self.is_own(host)
    }

    /// The program of a request, by its token alone.
    pub(crate) fn program(&self, headers: &HeaderMap) -> Result<Client, Problem> {
        self.check_token(headers)?.ok_or_else(|| deny_unknown("send the token of `--token-file`"))
    }

    /// The client of the token in a request; `None` if there is none in it.
    fn check_token(&self, headers: &HeaderMap) -> Result<Option<Client>, Problem> {
        let bearer = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, token)| token);
        let Some(text) = bearer else { return Ok(None) };
        let given = Token(hash(text.trim()));
        match self.token {
            Some(token) if token == given => Ok(Some(Client(token.0))),
            _ => Err(deny_unknown("the token is wrong")),
        }
    }

    /// The client of a request, by its token or its session.
    pub(crate) fn client(&self, headers: &HeaderMap) -> Result<Client, Problem> {
        if let Some(client) = self.check_token(headers)? {
            return Ok(client);
        }
        let name = self.cookie_name();
        let cookies =
            headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        for cookie in cookies.flat_map(|cookies| cookies.split(';')) {
            let Some((own, session)) = cookie.trim().split_once('=') else { continue };
            let id = hash(session);
            if own == name && self.state().sessions.contains(&id) {
                return Ok(Client(id));
            }
        }
        Err(deny_unknown("open the link that `serve` printed last, or send a token"))
    }
}

fn deny_unknown(detail: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn access(address: &str, names: &[&str]) -> Access {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Access::new(address.parse().unwrap(), &names, Token::new("a-token-of-a-program"))
    }

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn only_own_names_reach_a_server() {
        let own = access("127.0.0.1:4180", &[]);
        for host in ["127.0.0.1:4180", "localhost:4180", "LOCALHOST:4180"] {
            assert!(own.is_own(host), "{host}");
        }
        for host in [
            "evil.example:4180",
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost",
            "a@localhost:4180",
            "",
            "[::1]:4180",
        ] {
            assert!(!own.is_own(host), "{host}");
        }
        let named = access("0.0.0.0:80", &["Data.example", "other.example:8443"]);
        assert!(named.is_own("data.example") && named.is_own("data.example:443"));
        assert!(named.is_own("other.example:8443") && !named.is_own("other.example:1"));
        assert!(access("[::1]:9", &[]).is_own("[::1]:9"));
        // One that listens on all addresses is called by each of them.
        let open = access("0.0.0.0:4180", &[]);
        for host in ["192.168.1.7:4180", "127.0.0.1:4180", "localhost:4180"] {
            assert!(open.is_own(host), "{host}");
        }
        assert!(!open.is_own("evil.example:4180") && !open.is_own("192.168.1.7:80"));
        assert!(open.make_link().unwrap().starts_with("http://localhost:4180/#code="));
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        let own = access("127.0.0.1:4180", &["data.example"]);
        assert!(own.check_origin(&headers(&[])).is_ok());
        assert!(
            own.check_origin(&headers(&[
                ("origin", "http://localhost:4180"),
                ("sec-fetch-site", "same-origin")
            ]))
            .is_ok()
        );
        assert!(own.check_origin(&headers(&[("origin", "https://data.example")])).is_ok());
        for origin in
            ["null", "http://evil.example", "https://127.0.0.1:4180", "http://127.0.0.1:4181", ""]
        {
            assert!(
                own.check_origin(
                    &[("origin".parse().unwrap(), origin.parse().unwrap())].into_iter().collect()
                )
                .is_err(),
                "{origin}"
            );
        }
        assert!(
            own.check_origin(&headers(&[("sec-fetch-site", "same-site")])).is_err()
                && own.check_origin(&headers(&[("sec-fetch-site", "cross-site")])).is_err()
        );
    }

    #[test]
    fn a_link_opens_one_session() {
        let own = access("127.0.0.1:4180", &[]);
        let link = own.make_link().unwrap();
        let code = link.strip_prefix("http://127.0.0.1:4180/#code=").unwrap();
        assert_eq!(own.open_session("").unwrap(), None);
        let session = own.open_session(code).unwrap().unwrap();
        assert_eq!(own.open_session(code).unwrap(), None);
        let cookie = format!("other=1; syrch-4180={session}");
        let with: HeaderMap = [(header::COOKIE, cookie.parse().unwrap())].into_iter().collect();
        assert!(own.client(&with).is_ok());
        assert!(own.client(&headers(&[("cookie", "syrch-4180=x")])).is_err());
    }

    #[test]
    fn a_token_is_that_of_the_server() {
        let own = access("127.0.0.1:4180", &[]);
        assert!(own.client(&headers(&[("authorization", "Bearer a-token-of-a-program")])).is_ok());
        assert!(own.client(&headers(&[("authorization", "Bearer another")])).is_err());
        assert_eq!((Token::new("short"), Token::new("a line\nthat is long enough")), (None, None));
        assert_eq!(format!("{:?}", Token::new("aaaaaaaaaaaaaaaaaaaaaaaa")), "Some(Token(…))");
    }
}
