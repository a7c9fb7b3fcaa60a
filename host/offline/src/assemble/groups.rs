//! Groups: by the words after `each`, by what is selected with an aggregate, by what is most
//! frequent.

use super::Assembler;
use crate::draft::{Asked, Draft, Key, Measure};
use crate::query::{Expression, Function, LogicalQuery};
use crate::schema::{ColumnRef, ColumnView, Holds};

impl Assembler<'_> {
    /// Counting the rows of a table; a table that holds counts itself is summed up.
    pub(super) fn count(&self, table: Option<usize>, distinct: bool) -> Expression {
        let Some(table) = table else { return Expression::CountRows };
        let view = &self.schema.tables[table];
        fn holds_counts(column: &ColumnView) -> bool {
            column.holds == Holds::Number && column.required == ["count"]
        }
        if let Some(column) = view.columns.iter().position(holds_counts) {
            return Expression::Aggregate(Function::Sum, ColumnRef { table, column });
        }
        match view.key.filter(|_| distinct) {
            Some(column) => Expression::CountDistinct(ColumnRef { table, column }),
            None => Expression::CountRows,
        }
    }

    pub(super) fn group(
        &self,
        draft: &Draft,
        asked: &[Asked],
        main: usize,
        query: &mut LogicalQuery,
    ) {
        let plain: Vec<ColumnRef> = query
            .select
            .iter()
            .filter_map(
                |item| if let Expression::Column(column) = item { Some(*column) } else { None },
            )
            .collect();
        let counts = query
            .select
            .iter()
            .any(|item| matches!(item, Expression::CountRows | Expression::CountDistinct(_)))
            || draft.counted.iter().any(|counted| counted.head);
        let sums = query
            .select
            .iter()
            .any(|item| matches!(item, Expression::Aggregate(Function::Avg | Function::Sum, _)));
        let extremes = query.select.iter().any(|item| matches!(item, Expression::Aggregate(..)));
        let by_rows = matches!(draft.best, Some((Measure::Rows(_) | Measure::Aggregate(..), _)))
            || draft.having.is_some()
            || draft
                .orders
                .iter()
                .any(|order| matches!(order, Measure::Rows(_) | Measure::Aggregate(..)));
        if let Some(up) = draft.frequent {
            return self.order_by_frequency(draft, asked, main, up, query);
        }
        if counts || extremes {
            for key in &draft.keys {
                self.key(*key, &plain, query);
            }
        }
        if query.group.is_empty() && !plain.is_empty() && (counts || sums) {
            self.key_of(&plain, draft, query);
        } else if query.group.is_empty() && by_rows {
            let keys = if plain.is_empty() { self.labels(main).collect() } else { plain };
            if query.select.is_empty() {
                keys.iter().for_each(|key| query.select.push(Expression::Column(*key)));
            }
            self.key_of(&keys, draft, query);
        }
        if let Some((measure, operator, number)) = &draft.having {
            query.having = Some((self.measure(*measure), *operator, number.clone()));
        }
    }

    /// Groups by a key of the question: a column, or the rows of a table.
    pub(super) fn key(&self, key: Key, plain: &[ColumnRef], query: &mut LogicalQuery) {
        match key {
            Key::Column(column) => {
                let expression = Expression::Column(column);
                if !query.select.contains(&expression) {
                    // The keys stand first, in the order of the question.
                    query.select.insert(query.group.len().min(query.select.len()), expression);
                }
                query.group.push(column);
            }
            Key::Table(table) => {
                if plain.is_empty() {
                    let labels: Vec<Expression> =
                        self.labels(table).map(Expression::Column).collect();
                    query.select.splice(0..0, labels);
                }
                let own = plain.iter().any(|column| column.table == table) || plain.is_empty();
                match self.schema.tables[table].key.filter(|_| own) {
                    Some(column) => query.group.push(ColumnRef { table, column }),
                    None if plain.is_empty() => query.group.extend(self.labels(table)),
                    None => query.group.extend(plain),
                }
            }
        }
    }

    /// Groups by what is selected beside an aggregate: by the table's rows when these are other
    /// than those aggregated.
    pub(super) fn key_of(&self, plain: &[ColumnRef], draft: &Draft, query: &mut LogicalQuery) {
        let Some(first) = plain.first() else { return };
        let table = first.table;
        let measured = match draft.best {
            Some((Measure::Rows(table), _)) => table,
            Some((
                Measure::Aggregate(_, column) | Measure::Column(column) | Measure::Length(column),
                _,
            )) => Some(column.table),
            None => draft
                .orders
                .iter()
                .find_map(|order| if let Measure::Rows(table) = order { *table } else { None }),
        };
        let having = draft.having.as_ref().and_then(|(measure, ..)| {
            if let Measure::Rows(table) = measure { *table } else { None }
        });
        let counted =
            draft.counted.iter().find_map(|counted| counted.table).or(measured).or(having);
        let own = counted.is_some_and(|counted| counted != table);
        let aggregated = query
            .select
            .iter()
            .any(|item| matches!(item, Expression::Aggregate(_, column) if column.table == table));
        match self.schema.tables[table].key.filter(|_| own && !aggregated) {
            Some(column) => query.group.push(ColumnRef { table, column }),
            None => query.group.extend(plain),
        }
    }

    /// `the most common colour`.
    pub(super) fn order_by_frequency(
        &self,
        draft: &Draft,
        asked: &[Asked],
        main: usize,
        up: bool,
        query: &mut LogicalQuery,
    ) {
        let column = asked.iter().chain(&draft.asked).find_map(|asked| match asked.expression {
            Expression::Column(column) => Some(column),
            _ => None,
        });
        let keys: Vec<ColumnRef> =
            column.map_or_else(|| self.labels(main).collect(), |column| vec![column]);
        if query.select.iter().all(|item| !matches!(item, Expression::Column(_))) {
            let columns: Vec<Expression> =
                keys.iter().map(|key| Expression::Column(*key)).collect();
            query.select.splice(0..0, columns);
        }
        self.key_of(&keys, draft, query);
        query.order.push((Expression::CountRows, up));
        query.limit = Some(draft.limit.unwrap_or(1));
    }

    pub(super) fn measure(&self, measure: Measure) -> Expression {
        match measure {
            Measure::Column(column) => Expression::Column(column),
            Measure::Aggregate(function, column) => Expression::Aggregate(function, column),
            Measure::Length(column) => Expression::Length(column),
            Measure::Rows(table) => self.count(table, false),
        }
    }
}
