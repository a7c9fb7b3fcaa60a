//! Runs over a suite: which items are executed in which order, what is written, and how a killed
//! run is resumed.

mod board;
mod changed;
mod engine;
mod folder;
mod graded;
mod header;
mod line;
mod merge;
mod options;
mod plan;
mod progress;
mod read;
mod runs;
#[cfg(test)]
mod tests;

pub use changed::find_changes;
pub use engine::execute;
pub use folder::{HEADER, RunFolder, is_going_on, item_journal, read_header};
pub use graded::{Cost, End, Graded, Judged, Judgement, TurnOf};
pub use header::{Arm, Header, PluginOfArm, RUN_FORMAT, SuiteOfRun};
pub use line::Early;
pub use merge::{Hole, MergeError, Merged, Missing, merge};
pub use options::{Answered, Dropped, Finished, Options, StopEarly, Stopped, SystemUnderTest};
pub use plan::{Item, Plan};
pub use progress::{ArmProgress, Observer, Progress, Resumed, Silent};
pub use read::{EarlierTries, RunRecord, read};
pub use runs::{RunEntry, RunSummary, Runs};
pub use syrch_suites::run::{
    DOCUMENT, Fault, RunBudgets, RunError, Shard, ShardError, UsedUp, Wave, read_within,
};
