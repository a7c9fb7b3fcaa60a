//! The server itself: its description, its plugins, its state.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde_json::{Value, json};
use syrch::syrch_core::DatabaseUrl;

use super::{Served, send};
use crate::problem::Problem;

/// The description of the interface.
pub(super) const OPENAPI: &str = include_str!("../openapi.json");

/// Returns the description of the interface.
pub(super) async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI)
}

/// Checks everything that a search needs.
pub(super) async fn doctor(State(served): State<Arc<Served>>) -> Json<Value> {
    let document = served.program.doctor().await;
    send(&served, document)
}

/// The database, the model and the limits of the server, and the number of its searches.
pub(super) async fn server(State(served): State<Arc<Served>>) -> Result<Json<Value>, Problem> {
    let settings = served.host.settings();
    let database = served.host.database();
    let (running, waiting) = served.searches.counts();
    let model = match settings.model.is_by_rules() {
        true => Value::Null,
        false => json!(settings.model.model),
    };
    Ok(send(
        &served,
        json!({
            "schema": "syrch.server/1",
            "version": env!("CARGO_PKG_VERSION"),
            "database": database.name(),
            "address": DatabaseUrl::parse(&settings.database).to_string(),
            "dialect": database.dialect().name(),
            "model": model,
            "rows": settings.rows.to_string(),
            "has_journals": settings.journal.folder.is_some(),
            "running": running,
            "waiting": waiting,
            "limits": {
                "searches": served.limits.searches,
                "waiting": served.limits.waiting,
                "searches_of_client": served.limits.searches_of_client,
            },
        }),
    ))
}

/// The plugins of the strategy: what each wants, what it is granted, and what it used so far.
pub(super) async fn plugins(State(served): State<Arc<Served>>) -> Result<Json<Value>, Problem> {
    let settings = served.host.settings();
    let used = served.searches.usage();
    let mut plugins = Vec::new();
    for (role, source) in &settings.strategy.roles {
        if !served.host.plugins().any(|(loaded, _)| loaded == *role) {
            continue;
        }
        let mut plugin = served.program.plugin(source).await?;
        let digest = plugin["digest"].as_str().unwrap_or_default().to_owned();
        plugin["used"] = json!(used.get(&digest).cloned().unwrap_or_default());
        // `null` where the lock does not name it: then it is granted what it wants.
        plugin["granted"] = json!(settings.lock.grants(&digest)?);
        plugin["role"] = json!(role);
        plugins.push(plugin);
    }
    Ok(send(
        &served,
        json!({
            "schema": "syrch.strategy-plugins/1",
            "granted": {
                "rows": settings.rows.to_string(),
                "tables": settings.tables,
            },
            "plugins": plugins,
        }),
    ))
}
