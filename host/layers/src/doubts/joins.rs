//! Doubts about tables that stand beside each other: columns that do not refer to each other, rows
//! that are repeated.

use syrch_core::ports::{ColumnName, Use, UseKind};
use syrch_core::{Catalog, Doubt, DoubtKind, ForeignKey, Table};

use super::Judge;
use super::probe::Probe;
use super::words::{LONG, SHORT};

/// A column of a table of the catalog.
#[derive(Clone, Copy)]
pub(super) struct Side<'c> {
    pub(super) table: &'c Table,
    pub(super) column: &'c str,
}

impl<'c> Side<'c> {
    pub(super) fn new(catalog: &'c Catalog, table: &str, column: &'c str) -> Option<Self> {
        Some(Self { table: catalog.table(table)?, column })
    }

    /// Returns whether the column alone is the primary key.
    pub(super) fn is_key(self) -> bool {
        matches!(self.table.primary_key.as_slice(), [key] if is_same(key, self.column))
    }

    /// The column that this one refers to, as the foreign keys say.
    pub(super) fn references(
        self,
        catalog: &'c Catalog,
    ) -> impl Iterator<Item = (&'c Table, &'c str)> {
        let keys = self.table.foreign_keys.iter();
        keys.filter_map(move |key| {
            let place = key.columns.iter().position(|column| is_same(column, self.column))?;
            Some((catalog.table(&key.ref_table)?, key.ref_columns.get(place)?.as_str()))
        })
    }

    fn refers_to(self, other: Side<'_>, catalog: &'c Catalog) -> bool {
        self.references(catalog).any(|(table, column)| {
            std::ptr::eq(table, other.table) && is_same(column, other.column)
        })
    }
}

/// Returns the foreign keys that lead from one table to the other, or back.
fn keys_between<'c>(
    one: &'c Table,
    other: &'c Table,
    catalog: &'c Catalog,
) -> impl Iterator<Item = &'c ForeignKey> {
    let lead = move |from: &'c Table, to: &'c Table| {
        from.foreign_keys.iter().filter(move |key| {
            catalog.table(&key.ref_table).is_some_and(|table| std::ptr::eq(table, to))
        })
    };
    lead(one, other).chain(lead(other, one))
}

/// Returns whether any foreign key starts or ends at the table, so that those of the schema are
/// known.
fn has_keys(table: &Table, catalog: &Catalog) -> bool {
    !table.foreign_keys.is_empty()
        || catalog.tables.iter().any(|other: &Table| {
            let mut keys = other.foreign_keys.iter();
            keys.any(|key| {
                catalog.table(&key.ref_table).is_some_and(|found| std::ptr::eq(found, table))
            })
        })
}

fn is_same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

impl Judge<'_> {
    /// The doubt about a join. Of recorded answers to Spider's questions with rows, these rules
    /// mark 87 of 947 that are wrong and 2 of 6,903 that are right; nothing in them is fitted.
    pub(super) async fn join(
        &mut self,
        one: &Use,
        probe: &Probe<'_>,
        other: (&str, &str),
    ) -> Option<Doubt> {
        let catalog = self.catalog;
        let left = Side::new(catalog, &one.table, &one.column)?;
        let right = Side::new(catalog, other.0, other.1)?;
        let refers = left.refers_to(right, catalog) || right.refers_to(left, catalog);
        let have_parent = left.references(catalog).any(|(table, column)| {
            right.references(catalog).any(|(t, c)| std::ptr::eq(t, table) && is_same(c, column))
        });
        if refers || have_parent {
            return None;
        }
        let joined =
            format!("{}.{} = {}.{}", left.table.name, left.column, right.table.name, right.column);
        fn doubt_path(joined: &str, reason: String) -> Option<Doubt> {
            Some(Doubt { kind: DoubtKind::JoinPath, text: format!("{joined}: {reason}") })
        }
        let mut keys = keys_between(left.table, right.table, catalog).peekable();
        if keys.peek().is_some() {
            if keys.any(|key| self.joins_by(key, left, right)) {
                return None;
            }
            let shown = keys_between(left.table, right.table, catalog).next()?;
            let by = format!(
                "{} -> {}.{}",
                shown.columns.join(", "),
                shown.ref_table,
                shown.ref_columns.join(", ")
            );
            return doubt_path(
                &joined,
                format!("the tables refer to each other by other columns, {by}"),
            );
        }
        if left.is_key()
            && right.is_key()
            && has_keys(left.table, catalog)
            && has_keys(right.table, catalog)
        {
            return doubt_path(
                &joined,
                "each is the key of its own table, and no foreign key connects them".to_owned(),
            );
        }
        if !self.results.is_void()
            || self.is_any(probe.any_pair(right.table, right.column), SHORT).await?
        {
            return None;
        }
        let is_filled = self.is_any(probe.any_row(), SHORT).await?;
        let other = Use { table: other.0.to_owned(), column: other.1.to_owned(), ..one.clone() };
        let other = Probe::new(&other, catalog, self.dialect)?.any_row();
        if !is_filled || !self.is_any(other, SHORT).await? {
            return None;
        }
        doubt_path(&joined, "the columns have no value in common".to_owned())
    }

    /// Returns whether an aggregate adds up a column that is a key, or refers to one.
    pub(super) fn is_key_sum(&self, one: &Use, by: &str) -> bool {
        let side = Side::new(self.catalog, &one.table, &one.column);
        let is_key = side
            .is_some_and(|side| side.is_key() || side.references(self.catalog).next().is_some());
        is_key && one.value.is_none() && ["SUM", "AVG", "TOTAL", "MEAN"].contains(&by)
    }

    /// The doubt about a column that is compared with the extreme of another one, to which it does
    /// not refer.
    pub(super) fn doubt_extreme(
        &self,
        one: &Use,
        function: &str,
        of: &ColumnName,
    ) -> Option<Doubt> {
        let catalog = self.catalog;
        let own = Side::new(catalog, &one.table, &one.column)?;
        let other = Side::new(catalog, &of.table, &of.column)?;
        if own.refers_to(other, catalog) || other.refers_to(own, catalog) {
            return None;
        }
        let text = format!(
            "{} is compared with the {function} of another column, {}",
            one.column, of.column
        );
        Some(Doubt { kind: DoubtKind::OtherExtreme, text })
    }

    /// The doubt about an aggregate over rows that a join repeats.
    pub(super) async fn doubt_repeated_rows(
        &mut self,
        one: &Use,
        function: &str,
        rows: &str,
    ) -> Option<Doubt> {
        let count = format!("SELECT count(*) AS n FROM ({rows}) AS t");
        if !self.is_any(count, LONG).await? {
            return None;
        }
        let text = format!(
            "{function} takes rows of {} several times, once for each row that is joined to them: \
             aggregate {} before the join, or filter by IN or EXISTS",
            one.table, one.column
        );
        Some(Doubt { kind: DoubtKind::RepeatedRows, text })
    }

    /// The doubt about a count of rows that a LEFT JOIN makes. The first of an order are hardly
    /// those.
    pub(super) async fn doubt_left_join(&mut self, one: &Use, rows: &str) -> Option<Doubt> {
        let count = format!("SELECT count(*) AS n FROM ({rows}) AS t");
        if self.is_cut || !self.is_any(count, LONG).await? {
            return None;
        }
        let text = format!(
            "COUNT gives 1 where {0} has no row: count {0}.{1} to get 0",
            one.table, one.column
        );
        Some(Doubt { kind: DoubtKind::PaddedRows, text })
    }

    /// The doubt about a table beside another one without a condition, where both have several
    /// rows.
    pub(super) async fn doubt_unconnected_table(
        &mut self,
        one: &Use,
        probe: &Probe<'_>,
        other: &str,
    ) -> Option<Doubt> {
        let first = Use { table: other.to_owned(), ..one.clone() };
        for sql in [probe.two_rows(), Probe::new(&first, self.catalog, self.dialect)?.two_rows()] {
            if self.numbers_of(sql, SHORT).await.ok()?.first() != Some(&2) {
                return None;
            }
        }
        let text = format!(
            "no condition connects {other} and {}: each row of one stands beside each of the other",
            one.table
        );
        Some(Doubt { kind: DoubtKind::CrossJoin, text })
    }

    /// Returns whether the statement joins the two tables by all columns of that foreign key, which
    /// one of them has, as well.
    fn joins_by(&self, key: &ForeignKey, left: Side<'_>, right: Side<'_>) -> bool {
        let is_left = left.table.foreign_keys.iter().any(|own| std::ptr::eq(own, key));
        let (from, to) =
            if is_left { (left.table, right.table) } else { (right.table, left.table) };
        key.columns.iter().all(|column| {
            self.uses.iter().any(|one| {
                let UseKind::Join { table, column: other } = &one.kind else { return false };
                let tables = [&one.table, table].map(|name| self.catalog.table(name));
                let [Some(first), Some(second)] = tables else { return false };
                let leads = std::ptr::eq(first, from) && std::ptr::eq(second, to);
                let is_led_to = std::ptr::eq(first, to) && std::ptr::eq(second, from);
                leads && is_same(&one.column, column) || is_led_to && is_same(other, column)
            })
        })
    }
}
