//! Stand-ins for the database and the model of a run that is repeated from its journal alone.

use std::sync::Arc;

use async_trait::async_trait;
use syrch_core::ports::{
    CellIndex, ColumnStats, Database, DatabaseError, Estimate, Facts, LlmError, Match, ModelCall,
    ModelOutcome, ModelProvider, Plan, PortError, Sample, SqlQuery,
};
use syrch_core::{Catalog, Dialect, Hit, ResultSet, SqlError, SqlErrorKind};
use syrch_journal::Header;
use syrch_layers::{Limiter, Rates, Route, RoutedModel};

use crate::Error;

/// A stand-in for a database and a model in a replay: whatever reaches it is not in the journal.
pub(crate) struct Nothing {
    catalog: Arc<Catalog>,
    models: Vec<String>,
    provider: String,
}

impl Nothing {
    pub(crate) fn from_header(header: &Header) -> Self {
        Self {
            catalog: Arc::clone(&header.catalog),
            models: header.models.clone(),
            provider: header.provider.clone(),
        }
    }
}

/// The models of a journal, none of which answers.
pub(crate) fn no_model(header: &Header, nothing: &Arc<Nothing>) -> Result<RoutedModel, Error> {
    let limiter = Limiter::new(Rates::default());
    let mut routes = header.models.iter().map(|name: &String| Route {
        name: name.clone(),
        provider: Arc::clone(nothing) as _,
        model: None,
        limiter: Arc::clone(&limiter),
    });
    let default = routes
        .next()
        .ok_or_else(|| Error::Unfit(format!("the journal of `{}` names no model", header.run)))?;
    RoutedModel::new(default, routes.collect(), &Default::default())
        .map_err(|error| Error::Unfit(error.to_string()))
}

const MISSING: &str = "the journal does not hold this";

fn no_database<T>() -> Result<T, SqlError> {
    Err(SqlError::new(SqlErrorKind::Unavailable, MISSING))
}

fn missing_port<T>() -> Result<T, PortError> {
    Err(PortError::Unavailable(MISSING.to_owned()))
}

#[async_trait]
impl CellIndex for Nothing {
    async fn samples(&self, _: &str, _: &[String], _: u32) -> Result<Vec<Sample>, PortError> {
        missing_port()
    }

    async fn find(&self, _: &[String], _: Match, _: u32) -> Result<Vec<Vec<Hit>>, PortError> {
        missing_port()
    }
}

#[async_trait]
impl Database for Nothing {
    fn name(&self) -> &str {
        &self.catalog.database
    }

    fn dialect(&self) -> Dialect {
        self.catalog.dialect.clone()
    }

    async fn identity(&self) -> Option<String> {
        None
    }

    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError> {
        Ok(Arc::clone(&self.catalog))
    }

    fn compose(&self, _: &SqlQuery) -> Result<String, SqlError> {
        no_database()
    }

    async fn check(&self, _: &SqlQuery) -> Result<Facts, SqlError> {
        no_database()
    }

    async fn explain(&self, _: &SqlQuery) -> Result<Plan, SqlError> {
        no_database()
    }

    async fn run(&self, _: &SqlQuery) -> Result<ResultSet, SqlError> {
        no_database()
    }

    async fn column_stats(&self, _: &str, _: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        missing_port()
    }
}

#[async_trait]
impl ModelProvider for Nothing {
    fn name(&self) -> &str {
        &self.provider
    }

    fn models(&self) -> Vec<String> {
        self.models.clone()
    }

    fn estimate(&self, _: &ModelCall) -> Estimate {
        Estimate::default()
    }

    async fn complete(&self, _: &ModelCall) -> ModelOutcome {
        ModelOutcome::unsent(LlmError::Unavailable(MISSING.to_owned()))
    }
}
