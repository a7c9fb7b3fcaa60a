//! The driver's database and its connections. Everything here blocks and runs on threads of its
//! own.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use adbc_core::error::Error;
use adbc_core::options::{OptionConnection, OptionDatabase, OptionValue};
use adbc_core::{Connection as _, Database as _, Driver as _, Optionable as _, Statement as _};
use adbc_driver_manager::{ManagedConnection, ManagedDatabase, ManagedDriver};
use secrecy::ExposeSecret;
use syrch_core::ports::DatabaseError;

use crate::file::{self, Stamp};
use crate::session::{self, After};
use crate::{AdbcConfig, error, library};

/// A database of the driver, which is opened again where its file has changed.
pub(crate) struct Connector {
    pub(crate) config: AdbcConfig,
    driver: ManagedDriver,
    /// The file of an embedded database, absolute and without links.
    pub(crate) file: Option<PathBuf>,
    opened: Mutex<Option<(Option<Stamp>, ManagedDatabase)>>,
    /// Connections that are set up and reset, for drivers whose connections are expensive.
    idle: Mutex<Vec<ManagedConnection>>,
    /// True if the driver took the option for connections that only read.
    has_read_only: AtomicBool,
}

impl Connector {
    /// Loads the driver and opens the database once, so that errors show.
    ///
    /// # Errors
    /// When the database cannot be opened.
    pub(crate) fn open(config: AdbcConfig) -> Result<Self, DatabaseError> {
        config.check()?;
        let file = config
            .location()
            .map(|path| file::locate(path, &config.display_address()))
            .transpose()?;
        let driver = library::load(&config)?;
        let connector = Self {
            config,
            driver,
            file,
            opened: Mutex::default(),
            idle: Mutex::default(),
            has_read_only: AtomicBool::new(false),
        };
        let connection = connector.session()?;
        connector.give_back(connection);
        Ok(connector)
    }

    /// Returns true if connections cannot write, whatever a statement is.
    pub(crate) fn only_reads(&self) -> bool {
        session::only_reads(&self.config.dialect) || self.has_read_only.load(Ordering::Relaxed)
    }

    /// The state of the database's file; `None` without one.
    ///
    /// # Errors
    /// When the file is gone.
    pub(crate) fn file_stamp(&self) -> Result<Option<Stamp>, DatabaseError> {
        let Some(file) = &self.file else { return Ok(None) };
        Stamp::read(file, &self.config.dialect).map(Some).map_err(|_| DatabaseError::Missing {
            path: self.config.display_address(),
            similar: Vec::new(),
        })
    }

    /// The database in the state that its file has now: a driver may hold on to what it has read
    /// once.
    fn current_database(&self) -> Result<ManagedDatabase, DatabaseError> {
        let mut opened = lock(&self.opened);
        let stamp = self.file_stamp()?;
        if let Some((_, database)) = opened.as_ref().filter(|(seen, _)| *seen == stamp) {
            return Ok(database.clone());
        }
        let options = session::options(&self.config, self.file.as_deref()).into_iter();
        let options = options.map(|(name, value)| {
            (
                OptionDatabase::from(name.as_str()),
                OptionValue::String(value.expose_secret().to_owned()),
            )
        });
        let database = self
            .driver
            .clone()
            .new_database_with_opts(options)
            .map_err(|error| self.opening_error(&error))?;
        *opened = Some((stamp, database.clone()));
        Ok(database)
    }

    fn opening_error(&self, error: &Error) -> DatabaseError {
        error::opening(error, &self.config)
    }

    /// A new connection as the driver makes it, which only reads where the driver has such
    /// connections.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn connect(&self) -> Result<ManagedConnection, DatabaseError> {
        let options = self.config.connection.iter().map(|(name, value)| {
            (
                OptionConnection::from(name.as_str()),
                OptionValue::String(value.expose_secret().to_owned()),
            )
        });
        let connection = self.current_database()?.new_connection_with_opts(options);
        let mut connection = connection.map_err(|error| self.opening_error(&error))?;
        if !session::only_reads(&self.config.dialect) {
            let is_taken = connection.set_option(OptionConnection::ReadOnly, "true".into()).is_ok();
            self.has_read_only.store(is_taken, Ordering::Relaxed);
        }
        Ok(connection)
    }

    /// A connection that is set up for a statement.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn session(&self) -> Result<ManagedConnection, DatabaseError> {
        if let Some(connection) = lock(&self.idle).pop() {
            return Ok(connection);
        }
        let mut connection = self.connect()?;
        self.set_up(&mut connection).map_err(|error| self.opening_error(&error))?;
        Ok(connection)
    }

    fn set_up(&self, connection: &mut ManagedConnection) -> Result<(), Error> {
        let statements = session::setup(&self.config.dialect, self.config.limits.sql_deadline);
        statements.iter().try_for_each(|sql| run_statement(connection, sql))
    }

    /// Returns a connection whose statement was read to its end, as it was before, or closes it.
    pub(crate) fn reset_or_close(&self, mut connection: ManagedConnection) {
        let After::Reset(statements) = session::statements_after(&self.config.dialect) else {
            return;
        };
        let reset = statements.iter().try_for_each(|sql| run_statement(&mut connection, sql));
        match reset.and_then(|()| self.set_up(&mut connection)) {
            Ok(()) => self.give_back(connection),
            Err(_) => tracing::debug!(
                database = self.config.name,
                "a connection is closed after a statement"
            ),
        }
    }

    fn give_back(&self, connection: ManagedConnection) {
        let mut idle = lock(&self.idle);
        if session::statements_after(&self.config.dialect) != After::Close
            && idle.len() < self.config.limits.sql_in_flight
        {
            idle.push(connection);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a statement of our own without a result.
fn run_statement(connection: &mut ManagedConnection, sql: &str) -> Result<(), Error> {
    let mut statement = connection.new_statement()?;
    statement.set_sql_query(sql)?;
    statement.execute_update().map(drop)
}
