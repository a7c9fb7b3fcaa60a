//! The requests to a registry: where they may go, who makes them, and how much is read.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Method, Response, StatusCode, Url};
use serde::Deserialize;
use syrch_http::{Network, is_loopback, root_cause};

use super::access::{Challenge, Credentials, secret_header};
use super::reference::Reference;
use crate::Error;

/// The time that a request may take with its answer.
const PATIENCE: Duration = Duration::from_secs(300);
/// Redirects that are followed for one document.
const REDIRECTS: usize = 5;
/// Bytes of a token with its document at most.
const TOKEN: usize = 1 << 20;
const BYTES: &str = "application/octet-stream";

/// The use of a repository.
#[derive(Debug, Clone, Copy)]
pub(super) enum Action {
    Pull,
    Push,
}

impl Action {
    /// The rights that a token is to have.
    fn scope(self) -> &'static str {
        match self {
            Self::Pull => "pull",
            Self::Push => "pull,push",
        }
    }
}

/// The requests for one repository.
pub(super) struct Exchange<'a> {
    reference: &'a Reference,
    action: Action,
    credentials: Option<Credentials>,
    /// The addresses of the registry, to which all of its requests go.
    addresses: Vec<SocketAddr>,
    /// The header that the registry asked for, once it has.
    authorization: Option<HeaderValue>,
}

/// A token as its server sends it.
#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    token: Option<String>,
    #[serde(default)]
    access_token: Option<String>,
}

impl<'a> Exchange<'a> {
    /// Looks up the registry.
    pub(super) async fn open(
        reference: &'a Reference,
        action: Action,
        credentials: Option<Credentials>,
    ) -> Result<Self, Error> {
        let addresses = Vec::new();
        let mut exchange = Self { reference, action, credentials, addresses, authorization: None };
        exchange.addresses = exchange.look_up(reference.base()).await?;
        Ok(exchange)
    }

    /// Reads a document of the repository of at most that many bytes.
    pub(super) async fn get(
        &mut self,
        path: &str,
        accept: &'static str,
        most: u64,
    ) -> Result<Vec<u8>, Error> {
        let mut url = self.url(path)?;
        for _ in 0..=REDIRECTS {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
            let response = self.send(&Method::GET, &url, &headers, &[]).await?;
            match response.status() {
                StatusCode::OK => return self.read(response, most).await,
                status if status.is_redirection() => url = self.follow(&url, &response)?,
                status => return Err(self.explain_refusal(status)),
            }
        }
        Err(self.wrong(format!("redirects more than {REDIRECTS} times")))
    }

    /// Writes a blob, unless the registry has it.
    pub(super) async fn upload(&mut self, blob: &[u8], digest: &str) -> Result<(), Error> {
        let none = HeaderMap::new();
        let there = self.url(&format!("blobs/{digest}"))?;
        if self.send(&Method::HEAD, &there, &none, &[]).await?.status() == StatusCode::OK {
            return Ok(());
        }
        let begin = self.url("blobs/uploads/")?;
        let response = self.send(&Method::POST, &begin, &none, &[]).await?;
        if response.status() != StatusCode::ACCEPTED {
            return Err(self.explain_refusal(response.status()));
        }
        let mut place = self.read_location(&begin, &response)?;
        if place.origin() != self.reference.base().origin() {
            return Err(self.wrong("wants the upload to go to another host".to_owned()));
        }
        place.query_pairs_mut().append_pair("digest", digest);
        self.write(&place, BYTES, blob).await
    }

    /// Writes a document of the repository.
    pub(super) async fn put(
        &mut self,
        path: &str,
        media_type: &'static str,
        text: &[u8],
    ) -> Result<(), Error> {
        let url = self.url(path)?;
        self.write(&url, media_type, text).await
    }

    async fn write(&mut self, url: &Url, kind: &'static str, body: &[u8]) -> Result<(), Error> {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))]);
        let response = self.send(&Method::PUT, url, &headers, body).await?;
        match response.status() {
            StatusCode::CREATED => Ok(()),
            status => Err(self.explain_refusal(status)),
        }
    }

    /// The URL of something in the repository.
    fn url(&self, path: &str) -> Result<Url, Error> {
        let path = format!("v2/{}/{path}", self.reference.name());
        let url = self.reference.base().join(&path);
        url.map_err(|_| self.wrong("has no such path".to_owned()))
    }

    /// Sends a request. One that the registry wants a token or a password for is sent again.
    async fn send(
        &mut self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<Response, Error> {
        let is_own = url.origin() == self.reference.base().origin();
        let response = self.send_once(method, url, headers, body).await?;
        let is_asked = response.status() == StatusCode::UNAUTHORIZED;
        if !is_asked || !is_own || self.authorization.is_some() {
            return Ok(response);
        }
        let Some(challenge) = Challenge::read(response.headers()) else { return Ok(response) };
        self.authorization = self.authorize(challenge).await?;
        if self.authorization.is_none() {
            return Ok(response);
        }
        self.send_once(method, url, headers, body).await
    }

    async fn send_once(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<Response, Error> {
        let mut headers = headers.clone();
        // Another host gets no credentials.
        if url.origin() == self.reference.base().origin()
            && let Some(authorization) = &self.authorization
        {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        self.exchange(method.clone(), url, headers, body).await
    }

    async fn exchange(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: &[u8],
    ) -> Result<Response, Error> {
        let addresses = match url.origin() == self.reference.base().origin() {
            true => self.addresses.clone(),
            false => self.find_elsewhere(url).await?,
        };
        let mut client = syrch_http::client(url, PATIENCE);
        if let Some(host) = url.host_str().filter(|_| !addresses.is_empty()) {
            client = client.resolve_to_addrs(host, &addresses);
        }
        let client = client.build().map_err(|error| self.unreachable(&error))?;
        let mut request = client.request(method.clone(), url.clone()).headers(headers);
        if method == Method::PUT || method == Method::POST {
            request = request.body(body.to_vec());
        }
        request.send().await.map_err(|error| self.unreachable(&error))
    }

    /// The header that answers a challenge; `None` if the user has no credentials for it.
    async fn authorize(&self, challenge: Challenge) -> Result<Option<HeaderValue>, Error> {
        let own = self.credentials.as_ref().and_then(Credentials::header);
        let Challenge::Bearer { realm, service } = challenge else { return Ok(own) };
        let url = Url::parse(&realm).ok().filter(|url| self.may_read(url));
        let mut url = url.ok_or_else(|| {
            self.wrong("wants a token of a server that is neither https nor local".to_owned())
        })?;
        // The rights are those that are needed, whatever the registry proposes.
        let scope = format!("repository:{}:{}", self.reference.name(), self.action.scope());
        url.query_pairs_mut()
            .extend_pairs(service.map(|service| ("service", service)))
            .append_pair("scope", &scope);
        let headers = own.into_iter().map(|own| (AUTHORIZATION, own)).collect();
        let response = self.exchange(Method::GET, &url, headers, &[]).await?;
        if response.status() != StatusCode::OK {
            return Err(self.explain_refusal(response.status()));
        }
        let text = self.read(response, TOKEN as u64).await?;
        let token: Option<Token> = serde_json::from_slice(&text).ok();
        let token = token.and_then(|found| found.token.or(found.access_token));
        let header = token.and_then(|token| secret_header(&format!("Bearer {token}")));
        header.map(Some).ok_or_else(|| self.wrong("was given no token by its server".to_owned()))
    }

    /// The place that a response leads to.
    fn read_location(&self, url: &Url, response: &Response) -> Result<Url, Error> {
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let place = location.and_then(|location| url.join(location).ok());
        place.ok_or_else(|| self.wrong("leads nowhere".to_owned()))
    }

    /// The place that a redirect leads to, if it may be read.
    fn follow(&self, url: &Url, response: &Response) -> Result<Url, Error> {
        let place = self.read_location(url, response)?;
        match self.may_read(&place) {
            true => Ok(place),
            false => Err(self.wrong(
                "leads to another place, which is neither https nor on this machine".to_owned(),
            )),
        }
    }

    /// Returns true for a place to which the registry may lead: by https, or on this machine if the
    /// registry is there too.
    fn may_read(&self, url: &Url) -> bool {
        let is_plain = url.username().is_empty() && url.password().is_none();
        let is_local = is_loopback(url) && is_loopback(self.reference.base());
        is_plain && (url.scheme() == "https" || (url.scheme() == "http" && is_local))
    }

    /// The addresses of another host, if none of them is in a narrower network than the registry,
    /// which cannot lead a request to a place that it may not reach itself.
    async fn find_elsewhere(&self, url: &Url) -> Result<Vec<SocketAddr>, Error> {
        let addresses = self.look_up(url).await?;
        let own = self.addresses.iter().map(find_network).max().unwrap_or(Network::Own);
        let nearest = addresses.iter().map(find_network).min().unwrap_or(Network::Own);
        match nearest >= own {
            true => Ok(addresses),
            false => Err(self.wrong("leads into a private network from outside of it".to_owned())),
        }
    }

    /// Looks up the host of a URL. This machine needs no addresses.
    async fn look_up(&self, url: &Url) -> Result<Vec<SocketAddr>, Error> {
        if is_loopback(url) {
            return Ok(Vec::new());
        }
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let port = url.port_or_known_default().unwrap_or_default();
        let found = tokio::net::lookup_host((host, port)).await;
        let found: Vec<SocketAddr> = found.map(Iterator::collect).unwrap_or_default();
        match found.is_empty() {
            true => Err(self.wrong("cannot be reached: a name has no address".to_owned())),
            false => Ok(found),
        }
    }

    async fn read(&self, response: Response, most: u64) -> Result<Vec<u8>, Error> {
        let limit = usize::try_from(most).unwrap_or(usize::MAX);
        let read = syrch_http::read(response, limit).await;
        match read.map_err(|error| self.unreachable(&error))? {
            (bytes, true) => Ok(bytes),
            (_, false) => Err(self.wrong(format!("sends more than {most} bytes"))),
        }
    }

    fn wrong(&self, why: String) -> Error {
        Error::registry(self.reference.host(), why)
    }

    fn explain_refusal(&self, status: StatusCode) -> Error {
        let host = self.reference.host().to_owned();
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Error::RegistryDenied { host },
            StatusCode::NOT_FOUND => self.wrong(format!("has no `{}`", self.reference)),
            status => self.wrong(format!("answers with status {}", status.as_u16())),
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> Error {
        let why = if error.is_timeout() { "no answer in time".into() } else { root_cause(error) };
        self.wrong(format!("cannot be reached: {why}"))
    }
}

fn find_network(address: &SocketAddr) -> Network {
    Network::from_address(address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_registry_leads_to_no_network_that_is_narrower_than_its_own() {
        let own = ["https://127.0.0.1/x", "https://localhost:8443/x", "https://a.localhost/x"];
        let private = ["https://10.0.0.1/x", "https://169.254.169.254/x", "https://[fd12::1]/x"];
        let public = ["https://1.1.1.1/x", "https://[2606:4700::1111]/x"];
        for (host, allowed, refused) in [
            ("8.8.8.8", public.to_vec(), [&own[..], &private].concat()),
            ("10.1.2.3", [&private[..], &public].concat(), own.to_vec()),
            ("127.0.0.1", [&own[..], &private, &public].concat(), Vec::new()),
        ] {
            let reference: Reference = format!("oci://{host}/votes:1").parse().unwrap();
            let exchange = Exchange::open(&reference, Action::Pull, None).await.unwrap();
            for place in allowed {
                let found = exchange.find_elsewhere(&place.parse().unwrap()).await;
                assert!(found.is_ok(), "{host} {place}: {found:?}");
            }
            // Neither a download nor a request for a token is made.
            for place in refused {
                let url = place.parse().unwrap();
                let download = exchange.send_once(&Method::GET, &url, &HeaderMap::new(), &[]).await;
                let challenge = Challenge::Bearer { realm: place.to_owned(), service: None };
                for error in [download.err(), exchange.authorize(challenge).await.err()] {
                    let error = error.map(|error| error.to_string()).unwrap_or_default();
                    assert!(error.contains("leads into a private network"), "{place}: {error}");
                }
            }
        }
    }
}
