//! Cases of plugins: one call of one role, with a database, a scripted model and all else that the
//! role may ask for, and what the call gives.
//!
//! A case is a YAML or JSON file, see [`Case`]. [`run`] makes its call by the runtime, under the
//! limits of a search, and returns what the role returned together with every port call that it
//! made, as one document. The document is the same on every machine and for plugins of every
//! language that do the same, so that a golden file beside the case can hold it: see [`golden`].

mod arguments;
mod calls;
mod canonical;
mod case;
mod diff;
mod error;
mod evaluate;
mod fill;
pub mod folder;
pub mod golden;
mod model;
mod run;

pub use case::{Case, input, role_of};
pub use error::{CaseError, RunError};
pub use run::{Base, Ran, run};
