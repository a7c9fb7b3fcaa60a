//! Doubts about a result as its statement's outermost query makes it: the rows that come first,
//! groups that share a name, columns that say nothing.

use syrch_core::ports::{OrderKey, Outline, Selected, Use, UseKind};
use syrch_core::{Doubt, DoubtKind, Value};

use super::joins::Side;
use super::probe::Probe;
use super::words::{LONG, SHORT};
use super::{Author, Judge, SHOWN};

/// Rows from which on two equal columns are no chance.
const EQUAL: usize = 3;

impl Judge<'_> {
    /// The doubts about the outermost query.
    pub(super) async fn outline(&mut self, outline: &Outline) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        doubts.extend(self.nulls_first(outline).await);
        doubts.extend(self.doubt_shared_name(outline).await);
        doubts.extend(self.null_aggregate(outline));
        doubts.extend(self.same_columns(outline));
        doubts.extend(self.doubt_repeated_things(outline).await);
        doubts
    }

    /// The doubt about the first rows of a table whose order begins with NULL.
    async fn nulls_first(&mut self, outline: &Outline) -> Option<Doubt> {
        let OrderKey { by, is_descending, nulls_first, filter } = outline.order.as_ref()?;
        let Selected::Column(column) = by else { return None };
        let by_default = self.dialect.syntax().nulls.is_first(*is_descending);
        if outline.relations != 1 || outline.limit.is_none() || !nulls_first.unwrap_or(by_default) {
            return None;
        }
        if !outline.groups.is_empty() {
            return None;
        }
        let one = Use {
            table: column.table.clone(),
            column: column.column.clone(),
            value: None,
            filter: filter.clone(),
            kind: UseKind::Condition,
        };
        let sql = Probe::new(&one, self.catalog, self.dialect)?.any_null();
        if !self.is_any(sql, SHORT).await? {
            return None;
        }
        let text = format!(
            "the rows that come first have NULL in {0}: leave them out by {0} IS NOT NULL",
            one.column
        );
        Some(Doubt { kind: DoubtKind::NullsFirst, text })
    }

    /// The doubt about groups by a name that several rows of its table have, while other tables are
    /// joined.
    async fn doubt_shared_name(&mut self, outline: &Outline) -> Option<Doubt> {
        let [Selected::Column(group)] = outline.groups.as_slice() else { return None };
        let side = Side::new(self.catalog, &group.table, &group.column)?;
        let [key] = side.table.primary_key.as_slice() else { return None };
        let is_name = is_row_name(&group.column);
        let is_reference = side.references(self.catalog).next().is_some();
        if outline.relations < 2 || side.is_key() || is_reference || !is_name || is_unique(side) {
            return None;
        }
        let one = Use {
            table: group.table.clone(),
            column: group.column.clone(),
            value: None,
            filter: None,
            kind: UseKind::Condition,
        };
        let sql = Probe::new(&one, self.catalog, self.dialect)?.any_shared();
        if !self.is_any(sql, LONG).await? {
            return None;
        }
        let text = format!(
            "several rows of {} have one {}, and count as one group: group by {key} too",
            one.table, one.column
        );
        Some(Doubt { kind: DoubtKind::SharedName, text })
    }

    /// The doubt about one name that is compared with a column and that several rows of its table
    /// have, while rows of another table are counted: those of two people count together.
    pub(super) async fn doubt_name_of_several(
        &mut self,
        one: &Use,
        probe: &Probe<'_>,
        texts: &[String],
    ) -> Option<Doubt> {
        let side = Side::new(self.catalog, &one.table, &one.column)?;
        let ([_], [_]) = (side.table.primary_key.as_slice(), texts) else { return None };
        let is_counted = match self.defined {
            // The first table of the definition is the one whose rows count.
            Some(sql) => {
                let plain = sql.replace(['"', '`'], "");
                let mut sources = plain
                    .lines()
                    .filter_map(|line| line.trim_start().strip_prefix("FROM "))
                    .filter_map(|source| source.split(" AS ").next()?.rsplit('.').next());
                !sources.any(|source| source == side.table.name)
            }
            None if self.author == Author::Other => false,
            None => self.outline.is_some_and(|outline| match outline.columns.as_slice() {
                [Selected::Aggregate { of, .. }] => {
                    outline.relations > 1
                        && outline.groups.is_empty()
                        && of.as_ref().is_none_or(|of| of.table != one.table)
                }
                _ => false,
            }),
        };
        let is_reference = side.references(self.catalog).next().is_some();
        if !is_counted || !is_row_name(&one.column) || is_reference || is_unique(side) {
            return None;
        }
        if !self.is_any(probe.any_repeated(texts)?, LONG).await? {
            return None;
        }
        let text = format!(
            "several rows of {} have the {} that is named, and count together",
            one.table, one.column
        );
        Some(Doubt { kind: DoubtKind::SharedName, text })
    }

    /// The doubt about named things that are listed several times, once for each row that is joined
    /// to them.
    async fn doubt_repeated_things(&mut self, outline: &Outline) -> Option<Doubt> {
        let repeated = outline.repeated.as_ref()?;
        let mut shown = outline.columns.iter().filter_map(Selected::column);
        if !shown.any(|column| is_row_name(&column.column)) || !self.results.repeats_rows() {
            return None;
        }
        let count = format!("SELECT count(*) AS n FROM ({}) AS t", repeated.rows);
        if !self.is_any(count, LONG).await? {
            return None;
        }
        let text = format!(
            "rows of {} are listed several times, once for each row that is joined to them: \
             DISTINCT, IN or EXISTS gives each once",
            repeated.table
        );
        Some(Doubt { kind: DoubtKind::RepeatedThings, text })
    }

    /// The doubt about an aggregate of no rows.
    fn null_aggregate(&self, outline: &Outline) -> Option<Doubt> {
        let rows = self.results.0.rows(0, 2);
        let [row] = rows.as_slice() else { return None };
        if !outline.groups.is_empty()
            || outline.columns.len() != row.len()
            || !outline.columns.iter().zip(row).any(|(column, value): (&Selected, &Value)| {
                column.is_aggregate(&["min", "max", "avg"]) && *value == Value::Null
            })
        {
            return None;
        }
        let text = "the aggregate is NULL: no row with a value meets the conditions".to_owned();
        Some(Doubt { kind: DoubtKind::NullAggregate, text })
    }

    /// The doubt about two columns that are equal in each of several rows, and not one value
    /// throughout.
    fn same_columns(&self, outline: &Outline) -> Option<Doubt> {
        if outline.columns.len() < 2 || self.results.0.row_count() > SHOWN {
            return None;
        }
        let rows = self.results.0.rows(0, SHOWN);
        let width = rows.first().filter(|_| rows.len() >= EQUAL)?.len();
        fn varies(rows: &[Vec<Value>], column: usize) -> bool {
            rows.iter().any(|row| row[column] != rows[0][column])
        }
        let mut pairs = (0..width).flat_map(|right| (0..right).map(move |left| (left, right)));
        let (left, right) = pairs.find(|(left, right)| {
            rows.iter().all(|row| is_equal(&row[*left], &row[*right])) && varies(&rows, *left)
        })?;
        let schema = self.results.0.schema();
        let [left, right] =
            [left, right].map(|column| syrch_core::text::clip(schema.field(column).name(), 60));
        let text = format!("the columns {left} and {right} of the result are equal in each row");
        Some(Doubt { kind: DoubtKind::SameColumns, text })
    }
}

/// Returns whether a column may hold the names of rows.
fn is_row_name(column: &str) -> bool {
    let name = column.to_lowercase();
    ["name", "title"].iter().any(|word| name.contains(word))
}

/// Returns true if an index lets no two rows have one value of the column.
pub(super) fn is_unique(side: Side<'_>) -> bool {
    let is_own =
        |columns: &[String]| matches!(columns, [only] if only.eq_ignore_ascii_case(side.column));
    side.table
        .indexes
        .iter()
        .any(|index| index.is_unique && index.predicate.is_none() && is_own(&index.columns))
}

/// Returns whether two values are the same; a whole number equals its real.
fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Integer(whole), Value::Real(real)) | (Value::Real(real), Value::Integer(whole)) => {
            *whole as f64 == *real
        }
        _ => one == other,
    }
}
