//! Recall and precision of tables and columns, over questions (macro) and over all of them together
//! (micro).

use std::collections::BTreeSet;

/// The counts of names that questions needed, that were shown, and both.
#[derive(Debug, Default, Clone)]
pub(crate) struct Figures {
    questions: usize,
    needed: usize,
    shown: usize,
    both: usize,
    recalls: f64,
    precisions: f64,
}

impl Figures {
    pub(crate) fn add(&mut self, needed: &BTreeSet<String>, shown: &BTreeSet<String>) {
        let both = needed.intersection(shown).count();
        let share = |of: usize| if of == 0 { 1.0 } else { both as f64 / of as f64 };
        self.questions += 1;
        self.needed += needed.len();
        self.shown += shown.len();
        self.both += both;
        self.recalls += share(needed.len());
        self.precisions += share(shown.len());
    }

    pub(crate) fn recall(&self) -> f64 {
        self.both as f64 / self.needed.max(1) as f64
    }

    pub(crate) fn line(&self, name: &str) -> String {
        let precision = self.both as f64 / self.shown.max(1) as f64;
        let count = self.questions.max(1) as f64;
        let recalls = self.recalls / count;
        let precisions = self.precisions / count;
        fn f1(recall: f64, precision: f64) -> f64 {
            2.0 * recall * precision / (recall + precision).max(f64::MIN_POSITIVE)
        }
        format!(
            "{name:<28} {:>4} questions  micro: recall {:.4} precision {precision:.4} f1 {:.4}   \
             macro: recall {recalls:.4} precision {precisions:.4} f1 {:.4}   shown {:.1}",
            self.questions,
            self.recall(),
            f1(self.recall(), precision),
            f1(recalls, precisions),
            self.shown as f64 / count,
        )
    }
}
