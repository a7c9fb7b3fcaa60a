//! Sends spans to an OpenTelemetry collector: OTLP, as protobuf over HTTP.
//!
//! A search never waits for it: what does not fit the queue is dropped, what cannot be sent is not
//! tried again, and both are counted for the one warning that [`Otlp::flush`] gives.
#![cfg(feature = "otel")]

mod encode;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url};
use secrecy::{ExposeSecret, SecretString};
use syrch_http::{is_exposed, resolve_locally};
use syrch_spans::{Span, SpanSink};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

/// The limit on the number of spans that wait to be sent.
const QUEUE: usize = 8_192;
/// The limit on the number of spans of one request.
const BATCH: usize = 512;
/// The time for which a span waits for others.
const GATHER: Duration = Duration::from_secs(1);
/// The limit on the time of one request.
const PATIENCE: Duration = Duration::from_secs(10);
/// The number of bytes of a collector's reply that are read.
const REPLY: usize = 64 << 10;

/// The collector that spans are sent to.
#[derive(Debug, Clone)]
pub struct OtlpSettings {
    /// The collector's base URL, such as `http://localhost:4318`; `/v1/traces` is appended where it
    /// is not there yet.
    pub endpoint: String,
    /// Further headers, such as a key of the collector's.
    pub headers: Vec<(String, SecretString)>,
    /// True if the headers may go over plain HTTP to another machine.
    pub insecure: bool,
    /// True if spans of statements hold their text, in which the question and cells may be quoted.
    pub sql: bool,
}

/// Spans cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum OtlpError {
    /// The endpoint is not a URL that spans can be posted to.
    #[error("the OTLP endpoint must be an http or https URL without a user and a query")]
    Endpoint,
    /// The headers, in which a key may stand, would go to another machine without encryption.
    #[error(
        "the OTLP headers would go over plain http to `{0}`, and whoever sits between \
         could read them"
    )]
    Exposed(String),
    /// A header cannot be sent; its value may be a key and is not part of the message.
    #[error("the OTLP header `{0}` cannot be sent")]
    Header(String),
    /// The HTTP client cannot be made.
    #[error("no HTTP client for OTLP: {0}")]
    Client(#[source] reqwest::Error),
}

/// Sends spans to a collector, in batches, beside the searches.
#[derive(Debug)]
pub struct Otlp {
    queue: mpsc::Sender<Entry>,
    losses: Arc<Losses>,
    sql: bool,
}

#[derive(Debug)]
enum Entry {
    Span(Box<Span>),
    /// All spans before this are to be sent; the answer confirms that they were.
    Flush(oneshot::Sender<()>),
}

/// The number of spans that were lost since the last warning, and the reason.
#[derive(Debug, Default)]
struct Losses {
    lost: AtomicU64,
    why: Mutex<Option<String>>,
}

impl Losses {
    fn lose(&self, spans: u64, why: impl Into<String>) {
        self.lost.fetch_add(spans, Ordering::Relaxed);
        self.why.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why.into());
    }
}

impl Otlp {
    /// Begins to send; nothing is sent before there is a span. Within an async runtime only, whose
    /// end is the sending's end.
    ///
    /// # Errors
    /// When the endpoint is no URL or a header cannot be sent.
    pub fn open(settings: &OtlpSettings) -> Result<Arc<Self>, OtlpError> {
        let target = target(&settings.endpoint)?;
        if !settings.headers.is_empty() && !settings.insecure && is_exposed(&target) {
            return Err(OtlpError::Exposed(target.host_str().unwrap_or_default().to_owned()));
        }
        // Another part of the process may have installed a provider already; either is sufficient.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .default_headers(headers(&settings.headers)?)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
            .referer(false)
            .timeout(PATIENCE);
        if target.scheme() == "http" {
            // A local collector needs no certificates, and must work on a machine that has none.
            builder = builder.tls_certs_only([]);
        }
        let client = resolve_locally(builder, &target).build().map_err(OtlpError::Client)?;
        let (queue, entries) = mpsc::channel(QUEUE);
        let losses = Arc::<Losses>::default();
        tokio::spawn(Worker { client, target, entries, losses: Arc::clone(&losses) }.run());
        Ok(Arc::new(Self { queue, losses, sql: settings.sql }))
    }

    /// Waits until all spans so far are sent, `patience` at most; what could not be sent since the
    /// last time, for a warning.
    pub async fn flush(&self, patience: Duration) -> Option<String> {
        let (done, sent) = oneshot::channel();
        let sending = async {
            if self.queue.send(Entry::Flush(done)).await.is_ok() {
                let _ = sent.await;
            }
        };
        if timeout(patience, sending).await.is_err() {
            return Some(format!(
                "spans are not sent: the collector took more than {} s",
                patience.as_secs_f64()
            ));
        }
        let why = self.losses.why.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(format!("{} spans are not sent: {why}", self.losses.lost.swap(0, Ordering::Relaxed)))
    }
}

impl SpanSink for Otlp {
    fn take(&self, span: Span) {
        if self.queue.try_send(Entry::Span(Box::new(span))).is_err() {
            self.losses.lose(1, "the collector is too slow");
        }
    }

    fn wants_sql(&self) -> bool {
        self.sql
    }
}

/// Returns the URL to which spans are posted.
fn target(endpoint: &str) -> Result<Url, OtlpError> {
    const PATH: &str = "/v1/traces";
    let mut url = Url::parse(endpoint.trim()).map_err(|_| OtlpError::Endpoint)?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !is_plain {
        return Err(OtlpError::Endpoint);
    }
    let base = url.path().trim_end_matches('/').to_owned();
    url.set_path(&format!("{}{PATH}", base.strip_suffix(PATH).unwrap_or(&base)));
    url.set_fragment(None);
    Ok(url)
}

fn headers(given: &[(String, SecretString)]) -> Result<HeaderMap, OtlpError> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let wrong = || OtlpError::Header(name.clone());
        let key = HeaderName::try_from(name.as_str()).map_err(|_| wrong())?;
        let mut value = HeaderValue::try_from(value.expose_secret()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
    Ok(headers)
}

/// Sends what is in the queue.
struct Worker {
    client: Client,
    target: Url,
    entries: mpsc::Receiver<Entry>,
    losses: Arc<Losses>,
}

impl Worker {
    async fn run(mut self) {
        while let Some(first) = self.entries.recv().await {
            let (spans, flush) = self.gather(first).await;
            if !spans.is_empty()
                && let Err((lost, why)) = self.send(&spans).await
            {
                tracing::debug!(target: "syrch.otlp", lost, "{why}");
                self.losses.lose(lost, why);
            }
            if let Some(flush) = flush {
                // Whoever asked may have stopped waiting.
                let _ = flush.send(());
            }
        }
    }

    /// A batch: until it is full, or somebody wants it sent, or nothing more comes for a while.
    async fn gather(&mut self, first: Entry) -> (Vec<Span>, Option<oneshot::Sender<()>>) {
        let until = Instant::now() + GATHER;
        let mut spans = Vec::new();
        let mut next = Some(first);
        while let Some(entry) = next {
            match entry {
                Entry::Flush(done) => return (spans, Some(done)),
                Entry::Span(span) => spans.push(*span),
            }
            if spans.len() >= BATCH {
                break;
            }
            next = timeout_at(until, self.entries.recv()).await.ok().flatten();
        }
        (spans, None)
    }

    /// Sends a batch; how many of it are lost, and why.
    async fn send(&self, spans: &[Span]) -> Result<(), (u64, String)> {
        let all = spans.len() as u64;
        let body = encode::request(spans).encode_to_vec();
        let sent = self.client.post(self.target.clone()).body(body).send().await;
        let mut response = sent.map_err(|error| (all, explain_error(&error)))?;
        if !response.status().is_success() {
            return Err((all, format!("the collector says {}", response.status())));
        }
        let mut reply = Vec::new();
        while let Ok(Some(part)) = response.chunk().await {
            reply.extend_from_slice(&part);
            if reply.len() > REPLY {
                return Ok(());
            }
        }
        let rejected = ExportTraceServiceResponse::decode(reply.as_slice())
            .ok()
            .and_then(|reply| reply.partial_success);
        match rejected.map(|partial| u64::try_from(partial.rejected_spans).unwrap_or(0)) {
            Some(lost) if lost > 0 => Err((lost, "the collector rejected them".to_owned())),
            _ => Ok(()),
        }
    }
}

/// Explains why nothing came back, without the URL.
fn explain_error(error: &reqwest::Error) -> String {
    match error {
        error if error.is_timeout() => "the collector does not answer".to_owned(),
        error if error.is_connect() => "the collector cannot be reached".to_owned(),
        _ => "the connection to the collector broke".to_owned(),
    }
}
