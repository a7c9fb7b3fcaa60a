//! The replies of the mock: documents of statements, chunks and links, and the errors that tests
//! ask it for.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use axum::body::{Body, Bytes};
use axum::extract::State as Shares;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, SecondsFormat, Utc};
use rusqlite::types::Value as Cell;
use serde_json::{Value, json};

use super::sql::{EngineError, Table};
use super::{
    Behaviour, CLIENT, Request, Shared, State, Statement, TENANT, TOKEN, WAREHOUSE, lock, sql,
};

const STATEMENTS: &str = "/api/2.0/sql/statements";
const LINKS: &str = "/results";

/// The rows of a statement that has succeeded.
pub(super) struct Answer {
    table: Table,
    truncated: bool,
    chunk_rows: usize,
}

impl Answer {
    fn chunk(&self, index: usize) -> Option<&[Row]> {
        self.table.rows.chunks(self.chunk_rows).nth(index)
    }

    fn chunks(&self) -> usize {
        self.table.rows.len().div_ceil(self.chunk_rows)
    }
}

/// The cells of a row.
type Row = Vec<Cell>;

fn document(status: u16, value: &Value) -> Response {
    let response =
        Response::builder().status(status).header(header::CONTENT_TYPE, "application/json");
    response.body(Body::from(value.to_string())).expect("the response is well-formed")
}

fn refusal(status: u16, code: &str, message: &str) -> Response {
    document(status, &json!({"error_code": code, "message": message}))
}

/// Answers every request to the mock, by its path.
pub(super) async fn answer(
    Shares(shared): Shares<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let authorization =
        headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let parsed = serde_json::from_slice(&body)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&body).into()));
    let request = Request {
        method: method.to_string(),
        path: uri.path().to_owned(),
        authorization,
        body: parsed,
    };
    let slow = lock(&shared.state).behaviour(&request).and_then(|behaviour| match behaviour {
        Behaviour::Slow(time) => Some(time),
        _ => None,
    });
    lock(&shared.state).requests.push(request.clone());
    if let Some(time) = slow {
        tokio::time::sleep(time).await;
    }
    answer_now(&shared, &request, uri.query().unwrap_or_default())
}

impl State {
    /// Returns the behaviour on the statement that a request submits.
    fn behaviour(&self, request: &Request) -> Option<Behaviour> {
        let text = request.body["statement"].as_str()?;
        self.behaviours
            .iter()
            .find(|(part, _)| text.contains(part))
            .map(|(_, behaviour)| behaviour.clone())
    }
}

fn answer_now(shared: &Shared, request: &Request, query: &str) -> Response {
    let mut state = lock(&shared.state);
    let path = request.path.as_str();
    let is_post = request.method == "POST";
    if let Some(rest) = path.strip_prefix(LINKS) {
        return link(&mut state, rest, query, request);
    }
    if path == "/.well-known/databricks-config" {
        let host = lock(&shared.address).clone();
        return document(
            200,
            &json!({"oidc_endpoint": format!("{host}/oidc"), "workspace_id": "1"}),
        );
    }
    if path == "/oidc/.well-known/oauth-authorization-server" {
        let host = lock(&shared.address).clone();
        let endpoints = json!({
            "authorization_endpoint": format!("{host}/oidc/v1/authorize"),
            "token_endpoint": format!("{host}/oidc/v1/token")
        });
        return document(200, &endpoints);
    }
    if is_post && (path == "/oidc/v1/token" || path == format!("/{TENANT}/oauth2/v2.0/token")) {
        return token(&mut state, request);
    }
    let Some(rest) = path.strip_prefix(STATEMENTS) else {
        return refusal(404, "ENDPOINT_NOT_FOUND", "there is no such path");
    };
    let bearer = request
        .authorization
        .as_deref()
        .and_then(|value| value.strip_prefix("Bearer "))
        .unwrap_or_default();
    if bearer != TOKEN && state.tokens.get(bearer).is_none_or(|end| *end < Instant::now()) {
        let message =
            format!("Credential was not sent or was of an unsupported type for this API: {bearer}");
        return document(401, &json!({"error_code": 401, "message": message}));
    }
    if state.throttled.0 > 0 {
        state.throttled.0 -= 1;
        let response =
            Response::builder().status(429).header(header::RETRY_AFTER, &state.throttled.1);
        return response.body(Body::from("{}")).expect("the response is well-formed");
    }
    if rest.is_empty() && is_post {
        let behaviour = state.behaviour(request);
        return submit(shared, &mut state, &request.body, behaviour);
    }
    let mut parts = rest.trim_start_matches('/').splitn(2, '/');
    let id = parts.next().unwrap_or_default().to_owned();
    let what = parts.next().unwrap_or_default();
    match (request.method.as_str(), what.strip_prefix("result/chunks/").map(str::parse::<usize>)) {
        ("GET", None) if what.is_empty() => status(shared, &mut state, &id),
        ("POST", None) if what == "cancel" => cancel(&mut state, &id),
        ("GET", Some(Ok(index))) => match chunk(shared, &mut state, &id, index) {
            Some(chunk) => document(200, &chunk),
            None => refusal(404, "NOT_FOUND", "there is no such chunk"),
        },
        _ => refusal(404, "ENDPOINT_NOT_FOUND", "there is no such path"),
    }
}

/// Gives the client a token.
fn token(state: &mut State, request: &Request) -> Response {
    let form = request.body.as_str().unwrap_or_default();
    let (id, secret) = CLIENT;
    let by_header = request.authorization
        == Some(format!("Basic {}", STANDARD.encode(format!("{id}:{secret}"))));
    fn has(form: &str, pair: &str) -> bool {
        form.split('&').any(|part| part == pair)
    }
    let by_form =
        has(form, &format!("client_id={id}")) && has(form, &format!("client_secret={secret}"));
    if !(by_header || by_form) {
        return document(
            401,
            &json!({
                "error": "invalid_client", "error_description": "Client authentication failed"
            }),
        );
    }
    let scope = if request.path.starts_with("/oidc") {
        "scope=all-apis"
    } else {
        "scope=2ff814a6-3304-4ab8-85cb-cd0e6f879c1d%2F.default"
    };
    if !has(form, "grant_type=client_credentials") || !has(form, scope) {
        return document(400, &json!({"error": "invalid_scope", "error_description": form}));
    }
    state.issued += 1;
    let token = format!("mock-token-{}", state.issued);
    let life = state.life;
    state.tokens.insert(token.clone(), Instant::now() + life);
    document(
        200,
        &json!({
            "access_token": token, "token_type": "Bearer", "expires_in": life.as_secs(),
            "scope": "all-apis"
        }),
    )
}

fn submit(
    shared: &Shared,
    state: &mut State,
    body: &Value,
    behaviour: Option<Behaviour>,
) -> Response {
    let text = |name: &str| body[name].as_str().unwrap_or_default();
    fn wrong(message: &str) -> Response<Body> {
        refusal(400, "INVALID_PARAMETER_VALUE", message)
    }
    if let Some(Behaviour::Refused(status, message)) = &behaviour {
        return refusal(*status, "BAD_REQUEST", message);
    }
    if text("warehouse_id") != WAREHOUSE {
        return refusal(
            404,
            "NOT_FOUND",
            &format!("SQL warehouse {} does not exist", text("warehouse_id")),
        );
    }
    let wait = text("wait_timeout").trim_end_matches('s').parse::<u64>();
    if !text("wait_timeout").is_empty()
        && !wait.is_ok_and(|wait| wait == 0 || (5..=50).contains(&wait))
    {
        return wrong("wait_timeout must be 0s or from 5s to 50s");
    }
    let is_inline = match (text("disposition"), text("format")) {
        ("" | "INLINE", "" | "JSON_ARRAY") => true,
        ("EXTERNAL_LINKS", "ARROW_STREAM" | "JSON_ARRAY") => false,
        _ => return wrong("this format needs another disposition"),
    };
    let id = format!("01ef-{:08x}", state.statements.len());
    let sql = text("statement").to_owned();
    let outcome = match &behaviour {
        Some(Behaviour::Fails(code, sql_state, message)) => {
            Err(((*code).to_owned(), sql_state.map(str::to_owned), (*message).to_owned()))
        }
        Some(Behaviour::Answers(lines)) => {
            let rows = lines.iter().map(|line| vec![Cell::Text((*line).to_owned())]).collect();
            Ok(Table { columns: vec![("plan".to_owned(), sql::Kind::Text)], rows })
        }
        _ => {
            sql::run(&lock(&shared.connection), &sql).map_err(|EngineError(sql_state, message)| {
                ("BAD_REQUEST".to_owned(), Some(sql_state.to_owned()), message)
            })
        }
    };
    let (error, result) = match outcome {
        Ok(table) => (None, Some(apply_limits(table, body, state.chunk_rows))),
        Err(error) => (Some(error), None),
    };
    let (ended, left) = match &behaviour {
        Some(Behaviour::Takes(left)) => ("RUNNING", *left),
        Some(Behaviour::Hangs) => ("RUNNING", usize::MAX),
        Some(Behaviour::IsIn(state)) => (*state, 0),
        _ if error.is_some() => ("FAILED", 0),
        _ => ("SUCCEEDED", 0),
    };
    let statement = Statement { sql, state: ended, left, error, result, is_inline, behaviour };
    state.statements.insert(id.clone(), statement);
    describe_statement(shared, state, &id)
}

/// The rows within the limits of the request.
fn apply_limits(mut table: Table, body: &Value, chunk_rows: usize) -> Answer {
    let limit = |name: &str| {
        body[name].as_u64().and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
    };
    let rows = limit("row_limit");
    let mut bytes = limit("byte_limit");
    fn size(row: &Row) -> usize {
        row.iter().filter_map(Table::text).map(|text| text.len()).sum::<usize>()
    }
    let fitting = table.rows.iter().take(rows).take_while(|row| {
        let fits = size(row) <= bytes;
        bytes = bytes.saturating_sub(size(row));
        fits
    });
    let fitting = fitting.count();
    let truncated = fitting < table.rows.len();
    table.rows.truncate(fitting);
    Answer { table, truncated, chunk_rows }
}

fn status(shared: &Shared, state: &mut State, id: &str) -> Response {
    let Some(statement) = state.statements.get_mut(id) else {
        return refusal(404, "NOT_FOUND", "there is no such statement");
    };
    if statement.state == "RUNNING" && statement.left != usize::MAX {
        statement.left = statement.left.saturating_sub(1);
        if statement.left == 0 {
            statement.state = "SUCCEEDED";
        }
    }
    describe_statement(shared, state, id)
}

fn cancel(state: &mut State, id: &str) -> Response {
    let Some(statement) = state.statements.get_mut(id) else {
        return refusal(404, "NOT_FOUND", "there is no such statement");
    };
    if statement.state == "RUNNING" {
        statement.state = "CANCELED";
    }
    document(200, &json!({}))
}

/// A statement as replies describe it, with the first chunk of its result.
fn describe_statement(shared: &Shared, state: &mut State, id: &str) -> Response {
    let first = chunk(shared, state, id, 0);
    let Some(statement) = state.statements.get(id) else {
        return refusal(404, "NOT_FOUND", "there is no such statement");
    };
    // A warehouse that starts says PENDING.
    let shown = if statement.left > 2 && statement.left != usize::MAX {
        "PENDING"
    } else {
        statement.state
    };
    let mut reply = json!({"statement_id": id, "status": {"state": shown}});
    if let (Some((code, sql_state, message)), "FAILED") = (&statement.error, statement.state) {
        reply["status"]["error"] = json!({"error_code": code, "message": message});
        if let Some(sql_state) = sql_state {
            reply["status"]["sql_state"] = json!(sql_state);
        }
    }
    if let (Some(answer), "SUCCEEDED") = (&statement.result, statement.state) {
        let columns = answer.table.columns.iter().enumerate().map(|(at, (name, kind))| {
            let (type_name, type_text) = kind.names();
            json!({"name": name, "position": at, "type_name": type_name, "type_text": type_text})
        });
        let columns: Vec<Value> = columns.collect();
        reply["manifest"] = json!({
            "format": if statement.is_inline { "JSON_ARRAY" } else { "ARROW_STREAM" },
            "schema": {"column_count": columns.len(), "columns": columns},
            "total_chunk_count": answer.chunks(),
            "total_row_count": answer.table.rows.len(),
            "truncated": answer.truncated,
        });
        reply["result"] = first.unwrap_or_else(|| json!({}));
    }
    if let Some(Behaviour::Oversize(bytes)) = &statement.behaviour {
        reply["padding"] = json!("x".repeat(*bytes));
    }
    document(200, &reply)
}

/// A chunk of a statement that has succeeded: its rows, or a new link to them.
fn chunk(shared: &Shared, state: &mut State, id: &str, index: usize) -> Option<Value> {
    let host = lock(&shared.address).clone();
    let statement = state.statements.get(id).filter(|statement| statement.state == "SUCCEEDED")?;
    let answer = statement.result.as_ref()?;
    let rows = answer.chunk(index)?;
    let mut described = json!({
        "chunk_index": index, "row_offset": index * answer.chunk_rows, "row_count": rows.len()
    });
    if index + 1 < answer.chunks() {
        let path = match &statement.behaviour {
            Some(Behaviour::Continues(path)) => (*path).to_owned(),
            _ => {
                format!(
                    "{STATEMENTS}/{id}/result/chunks/{}?row_offset={}",
                    index + 1,
                    (index + 1) * answer.chunk_rows
                )
            }
        };
        described["next_chunk_index"] = json!(index + 1);
        described["next_chunk_internal_link"] = json!(path);
    }
    if statement.is_inline {
        let array: Vec<Vec<Option<String>>> =
            rows.iter().map(|row| row.iter().map(Table::text).collect()).collect();
        described["data_array"] = json!(array);
        return Some(described);
    }
    let link = format!("{id}/{index}?signature={}", state.requests.len());
    let minutes = if state.stale > 0 { -1 } else { 15 };
    let end: DateTime<Utc> = SystemTime::now().into();
    let end = end + chrono::Duration::minutes(minutes);
    described["external_link"] = match &statement.behaviour {
        Some(Behaviour::LeadsTo(address)) => json!(address),
        _ => json!(format!("{host}{LINKS}/{link}")),
    };
    described["expiration"] = json!(end.to_rfc3339_opts(SecondsFormat::Millis, true));
    described["http_headers"] = json!({"x-mock-key": "key"});
    described["byte_count"] = json!(answer.table.stream(rows).len());
    if state.stale > 0 {
        state.stale -= 1;
    } else {
        state.links.insert(link);
    }
    Some(json!({"external_links": [described]}))
}

/// A chunk behind a link, as the storage of a cloud answers.
fn link(state: &mut State, path: &str, query: &str, request: &Request) -> Response {
    fn plain(status: StatusCode, body: Vec<u8>) -> Response<Body> {
        Response::builder()
            .status(status)
            .body(Body::from(body))
            .expect("the response is well-formed")
    }
    if request.authorization.is_some() {
        return plain(
            StatusCode::BAD_REQUEST,
            b"only one authentication mechanism is allowed".to_vec(),
        );
    }
    let name = format!("{}?{query}", path.trim_start_matches('/'));
    if state.expiring > 0 {
        state.expiring -= 1;
        state.links.remove(&name);
    }
    if !state.links.contains(&name) {
        return plain(StatusCode::FORBIDDEN, b"Request has expired".to_vec());
    }
    let mut parts = path.trim_start_matches('/').split('/');
    let statement = parts.next().and_then(|id| state.statements.get(id));
    let index = parts.next().and_then(|index| index.parse().ok()).unwrap_or(usize::MAX);
    let Some((statement, answer)) = statement.and_then(|each| Some((each, each.result.as_ref()?)))
    else {
        return plain(StatusCode::NOT_FOUND, Vec::new());
    };
    let bytes = answer.chunk(index).map(|rows| answer.table.stream(rows)).unwrap_or_default();
    if matches!(statement.behaviour, Some(Behaviour::Damaged)) {
        return plain(StatusCode::OK, bytes.iter().rev().copied().collect());
    }
    if state.breaking > 0 {
        state.breaking -= 1;
        // The first batch arrives, the rest does not.
        let first = Bytes::from(bytes[..bytes.len() - 40].to_vec());
        let pieces = [Ok(first), Err(std::io::Error::other("the connection broke off"))];
        let later = futures::stream::unfold(pieces.into_iter(), |mut pieces| async move {
            let piece = pieces.next()?;
            tokio::time::sleep(Duration::from_millis(50)).await;
            Some((piece, pieces))
        });
        return Response::new(Body::from_stream(later));
    }
    plain(StatusCode::OK, bytes)
}
