//! The rule when a task may start, and the message when it never can.

use syrch_core::{Ending, Join, Task, text};

use crate::check::escape_name;

/// The most bytes of a failure's own message within a reason; a reason has at most `REASON`.
const WORDS: usize = 256;
const REASON: usize = 1024;

/// The decision whether a task may start, given its dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A dependency must end first.
    Wait,
    /// The task may start.
    Start,
    /// The task's join cannot be satisfied any more.
    Never,
}

/// Returns the number of the `total` dependencies that must have succeeded.
pub(crate) fn needed(join: Join, total: usize) -> usize {
    match join {
        Join::AllOf => total,
        Join::AnyOf => total.min(1),
        Join::AtLeast(wanted) => usize::try_from(wanted).unwrap_or(usize::MAX),
    }
}

/// Decides by how many of the dependencies succeeded and how many did not.
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

/// Returns the reason why a dependency does not count; `root` is the reason why it was skipped
/// itself. `None` when it succeeded.
pub(crate) fn blame(id: &str, ending: &Ending, root: Option<&str>) -> Option<String> {
    match ending {
        Ending::Solved | Ending::Empty => None,
        Ending::Failed(failure) => {
            Some(format!("`{id}` failed: {}", text::clip(&failure.message, WORDS)))
        }
        Ending::Skipped(_) => Some(root.map_or_else(
            || format!("`{id}` was skipped"),
            |root| format!("`{id}` was skipped, since {root}"),
        )),
        Ending::Cancelled => Some(format!("`{id}` was cancelled")),
        Ending::Other(name) => Some(format!("`{id}` ended as `{}`", escape_name(name))),
    }
}

/// The message of a join for the dependencies that do not count.
pub(crate) fn reason(join: Join, blames: &[String]) -> String {
    let all = blames.join("; ");
    let reason = match join {
        Join::AllOf => blames.first().cloned().unwrap_or_default(),
        Join::AnyOf => format!("no dependency ended well: {all}"),
        Join::AtLeast(wanted) => format!("fewer than {wanted} dependencies can end well: {all}"),
    };
    text::clip(&reason, REASON).to_owned()
}
