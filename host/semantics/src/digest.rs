//! Digests of definitions: of all of them, and of those that a question and its statement use.

use std::fmt::Write;

use sqlparser::ast::Expr;
use syrch_core::result_set::digest64;

use crate::compile::are_equal;
use crate::terms::{find_mentioned, find_mentioned_dimensions, list_parts};
use crate::{Dimension, Expression, Join, Label, Literal, Measure, Metric, MetricKind};
use crate::{Place, Semantics, Table};

impl Semantics {
    /// Returns a digest of all definitions, whatever their files are called and have besides, such
    /// as comments.
    #[must_use]
    pub fn digest(&self) -> String {
        let Self { today, week_start, tables, joins, dimensions, metrics, index: _ } = self;
        let mut written = Written::default();
        written.part(&format!("{today:?} {week_start:?}"));
        for table in tables {
            written.table(table);
            written.words(&table.synonyms, table.description.as_deref());
            written.optional(table.grain.as_deref());
        }
        joins.iter().for_each(|join| written.join(join));
        for dimension in dimensions {
            written.dimension(dimension);
            written.words(&dimension.synonyms, dimension.description.as_deref());
        }
        for metric in metrics {
            written.metric(metric);
            written.words(&metric.synonyms, metric.description.as_deref());
            written.part(&format!("{:?}", metric.format));
            written.optional(metric.unit.as_deref());
        }
        written.digest()
    }

    /// Returns a digest of the definitions that a question and its statement use, where the
    /// statement reads these tables: the metrics and dimensions that the question mentions or the
    /// statement has, what they are computed from, and the tables with their joins. Words and
    /// descriptions are no part of it, but for those of labels.
    #[must_use]
    pub fn digest_used(&self, question: &str, sql: &str, tables: &[String]) -> String {
        let mut written = Written::default();
        written.part(&format!("{:?}", self.week_start));
        let used = self.tables.iter().filter(|table| is_read(table, tables));
        let used: Vec<&Table> = used.collect();
        used.iter().for_each(|table| written.table(table));
        let joined = self.joins.iter().filter(|join| {
            [&join.from, &join.to]
                .iter()
                .all(|name| used.iter().any(|table| are_equal(&table.name, name)))
        });
        joined.for_each(|join| written.join(join));
        let lower = sql.to_lowercase();
        let words: Vec<&str> = split_words(&lower).collect();
        let mentioned = find_mentioned_dimensions(self, question);
        for dimension in &self.dimensions {
            let is_mentioned = mentioned.iter().any(|known| std::ptr::eq(*known, dimension));
            let is_read = used.iter().any(|table| are_equal(&table.name, &dimension.table))
                && columns_of(dimension).iter().any(|column| words.contains(&column.as_str()));
            if is_mentioned || is_read {
                written.dimension(dimension);
            }
        }
        let mentioned = find_mentioned(self, question);
        let mut metrics: Vec<&Metric> = Vec::new();
        for metric in &self.metrics {
            let is_mentioned = mentioned.iter().any(|known| std::ptr::eq(*known, metric));
            if is_mentioned || is_shown(metric, &lower) {
                for part in list_parts(self, metric) {
                    if !metrics.iter().any(|known| std::ptr::eq(*known, part)) {
                        metrics.push(part);
                    }
                }
            }
        }
        metrics.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        metrics.into_iter().for_each(|metric| written.metric(metric));
        written.digest()
    }
}

/// Returns true if a table of the files is one of these of the database, whose names may have
/// their schema or not.
fn is_read(table: &Table, names: &[String]) -> bool {
    fn last_part(name: &str) -> &str {
        name.rsplit('.').next().unwrap_or(name)
    }
    names.iter().any(|name| are_equal(last_part(name), last_part(&table.source)))
}

/// The columns of a dimension in lower case.
fn columns_of(dimension: &Dimension) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    let walked = sqlparser::ast::visit_expressions(&dimension.expression.tree, |expression| {
        match expression {
            Expr::Identifier(name) => columns.push(name.value.to_lowercase()),
            Expr::CompoundIdentifier(parts) => {
                columns.extend(parts.last().map(|name| name.value.to_lowercase()));
            }
            _ => {}
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    debug_assert!(walked.is_continue());
    // A name may have spaces, and only its words are compared.
    let words = columns.iter().flat_map(|name| split_words(name).next());
    words.map(str::to_owned).collect()
}

fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns true if a statement in lower case names a column of its result as a metric is named.
fn is_shown(metric: &Metric, sql: &str) -> bool {
    let name = metric.name.to_lowercase();
    sql.match_indices(" as ").any(|(at, lead)| {
        let alias = sql[at + lead.len()..].trim_start_matches(['"', '`', '[']);
        alias
            .strip_prefix(&name)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

/// Definitions written out, each part behind its length, so that different ones differ.
#[derive(Default)]
struct Written(String);

impl Written {
    fn digest(&self) -> String {
        format!("{:016x}", digest64(&[&self.0]))
    }

    fn part(&mut self, text: &str) {
        // Writing to a text does not fail.
        let _ = write!(self.0, "{}:{text}", text.len());
    }

    fn optional(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.part(text),
            None => self.0.push('-'),
        }
    }

    fn list(&mut self, texts: &[String]) {
        let _ = write!(self.0, "{}[", texts.len());
        texts.iter().for_each(|text| self.part(text));
    }

    fn words(&mut self, synonyms: &[String], description: Option<&str>) {
        self.list(synonyms);
        self.optional(description);
    }

    /// The text stands for the tree, which is made of it and of names that are parts of their own.
    fn expression(&mut self, expression: Option<&Expression>) {
        self.optional(expression.map(|expression| expression.text.as_str()));
    }

    fn table(&mut self, table: &Table) {
        let Table { name, source, key, time, filter, .. } = table;
        self.part("table");
        self.part(name);
        self.part(source);
        self.list(key);
        self.optional(time.as_deref());
        self.expression(filter.as_ref());
    }

    fn join(&mut self, join: &Join) {
        let Join { from, from_columns, to, to_columns, cardinality, place: Place { .. } } = join;
        self.part(from);
        self.list(from_columns);
        self.part(to);
        self.list(to_columns);
        self.part(&format!("{cardinality:?}"));
    }

    fn dimension(&mut self, dimension: &Dimension) {
        let Dimension { name, table, expression, is_time, names_row, labels, .. } = dimension;
        self.part("dimension");
        self.part(table);
        self.part(name);
        self.expression(Some(expression));
        let _ = write!(self.0, "{is_time} {names_row} {}[", labels.len());
        for Label { value, synonyms } in labels {
            self.literal(value);
            self.list(synonyms);
        }
    }

    fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Text(text) => self.part(text),
            other => self.part(&format!("{other:?}")),
        }
    }

    fn metric(&mut self, metric: &Metric) {
        self.part("metric");
        self.part(&metric.name);
        match &metric.kind {
            MetricKind::Measure(Measure { aggregate, argument, base, filter, time }) => {
                self.part(&format!("{aggregate:?}"));
                self.expression(argument.as_ref());
                self.part(base);
                self.expression(filter.as_ref());
                self.optional(time.as_deref());
            }
            MetricKind::Ratio { numerator, denominator } => {
                self.part(numerator);
                self.part(denominator);
            }
            MetricKind::Derived(expression) => self.expression(Some(expression)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    const FILE: &str = "
tables:
  orders:
    {key: id, time: day, filter: \"deleted = 0\", dimensions:
    {day: {type: time}, status: {labels: {open: [waiting]}}, channel: {}}}
  customers: {key: id, dimensions: [country]}
  stock: {key: id, filter: \"lost = 0\"}
joins:
  - {from: orders.customer_id, to: customers.id}
metrics:
  revenue: sum(orders.price)
  cost: sum(orders.cost)
  profit: {derived: revenue - cost}
  orders: count(orders.id)
  lost: count(stock.id)
";

    fn read(text: &str) -> Semantics {
        let file = "shop.yml".to_owned();
        match Semantics::read(&[Source { file, text: text.to_owned() }]) {
            Ok(semantics) => semantics,
            Err(problems) => panic!("{problems:?}"),
        }
    }

    #[test]
    fn the_digest_is_that_of_what_is_defined() {
        let digest = read(FILE).digest();
        assert_eq!(read(&format!("# A comment.{FILE}\n")).digest(), digest);
        for (from, to) in [
            ("deleted = 0", "deleted = 1"),
            ("waiting", "pending"),
            ("open:", "opened:"),
            ("sum(orders.cost)", "avg(orders.cost)"),
            ("revenue - cost", "revenue + cost"),
            ("key: id, time: day", "key: [id, day], time: day"),
            ("type: time", "type: time, synonyms: [date]"),
            ("tables:", "today: 2024-05-01\ntables:"),
            ("orders.customer_id", "orders.buyer_id"),
        ] {
            assert_ne!(read(&FILE.replace(from, to)).digest(), digest, "{from}");
        }
    }

    #[test]
    fn only_what_is_used_counts() {
        fn digest_request(text: &str) -> String {
            let sql = "SELECT customers.country, SUM(price) - SUM(cost) AS profit FROM orders JOIN \
                       customers ON orders.customer_id = customers.id WHERE status = 'open'";
            let tables = ["main.orders".to_owned(), "customers".to_owned()];
            read(text).digest_used("profit of waiting orders by country", sql, &tables)
        }
        let digest = digest_request(FILE);
        for (from, to) in [
            ("lost = 0", "lost = 1"),
            ("count(stock.id)", "count(stock.*)"),
            ("channel: {}", "channel: {expression: \"lower(channel)\"}"),
            ("profit: {", "profit: {description: Gain., "),
            ("lost: count(stock.id)", "lost: count(stock.id)\n  paid: sum(orders.paid)"),
        ] {
            assert_eq!(digest_request(&FILE.replace(from, to)), digest, "{from}");
        }
        for (from, to) in [
            ("deleted = 0", "deleted = 1"),
            ("sum(orders.cost)", "avg(orders.cost)"),
            ("revenue - cost", "revenue + cost"),
            ("status: {", "status: {expression: \"lower(status)\", "),
            ("open: [", "opened: ["),
            ("dimensions: [country]", "dimensions: {country: \"upper(country)\"}"),
            ("orders.customer_id", "orders.buyer_id"),
            ("cost: sum", "costs: sum"),
        ] {
            let changed = FILE.replace(from, to).replace(
                "- cost}",
                match from {
                    "cost: sum" => "- costs}",
                    _ => "- cost}",
                },
            );
            assert_ne!(digest_request(&changed), digest, "{from}");
        }
    }
}
