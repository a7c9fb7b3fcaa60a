//! The catalog: what the role may read of the tables and views that the grant covers, with keys,
//! indexes, comments and estimates, in a few queries over the server's own tables.

use std::collections::{HashMap, HashSet};

use globset::GlobSet;
use syrch_arrow_engine::{LeftOut, Schema};
use syrch_core::ports::ColumnStats;
use syrch_core::{Column, Dialect, ForeignKey, Index, Table};
use syrch_guard::sets;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, Row};

use crate::guard;

/// Tables and views of the database that the role may read. Partitions are read through their
/// table.
const TABLES: &str = "SELECT c.oid, n.nspname::text, c.relname::text, c.relkind::text, \
     c.reltuples::float8, obj_description(c.oid, 'pg_class') FROM pg_class c \
     JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') \
     AND NOT c.relispartition AND NOT n.nspname LIKE 'pg\\_%' \
     AND n.nspname <> 'information_schema' AND has_schema_privilege(n.oid, 'USAGE') \
     AND has_any_column_privilege(c.oid, 'SELECT') ORDER BY 2, 3";

const COLUMNS: &str = "SELECT attrelid, attname::text, format_type(atttypid, atttypmod), NOT \
     attnotnull, col_description(attrelid, attnum) FROM pg_attribute WHERE attrelid = ANY ($1) \
     AND attnum > 0 AND NOT attisdropped AND has_column_privilege(attrelid, attnum, 'SELECT') \
     ORDER BY attrelid, attnum";

/// The enumerations that columns are made of, also through domains and arrays.
const ENUMERATIONS: &str = "WITH RECURSIVE base(relation, name, type) AS (\
     SELECT attrelid, attname::text, atttypid FROM pg_attribute \
     WHERE attrelid = ANY ($1) AND attnum > 0 AND NOT attisdropped \
     UNION ALL SELECT b.relation, b.name, CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE \
     t.typelem END FROM base b JOIN pg_type t ON t.oid = b.type WHERE t.typtype = 'd' OR \
     (t.typcategory = 'A' AND t.typelem <> 0)) SELECT b.relation, b.name, b.type FROM base b \
     JOIN pg_type t ON t.oid = b.type WHERE t.typtype = 'e'";

/// The first labels of enumerations, and how many there are.
const LABELS: &str = "SELECT t.oid, format_type(t.oid, NULL), \
     ARRAY(SELECT enumlabel::text FROM pg_enum WHERE enumtypid = t.oid ORDER BY enumsortorder \
     LIMIT 100), (SELECT count(*) FROM pg_enum WHERE enumtypid = t.oid) FROM pg_type t \
     WHERE t.oid = ANY ($1)";

const CHECKS: &str = "SELECT conrelid, pg_get_expr(conbin, conrelid) FROM pg_constraint \
     WHERE conrelid = ANY ($1) AND contype = 'c' AND convalidated ORDER BY conrelid, conname";

const KEYS: &str = "SELECT k.conrelid, k.contype::text, k.confrelid, \
     (SELECT array_agg(a.attname::text ORDER BY u.place) FROM unnest(k.conkey) WITH ORDINALITY \
     u(number, place) JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.number), \
     (SELECT array_agg(a.attname::text ORDER BY u.place) FROM unnest(k.confkey) WITH ORDINALITY \
     u(number, place) JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.number) \
     FROM pg_constraint k WHERE k.conrelid = ANY ($1) AND k.contype IN ('p', 'f') \
     ORDER BY k.conrelid, k.conname";

const INDEXES: &str = "SELECT i.indrelid, c.relname::text, i.indisunique, m.amname::text, \
     pg_get_expr(i.indpred, i.indrelid), \
     ARRAY(SELECT pg_get_indexdef(i.indexrelid, number, true) FROM generate_series(1, \
     i.indnkeyatts) number) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
     JOIN pg_am m ON m.oid = c.relam WHERE i.indrelid = ANY ($1) AND i.indisvalid \
     ORDER BY i.indrelid, c.relname";

const STATS: &str = "SELECT a.attname::text, s.n_distinct::float8, s.null_frac::float8, \
     s.correlation::float8, s.avg_width, greatest(c.reltuples, 0)::float8 \
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
     JOIN pg_attribute a ON a.attrelid = c.oid LEFT JOIN pg_stats s ON s.schemaname = n.nspname \
     AND s.tablename = c.relname AND s.attname = a.attname WHERE n.nspname = $1 AND c.relname = $2 \
     AND a.attnum > 0 AND NOT a.attisdropped";

/// Reads the catalog.
///
/// # Errors
/// Those of the server, and a lost connection.
pub(crate) async fn read(
    client: &Client,
    globs: Option<&GlobSet>,
    foreign_tables: bool,
) -> Result<Schema, Error> {
    let unsafe_views = guard::unsafe_views(client).await?;
    let mut foreign_below: HashSet<u32> = HashSet::new();
    for row in client.query_typed(guard::FOREIGN_BELOW, &[]).await? {
        foreign_below.insert(row.try_get(0)?);
    }
    let mut schema = Schema::default();
    let mut oids: Vec<u32> = Vec::new();
    for row in client.query_typed(TABLES, &[]).await? {
        let (namespace, name, kind): (String, String, String) =
            (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
        let full = format!("{namespace}.{name}");
        let is_granted = globs.is_none_or(|globs| globs.is_match(&name) || globs.is_match(&full));
        schema.names.push(full);
        if !is_granted {
            continue;
        }
        let oid: u32 = row.try_get(0)?;
        let reason = match kind.as_str() {
            "f" if !foreign_tables => {
                Some("it is a foreign table, which reads a file or another server".to_owned())
            }
            "v" => unsafe_views.get(&oid).cloned(),
            _ if !foreign_tables && foreign_below.contains(&oid) => Some(
                "a partition or a child of it is a foreign table, which reads a file or \
                 another server"
                    .to_owned(),
            ),
            _ => None,
        };
        match reason {
            Some(reason) => {
                tracing::warn!(schema = namespace, name, reason, "a table or view is left out");
                schema.left_out.push(LeftOut { schema: namespace, name, reason });
            }
            None => {
                oids.push(oid);
                schema.tables.push(table(&row, namespace, name, &kind)?);
            }
        }
    }
    let places: HashMap<u32, usize> =
        oids.iter().enumerate().map(|(place, oid)| (*oid, place)).collect();
    columns(client, &oids, &places, &mut schema.tables).await?;
    close_sets(client, &oids, &places, &mut schema.tables).await?;
    keys(client, &oids, &places, &mut schema.tables).await?;
    indexes(client, &oids, &places, &mut schema.tables).await?;
    Ok(schema)
}

fn table(row: &Row, schema_name: String, name: String, kind: &str) -> Result<Table, Error> {
    let estimate: f64 = row.try_get(4)?;
    // Before the first ANALYZE it is 0 up to version 13 and -1 from 14 on; a view has none.
    let row_estimate = (estimate > 0.0 && kind != "v").then_some(estimate as u64);
    let kind = match kind {
        "v" => Some("view"),
        "m" => Some("materialized-view"),
        "f" => Some("foreign-table"),
        _ => None,
    };
    let extra = kind.map(|kind| ("kind".to_owned(), format!("\"{kind}\""))).into_iter().collect();
    Ok(Table {
        schema_name: Some(schema_name),
        name,
        row_estimate,
        comment: row.try_get(5)?,
        extra,
        ..Table::default()
    })
}

async fn columns(
    client: &Client,
    oids: &Vec<u32>,
    places: &HashMap<u32, usize>,
    tables: &mut [Table],
) -> Result<(), Error> {
    for row in client.query_typed(COLUMNS, &[(oids, Type::OID_ARRAY)]).await? {
        if let Some(place) = places.get(&row.try_get(0)?) {
            tables[*place].columns.push(Column {
                name: row.try_get(1)?,
                sql_type: row.try_get(2)?,
                nullable: row.try_get(3)?,
                comment: row.try_get(4)?,
                ..Column::default()
            });
        }
    }
    Ok(())
}

/// Notes the only texts that columns can have: the labels of enumerations, and what constraints
/// allow.
async fn close_sets(
    client: &Client,
    oids: &Vec<u32>,
    places: &HashMap<u32, usize>,
    tables: &mut [Table],
) -> Result<(), Error> {
    let mut made_of: Vec<(usize, String, u32)> = Vec::new();
    for row in client.query_typed(ENUMERATIONS, &[(oids, Type::OID_ARRAY)]).await? {
        if let Some(place) = places.get(&row.try_get(0)?) {
            made_of.push((*place, row.try_get(1)?, row.try_get(2)?));
        }
    }
    let types: HashSet<u32> = made_of.iter().map(|(_, _, oid)| *oid).collect();
    let mut labels: HashMap<u32, (String, Vec<String>, usize)> = HashMap::new();
    for row in client
        .query_typed(LABELS, &[(&types.into_iter().collect::<Vec<_>>(), Type::OID_ARRAY)])
        .await?
    {
        let first: Vec<String> = row.try_get(2)?;
        let count = usize::try_from(row.try_get::<_, i64>(3)?).unwrap_or(0);
        let more = count.saturating_sub(first.len());
        labels.insert(row.try_get(0)?, (row.try_get(1)?, first, more));
    }
    for (place, name, oid) in made_of {
        let column = tables[place].columns.iter_mut().find(|column| column.name == name);
        if let Some((column, (enumeration, first, more))) = column.zip(labels.get(&oid)) {
            column.set_enumeration(enumeration);
            column.set_values(first.iter().cloned(), *more);
        }
    }
    for row in client.query_typed(CHECKS, &[(oids, Type::OID_ARRAY)]).await? {
        let (Some(place), Some(condition)) =
            (places.get(&row.try_get(0)?), row.try_get::<_, Option<String>>(1)?)
        else {
            continue;
        };
        for (name, values) in sets::read_condition(&condition, &Dialect::Postgres) {
            if let Some(column) =
                tables[*place].columns.iter_mut().find(|column| column.name == name)
            {
                column.set_values(values, 0);
            }
        }
    }
    Ok(())
}

/// Primary keys, and the foreign keys between granted columns.
async fn keys(
    client: &Client,
    oids: &Vec<u32>,
    places: &HashMap<u32, usize>,
    tables: &mut [Table],
) -> Result<(), Error> {
    for row in client.query_typed(KEYS, &[(oids, Type::OID_ARRAY)]).await? {
        let (Some(place), kind) = (places.get(&row.try_get(0)?), row.try_get::<_, String>(1)?)
        else {
            continue;
        };
        let columns: Vec<String> = row.try_get::<_, Option<Vec<String>>>(3)?.unwrap_or_default();
        if !tables[*place].has_columns(&columns) {
            continue;
        }
        if kind == "p" {
            tables[*place].primary_key = columns;
            continue;
        }
        let ref_columns: Vec<String> =
            row.try_get::<_, Option<Vec<String>>>(4)?.unwrap_or_default();
        let Some(other) =
            places.get(&row.try_get(2)?).filter(|other| tables[**other].has_columns(&ref_columns))
        else {
            continue;
        };
        let other = &tables[*other];
        // The catalog gives it the name by which it is shown.
        let ref_table = match &other.schema_name {
            Some(schema) => format!("{schema}.{}", other.name),
            None => other.name.clone(),
        };
        tables[*place].foreign_keys.push(ForeignKey { columns, ref_table, ref_columns });
    }
    Ok(())
}

async fn indexes(
    client: &Client,
    oids: &Vec<u32>,
    places: &HashMap<u32, usize>,
    tables: &mut [Table],
) -> Result<(), Error> {
    for row in client.query_typed(INDEXES, &[(oids, Type::OID_ARRAY)]).await? {
        let Some(place) = places.get(&row.try_get(0)?) else { continue };
        let columns: Vec<String> = row.try_get(5)?;
        let columns =
            columns.into_iter().map(|name| name.trim_matches('"').replace("\"\"", "\"")).collect();
        let name = row.try_get(1)?;
        let is_unique = row.try_get(2)?;
        let method = row.try_get(3)?;
        tables[*place].indexes.push(Index {
            name,
            columns,
            is_unique,
            method,
            predicate: row.try_get(4)?,
        });
    }
    Ok(())
}

/// The planner's statistics of columns; its most common values and bounds are cells, and are not
/// read.
///
/// # Errors
/// The server's error.
pub(crate) async fn column_stats(
    client: &Client,
    schema: &str,
    table: &str,
    columns: &[String],
) -> Result<Vec<ColumnStats>, Error> {
    let wanted: HashSet<&String> = columns.iter().collect();
    let mut found = Vec::new();
    for row in client.query_typed(STATS, &[(&schema, Type::TEXT), (&table, Type::TEXT)]).await? {
        let column: String = row.try_get(0)?;
        if !wanted.contains(&column) {
            continue;
        }
        // A negative number is a share of the rows.
        let (distinct, rows): (Option<f64>, f64) = (row.try_get(1)?, row.try_get(5)?);
        let distinct =
            distinct.map(|distinct| if distinct < 0.0 { -distinct * rows } else { distinct });
        found.push(ColumnStats {
            column,
            distinct: distinct.filter(|distinct| *distinct > 0.0),
            null_fraction: row.try_get(2)?,
            correlation: row.try_get(3)?,
            average_width: row
                .try_get::<_, Option<i32>>(4)?
                .and_then(|width| u32::try_from(width).ok()),
        });
    }
    found.sort_by_key(|stats| columns.iter().position(|column| *column == stats.column));
    Ok(found)
}
