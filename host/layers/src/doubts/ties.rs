//! A tie at the top of a ranking: the one row that is shown is no greater than the next.

use syrch_core::{Doubt, DoubtKind, Value};

use super::words::LONG;
use super::{Counted, Judge};

impl Judge<'_> {
    /// The doubt about the first row of a ranking of metrics that is no greater than the second,
    /// which is left out. The statement is one that definitions gave: its last lines are its
    /// columns, its order and its limit.
    pub(super) async fn tie(&mut self, sql: &str) -> Option<Doubt> {
        let ranking = Ranking::read(sql)?;
        let columns = self.results.0.columns();
        let column = columns.iter().position(|column| column.name == ranking.column)?;
        if self.results.0.row_count() != 1 {
            return None;
        }
        let Counted::Rows(rows) = self.count(ranking.with_two_rows, LONG).await else {
            return None;
        };
        let [first, second] = rows.as_slice() else { return None };
        let greatest = first.get(column)?;
        if second.get(column)? != greatest || *greatest == Value::Null {
            return None;
        }
        let name = &ranking.column;
        let text = format!("another has the same {name} as the one that is shown");
        Some(Doubt { kind: DoubtKind::Tie, text })
    }
}

/// A statement for the first row by a column of its result.
struct Ranking {
    /// The name of the column.
    column: String,
    /// The statement with a limit of two rows.
    with_two_rows: String,
}

impl Ranking {
    fn read(sql: &str) -> Option<Self> {
        let rest = sql.strip_prefix("WITH measured").and(sql.strip_suffix("\nLIMIT 1"))?;
        let (before, order) = rest.rsplit_once("\nORDER BY ")?;
        let (_, cells) = before.rsplit_once("\nSELECT ")?;
        let (cells, _) = cells.split_once("\nFROM ")?;
        let key = [" DESC", " ASC", " NULLS", ","].iter().filter_map(|end| order.find(end)).min();
        let key = order.get(..key.unwrap_or(order.len()))?;
        let place = cells.find(&format!("{key} AS "))?;
        let name = &cells[place + key.len() + " AS ".len()..];
        let quote = name.chars().next().filter(|first| matches!(first, '"' | '`'));
        let column = match quote {
            Some(quote) => name[1..].split(quote).next()?,
            None => name.split([',', '\n']).next()?,
        };
        Some(Self { column: column.to_owned(), with_two_rows: format!("{rest}\nLIMIT 2") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ranking_of_metrics_is_read_by_its_last_lines() {
        let head = "WITH measured AS (\n  SELECT\n    customers.name AS d0,\n    COUNT(*) AS m0\n  \
                    FROM orders AS orders\n)\nSELECT measured.d0 AS customer, measured.m0 AS";
        let tail = "\nFROM measured\nORDER BY measured.m0 DESC NULLS LAST, measured.d0 NULLS LAST";
        let ranking = Ranking::read(&format!("{head} orders{tail}\nLIMIT 1")).unwrap();
        assert_eq!(ranking.column, "orders");
        assert!(ranking.with_two_rows.ends_with("NULLS LAST\nLIMIT 2"));
        let quoted = Ranking::read(&format!("{head} \"valid orders\"{tail}\nLIMIT 1")).unwrap();
        assert_eq!(quoted.column, "valid orders");
        for sql in [
            format!("{head} orders{tail}\nLIMIT 10"),
            format!("{head} orders{tail}"),
            "SELECT name, price\nFROM products\nORDER BY price DESC\nLIMIT 1".to_owned(),
        ] {
            assert!(Ranking::read(&sql).is_none(), "{sql}");
        }
    }
}
