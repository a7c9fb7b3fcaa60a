//! When a task may start, and what it says when it never can.

use syrch_core::{Ending, Join, Task, text};

use crate::check::shown;

/// Bytes of a failure's own words within a reason, and of a reason.
const WORDS: usize = 256;
const REASON: usize = 1024;

/// What a task's dependencies allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Some dependency must end first.
    Wait,
    /// It may start.
    Start,
    /// Its join cannot be satisfied any more.
    Never,
}

/// How many of `total` dependencies have to end well.
pub(crate) fn needed(join: Join, total: usize) -> usize {
    match join {
        Join::AllOf => total,
        Join::AnyOf => total.min(1),
        Join::AtLeast(wanted) => usize::try_from(wanted).unwrap_or(usize::MAX),
    }
}

/// Judges a task by how many of its dependencies ended well and how many ended otherwise.
pub(crate) fn judge(task: &Task, good: usize, bad: usize) -> Verdict {
    let total = task.depends_on.len();
    let needed = needed(task.join, total);
    if good >= needed || (task.tolerant && good + bad == total) {
        Verdict::Start
    } else if !task.tolerant && total.saturating_sub(bad) < needed {
        Verdict::Never
    } else {
        Verdict::Wait
    }
}

/// Why a dependency was of no use; `root` is why it was skipped itself. None: it ended well.
pub(crate) fn blame(id: &str, ending: &Ending, root: Option<&str>) -> Option<String> {
    match ending {
        Ending::Solved | Ending::Empty => None,
        Ending::Failed(failure) => Some(format!("`{id}` failed: {}", text::clip(&failure.message, WORDS))),
        Ending::Skipped(_) => {
            Some(root.map_or_else(|| format!("`{id}` was skipped"), |root| format!("`{id}` was skipped, since {root}")))
        }
        Ending::Cancelled => Some(format!("`{id}` was cancelled")),
        Ending::Other(name) => Some(format!("`{id}` ended as `{}`", shown(name))),
    }
}

/// Puts the blames into the words of the join.
pub(crate) fn reason(join: Join, blames: &[String]) -> String {
    let all = blames.join("; ");
    let reason = match join {
        Join::AllOf => blames.first().cloned().unwrap_or_default(),
        Join::AnyOf => format!("no dependency ended well: {all}"),
        Join::AtLeast(wanted) => format!("fewer than {wanted} dependencies can end well: {all}"),
    };
    text::clip(&reason, REASON).to_owned()
}
