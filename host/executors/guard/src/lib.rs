//! What engines share: a linear pre-lexer, the resolution of names against a catalog, the splicing of finished tasks into a statement, and
//! the index of values. It reads text and values and does no I/O; whether a statement may run is for the engine's own guard
//! to say.

mod facts;
mod lex;
pub mod postgres;
mod prelex;
mod splice;
mod stack;
pub mod values;
mod verb;

pub use facts::{Unresolved, facts};
pub use lex::{Kind, LexError, Token, lex};
pub use postgres::{Admitted, Granted, admit};
pub use prelex::{Bounds, prelex};
pub use splice::{Spliced, compose, splice};
