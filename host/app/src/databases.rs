//! Databases: the engines, what an address names, how a database is opened, and how one is
//! recognised again.

pub use crate::content_digest::content_digest;
pub use crate::executors::{
    Condition, Copied, CopyRequest, Executor, FileEntry, MakeCopy, ServerEntry, ServerReport,
    database_files, database_name, database_of_script, database_path, file_digest,
    is_database_file, suffixes, suite_databases,
};
pub use crate::open::{
    doubting_within, inspect_server, open_database, role_sql, run_as_answer, with_doubts,
};
pub use crate::quotes::with_single_quotes;
