//! Tokens: a personal access token as it is, and those of clients that are asked for, used until
//! shortly before they expire, and asked for again when the server refuses one. One request for a
//! token is in flight at a time.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::config::Credentials;
use crate::error::{Failure, line};
use crate::http::{Http, Reply};
use crate::wire::TokenReply;

/// Bytes of the reply with a token.
const REPLY: usize = 64 << 10;
/// The time for which a token is used if the server does not say its lifetime, and the longest
/// lifetime that is believed.
const LIFE: (Duration, Duration) = (Duration::from_secs(300), Duration::from_secs(24 * 3_600));
/// The time before its end from which on a token is not used any more, but at most a fifth of its
/// lifetime.
const BEFORE: Duration = Duration::from_secs(60);

/// The tokens of one server.
pub(crate) struct Tokens {
    credentials: Credentials,
    issued: Mutex<Option<Issued>>,
}

struct Issued {
    token: SecretString,
    until: Instant,
}

impl Tokens {
    pub(crate) fn new(credentials: Credentials) -> Self {
        Self { credentials, issued: Mutex::new(None) }
    }

    /// A token that should be valid.
    ///
    /// # Errors
    /// When there is none to be had by the deadline.
    pub(crate) async fn get(
        &self,
        http: &Http,
        deadline: Instant,
    ) -> Result<SecretString, Failure> {
        match &self.credentials {
            Credentials::Token(token) => return Ok(token.clone()),
            Credentials::None(why) => {
                return Err(Failure::Login(format!("it asks for credentials, and {why}")));
            }
            Credentials::Client { .. } => {}
        }
        let mut issued = self.issued.lock().await;
        if let Some(issued) = issued.as_ref().filter(|issued| Instant::now() < issued.until) {
            return Ok(issued.token.clone());
        }
        let new = self.issue(http, deadline).await?;
        let token = new.token.clone();
        *issued = Some(new);
        Ok(token)
    }

    /// Called when the server refuses a token; returns whether another one can be had.
    pub(crate) async fn invalidate(&self, token: &SecretString) -> bool {
        let mut issued = self.issued.lock().await;
        if issued
            .as_ref()
            .is_some_and(|issued| issued.token.expose_secret() == token.expose_secret())
        {
            *issued = None;
        }
        matches!(self.credentials, Credentials::Client { .. })
    }

    async fn issue(&self, http: &Http, deadline: Instant) -> Result<Issued, Failure> {
        let Credentials::Client { token_url, id, secret, scope, in_body } = &self.credentials
        else {
            return Err(Failure::Login("there is no client to ask for a token".to_owned()));
        };
        let mut form = vec![("grant_type", "client_credentials"), ("scope", scope)];
        if *in_body {
            form.extend([("client_id", id.as_str()), ("client_secret", secret.expose_secret())]);
        }
        let form: String = encode_form(&form);
        let reply = http
            .send_with_retry(
                || {
                    let request = http
                        .client
                        .post(token_url.clone())
                        .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
                    let request = request.header(ACCEPT, "application/json").body(form.clone());
                    if *in_body {
                        request
                    } else {
                        request.basic_auth(id, Some(secret.expose_secret()))
                    }
                },
                REPLY,
                deadline,
            )
            .await?;
        let host = token_url.host_str().unwrap_or_default();
        if !reply.status.is_success() {
            return Err(refusal(&reply, host, secret));
        }
        let asked = Instant::now();
        let TokenReply { access_token, expires_in } = serde_json::from_slice(&reply.body)
            .map_err(|_| Failure::Unavailable(format!("{host} does not answer with a token")))?;
        if access_token.is_empty() {
            return Err(Failure::Unavailable(format!("{host} answers without a token")));
        }
        let life = expires_in
            .map_or(LIFE.0, |seconds| Duration::try_from_secs_f64(seconds).unwrap_or_default());
        let life = life.min(LIFE.1);
        Ok(Issued { token: access_token.into(), until: asked + (life - BEFORE.min(life / 5)) })
    }
}

/// Returns the error of a server that gives no token.
fn refusal(reply: &Reply, host: &str, secret: &SecretString) -> Failure {
    let text = reply.text().replace(secret.expose_secret(), "***");
    let reason = format!(
        "{host} answered {} to the request for a token: {}",
        reply.status.as_u16(),
        line(&text)
    );
    match reply.status.as_u16() {
        400 | 401 | 403 => Failure::Login(reason),
        _ => Failure::Unavailable(reason),
    }
}

/// A form in the encoding of URLs.
fn encode_form(form: &[(&str, &str)]) -> String {
    let mut url = reqwest::Url::parse("http://form").ok();
    if let Some(url) = &mut url {
        url.query_pairs_mut().extend_pairs(form);
    }
    url.and_then(|url| url.query().map(str::to_owned)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn forms_are_encoded() {
        assert_eq!(
            super::encode_form(&[("a", "x&y=z/+ é"), ("b", "1")]),
            "a=x%26y%3Dz%2F%2B+%C3%A9&b=1"
        );
    }
}
