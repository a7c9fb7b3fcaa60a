//! Metrics over the aggregated columns: measures as they are, ratios, and arithmetic over others.

use std::collections::HashMap;
use std::ops::ControlFlow;

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value, visit_expressions};

use crate::{Aggregate, Metric, MetricKind, Semantics};

use super::engine::Engine;
use super::expression::{Names, Refusal, write_expression};
use super::names::find_named;
use super::{CompileError, LONGEST};

/// Returns the names of the metrics that a metric is computed from.
pub(crate) fn find_operands(metric: &Metric) -> Vec<String> {
    match &metric.kind {
        MetricKind::Measure(_) => Vec::new(),
        MetricKind::Ratio { numerator, denominator } => {
            vec![numerator.clone(), denominator.clone()]
        }
        MetricKind::Derived(expression) => {
            let mut names = Vec::new();
            let _: ControlFlow<()> = visit_expressions(&expression.tree, |expr| {
                if let Expr::Identifier(name) = expr {
                    names.push(name.value.clone());
                }
                ControlFlow::Continue(())
            });
            names.sort();
            names.dedup();
            names
        }
    }
}

/// The SQL of metrics by their names in small letters.
pub(super) struct Columns(HashMap<String, String>);

impl Columns {
    /// Writes all metrics that take part, each behind those that it is computed from. `columns` are
    /// those of the measures.
    pub(super) fn new(
        engine: &Engine<'_>,
        involved: &[&Metric],
        columns: HashMap<String, String>,
    ) -> Result<Self, CompileError> {
        let mut known = Self(columns);
        for metric in involved {
            let sql = match &metric.kind {
                MetricKind::Measure(_) => continue,
                MetricKind::Ratio { numerator, denominator } => {
                    let dividend = known.find(numerator, metric)?;
                    let divisor = known.find(denominator, metric)?;
                    engine.divide(dividend, divisor)
                }
                MetricKind::Derived(expression) => write_expression(engine, expression, &known)?,
            };
            if sql.len() > LONGEST {
                return Err(CompileError::TooLong { most: LONGEST });
            }
            known.0.insert(metric.name.to_lowercase(), format!("({sql})"));
        }
        Ok(known)
    }

    fn find(&self, name: &str, by: &Metric) -> Result<&str, CompileError> {
        self.get(name)
            .ok_or_else(|| CompileError::Undefined { name: name.to_owned(), by: by.name.clone() })
    }

    /// Returns the SQL of a metric.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(&name.to_lowercase()).map(String::as_str)
    }
}

impl Names for Columns {
    const IS_EXACT: bool = true;

    fn write(&self, table: Option<&str>, name: &str) -> Result<String, Refusal> {
        match self.get(name).filter(|_| table.is_none()) {
            Some(sql) => Ok(sql.to_owned()),
            None => Err(Refusal::Form(format!("`{name}` is no metric"))),
        }
    }
}

/// Returns the reason, in words, why the values of a metric cannot be added up; `None` if they
/// can. The sum of counts of different values is one of the groups, which a share may need. Called
/// for metrics that [`Columns::new`] has written, which have no circle.
pub(super) fn find_obstacle(
    semantics: &Semantics,
    metric: &Metric,
    may_be_distinct: bool,
) -> Option<&'static str> {
    match &metric.kind {
        MetricKind::Measure(measure) => match measure.aggregate {
            Aggregate::Sum | Aggregate::Count => None,
            Aggregate::CountDistinct if may_be_distinct => None,
            Aggregate::CountDistinct => Some("a number of different values"),
            Aggregate::Avg => Some("a mean"),
            Aggregate::Min => Some("a least value"),
            Aggregate::Max => Some("a greatest value"),
        },
        MetricKind::Ratio { .. } => Some("a ratio"),
        MetricKind::Derived(expression) => {
            if !is_linear(&expression.tree) {
                return Some("no sum or difference of others");
            }
            find_operands(metric).iter().find_map(|name| {
                let operand = find_named(semantics, name)?;
                find_obstacle(semantics, operand, may_be_distinct)
            })
        }
    }
}

/// Returns whether an expression is a sum of metrics and their multiples.
fn is_linear(expr: &Expr) -> bool {
    match expr {
        Expr::Identifier(_) => true,
        Expr::Nested(inner) => is_linear(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr } => is_linear(expr),
        Expr::BinaryOp { left, op: BinaryOperator::Plus | BinaryOperator::Minus, right } => {
            is_linear(left) && is_linear(right)
        }
        Expr::BinaryOp { left, op: BinaryOperator::Multiply, right } => {
            is_number(left) && is_linear(right) || is_linear(left) && is_number(right)
        }
        Expr::BinaryOp { left, op: BinaryOperator::Divide, right } => {
            is_linear(left) && is_number(right)
        }
        _ => false,
    }
}

fn is_number(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value) if matches!(value.value, Value::Number(..)))
}
