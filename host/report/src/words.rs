//! Figures as texts for people.

use chrono::{DateTime, Utc};

pub use syrch_core::text::count;

/// The text that stands for a figure that is not known.
pub const UNKNOWN: &str = "–";

/// A figure as it is written.
#[must_use]
pub fn figure<T: ToString>(known: Option<T>) -> String {
    known.map_or_else(|| UNKNOWN.to_owned(), |known| known.to_string())
}

/// A part of one in per cent, `85.2 %`.
#[must_use]
pub fn percent(part: Option<f64>) -> String {
    figure(part.map(|part| format!("{:.1} %", part * 100.0)))
}

/// A part of one as points of a hundred, `4.2` or `−4.2`.
#[must_use]
pub fn points(part: f64) -> String {
    let shown = format!("{:.1}", part * 100.0);
    if shown == "-0.0" { "0.0".to_owned() } else { shown.replace('-', "−") }
}

/// The points with a sign, `+4.2`.
#[must_use]
pub fn points_with_sign(part: f64) -> String {
    let shown = points(part);
    let sign = if part > 0.0 && shown != "0.0" { "+" } else { "" };
    format!("{sign}{shown}")
}

/// A number with so many decimals.
#[must_use]
pub fn decimal(number: Option<f64>, places: usize) -> String {
    figure(number.filter(|number| number.is_finite()).map(|number| format!("{number:.places$}")))
}

/// Dollars, with as many decimals as small sums need.
#[must_use]
pub fn dollars(usd: Option<f64>) -> String {
    match usd.filter(|usd| usd.is_finite()) {
        None => UNKNOWN.to_owned(),
        Some(usd) if usd == 0.0 || usd.abs() >= 100.0 => format!("${usd:.0}"),
        Some(usd) if usd.abs() >= 0.1 => format!("${usd:.2}"),
        Some(usd) => {
            // Three digits that mean something.
            let places = (2.0 - usd.abs().log10().floor()).clamp(3.0, 12.0) as usize;
            format!("${}", format!("{usd:.places$}").trim_end_matches('0').trim_end_matches('.'))
        }
    }
}

/// A time in milliseconds, `850 ms` or `1.25 s`.
#[must_use]
pub fn time(time_ms: Option<f64>) -> String {
    match time_ms {
        None => UNKNOWN.to_owned(),
        Some(time) if time < 10.0 => format!("{time:.1} ms"),
        Some(time) if time < 1000.0 => format!("{time:.0} ms"),
        Some(time) => format!("{:.2} s", time / 1000.0),
    }
}

/// A time in microseconds as text, in seconds.
#[must_use]
pub fn seconds(microseconds: u64) -> String {
    format!("{:.2} s", microseconds as f64 / 1e6)
}

/// A time such as `0.42 ms`, `12.3 ms`, `412 ms`.
#[must_use]
pub fn milliseconds(time: f64) -> String {
    format!("{} ms", three(time))
}

/// A moment as `2026-01-31 08:05:00 UTC`, from milliseconds since 1970; one that no calendar holds
/// as the last second of the calendar.
#[must_use]
pub fn moment(milliseconds: u64) -> String {
    let milliseconds = i64::try_from(milliseconds).unwrap_or(i64::MAX);
    let moment = DateTime::from_timestamp_millis(milliseconds).unwrap_or(DateTime::<Utc>::MAX_UTC);
    moment.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// A number to three digits that mean something; whole from 100 on.
#[must_use]
pub fn three(number: f64) -> String {
    match number.abs() {
        size if !size.is_finite() => UNKNOWN.to_owned(),
        size if size >= 99.95 => format!("{number:.0}"),
        size if size >= 9.995 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

/// A ratio such as `3.4`, with two digits from 1 on.
#[must_use]
pub fn ratio(number: f64) -> String {
    match number.abs() {
        size if !size.is_finite() => UNKNOWN.to_owned(),
        size if size >= 9.95 => format!("{number:.0}"),
        size if size >= 0.995 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

/// A number of bytes as people read it, `1.5 KiB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut unit = "";
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    if unit.is_empty() { count(bytes, "byte") } else { format!("{value:.1} {unit}") }
}

/// A number with commas between its thousands.
#[must_use]
pub fn group_thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun, and commas between its thousands.
#[must_use]
pub fn count_grouped(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", group_thousands(number), if number == 1 { "" } else { "s" })
}

/// A count with words whose plural is another word.
#[must_use]
pub fn count_either(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The text with a capital, as a sentence begins.
#[must_use]
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let all = [
            (0.4234, "0.42"),
            (9.996, "10.0"),
            (12.34, "12.3"),
            (99.96, "100"),
            (412.4, "412"),
            (f64::NAN, "–"),
        ];
        all.iter().for_each(|(number, text)| assert_eq!(three(*number), *text));
        let ratios = [(0.5, "0.50"), (1.0, "1.0"), (3.44, "3.4"), (12.3, "12")];
        ratios.iter().for_each(|(number, text)| assert_eq!(ratio(*number), *text));
    }

    #[test]
    fn counts_have_commas_and_plurals() {
        let all = [(0, "0"), (999, "999"), (1_204, "1,204"), (1_000_000, "1,000,000")];
        all.iter().for_each(|(number, text)| assert_eq!(group_thousands(*number), *text));
        assert_eq!(count_grouped(1, "row"), "1 row");
        assert_eq!(count_grouped(1_204, "row"), "1,204 rows");
        assert_eq!(count_either(2, "try", "tries"), "2 tries");
    }

    #[test]
    fn sizes_are_short() {
        let all = [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (1 << 30, "1.0 GiB")];
        all.iter().for_each(|(bytes, text)| assert_eq!(size(*bytes), *text));
    }

    #[test]
    fn moments_are_dates() {
        assert_eq!(moment(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(moment(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(moment(1_767_225_599_999), "2025-12-31 23:59:59 UTC");
        assert_eq!(moment(4_107_542_400_000), "2100-03-01 00:00:00 UTC");
        assert!(moment(u64::MAX).ends_with(" UTC"));
    }
}
