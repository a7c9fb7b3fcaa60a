//! The journal: one append-only file that holds every port call of a run, in the order in which calls were made and answered.
//!
//! A run's plugins learn nothing but through ports, so the journal is the whole truth: [`Tape`] plays it back, call by call in the
//! recorded order, for a strict replay; plays the beginning and goes on live, for a run that was killed; or only records. What people
//! read of a run (`tree`, `diff`) is read from the same file.

mod diff;
mod file;
mod folder;
mod read;
mod record;
mod recording;
mod stored;
mod tape;
mod tree;

pub use diff::{
    AnswerDiff, AnswerSide, CandidatePair, CandidateSide, Count, DIFF_SCHEMA, Difference, MatchedBy, TaskPair,
    TaskSide, TreeDiff,
};
pub use file::{JournalError, Writer};
pub use folder::{Entry, Folder, Unnamed, named};
pub use read::{Exchange, Journal, exchanges};
pub use record::{Ask, CallId, Event, FORMAT, Fact, Got, Header, Kept, PluginRecord, Record, StoredRows, VERSION};
pub use recording::{Again, RECORDING, Recorded, Recording, RecordingError, RecordingHeader, format_of};
pub use tape::{Divergence, Mode, Tape};
pub use tree::{
    AnswerNode, Asked, CallEnd, CandidateNode, Change, Cost, LinkedNode, ModelNode, Note, OutcomeNode, PortCall,
    RoleCall, Round, Saved, SearchTree, Shown, Status, Summary, TRACE_SCHEMA, TaskNode, TaskOrigin, What,
};
