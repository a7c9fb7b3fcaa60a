//! Projects of plugins: writes one in any of the languages, and builds its component with the tools
//! of that language.
//!
//! The binary carries the contract, a template for each language and the sources of the SDKs, so
//! that [`new::files`] needs nothing else. [`build`] runs the language's tools on the project. It
//! is the user's own code, so nothing here is sandboxed; the component is.

mod build;
mod component;
mod contract;
mod definition;
mod error;
mod files;
mod language;
mod name;
pub mod new;
mod packed;
mod sources;

pub use build::{BuildOptions, Built, build};
pub use component::ComponentError;
pub use definition::{FILE, Project};
pub use error::Error;
pub use language::Language;
pub use name::Name;
pub use sources::{Stale, project_of_component, stale, times};
