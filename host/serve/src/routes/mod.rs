//! The routes of the interface, and the checks that every request passes first.

mod about;
mod ask;
mod comparisons;
mod database;
mod evaluations;
mod export;
pub(crate) mod mcp;
mod runs;
mod session;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{MethodRouter, any, get, post};
use serde::de::DeserializeOwned;
use serde_json::Value;
use syrch::Host;
use syrch_mcp::Endpoint;

pub(crate) use evaluations::Reports;
pub(crate) use runs::Summaries;

use crate::access::{Access, Client};
use crate::comparisons::Comparisons;
use crate::problem::Problem;
use crate::scope::Scope;
use crate::searches::Searches;
use crate::{Limits, Program, headers, page};

/// The beginning of all paths of the interface.
const API: &str = "/api/v1";
/// The only route that is open to clients without a session.
const SESSION: &str = "/api/v1/session";

/// The parts of a server that its routes use.
pub(crate) struct Served {
    pub(crate) host: Host,
    pub(crate) program: Arc<dyn Program>,
    pub(crate) access: Access,
    pub(crate) scope: Scope,
    pub(crate) searches: Arc<Searches>,
    pub(crate) comparisons: Arc<Comparisons>,
    pub(crate) limits: Limits,
    /// The folder of journals.
    pub(crate) runs: PathBuf,
    pub(crate) summaries: Summaries,
    /// The folder of graded runs.
    pub(crate) evaluations: PathBuf,
    pub(crate) reports: Reports,
    /// The endpoint of MCP, where the program asked for one.
    pub(crate) mcp: Option<Endpoint>,
    /// The requests of each client that are being answered.
    pub(crate) busy: Mutex<HashMap<Client, usize>>,
}

/// The routes: each path below [`API`] with its handlers. `openapi.json` describes the same.
fn routes() -> Vec<(&'static str, MethodRouter<Arc<Served>>)> {
    vec![
        ("/session", post(session::open)),
        ("/server", get(about::server)),
        ("/openapi.json", get(about::openapi)),
        ("/doctor", get(about::doctor)),
        ("/plugins", get(about::plugins)),
        ("/schema", get(database::schema)),
        ("/sql", post(database::sql)),
        ("/ask", post(ask::ask)),
        ("/runs", get(runs::list)),
        ("/runs/{run}", get(runs::tree)),
        ("/runs/{run}/events", get(ask::events)),
        ("/runs/{run}/stop", post(ask::stop)),
        ("/runs/{run}/difference/{other}", get(runs::difference)),
        ("/suites", get(comparisons::suites)),
        ("/evaluations", get(evaluations::list).post(comparisons::begin)),
        ("/evaluations/{run}", get(evaluations::one)),
        ("/evaluations/{run}/events", get(comparisons::events)),
        ("/evaluations/{run}/stop", post(comparisons::stop)),
        ("/evaluations/{run}/trace", get(evaluations::trace)),
    ]
}

/// The router of a server.
pub(crate) fn router(served: Arc<Served>) -> Router {
    let mut router = Router::new();
    for (path, handlers) in routes() {
        let handlers = handlers.fallback(async || wrong_method());
        router = router.route(&format!("{API}{path}"), handlers);
    }
    for path in ["/", "/app.js", "/app.css"] {
        router = router.route(path, get(page::file).fallback(async || wrong_method()));
    }
    router
        .route(Endpoint::PATH, any(mcp::answer))
        .fallback(async || Problem::not_found("there is nothing at this path"))
        .layer(middleware::from_fn_with_state(Arc::clone(&served), admit))
        .layer(middleware::from_fn(headers::add))
        .with_state(served)
}

fn wrong_method() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "wrong-method",
        "the path has no such method; see /api/v1/openapi.json",
    )
}

/// A request that is being answered; it counts until this is dropped.
pub(crate) struct Busy {
    served: Arc<Served>,
    client: Client,
}

impl Busy {
    fn begin(served: &Arc<Served>, client: Client) -> Result<Arc<Self>, Problem> {
        let mut busy = served.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let count = busy.entry(client).or_default();
        if *count >= served.limits.requests_of_client {
            return Err(Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too-many",
                "too many requests of this client are being answered; close some streams",
            ));
        }
        *count += 1;
        Ok(Arc::new(Self { served: Arc::clone(served), client }))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut busy = self.served.busy.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = busy.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                busy.remove(&self.client);
            }
        }
    }
}

/// Refuses requests that may not reach a route: those by another name, of a foreign page, without a
/// session, or beyond the limit on requests at once.
async fn admit(
    State(served): State<Arc<Served>>,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    served.access.check_host(request.headers())?;
    let path = request.uri().path();
    let is_mcp = path == Endpoint::PATH;
    if !is_mcp && !path.starts_with("/api/") {
        return Ok(next.run(request).await);
    }
    served.access.check_origin(request.headers())?;
    if path == SESSION {
        return Ok(next.run(request).await);
    }
    let client = match is_mcp {
        true => served.access.program(request.headers())?,
        false => served.access.client(request.headers())?,
    };
    let busy = Busy::begin(&served, client)?;
    request.extensions_mut().insert(client);
    request.extensions_mut().insert(Arc::clone(&busy));
    let response = next.run(request).await;
    drop(busy);
    // The router itself answers a path that is no text.
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_plain = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/plain"));
    match response.status() == StatusCode::BAD_REQUEST && is_plain {
        true => Err(Problem::bad_request("the path is no UTF-8")),
        false => Ok(response),
    }
}

/// Reads the body of a request, which is a JSON document. Other types are refused: a form of a
/// foreign page can send those.
async fn read_json<T: DeserializeOwned>(served: &Served, request: Request) -> Result<T, Problem> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    if !kind.trim().eq_ignore_ascii_case("application/json") {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "usage",
            "send a JSON document with `Content-Type: application/json`",
        ));
    }
    let body = read_body(served, request.into_body()).await?;
    serde_json::from_slice(&body)
        .map_err(|error| Problem::bad_request(format!("the body cannot be used: {error}")))
}

/// Reads the body of a request within the limits on its time and its size.
async fn read_body(served: &Served, body: Body) -> Result<Bytes, Problem> {
    let body = to_bytes(body, served.limits.body);
    let body = tokio::time::timeout(served.limits.patience, body).await.map_err(|_| {
        Problem::new(StatusCode::REQUEST_TIMEOUT, "timeout", "the body did not come in time")
    })?;
    body.map_err(|_| {
        let limit = served.limits.body;
        Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too-large",
            format!("the body is cut off, or longer than {limit} bytes"),
        )
    })
}

/// A document without secrets, as a response.
fn send(served: &Served, mut document: Value) -> axum::Json<Value> {
    served.program.scrub(&mut document);
    axum::Json(document)
}

/// Returns whether the client prefers that media type to JSON.
fn accepts(request: &Request, kind: &str) -> bool {
    request
        .headers()
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|value| {
            let name = value.split(';').next().unwrap_or_default();
            name.trim().eq_ignore_ascii_case(kind)
        })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn openapi_describes_every_route() {
        let document: Value = serde_json::from_str(about::OPENAPI).unwrap();
        let described: BTreeSet<&str> =
            document["paths"].as_object().unwrap().keys().map(String::as_str).collect();
        let served: BTreeSet<String> =
            routes().iter().map(|(path, _)| format!("{API}{path}")).collect();
        assert_eq!(described, served.iter().map(String::as_str).collect());
    }
}
