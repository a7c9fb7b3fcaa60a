//! The meaning of an error status: whether the same call may succeed later, and what the user can do.

use std::time::SystemTime;

use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use syrch_core::ports::Retry;
use syrch_http::retry_after;

/// Words of errors about a quota that is used up.
const QUOTA: &str = "insufficient_quota";

/// Whether the endpoint may answer the same request later. `body` is the body of the error.
pub(super) fn retry(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Retry {
    let is_passing = match status.as_u16() {
        429 => !body.windows(QUOTA.len()).any(|window| window == QUOTA.as_bytes()),
        408 | 409 | 425 => true,
        // Not implemented, and an unsupported version of HTTP.
        501 | 505 => false,
        500..=599 => true,
        _ => false,
    };
    match retry_after(headers, SystemTime::now()) {
        _ if !is_passing => Retry::No,
        Some(delay) => Retry::After(delay),
        None => Retry::Yes,
    }
}

/// What the user can do about an error status.
pub(super) fn advice(status: StatusCode, has_key: bool, model: &str) -> String {
    match status.as_u16() {
        401 | 403 if !has_key => "it wants an API key, and none is set".to_owned(),
        401 | 403 => "check the API key".to_owned(),
        404 => format!("check the model `{model}` and the base URL"),
        408 | 429 => "the rate limit or quota is used up; wait, or lower the number of calls in flight".to_owned(),
        300..=399 => "it redirects, which is not followed; set the base URL to where it leads".to_owned(),
        529 => "the endpoint is overloaded; try again later".to_owned(),
        500..=599 => "the endpoint failed; see its own log".to_owned(),
        _ => "it does not take the request".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reqwest::header::HeaderValue;

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap())).collect()
    }

    #[test]
    fn what_passes_is_distinguished_from_what_stays() {
        let of = |status: u16, body: &str| retry(StatusCode::from_u16(status).unwrap(), &headers(&[]), body.as_bytes());
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
            assert_eq!(of(status, "slow down"), Retry::Yes, "{status}");
        }
        for status in [302, 400, 401, 403, 404, 413, 422, 501, 505] {
            assert_eq!(of(status, "no"), Retry::No, "{status}");
        }
        assert_eq!(of(429, r#"{"error":{"code":"insufficient_quota"}}"#), Retry::No);
        let after = headers(&[("retry-after", "2")]);
        assert_eq!(retry(StatusCode::TOO_MANY_REQUESTS, &after, b""), Retry::After(Duration::from_secs(2)));
        assert_eq!(retry(StatusCode::UNAUTHORIZED, &after, b""), Retry::No);
    }
}
