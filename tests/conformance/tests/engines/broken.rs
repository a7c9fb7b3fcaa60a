//! SQLite with a fault.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use syrch_conformance::{Capabilities, Engine};
use syrch_core::ports::{
    CellIndex, ColumnStats, Database, DatabaseError, Facts, Match, Plan, PortError, Sample,
    SqlQuery,
};
use syrch_core::{Catalog, Dialect, Hit, Limits, ResultSet, SqlError, SqlErrorKind};

use crate::Sqlite;

/// A fault of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It speaks another dialect than it declares.
    OtherDialect,
    /// The catalog lacks a table.
    TableMissing,
    /// The catalog lacks foreign keys.
    KeysMissing,
    /// Statements run with the default limits.
    LimitsIgnored,
    /// Relations are left out.
    RelationsIgnored,
    /// All errors are of one kind.
    OneKind,
    /// The identity never changes.
    ConstantIdentity,
    /// Statements have twelve seconds, whatever their deadline.
    DeadlineIgnored,
    /// The statement of a result is not the one that ran.
    OtherStatement,
}

impl Fault {
    /// Each with the case that must find it.
    pub(crate) const ALL: [(Self, &'static str); 12] = [
        (Self::OtherDialect, "names_and_dialect"),
        (Self::TableMissing, "catalog"),
        (Self::KeysMissing, "keys"),
        (Self::LimitsIgnored, "rows_are_capped"),
        (Self::LimitsIgnored, "bytes_are_capped"),
        (Self::LimitsIgnored, "long_statements_are_refused"),
        (Self::RelationsIgnored, "relations_are_spliced"),
        (Self::OneKind, "errors_by_kind"),
        (Self::OneKind, "writes_are_refused"),
        (Self::ConstantIdentity, "identity"),
        (Self::DeadlineIgnored, "deadline"),
        (Self::OtherStatement, "relations_are_spliced"),
    ];
}

/// An engine with a fault.
pub(crate) struct Broken {
    pub(crate) engine: Sqlite,
    pub(crate) fault: Fault,
}

#[async_trait]
impl Engine for Broken {
    fn capabilities(&self) -> Capabilities {
        self.engine.capabilities()
    }

    async fn open(&self, limits: Limits) -> Arc<dyn Database> {
        // The deadline stays, so that no test takes long.
        let limits = match self.fault {
            Fault::LimitsIgnored => {
                Limits { sql_deadline: limits.sql_deadline, ..Limits::default() }
            }
            Fault::DeadlineIgnored => Limits { sql_deadline: Duration::from_secs(12), ..limits },
            _ => limits,
        };
        Arc::new(BrokenDatabase { database: self.engine.open(limits).await, fault: self.fault })
    }

    async fn change(&self) {
        self.engine.change().await;
    }
}

struct BrokenDatabase {
    database: Arc<dyn Database>,
    fault: Fault,
}

impl BrokenDatabase {
    fn query(&self, query: &SqlQuery) -> SqlQuery {
        match self.fault {
            Fault::RelationsIgnored => SqlQuery::new(&query.text),
            _ => query.clone(),
        }
    }

    fn error(&self, error: SqlError) -> SqlError {
        if self.fault == Fault::OneKind {
            SqlError { kind: SqlErrorKind::Other, ..error }
        } else {
            error
        }
    }
}

#[async_trait]
impl Database for BrokenDatabase {
    fn name(&self) -> &str {
        self.database.name()
    }

    fn dialect(&self) -> Dialect {
        if self.fault == Fault::OtherDialect { Dialect::Mysql } else { self.database.dialect() }
    }

    async fn identity(&self) -> Option<String> {
        match self.fault {
            Fault::ConstantIdentity => Some("constant".to_owned()),
            _ => self.database.identity().await,
        }
    }

    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError> {
        let mut catalog = Catalog::clone(&*self.database.catalog().await?);
        match self.fault {
            Fault::TableMissing => drop(catalog.tables.pop()),
            Fault::KeysMissing => {
                catalog.tables.iter_mut().for_each(|table| table.foreign_keys.clear())
            }
            _ => {}
        }
        Ok(Arc::new(catalog))
    }

    fn compose(&self, query: &SqlQuery) -> Result<String, SqlError> {
        self.database.compose(&self.query(query))
    }

    async fn check(&self, query: &SqlQuery) -> Result<Facts, SqlError> {
        self.database.check(&self.query(query)).await.map_err(|error| self.error(error))
    }

    async fn explain(&self, query: &SqlQuery) -> Result<Plan, SqlError> {
        self.database.explain(query).await.map_err(|error| self.error(error))
    }

    async fn run(&self, query: &SqlQuery) -> Result<ResultSet, SqlError> {
        let mut result =
            self.database.run(&self.query(query)).await.map_err(|error| self.error(error))?;
        if self.fault == Fault::OtherStatement {
            result.sql.clone_from(&query.text);
        }
        Ok(result)
    }

    async fn column_stats(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<Vec<ColumnStats>, PortError> {
        self.database.column_stats(table, columns).await
    }
}

#[async_trait]
impl CellIndex for BrokenDatabase {
    async fn samples(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Result<Vec<Sample>, PortError> {
        self.database.samples(table, columns, limit).await
    }

    async fn find(
        &self,
        phrases: &[String],
        how: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        self.database.find(phrases, how, limit).await
    }
}
