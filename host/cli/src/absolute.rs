//! Paths that mean the same in every folder.

use std::path::Path;

use syrch::databases::database_path;
use syrch::syrch_core::DatabaseUrl;

/// The whole path of a file.
pub(crate) fn path(path: &str) -> String {
    std::path::absolute(Path::new(path))
        .map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}

/// The address of a database with the whole path of its file; that of a server stays as it is.
pub(crate) fn database(address: &str) -> String {
    let url = DatabaseUrl::parse(address);
    let Some(file) = database_path(&url).and_then(|file| Some(file.to_str()?.to_owned())) else {
        return address.to_owned();
    };
    let rest = url.rest();
    match url.scheme() {
        None => DatabaseUrl::from_path(Path::new(&path(&file))).expose().to_owned(),
        Some(scheme) if rest.strip_prefix("//").unwrap_or(rest) == file => {
            format!("{scheme}:{}", path(&file))
        }
        Some(_) => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_whole_paths_and_servers_stay() {
        let folder = std::env::current_dir().unwrap();
        assert_eq!(path("notes.txt"), folder.join("notes.txt").display().to_string());
        for (address, file) in [("s", "s"), ("./data/shop.sqlite", "data/shop.sqlite")] {
            let whole = folder.join(file).display().to_string();
            assert_eq!(database(address), whole);
            assert_eq!(database(&format!("sqlite:{address}")), format!("sqlite:{whole}"));
        }
        assert_eq!(database("sqlite:///tmp/s"), "sqlite:/tmp/s");
        for address in ["postgres://ann@h/shop", "databricks://h/p"] {
            assert_eq!(database(address), address);
        }
    }
}
