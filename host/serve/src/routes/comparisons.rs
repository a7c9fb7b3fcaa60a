//! Comparisons: the suites and strategies that can be chosen, the start of one, its events, and its
//! early end.

use std::sync::Arc;

use axum::Extension;
use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::ask::{read_last, stream};
use super::runs::in_background;
use super::{API, Busy, Served, read_json, send};
use crate::comparisons::Running;
use crate::problem::Problem;

/// The suites and the strategies of the server.
pub(super) async fn suites(State(served): State<Arc<Served>>) -> Result<Json<Value>, Problem> {
    let comparisons = Arc::clone(&served.comparisons);
    let suites = in_background(move || Ok(comparisons.suites())).await?;
    let strategies: Vec<Value> = served
        .program
        .strategies()
        .into_iter()
        .map(|(name, summary)| json!({"name": name, "summary": summary}))
        .collect();
    let document = json!({
        "schema": "syrch.suites/1",
        "suites": suites,
        "strategies": strategies,
        "strategy": served.host.settings().strategy.name,
        "limits": {
            "calls": served.limits.comparison_calls,
            "searches": served.limits.comparison_searches,
        },
    });
    Ok(send(&served, document))
}

/// Begins a comparison. The response is the id of its run, whose report is at `/evaluations/{run}`.
pub(super) async fn begin(
    State(served): State<Arc<Served>>,
    request: Request,
) -> Result<Response, Problem> {
    let asked = read_json(&served, request).await?;
    let running = served.comparisons.begin(asked).await?;
    let place = format!("{API}/evaluations/{}", running.run);
    let document = Json(json!({"run": running.run}));
    Ok((StatusCode::ACCEPTED, [(header::LOCATION, place)], document).into_response())
}

/// The events of a comparison after the one that the client had last, by `Last-Event-ID`.
pub(super) async fn events(
    State(served): State<Arc<Served>>,
    Extension(busy): Extension<Arc<Busy>>,
    Path(run): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let running = find(&served, &run)?;
    Ok(stream(served, Arc::clone(&running.feed), read_last(&headers)?, busy))
}

/// Ends a comparison early. Its answers so far stay.
pub(super) async fn stop(
    State(served): State<Arc<Served>>,
    Path(run): Path<String>,
) -> Result<StatusCode, Problem> {
    find(&served, &run)?.cancel();
    Ok(StatusCode::ACCEPTED)
}

fn find(served: &Served, run: &str) -> Result<Arc<Running>, Problem> {
    served.comparisons.find(run).ok_or_else(|| {
        Problem::not_found("this server began no such comparison; reports are at /evaluations")
    })
}
