//! The folders that a search writes to. A missing one is not made here: the first run makes it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use syrch::Settings;
use syrch::cache::{Place, open_cache};
use syrch::plugins::CompileSettings;
use syrch_report::words;

use super::Check;
use crate::commands::repl::history;

/// The folder of compiled plugins.
pub(super) fn check_compiled(compile: &CompileSettings) -> Check {
    let name = "compiled";
    let Some(cache) = &compile.cache else {
        let detail =
            "compiled plugins are not saved, since there is no home: each start compiles anew";
        return Check::warn(name, detail, "export SYRCH_CACHE_DIR=/a/folder/of/yours");
    };
    let folder = cache.folder.join("compiled");
    let shown = folder.display();
    let lost = |why: &str| format!("{shown}: {why}; each start compiles the plugins anew");
    if !folder.is_dir() {
        let fix = "check the folder above it, or export SYRCH_CACHE_DIR=/a/folder/of/yours";
        return Check::warn(name, lost("there is no such folder, and it cannot be made"), fix);
    }
    if folder.is_symlink() {
        let fix = format!("rm '{shown}'; the next start makes a folder");
        return Check::warn(name, lost("it is a link, so it is not used"), fix);
    }
    if let Some(key) = cache.keys.iter().find(|key| is_readable_by_others(key)) {
        let key = key.display();
        return Check::warn(
            name,
            lost(&format!("others may read {key}")),
            format!("rm '{key}'; the next start makes a new one"),
        );
    }
    if is_open_to_others(&folder) {
        return Check::warn(
            name,
            lost("others may write to it, so it is not used"),
            fix_mode("go-w", &folder),
        );
    }
    match (probe(&folder), size(&folder)) {
        (Err(error), _) | (_, Err(error)) => {
            Check::warn(name, lost(&error.to_string()), fix_mode("u+rwx", &folder))
        }
        (Ok(()), Ok((files, bytes))) => {
            let files = syrch::syrch_core::text::count(files, "file");
            Check::ok(name, format!("{shown}: writable, {files}, {}", words::size(bytes)))
        }
    }
}

/// The folder of cached model replies and results. A search repairs the file in it itself.
pub(super) fn answers(is_used: bool, cache: Option<&Path>) -> Check {
    let folder = cache.map(|cache| cache.join("answers"));
    private_folder("cache", "answers are", is_used, folder.as_deref(), "SYRCH_CACHE_DIR")
}

/// The cache that several machines share: whether it can be reached and written.
pub(super) async fn check_shared(settings: &Settings, place: &Place) -> Check {
    let name = "cache";
    let checked = match open_cache(settings) {
        Some(cache) => cache.check().await.map_err(|error| error.to_string()),
        None => Ok(()),
    };
    let fix = match place {
        Place::Redis(_) => "start the server, and check its address, user and password".to_owned(),
        Place::Local(folder) | Place::Shared(folder) => {
            format!("make '{}' a folder of yours alone", folder.display())
        }
    };
    match checked {
        Ok(()) => Check::ok(name, format!("{place}: shared, writable")),
        Err(why) => Check::warn(name, format!("{why}; searches go on without it"), fix),
    }
}

/// The folder of the journals of runs.
pub(super) fn journals(is_used: bool, state: Option<&Path>) -> Check {
    let folder = state.map(|state| state.join("runs"));
    private_folder("journals", "journals are", is_used, folder.as_deref(), "SYRCH_STATE_DIR")
}

/// A folder that only its user may read, and that the first search makes.
fn private_folder(
    name: &'static str,
    what: &str,
    is_used: bool,
    folder: Option<&Path>,
    variable: &str,
) -> Check {
    if !is_used {
        return Check::ok(name, format!("{what} not saved, as configured"));
    }
    let Some(folder) = folder else {
        let detail = format!("{what} not saved, since there is no home");
        return Check::warn(name, detail, format!("export {variable}=/a/folder/of/yours"));
    };
    let shown = folder.display();
    if !folder.exists() {
        return Check::ok(name, format!("{shown}: not there yet, the first search makes it"));
    }
    if is_readable_by_others(folder) {
        return Check::warn(name, format!("{shown}: others may read it"), fix_mode("700", folder));
    }
    match probe(folder).and_then(|()| size(folder)) {
        Err(error) => Check::warn(
            name,
            format!("{shown}: {error}; {what} not saved"),
            fix_mode("u+rwx", folder),
        ),
        Ok((files, bytes)) => {
            let files = syrch::syrch_core::text::count(files, "file");
            Check::ok(name, format!("{shown}: writable, {files}, {}", words::size(bytes)))
        }
    }
}

/// The history of the prompt.
pub(super) fn history(state: Option<&Path>) -> Check {
    let name = "history";
    let Some(file) = state.map(history::file) else {
        let detail = "the prompt has no history, since there is no home";
        return Check::warn(name, detail, "export SYRCH_STATE_DIR=/a/folder/of/yours");
    };
    let shown = file.display();
    if !file.exists() {
        return Check::ok(name, format!("{shown}: not there yet, the first prompt makes it"));
    }
    match fs::File::options().append(true).open(&file) {
        Err(error) => Check::warn(name, format!("{shown}: {error}"), fix_mode("u+rw", &file)),
        Ok(_) if is_readable_by_others(&file) => {
            Check::warn(name, format!("{shown}: others may read it"), fix_mode("600", &file))
        }
        Ok(_) => Check::ok(name, format!("{shown}: writable")),
    }
}

fn fix_mode(mode: &str, path: &Path) -> String {
    format!("chmod {mode} '{}'", path.display())
}

/// Checks whether this user can create files in a folder: creates one and removes it.
fn probe(folder: &Path) -> io::Result<()> {
    let path: PathBuf = folder.join(format!("doctor.{}", std::process::id()));
    fs::File::options().write(true).create_new(true).open(&path)?;
    fs::remove_file(path)
}

/// Returns the number of files in a folder, and their bytes.
fn size(folder: &Path) -> io::Result<(usize, u64)> {
    let mut sum = (0, 0);
    for entry in fs::read_dir(folder)? {
        let data = entry?.metadata()?;
        if data.is_file() {
            sum = (sum.0 + 1, sum.1 + data.len());
        }
    }
    Ok(sum)
}

#[cfg(unix)]
fn has_mode(path: &Path, bits: u32) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|data| data.permissions().mode() & bits != 0)
}

#[cfg(not(unix))]
fn has_mode(_: &Path, _: u32) -> bool {
    false
}

fn is_open_to_others(path: &Path) -> bool {
    has_mode(path, 0o022)
}

fn is_readable_by_others(path: &Path) -> bool {
    has_mode(path, 0o077)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::super::State;
    use super::*;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_folder_of_compiled_plugins_is_measured_and_left_as_it_was() {
        let cache = tempfile::tempdir().unwrap();
        let settings = CompileSettings::in_folder(cache.path());
        let missing = check_compiled(&settings);
        assert_eq!(missing.state, State::Warn);
        let folder = cache.path().join("cache/compiled");
        assert!(!folder.exists());
        fs::create_dir_all(&folder).unwrap();
        mode(&folder, 0o700);
        fs::write(folder.join("a.cwasm"), [0; 2048]).unwrap();
        let check = check_compiled(&settings);
        assert_eq!(check.state, State::Ok);
        assert!(check.detail.ends_with("writable, 1 file, 2.0 KiB"), "{}", check.detail);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        mode(&folder, 0o770);
        let open = check_compiled(&settings);
        assert_eq!(open.fix, Some(format!("chmod go-w '{}'", folder.display())));
        mode(&folder, 0o700);
        let elsewhere = cache.path().join("elsewhere");
        fs::rename(&folder, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &folder).unwrap();
        assert!(check_compiled(&settings).detail.contains("it is a link"));
        assert_eq!(check_compiled(&CompileSettings::default()).state, State::Warn);
    }

    #[test]
    fn what_searches_save_is_for_their_user_only() {
        let base = tempfile::tempdir().unwrap();
        for (name, check) in
            [("answers", answers as fn(bool, Option<&Path>) -> Check), ("runs", journals)]
        {
            assert_eq!(check(true, None).state, State::Warn);
            assert_eq!(check(false, None).state, State::Ok);
            assert!(check(true, Some(base.path())).detail.ends_with("the first search makes it"));
            let folder = base.path().join(name);
            fs::create_dir(&folder).unwrap();
            mode(&folder, 0o755);
            let open = check(true, Some(base.path()));
            assert_eq!(
                (open.state, open.fix),
                (State::Warn, Some(format!("chmod 700 '{}'", folder.display())))
            );
            mode(&folder, 0o700);
            fs::write(folder.join("file"), [0; 1024]).unwrap();
            assert!(check(true, Some(base.path())).detail.ends_with("writable, 1 file, 1.0 KiB"));
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_history_that_others_may_read_is_reported() {
        let state = tempfile::tempdir().unwrap();
        assert_eq!(history(Some(state.path())).state, State::Ok);
        let file = history::file(state.path());
        fs::write(&file, "").unwrap();
        mode(&file, 0o600);
        assert_eq!(history(Some(state.path())).state, State::Ok);
        mode(&file, 0o644);
        assert_eq!(history(Some(state.path())).state, State::Warn);
    }
}
