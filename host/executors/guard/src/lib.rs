//! The common parts of engines: a linear pre-lexer, the admission of statements by an allow-list
//! for engines that cannot refuse by themselves, the first check of the verified optimizer, the
//! resolution of names against a catalog, the splicing of finished tasks into a statement, and the
//! index of values. It reads text and values and does no I/O.

pub mod admission;
mod carry;
pub mod cells;
pub mod deterministic;
mod facts;
mod grammar;
mod lex;
mod pipeline;
mod prelex;
mod read;
pub mod sets;
mod splice;
mod stack;
pub mod values;
mod verb;

pub use admission::{Admitted, Granted, admit};
pub use facts::{Unresolved, facts, with_single_quotes};
pub use lex::{Kind, LexError, Token, lex};
pub use pipeline::Guard;
pub use prelex::Bounds;
pub(crate) use prelex::prelex;
pub use splice::Spliced;
pub(crate) use splice::splice;
