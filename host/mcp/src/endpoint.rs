//! The endpoint over HTTP: its sessions and requests without one, behind the checks of whoever
//! serves it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

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
    pub async fn answer(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Response<BoxBody<Bytes, Infallible>> {
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

/// A response that says why a request is refused.
pub(crate) fn refuse(
    status: StatusCode,
    why: &'static str,
) -> Response<BoxBody<Bytes, Infallible>> {
    let mut response = Response::new(Full::new(Bytes::from_static(why.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}
