//! Projects of plugins: writes one in any of the languages, and builds its component with the tools
//! of that language.
//!
//! The binary carries the contract, a template for each language and the sources of the SDKs, so
//! that [`new::files`] needs nothing else. [`build`] runs the language's tools on the project, and
//! nothing of that is sandboxed; the component is. [`Plan`] has what a build runs, for whoever is
//! to agree to it. A finished plugin is a [`Package`], which a registry passes on by [`push`] and
//! [`pull`].

mod archive;
mod build;
mod component;
mod contract;
mod cosign;
mod definition;
mod error;
mod files;
mod language;
mod name;
pub mod new;
mod package;
mod packed;
mod registry;
mod signature;
mod sources;

pub use build::{BuildOptions, Built, Plan, build};
pub use component::ComponentError;
pub use cosign::{Bundle, CosignKey};
pub use definition::{FILE, Project};
pub use error::Error;
pub use language::Language;
pub use name::Name;
pub use package::Package;
pub use registry::{Credentials, Pulled, Reference, pull, push};
pub use signature::{PublicKey, Signature, SigningKey, path_beside};
pub use sources::{Stale, project_of_component, stale, times};
