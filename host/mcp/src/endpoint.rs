//! The endpoint over HTTP: its sessions and requests without one, behind the checks of whoever
//! serves it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use rmcp::model::ErrorCode;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::de::IgnoredAny;
use serde_json::json;

use crate::client::SESSION;
use crate::server::Server;
use crate::sessions::{Place, Sessions};

/// The limit on open sessions and requests without a session. A further one takes the place of the
/// session that has been idle for the longest time, and is refused where none is idle.
const OPEN: usize = 128;
/// The time after which a refused client may try again, in seconds.
const RETRY: &str = "5";
/// The time after which a session without a request ends.
const IDLE: Duration = Duration::from_secs(3_600);

/// The body of a response, which may be a stream of events.
type Body = BoxBody<Bytes, Infallible>;

tokio::task_local! {
    /// The place of the session, or of the request without one, that is being handled.
    static PLACE: Place;
}

/// Answers the requests of clients, whom the caller has admitted: by their token, the host that
/// they name, and the page that sends them.
pub struct Endpoint {
    sessions: Sessions,
    service: StreamableHttpService<Server, LocalSessionManager>,
}

impl Endpoint {
    /// The path at which clients expect the endpoint.
    pub const PATH: &str = "/mcp";

    /// The endpoint of a server, which admits every request.
    #[must_use]
    pub fn new(server: &Server) -> Self {
        let config = StreamableHttpServerConfig::default();
        Self::with_config(server, config.disable_allowed_hosts().disable_allowed_origins())
    }

    /// The endpoint of a server with further checks.
    pub(crate) fn with_config(server: &Server, config: StreamableHttpServerConfig) -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(IDLE);
        let manager = Arc::new(manager);
        let sessions = Sessions::new(Arc::clone(&manager), OPEN);
        let server = server.clone();
        // Called in `answer`, and outside of it to look up a tool.
        let service = StreamableHttpService::new(
            move || Ok(server.with_place(PLACE.try_with(Arc::clone).ok())),
            manager,
            config,
        );
        Self { sessions, service }
    }

    /// Answers a request in its session, or in a place of its own. The body of the response may be
    /// a stream of events.
    pub async fn answer(&self, request: Request<Full<Bytes>>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let is_json = head.headers.get(CONTENT_TYPE).is_some_and(is_json);
        let Ok(body) = body.collect().await;
        let body = body.to_bytes();
        let request = Request::from_parts(head, Full::new(body.clone()));
        let response = self.handle(request).await;
        if !response.status().is_client_error() || response.headers().contains_key(CONTENT_TYPE) {
            return response;
        }
        // The service refuses a message that it cannot read as one of a wrong type.
        let is_unread = response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json;
        let is_cut = is_unread && serde_json::from_slice::<IgnoredAny>(&body).is_err();
        let code = if is_cut { ErrorCode::PARSE_ERROR } else { ErrorCode::INVALID_REQUEST };
        let (mut head, why) = response.into_parts();
        if is_unread {
            head.status = StatusCode::BAD_REQUEST;
        }
        let Ok(why) = why.collect().await;
        let stated = state_error(head.status, code, &String::from_utf8_lossy(&why.to_bytes()));
        let (stated, body) = stated.into_parts();
        head.headers.remove(header::CONTENT_LENGTH);
        head.headers.extend(stated.headers);
        Response::from_parts(head, body)
    }

    async fn handle(&self, request: Request<Full<Bytes>>) -> Response<Body> {
        let Self { sessions, service } = self;
        if let Some(id) = session_id(request.headers()) {
            let held = sessions.hold(id);
            return service.handle(request).await.map(|body| {
                // The request lasts until its body, perhaps a stream of events, has gone out.
                body.map_frame(move |frame| {
                    let _held = &held;
                    frame
                })
                .boxed()
            });
        }
        let Some(place) = sessions.reserve().await else {
            let mut response = refuse(StatusCode::SERVICE_UNAVAILABLE, "all sessions are in use");
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(RETRY));
            return response;
        };
        let response = PLACE.scope(place, service.handle(request)).await;
        if let Some(id) = session_id(response.headers()) {
            sessions.note(id).await;
        }
        response
    }

    /// Returns a guard. When it is dropped, all sessions and calls end.
    #[must_use]
    pub fn close_on_drop(&self) -> impl Sized + use<> {
        self.service.config.cancellation_token.clone().drop_guard()
    }
}

/// The id of the session that headers name.
fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION)?.to_str().ok()
}

/// Returns whether a media type is that of JSON.
fn is_json(kind: &HeaderValue) -> bool {
    let kind = kind.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

/// A response that says why a request is refused.
#[must_use]
pub fn refuse(status: StatusCode, why: &str) -> Response<Body> {
    state_error(status, ErrorCode::INVALID_REQUEST, why)
}

/// A response with an error of JSON-RPC, of no message: none could be read, or none was admitted.
fn state_error(status: StatusCode, ErrorCode(code): ErrorCode, why: &str) -> Response<Body> {
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": why}});
    let mut response = Response::new(Full::new(Bytes::from(error.to_string())).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
