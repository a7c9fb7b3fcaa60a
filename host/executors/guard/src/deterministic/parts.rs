//! The direct parts of an expression. Every node is destructured without `..`, so that a parser
//! that learns a new form fails to compile here.

use sqlparser::ast::{
    AccessExpr, Array, CaseWhen, CastKind, Expr, Interval, LambdaFunction, Query, Subscript,
    TypedString,
};

/// The expressions and the queries right below an expression, in the order of the text.
#[derive(Default)]
pub(super) struct Parts<'e> {
    pub(super) exprs: Vec<&'e mut Expr>,
    pub(super) queries: Vec<&'e mut Query>,
}

impl<'e> Parts<'e> {
    fn from_exprs(exprs: impl IntoIterator<Item = &'e mut Expr>) -> Self {
        Self { exprs: exprs.into_iter().collect(), queries: Vec::new() }
    }

    fn from_boxed(exprs: impl IntoIterator<Item = Option<&'e mut Box<Expr>>>) -> Self {
        Self::from_exprs(exprs.into_iter().flatten().map(Box::as_mut))
    }

    fn and(mut self, query: &'e mut Query) -> Self {
        self.queries.push(query);
        self
    }
}

/// The parts of an expression that is no call; `None` for a form that no admitted statement has.
pub(super) fn parts(expr: &mut Expr) -> Option<Parts<'_>> {
    Some(match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_) => Parts::default(),
        Expr::TypedString(TypedString { data_type: _, value: _, uses_odbc_syntax: _ }) => {
            Parts::default()
        }
        Expr::CompoundFieldAccess { root, access_chain } => {
            let mut parts = Parts::from_boxed([Some(root)]);
            for access in access_chain {
                match access {
                    AccessExpr::Dot(_) => return None,
                    AccessExpr::Subscript(Subscript::Index { index }) => parts.exprs.push(index),
                    AccessExpr::Subscript(Subscript::Slice {
                        lower_bound,
                        upper_bound,
                        stride,
                    }) => {
                        parts
                            .exprs
                            .extend([lower_bound, upper_bound, stride].into_iter().flatten());
                    }
                }
            }
            parts
        }
        Expr::IsFalse(inner)
        | Expr::IsNotFalse(inner)
        | Expr::IsTrue(inner)
        | Expr::IsNotTrue(inner)
        | Expr::IsNull(inner)
        | Expr::IsNotNull(inner)
        | Expr::IsUnknown(inner)
        | Expr::IsNotUnknown(inner)
        | Expr::Nested(inner) => Parts::from_boxed([Some(inner)]),
        Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
            Parts::from_boxed([Some(left), Some(right)])
        }
        Expr::IsJson { expr, kind: _, unique_keys: _, negated: _ }
        | Expr::IsNormalized { expr, form: _, negated: _ }
        | Expr::Collate { expr, collation: _ }
        | Expr::UnaryOp { op: _, expr }
        | Expr::Extract { field: _, syntax: _, expr }
        | Expr::Ceil { expr, field: _ }
        | Expr::Floor { expr, field: _ } => Parts::from_boxed([Some(expr)]),
        Expr::Cast { kind, expr, data_type: _, format: _ } => match kind {
            CastKind::Cast | CastKind::DoubleColon => Parts::from_boxed([Some(expr)]),
            CastKind::TryCast | CastKind::SafeCast => return None,
        },
        Expr::InList { expr, list, negated: _ } => {
            Parts::from_exprs(std::iter::once(&mut **expr).chain(list))
        }
        Expr::InSubquery { expr, subquery, negated: _ } => {
            Parts::from_boxed([Some(expr)]).and(subquery)
        }
        Expr::Between { expr, negated: _, low, high } => {
            Parts::from_boxed([Some(expr), Some(low), Some(high)])
        }
        Expr::BinaryOp { left, op: _, right }
        | Expr::AnyOp { left, compare_op: _, right, is_some: _ }
        | Expr::AllOp { left, compare_op: _, right } => {
            Parts::from_boxed([Some(left), Some(right)])
        }
        Expr::Like { negated: _, any: _, expr, pattern, escape_char }
        | Expr::ILike { negated: _, any: _, expr, pattern, escape_char }
        | Expr::SimilarTo { negated: _, expr, pattern, escape_char } => {
            Parts::from_boxed([Some(expr), Some(pattern), escape_char.as_mut()])
        }
        Expr::AtTimeZone { timestamp, time_zone } => {
            Parts::from_boxed([Some(timestamp), Some(time_zone)])
        }
        Expr::Position { expr, r#in } => Parts::from_boxed([Some(expr), Some(r#in)]),
        Expr::Substring { expr, substring_from, substring_for, special: _, shorthand: _ } => {
            Parts::from_boxed([Some(expr), substring_from.as_mut(), substring_for.as_mut()])
        }
        Expr::Trim { trim_where: _, trim_what, expr, trim_characters } => {
            let mut parts = Parts::from_boxed([trim_what.as_mut(), Some(expr)]);
            parts.exprs.extend(trim_characters.iter_mut().flatten());
            parts
        }
        Expr::Overlay { expr, overlay_what, overlay_from, overlay_for } => Parts::from_boxed([
            Some(expr),
            Some(overlay_what),
            Some(overlay_from),
            overlay_for.as_mut(),
        ]),
        Expr::Case { case_token: _, end_token: _, operand, conditions, else_result } => {
            let mut parts = Parts::from_boxed([operand.as_mut()]);
            for CaseWhen { condition, result } in conditions {
                parts.exprs.extend([condition, result]);
            }
            parts.exprs.extend(else_result.as_mut().map(Box::as_mut));
            parts
        }
        Expr::Exists { subquery, negated: _ } | Expr::Subquery(subquery) => {
            Parts::default().and(subquery)
        }
        Expr::GroupingSets(sets) | Expr::Cube(sets) | Expr::Rollup(sets) => {
            Parts::from_exprs(sets.iter_mut().flatten())
        }
        Expr::Tuple(items) => Parts::from_exprs(items),
        Expr::Array(Array { elem, named: _ }) => Parts::from_exprs(elem),
        Expr::Interval(Interval {
            value,
            leading_field: _,
            leading_precision: _,
            last_field: _,
            fractional_seconds_precision: _,
        }) => Parts::from_boxed([Some(value)]),
        // What the parser takes for a lambda may be `document -> 'part'`; the guard's own walk
        // refuses all others.
        Expr::Lambda(LambdaFunction { params: _, body, syntax: _ }) => {
            Parts::from_boxed([Some(body)])
        }
        // Calls are not for this function; the other forms are of other engines, or stand for a
        // row.
        Expr::Function(_)
        | Expr::QualifiedWildcard(..)
        | Expr::Wildcard(_)
        | Expr::JsonAccess { value: _, path: _ }
        | Expr::InUnnest { expr: _, array_expr: _, negated: _ }
        | Expr::RLike { negated: _, expr: _, pattern: _, regexp: _ }
        | Expr::Convert {
            is_try: _,
            expr: _,
            data_type: _,
            charset: _,
            target_before_value: _,
            styles: _,
        }
        | Expr::Prefixed { prefix: _, value: _ }
        | Expr::Struct { values: _, fields: _ }
        | Expr::Named { expr: _, name: _ }
        | Expr::Dictionary(_)
        | Expr::Map(_)
        | Expr::MatchAgainst { columns: _, match_value: _, opt_search_modifier: _ }
        | Expr::OuterJoin(_)
        | Expr::Prior(_)
        | Expr::MemberOf(_) => return None,
    })
}
