//! The MCP server of the same process: its searches take the slots of the page's.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use syrch::Host;
use syrch_mcp::{Endpoint, Error, Options, Queue, Scrub, Server, Spending, refuse};

use super::{Busy, Served, read_body};
use crate::Program;
use crate::problem::Problem;

/// Takes secrets out as the program does.
struct Scrubbing(Arc<dyn Program>);

impl Scrub for Scrubbing {
    fn scrub(&self, value: &mut Value) {
        self.0.scrub(value);
    }
}

/// Makes the endpoint over the host of the page.
pub(crate) fn endpoint(
    host: Host,
    program: Arc<dyn Program>,
    queue: Queue,
    spending: Spending,
) -> Result<Endpoint, Error> {
    let scrub = Arc::new(Scrubbing(program));
    let server = Server::new(host, Options { queue, spending, scrub })?;
    Ok(Endpoint::new(&server))
}

/// Answers a request of a client with the token.
pub(super) async fn answer(
    State(served): State<Arc<Served>>,
    Extension(busy): Extension<Arc<Busy>>,
    request: Request,
) -> Result<Response, Problem> {
    let Some(endpoint) = &served.mcp else {
        return Err(Problem::not_found("`serve --mcp` serves MCP here"));
    };
    if served.searches.is_stopping() {
        return Err(Problem::stopping());
    }
    let (head, body) = request.into_parts();
    let body = match read_body(&served, body).await {
        Ok(body) => body,
        // A client of MCP reads errors of JSON-RPC alone.
        Err(problem) => return Ok(refuse(problem.status(), problem.detail()).map(Body::new)),
    };
    let request = Request::from_parts(head, Full::new(body));
    let response = endpoint.answer(request).await;
    // It counts for its client until its body, perhaps a stream of events, is sent.
    Ok(response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _busy = &busy;
            frame
        }))
    }))
}
