//! Chunks behind links: fetched without the workspace's credentials, from other machines over https
//! only, with a new link where one has expired.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, Url};
use syrch_http::is_loopback;

use crate::api::Api;
use crate::error::Failure;
use crate::execute::{Rows, Stream};
use crate::http::{backoff, pause, time_left};
use crate::statement::{Request, Statement};
use crate::wire::{ExternalLink, ResultData};

/// The most attempts to fetch a chunk, and to ask for a new link to it.
const TIMES: u32 = 4;
/// The limits on the number of headers that a link may ask for, and on their bytes together.
const HEADERS: (usize, usize) = (16, 16 << 10);
/// Headers that say who asks, or how the connection is used; a link may not ask for them.
const OWN: [&str; 8] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "upgrade",
];

/// The reason why a chunk was not fetched.
enum Refused {
    /// The link is not valid any more.
    Expired,
    /// The chunk may come later.
    Later(Option<Duration>, Failure),
    /// The chunk will not come.
    No(Failure),
}

/// A chunk to fetch.
pub(crate) struct Download<'a> {
    pub(crate) api: &'a Arc<Api>,
    pub(crate) statement: &'a Statement,
    pub(crate) request: &'a Request<'a>,
}

impl Download<'_> {
    /// Fetches a chunk and hands its batches over, each once, however often the transfer breaks
    /// off.
    ///
    /// # Errors
    /// When the chunk does not come by the deadline, or is no Arrow stream, and those of the sink.
    pub(crate) async fn fetch(
        &self,
        mut link: ExternalLink,
        rows: &mut Rows<'_>,
    ) -> Result<ControlFlow<()>, Failure> {
        let mut pushed = 0;
        let mut renewed = 0;
        for attempt in 1..=TIMES {
            if is_expired(&link) && renewed == 0 {
                renewed += 1;
                link = self.renew_link(&link).await?;
            }
            match self.read_batches(&link, rows, &mut pushed).await {
                Ok(flow) => return Ok(flow),
                Err(Refused::Expired) if renewed < TIMES => {
                    renewed += 1;
                    link = self.renew_link(&link).await?;
                }
                Err(Refused::Expired) => break,
                Err(Refused::Later(wait, _)) if attempt < TIMES => {
                    pause(wait.unwrap_or_else(|| backoff(attempt)), self.request.deadline).await?;
                }
                Err(Refused::Later(_, failure) | Refused::No(failure)) => return Err(failure),
            }
        }
        Err(Failure::Unavailable("the links to a chunk of the result are refused".to_owned()))
    }

    /// Another link to the same chunk.
    async fn renew_link(&self, link: &ExternalLink) -> Result<ExternalLink, Failure> {
        let index = link.chunk_index.unwrap_or_default();
        tracing::debug!(index, "a link to a chunk has expired");
        let path = self.statement.chunk_path(index);
        let chunk: ResultData =
            self.api.get(&path, self.request.reply, self.request.deadline).await?;
        let link = chunk.external_links.and_then(|links| links.into_iter().next());
        link.ok_or_else(|| {
            Failure::Unavailable("its reply has no link to a chunk of the result".to_owned())
        })
    }

    async fn read_batches(
        &self,
        link: &ExternalLink,
        rows: &mut Rows<'_>,
        pushed: &mut usize,
    ) -> Result<ControlFlow<()>, Refused> {
        let mut response = self.request_chunk(link).await?;
        let mut stream = Stream::default();
        let mut seen = 0;
        while let Some(piece) = response.chunk().await.map_err(|error: reqwest::Error| {
            Refused::Later(None, Failure::from_exchange(&error.without_url()))
        })? {
            let flow = stream.take(piece, self.request.reply, |batch| {
                seen += 1;
                if seen <= *pushed {
                    return Ok(ControlFlow::Continue(()));
                }
                *pushed = seen;
                rows.push(batch)
            });
            if flow.map_err(Refused::No)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        stream.finish().map_err(Refused::No)?;
        Ok(ControlFlow::Continue(()))
    }

    async fn request_chunk(&self, link: &ExternalLink) -> Result<Response, Refused> {
        let url = self.parse_address(link).map_err(Refused::No)?;
        let headers = read_headers(link).map_err(Refused::No)?;
        let left = time_left(self.request.deadline).map_err(Refused::No)?;
        let sent = self.api.http.client.get(url).headers(headers).timeout(left).send().await;
        let response = sent
            .map_err(|error| Refused::Later(None, Failure::from_exchange(&error.without_url())))?;
        let status = response.status().as_u16();
        let failure =
            || Failure::Unavailable(format!("a link to a chunk of the result answered {status}"));
        match status {
            200 => Ok(response),
            // What storage answers to a link that has expired differs between clouds.
            400 | 401 | 403 | 404 | 410 => Err(Refused::Expired),
            429 | 500..=599 => {
                let wait =
                    syrch_http::retry_after(response.headers(), std::time::SystemTime::now());
                Err(Refused::Later(wait, failure()))
            }
            _ => Err(Refused::No(failure())),
        }
    }

    /// Returns the address that a link leads to. A workspace on this machine may name this machine,
    /// too.
    fn parse_address(&self, link: &ExternalLink) -> Result<Url, Failure> {
        let url =
            link.external_link.as_deref().and_then(|url| Url::parse(url).ok()).filter(|url| {
                let is_local = is_loopback(url);
                let is_allowed = if is_local {
                    is_loopback(&self.api.target.base)
                } else {
                    url.scheme() == "https"
                };
                is_allowed
                    && matches!(url.scheme(), "http" | "https")
                    && url.username().is_empty()
                    && url.password().is_none()
            });
        url.ok_or_else(|| {
            Failure::Unavailable(
                "a link to a chunk of the result does not lead to another machine over https"
                    .to_owned(),
            )
        })
    }
}

fn is_expired(link: &ExternalLink) -> bool {
    let expiration =
        link.expiration.as_deref().and_then(|text| DateTime::parse_from_rfc3339(text).ok());
    let now: DateTime<Utc> = std::time::SystemTime::now().into();
    expiration.is_some_and(|expiration| expiration <= now)
}

/// The headers that a link asks for.
fn read_headers(link: &ExternalLink) -> Result<HeaderMap, Failure> {
    let wrong = || {
        Failure::Unavailable(
            "a link to a chunk of the result asks for headers that are not sent".to_owned(),
        )
    };
    let mut headers = HeaderMap::new();
    let given = link.http_headers.iter().flatten();
    let bytes: usize = given.clone().map(|(name, value)| name.len() + value.len()).sum();
    if given.clone().count() > HEADERS.0 || bytes > HEADERS.1 {
        return Err(wrong());
    }
    for (name, value) in given {
        let name: HeaderName = name.parse().map_err(|_| wrong())?;
        let mut value: HeaderValue = value.parse().map_err(|_| wrong())?;
        if OWN.contains(&name.as_str()) {
            return Err(wrong());
        }
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_expire_and_ask_for_few_headers() {
        fn link(expiration: &str, headers: &[(&str, &str)]) -> ExternalLink {
            ExternalLink {
                expiration: Some(expiration.to_owned()),
                http_headers: Some(
                    headers
                        .iter()
                        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                        .collect(),
                ),
                ..ExternalLink::default()
            }
        }
        assert!(
            is_expired(&link("2023-01-30T22:23:23.140Z", &[]))
                && !is_expired(&link("2999-01-30T22:23:23Z", &[]))
        );
        assert!(!is_expired(&link("soon", &[])) && !is_expired(&ExternalLink::default()));
        assert_eq!(read_headers(&link("", &[("x-amz-key", "k")])).unwrap()["x-amz-key"], "k");
        for wrong in [
            ("Authorization", "Bearer x"),
            ("cookie", "a"),
            ("a b", "x"),
            ("x", "a\nb"),
            ("x", &"y".repeat(20_000)),
        ] {
            assert!(read_headers(&link("", &[wrong])).is_err(), "{}", wrong.0);
        }
    }
}
