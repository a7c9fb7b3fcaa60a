//! Binds the port `inspect` to some of the tables that the user granted.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{ColumnStats, CompiledMetric, Facts, InspectPort, Plan, PortError};
use syrch_core::{SqlError, SqlErrorKind};

/// The port `inspect`, whose statements and statistics may name these tables and no others.
pub struct NarrowedInspect {
    inner: Arc<dyn InspectPort>,
    /// The names of the tables, as the catalog spells them.
    tables: Arc<[String]>,
}

impl NarrowedInspect {
    /// Narrows a port to these tables.
    #[must_use]
    pub fn new(inner: Arc<dyn InspectPort>, tables: Arc<[String]>) -> Self {
        Self { inner, tables }
    }

    /// The names that an error suggests are those of any table.
    fn without_suggestions(error: SqlError) -> SqlError {
        SqlError { suggestions: Vec::new(), ..error }
    }
}

#[async_trait]
impl InspectPort for NarrowedInspect {
    async fn check(&self, text: &str) -> Result<Facts, SqlError> {
        let facts = self.inner.check(text).await.map_err(Self::without_suggestions)?;
        match facts.tables.iter().find(|table| !self.tables.contains(table)) {
            Some(table) => {
                let message =
                    format!("the table `{table}` is not one of the statement that is optimized");
                Err(SqlError::new(SqlErrorKind::Denied, message).rule("tables"))
            }
            None => Ok(facts),
        }
    }

    async fn explain(&self, text: &str) -> Result<Plan, SqlError> {
        self.check(text).await?;
        self.inner.explain(text).await.map_err(Self::without_suggestions)
    }

    async fn column_stats(
        &self,
        table: &str,
        columns: &[String],
    ) -> Result<Vec<ColumnStats>, PortError> {
        match self.tables.iter().any(|known| known.eq_ignore_ascii_case(table)) {
            true => self.inner.column_stats(table, columns).await,
            false => Err(PortError::UnknownName(table.to_owned())),
        }
    }

    // A metric may be of any table.
    async fn compile_metric(&self, _: &str) -> Result<CompiledMetric, PortError> {
        Err(PortError::Unsupported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every statement reads the table that is its whole text.
    struct Named;

    #[async_trait]
    impl InspectPort for Named {
        async fn check(&self, text: &str) -> Result<Facts, SqlError> {
            match text {
                "nothing" => Err(SqlError::new(SqlErrorKind::UnknownTable, "no")
                    .suggest(vec!["secret".to_owned()])),
                table => Ok(Facts { tables: vec![table.to_owned()], ..Facts::default() }),
            }
        }

        async fn explain(&self, text: &str) -> Result<Plan, SqlError> {
            Ok(Plan { format: "text".to_owned(), text: text.to_owned(), cost: None, rows: None })
        }

        async fn column_stats(&self, _: &str, _: &[String]) -> Result<Vec<ColumnStats>, PortError> {
            Ok(Vec::new())
        }

        async fn compile_metric(&self, _: &str) -> Result<CompiledMetric, PortError> {
            panic!("a narrowed port compiles nothing");
        }
    }

    #[tokio::test]
    async fn other_tables_are_neither_checked_nor_explained_nor_counted() {
        let port = NarrowedInspect::new(Arc::new(Named), Arc::from(["orders".to_owned()]));
        assert!(port.check("orders").await.is_ok() && port.explain("orders").await.is_ok());
        assert!(port.column_stats("Orders", &[]).await.is_ok());
        assert_eq!(port.check("secret").await.unwrap_err().kind, SqlErrorKind::Denied);
        assert_eq!(port.explain("secret").await.unwrap_err().rule.as_deref(), Some("tables"));
        assert_eq!(
            port.column_stats("secret", &[]).await,
            Err(PortError::UnknownName("secret".into()))
        );
        assert!(port.check("nothing").await.unwrap_err().suggestions.is_empty());
    }
}
