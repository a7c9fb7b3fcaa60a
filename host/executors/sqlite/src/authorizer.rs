//! Registers an authorizer with the engine. Names in a database file may be any bytes, which the
//! wrapper of the engine's interface does not expect: it panics.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::Utf8Error;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization, TransactionOperation};
use rusqlite::{Connection, ffi};

/// Judges the actions of statements: `None` stands for an action that involves a name which is not
/// UTF-8.
pub(crate) trait Judge: Send + 'static {
    fn judge(&self, context: Option<&AuthContext<'_>>) -> Authorization;
}

/// Makes the connection ask `judge` about every action of every statement that it compiles from now
/// on.
#[allow(unsafe_code)]
pub(crate) fn authorize<J: Judge>(connection: &Connection, judge: J) -> rusqlite::Result<()> {
    let data = Box::into_raw(Box::new(judge)).cast::<c_void>();
    // SAFETY: the connection owns the judge from here on, and frees it when it is closed or when
    // there is no memory for it.
    let code = unsafe {
        let db = connection.handle();
        match ffi::sqlite3_set_clientdata(db, c"syrch_authorizer".as_ptr(), data, Some(free::<J>)) {
            ffi::SQLITE_OK => ffi::sqlite3_set_authorizer(db, Some(ask::<J>), data),
            failed => failed,
        }
    };
    match code {
        ffi::SQLITE_OK => Ok(()),
        _ => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)),
    }
}

#[allow(unsafe_code)]
unsafe extern "C" fn free<J>(data: *mut c_void) {
    // SAFETY: made by `authorize`, and freed once.
    drop(unsafe { Box::from_raw(data.cast::<J>()) });
}

#[allow(unsafe_code)]
unsafe extern "C" fn ask<J: Judge>(
    data: *mut c_void,
    code: c_int,
    first: *const c_char,
    second: *const c_char,
    database: *const c_char,
    accessor: *const c_char,
) -> c_int {
    // SAFETY: the judge lives as long as its connection, and the names as long as this call.
    let (judge, names) =
        unsafe { (&*data.cast::<J>(), [first, second, database, accessor].map(|name| text(name))) };
    let [first, second, database_name, accessor] = names;
    // Of what is read the table decides, and more is known of it.
    let second = if code == ffi::SQLITE_READ {
        second.or(Ok::<_, Utf8Error>(Some("\u{fffd}")))
    } else {
        second
    };
    let (Ok(first), Ok(second), Ok(database_name), Ok(accessor)) =
        (first, second, database_name, accessor)
    else {
        return answer(catch_unwind(AssertUnwindSafe(|| judge.judge(None))));
    };
    let context = AuthContext { action: action(code, first, second), database_name, accessor };
    answer(catch_unwind(AssertUnwindSafe(|| judge.judge(Some(&context)))))
}

fn answer(judged: std::thread::Result<Authorization>) -> c_int {
    match judged {
        Ok(Authorization::Allow) => ffi::SQLITE_OK,
        Ok(Authorization::Ignore) => ffi::SQLITE_IGNORE,
        _ => ffi::SQLITE_DENY,
    }
}

/// A name; `None` if there is none.
#[allow(unsafe_code)]
unsafe fn text<'a>(name: *const c_char) -> Result<Option<&'a str>, Utf8Error> {
    if name.is_null() {
        return Ok(None);
    }
    // SAFETY: the engine's names end with a NUL.
    unsafe { CStr::from_ptr(name) }.to_str().map(Some)
}

/// The actions that our authorizers distinguish.
fn action<'a>(code: c_int, first: Option<&'a str>, second: Option<&'a str>) -> AuthAction<'a> {
    let operation = TransactionOperation::Unknown;
    match (code, first, second) {
        (ffi::SQLITE_SELECT, ..) => AuthAction::Select,
        (ffi::SQLITE_RECURSIVE, ..) => AuthAction::Recursive,
        (ffi::SQLITE_READ, Some(table_name), Some(column_name)) => {
            AuthAction::Read { table_name, column_name }
        }
        (ffi::SQLITE_FUNCTION, _, Some(function_name)) => AuthAction::Function { function_name },
        (ffi::SQLITE_PRAGMA, Some(pragma_name), pragma_value) => {
            AuthAction::Pragma { pragma_name, pragma_value }
        }
        (ffi::SQLITE_ATTACH, Some(filename), _) => AuthAction::Attach { filename },
        (ffi::SQLITE_ATTACH, None, _) => AuthAction::Attach { filename: "" },
        (ffi::SQLITE_DETACH, Some(database_name), _) => AuthAction::Detach { database_name },
        (ffi::SQLITE_TRANSACTION, ..) => AuthAction::Transaction { operation },
        (ffi::SQLITE_SAVEPOINT, ..) => {
            AuthAction::Savepoint { operation, savepoint_name: second.unwrap_or_default() }
        }
        (ffi::SQLITE_INSERT, Some(table_name), _) => AuthAction::Insert { table_name },
        (ffi::SQLITE_DELETE, Some(table_name), _) => AuthAction::Delete { table_name },
        (ffi::SQLITE_UPDATE, Some(table_name), Some(column_name)) => {
            AuthAction::Update { table_name, column_name }
        }
        (ffi::SQLITE_DROP_TABLE, Some(table_name), _) => AuthAction::DropTable { table_name },
        (ffi::SQLITE_CREATE_VTABLE, Some(table_name), Some(module_name)) => {
            AuthAction::CreateVtable { table_name, module_name }
        }
        (ffi::SQLITE_CREATE_TRIGGER, Some(trigger_name), Some(table_name)) => {
            AuthAction::CreateTrigger { trigger_name, table_name }
        }
        (ffi::SQLITE_CREATE_TEMP_TRIGGER, Some(trigger_name), Some(table_name)) => {
            AuthAction::CreateTempTrigger { trigger_name, table_name }
        }
        (code, arg1, arg2) => AuthAction::Unknown { code, arg1, arg2 },
    }
}
