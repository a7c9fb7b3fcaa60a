//! Functions that the clients of HTTP servers share: to make a client, to recognize this machine's
//! addresses and private networks, to read how long a server asks to wait, and to read a body up to
//! a bound.

mod address;
mod delay;
mod key;
mod network;

use std::error::Error as _;
use std::time::Duration;

use reqwest::{Client, ClientBuilder, Response, Url};

pub use address::{is_exposed, is_loopback, resolve_locally};
pub use delay::retry_after;
pub use key::is_secret;
pub use network::Network;

/// The limit on the time to connect.
const CONNECT: Duration = Duration::from_secs(10);

/// A client for requests to `target` as all of them are made: no redirect is followed, no proxy is
/// used, nothing is sent twice, and `localhost` is this machine. `timeout` is the time that an
/// exchange may take, connecting included.
pub fn client(target: &Url, timeout: Duration) -> ClientBuilder {
    // This fails if another part of the process has installed a provider; any will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy()
        .referer(false)
        .connect_timeout(CONNECT.min(timeout))
        .timeout(timeout);
    if target.scheme() == "http" {
        // A local server needs no certificates, and must be reachable from a machine that has none.
        builder = builder.tls_certs_only([]);
    }
    resolve_locally(builder, target)
}

/// The first `most` bytes of a body, and whether the body ends there.
///
/// # Errors
/// When the connection breaks off, or the time of the exchange is over.
pub async fn read(mut response: Response, most: usize) -> reqwest::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let space = most - bytes.len();
        if chunk.len() > space {
            bytes.extend_from_slice(&chunk[..space]);
            return Ok((bytes, false));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok((bytes, true))
}

/// The innermost cause of an error, which is the most specific one.
#[must_use]
pub fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let is_outermost = error.source().is_none();
    if is_outermost { "the connection failed".to_owned() } else { cause.to_string() }
}
