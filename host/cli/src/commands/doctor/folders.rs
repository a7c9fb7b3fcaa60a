//! The folders that a search writes to. A missing one is not made here: the first run makes it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Check;
use crate::commands::repl::history;

/// Where compiled plugins are kept.
pub(super) fn compiled(cache: Option<&Path>) -> Check {
    let name = "compiled";
    let Some(folder) = cache.map(|cache| cache.join("compiled")) else {
        let detail = "compiled plugins are not kept, since there is no home: each start compiles anew";
        return Check::warn(name, detail, "export SYRCH_CACHE_DIR=/a/folder/of/yours");
    };
    let shown = folder.display();
    let lost = |why: &str| format!("{shown}: {why}; each start compiles the plugins anew");
    if !folder.is_dir() {
        let fix = "check the folder above it, or export SYRCH_CACHE_DIR=/a/folder/of/yours";
        return Check::warn(name, lost("there is no such folder, and it cannot be made"), fix);
    }
    if is_open_to_others(&folder) {
        return Check::warn(name, lost("others may write to it, so it is not used"), fix_mode("go-w", &folder));
    }
    match (probe(&folder), size(&folder)) {
        (Err(error), _) | (_, Err(error)) => Check::warn(name, lost(&error.to_string()), fix_mode("u+rwx", &folder)),
        (Ok(()), Ok((files, bytes))) => {
            let plural = if files == 1 { "" } else { "s" };
            Check::ok(name, format!("{shown}: writable, {files} file{plural}, {}", human(bytes)))
        }
    }
}

/// Where the prompt keeps what was asked.
pub(super) fn history(state: Option<&Path>) -> Check {
    let name = "history";
    let Some(file) = state.map(history::file) else {
        let detail = "the prompt keeps no history, since there is no home";
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

/// Whether this user can make files there: one is made and removed.
fn probe(folder: &Path) -> io::Result<()> {
    let path: PathBuf = folder.join(format!("doctor.{}", std::process::id()));
    fs::File::options().write(true).create_new(true).open(&path)?;
    fs::remove_file(path)
}

/// How many files lie in a folder, and their bytes.
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

/// A size as people read it.
pub(super) fn human(bytes: u64) -> String {
    let kib = bytes as f64 / 1024.0;
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{kib:.1} KiB"),
        _ => format!("{:.1} MiB", kib / 1024.0),
    }
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

#[cfg(all(test, unix))]
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
        let missing = compiled(Some(cache.path()));
        assert_eq!(missing.state, State::Warn);
        assert!(!cache.path().join("compiled").exists());
        let folder = cache.path().join("compiled");
        fs::create_dir(&folder).unwrap();
        mode(&folder, 0o700);
        fs::write(folder.join("a.cwasm"), [0; 2048]).unwrap();
        let check = compiled(Some(cache.path()));
        assert_eq!(check.state, State::Ok);
        assert!(check.detail.ends_with("writable, 1 file, 2.0 KiB"), "{}", check.detail);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        mode(&folder, 0o770);
        let open = compiled(Some(cache.path()));
        assert_eq!(open.fix, Some(format!("chmod go-w '{}'", folder.display())));
        assert_eq!(compiled(None).state, State::Warn);
    }

    #[test]
    fn a_history_that_others_may_read_is_told() {
        let state = tempfile::tempdir().unwrap();
        assert_eq!(history(Some(state.path())).state, State::Ok);
        let file = history::file(state.path());
        fs::write(&file, "").unwrap();
        mode(&file, 0o600);
        assert_eq!(history(Some(state.path())).state, State::Ok);
        mode(&file, 0o644);
        assert_eq!(history(Some(state.path())).state, State::Warn);
    }

    #[test]
    fn sizes_are_told_in_the_unit_that_fits() {
        assert_eq!([human(0), human(1536), human(5 << 20)], ["0 bytes", "1.5 KiB", "5.0 MiB"]);
    }
}
