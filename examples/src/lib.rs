//! Programs of a third party: the example database of a shop, the questions about it, and a first
//! program that uses the library.

mod data;
pub mod questions;
mod random;
pub mod shop;

pub use questions::{Question, questions};
pub use shop::make_shop;
