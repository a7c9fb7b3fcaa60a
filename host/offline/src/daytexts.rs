//! Dates that a column holds as texts: a rule computes with them only where they are written from
//! the year on, as `2024-05-31`.

use syrch_core::Value;

use super::calendar;
use super::dialect;
use super::query::{Condition, Expression, Function, LogicalQuery, Operand};
use super::samples::Samples;
use super::schema::{ColumnRef, Holds, Schema};

/// Returns whether the query computes and orders by no text that is no date. Without an index of
/// values nothing contradicts the column's name.
pub(crate) async fn are_days(
    schema: &Schema,
    query: &LogicalQuery,
    samples: &mut Samples<'_>,
) -> bool {
    fn is_day(value: &Value) -> bool {
        match value {
            Value::Text(text) => calendar::is_sortable_date(text),
            _ => true,
        }
    }
    let mut columns = Vec::new();
    collect(schema, query, &mut columns);
    for at in columns {
        let all = samples.read(schema, at).await.is_none_or(|sample| {
            let frequent = sample.frequent.iter().map(|(value, _)| value);
            frequent.chain([&sample.least, &sample.greatest]).all(is_day)
        });
        if !all {
            return false;
        }
    }
    true
}

/// The columns of texts that the query takes for dates.
fn collect(schema: &Schema, query: &LogicalQuery, columns: &mut Vec<ColumnRef>) {
    fn extreme_column(expression: &Expression) -> Option<ColumnRef> {
        match expression {
            Expression::Aggregate(Function::Min | Function::Max, at) => Some(*at),
            _ => None,
        }
    }
    let ordered = query.order.iter().filter_map(|(expression, _)| expression.column());
    let found = query
        .conditions()
        .filter(|condition: &&Condition| {
            let is_day = |operand: &Operand| {
                matches!(
                    operand, Operand::Text(text) if calendar::day(text).is_some()
                )
            };
            let ranges = matches!(&condition.operand, Operand::Range(low, _) if is_day(low));
            condition.field.is_some() || is_day(&condition.operand) || ranges
        })
        .map(|condition| condition.column);
    let found = found.chain(query.select.iter().filter_map(extreme_column)).chain(ordered);
    columns.extend(found.filter(|at| {
        let view = schema.column(*at);
        view.holds == Holds::Time && dialect::is_text(&view.declared)
    }));
    query.inner().for_each(|inner| collect(schema, inner, columns));
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use syrch_core::ports::{CellIndex, Match, PortError, Sample};
    use syrch_core::{Catalog, Column, Dialect, Hit, Table};

    use super::*;
    use crate::fixture::block_on;
    use crate::interpret::interpret;

    /// An index of a column of texts.
    struct Texts(&'static [&'static str]);

    #[async_trait]
    impl CellIndex for Texts {
        async fn samples(
            &self,
            _: &str,
            columns: &[String],
            _: u32,
        ) -> Result<Vec<Sample>, PortError> {
            let text = |text: &&str| Value::Text((*text).to_owned());
            let ends =
                [self.0.iter().min(), self.0.iter().max()].map(|end| end.map_or(Value::Null, text));
            let [least, greatest] = ends;
            let frequent = self.0.iter().map(|value| (text(value), 1)).collect();
            Ok(vec![Sample { column: columns[0].clone(), least, greatest, frequent }])
        }

        async fn find(
            &self,
            phrases: &[String],
            _: Match,
            _: u32,
        ) -> Result<Vec<Vec<Hit>>, PortError> {
            Ok(vec![Vec::new(); phrases.len()])
        }
    }

    fn bookings() -> Catalog {
        fn column(name: &str, sql_type: &str) -> Column {
            Column { name: name.to_owned(), sql_type: sql_type.to_owned(), ..Column::default() }
        }
        let columns = vec![
            column("booking", "INTEGER"),
            column("booking_date", "TEXT"),
            column("guests", "INTEGER"),
        ];
        let table = Table { name: "bookings".to_owned(), columns, ..Table::default() };
        Catalog { database: "hotel".to_owned(), dialect: Dialect::Sqlite, tables: vec![table] }
    }

    #[test]
    fn only_texts_from_the_year_on_are_dates() {
        fn answers(texts: &'static [&'static str], question: &str) -> bool {
            !block_on(interpret(question, &bookings(), Some(&Texts(texts)))).list.is_empty()
        }
        for question in [
            "How many bookings were there in February 2024?",
            "How many bookings were there on 2024-02-05?",
            "What is the latest booking date?",
        ] {
            assert!(answers(&["2024-02-05", "2024-02-28 10:00"], question), "{question}");
            assert!(!answers(&["05/02/2024", "28/02/2024"], question), "{question}");
            assert!(!answers(&["2024-02-05", "5 Feb 2024"], question), "{question}");
        }
    }
}
