//! One statement at the server: submitted, waited for, and cancelled when nobody waits for it any
//! more.

use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use serde_json::{Value, json};
use syrch_core::{SqlError, SqlErrorKind};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::api::{Answered, Api, REPLY, STATEMENTS, answer};
use crate::error::{self, Failure};
use crate::http::{pause, time_left};
use crate::wire::{Manifest, Next, ResultData, StatementResponse};

/// The time that the server may wait for a statement before it answers that it still runs. Until
/// then its id is not known, and it cannot be cancelled.
const WAIT: Duration = Duration::from_secs(5);
/// The first and the longest time between two requests for a statement's state.
const POLL: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));
/// The time before the deadline at which a statement is given up: its caller, who drops it at the
/// deadline, would not know what it waited for.
const BEFORE: Duration = Duration::from_millis(20);
/// The time limit for the request that cancels a statement.
const CANCEL: Duration = Duration::from_secs(10);

/// The largest limit that is requested, in bytes: the service lets no result have more bytes.
const MOST: u64 = 100 << 30;

/// A statement and the bounds of its result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) sql: &'a str,
    /// Rows and bytes after which the server may cut the result.
    pub(crate) rows: u64,
    pub(crate) bytes: usize,
    /// Bytes of a reply with rows.
    pub(crate) reply: usize,
    /// True if rows are part of replies.
    pub(crate) is_inline: bool,
    pub(crate) deadline: Instant,
}

/// A statement that may run. Dropped while it does, it is cancelled.
pub(crate) struct Statement {
    api: Arc<Api>,
    id: String,
    is_over: bool,
}

impl Drop for Statement {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.is_over {
            return;
        }
        let api = Arc::clone(&self.api);
        let path = format!("{STATEMENTS}/{}/cancel", self.id);
        runtime.spawn(async move {
            let api = &api;
            let path = &path;
            let cancel = api.send_with_token(Instant::now() + CANCEL, |token| async move {
                let reply = api.post(path, &json!({}), &token, REPLY).await?;
                // The body of a good reply is empty, or an empty object.
                if reply.status.is_success() {
                    Ok(Answered::Done(()))
                } else {
                    answer(&reply, &token)
                }
            });
            match tokio::time::timeout(CANCEL, cancel).await {
                Ok(Ok(())) => {}
                Ok(Err(failure)) => tracing::warn!(?failure, "a statement could not be cancelled"),
                Err(_) => tracing::warn!("a statement could not be cancelled in time"),
            }
        });
    }
}

impl Statement {
    /// Runs a statement until it has succeeded. Returns it with the description and the first chunk
    /// of its result.
    ///
    /// # Errors
    /// When it fails, and when it does not end by the deadline.
    pub(crate) async fn run(
        api: &Arc<Api>,
        request: &Request<'_>,
    ) -> Result<(Self, Manifest, ResultData), Failure> {
        let (mut statement, mut response) = submit(api, request).await?;
        let mut wait = POLL.0;
        let path = format!("{STATEMENTS}/{}", statement.id);
        loop {
            match response.status.state.as_str() {
                "SUCCEEDED" => {
                    statement.is_over = true;
                    return Ok((
                        statement,
                        response.manifest.unwrap_or_default(),
                        response.result.unwrap_or_default(),
                    ));
                }
                "PENDING" | "RUNNING" => {}
                state => {
                    statement.is_over = true;
                    let error = match state {
                        "FAILED" => error::status_error(&response.status),
                        "CANCELED" => SqlError::new(
                            SqlErrorKind::Cancelled,
                            "the statement was cancelled at the server",
                        ),
                        "CLOSED" => SqlError::new(
                            SqlErrorKind::Unavailable,
                            "the server has closed the statement; its result is gone",
                        ),
                        _ => {
                            return Err(Failure::Unavailable(
                                "the statement is in a state that is not documented".to_owned(),
                            ));
                        }
                    };
                    return Err(error.into());
                }
            }
            let is_waiting = response.status.state == "PENDING";
            let next = async {
                tokio::time::sleep(wait).await;
                api.get(&path, request.reply, request.deadline).await
            };
            let over = if is_waiting { Failure::Waiting } else { Failure::Deadline };
            let time = time_left(request.deadline)?.saturating_sub(BEFORE);
            response = tokio::time::timeout(time, next).await.unwrap_or(Err(over))?;
            wait = (wait * 3 / 2).min(POLL.1);
        }
    }

    /// The chunk at a place of the result; `None` after the last.
    ///
    /// # Errors
    /// When it does not come by the deadline.
    pub(crate) async fn chunk(
        &self,
        next: Option<Next>,
        request: &Request<'_>,
    ) -> Result<Option<ResultData>, Failure> {
        let Some(next) = next else { return Ok(None) };
        let path = match next {
            Next::Path(path) => path,
            Next::Index(index) => self.chunk_path(index),
        };
        self.api.get(&path, request.reply, request.deadline).await.map(Some)
    }

    /// Returns the path of a chunk, at which the server gives a new link to it.
    pub(crate) fn chunk_path(&self, index: u64) -> String {
        format!("{STATEMENTS}/{}/result/chunks/{index}", self.id)
    }
}

/// Submits a statement, as soon as the server takes it.
async fn submit(
    api: &Arc<Api>,
    request: &Request<'_>,
) -> Result<(Statement, StatementResponse), Failure> {
    let body = Arc::new(body(api, request)?);
    let mut attempt = 0;
    loop {
        attempt += 1;
        let sent = api
            .send_with_token(request.deadline, |token| {
                submit_detached(api, &body, token, request.reply, attempt)
            })
            .await?;
        match sent {
            Sent::Taken(statement, response) => return Ok((statement, *response)),
            Sent::Busy(wait) => pause(wait, request.deadline).await?,
        }
    }
}

fn body(api: &Api, request: &Request<'_>) -> Result<Value, Failure> {
    let wait = if time_left(request.deadline)? > WAIT * 2 { WAIT.as_secs() } else { 0 };
    let (disposition, format) = if request.is_inline {
        ("INLINE", "JSON_ARRAY")
    } else {
        ("EXTERNAL_LINKS", "ARROW_STREAM")
    };
    let mut body = json!({
        "statement": request.sql,
        "warehouse_id": api.target.warehouse,
        "wait_timeout": format!("{wait}s"),
        "on_wait_timeout": "CONTINUE",
        "disposition": disposition,
        "format": format,
        "row_limit": request.rows.min(MOST),
        "byte_limit": (request.bytes as u64).min(MOST),
    });
    for (name, value) in [("catalog", &api.target.catalog), ("schema", &api.target.schema)] {
        if let Some(value) = value {
            body[name] = value.as_str().into();
        }
    }
    Ok(body)
}

/// The outcome of submitting a statement.
enum Sent {
    Taken(Statement, Box<StatementResponse>),
    /// The server wants to be asked again after this time.
    Busy(Duration),
}

/// Submits a statement in a task of its own, so that its id becomes known, and it is cancelled,
/// even if nobody waits for it any more.
async fn submit_detached(
    api: &Arc<Api>,
    body: &Arc<Value>,
    token: SecretString,
    most: usize,
    attempt: u32,
) -> Result<Answered<Sent>, Failure> {
    let (sender, receiver) = oneshot::channel();
    let api = Arc::clone(api);
    let body = Arc::clone(body);
    tokio::spawn(async move {
        // What nobody receives is dropped, the statement with it.
        let _ = sender.send(submit_once(&api, &body, &token, most, attempt).await);
    });
    receiver
        .await
        .unwrap_or_else(|_| Err(Failure::Unavailable("the request was not made".to_owned())))
}

async fn submit_once(
    api: &Arc<Api>,
    body: &Value,
    token: &SecretString,
    most: usize,
    attempt: u32,
) -> Result<Answered<Sent>, Failure> {
    let reply = api.post(STATEMENTS, body, token, most).await?;
    if let Some(wait) = reply.busy(attempt) {
        return Ok(Answered::Done(Sent::Busy(wait)));
    }
    let response: StatementResponse = match answer(&reply, token)? {
        Answered::Done(response) => response,
        Answered::Unauthorized(reason) => return Ok(Answered::Unauthorized(reason)),
    };
    let id = response.statement_id.clone().filter(|id: &String| {
        !id.is_empty()
            && id.len() <= 128
            && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    });
    let id =
        id.ok_or_else(|| Failure::Unavailable("its reply has no id of the statement".to_owned()))?;
    let statement = Statement { api: Arc::clone(api), id, is_over: false };
    Ok(Answered::Done(Sent::Taken(statement, Box::new(response))))
}
