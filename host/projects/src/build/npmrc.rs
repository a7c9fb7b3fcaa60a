//! The settings of npm that a project brings in its `.npmrc`. They may name registries, programs
//! and folders, and variables of the user whose values npm sends.

use std::path::Path;

use super::environment::list_variables;
use crate::{Error, files};

/// The file of the settings.
pub(super) const FILE: &str = ".npmrc";
/// Settings that change nothing but how packages of the registry are chosen and reported.
const PLAIN: [&str; 21] = [
    "audit",
    "auto-install-peers",
    "color",
    "engine-strict",
    "fetch-retries",
    "fetch-timeout",
    "foreground-scripts",
    "fund",
    "ignore-scripts",
    "install-strategy",
    "legacy-peer-deps",
    "loglevel",
    "package-lock",
    "prefer-dedupe",
    "prefer-offline",
    "progress",
    "save-exact",
    "save-prefix",
    "save",
    "strict-peer-deps",
    "update-notifier",
];

/// Returns the lines of a project's settings that do more than choose among the packages of the
/// public registry.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn list_others(project: &Path) -> Result<Vec<String>, Error> {
    let text = files::read_text(&project.join(FILE))?.unwrap_or_default();
    let lines = text.split(['\n', '\r']).map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(['#', ';']));
    Ok(lines.filter(|line| !is_plain(line)).map(str::to_owned).collect())
}

fn is_plain(line: &str) -> bool {
    let Some((key, value)) = line.split_once('=') else { return false };
    let value = value.trim();
    let is_public = ["https://registry.npmjs.org/", "https://registry.npmjs.org"].contains(&value);
    match key.trim() {
        "registry" => is_public,
        key => PLAIN.contains(&key) && list_variables(value).next().is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_settings_name_no_place_and_no_variable() {
        let folder = syrch_kit::scratch();
        let others = |text: &str| {
            std::fs::write(folder.path().join(FILE), text).unwrap();
            list_others(folder.path()).unwrap()
        };
        let plain = "; a note\n# another\nfund = false\r\nsave-exact=true\n\
                     registry=https://registry.npmjs.org/\n";
        assert!(others(plain).is_empty());
        for other in [
            "registry=https://registry.npmjs.org.evil.example/",
            "@mine:registry=https://npm.example/",
            "//npm.example/:_authToken=${OPENAI_API_KEY}",
            "fund=${OPENAI_API_KEY}",
            "git=./evil",
            "cafile=/home/me/.netrc",
            "omit[]=dev",
            "[section]",
            "globalconfig",
        ] {
            assert_eq!(others(&format!("# a note\r{other}\nfund=false\n")), [other]);
        }
    }
}
