//! Writes the values and codecs of the SDKs from the contract in `wit/`. The peculiarities of a
//! language (names, words for cases, classes for cases) are in tables at the head of its module.

mod c;
mod contract;
mod go;
mod js;
mod python;
mod rules;
mod text;

use std::path::{Path, PathBuf};

use contract::Contract;

/// An error of the generator.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The contract cannot be read.
    #[error("cannot read the contract: {0:#}")]
    Contract(anyhow::Error),
    /// The contract has something that no SDK can express yet.
    #[error("the generator does not know {0}: add it to sdk/generate")]
    Unsupported(String),
    /// A table of the generator names something that the contract does not have.
    #[error("the contract has no {0}: change the table in sdk/generate that names it")]
    NoType(String),
    /// A file cannot be read or written.
    #[error("cannot write {}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
}

/// A generated file.
pub struct File {
    /// Its path in the repository.
    pub path: &'static str,
    /// Its text.
    pub text: String,
}

/// Makes all generated files of the repository in that folder.
pub fn generate(repository: &Path) -> Result<Vec<File>, Error> {
    let contract = Contract::read(&repository.join("wit"))?;
    rules::check(&contract)?;
    let mut files = python::write(&contract)?;
    files.extend(js::write(&contract)?);
    files.extend(go::write(&contract)?);
    files.extend(c::write(&contract)?);
    Ok(files)
}

/// Writes the generated files of the repository in that folder, and returns their paths.
pub fn write(repository: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut paths = Vec::new();
    for file in generate(repository)? {
        let path = repository.join(file.path);
        if let Err(error) = std::fs::write(&path, file.text) {
            return Err(Error::File { path, error });
        }
        paths.push(path);
    }
    Ok(paths)
}
