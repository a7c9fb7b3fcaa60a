//! The sections of the report on a run. Each renderer matches all of them, so the compiler names
//! every place that a new section needs.

macro_rules! sections {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A section of the report on a run. A renderer that shows a section elsewhere, or not at
        /// all, says so in its `match`. The CSV and Parquet files hold [`Section::Answers`] alone.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Section {
            $($(#[$doc])* $name,)*
        }

        impl Section {
            /// All sections in the order in which they are shown.
            pub const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

sections! {
    /// The main result: the share of right answers, or a sentence for each pair of arms.
    Verdict,
    /// The limits of the figures: simulated answers, missing answers, warnings.
    Notes,
    /// The suite and the comparison rule.
    Suite,
    /// Of one arm: right answers under each rule, and how near and how quick the answers are.
    RightAnswers,
    /// Of several arms: the figures of each.
    Arms,
    /// Of several arms: those that no other beats in right answers without costing more.
    Pareto,
    /// Of several arms: the paired difference of every two.
    Pairs,
    /// The ends of the searches, and the classes of their errors.
    Ends,
    /// Of one arm: calls, tokens, money and time.
    Costs,
    /// Of one arm: the questions that took the most tokens, and the failed ones that took the most
    /// calls and the most time.
    Expensive,
    /// Of every two arms: what one more right answer costs.
    OneMoreRight,
    /// Of every two arms: the difference under each rule.
    RulesOfPairs,
    /// Right answers, or the differences of pairs, by the fields of the questions.
    Slices,
    /// The calibration: whether confidences are shares of right answers.
    Confidence,
    /// Judges against the truth.
    Judges,
    /// Right answers within a number of model calls a question.
    Budget,
    /// Of every two arms: the questions that only one of them answers right.
    Flipped,
    /// Every answer, one row each.
    Answers,
    /// The plugins and settings of each arm, the version of the host, and the id of the run.
    Setup,
}

impl Section {
    /// The top-level keys of the JSON documents `syrch.benchmark/1` and `syrch.compare/1` that hold
    /// the section. Several sections may share a key, as all that is said of two arms is below
    /// `pairs`.
    #[must_use]
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Verdict => &["right", "of", "excluded", "share", "interval", "band", "pairs"],
            Self::Notes => &["simulated", "partial", "warnings"],
            Self::Suite => &["suite", "rule"],
            Self::RightAnswers => &[
                "rules",
                "soft_f1",
                "r_ves",
                "timed_repeats",
                "origins",
                "conversations",
                "all_right",
            ],
            Self::Arms => &["arms"],
            Self::Pareto => &["pareto"],
            Self::Pairs | Self::OneMoreRight | Self::RulesOfPairs | Self::Flipped => &["pairs"],
            Self::Ends => &["ends", "outcomes", "errors", "arms"],
            Self::Costs => &["costs"],
            Self::Slices => &["slices", "pairs"],
            Self::Confidence => &["calibration", "arms"],
            Self::Judges => &["judges", "arms"],
            Self::Budget => &["budget_curve", "equal_budget"],
            Self::Answers | Self::Expensive => &["results"],
            Self::Setup => &["schema", "host", "run", "arm", "arms"],
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::tests::made::{self, SKILLS};
    use super::super::{BenchmarkReport, CompareOptions, CompareReport};
    use super::*;

    #[test]
    fn every_key_of_the_documents_belongs_to_a_section() {
        let (header, graded) = made::run(&SKILLS, 12);
        let mut benchmark = BenchmarkReport::new(&header, &graded, "bag-v1");
        (benchmark.r_ves, benchmark.timed_repeats, benchmark.band) = (Some(1.0), Some(1), None);
        let options = CompareOptions { seed: None, resamples: 100 };
        let compare = CompareReport::new(&header, &graded, "bag-v1", &options);
        let documents =
            [serde_json::to_value(benchmark).unwrap(), serde_json::to_value(compare).unwrap()];
        let written = documents
            .iter()
            .flat_map(|document| document.as_object().unwrap().keys().map(String::as_str));
        // One seed has no band and no further tries, no statement of these answers was judged,
        // their origin is not known, and they are no conversations: all are left out then.
        let left_out = ["band", "judges", "all_right", "origins", "conversations"];
        let written: BTreeSet<&str> = written.chain(left_out).collect();
        let held: BTreeSet<&str> =
            Section::ALL.iter().flat_map(|section| section.keys()).copied().collect();
        assert_eq!(held, written);
    }
}
