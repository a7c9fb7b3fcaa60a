//! Items that the crate `syrch-grading` needs beyond the public interface. No other program should
//! use them: they may change with every version.

pub use crate::knowledge::{BuiltIndex, TermsOf};
pub use crate::open::{asks_endpoint, check_prices};
pub use crate::record::{journal_settings, lasting};
pub use crate::rests_on::{BASIS, Basis, departure, model_name, rests_on};
