//! The timings of a report: only those of the reported answers under the reported rule.

use std::collections::BTreeMap;
use std::path::Path;

use syrch_grading::Timings;
use syrch_grading::grade::report::Basis;
use syrch_grading::grade::run::RunRecord;
use syrch_report::words::count;

/// R-VES as a report shows it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Timed {
    /// By arm, in percent. Empty if the timings do not apply.
    pub(crate) r_ves: BTreeMap<String, f64>,
    /// The number of times that each pair of statements was timed.
    pub(crate) repeats: u32,
    notes: Vec<String>,
}

impl Timed {
    /// The timings of the answers of a run under a rule.
    pub(crate) fn new(timings: &Timings, record: &RunRecord, rule: &str) -> Self {
        let left_out = |why: String| Self {
            r_ves: BTreeMap::new(),
            repeats: timings.repeats,
            notes: vec![format!("left out, {why}")],
        };
        if timings.rule != rule {
            return left_out(format!(
                "for the answers that were timed are those that are right under `{}`",
                timings.rule
            ));
        }
        if !timings.is_of(record) {
            return left_out(
                "for not all of these answers were timed; the command of the run with `--resume` \
                 and `--timed` times them again"
                    .to_owned(),
            );
        }
        let own = record.header.own();
        let untimed = own
            .arms
            .iter()
            .filter_map(|arm| Some((&arm.name, timings.untimed.get(&arm.name)?.len())));
        let notes = untimed
            .filter(|(_, number)| *number > 0)
            .map(|(arm, number): (&String, usize)| {
                let are =
                    if number == 1 { "is left out, for it" } else { "are left out, for they" };
                format!(
                    "{} of `{arm}` {are} could not be timed",
                    count(number as u64, "right answer")
                )
            })
            .collect();
        Self { r_ves: timings.r_ves(), repeats: timings.repeats, notes }
    }

    /// Adds the notes on the timed pass to the warnings of the report.
    pub(crate) fn warn(&self, basis: &mut Basis) {
        self.notes.iter().for_each(|note| basis.warn_of_times(note));
    }
}

/// The timings of all parts of a run together. `None` if no part was timed.
pub(crate) fn timings<'a>(folders: impl IntoIterator<Item = &'a Path>) -> Option<Timings> {
    folders.into_iter().filter_map(Timings::read).reduce(Timings::with)
}
