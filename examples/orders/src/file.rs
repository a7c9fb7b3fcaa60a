//! The file: made beside its place, then moved there in one step.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::schema::{APPLICATION, SETTINGS};
use crate::{Made, OrdersError};

/// Fills a new database and puts it at `path`; `fill` gives how many orders it wrote.
///
/// A run that is killed leaves `.NAME.part` behind, which the next one takes over.
pub(crate) fn replace(
    path: &Path,
    force: bool,
    fill: impl FnOnce(&Connection) -> rusqlite::Result<u64>,
) -> Result<Made, OrdersError> {
    let failed = |source| OrdersError::File { path: path.to_owned(), source };
    // A link stays, and what it points to is replaced.
    let path = &if path.exists() { path.canonicalize().map_err(failed)? } else { path.to_owned() };
    may_go(path, force)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let part = path.with_file_name(format!(".{name}.part"));
    // The lock is held to the end, so that no second run starts.
    let _lock = claim(path, &part)?;
    let made =
        write(&part, fill).map_err(|source| OrdersError::Sqlite { path: path.to_owned(), source });
    let moved = made.and_then(|orders| {
        let bytes = part.metadata().map_err(failed)?.len();
        std::fs::rename(&part, path).map_err(failed)?;
        Ok(Made { orders, bytes })
    });
    if moved.is_err() {
        // The error at hand says more than a failure to clean up.
        drop(std::fs::remove_file(&part));
    }
    moved
}

/// Checks whether what lies at `path` may be replaced.
fn may_go(path: &Path, force: bool) -> Result<(), OrdersError> {
    // SQLite would play a journal left here into the new file.
    for suffix in ["-journal", "-wal"] {
        let beside = PathBuf::from(format!("{}{suffix}", path.display()));
        if beside.exists() {
            return Err(OrdersError::InUse { beside });
        }
    }
    if !path.exists() || force && path.is_file() || is_ours(path) {
        return Ok(());
    }
    Err(OrdersError::Foreign { path: path.to_owned() })
}

fn is_ours(path: &Path) -> bool {
    let open = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    );
    let id =
        open.and_then(|db| db.query_row("PRAGMA application_id", [], |row| row.get::<_, i64>(0)));
    id.is_ok_and(|id| id == APPLICATION)
}

/// Takes the unfinished file for this run, and empties it.
fn claim(path: &Path, part: &Path) -> Result<File, OrdersError> {
    let failed = |source: io::Error| OrdersError::File { path: path.to_owned(), source };
    let file =
        File::options().create(true).truncate(false).write(true).open(part).map_err(failed)?;
    // Gone means that the run that held it has just put it in its place: it is not ours to empty.
    if file.try_lock().is_err() || !part.exists() {
        return Err(OrdersError::Busy { path: path.to_owned() });
    }
    file.set_len(0).map_err(failed)?;
    Ok(file)
}

fn write(
    part: &Path,
    fill: impl FnOnce(&Connection) -> rusqlite::Result<u64>,
) -> rusqlite::Result<u64> {
    let connection = Connection::open(part)?;
    connection.execute_batch(SETTINGS)?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    let orders = fill(&connection)?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(orders)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(path: &Path) -> i64 {
        let db = Connection::open(path).unwrap();
        db.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
    }

    fn fill(db: &Connection) -> rusqlite::Result<u64> {
        db.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")?;
        Ok(2)
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn its_own_file_is_replaced_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        std::fs::write(folder.path().join(".a.sqlite.part"), "what a killed run left").unwrap();
        for _ in 0..2 {
            let made = replace(&path, false, fill).unwrap();
            assert_eq!((made.orders, made.bytes), (2, path.metadata().unwrap().len()));
            assert_eq!((rows(&path), names(folder.path())), (2, vec!["a.sqlite".to_owned()]));
        }
    }

    #[test]
    fn a_failure_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        replace(&path, false, fill).unwrap();
        let error = replace(&path, false, |db| {
            fill(db).and_then(|_| db.execute("INSERT INTO none VALUES (1)", [])).map(|_| 0)
        });
        assert!(matches!(error, Err(OrdersError::Sqlite { .. })), "{error:?}");
        assert_eq!((rows(&path), names(folder.path())), (2, vec!["a.sqlite".to_owned()]));
    }

    #[test]
    fn another_file_goes_only_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().join("notes");
        std::fs::write(&text, "mine").unwrap();
        let other = folder.path().join("other.sqlite");
        Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
        for path in [&text, &other] {
            let before = std::fs::read(path).unwrap();
            let error = replace(path, false, fill).unwrap_err();
            assert!(matches!(error, OrdersError::Foreign { .. }), "{error}");
            assert_eq!(std::fs::read(path).unwrap(), before);
            replace(path, true, fill).unwrap();
            assert_eq!(rows(path), 2);
        }
        assert!(matches!(replace(folder.path(), true, fill), Err(OrdersError::Foreign { .. })));
    }

    #[test]
    fn a_file_in_use_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        let second = replace(&path, false, |db| {
            let second = replace(&path, false, fill);
            assert!(matches!(second, Err(OrdersError::Busy { .. })), "{second:?}");
            fill(db)
        });
        assert_eq!((second.unwrap().orders, rows(&path)), (2, 2));
        std::fs::write(folder.path().join("a.sqlite-journal"), "").unwrap();
        assert!(matches!(replace(&path, true, fill), Err(OrdersError::InUse { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [path, link] = ["a.sqlite", "link.sqlite"].map(|name| folder.path().join(name));
        replace(&path, false, fill).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        replace(&link, false, fill).unwrap();
        assert!(link.is_symlink() && !path.is_symlink());
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = replace(&folder.path().join("none/a.sqlite"), false, fill);
        assert!(matches!(error, Err(OrdersError::File { .. })), "{error:?}");
    }
}
