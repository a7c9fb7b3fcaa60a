//! Figures of the comparison with Extism: the program `extism-bench` measures it, prints its table,
//! or hands the rates to this program.

use serde::{Deserialize, Serialize};

use crate::figure::Figure;
use crate::rates::{ROUNDS, ratio};
use crate::samples::median;

/// Calls per second of each side, one number for each round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Versus {
    /// Role calls of our host.
    pub(crate) ours: Vec<f64>,
    /// The same call through Extism as it is.
    pub(crate) extism: Vec<f64>,
    /// The same call through Extism with wasmtime's pooling allocator, which has to be asked for.
    pub(crate) pooling: Vec<f64>,
    /// The versions of Extism and of its wasmtime.
    pub(crate) versions: String,
}

impl Versus {
    /// The rows of the table.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let rate = |what: &str, rates: &[f64], note: &str| {
            Figure::new(what, median(rates.to_vec()), "calls/s")
                .note(format!("{note}; median of {ROUNDS} rounds"))
        };
        let versions = &self.versions;
        let faster = |other: &[f64]| ratio(&self.ours, other);
        let ratio = Figure::new(
            "role calls against the same through Extism, in Rust",
            faster(&self.extism),
            "×",
        );
        vec![
            rate("role calls of the example `steps`, in Rust", &self.ours, "a fresh instance each"),
            rate("the same call through Extism", &self.extism, versions),
            rate("the same call through Extism with pooling", &self.pooling, versions),
            ratio.above(1.0).note(format!("{:.2} × with pooling", faster(&self.pooling))),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_missed_where_both_are_equally_fast() {
        let versus = |ours: f64| Versus {
            ours: vec![ours],
            extism: vec![100.0],
            pooling: vec![50.0],
            versions: "extism 1".to_owned(),
        };
        let last = |ours| versus(ours).figures().pop().unwrap().cells();
        assert_eq!(last(100.0)[1..], ["1.000 ×", "> 1.000 ×", "**1.00 missed**"]);
        assert_eq!(last(300.0)[1..], ["3.000 ×", "> 1.000 ×", "3.00 met"]);
        assert!(last(300.0)[0].ends_with("(6.00 × with pooling)"));
    }
}
