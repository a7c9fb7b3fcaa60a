//! Items that the crate `syrch-grading` needs beyond the public interface. No other program should
//! use them: they may change with every version.

pub use crate::knowledge::{BuiltIndex, TermsOf};
pub use crate::open::{asks_endpoint, check_prices};
pub use crate::record::{lasting, written};
pub use crate::rests_on::{BASIS, Basis, departure, model_name, rests_on};
