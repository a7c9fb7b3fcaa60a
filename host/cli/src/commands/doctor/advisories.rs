//! The engine's known vulnerabilities: what RustSec had published on this version of it when the
//! program was built. Nothing is fetched.

use semver::{Version, VersionReq};
use serde::Deserialize;

use super::Check;
use crate::version::WASMTIME;

/// The advisories on the engine's crates, which `.ci/advisories` writes.
const KNOWN: &str = include_str!("advisories.json");

/// The advisories as they are written.
#[derive(Deserialize)]
struct Known {
    /// The day up to which they are known, as `YYYY-MM-DD`.
    until: String,
    advisories: Vec<Advisory>,
}

/// An advisory with the versions that it does not concern, as RustSec writes them.
#[derive(Deserialize)]
struct Advisory {
    id: String,
    package: String,
    title: String,
    patched: Vec<VersionReq>,
    unaffected: Vec<VersionReq>,
}

impl Advisory {
    fn concerns(&self, version: &Version) -> bool {
        !self.patched.iter().chain(&self.unaffected).any(|versions| versions.matches(version))
    }
}

/// Reports the advisories on this engine.
pub(super) fn engine() -> Check {
    match check(KNOWN, WASMTIME) {
        Ok(check) => check,
        Err(error) => Check::warn(
            "advisories",
            format!("the advisories in this program cannot be read: {error}"),
            "report it, and compare the version with https://rustsec.org/packages/wasmtime.html",
        ),
    }
}

/// Compares a version of the engine with advisories.
fn check(known: &str, version: &str) -> Result<Check, Box<dyn std::error::Error>> {
    let Known { until, advisories } = serde_json::from_str(known)?;
    let engine = Version::parse(version)?;
    let found: Vec<String> = advisories
        .iter()
        .filter(|advisory| advisory.concerns(&engine))
        .map(|Advisory { id, package, title, .. }| format!("{id} ({package}: {title})"))
        .collect();
    if found.is_empty() {
        return Ok(Check::ok(
            "advisories",
            format!(
                "RustSec had none on wasmtime {version} up to {until}; later ones are unknown here"
            ),
        ));
    }
    Ok(Check::warn(
        "advisories",
        format!("wasmtime {version} has known vulnerabilities: {}", found.join("; ")),
        "install a newer syrch-host, or run no third-party plugins",
    ))
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn the_advisories_of_this_build_are_readable() {
        let check = check(KNOWN, WASMTIME).unwrap();
        assert_eq!(check.state, State::Ok, "{}", check.detail);
        assert!(check.detail.contains(WASMTIME), "{}", check.detail);
    }

    #[test]
    fn a_version_is_concerned_that_is_neither_patched_nor_unaffected() {
        let known = r#"{"until": "2026-11-29", "advisories": [{
            "id": "RUSTSEC-2026-1", "package": "wasmtime", "title": "escape",
            "patched": [">=36.0.3, <37.0.0", ">=48.0.3"], "unaffected": ["<30.0.0"]
        }]}"#;
        for (version, is_concerned) in [
            ("29.0.9", false),
            ("36.0.2", true),
            ("36.0.3", false),
            ("37.0.0", true),
            ("48.0.2", true),
            ("48.0.3", false),
            ("49.0.0", false),
        ] {
            let check = check(known, version).unwrap();
            assert_eq!(check.state == State::Warn, is_concerned, "{version}: {}", check.detail);
        }
        assert!(
            check(known, "36.0.2").unwrap().detail.contains("RUSTSEC-2026-1 (wasmtime: escape)")
        );
        assert!(check("{}", "36.0.2").is_err());
    }
}
