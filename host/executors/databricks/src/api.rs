//! Requests to a workspace, each with a token: which replies are errors, what is repeated, and
//! which paths are followed.

use std::sync::Arc;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value;
use syrch_core::validate::has_few_values;
use tokio::time::Instant;

use crate::auth::Tokens;
use crate::config::Target;
use crate::error::{Failure, line};
use crate::http::{Http, Reply};

/// The prefix of every path that is requested.
pub(crate) const STATEMENTS: &str = "/api/2.0/sql/statements";
/// The size limit of a reply without rows, in bytes.
pub(crate) const REPLY: usize = 4 << 20;
/// The most JSON values of a reply: each takes some tens of bytes when it is read, however short it
/// is.
const VALUES: usize = 4 << 20;

/// A workspace, and who asks it.
pub(crate) struct Api {
    pub(crate) target: Target,
    pub(crate) http: Http,
    tokens: Tokens,
}

impl Api {
    /// # Errors
    /// When the machine has no root certificates.
    pub(crate) fn new(target: Target) -> Result<Arc<Self>, Failure> {
        let http = Http::new(&target.base)?;
        let tokens = Tokens::new(target.credentials.clone());
        Ok(Arc::new(Self { target, http, tokens }))
    }

    /// The address of a path that a reply names or that is known.
    ///
    /// # Errors
    /// When the path would lead elsewhere than to the workspace's statements.
    fn url(&self, path: &str) -> Result<Url, Failure> {
        let url = self.target.base.join(path).ok().filter(|url| {
            let rest = url.path().strip_prefix(STATEMENTS);
            let is_below = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            path.starts_with('/')
                && url.origin() == self.target.base.origin()
                && url.username().is_empty()
                && is_below
        });
        let elsewhere = "a reply names an address that is none of the workspace's statements";
        url.ok_or_else(|| Failure::Unavailable(elsewhere.to_owned()))
    }

    /// Makes requests by `send` until one is answered, with another token where the server refuses
    /// the first one.
    ///
    /// # Errors
    /// When the server refuses the user, and those of `send`.
    pub(crate) async fn send_with_token<T, F: Future<Output = Result<Answered<T>, Failure>>>(
        &self,
        deadline: Instant,
        send: impl Fn(SecretString) -> F,
    ) -> Result<T, Failure> {
        let mut is_second = false;
        loop {
            let token = self.tokens.get(&self.http, deadline).await?;
            match send(token.clone()).await? {
                Answered::Done(value) => return Ok(value),
                Answered::Unauthorized(_) if !is_second && self.tokens.invalidate(&token).await => {
                    is_second = true
                }
                Answered::Unauthorized(reason) => return Err(Failure::Login(reason)),
            }
        }
    }

    /// Asks for a document, as often as it takes.
    ///
    /// # Errors
    /// When it does not come by the deadline.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        most: usize,
        deadline: Instant,
    ) -> Result<T, Failure> {
        let url = self.url(path)?;
        let url = &url;
        self.send_with_token(deadline, |token| async move {
            let bearer = bearer(&token)?;
            answer(
                &self
                    .http
                    .send_with_retry(
                        || self.http.client.get(url.clone()).header(AUTHORIZATION, bearer.clone()),
                        most,
                        deadline,
                    )
                    .await?,
                &token,
            )
        })
        .await
    }

    /// Sends a document, once.
    ///
    /// # Errors
    /// When no reply comes; then it may have arrived.
    pub(crate) async fn post(
        &self,
        path: &str,
        body: &Value,
        token: &SecretString,
        most: usize,
    ) -> Result<Reply, Failure> {
        let request =
            self.http.client.post(self.url(path)?).header(AUTHORIZATION, bearer(token)?).json(body);
        self.http.send_once(request, most).await
    }
}

fn bearer(token: &SecretString) -> Result<HeaderValue, Failure> {
    let value = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret()));
    let mut value = value
        .map_err(|_| Failure::Login("the token has characters that no token has".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// The outcome of a request with a token.
pub(crate) enum Answered<T> {
    Done(T),
    /// The server does not accept the token, and says this.
    Unauthorized(String),
}

/// Reads the document of a reply.
///
/// # Errors
/// The meaning of the server's error, or that the reply is not such a document.
pub(crate) fn answer<T: DeserializeOwned>(
    reply: &Reply,
    token: &SecretString,
) -> Result<Answered<T>, Failure> {
    let status = reply.status.as_u16();
    if !reply.status.is_success() {
        let text = reply.text().replace(token.expose_secret(), "***");
        let reason = line(&format!("it answered {status}: {text}"));
        return match status {
            401 => Ok(Answered::Unauthorized(reason)),
            403 => Err(Failure::Login(reason)),
            404 => Err(Failure::Missing(reason)),
            300..=399 => Err(Failure::Unavailable(format!(
                "it answered {status}: it redirects, which is not followed; name the host \
                 that it leads to"
            ))),
            _ => Err(Failure::Unavailable(reason)),
        };
    }
    if !has_few_values(&reply.body, VALUES) {
        return Err(Failure::TooLarge(format!(
            "a reply of the server has more than {VALUES} values"
        )));
    }
    let document = serde_json::from_slice(&reply.body);
    document.map(Answered::Done).map_err(|_| {
        Failure::Unavailable(
            "its reply is none of the Statement Execution API: check the host".to_owned(),
        )
    })
}
