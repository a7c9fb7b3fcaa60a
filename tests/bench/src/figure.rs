//! One line of the table: what was measured, what it may be at worst, and whether it is.

/// The worst value that a figure may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bound {
    /// No more than that.
    AtMost(f64),
    /// No less than that.
    AtLeast(f64),
    /// Strictly more than that.
    Above(f64),
}

/// The verdict on a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Its bound is met.
    Met,
    /// Its bound is missed.
    Missed,
    /// It could not be measured.
    Unmeasured,
    /// It has no bound.
    Reported,
}

/// One measured number with its bound, which is a row of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    what: String,
    /// The number, or why there is none.
    measured: Result<f64, String>,
    unit: &'static str,
    bound: Option<Bound>,
    note: String,
}

impl Figure {
    /// A figure without a bound. The unit stands behind the number; `×` is a ratio.
    pub(crate) fn new(what: impl Into<String>, measured: f64, unit: &'static str) -> Self {
        Self { what: what.into(), measured: Ok(measured), unit, bound: None, note: String::new() }
    }

    /// A figure that could not be measured, and why.
    pub(crate) fn without_measure(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            measured: Err(why.into()),
            unit: "",
            bound: None,
            note: String::new(),
        }
    }

    /// It may be no more than that.
    pub(crate) fn at_most(self, bound: f64) -> Self {
        Self { bound: Some(Bound::AtMost(bound)), ..self }
    }

    /// It may be no less than that.
    pub(crate) fn at_least(self, bound: f64) -> Self {
        Self { bound: Some(Bound::AtLeast(bound)), ..self }
    }

    /// It must be more than that.
    pub(crate) fn above(self, bound: f64) -> Self {
        Self { bound: Some(Bound::Above(bound)), ..self }
    }

    /// Says what else was seen.
    pub(crate) fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }

    /// Returns the verdict on the figure. A number that is none misses its bound.
    pub(crate) fn verdict(&self) -> Verdict {
        let is_met = match (&self.measured, self.bound) {
            (Err(_), _) => return Verdict::Unmeasured,
            (Ok(_), None) => return Verdict::Reported,
            (Ok(measured), Some(Bound::AtMost(bound))) => *measured <= bound,
            (Ok(measured), Some(Bound::AtLeast(bound))) => *measured >= bound,
            (Ok(measured), Some(Bound::Above(bound))) => *measured > bound,
        };
        if is_met { Verdict::Met } else { Verdict::Missed }
    }

    /// The cells of its row: figure, measured, bound, ratio and verdict.
    pub(crate) fn cells(&self) -> [String; 4] {
        let what = if self.note.is_empty() {
            self.what.clone()
        } else {
            format!("{} ({})", self.what, self.note)
        };
        let number = |value: f64| {
            format!("{} {}", number(value, self.unit), self.unit).trim_end().to_owned()
        };
        let measured =
            self.measured.as_ref().map_or_else(|_| "–".to_owned(), |measured| number(*measured));
        let bound = match self.bound {
            Some(Bound::AtMost(bound)) => format!("≤ {}", number(bound)),
            Some(Bound::AtLeast(bound)) => format!("≥ {}", number(bound)),
            Some(Bound::Above(bound)) => format!("> {}", number(bound)),
            None => String::new(),
        };
        let ratio = match (&self.measured, self.bound) {
            (
                Ok(measured),
                Some(Bound::AtMost(bound) | Bound::AtLeast(bound) | Bound::Above(bound)),
            ) => {
                format!("{:.2}", measured / bound)
            }
            _ => String::new(),
        };
        let verdict = match (self.verdict(), &self.measured) {
            (Verdict::Met, _) => format!("{ratio} met"),
            (Verdict::Missed, _) => format!("**{ratio} missed**"),
            (_, Err(why)) => format!("**not measured**: {why}"),
            _ => String::new(),
        };
        [what, measured, bound, verdict]
    }
}

/// Three digits or more; ratios have three behind the point, since some bounds lie close to 1.
fn number(value: f64, unit: &str) -> String {
    match value.abs() {
        _ if unit == "×" => format!("{value:.3}"),
        size if size < 9.995 => format!("{value:.2}"),
        size if size < 99.95 => format!("{value:.1}"),
        _ => group_thousands(value),
    }
}

/// A whole number with commas between the thousands.
fn group_thousands(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut out = String::from(if value < 0.0 { "-" } else { "" });
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_itself_is_good_and_no_number_is_not() {
        fn figure(measured: f64) -> Figure {
            Figure::new("f", measured, "ms")
        }
        assert_eq!(figure(10.0).at_most(10.0).verdict(), Verdict::Met);
        assert_eq!(figure(10.01).at_most(10.0).verdict(), Verdict::Missed);
        assert_eq!(figure(4.0).at_least(4.0).verdict(), Verdict::Met);
        assert_eq!(figure(3.9).at_least(4.0).verdict(), Verdict::Missed);
        assert_eq!(figure(1.0).above(1.0).verdict(), Verdict::Missed);
        assert_eq!(figure(1.01).above(1.0).verdict(), Verdict::Met);
        assert_eq!(figure(f64::NAN).at_most(10.0).verdict(), Verdict::Missed);
        assert_eq!(figure(1.0).verdict(), Verdict::Reported);
        assert_eq!(
            Figure::without_measure("f", "no python").at_least(4.0).verdict(),
            Verdict::Unmeasured
        );
    }

    #[test]
    fn a_missed_bound_is_marked_and_a_number_is_readable() {
        let cells = Figure::new("schema", 31.5, "ms").at_most(30.0).note("30 runs").cells();
        assert_eq!(cells, ["schema (30 runs)", "31.5 ms", "≤ 30.0 ms", "**1.05 missed**"]);
        assert_eq!(Figure::new("rows", 1_234_567.8, "rows/s").cells()[1], "1,234,568 rows/s");
        assert_eq!(Figure::new("pace", 123.4, "").cells()[1], "123");
        assert_eq!(
            Figure::new("ratio", 1.04999, "×").at_most(1.05).cells()[1..],
            ["1.050 ×", "≤ 1.050 ×", "1.00 met"]
        );
        assert_eq!(
            Figure::without_measure("rows", "no pandas").cells(),
            ["rows", "–", "", "**not measured**: no pandas"]
        );
    }
}
