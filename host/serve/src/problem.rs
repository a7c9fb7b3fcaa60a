//! Errors of the interface, as RFC 9457 defines them (`application/problem+json`).

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use syrch::Error;
use syrch::syrch_core::SqlError;

/// The media type of a problem.
pub(crate) const MEDIA_TYPE: &str = "application/problem+json";

/// The error of a request.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    status: StatusCode,
    /// The class of the error, by the names that the command line uses, or a name of the interface.
    class: String,
    detail: String,
    /// Further members.
    more: Vec<(&'static str, Value)>,
}

impl Problem {
    /// A problem of that class. `detail` says what is wrong and what to do.
    pub(crate) fn new(
        status: StatusCode,
        class: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        Self { status, class: class.into(), detail: detail.into(), more: Vec::new() }
    }

    /// The problem that a request cannot be understood.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "usage", detail)
    }

    /// The problem that something does not exist.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", detail)
    }

    /// The problem that the server is stopping.
    pub(crate) fn stopping() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "stopping",
            "the server stops; ask again when it runs again",
        )
    }

    /// A problem of the error's class.
    pub(crate) fn from_class(class: &str, detail: impl Into<String>) -> Self {
        let status = match class {
            "usage" => StatusCode::BAD_REQUEST,
            "denied" => StatusCode::FORBIDDEN,
            "budget" | "no-answer" => StatusCode::UNPROCESSABLE_ENTITY,
            "database" | "model" => StatusCode::BAD_GATEWAY,
            "interrupted" => StatusCode::CONFLICT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, class, detail)
    }

    /// The status of its response.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// The text that says what is wrong.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// Adds a member.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.more.push((name, value.into()));
        self
    }

    /// The problem as a document.
    pub(crate) fn document(&self) -> Value {
        let mut document = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or("Error"),
            "status": self.status.as_u16(),
            "class": self.class,
            "detail": self.detail,
        });
        for (name, value) in &self.more {
            document[*name] = value.clone();
        }
        document
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.document())).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        if matches!(self.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Sql(error) => error.into(),
            error => Self::from_class(error.class(), error.to_string()),
        }
    }
}

impl From<SqlError> for Problem {
    fn from(error: SqlError) -> Self {
        let status = if error.kind.is_refusal() {
            StatusCode::FORBIDDEN
        } else {
            StatusCode::UNPROCESSABLE_ENTITY
        };
        let class = if error.kind.is_refusal() { "denied" } else { "database" };
        Self::new(status, class, error.message)
            .with("kind", error.kind.name())
            .with("rule", error.rule)
            .with("suggestions", error.suggestions)
    }
}
