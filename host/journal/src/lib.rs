//! The journal: one append-only file that holds every port call of a run, in the order in which
//! calls were made and answered.
//!
//! A run's plugins learn nothing but through ports, so the journal determines the run. [`EventLog`]
//! records a run, replays it in the recorded order, or replays the beginning of a killed run and
//! records from there on. What people read of a run (`tree`, `diff`) is read from the same file.

mod diff;
mod event_log;
mod file;
mod folder;
mod read;
mod record;
mod recording;
mod stored;
mod tree;

pub use diff::{
    AnswerDiff, AnswerSide, CandidatePair, CandidateSide, Count, DIFF_SCHEMA, Difference,
    MatchedBy, TaskPair, TaskSide, TreeDiff,
};
pub use event_log::{Divergence, EventLog, Listener, Mode};
pub use file::{JournalError, Writer};
pub use folder::{Entry, Folder, Unnamed, find_run};
pub use read::{Exchange, Journal, exchanges};
pub use record::{
    Ask, CallId, Choices, Defined, Event, FORMAT, Fact, Given, Got, Header, PluginRecord, Record,
    RowRetention, RunKind, StoredRows, VERSION, Verified,
};
pub use recording::{
    Again, RECORDING, Recorded, Recording, RecordingError, RecordingHeader, format_of,
};
pub use tree::{
    AnswerNode, Answered, Asked, CallEnd, CandidateNode, Change, Cost, LinkedNode, ModelNode, Note,
    OutcomeNode, PortCall, RoleCall, Round, Saved, SearchTree, Shown, Status, Summary,
    TRACE_SCHEMA, TaskNode, TaskOrigin, Visit, What,
};
