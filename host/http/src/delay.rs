//! The time that a server asks to wait before a request is made again.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// The header with a delay in milliseconds that some endpoints send with `Retry-After`.
const RETRY_AFTER_MS: &str = "retry-after-ms";
/// The longest delay that is accepted.
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3_600);
/// The shortest delay that an endpoint can ask for: a delay of zero means that the call is to be
/// made in another form.
const SHORTEST: Duration = Duration::from_millis(1);

/// The delay that the headers ask for: `Retry-After` in seconds or as a date (RFC 9110, 10.2.3), or
/// in milliseconds.
#[must_use]
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let milliseconds = text(RETRY_AFTER_MS).and_then(|text| span(text, 1e-3));
    milliseconds
        .or_else(|| after(text(RETRY_AFTER.as_str())?, now))
        .map(|delay| delay.max(SHORTEST))
}

fn after(text: &str, now: SystemTime) -> Option<Duration> {
    span(text, 1.0).or_else(|| {
        let date = httpdate::parse_http_date(text).ok()?;
        Some(date.duration_since(now).unwrap_or_default()).filter(|delay| *delay <= LONGEST)
    })
}

/// A count of units, each of that many seconds.
fn span(text: &str, unit: f64) -> Option<Duration> {
    let is_number =
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let count: f64 = is_number.then(|| text.parse().ok())??;
    Duration::try_from_secs_f64(count * unit).ok().filter(|delay| *delay <= LONGEST)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reqwest::header::HeaderValue;

    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    #[test]
    fn delays_come_in_seconds_milliseconds_and_dates() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let read = |pairs: &[(&'static str, &str)]| {
            retry_after(&headers(pairs), now).map(|delay| delay.as_millis())
        };
        assert_eq!(read(&[("retry-after", "120")]), Some(120_000));
        assert_eq!(read(&[("retry-after", " 1.5 ")]), Some(1_500));
        assert_eq!(read(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")]), Some(30_000));
        assert_eq!(read(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]), Some(1));
        assert_eq!(read(&[("retry-after", "0")]), Some(1));
        assert_eq!(read(&[("retry-after", "9"), ("retry-after-ms", "250")]), Some(250));
        assert_eq!(read(&[("retry-after", "9"), ("retry-after-ms", "soon")]), Some(9_000));
        for none in [
            "",
            "soon",
            "-1",
            "nan",
            "inf",
            "1e3",
            "1.2.3",
            "99999999999999999999",
            "Sun, 06 Nov 2994 08:49:37 GMT",
        ] {
            assert_eq!(read(&[("retry-after", none)]), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn no_header_panics_or_asks_for_an_age(
            text in "[ -~]{0,40}", milliseconds in "[0-9.a-z]{0,30}"
        ) {
            let pairs = headers(
                &[("retry-after", text.as_str()), ("retry-after-ms", milliseconds.as_str())]
            );
            if let Some(delay) = retry_after(&pairs, SystemTime::UNIX_EPOCH) {
                prop_assert!((SHORTEST..=LONGEST).contains(&delay));
            }
        }
    }
}
