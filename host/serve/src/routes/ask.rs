//! Questions: the answer as one document, or the events of its search as they happen.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::Stream;
use serde_json::json;

use super::{API, Busy, Served, accepts, read_json};
use crate::access::Client;
use crate::problem::{MEDIA_TYPE, Problem};
use crate::searches::{self, Feed, Search};

/// The time after which a silent stream sends a comment, so that proxies leave it open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Asks a question. By `Accept: text/event-stream` the response is its events, by `Prefer:
/// respond-async` the id of its run, and otherwise its answer.
pub(super) async fn ask(
    State(served): State<Arc<Served>>,
    Extension(client): Extension<Client>,
    Extension(busy): Extension<Arc<Busy>>,
    request: Request,
) -> Result<Response, Problem> {
    let is_stream = accepts(&request, "text/event-stream");
    let is_async = prefers(&request, "respond-async");
    let asked = read_json(&served, request).await?;
    let search = served.searches.ask(client, asked)?;
    let place = format!("{API}/runs/{}", search.run);
    let mut response = if is_stream {
        stream(served, Arc::clone(&search.feed), 0, busy)
    } else if is_async {
        (StatusCode::ACCEPTED, axum::Json(json!({"run": search.run}))).into_response()
    } else {
        wait(&served, &search).await?
    };
    if let Ok(place) = HeaderValue::from_str(&place) {
        response.headers_mut().insert(header::LOCATION, place);
    }
    Ok(response)
}

/// Returns whether the client states that preference, perhaps among others (RFC 7240).
fn prefers(request: &Request, preference: &str) -> bool {
    let values = request.headers().get_all("prefer").iter();
    let mut stated = values.filter_map(|value| value.to_str().ok()).flat_map(|all| all.split(','));
    stated.any(|one| {
        let name = one.split([';', '=']).next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case(preference)
    })
}

/// The end of a search as a response.
async fn wait(served: &Served, search: &Search) -> Result<Response, Problem> {
    let end = tokio::select! {
        biased;
        end = search.feed.last() => end,
        () = served.searches.wait_until_over() => None,
    };
    // The server stops, and the next one resumes the search.
    let end = end.ok_or_else(|| Problem::stopping().with("run", search.run.as_str()))?;
    if end.kind == "answer" {
        return Ok(([(header::CONTENT_TYPE, "application/json")], end.data.clone()).into_response());
    }
    let document: serde_json::Value = serde_json::from_str(&end.data).unwrap_or_default();
    let status = document.get("status").and_then(serde_json::Value::as_u64).unwrap_or(500);
    let status = u16::try_from(status).ok().and_then(|status| StatusCode::from_u16(status).ok());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Ok((status, [(header::CONTENT_TYPE, MEDIA_TYPE)], end.data.clone()).into_response())
}

/// The events of a search after the one that the client had last, by `Last-Event-ID`.
pub(super) async fn events(
    State(served): State<Arc<Served>>,
    Extension(busy): Extension<Arc<Busy>>,
    Path(run): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let search = find(&served, &run)?;
    Ok(stream(served, Arc::clone(&search.feed), read_last(&headers)?, busy))
}

/// The number of the event that a client had last; 0 if it had none.
pub(super) fn read_last(headers: &HeaderMap) -> Result<u64, Problem> {
    let Some(id) = headers.get("last-event-id") else { return Ok(0) };
    let id = id.to_str().ok().and_then(|id| id.parse().ok());
    id.ok_or_else(|| Problem::bad_request("`Last-Event-ID` is no number"))
}

/// Ends a search early, with the best so far.
pub(super) async fn stop(
    State(served): State<Arc<Served>>,
    Path(run): Path<String>,
) -> Result<StatusCode, Problem> {
    find(&served, &run)?.stop.trigger();
    Ok(StatusCode::ACCEPTED)
}

fn find(served: &Served, run: &str) -> Result<Arc<Search>, Problem> {
    served.searches.find(run).ok_or_else(|| {
        Problem::not_found("this server has no events of such a run; its journal is at /runs/{run}")
    })
}

/// The events of a feed after the one of that number, as a response.
pub(super) fn stream(
    served: Arc<Served>,
    feed: Arc<Feed>,
    after: u64,
    busy: Arc<Busy>,
) -> Response {
    let events = events_after(served, feed, after, busy);
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

/// The events as a stream, which counts as a request of its client until it ends. It ends with the
/// last event, or when the server stops.
fn events_after(
    served: Arc<Served>,
    feed: Arc<Feed>,
    after: u64,
    busy: Arc<Busy>,
) -> impl Stream<Item = Result<Event, Infallible>> {
    let start = (served, feed, after, busy);
    futures::stream::unfold(start, |(served, feed, after, busy)| async move {
        let event: Arc<searches::Event> = tokio::select! {
            biased;
            event = feed.next(after) => event?,
            () = served.searches.wait_until_over() => return None,
        };
        let written = Event::default().id(event.id.to_string()).event(event.kind).data(&event.data);
        Some((Ok(written), (served, feed, event.id, busy)))
    })
}
