//! Reads semantics files: parses the YAML with its places, admits SQL by lists, and resolves names,
//! so that mistakes are reported before a question is asked.

mod document;
mod draft;
mod expression;
mod joins;
mod metrics;
mod names;
mod problem;
mod resolve;
#[cfg(test)]
mod tests;

pub use document::BOUNDS;
pub use expression::FUNCTIONS;
pub(crate) use expression::{Scope, admit, admit_measure, arguments, is_plain_column, parse};
pub(crate) use names::stems;
pub use problem::Problem;

use crate::Semantics;

/// The text of a semantics file with the name by which problems and answers refer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The name.
    pub file: String,
    /// The content.
    pub text: String,
}

impl Semantics {
    /// Reads semantics files, whose tables, joins and metrics become one whole: each may refer to
    /// what another declares. Nothing is known of the database yet; [`check`](crate::check)
    /// compares names and types with its catalog.
    ///
    /// # Errors
    /// Everything that is wrong, at most 100 problems, each with its place.
    pub fn read(sources: &[Source]) -> Result<Self, Vec<Problem>> {
        let mut problems = problem::Problems::default();
        let mut draft = draft::Draft::default();
        for source in sources {
            document::read(source, &mut draft, &mut problems);
        }
        let semantics = resolve::resolve(draft, &mut problems);
        if problems.is_empty() { Ok(semantics) } else { Err(problems.into_list()) }
    }
}
