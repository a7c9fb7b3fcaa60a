//! Streamable HTTP, with the checks of clients and the limits on connections.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::StreamableHttpServerConfig;
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;

use crate::client::Remote;
use crate::connections::Connections;
use crate::endpoint::{Endpoint, refuse};
use crate::server::{Error, Server};

/// The limit on open connections. A further one takes the place of the one that has been idle for
/// the longest time. It is above the limit on sessions, each of which may have a stream of events
/// open, so that a refusal can be sent.
const CONNECTIONS: usize = 160;
/// The time in which the head of a request has to arrive.
const HEAD: Duration = Duration::from_secs(10);
/// The time in which its body has to arrive.
const BODY_TIME: Duration = Duration::from_secs(30);
/// The limit on the size of a request, in bytes.
const BODY: usize = 1 << 20;
/// The number of random bytes in a token that the server makes.
const RANDOM: usize = 24;
/// The least length of a token that the user chooses, in characters.
const SHORTEST: usize = 24;

/// The secret that every request carries, in the header `Authorization: Bearer TOKEN` or in the
/// path of the address, `/TOKEN/mcp`, which no client leaves out. `Debug` never prints it.
#[derive(Clone)]
pub struct Token(String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// A new random token.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn random() -> Result<Self, Error> {
        let mut bytes = [0; RANDOM];
        getrandom::fill(&mut bytes).map_err(|error| Error::Random(error.to_string()))?;
        Ok(Self(syrch::syrch_core::text::hex(bytes)))
    }

    /// The token that the user chose.
    ///
    /// # Errors
    /// When it is short, or has characters that an address does not hold as they are.
    pub fn from_text(text: &str) -> Result<Self, Error> {
        let is_plain =
            text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte));
        if text.len() < SHORTEST || !is_plain {
            return Err(Error::Token { least: SHORTEST });
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns whether a request carries the token. Digests are compared, so that the time of the
    /// comparison reveals nothing of the token.
    fn admits(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        let bearer = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split_once(' '))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
            .map(|(_, token)| token.trim());
        let before = find_before(uri.path()).and_then(|before| before.strip_prefix('/'));
        let given = bearer.or(before).unwrap_or_default();
        Sha256::digest(given.as_bytes()) == Sha256::digest(self.0.as_bytes())
    }

    /// Returns whether a path is that of the endpoint, with the token or without.
    fn leads_to_endpoint(&self, path: &str) -> bool {
        find_before(path).is_some_and(|before| {
            before.is_empty() || before.strip_prefix('/') == Some(self.0.as_str())
        })
    }
}

/// Returns the part before the path of the endpoint, which some clients end with a slash.
fn find_before(path: &str) -> Option<&str> {
    path.strip_suffix('/').unwrap_or(path).strip_suffix(Endpoint::PATH)
}

/// The settings of a server over HTTP.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The address to listen at; port 0 takes a free one.
    pub address: SocketAddr,
    /// The token of all clients.
    pub token: Token,
    /// The hosts, perhaps with ports, by which clients call this machine, besides the address and
    /// the names of loopback.
    pub hosts: Vec<String>,
}

/// A server that listens.
pub struct Http {
    listener: TcpListener,
    address: SocketAddr,
    guarded: Guarded,
}

/// An endpoint with the token of its clients.
struct Guarded {
    token: Token,
    endpoint: Endpoint,
}

impl Http {
    /// Begins to listen.
    ///
    /// # Errors
    /// When the address is taken, or means every address and no host is named.
    pub async fn bind(server: &Server, options: HttpOptions) -> Result<Self, Error> {
        if options.address.ip().is_unspecified() && options.hosts.is_empty() {
            return Err(Error::Unnamed(options.address));
        }
        let (listener, address) = listen(options.address)
            .await
            .map_err(|source| Error::Listen { address: options.address, source })?;
        let hosts = list_hosts(address, &options.hosts);
        let origins = hosts.iter().flat_map(|host| {
            ["http", "https"].map(|scheme| format!("{scheme}://{}", with_port(host)))
        });
        let config = StreamableHttpServerConfig::default()
            .with_allowed_origins(origins)
            .enforce_origin_validation()
            .with_allowed_hosts(hosts.clone())
            .with_max_request_body_bytes(BODY);
        let endpoint = Endpoint::with_config(server, config);
        let guarded = Guarded { token: options.token, endpoint };
        Ok(Self { listener, address, guarded })
    }

    /// The address of the endpoint, without the token.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, Endpoint::PATH)
    }

    /// The address of the endpoint with the token, which is all that a client needs.
    #[must_use]
    pub fn url_with_token(&self) -> String {
        format!("http://{}/{}{}", self.address, self.guarded.token.0, Endpoint::PATH)
    }

    /// Serves clients for as long as the future is polled; when it is dropped, sessions end.
    pub async fn serve(self) -> Infallible {
        let _stop = self.guarded.endpoint.close_on_drop();
        let connections = Arc::new(Connections::new(CONNECTIONS));
        let guarded = Arc::new(self.guarded);
        loop {
            let Ok((stream, remote)) = self.listener.accept().await else {
                // Out of file descriptors, for one: a pause, and again.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            // Else each event of a stream waits for the acknowledgement of the one before.
            let _ = stream.set_nodelay(true);
            let connection = connections.open().await;
            let connections = Arc::clone(&connections);
            let guarded = Arc::clone(&guarded);
            tokio::spawn(async move {
                let handler = service_fn(|request| {
                    let guarded = Arc::clone(&guarded);
                    let connection = Arc::clone(&connection);
                    async move {
                        let mut request = match admit(&guarded.token, request).await {
                            Ok(request) => request,
                            Err((status, why)) => return Ok(refuse(status, why)),
                        };
                        let Some(answering) = connection.begin() else {
                            // The connection ends in a moment, and this with it.
                            return std::future::pending().await;
                        };
                        request.extensions_mut().insert(Remote(remote.ip()));
                        let response = guarded.endpoint.answer(request).await;
                        // The request lasts until its body, perhaps a stream of events, is sent.
                        let response = response.map(|body| {
                            body.map_frame(move |frame| {
                                let _answering = &answering;
                                frame
                            })
                            .boxed()
                        });
                        Ok::<_, Infallible>(response)
                    }
                });
                let serving = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(HEAD)
                    .serve_connection(TokioIo::new(stream), handler);
                // A connection that breaks is the client's affair.
                tokio::select! {
                    () = connection.wait_for_end() => {}
                    _ = serving => {}
                }
                connections.forget(&connection);
            });
        }
    }
}

async fn listen(address: SocketAddr) -> std::io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// The status and the text with which a request is refused.
type Refusal = (StatusCode, &'static str);

/// Refuses requests without the token or to another path, and reads the others. Until then the
/// connection is idle: whoever sends slowly keeps nobody waiting.
async fn admit(token: &Token, request: Request<Incoming>) -> Result<Request<Full<Bytes>>, Refusal> {
    if !token.admits(request.headers(), request.uri()) {
        return Err((StatusCode::UNAUTHORIZED, "the token is missing or wrong"));
    }
    if !token.leads_to_endpoint(request.uri().path()) {
        return Err((StatusCode::NOT_FOUND, "the endpoint is /mcp"));
    }
    collect_body(request).await
}

/// Reads the body of a request within the limits on its time and its size.
async fn collect_body(request: Request<Incoming>) -> Result<Request<Full<Bytes>>, Refusal> {
    let (head, body) = request.into_parts();
    let reading = Limited::new(body, BODY).collect();
    match tokio::time::timeout(BODY_TIME, reading).await {
        Ok(Ok(body)) => Ok(Request::from_parts(head, Full::new(body.to_bytes()))),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err((StatusCode::PAYLOAD_TOO_LARGE, "the request is too large"))
        }
        Ok(Err(_)) => Err((StatusCode::BAD_REQUEST, "the request is cut off")),
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the request came too slowly")),
    }
}

/// The hosts that a request may name: those given, the address itself and, on loopback, its names.
fn list_hosts(address: SocketAddr, given: &[String]) -> Vec<String> {
    let mut hosts = given.to_vec();
    let port = address.port();
    if address.ip().is_loopback() {
        hosts.extend(["localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{port}")));
    }
    if !address.ip().is_unspecified() {
        hosts.push(address.to_string());
    }
    hosts
}

/// The host with its port, or with any where it has none.
fn with_port(host: &str) -> String {
    let name = host.rsplit_once(']').map_or(host, |(_, after)| after);
    if name.contains(':') { host.to_owned() } else { format!("{host}:*") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "0123456789abcdef0123456789";

    fn admits(authorization: Option<&str>, uri: &str) -> bool {
        let mut headers = HeaderMap::new();
        if let Some(value) = authorization {
            headers.insert(header::AUTHORIZATION, value.parse().unwrap());
        }
        Token::from_text(TEXT).unwrap().admits(&headers, &uri.parse().unwrap())
    }

    #[test]
    fn a_request_carries_the_token_in_its_header_or_its_address() {
        assert!(admits(Some(&format!("Bearer {TEXT}")), "/mcp"));
        assert!(admits(Some(&format!("bearer {TEXT}")), "/mcp"));
        assert!(admits(None, &format!("/{TEXT}/mcp?a=b")));
        for (authorization, uri) in [
            (None, "/mcp"),
            (None, "/0123456789abcdef012345678/mcp"),
            (None, format!("/{TEXT}").as_str()),
            (None, format!("/x/{TEXT}/mcp").as_str()),
            (Some("Basic 0123456789abcdef0123456789"), "/mcp"),
            (Some("Bearer wrong"), format!("/{TEXT}/mcp").as_str()),
        ] {
            assert!(!admits(authorization, uri), "{authorization:?} {uri}");
        }
        for short in ["", "short", "0123456789abcdef 0123456789"] {
            assert!(Token::from_text(short).is_err(), "{short}");
        }
        assert_ne!(Token::random().unwrap().0, Token::random().unwrap().0);
    }

    fn hosts(address: &str, given: &[&str]) -> Vec<String> {
        let given: Vec<String> = given.iter().map(|host| (*host).to_owned()).collect();
        list_hosts(address.parse().unwrap(), &given)
    }

    #[test]
    fn hosts_are_those_that_lead_here() {
        assert!(hosts("127.0.0.1:80", &[]).contains(&"localhost:80".to_owned()));
        assert_eq!(hosts("10.0.0.5:80", &["db.example"]), ["db.example", "10.0.0.5:80"]);
        assert_eq!(hosts("0.0.0.0:80", &["db.example"]), ["db.example"]);
        assert_eq!(with_port("db.example"), "db.example:*");
        assert_eq!(with_port("[::1]:8"), "[::1]:8");
        assert_eq!(with_port("[::1]"), "[::1]:*");
    }
}
