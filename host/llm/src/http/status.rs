//! The meaning of an error status: whether the same call may succeed later, and what the user can do.

use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use syrch_core::ports::Retry;

/// The header with a delay in milliseconds that some endpoints send with `Retry-After`.
const RETRY_AFTER_MS: &str = "retry-after-ms";
/// The longest delay that is accepted.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3_600);
/// The shortest delay that an endpoint can ask for: a delay of zero means that the call is to be made in another form.
const SHORTEST: Duration = Duration::from_millis(1);
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
    match delay(headers, SystemTime::now()) {
        _ if !is_passing => Retry::No,
        Some(delay) => Retry::After(delay),
        None => Retry::Yes,
    }
}

/// The delay that the headers ask for: `Retry-After` in seconds or as a date (RFC 9110, 10.2.3), or in milliseconds.
fn delay(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let milliseconds = text(RETRY_AFTER_MS).and_then(|text| span(text, 1e-3));
    milliseconds.or_else(|| after(text(RETRY_AFTER.as_str())?, now)).map(|delay| delay.max(SHORTEST))
}

fn after(text: &str, now: SystemTime) -> Option<Duration> {
    let date = || {
        let date = httpdate::parse_http_date(text).ok()?;
        Some(date.duration_since(now).unwrap_or_default()).filter(|delay| *delay <= LONGEST)
    };
    span(text, 1.0).or_else(date)
}

/// A count of units, each of that many seconds.
fn span(text: &str, unit: f64) -> Option<Duration> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let count: f64 = is_number.then(|| text.parse().ok())??;
    Duration::try_from_secs_f64(count * unit).ok().filter(|delay| *delay <= LONGEST)
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
    use proptest::prelude::*;
    use reqwest::header::HeaderValue;

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap())).collect()
    }

    #[test]
    fn delays_come_in_seconds_milliseconds_and_dates() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let read = |pairs: &[(&'static str, &str)]| delay(&headers(pairs), now).map(|delay| delay.as_millis());
        assert_eq!(read(&[("retry-after", "120")]), Some(120_000));
        assert_eq!(read(&[("retry-after", " 1.5 ")]), Some(1_500));
        assert_eq!(read(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")]), Some(30_000));
        assert_eq!(read(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]), Some(1));
        assert_eq!(read(&[("retry-after", "0")]), Some(1));
        assert_eq!(read(&[("retry-after", "9"), ("retry-after-ms", "250")]), Some(250));
        assert_eq!(read(&[("retry-after", "9"), ("retry-after-ms", "soon")]), Some(9_000));
        for none in
            ["", "soon", "-1", "nan", "inf", "1e3", "1.2.3", "99999999999999999999", "Sun, 06 Nov 2994 08:49:37 GMT"]
        {
            assert_eq!(read(&[("retry-after", none)]), None, "{none}");
        }
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

    proptest! {
        #[test]
        fn no_header_panics_or_asks_for_an_age(text in "[ -~]{0,40}", milliseconds in "[0-9.a-z]{0,30}") {
            let pairs = headers(&[("retry-after", text.as_str()), ("retry-after-ms", milliseconds.as_str())]);
            if let Some(delay) = delay(&pairs, SystemTime::UNIX_EPOCH) {
                prop_assert!((SHORTEST..=LONGEST).contains(&delay));
            }
        }
    }
}
