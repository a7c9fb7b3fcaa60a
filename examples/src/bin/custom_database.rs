//! A database that the program implements itself: the planets, in memory. The host asks it for its
//! catalog, for cells that match words of the question, and to check and run statements; it refuses
//! whatever it does not understand.
//!
//! `cargo run --bin custom-database -- "How many planets are there?"`.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use async_trait::async_trait;
use syrch::arrow_array::{Int64Array, RecordBatch};
use syrch::arrow_schema::{DataType, Field, Schema};
use syrch::syrch_core::ports::{
    CellIndex, ColumnStats, Database, DatabaseError, Facts, Match, Plan, PortError, Sample,
    SqlQuery,
};
use syrch::syrch_core::{Catalog, Column, Dialect, Hit, ResultSet, SqlError, SqlErrorKind, Table};

const PLANETS: [&str; 8] =
    ["Mercury", "Venus", "Earth", "Mars", "Jupiter", "Saturn", "Uranus", "Neptune"];

struct Planets;

/// Understands one shape of statement, and returns the number of rows.
fn count(query: &SqlQuery) -> Result<i64, SqlError> {
    match query.text.trim() {
        "SELECT COUNT(*) FROM planets" => Ok(PLANETS.len() as i64),
        _ => Err(SqlError::new(SqlErrorKind::Denied, "only a count of the planets is understood")),
    }
}

#[async_trait]
impl CellIndex for Planets {
    async fn samples(&self, _: &str, _: &[String], _: u32) -> Result<Vec<Sample>, PortError> {
        Err(PortError::Unsupported)
    }

    async fn find(&self, _: &[String], _: Match, _: u32) -> Result<Vec<Vec<Hit>>, PortError> {
        // With an index of cells, questions could quote them: "Is Pluto a planet?"
        Err(PortError::Unsupported)
    }
}

#[async_trait]
impl Database for Planets {
    fn name(&self) -> &str {
        "planets"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Ansi
    }

    async fn identity(&self) -> Option<String> {
        None // Results are not cached.
    }

    async fn catalog(&self) -> Result<Arc<Catalog>, DatabaseError> {
        let column = Column { name: "name".into(), sql_type: "TEXT".into(), ..Column::default() };
        let table = Table { name: "planets".into(), columns: vec![column], ..Table::default() };
        Ok(Arc::new(Catalog {
            database: self.name().into(),
            dialect: self.dialect(),
            tables: vec![table],
        }))
    }

    fn compose(&self, query: &SqlQuery) -> Result<String, SqlError> {
        count(query).map(|_| query.text.clone())
    }

    async fn check(&self, query: &SqlQuery) -> Result<Facts, SqlError> {
        let tables = vec!["planets".into()];
        count(query).map(|_| Facts { tables, normalized: query.text.clone(), ..Facts::default() })
    }

    async fn explain(&self, query: &SqlQuery) -> Result<Plan, SqlError> {
        let format = "planets".into();
        let text = "all planets are counted".into();
        count(query).map(|_| Plan { format, text, cost: None, rows: Some(1.0) })
    }

    async fn run(&self, query: &SqlQuery) -> Result<ResultSet, SqlError> {
        let schema = Arc::new(Schema::new(vec![Field::new("count", DataType::Int64, false)]));
        let rows = RecordBatch::try_new(
            Arc::clone(&schema),
            vec![Arc::new(Int64Array::from(vec![count(query)?]))],
        );
        let rows = rows.map_err(|error| SqlError::new(SqlErrorKind::Other, error.to_string()))?;
        Ok(ResultSet::new(schema, vec![rows], false, Vec::new(), query.text.clone()))
    }

    async fn column_stats(&self, _: &str, _: &[String]) -> Result<Vec<ColumnStats>, PortError> {
        Err(PortError::Unsupported) // Plugins do without statistics.
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let question =
        std::env::args().nth(1).unwrap_or_else(|| "How many planets are there?".to_owned());
    let found = syrch::query(question, Arc::new(Planets)).await?;
    writeln!(std::io::stdout(), "{}\n{}", found.answer, found.sql)?;
    Ok(())
}
