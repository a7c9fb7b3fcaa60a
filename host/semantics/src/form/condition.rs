//! Conditions over dimensions, written as in SQL. They become filters: nothing of the text gets
//! into a statement.

use sqlparser::ast::{BinaryOperator, DataType, Expr, Ident, UnaryOperator, Value};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use crate::{Filter, Literal, Operator};

use super::{RequestError, check_length, clip};

/// The limit on the depth of a condition.
const DEPTH: usize = 64;

/// The form of conditions, for errors.
const FORM: &str = "write comparisons of a dimension with a constant, such as \
     `country = 'France'`, joined by AND; =, <>, <, <=, >, >=, IN, NOT IN, BETWEEN, IS NULL, \
     IS NOT NULL and LIKE '%text%' compare";

/// Reads a condition as filters, all of which have to hold.
///
/// # Errors
/// When the text is no condition, or one that filters cannot express.
pub fn read_condition(text: &str) -> Result<Vec<Filter>, RequestError> {
    check_length("the condition", text)?;
    let mut parser = Parser::new(&GenericDialect {})
        .with_recursion_limit(DEPTH)
        .try_with_sql(text)
        .map_err(|error| reject(error.to_string()))?;
    let tree = parser.parse_expr().map_err(|error| reject(error.to_string()))?;
    if parser.peek_token().token != Token::EOF {
        return Err(reject(format!("it ends before `{}`; {FORM}", parser.peek_token().token)));
    }
    let mut filters = Vec::new();
    read_all(&tree, &mut filters)?;
    Ok(filters)
}

fn reject(reason: String) -> RequestError {
    RequestError::Condition { reason }
}

fn refuse<T>(expr: &Expr) -> Result<T, RequestError> {
    let text = expr.to_string();
    Err(RequestError::Condition { reason: format!("`{}` is not known; {FORM}", clip(&text)) })
}

fn read_all(expr: &Expr, filters: &mut Vec<Filter>) -> Result<(), RequestError> {
    // A chain of ANDs leans to the left, as deep as it is long.
    let mut pending = vec![expr];
    while let Some(expr) = pending.pop() {
        match expr {
            Expr::Nested(inner) => pending.push(inner),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                pending.push(right);
                pending.push(left);
            }
            Expr::Between { expr: column, negated: false, low, high } => {
                let dimension = read_dimension(column)?;
                for (operator, value) in [(Operator::AtLeast, low), (Operator::AtMost, high)] {
                    let values = vec![read_literal(value)?];
                    filters.push(Filter { dimension: dimension.clone(), operator, values });
                }
            }
            other => filters.push(read_one(other)?),
        }
    }
    Ok(())
}

fn read_one(expr: &Expr) -> Result<Filter, RequestError> {
    match expr {
        Expr::Nested(inner) => read_one(inner),
        Expr::BinaryOp { left, op: BinaryOperator::Or, right } => read_or(expr, left, right),
        Expr::BinaryOp { left, op, right } => {
            let (column, value, is_reverse) = match read_literal(right) {
                Ok(value) => (left, value, false),
                Err(_) => (right, read_literal(left).or_else(|_| refuse(expr))?, true),
            };
            let operator = match (op, is_reverse) {
                (BinaryOperator::Eq, _) => Operator::In,
                (BinaryOperator::NotEq, _) => Operator::NotIn,
                (BinaryOperator::Lt, false) | (BinaryOperator::Gt, true) => Operator::Less,
                (BinaryOperator::LtEq, false) | (BinaryOperator::GtEq, true) => Operator::AtMost,
                (BinaryOperator::Gt, false) | (BinaryOperator::Lt, true) => Operator::Greater,
                (BinaryOperator::GtEq, false) | (BinaryOperator::LtEq, true) => Operator::AtLeast,
                _ => return refuse(expr),
            };
            if value == Literal::Null {
                let reason = "nothing equals NULL; write IS NULL or IS NOT NULL".to_owned();
                return Err(RequestError::Condition { reason });
            }
            Ok(Filter { dimension: read_dimension(column)?, operator, values: vec![value] })
        }
        Expr::InList { expr, list, negated } => {
            let values: Result<Vec<Literal>, RequestError> =
                list.iter().map(read_literal).collect();
            let operator = if *negated { Operator::NotIn } else { Operator::In };
            Ok(Filter { dimension: read_dimension(expr)?, operator, values: values? })
        }
        Expr::IsNull(inner) => read_null(inner, Operator::In),
        Expr::IsNotNull(inner) => read_null(inner, Operator::NotIn),
        Expr::UnaryOp { op: UnaryOperator::Not, expr: inner } => {
            let mut filter = read_one(inner)?;
            filter.operator = match filter.operator {
                Operator::In => Operator::NotIn,
                Operator::NotIn => Operator::In,
                _ => return refuse(expr),
            };
            Ok(filter)
        }
        Expr::Like { negated: false, any: false, expr: column, pattern, escape_char: None }
        | Expr::ILike { negated: false, any: false, expr: column, pattern, escape_char: None } => {
            let Literal::Text(pattern) = read_literal(pattern)? else { return refuse(expr) };
            let inner =
                pattern.strip_prefix('%').and_then(|rest| rest.strip_suffix('%')).unwrap_or("");
            if inner.is_empty() || inner.contains(['%', '_']) {
                return refuse(expr);
            }
            Ok(Filter {
                dimension: read_dimension(column)?,
                operator: Operator::Contains,
                values: vec![Literal::Text(inner.to_owned())],
            })
        }
        other => refuse(other),
    }
}

/// Reads an OR of values of one dimension.
fn read_or(whole: &Expr, left: &Expr, right: &Expr) -> Result<Filter, RequestError> {
    let mut left = read_one(left)?;
    let right = read_one(right)?;
    let is_list = left.operator == Operator::In && right.operator == Operator::In;
    if !is_list || left.dimension != right.dimension {
        return refuse(whole);
    }
    left.values.extend(right.values);
    Ok(left)
}

fn read_null(column: &Expr, operator: Operator) -> Result<Filter, RequestError> {
    Ok(Filter { dimension: read_dimension(column)?, operator, values: vec![Literal::Null] })
}

fn read_dimension(expr: &Expr) -> Result<String, RequestError> {
    match expr {
        Expr::Nested(inner) => read_dimension(inner),
        Expr::Identifier(Ident { value, .. }) => Ok(value.clone()),
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [table, name] => Ok(format!("{}.{}", table.value, name.value)),
            _ => refuse(expr),
        },
        other => refuse(other),
    }
}

fn read_literal(expr: &Expr) -> Result<Literal, RequestError> {
    match expr {
        Expr::Nested(inner) => read_literal(inner),
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Ok(Literal::Text(text.clone())),
            Value::Number(number, false) => Ok(Literal::Number(number.clone())),
            Value::Boolean(value) => Ok(Literal::Bool(*value)),
            Value::Null => Ok(Literal::Null),
            _ => refuse(expr),
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner } => match read_literal(inner)? {
            Literal::Number(number) if !number.starts_with('-') => {
                Ok(Literal::Number(format!("-{number}")))
            }
            _ => refuse(expr),
        },
        Expr::TypedString(typed) if typed.data_type == DataType::Date => match &typed.value.value {
            Value::SingleQuotedString(text) => match text.parse() {
                Ok(day) => Ok(Literal::Date(day)),
                Err(_) => refuse(expr),
            },
            _ => refuse(expr),
        },
        other => refuse(other),
    }
}
