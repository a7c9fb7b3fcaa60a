//! The sections of the report on a run.

syrch_report::sections! {
    /// A section of the report on a run, with its keys in `syrch.benchmark/1` and
    /// `syrch.compare/1`. A renderer that shows a section elsewhere, or not at all, says so in its
    /// `match`. The CSV and Parquet files hold [`Section::Answers`] alone.
    pub enum Section {
        /// The main result: the share of right answers, or a sentence for each pair of arms.
        Verdict: ["right", "of", "excluded", "share", "interval", "band", "pairs"],
        /// The limits of the figures: simulated answers, missing answers, warnings.
        Notes: ["simulated", "partial", "warnings"],
        /// The suite and the comparison rule.
        Suite: ["suite", "rule"],
        /// Of one arm: right answers under each rule, and how near and how quick the answers are.
        RightAnswers: [
            "rules",
            "soft_f1",
            "r_ves",
            "timed_repeats",
            "origins",
            "conversations",
            "all_right",
        ],
        /// Of several arms: the figures of each.
        Arms: ["arms"],
        /// Of several arms: those that no other beats in right answers without costing more.
        Pareto: ["pareto"],
        /// Of several arms: the paired difference of every two.
        Pairs: ["pairs"],
        /// The ends of the searches, and the classes of their errors.
        Ends: ["ends", "outcomes", "errors", "arms"],
        /// Of one arm: calls, tokens, money and time.
        Costs: ["costs"],
        /// Of one arm: the questions that took the most tokens, and the failed ones that took the
        /// most calls and the most time.
        Expensive: ["results"],
        /// Of every two arms: what one more right answer costs.
        OneMoreRight: ["pairs"],
        /// Of every two arms: the difference under each rule.
        RulesOfPairs: ["pairs"],
        /// Right answers, or the differences of pairs, by the fields of the questions.
        Slices: ["slices", "pairs"],
        /// The calibration: whether confidences are shares of right answers.
        Confidence: ["calibration", "arms"],
        /// Judges against the truth.
        Judges: ["judges", "arms"],
        /// Right answers within a number of model calls a question.
        Budget: ["budget_curve", "equal_budget"],
        /// Of every two arms: the questions that only one of them answers right.
        Flipped: ["pairs"],
        /// Every answer, one row each.
        Answers: ["results"],
        /// The plugins and settings of each arm with what plugins that are not built in wanted,
        /// were granted and used, the version of the host, and the id of the run.
        Setup: ["schema", "host", "run", "arm", "arms", "access"],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use syrch_report::Keys;

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
        // their origin is not known, they are no conversations, and all plugins are built in: all
        // are left out then.
        let left_out = ["band", "judges", "all_right", "origins", "conversations", "access"];
        let written: BTreeSet<&str> = written.chain(left_out).collect();
        let held: BTreeSet<&str> =
            Section::ALL.iter().flat_map(|section| section.keys()).copied().collect();
        assert_eq!(held, written);
    }
}
