//! Values that repeat over the rows of a table without a declared key: each is listed once, and
//! what they have is added up.

use super::Assembler;
use crate::items::What;
use crate::lexicon;
use crate::query::{Condition, Expression, Function, LogicalQuery, Operator};
use crate::schema::{ColumnRef, Holds};

impl Assembler<'_> {
    /// The query whose repeated values are merged; `None` if many numbers would be listed where one
    /// amount is asked for.
    pub(super) fn merge_repeats(&self, mut query: LogicalQuery) -> Option<LogicalQuery> {
        let is_plain = query.group.is_empty()
            && query.having.is_none()
            && query.intersect.is_none()
            && query.fold.is_none()
            && query.all_tables().len() == 1;
        let Some(Expression::Column(first)) = query.select.first().filter(|_| is_plain) else {
            return Some(query);
        };
        let first = *first;
        let is_one = query.select.len() == 1;
        if is_one && query.order.is_empty() && self.asks_amount(first) {
            return self.amount(first, query);
        }
        if !self.schema.repeats(first) {
            return Some(query);
        }
        match (query.order.as_slice(), query.limit) {
            ([], None) if is_one && !self.says_rows() => query.distinct = !self.choice.distinct,
            ([(Expression::Column(by), down)], Some(_))
                if self.schema.adds_up(*by) && !self.names_a_row() =>
            {
                let measure = Expression::Column(*by);
                let sum = Expression::Aggregate(Function::Sum, *by);
                if is_one || query.select[1..] == [measure.clone()] {
                    query.order = vec![(sum.clone(), *down)];
                    query.group.push(first);
                    query.select[1..].fill(sum);
                }
            }
            _ => {}
        }
        Some(query)
    }

    /// Returns true if the amount of a column of numbers is asked for: `how much rain was there`,
    /// `the rain in total`.
    fn asks_amount(&self, column: ColumnRef) -> bool {
        let view = self.schema.column(column);
        let words: Vec<&str> =
            self.reading.tokens.iter().map(|token| token.lower.as_str()).collect();
        let is_item = |at: usize| {
            self.reading.items.iter().any(|item| {
                item.from == at
                    && matches!(
                        &item.what, What::Column(columns) if columns
                            .iter()
                            .any(|(one, _)| *one == column)
                    )
            })
        };
        let asks = (2..words.len()).any(|at| words[at - 2..at] == ["how", "much"] && is_item(at));
        view.holds == Holds::Number && !view.is_key && (asks || self.says_total())
    }

    /// Returns true if the question contains `total`, `altogether` or a like word.
    fn says_total(&self) -> bool {
        self.reading.tokens.iter().any(|token| lexicon::TOTALS.contains(&token.lower.as_str()))
    }

    /// The sum of a column; its values where a row is named, and nothing where the numbers may not
    /// be added up.
    fn amount(&self, column: ColumnRef, mut query: LogicalQuery) -> Option<LogicalQuery> {
        if self.says_total() || self.schema.adds_up(column) {
            query.select = vec![Expression::Aggregate(Function::Sum, column)];
            query.distinct = false;
            return Some(query);
        }
        query
            .filters
            .iter()
            .flatten()
            .any(|condition: &Condition| {
                let labels = &self.schema.tables[column.table].labels;
                let is_name =
                    labels.contains(&condition.column.column) || condition.column.column == 0;
                is_name && condition.operator == Operator::Equal
            })
            .then_some(query)
    }

    /// Returns true if the question asks for rows as they are: `for all rows`.
    fn says_rows(&self) -> bool {
        self.reading.tokens.iter().any(|token| lexicon::ROWS.contains(&token.lower.as_str()))
    }

    /// Returns true if a single row of the table is named: `the region of the sale with the highest
    /// revenue`.
    fn names_a_row(&self) -> bool {
        self.reading.items.iter().any(|item| {
            matches!(item.what, What::Table(_))
                && !self.reading.tokens[item.to - 1].lower.ends_with('s')
        })
    }
}
