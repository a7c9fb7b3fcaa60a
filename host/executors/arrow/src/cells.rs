//! The index of values, samples and statistics, by statements of the host's own. The index is built
//! when it is first asked, within a few seconds and from the first rows of each table, and used for
//! some minutes: the database is not read again for every question.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use syrch_core::ports::{ColumnStats, Match, PortError, Sample};
use syrch_core::{
    Catalog, Dialect, Hit, Limits, ResultSet, SqlError, SqlErrorKind, Table, Value, blocking, text,
};
use syrch_guard::cells::port_error;
use syrch_guard::values::{CHARACTERS, Phrase, VALUES, Values};

/// Rows of a table that are looked at.
const ROWS: u64 = 100_000;
/// The time limit for building an index.
const INDEXING: Duration = Duration::from_secs(5);
/// The age up to which an index, samples and statistics are used.
pub(crate) const CURRENT: Duration = Duration::from_secs(600);
/// Columns of one statement, so that it stays small.
const COLUMNS: usize = 16;
/// Rows that are read of a statement.
const READ: u64 = 50_000;
/// Bytes of a sampled value.
const CLIP: usize = 1_024;

/// Beginnings of the names of types whose values nobody names in a question by their text.
const NO_TEXT: [&str; 43] = [
    "array<",
    "bigint",
    "bignum",
    "bit",
    "blob",
    "bool",
    "box",
    "bytea",
    "circle",
    "date",
    "decimal",
    "double",
    "float",
    "hugeint",
    "inet",
    "int",
    "json",
    "line",
    "lseg",
    "macaddr",
    "map(",
    "map<",
    "money",
    "num",
    "oid",
    "path",
    "point",
    "polygon",
    "real",
    "smallint",
    "struct(",
    "struct<",
    "time",
    "tinyint",
    "ts",
    "ubigint",
    "uhugeint",
    "uint",
    "usmallint",
    "utinyint",
    "uuid",
    "variant",
    "xml",
];

/// Runs statements of the host's own, which pass the guard as any does.
#[async_trait]
pub(crate) trait Reader: Send + Sync {
    /// Runs a statement within these caps and this time.
    ///
    /// # Errors
    /// Those of the guard and the engine.
    async fn select(
        &self,
        sql: &str,
        limits: &Limits,
        time: Duration,
    ) -> Result<ResultSet, SqlError>;
}

/// The index of values of one database.
#[derive(Default)]
pub(crate) struct ValueIndex(tokio::sync::Mutex<Option<(Instant, Arc<Values>)>>);

impl ValueIndex {
    /// Cells that match each phrase, as `CellIndex::find` says.
    ///
    /// # Errors
    /// [`PortError::Unsupported`] for a comparison by meaning, and [`PortError::Other`] for too
    /// many phrases.
    pub(crate) async fn find(
        &self,
        reader: &dyn Reader,
        catalog: &Catalog,
        limits: &Limits,
        phrases: &[String],
        how: Match,
        limit: u32,
    ) -> Result<Vec<Vec<Hit>>, PortError> {
        if !matches!(how, Match::Exact | Match::Ngram | Match::Fuzzy) {
            return Err(PortError::Unsupported);
        }
        let phrases = Phrase::all(phrases)?;
        let index = blocking::await_work(self.values(reader, catalog, limits)).await;
        let found = tokio::task::spawn_blocking(move || {
            index.find(&phrases, &how, limit as usize, || Ok(()))
        })
        .await;
        found.map_err(|error| PortError::Other(error.to_string()))?.map_err(port_error)
    }

    /// The index, built on first use and again after some minutes.
    async fn values(&self, reader: &dyn Reader, catalog: &Catalog, limits: &Limits) -> Arc<Values> {
        let mut built = self.0.lock().await;
        if let Some((_, values)) = built.as_ref().filter(|(at, _)| at.elapsed() < CURRENT) {
            return Arc::clone(values);
        }
        let values = Arc::new(build(reader, catalog, limits).await);
        *built = Some((Instant::now(), Arc::clone(&values)));
        values
    }
}

/// Reads the small tables first, until the index is full or the time is up. A table that cannot be
/// read is left out.
async fn build(reader: &dyn Reader, catalog: &Catalog, limits: &Limits) -> Values {
    let time = limits.sql_deadline.min(INDEXING);
    let mut values = Values::new(time);
    let until = Instant::now() + time;
    let mut tables: Vec<&Table> = catalog.tables.iter().filter(|table| !table.is_view()).collect();
    tables.sort_by_key(|table| table.row_estimate.unwrap_or(ROWS));
    for table in tables {
        let columns = table.columns.iter().filter(|column| has_text(&column.sql_type));
        let columns: Vec<&str> = columns.map(|column| column.name.as_str()).collect();
        for columns in columns.chunks(COLUMNS) {
            let left = until.saturating_duration_since(Instant::now());
            if values.is_full() || left.is_zero() {
                tracing::info!(table = table.name, "the index of values ends here");
                values.finish();
                return values;
            }
            let limits = Limits { rows: READ, ..limits.clone() };
            match reader
                .select(&distinct_values_sql(table, columns, &catalog.dialect), &limits, left)
                .await
            {
                Ok(result) => add(&mut values, catalog, table, columns, &result),
                Err(error) => {
                    values.is_partial |=
                        matches!(error.kind, SqlErrorKind::Timeout | SqlErrorKind::Unavailable);
                    tracing::warn!(table = table.name, %error, "values of a table are not indexed");
                }
            }
        }
    }
    values.finish();
    values
}

fn add(
    values: &mut Values,
    catalog: &Catalog,
    table: &Table,
    columns: &[&str],
    result: &ResultSet,
) {
    let name: Arc<str> = catalog.table_name(table).into();
    let places: Vec<usize> = columns.iter().map(|column| values.place(&name, column)).collect();
    for row in result.rows(0, u64::MAX) {
        let [Value::Integer(column), Value::Text(text)] = row.as_slice() else { continue };
        let place = usize::try_from(*column).ok().and_then(|column| places.get(column));
        if let Some(place) = place.filter(|_| !text.trim().is_empty()) {
            values.add(*place, text);
        }
    }
}

/// Returns true if the values of a type are found by their text: texts and types that users made,
/// such as enumerations.
fn has_text(sql_type: &str) -> bool {
    let name = sql_type.to_ascii_lowercase();
    !name.ends_with(']') && !NO_TEXT.iter().any(|beginning| name.starts_with(beginning))
}

/// A table as FROM names it.
fn from(table: &Table, dialect: &Dialect) -> String {
    match &table.schema_name {
        Some(schema) => format!("{}.{}", dialect.quote(schema), dialect.quote(&table.name)),
        None => dialect.quote(&table.name),
    }
}

/// The different values of these columns with the place of each column, the frequent ones first.
fn distinct_values_sql(table: &Table, columns: &[&str], dialect: &Dialect) -> String {
    let from = from(table, dialect);
    let text = dialect.text_type();
    let most = (READ / columns.len().max(1) as u64).min(VALUES as u64);
    let mut sql = String::new();
    for (at, column) in columns.iter().enumerate() {
        let separator = if at > 0 { " UNION ALL " } else { "" };
        let _ = write!(
            sql,
            "{separator}SELECT * FROM (SELECT i, v FROM (SELECT {at} AS i, v, count(*) AS n \
             FROM (SELECT CAST({} AS {text}) AS v FROM {from} LIMIT {ROWS}) AS s \
             WHERE length(v) <= {CHARACTERS} GROUP BY v) AS g ORDER BY n DESC, v \
             LIMIT {most}) AS q{at}",
            dialect.quote(column)
        );
    }
    sql
}

/// The values of a statement about one column; empty for a type without an order or equality.
async fn values(
    reader: &dyn Reader,
    sql: &str,
    limits: &Limits,
) -> Result<Vec<Vec<Value>>, PortError> {
    match reader.select(sql, limits, limits.sql_deadline).await {
        Ok(result) => {
            let rows = result.rows(0, result.row_count());
            Ok(rows.into_iter().map(|row| row.into_iter().map(clip_value).collect()).collect())
        }
        Err(error) if error.kind == SqlErrorKind::TypeMismatch => Ok(Vec::new()),
        Err(error) => Err(port_error(error)),
    }
}

fn clip_value(value: Value) -> Value {
    match value {
        Value::Text(whole) => Value::Text(text::clip(&whole, CLIP).to_owned()),
        Value::Bytes(mut bytes) => {
            bytes.truncate(CLIP);
            Value::Bytes(bytes)
        }
        other => other,
    }
}

/// Reads one sample for each of these columns.
///
/// # Errors
/// Those of the guard and the engine.
pub(crate) async fn samples(
    reader: &dyn Reader,
    table: &Table,
    columns: &[String],
    limit: u32,
    dialect: &Dialect,
    limits: &Limits,
) -> Result<Vec<Sample>, PortError> {
    let mut samples = Vec::with_capacity(columns.len());
    for column in columns {
        let first = format!(
            "(SELECT {} AS v FROM {} LIMIT {ROWS}) AS s",
            dialect.quote(column),
            from(table, dialect)
        );
        let ends = values(reader, &format!("SELECT min(v), max(v) FROM {first}"), limits).await?;
        let (least, greatest) = match ends.into_iter().next().as_deref() {
            Some([least, greatest]) => (least.clone(), greatest.clone()),
            _ => (Value::Null, Value::Null),
        };
        let sql = format!(
            "SELECT v, count(*) FROM {first} WHERE v IS NOT NULL GROUP BY v ORDER BY 2 DESC, 1 \
             LIMIT {limit}"
        );
        let frequent = values(reader, &sql, limits).await?.into_iter().filter_map(|row| {
            match <[Value; 2]>::try_from(row).ok()? {
                [value, Value::Integer(count)] => Some((value, u64::try_from(count).ok()?)),
                _ => None,
            }
        });
        samples.push(Sample {
            column: column.clone(),
            least,
            greatest,
            frequent: frequent.collect(),
        });
    }
    Ok(samples)
}

/// Statistics of these columns over the first rows of the table.
///
/// # Errors
/// Those of the guard and the engine.
pub(crate) async fn column_stats(
    reader: &dyn Reader,
    table: &Table,
    columns: &[String],
    dialect: &Dialect,
    limits: &Limits,
) -> Result<Vec<ColumnStats>, PortError> {
    let mut stats = Vec::with_capacity(columns.len());
    for column in columns {
        let first = format!(
            "(SELECT {} AS v FROM {} LIMIT {ROWS}) AS s",
            dialect.quote(column),
            from(table, dialect)
        );
        let sql = format!("SELECT count(*), count(v), count(DISTINCT v) FROM {first}");
        let counted = match values(reader, &sql, limits).await?.into_iter().next().as_deref() {
            Some([Value::Integer(rows), Value::Integer(filled), Value::Integer(distinct)]) => {
                Some((*rows as f64, *filled as f64, *distinct as f64))
            }
            _ => None,
        };
        stats.push(ColumnStats {
            column: column.clone(),
            distinct: counted.map(|(_, _, distinct)| distinct),
            null_fraction: counted
                .filter(|(rows, ..)| *rows > 0.0)
                .map(|(rows, filled, _)| 1.0 - filled / rows),
            correlation: None,
            average_width: None,
        });
    }
    Ok(stats)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_types_of_users_are_indexed() {
        for (sql_type, expected) in [
            ("text", true),
            ("character varying(20)", true),
            ("sales.mood", true),
            ("citext", true),
            ("VARCHAR", true),
            ("ENUM('a', 'b')", true),
            ("string", true),
            ("text[]", false),
            ("INTEGER", false),
            ("numeric(10,2)", false),
            ("timestamp with time zone", false),
            ("UBIGINT", false),
            ("map<string,int>", false),
            ("urgency", true),
        ] {
            assert_eq!(has_text(sql_type), expected, "{sql_type}");
        }
        assert!(NO_TEXT.is_sorted());
    }
}
