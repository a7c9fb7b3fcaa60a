//! Items that the crates `syrch-grading` and `syrch-optimizing` need beyond the public interface.
//! No other program should use them: they may change with every version.

pub use crate::journal_settings::{journal_settings, lasting_settings};
pub use crate::knowledge::{BuiltIndex, TermsOf};
pub use crate::open::{asks_endpoint, check_prices};
pub use crate::record::read_end;
pub use crate::rests_on::{BASIS, Basis, departure, model_name, rests_on};
pub use crate::rewriting::{RewriterCalls, RewriterRun, RewritingHost};
pub use crate::search::run_id;
