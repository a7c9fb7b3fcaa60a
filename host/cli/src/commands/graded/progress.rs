//! Shows the progress of a run over a suite.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use syrch_grading::Beginning;
use syrch_grading::grade::run::{Graded, Observer, Progress, Resumed};
use syrch_report::words::count;

use super::carry_out::continuation;
use crate::console::Console;

/// Writes the progress of a run to the console.
pub(crate) struct RunWatch<'a> {
    pub(super) console: Arc<Console>,
    /// Gets the folder of the run.
    pub(super) started: &'a (dyn Fn(&Path) + Sync),
    /// True if the user named the folder of the run.
    pub(super) is_in_folder: bool,
}

impl Beginning for RunWatch<'_> {
    fn on_start(&self, run: &str, folder: &Path) {
        (self.started)(folder);
        tracing::info!(target: "syrch.run", folder = %folder.display(), "run {run}");
        let on = continuation(run, self.is_in_folder);
        self.console.note(&format!("run {run}: if it is cut short, {on}"));
    }
}

impl Observer for RunWatch<'_> {
    fn on_resume(&self, resumed: &Resumed) {
        let Resumed { done, again, torn } = *resumed;
        if done > 0 {
            self.console.note(&describe_done(done, again));
        }
        match torn {
            0 => {}
            1 => self.console.note("the last byte of its results was cut off, and is removed"),
            torn => {
                self.console.note(&format!(
                    "the last {torn} bytes of its results were cut off, and are removed"
                ));
            }
        }
    }

    fn progress(&self, progress: &Progress, last: &Graded) {
        tracing::info!(
            target: "syrch.run", "`{}` is done by `{}`: {:?}", last.id, last.arm, last.end
        );
        self.console.progress(&line(progress));
    }
}

/// The answers that a resumed run has already, in words.
fn describe_done(done: u64, again: u64) -> String {
    let are = |count: u64| if count == 1 { "is" } else { "are" };
    let again = match (done, again) {
        (_, 0) => String::new(),
        (1, _) => ", but failed and is made again".to_owned(),
        (_, again) => format!(", {again} of them failed and {} made again", are(again)),
    };
    format!("{done} {} done already{again}", are(done))
}

/// Arms whose shares are shown at most.
const SHOWN: usize = 4;

/// `12/100 · 83.3 % right · 1 failed · 24 calls · $0.0012 · 1 min 20 s left`; of several arms each
/// one's share.
fn line(progress: &Progress) -> String {
    fn percent_right(right: u64, of: u64) -> String {
        match of {
            0 => "– % right".to_owned(),
            of => format!("{:.1} % right", right as f64 * 100.0 / of as f64),
        }
    }
    let mut parts = vec![format!("{}/{}", progress.done, progress.of)];
    match progress.arms.as_slice() {
        [one] => parts.push(percent_right(one.right, one.of)),
        // A grid's cells, or an arm under many seeds, would fill the screen.
        many if many.len() > SHOWN => {}
        arms => parts.extend(
            arms.iter().map(|arm| format!("{} {}", arm.arm, percent_right(arm.right, arm.of))),
        ),
    }
    parts.extend((progress.failed > 0).then(|| format!("{} failed", progress.failed)));
    parts.push(count(progress.calls, "call"));
    parts.extend(progress.usd.filter(|usd| *usd > 0.0).map(|usd| format!("${usd:.4}")));
    parts.extend(progress.left.map(|left| format!("{} left", duration(left))));
    parts.join(" · ")
}

/// `45 s`, `2 min 5 s`, `3 h 20 min`.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64().ceil() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use syrch_grading::grade::run::ArmProgress;

    use super::*;

    #[test]
    fn counts_have_singular_and_plural() {
        assert_eq!(describe_done(5, 0), "5 are done already");
        assert_eq!(describe_done(5, 1), "5 are done already, 1 of them failed and is made again");
        assert_eq!(describe_done(1, 0), "1 is done already");
        assert_eq!(describe_done(1, 1), "1 is done already, but failed and is made again");
        let progress = Progress { done: 1, of: 1, calls: 1, ..Progress::default() };
        assert_eq!(line(&progress), "1/1 · 1 call");
    }

    #[test]
    fn the_line_has_counts_shares_costs_and_time() {
        let arm = |name: &str, right, of| ArmProgress { arm: name.into(), right, of };
        let mut progress = Progress {
            done: 12,
            of: 100,
            arms: vec![arm("a", 0, 0)],
            calls: 24,
            ..Progress::default()
        };
        assert_eq!(line(&progress), "12/100 · – % right · 24 calls");
        progress.arms = vec![arm("a", 10, 12)];
        (progress.failed, progress.usd, progress.left) =
            (1, Some(0.0012), Some(Duration::from_millis(79_100)));
        assert_eq!(
            line(&progress),
            "12/100 · 83.3 % right · 1 failed · 24 calls · $0.0012 · 1 min 20 s left"
        );
        progress.arms.push(arm("b", 6, 12));
        assert!(line(&progress).starts_with("12/100 · a 83.3 % right · b 50.0 % right · "));
        assert_eq!(
            (duration(Duration::from_secs(12_000)), duration(Duration::ZERO)),
            ("3 h 20 min".into(), "0 s".into())
        );
    }
}
