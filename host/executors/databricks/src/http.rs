//! Exchanges with the servers: bodies of bounded size, and requests that are made again after a
//! busy server's delay.

use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use tokio::time::Instant;

use crate::error::Failure;
use crate::wire::Refusal;

/// Time of one exchange at most.
const EXCHANGE: Duration = Duration::from_secs(60);
/// The time that the first repetition waits if the server does not state one; each further one
/// waits twice as long.
const FIRST: Duration = Duration::from_millis(500);
/// The longest time that a repetition waits.
const LONGEST: Duration = Duration::from_secs(8);
/// The number of attempts at a request that changes nothing when the connection breaks off or a
/// gateway fails.
const TIMES: u32 = 3;

/// A client for a workspace and for whatever its replies name.
pub(crate) struct Http {
    pub(crate) client: Client,
}

/// A reply that was read whole.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    /// The server's own words, of an error; they may hold what was sent.
    pub(crate) fn text(&self) -> String {
        let Refusal { error_code, message, error, error_description } =
            serde_json::from_slice(&self.body).unwrap_or_default();
        let code = error_code.as_str().map(str::to_owned);
        let parts = [code.or(error), message.or(error_description)];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join(": ");
        if text.is_empty() { "it does not say why".to_owned() } else { text }
    }

    /// Returns the time that the server asks to wait before the request is made again; `None` if it
    /// does not.
    pub(crate) fn busy(&self, attempt: u32) -> Option<Duration> {
        let is_busy = self.status == StatusCode::TOO_MANY_REQUESTS
            || self.status == StatusCode::SERVICE_UNAVAILABLE;
        let asked = || syrch_http::retry_after(&self.headers, SystemTime::now());
        is_busy.then(|| asked().unwrap_or_else(|| backoff(attempt)))
    }
}

impl Http {
    /// A client for the workspace at `base`; nothing is sent yet.
    ///
    /// # Errors
    /// When the machine has no root certificates.
    pub(crate) fn new(base: &Url) -> Result<Self, Failure> {
        let agent = concat!("syrch-host/", env!("CARGO_PKG_VERSION"));
        let client = syrch_http::client(base, EXCHANGE).user_agent(agent).build();
        let client = client.map_err(|error| Failure::Encryption(syrch_http::root_cause(&error)))?;
        Ok(Self { client })
    }

    /// Makes one exchange, whose reply has `most` bytes at most.
    ///
    /// # Errors
    /// When no whole reply comes.
    pub(crate) async fn send_once(
        &self,
        request: RequestBuilder,
        most: usize,
    ) -> Result<Reply, Failure> {
        fn exchange_failure(error: reqwest::Error) -> Failure {
            Failure::from_exchange(&error)
        }
        let response = request.send().await.map_err(exchange_failure)?;
        let status = response.status();
        let headers = response.headers().clone();
        let (body, is_whole) = syrch_http::read(response, most).await.map_err(exchange_failure)?;
        match is_whole {
            true => Ok(Reply { status, headers, body }),
            false => {
                Err(Failure::TooLarge(format!("a reply of the server has more than {most} bytes")))
            }
        }
    }

    /// An exchange that may be repeated: while the server is busy, and a few times where the
    /// connection breaks off or a gateway fails.
    ///
    /// # Errors
    /// When no whole reply comes by the deadline.
    pub(crate) async fn send_with_retry(
        &self,
        request: impl Fn() -> RequestBuilder,
        most: usize,
        deadline: Instant,
    ) -> Result<Reply, Failure> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let outcome =
                self.send_once(request().timeout(time_left(deadline)?.min(EXCHANGE)), most).await;
            let wait = match &outcome {
                Ok(reply) if reply.busy(attempt).is_some() => reply.busy(attempt),
                Ok(reply) if matches!(reply.status.as_u16(), 502 | 504) && attempt < TIMES => {
                    Some(backoff(attempt))
                }
                Err(Failure::Unreachable(_)) if attempt < TIMES => Some(backoff(attempt)),
                _ => None,
            };
            match wait {
                Some(wait) => pause(wait, deadline).await?,
                None => return outcome,
            }
        }
    }
}

/// The time until a deadline.
///
/// # Errors
/// [`Failure::Deadline`] if it has passed.
pub(crate) fn time_left(deadline: Instant) -> Result<Duration, Failure> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(Failure::Deadline) } else { Ok(left) }
}

pub(crate) fn backoff(attempt: u32) -> Duration {
    FIRST.saturating_mul(1 << attempt.saturating_sub(1).min(8)).min(LONGEST)
}

/// Waits before a request is made again.
///
/// # Errors
/// At once, when the wait would end after the deadline.
pub(crate) async fn pause(wait: Duration, deadline: Instant) -> Result<(), Failure> {
    if wait >= time_left(deadline)? {
        let reason = format!(
            "the server is busy and asks to wait {} s, which is later than the deadline",
            wait.as_secs_f64()
        );
        return Err(Failure::Unavailable(reason));
    }
    tracing::debug!(?wait, "a request is made again later");
    tokio::time::sleep(wait).await;
    Ok(())
}
