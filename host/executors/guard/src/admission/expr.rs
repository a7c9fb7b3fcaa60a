//! The walk over expressions: which of them pass, and the literals, casts and windows in them.

use sqlparser::ast::{
    AccessExpr, Array, BinaryOperator, CaseWhen, CastKind, CeilFloorKind, DateTimeField,
    DictionaryField, Expr, ExtractSyntax, Ident, Interval, LambdaFunction, LambdaFunctionParameter,
    Map, MapEntry, OneOrManyWithParens, StructField, Subscript, TypedString, UnaryOperator, Value,
    WindowFrame, WindowFrameBound, WindowSpec,
};
use sqlparser::tokenizer::Span;
use syrch_core::{SqlError, SqlErrorKind};

use super::Walk;
use super::call::is_arrow;
use super::rules::Form;
use crate::carry;

/// The fields that EXTRACT may take out of a time.
const FIELDS: &[&str] = &[
    "century",
    "day",
    "decade",
    "dow",
    "doy",
    "epoch",
    "hour",
    "isodow",
    "isoyear",
    "julian",
    "microseconds",
    "millennium",
    "milliseconds",
    "minute",
    "month",
    "quarter",
    "second",
    "timezone",
    "timezone_hour",
    "timezone_minute",
    "week",
    "year",
];

/// `BETWEEN SYMMETRIC` within one another at most: each level is written twice.
const SYMMETRIC: usize = 3;

impl Walk<'_> {
    pub(super) fn admit_exprs(&mut self, exprs: &mut [Expr]) -> Result<(), SqlError> {
        exprs.iter_mut().try_for_each(|expr| self.admit_expr(expr))
    }

    pub(super) fn admit_optional(&mut self, expr: &mut Option<Expr>) -> Result<(), SqlError> {
        expr.as_mut().map_or(Ok(()), |expr| self.admit_expr(expr))
    }

    pub(super) fn admit_optional_expr(
        &mut self,
        expr: &mut Option<Box<Expr>>,
    ) -> Result<(), SqlError> {
        expr.as_mut().map_or(Ok(()), |expr| self.admit_expr(expr))
    }

    fn admit_both(&mut self, left: &mut Expr, right: &mut Expr) -> Result<(), SqlError> {
        self.admit_expr(left)?;
        self.admit_expr(right)
    }

    pub(super) fn admit_expr(&mut self, expr: &mut Expr) -> Result<(), SqlError> {
        match expr {
            Expr::Identifier(ident) => self.admit_column(ident),
            Expr::CompoundIdentifier(idents) => self.quote_idents(idents),
            Expr::CompoundFieldAccess { root, access_chain } => {
                self.admit_expr(root)?;
                access_chain.iter_mut().try_for_each(|access| self.admit_access(access))
            }
            Expr::IsFalse(inner)
            | Expr::IsNotFalse(inner)
            | Expr::IsTrue(inner)
            | Expr::IsNotTrue(inner)
            | Expr::IsNull(inner)
            | Expr::IsNotNull(inner)
            | Expr::IsUnknown(inner)
            | Expr::IsNotUnknown(inner)
            | Expr::Nested(inner) => self.admit_expr(inner),
            Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
                self.admit_both(left, right)
            }
            Expr::IsJson { expr, kind: _, unique_keys: _, negated: _ } => self.admit_expr(expr),
            Expr::IsNormalized { expr, form: _, negated: _ } => self.admit_expr(expr),
            Expr::InList { expr, list, negated: _ } => {
                self.admit_expr(expr)?;
                self.admit_exprs(list)
            }
            Expr::InSubquery { expr, subquery, negated: _ } => {
                self.admit_expr(expr)?;
                self.subquery(subquery)
            }
            Expr::Between { .. } => self.admit_between(expr),
            Expr::BinaryOp { left, op, right } => {
                self.admit_operator(op)?;
                if matches!(op, BinaryOperator::Glob) {
                    self.limit_pattern(right)?;
                }
                self.admit_both(left, right)
            }
            Expr::Like { negated: _, any, expr, pattern, escape_char }
            | Expr::ILike { negated: _, any, expr, pattern, escape_char } => {
                self.absent(!*any, "LIKE ANY (…)")?;
                self.admit_both(expr, pattern)?;
                self.admit_optional_expr(escape_char)
            }
            Expr::SimilarTo { negated: _, expr, pattern, escape_char } => {
                self.admit_both(expr, pattern)?;
                self.admit_optional_expr(escape_char)
            }
            Expr::AnyOp { left, compare_op, right, is_some: _ }
            | Expr::AllOp { left, compare_op, right } => {
                self.admit_operator(compare_op)?;
                self.admit_both(left, right)
            }
            Expr::UnaryOp { op, expr } => self.admit_unary(*op, expr),
            Expr::Cast { kind, expr, data_type, format } => {
                let is_listed = match kind {
                    CastKind::Cast | CastKind::DoubleColon => true,
                    CastKind::TryCast => self.rules.has(Form::TryCast),
                    CastKind::SafeCast => false,
                };
                self.absent(is_listed, "TRY_CAST")?;
                self.absent(format.is_none(), "FORMAT")?;
                self.admit_expr(expr)?;
                self.admit_data_type(data_type)
            }
            Expr::AtTimeZone { timestamp, time_zone } => self.admit_both(timestamp, time_zone),
            Expr::Extract { field, syntax, expr } => {
                self.absent(matches!(syntax, ExtractSyntax::From), "EXTRACT (…, …)")?;
                self.admit_field(field)?;
                self.record_call("extract");
                self.admit_expr(expr)
            }
            Expr::Ceil { expr, field } | Expr::Floor { expr, field } => {
                let is_plain =
                    matches!(field, CeilFloorKind::DateTimeField(DateTimeField::NoDateTime));
                self.absent(is_plain, "CEIL (… TO …)")?;
                self.admit_expr(expr)
            }
            Expr::Position { expr, r#in } => self.admit_both(expr, r#in),
            Expr::Substring { expr, substring_from, substring_for, special: _, shorthand: _ } => {
                self.record_call("substring");
                self.admit_expr(expr)?;
                self.admit_optional_expr(substring_from)?;
                self.admit_optional_expr(substring_for)
            }
            Expr::Trim { trim_where: _, trim_what, expr, trim_characters } => {
                self.record_call("trim");
                self.admit_optional_expr(trim_what)?;
                self.admit_expr(expr)?;
                trim_characters.as_mut().map_or(Ok(()), |characters| self.admit_exprs(characters))
            }
            Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => {
                self.admit_expr(expr)?;
                self.admit_both(overlay_what, overlay_from)?;
                self.admit_optional_expr(overlay_for)
            }
            Expr::Collate { expr, collation } => {
                let is_one = matches!(self.admit_object_name(collation)?[..], [_]);
                self.absent(is_one, "a collation of a schema")?;
                self.admit_expr(expr)
            }
            Expr::Value(value) => self.admit_value(value),
            Expr::TypedString(TypedString { data_type, value, uses_odbc_syntax }) => {
                self.absent(!*uses_odbc_syntax, "{d …}")?;
                self.admit_data_type(data_type)?;
                self.admit_value(value)
            }
            Expr::Function(function) => self.admit_function(function),
            Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } => {
                self.admit_optional_expr(operand)?;
                for CaseWhen { condition, result } in conditions {
                    self.admit_both(condition, result)?;
                }
                self.admit_optional_expr(else_result)
            }
            Expr::Exists { subquery, negated: _ } | Expr::Subquery(subquery) => {
                self.subquery(subquery)
            }
            Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
                sets.iter_mut().try_for_each(|set| self.admit_exprs(set))
            }
            Expr::Tuple(items) => self.admit_exprs(items),
            Expr::Array(Array { elem, named: _ }) => self.admit_exprs(elem),
            Expr::Interval(interval) => self.admit_interval(interval),
            // `(table).*` of a row.
            Expr::QualifiedWildcard(name, _) => self.admit_object_name(name).map(|_| ()),
            Expr::Wildcard(_) => Ok(()),
            Expr::RLike { negated: _, expr, pattern, regexp: _ } if self.rules.has(Form::Rlike) => {
                self.limit_pattern(pattern)?;
                self.admit_both(expr, pattern)
            }
            Expr::Struct { values, fields } if self.rules.has(Form::Structures) => {
                for StructField { field_name, field_type, options } in fields {
                    self.absent(options.is_none(), "OPTIONS")?;
                    field_name.as_mut().map_or(Ok(()), |name| self.quote_ident(name))?;
                    self.admit_data_type(field_type)?;
                }
                self.admit_exprs(values)
            }
            Expr::Named { expr, name } if self.rules.has(Form::Structures) => {
                self.quote_ident(name)?;
                self.admit_expr(expr)
            }
            Expr::Dictionary(fields) if self.rules.has(Form::Structures) => {
                for DictionaryField { key, value } in fields {
                    self.admit_key(key)?;
                    self.admit_expr(value)?;
                }
                Ok(())
            }
            Expr::Map(Map { entries }) if self.rules.has(Form::Structures) => entries
                .iter_mut()
                .try_for_each(|MapEntry { key, value }| self.admit_both(key, value)),
            Expr::Lambda(lambda) if is_arrow(self.rules, lambda) => {
                let LambdaFunction { params, body, syntax: _ } = lambda;
                let OneOrManyWithParens::One(LambdaFunctionParameter { name, data_type: _ }) =
                    params
                else {
                    return self.absent(false, "a lambda");
                };
                self.admit_column(name)?;
                self.admit_expr(body)
            }
            Expr::JsonAccess { .. }
            | Expr::InUnnest { .. }
            | Expr::RLike { .. }
            | Expr::Convert { .. }
            | Expr::Prefixed { .. }
            | Expr::Struct { .. }
            | Expr::Named { .. }
            | Expr::Dictionary(_)
            | Expr::Map(_)
            | Expr::MatchAgainst { .. }
            | Expr::OuterJoin(_)
            | Expr::Prior(_)
            | Expr::Lambda(_)
            | Expr::MemberOf(_) => {
                let shown = expr.to_string();
                let message = format!(
                    "`{}` is refused: statements may not use this form; write it another way",
                    syrch_core::text::clip(&shown, 64)
                );
                Err(self.refuse(SqlErrorKind::Denied, "clause", message, Span::empty()))
            }
        }
    }

    /// The name of a field in `{'a': 1}`.
    fn admit_key(&self, key: &mut Ident) -> Result<(), SqlError> {
        if key.quote_style != Some('\'') {
            return self.quote_ident(key);
        }
        match self.literal_value(&key.value) {
            Some(Value::Placeholder(spelled)) => {
                key.value = spelled;
                key.quote_style = None;
                Ok(())
            }
            _ => Err(self.refuse(
                SqlErrorKind::Denied,
                "literal",
                "the name of a field cannot be written",
                key.span,
            )),
        }
    }

    fn admit_access(&mut self, access: &mut AccessExpr) -> Result<(), SqlError> {
        match access {
            AccessExpr::Dot(Expr::Identifier(ident)) => self.quote_ident(ident),
            AccessExpr::Dot(Expr::Wildcard(_)) => Ok(()),
            AccessExpr::Dot(_) => self.absent(false, "a call after a dot"),
            AccessExpr::Subscript(Subscript::Index { index }) => self.admit_expr(index),
            AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, stride }) => {
                self.absent(stride.is_none(), "[a:b:c]")?;
                self.admit_optional(lower_bound)?;
                self.admit_optional(upper_bound)
            }
        }
    }

    /// BETWEEN; where its lower bound has the mark of SYMMETRIC, the two ranges that it stands for.
    fn admit_between(&mut self, expr: &mut Expr) -> Result<(), SqlError> {
        let Expr::Between { expr: value, negated, low, high } = expr else {
            return Ok(());
        };
        let is_symmetric = take_mark(low);
        self.symmetric += usize::from(is_symmetric);
        if self.symmetric > SYMMETRIC {
            let message =
                format!("`BETWEEN SYMMETRIC` stands in itself more than {SYMMETRIC} deep");
            let kind = SqlErrorKind::TooLarge;
            return Err(self.refuse(kind, "expression-depth", message, Span::empty()));
        }
        self.admit_expr(value)?;
        self.admit_both(low, high)?;
        self.symmetric -= usize::from(is_symmetric);
        if is_symmetric {
            let between = |low: &Expr, high: &Expr| Expr::Between {
                expr: value.clone(),
                negated: false,
                low: Box::new(low.clone()),
                high: Box::new(high.clone()),
            };
            let left = Box::new(between(low, high));
            let right = Box::new(between(high, low));
            let either =
                Expr::Nested(Box::new(Expr::BinaryOp { left, op: BinaryOperator::Or, right }));
            *expr = match *negated {
                false => either,
                true => {
                    let not = Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(either) };
                    Expr::Nested(Box::new(not))
                }
            };
        }
        Ok(())
    }

    fn admit_field(&self, field: &DateTimeField) -> Result<(), SqlError> {
        let shown = field.to_string().to_lowercase();
        let plain = shown.trim_matches('\'');
        let is_known = plain == shown || self.rules.has(Form::ExtractText);
        let single = plain.strip_suffix('s').filter(|_| !self.rules.is_postgres()).unwrap_or(plain);
        let is_listed = FIELDS.contains(&plain) || FIELDS.contains(&single);
        self.absent(is_known && is_listed, &shown)
    }

    fn admit_interval(&mut self, interval: &mut Interval) -> Result<(), SqlError> {
        let Interval {
            value,
            leading_field,
            leading_precision: _,
            last_field,
            fractional_seconds_precision: _,
        } = interval;
        for field in [leading_field, last_field].into_iter().flatten() {
            self.admit_field(field)?;
        }
        self.only(
            Form::IntervalExpression,
            matches!(**value, Expr::Value(_)),
            "INTERVAL of an expression",
        )?;
        self.admit_expr(value)
    }

    /// The name of a window, and the mark of an exclusion behind it.
    fn admit_window_name(&self, name: &mut Ident) -> Result<(), SqlError> {
        let Some((mut plain, exclusion)) = carry::split_exclusion(name) else {
            return self.quote_ident(name);
        };
        if !plain.value.is_empty() {
            self.quote_ident(&mut plain)?;
        }
        *name = Ident { value: format!("{}{}{exclusion}", plain.value, carry::MARK), ..plain };
        Ok(())
    }

    pub(super) fn admit_window(&mut self, spec: &mut WindowSpec) -> Result<(), SqlError> {
        let WindowSpec { window_name, partition_by, order_by, window_frame } = spec;
        if let Some(name) = window_name {
            self.admit_window_name(name)?;
        }
        self.admit_exprs(partition_by)?;
        self.admit_order(order_by)?;
        if let Some(WindowFrame { units: _, start_bound, end_bound }) = window_frame {
            for bound in std::iter::once(start_bound).chain(end_bound) {
                match bound {
                    WindowFrameBound::CurrentRow => {}
                    WindowFrameBound::Preceding(offset) | WindowFrameBound::Following(offset) => {
                        self.admit_optional_expr(offset)?
                    }
                }
            }
        }
        Ok(())
    }
}

/// Takes the mark of SYMMETRIC from the expression at whose left edge it stands; whether there was
/// one.
fn take_mark(low: &mut Expr) -> bool {
    match low {
        Expr::UnaryOp { op: UnaryOperator::PGPrefixFactorial, expr } => {
            *low = std::mem::replace(&mut **expr, Expr::Value(Value::Null.with_empty_span()));
            true
        }
        Expr::BinaryOp { left, .. } => take_mark(left),
        Expr::Cast { kind: CastKind::DoubleColon, expr, .. } => take_mark(expr),
        Expr::AtTimeZone { timestamp, .. } => take_mark(timestamp),
        Expr::Collate { expr, .. } => take_mark(expr),
        Expr::CompoundFieldAccess { root, .. } => take_mark(root),
        _ => false,
    }
}
