//! The file: two tables in SQLite, in WAL mode, used by several processes at once. Every
//! transaction here is short, and most are of one statement.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};
use sha2::{Digest, Sha256};

use crate::error::StoreError;
use crate::{Key, Kind};

/// Identifies the program in the file's header: `SyRC`.
const APPLICATION: i32 = 0x5379_5243;
/// The version of the tables; a file of another version is set aside.
const VERSION: i32 = 1;

const SCHEMA: &str = "
    CREATE TABLE entries (
        key BLOB NOT NULL PRIMARY KEY, kind TEXT NOT NULL, created INTEGER NOT NULL, expires \
          INTEGER NOT NULL,
        size INTEGER NOT NULL, checksum BLOB NOT NULL, value BLOB NOT NULL
    ) STRICT;
    CREATE INDEX by_age ON entries (created, size);
    CREATE INDEX by_end ON entries (expires, size);
    CREATE INDEX by_kind ON entries (kind, size);
    CREATE TABLE leases (key BLOB NOT NULL PRIMARY KEY, owner INTEGER NOT NULL, until_ms INTEGER \
      NOT NULL) STRICT;";

/// Pages of the log before its content is moved into the file: the first process that opens the
/// file reads the rest.
const LOG_PAGES: i64 = 256;
/// Bytes and entries that one transaction deletes at most, so that other processes do not wait
/// long.
const BATCH_BYTES: i64 = 8 << 20;
const BATCH_ENTRIES: i64 = 256;
/// Milliseconds by which an entry's time of writing may be in the future: clocks are sometimes set
/// back.
const SKEW: i64 = 60_000;

/// A number of entries and their size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Size {
    /// The number of entries.
    pub entries: u64,
    /// Bytes of their values, without keys and columns.
    pub bytes: u64,
}

/// A value with the times between which it is valid, in milliseconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) created: i64,
    pub(crate) expires: i64,
    pub(crate) value: &'a [u8],
}

impl Entry<'_> {
    /// Returns true if the entry is neither expired nor older than `ttl`, both in milliseconds.
    pub(crate) fn is_valid(&self, now: i64, ttl: i64) -> bool {
        now < self.expires
            && now.saturating_sub(self.created) < ttl
            && self.created.saturating_sub(now) <= SKEW
    }

    pub(crate) fn checksum(&self, key: &Key) -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update(key.digest());
        hasher.update(self.created.to_le_bytes());
        hasher.update(self.expires.to_le_bytes());
        hasher.update(self.value);
        hasher.finalize().into()
    }
}

/// The entries that one transaction deletes: of those for which `condition` over ?1 is true, in the
/// order of `order`, those that begin within the first `bytes` bytes.
struct Batch<'a> {
    condition: &'a str,
    order: &'a str,
    bytes: i64,
}

/// A connection to the file.
pub(crate) struct Store {
    pub(crate) connection: Connection,
}

impl Store {
    /// Opens an existing file. An empty one becomes a cache; the caller makes sure that only one
    /// process does that.
    pub(crate) fn open(path: &Path, wait: Duration) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(wait)?;
        // When the last connection closes, the engine deletes the log by its name, which another
        // file may have by then.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        let store = Self { connection };
        store.make_or_check()?;
        store.connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
        store.connection.pragma_update(None, "journal_size_limit", LOG_PAGES * 4_096)?;
        Ok(store)
    }

    fn make_or_check(&self) -> Result<(), StoreError> {
        let application = self.number("application_id")?;
        let version = self.number("user_version")?;
        if (application, version) == (i64::from(APPLICATION), i64::from(VERSION)) {
            return Ok(());
        }
        let things: i64 =
            self.connection
                .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        if (application, version, things) == (0, 0, 0) {
            return self.make();
        }
        Err(StoreError::Damaged(if application == i64::from(APPLICATION) {
            format!("its format is {version}, and this program's is {VERSION}")
        } else {
            "it is another program's database".to_owned()
        }))
    }

    fn make(&self) -> Result<(), StoreError> {
        self.connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        let mode: String =
            self.connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
        if mode != "wal" {
            return Err(StoreError::Other(format!(
                "its file system allows no write-ahead log, only `{mode}`"
            )));
        }
        let made = format!(
            "BEGIN IMMEDIATE; {SCHEMA} PRAGMA application_id = {APPLICATION}; PRAGMA user_version \
             = {VERSION}; COMMIT;"
        );
        Ok(self.connection.execute_batch(&made)?)
    }

    fn number(&self, pragma: &str) -> Result<i64, StoreError> {
        Ok(self.connection.pragma_query_value(None, pragma, |row| row.get(0))?)
    }

    /// The value of a key, if it is present, undamaged, not older than `ttl` and not expired. A
    /// damaged one is deleted.
    pub(crate) fn get(&self, key: &Key, now: i64, ttl: i64) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT created, expires, checksum, value FROM entries WHERE key = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_row([key.digest()], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, i64>(1)?,
                row.get::<_, [u8; 32]>(2)?,
                row.get::<_, Vec<u8>>(3)?,
            ))
        });
        let Some((created, expires, checksum, value)) = found.optional()? else { return Ok(None) };
        let entry = Entry { created, expires, value: &value };
        if entry.checksum(key) != checksum {
            self.delete(key)?;
            return Ok(None);
        }
        let is_valid = entry.is_valid(now, ttl);
        Ok(is_valid.then_some(value))
    }

    /// Stores a value in place of the key's former one, within `most` bytes for all values. The
    /// same transaction ends a lease of the key, since no process need wait any more.
    pub(crate) fn put(&self, key: &Key, entry: Entry<'_>, most: u64) -> Result<(), StoreError> {
        let size = i64::try_from(entry.value.len()).unwrap_or(i64::MAX);
        self.make_space(size, i64::try_from(most).unwrap_or(i64::MAX))?;
        let sql = "INSERT OR REPLACE INTO entries (key, kind, created, expires, size, checksum, \
                   value) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let transaction = self.begin()?;
        self.connection.prepare_cached(sql)?.execute(params![
            key.digest(),
            key.kind().name(),
            entry.created,
            entry.expires,
            size,
            entry.checksum(key),
            entry.value
        ])?;
        self.connection
            .prepare_cached("DELETE FROM leases WHERE key = ?1")?
            .execute([key.digest()])?;
        Ok(transaction.commit()?)
    }

    /// Starts a transaction that writes. Dropping it without a commit undoes it.
    pub(crate) fn begin(&self) -> Result<Transaction<'_>, StoreError> {
        Ok(Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?)
    }

    /// Deletes the oldest entries if the pages in use exceed the bound, down to seven eighths of
    /// it, so that not every write deletes.
    fn make_space(&self, size: i64, most: i64) -> Result<(), StoreError> {
        let mut over = self.bytes_in_use()?.saturating_add(size).saturating_sub(most);
        if over > 0 {
            over = over.saturating_add(most / 8);
        }
        while over > 0 {
            let batch = Batch { condition: "1", order: "created", bytes: over.min(BATCH_BYTES) };
            if self.delete_batch(&batch, 0)?.entries == 0 {
                break;
            }
            over = self.bytes_in_use()?.saturating_add(size).saturating_sub(most - most / 8);
        }
        Ok(())
    }

    /// Returns the size of the pages in use, in bytes.
    fn bytes_in_use(&self) -> Result<i64, StoreError> {
        Ok((self.number("page_count")? - self.number("freelist_count")?)
            .saturating_mul(self.number("page_size")?))
    }

    pub(crate) fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.connection
            .prepare_cached("DELETE FROM entries WHERE key = ?1")?
            .execute([key.digest()])?;
        Ok(())
    }

    /// Deletes expired leases, and expired entries in at most so many batches. Returns whether
    /// there may be more entries.
    pub(crate) fn sweep(&self, now: i64, batches: usize) -> Result<bool, StoreError> {
        self.sweep_leases(now)?;
        let batch = Batch { condition: "expires <= ?1", order: "expires", bytes: BATCH_BYTES };
        for _ in 0..batches {
            if self.delete_batch(&batch, now)?.entries == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Deletes one batch, which has at least one entry if the condition is true for any. `bound` is
    /// ?1 of the condition.
    fn delete_batch(&self, batch: &Batch<'_>, bound: i64) -> Result<Size, StoreError> {
        let Batch { condition, order, .. } = batch;
        let sql = format!(
            "DELETE FROM entries WHERE rowid IN (SELECT id FROM (\
                SELECT id, sum(size) OVER (ORDER BY place, id) - size AS before FROM (\
                    SELECT rowid AS id, size, {order} AS place FROM entries WHERE {condition} \
                    AND ?1 IS NOT NULL ORDER BY {order} LIMIT {BATCH_ENTRIES})\
             ) WHERE before < ?2) RETURNING size"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut held = Size::default();
        for size in statement.query_map([bound, batch.bytes], |row| row.get::<_, i64>(0))? {
            held.entries += 1;
            held.bytes = held.bytes.saturating_add(size?.unsigned_abs());
        }
        Ok(held)
    }

    /// Deletes all present entries and leases, or the entries of one kind, and returns the space to
    /// the file system.
    pub(crate) fn clear(&self, kind: Option<Kind>) -> Result<Size, StoreError> {
        let last: Option<i64> =
            self.connection.query_row("SELECT max(rowid) FROM entries", [], |row| row.get(0))?;
        let condition = match kind {
            Some(kind) => format!("rowid <= ?1 AND kind = '{}'", kind.name()),
            None => {
                self.connection.execute("DELETE FROM leases", [])?;
                "rowid <= ?1".to_owned()
            }
        };
        let batch = Batch { condition: &condition, order: "rowid", bytes: BATCH_BYTES };
        let mut cleared = Size::default();
        while let Some(last) = last {
            let batch = self.delete_batch(&batch, last)?;
            if batch.entries == 0 {
                break;
            }
            cleared = Size {
                entries: cleared.entries + batch.entries,
                bytes: cleared.bytes + batch.bytes,
            };
        }
        // It fails while another process reads or writes; then the file stays larger than it need
        // be.
        let _ = self.give_back();
        Ok(cleared)
    }

    /// Shrinks the file and its log.
    fn give_back(&self) -> Result<(), StoreError> {
        for shrink in ["PRAGMA incremental_vacuum", "PRAGMA wal_checkpoint(TRUNCATE)"] {
            let mut statement = self.connection.prepare(shrink)?;
            // The first returns a page with every step.
            let mut steps = statement.raw_query();
            while steps.next()?.is_some() {}
        }
        Ok(())
    }

    /// The number of entries of each kind and their size.
    pub(crate) fn entry_sizes(&self) -> Result<BTreeMap<Kind, Size>, StoreError> {
        let sql = "SELECT kind, count(*), coalesce(sum(size), 0) FROM entries GROUP BY kind";
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement.query_map([], |row| {
            let number = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
            Ok((row.get::<_, String>(0)?, Size { entries: number(1)?, bytes: number(2)? }))
        })?;
        let mut held: BTreeMap<Kind, Size> =
            Kind::ALL.into_iter().map(|kind| (kind, Size::default())).collect();
        for row in rows {
            let (name, counted) = row?;
            if let Ok(kind) = name.parse() {
                held.insert(kind, counted);
            }
        }
        Ok(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("c.sqlite");
        std::fs::write(&path, b"").unwrap();
        let store = Store::open(&path, Duration::from_secs(5)).unwrap();
        (folder, store)
    }

    fn key(kind: Kind, number: usize) -> Key {
        Key::new(kind, "who", &number.to_le_bytes())
    }

    fn entry(created: i64, value: &[u8]) -> Entry<'_> {
        Entry { created, expires: created + HOUR, value }
    }

    #[test]
    fn a_value_is_valid_until_the_writer_s_end_and_the_reader_s_age() {
        let (_folder, store) = store();
        let key = key(Kind::Llm, 1);
        store.put(&key, entry(10 * HOUR, b"old"), 1 << 20).unwrap();
        store.put(&key, entry(10 * HOUR, b"\0new"), 1 << 20).unwrap();
        fn at(key: &Key, store: &Store, now: i64, ttl: i64) -> Option<Vec<u8>> {
            store.get(key, now, ttl).unwrap()
        }
        assert_eq!(at(&key, &store, 10 * HOUR, HOUR).unwrap(), b"\0new");
        assert_eq!(at(&key, &store, 11 * HOUR - 1, 9 * HOUR).unwrap(), b"\0new");
        assert_eq!(
            (at(&key, &store, 11 * HOUR, 9 * HOUR), at(&key, &store, 10 * HOUR + 5, 5)),
            (None, None)
        );
        // From the future by a little, and by a lot.
        assert!(at(&key, &store, 10 * HOUR - SKEW, HOUR).is_some());
        assert_eq!(at(&key, &store, 10 * HOUR - SKEW - 1, HOUR), None);
    }

    #[test]
    fn a_damaged_value_is_deleted() {
        for damage in [
            "value = x'00'",
            "created = created + 1",
            "expires = expires + 1",
            "checksum = zeroblob(32)",
        ] {
            let (_folder, store) = store();
            store.put(&key(Kind::Sql, 1), entry(0, b"x"), 1 << 20).unwrap();
            store.connection.execute(&format!("UPDATE entries SET {damage}"), []).unwrap();
            assert_eq!(store.get(&key(Kind::Sql, 1), 2, HOUR), Ok(None), "{damage}");
            assert_eq!(store.entry_sizes().unwrap()[&Kind::Sql], Size::default());
        }
        // An entry under another's key.
        let (_folder, store) = store();
        store.put(&key(Kind::Sql, 1), entry(0, b"x"), 1 << 20).unwrap();
        store
            .connection
            .execute("UPDATE entries SET key = ?1", [key(Kind::Sql, 2).digest()])
            .unwrap();
        assert_eq!(store.get(&key(Kind::Sql, 2), 2, HOUR), Ok(None));
    }

    #[test]
    fn the_oldest_are_deleted_when_there_is_no_space() {
        let (_folder, store) = store();
        let most = 1 << 20;
        for number in 0..100_usize {
            store.put(&key(Kind::Sql, number), entry(number as i64, &[7; 50_000]), most).unwrap();
            assert!(store.bytes_in_use().unwrap() <= 1 << 20);
        }
        let there: Vec<usize> = (0..100)
            .filter(|number| store.get(&key(Kind::Sql, *number), 200, HOUR).unwrap().is_some())
            .collect();
        assert!((17..=20).contains(&there.len()), "{there:?}");
        assert_eq!(there, ((100 - there.len())..100).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_past_its_end_is_swept() {
        let (_folder, store) = store();
        for number in 0..600_usize {
            store.put(&key(Kind::Llm, number), entry(number as i64, b"x"), 1 << 20).unwrap();
        }
        assert_eq!(store.sweep(HOUR + 299, 1), Ok(true));
        assert_eq!(
            store.entry_sizes().unwrap()[&Kind::Llm].entries,
            600 - BATCH_ENTRIES.unsigned_abs()
        );
        assert_eq!(store.sweep(HOUR + 299, 9), Ok(false));
        assert_eq!(store.entry_sizes().unwrap()[&Kind::Llm].entries, 300);
        assert!(store.get(&key(Kind::Llm, 300), 400, HOUR).unwrap().is_some());
    }

    #[test]
    fn one_kind_is_cleared_and_the_file_shrinks() {
        let (_folder, store) = store();
        for number in 0..40_usize {
            let kind = Kind::ALL[number % 2];
            store.put(&key(kind, number), entry(0, &[number as u8; 500_000]), 1 << 30).unwrap();
        }
        let pages = store.number("page_count").unwrap();
        assert_eq!(store.clear(Some(Kind::Sql)), Ok(Size { entries: 20, bytes: 10_000_000 }));
        let held = store.entry_sizes().unwrap();
        assert_eq!((held[&Kind::Sql].entries, held[&Kind::Llm].entries), (0, 20));
        assert_eq!(store.get(&key(Kind::Llm, 2), 1, HOUR).unwrap().unwrap(), [2; 500_000]);
        assert!(store.number("page_count").unwrap() < pages * 6 / 10);
        assert_eq!(store.clear(None).unwrap().entries, 20);
        assert_eq!(store.clear(None), Ok(Size::default()));
    }

    #[test]
    fn a_full_disk_is_reported_and_harms_nothing() {
        let (_folder, store) = store();
        store.put(&key(Kind::Llm, 1), entry(0, b"before"), 1 << 30).unwrap();
        let pages = store.number("page_count").unwrap();
        store.connection.pragma_update(None, "max_page_count", pages).unwrap();
        assert!(matches!(
            store.put(&key(Kind::Llm, 2), entry(0, &[1; 100_000]), 1 << 30),
            Err(StoreError::Full(_))
        ));
        assert_eq!(store.get(&key(Kind::Llm, 1), 1, HOUR).unwrap().unwrap(), b"before");
        assert_eq!(store.get(&key(Kind::Llm, 2), 1, HOUR), Ok(None));
    }
}
