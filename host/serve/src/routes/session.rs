//! Sessions of browsers: the code of a link becomes a cookie.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::{Served, read_json};
use crate::access::no_random_bytes;
use crate::problem::Problem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Code {
    code: String,
}

/// Opens a session, and offers the link for the next one.
pub(super) async fn open(
    State(served): State<Arc<Served>>,
    request: Request,
) -> Result<Response, Problem> {
    let Code { code } = read_json(&served, request).await?;
    let session = served.access.open_session(&code).map_err(no_random_bytes)?.ok_or_else(|| {
        Problem::new(
            StatusCode::FORBIDDEN,
            "used-link",
            "the link was used already; `serve` has printed another one",
        )
    })?;
    served.program.offer_link(&served.access.make_link().map_err(no_random_bytes)?);
    let name = served.access.cookie_name();
    let cookie = format!("{name}={session}; Path=/; HttpOnly; SameSite=Strict");
    let cookie = HeaderValue::from_str(&cookie)
        .map_err(|error| Problem::from_class("unexpected", error.to_string()))?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response())
}
