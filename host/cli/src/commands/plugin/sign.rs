//! `plugin sign`: signs a component by a key of its author.

use std::fs::{self, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use syrch::files;
use syrch_projects::{SigningKey, path_beside};

use super::{Context, Run};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::Grid;

/// Bytes of a component, and of a key, at most.
const COMPONENT: u64 = 128 << 20;
const KEY: u64 = 8 << 10;

#[derive(Args)]
pub(crate) struct SignArgs {
    /// A component; its signature is written beside it, to FILE.sig
    #[arg(value_name = "FILE")]
    component: PathBuf,
    /// The file of your key: PKCS #8 in PEM, as `openssl genpkey -algorithm ed25519` writes it
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// Make the key, in a file that does not exist yet and that only you can read
    #[arg(long)]
    new_key: bool,
}

impl Run for SignArgs {
    async fn run(self, context: Context) -> Outcome {
        let component = read(&self.component, COMPONENT)?;
        let key = if self.new_key { make_key(&self.key)? } else { read_key(&self.key)? };
        let public = key.public_key().to_string();
        let path = path_beside(&self.component);
        let written = files::replace(&path, key.sign(&component).to_text().as_bytes());
        written.map_err(|error| unreadable(&path, error))?;
        let path = path.display().to_string();
        context.console.note(&format!("`syrch-host plugin add … --key {public}` pins the key"));
        let mut grid = Grid::new(["property", "value"]);
        grid.rows = vec![vec![json!("key"), json!(public)], vec![json!("signature"), json!(path)]];
        context
            .rows(grid, || json!({"schema": "syrch.signed/1", "key": public, "signature": path}))?;
        Ok(Exit::Answered)
    }
}

fn unreadable(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::config(format!("`{}`: {error}", path.display()))
}

fn read(path: &Path, most: u64) -> Outcome<Vec<u8>> {
    let data = fs::metadata(path).map_err(|error| unreadable(path, error))?;
    if !data.is_file() || data.len() > most {
        return Err(unreadable(path, format!("is no plain file of at most {most} bytes")));
    }
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes));
    read.map_err(|error| unreadable(path, error))?;
    Ok(bytes)
}

fn read_key(path: &Path) -> Outcome<SigningKey> {
    if !path.exists() {
        return Err(unreadable(path, "is not there").hint("--new-key makes a key in this file"));
    }
    let text = String::from_utf8(read(path, KEY)?).unwrap_or_default();
    SigningKey::from_pem(&text).map_err(|why| unreadable(path, why))
}

/// Makes a key in a file of its own, and never in the place of another one.
fn make_key(path: &Path) -> Outcome<SigningKey> {
    let (key, text) = SigningKey::generate().map_err(|why| unreadable(path, why))?;
    let mut options = OpenOptions::new();
    let opened = files::private(options.write(true).create_new(true)).open(path);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| unreadable(path, error))?;
    Ok(key)
}
