//! The places where DuckDB's library is searched for: those that its packages install it into.

use std::path::{Path, PathBuf};

/// The function of DuckDB's library that makes the driver.
pub const DUCKDB_ENTRY: &str = "duckdb_adbc_init";

#[cfg(target_os = "macos")]
const FILE: &str = "libduckdb.dylib";
#[cfg(not(target_os = "macos"))]
const FILE: &str = "libduckdb.so";

/// The npm package that has the library for this platform.
#[cfg(all(target_os = "macos", target_arch = "aarch64"))]
const PACKAGE: &str = "@duckdb/node-bindings-darwin-arm64";
#[cfg(all(target_os = "macos", not(target_arch = "aarch64")))]
const PACKAGE: &str = "@duckdb/node-bindings-darwin-x64";
#[cfg(all(not(target_os = "macos"), target_arch = "aarch64"))]
const PACKAGE: &str = "@duckdb/node-bindings-linux-arm64";
#[cfg(all(not(target_os = "macos"), not(target_arch = "aarch64")))]
const PACKAGE: &str = "@duckdb/node-bindings-linux-x64";

/// Folders of libraries, in which `make install`, packages and Homebrew put them.
const SYSTEM: [&str; 8] = [
    "/usr/local/lib",
    "/opt/homebrew/lib",
    "/home/linuxbrew/.linuxbrew/lib",
    "/usr/lib",
    "/usr/lib64",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/opt/duckdb",
];

/// Folders of npm's global packages.
const GLOBAL: [&str; 3] =
    ["/usr/local/lib/node_modules", "/usr/lib/node_modules", "/opt/homebrew/lib/node_modules"];

/// Folders of a user's own programs, below the home folder.
const OWN: [&str; 4] = [".duckdb", ".duckdb/lib", ".local/lib", "lib"];

/// The usual places of DuckDB's library on this platform, in the order in which they are tried:
/// those of the user first. No place depends on the current folder, whose files may be somebody
/// else's.
#[must_use]
pub fn duckdb_places(home: Option<&Path>) -> Vec<PathBuf> {
    let npm = |modules: PathBuf| {
        // The library is a dependency of `@duckdb/node-bindings`, which npm installs beside it or
        // within it.
        let nested = modules.join("@duckdb/node-api/node_modules").join(PACKAGE);
        [modules.join(PACKAGE), nested].map(|package| package.join(FILE))
    };
    let mut places = Vec::new();
    if let Some(home) = home {
        places.extend(OWN.iter().map(|folder| home.join(folder).join(FILE)));
        for modules in [".npm-global/lib/node_modules", ".local/lib/node_modules", "node_modules"] {
            places.extend(npm(home.join(modules)));
        }
    }
    places.extend(SYSTEM.iter().map(|folder| Path::new(folder).join(FILE)));
    places.extend(GLOBAL.iter().flat_map(|modules| npm(PathBuf::from(modules))));
    places
}

/// The first of these places that is a file which only its owner may change, where that is the
/// current user or root.
#[must_use]
pub fn find_duckdb(places: &[PathBuf]) -> Option<PathBuf> {
    places.iter().find(|place| place.is_absolute() && is_safe(place)).cloned()
}

#[cfg(unix)]
fn is_safe(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    // The file that is meant, and not the link to it, which Homebrew makes.
    let Ok(about) = std::fs::metadata(path) else { return false };
    let is_own = about.uid() == 0 || about.uid() == rustix::process::geteuid().as_raw();
    about.is_file() && is_own && about.mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_safe(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_absolute_and_the_users_come_first() {
        let places = duckdb_places(Some(Path::new("/home/ada")));
        assert!(places.iter().all(|place| place.is_absolute() && place.ends_with(FILE)));
        assert!(places[0].starts_with("/home/ada/.duckdb"));
        assert!(duckdb_places(None).iter().all(|place| !place.starts_with("/home/ada")));
    }

    #[cfg(unix)]
    #[test]
    fn a_library_that_others_may_change_is_passed_over() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let [open, own] = ["open.so", "own.so"].map(|name| folder.path().join(name));
        for (file, mode) in [(&open, 0o666), (&own, 0o644)] {
            std::fs::write(file, "").unwrap();
            std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let places = [folder.path().join("none.so"), folder.path().to_owned(), open, own.clone()];
        assert_eq!(find_duckdb(&places), Some(own));
        assert_eq!(find_duckdb(&places[..3]), None);
    }
}
