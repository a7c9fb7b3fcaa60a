//! The uses of columns in a statement that may mean something else than it says: arithmetic and
//! order over texts, days against times, columns beside an aggregate. Only what is certain is
//! recorded: a value that cannot be traced to one table is left out.

mod beside;
mod bounds;
mod compared;
pub(super) mod cut;
mod extreme;
mod joined;
mod literal;
mod outline;
mod plain;
mod ratio;

use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, Function, JoinConstraint, ObjectName, OrderBy, OrderByKind, Query,
    Select, UnaryOperator, Visit, Visitor, WindowType, visit_expressions,
};
use syrch_core::ports::{Use, UseKind};
use syrch_core::{Catalog, Dialect};

use super::resolver::{Resolver, constraint};
use super::scope::{Origin, Scope};
use literal::{
    Literal, day, is_null, is_numeric_type, is_of_format, is_plain_number, number, other_day, text,
};
use plain::{Place, Plain, arguments, calls, is_distinct, is_one_of, locate, name, plain};

/// Uses of one statement that are recorded.
const USES: usize = 64;
/// Texts with which a column is compared that are recorded.
const TEXTS: usize = 50;

/// Aggregates over numbers.
const SUMS: [&str; 14] = [
    "avg",
    "mean",
    "median",
    "product",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "total",
    "var_pop",
    "var_samp",
    "variance",
    "std",
    "fsum",
];
/// Functions that give a number of the size of their first argument.
const SAME_NUMBER: [&str; 9] =
    ["abs", "ceil", "ceiling", "coalesce", "floor", "ifnull", "nullif", "nvl", "round"];
/// Functions that read their first argument as a number and do not add it up.
const MEASURES: [&str; 6] = ["abs", "ceil", "ceiling", "floor", "round", "sqrt"];
/// Functions of SQLite whose result is a text made of a date.
const DATE_TEXTS: [&str; 4] = ["date", "datetime", "strftime", "time"];
/// Functions that read their arguments as dates.
const DATES: [&str; 31] = [
    "date",
    "date_add",
    "date_format",
    "date_part",
    "date_sub",
    "date_trunc",
    "datediff",
    "datetime",
    "day",
    "dayname",
    "dayofmonth",
    "dayofweek",
    "dayofyear",
    "hour",
    "julianday",
    "last_day",
    "make_date",
    "month",
    "monthname",
    "quarter",
    "strftime",
    "time",
    "timediff",
    "to_date",
    "to_timestamp",
    "try_strptime",
    "try_to_timestamp",
    "unixepoch",
    "week",
    "weekofyear",
    "year",
];
/// Functions whose result is a text made of their first argument.
const TEXT_PARTS: [&str; 13] = [
    "btrim",
    "left",
    "lower",
    "ltrim",
    "nullif",
    "regexp_replace",
    "replace",
    "right",
    "rtrim",
    "substr",
    "substring",
    "trim",
    "upper",
];

impl Resolver<'_> {
    /// Records the uses of one SELECT whose scope is the last of these.
    pub(super) fn note_uses(
        &mut self,
        select: &Select,
        order: Option<&OrderBy>,
        scopes: &mut [Scope],
    ) {
        let dialect = self.catalog.dialect.clone();
        let conditions: Vec<&Expr> = select.selection.iter().flat_map(plain::conditions).collect();
        let met: Vec<Plain> =
            conditions.iter().filter_map(|condition| plain(condition, scopes, &dialect)).collect();
        if let Some(scope) = scopes.last_mut() {
            plain::restrict(scope, &met);
        }
        let scopes = &*scopes;
        if let [_] = scopes {
            self.outline = Some(outline::outline(self, select, order, scopes));
        }
        let bare = beside::bare(select, order, scopes, self.catalog);
        let groups = beside::groups(select, scopes);
        let joined = joined::uses(self, select, order, scopes);
        let mut noted = Noted {
            uses: &mut self.uses,
            scopes,
            catalog: self.catalog,
            dialect: &dialect,
            groups: &groups,
            depth: 0,
        };
        for bare in bare {
            noted.record(bare.place.origin, None, UseKind::Beside { keys: bare.keys });
        }
        for one in joined {
            noted.push(one);
        }
        noted.contradictions(&conditions);
        noted.record_empty_ranges(&conditions);
        for condition in conditions {
            noted.record_misfit(condition);
            noted.condition(condition);
        }
        let keys = order.into_iter().flat_map(|order| match &order.kind {
            OrderByKind::Expressions(keys) => keys.as_slice(),
            OrderByKind::All(_) => &[],
        });
        noted.sort(keys.clone().map(|key| beside::resolve_reference(&key.expr, select, scopes)));
        for group in &groups {
            noted.group(group, beside::is_shown(group, select));
        }
        let joined = select.from.iter().flat_map(|tree| &tree.joins).filter_map(constraint);
        let _ = select.projection.visit(&mut noted);
        let _ = select.selection.visit(&mut noted);
        let _ = select.group_by.visit(&mut noted);
        let _ = select.having.visit(&mut noted);
        let _ = select.qualify.visit(&mut noted);
        for join in joined {
            let _ = join.visit(&mut noted);
            if let JoinConstraint::Using(names) = join {
                names.iter().for_each(|name| noted.using(name));
            }
        }
        for key in keys {
            let _ = key.visit(&mut noted);
        }
    }

    /// Returns true if a result of a SELECT is a count or a sum of whole numbers.
    pub(super) fn is_whole(&self, expr: &Expr, scope: &Scope) -> bool {
        ratio::is_whole_aggregate(expr, std::slice::from_ref(scope), self.catalog)
    }

    /// Records a column that a `NOT IN` compares with.
    pub(super) fn note_not_in(&mut self, origin: Origin) {
        let dialect = self.catalog.dialect.clone();
        let mut noted = Noted {
            uses: &mut self.uses,
            scopes: &[],
            catalog: self.catalog,
            dialect: &dialect,
            groups: &[],
            depth: 0,
        };
        noted.record(origin, None, UseKind::NotIn);
    }
}

/// Merges the texts with which one column is compared, in all parts of a statement, into one use.
pub(super) fn merge_texts(uses: Vec<Use>) -> Vec<Use> {
    let mut merged: Vec<Use> = Vec::new();
    for one in uses {
        let known =
            merged.iter_mut().find(|known| known.table == one.table && known.column == one.column);
        fn is_texts(one: &Use) -> bool {
            matches!(one.kind, UseKind::Texts(_))
        }
        let known = known.filter(|_| is_texts(&one)).map(|known| &known.table).cloned();
        let place = known.and_then(|table| {
            merged.iter().position(|known| {
                is_texts(known) && known.table == table && known.column == one.column
            })
        });
        match (place.map(|place| &mut merged[place]), &one.kind) {
            (Some(Use { kind: UseKind::Texts(known), filter, .. }), UseKind::Texts(more)) => {
                let more: Vec<String> =
                    more.iter().filter(|text| !known.contains(text)).cloned().collect();
                known.extend(more);
                known.truncate(TEXTS);
                *filter = filter.take().filter(|filter| one.filter.as_ref() == Some(filter));
            }
            _ => merged.push(one),
        }
    }
    merged
}

/// Records the uses in the expressions of one SELECT.
struct Noted<'n> {
    uses: &'n mut Vec<Use>,
    scopes: &'n [Scope],
    catalog: &'n Catalog,
    dialect: &'n Dialect,
    /// The expressions of which each value is a group.
    groups: &'n [&'n Expr],
    /// The number of queries around this place within the SELECT: they record their own uses.
    depth: usize,
}

impl Noted<'_> {
    fn record(&mut self, origin: Origin, value: Option<String>, kind: UseKind) {
        let Origin { table, column, filter, beside: _ } = origin;
        self.push(Use { table, column, value, filter, kind });
    }

    fn push(&mut self, one: Use) {
        // One reason to take values for numbers is enough.
        if self.uses.len() < USES
            && !self.uses.iter().any(|known: &Use| {
                let kind = match (&known.kind, &one.kind) {
                    (UseKind::Number(_), UseKind::Number(_)) => known.kind.clone(),
                    _ => one.kind.clone(),
                };
                *known == Use { kind, ..one.clone() }
            })
        {
            self.uses.push(one);
        }
    }

    fn column(&self, expr: &Expr) -> Option<Origin> {
        locate(expr, self.scopes).map(|Place { origin, .. }| origin)
    }

    /// A column, or a text that is made of one: the place and the expression.
    fn value(&self, expr: &Expr) -> Option<(Origin, Option<String>)> {
        if let Some(origin) = self.column(expr) {
            return Some((origin, None));
        }
        let is_text = match strip_parentheses(expr) {
            Expr::Function(function) => is_one_of(&name(function), &TEXT_PARTS),
            Expr::Trim { .. } | Expr::Substring { .. } => true,
            _ => false,
        };
        let plain = plain(expr, self.scopes, self.dialect).filter(|_| is_text)?;
        let has_dates =
            calls(expr, |expr| matches!(expr, Expr::Function(function) if is_date(function)));
        let [_] = plain.columns.as_slice() else { return None };
        (!has_dates).then_some((plain.origin, Some(plain.sql)))
    }

    /// The columns whose values are the value of an expression or its operands, where those are
    /// numbers.
    fn numbers(&mut self, expr: &Expr, by: &str) {
        match expr {
            Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } => self.numbers(inner, by),
            Expr::Case { conditions, else_result, .. } => {
                let results =
                    conditions.iter().map(|when| &when.result).chain(else_result.as_deref());
                results.for_each(|result| self.numbers(result, by));
            }
            Expr::Function(function) if is_extreme(function) => {
                arguments(function).into_iter().for_each(|argument| self.numbers(argument, by));
            }
            Expr::Function(function) if is_one_of(&name(function), &SAME_NUMBER) => {
                if is_one_of(&name(function), &["nullif"])
                    && let Some((origin, value)) = self.value(expr)
                {
                    return self.record(origin, value, UseKind::Number(by.to_owned()));
                }
                arguments(function)
                    .into_iter()
                    .take(1)
                    .for_each(|argument| self.numbers(argument, by));
            }
            _ => {
                if let Some((origin, value)) = self.value(expr) {
                    self.record(origin, value, UseKind::Number(by.to_owned()));
                }
            }
        }
    }

    /// The values that are cast. A condition around them leaves out what it does not count.
    fn cast(&mut self, expr: &Expr) {
        match strip_parentheses(expr) {
            Expr::Case { conditions, else_result, .. } => {
                let results =
                    conditions.iter().map(|when| &when.result).chain(else_result.as_deref());
                results.for_each(|result| self.cast(result));
            }
            other => {
                if let Some((origin, value)) = self.value(other) {
                    self.record(origin, value, UseKind::Cast);
                }
            }
        }
    }

    fn order(&mut self, expr: &Expr, by: &str) {
        if let Expr::Function(function) = strip_parentheses(expr)
            && is_one_of(&name(function), &["coalesce", "ifnull", "nvl"])
        {
            return arguments(function)
                .into_iter()
                .take(1)
                .for_each(|argument| self.order(argument, by));
        }
        if let Some((origin, value)) = self.value(expr).filter(|(_, value)| value.is_none()) {
            self.record(origin, value, UseKind::Order(by.to_owned()));
        }
    }

    /// Records a column of which each value is a group, or is counted once in each group.
    fn group(&mut self, expr: &Expr, is_shown: bool) {
        let Some(place) = locate(expr, self.scopes) else { return };
        let others =
            self.groups.iter().filter(|group| locate(group, self.scopes).as_ref() != Some(&place));
        if let Some(keys) = others
            .map(|group: &&Expr| {
                let plain = plain(group, self.scopes, self.dialect)?;
                (Some(plain.source) == place.source && plain.origin.table == place.origin.table)
                    .then_some(plain.sql)
            })
            .collect()
        {
            self.record(place.origin, None, UseKind::Groups { keys, is_shown });
        }
    }

    /// Records the keys of an order. A column that stands in an earlier key as well only decides
    /// among equals.
    fn sort<'k>(&mut self, keys: impl Iterator<Item = &'k Expr>) {
        let mut earlier: Vec<Origin> = Vec::new();
        for key in keys {
            if self.column(key).is_none_or(|column| !earlier.contains(&column)) {
                self.order(key, "ORDER BY");
            }
            let _ = visit_expressions(key, |part| {
                earlier.extend(self.column(part));
                ControlFlow::<()>::Continue(())
            });
        }
    }

    fn function(&mut self, function: &Function, whole: &Expr) {
        let name = name(function);
        let given = arguments(function);
        if let Some(WindowType::WindowSpec(window)) = &function.over {
            self.sort(window.order_by.iter().map(|key| &key.expr));
        }
        match given.as_slice() {
            [first, ..] if is_one_of(&name, &MEASURES) => self.numbers(first, &name.to_uppercase()),
            [first, ..] if is_one_of(&name, &SUMS) => self.numbers(first, &name.to_uppercase()),
            [only] if name == "count" && is_distinct(function) => self.group(only, false),
            [only] if is_one_of(&name, &["min", "max"]) => self.order(only, &name.to_uppercase()),
            [_, ..] if is_date(function) => self.date(whole),
            _ => {}
        }
    }

    fn date(&mut self, call: &Expr) {
        let Some(plain) = plain(call, self.scopes, self.dialect) else { return };
        if let [_] = plain.columns.as_slice()
            && !calls(call, |expr: &Expr| {
                matches!(
                    expr, Expr::Function(inner) if is_one_of(&name(inner), &["min", "max"])
                )
            })
        {
            self.record(plain.origin, Some(plain.sql), UseKind::Date);
        }
    }

    /// A condition of WHERE that a function or a NULL in it can make NULL.
    fn condition(&mut self, condition: &Expr) {
        if !calls(condition, |expr| {
            matches!(expr, Expr::Function(_) | Expr::Extract { .. }) || is_null(expr)
        }) {
            return;
        }
        let Some(plain) = plain(condition, self.scopes, self.dialect) else { return };
        let given = plain
            .columns
            .iter()
            .map(|column| format!("{} IS NOT NULL", self.dialect.quote(column)));
        let filter = Some(given.collect::<Vec<_>>().join(" AND "));
        self.record(Origin { filter, ..plain.origin }, Some(plain.sql), UseKind::Condition);
    }

    /// Records a comparison with NULL, which is true of no row.
    fn null(&mut self, other: &Expr, operator: &str) {
        let Some(plain) = plain(other, self.scopes, self.dialect) else { return };
        let condition = format!("{} {operator} NULL", plain.sql);
        self.record(Origin { filter: None, ..plain.origin }, Some(condition), UseKind::Never);
    }

    /// Records two conditions by which one column equals two values.
    fn contradictions(&mut self, conditions: &[&Expr]) {
        let mut known: Vec<(Place, Literal, &Expr)> = Vec::new();
        for condition in conditions {
            let Some((place, value)) = self.equal(condition) else { continue };
            let is_other = |(other, known, _): &&(Place, Literal, &Expr)| {
                (other.source, &other.origin.column) == (place.source, &place.origin.column)
                    && known.is_other(&value)
            };
            let Some((_, _, other)) = known.iter().find(is_other) else {
                known.push((place, value, *condition));
                continue;
            };
            let both = [*other, *condition].map(ToString::to_string).join(" AND ");
            self.record(Origin { filter: None, ..place.origin }, Some(both), UseKind::Never);
        }
    }

    /// Records a condition by which a text of `strftime` equals one that its format never gives,
    /// such as the month `2`.
    fn record_misfit(&mut self, condition: &Expr) {
        let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = strip_parentheses(condition)
        else {
            return;
        };
        for (made, value) in [(left, right), (right, left)] {
            let Expr::Function(function) = strip_parentheses(made) else { continue };
            let given = arguments(function);
            let format = given.first().and_then(|format| text(format));
            if let (Some(format), Some(value)) = (format, text(value))
                && self.dialect.syntax().has_affinities
                && name(function) == "strftime"
                && !is_of_format(&value, &format)
                && let Some(plain) = plain(condition, self.scopes, self.dialect)
            {
                let origin = Origin { filter: None, ..plain.origin };
                self.record(origin, Some(plain.sql), UseKind::Never);
            }
        }
    }

    /// Records a text that is taken for a condition, as in `kind = 'Auk' OR 'Gull'`: to SQLite one
    /// that begins with no number is false.
    fn record_text_condition(&mut self, beside: &Expr, condition: &Expr) {
        let is_false = text(condition).is_some_and(|text| text.starts_with(char::is_alphabetic));
        if self.dialect.syntax().has_affinities
            && is_false
            && let Some(plain) = plain(beside, self.scopes, self.dialect)
        {
            let origin = Origin { filter: None, ..plain.origin };
            self.record(origin, Some(condition.to_string()), UseKind::Never);
        }
    }

    /// The column and the literal that a condition makes equal.
    fn equal(&self, condition: &Expr) -> Option<(Place, Literal)> {
        let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = strip_parentheses(condition)
        else {
            return None;
        };
        let literal = Literal::new(right).or_else(|| Literal::new(left))?;
        let place = locate(left, self.scopes).or_else(|| locate(right, self.scopes))?;
        Some((place, literal))
    }

    /// Records columns of two tables that are equal, the one that comes first by name as the use.
    fn join(&mut self, left: &Expr, right: &Expr) {
        if let (Some(left), Some(right)) = (self.column(left), self.column(right)) {
            self.pair(left, right);
        }
    }

    fn pair(&mut self, left: Origin, right: Origin) {
        if left.table == right.table {
            return;
        }
        let [one, other] = if left.table < right.table { [left, right] } else { [right, left] };
        let kind = UseKind::Join { table: other.table, column: other.column };
        self.record(Origin { filter: None, ..one }, None, kind);
    }

    /// Records the columns that USING makes equal, where two tables have them.
    fn using(&mut self, name: &ObjectName) {
        let Some(name) = name.0.last().and_then(|part| part.as_ident()) else { return };
        let sources = self.scopes.last().into_iter().flat_map(|scope| &scope.sources);
        let has = sources.filter_map(|source| {
            source.columns.as_ref()?.iter().find(|column| column.is(&name.value))
        });
        let found: Vec<Option<Origin>> = has.map(|column| column.origin.clone()).collect();
        if let [Some(left), Some(right)] = found.as_slice() {
            self.pair(left.clone(), right.clone());
        }
    }

    fn record_comparison(&mut self, column: &Expr, operator: &str, value: &Expr) {
        // A comparison is itself among the conditions, so that those beside it count alone.
        let Some(origin) =
            self.column(column).map(|origin| Origin { filter: origin.beside.clone(), ..origin })
        else {
            return self.record_text_comparison(column, operator, value);
        };
        let operator = operator.to_owned();
        let is_order = !matches!(operator.as_str(), "=" | "<>");
        let kind = match (day(value).or_else(|| other_day(value)), text(value), number(value)) {
            (Some(day), ..) => UseKind::Day { operator, day },
            (None, Some(text), _) if !is_order => UseKind::Texts(vec![text]),
            (None, _, Some(number)) => UseKind::Compared { operator, number },
            (None, Some(_), None) => UseKind::Order(operator),
            (None, None, None) => return,
        };
        self.record(origin, None, kind);
    }

    /// Records a text made of a column that is compared with a number: in SQLite no text equals a
    /// number, and each is greater than all numbers.
    fn record_text_comparison(&mut self, made: &Expr, operator: &str, value: &Expr) {
        let is_text = match strip_parentheses(made) {
            Expr::Function(function) => {
                is_one_of(&name(function), &DATE_TEXTS) || is_one_of(&name(function), &TEXT_PARTS)
            }
            Expr::Trim { .. } | Expr::Substring { .. } => true,
            Expr::BinaryOp { op, .. } => *op == BinaryOperator::StringConcat,
            _ => false,
        };
        if !self.dialect.syntax().has_affinities || !is_text || !is_plain_number(value) {
            return;
        }
        if let Some(plain) = plain(made, self.scopes, self.dialect) {
            self.record(plain.origin, Some(plain.sql), UseKind::ComparedText(operator.to_owned()));
        }
    }

    fn binary(&mut self, whole: &Expr, left: &Expr, operator: &BinaryOperator, right: &Expr) {
        use BinaryOperator as Op;
        let (operator, turned) = match operator {
            Op::And | Op::Or => {
                if *operator == Op::Or {
                    self.record_tautology(whole);
                }
                self.record_text_condition(left, right);
                return self.record_text_condition(right, left);
            }
            Op::Plus | Op::Minus | Op::Multiply | Op::Divide | Op::Modulo => {
                let shown = operator.to_string();
                for side in [left, right] {
                    let is_extreme = matches!(
                        strip_parentheses(side), Expr::Function(function) if is_extreme(function)
                    );
                    if is_extreme || self.column(side).is_some() {
                        self.numbers(strip_parentheses(side), &shown);
                    }
                }
                if shown == "/" {
                    self.ratio(left, right);
                }
                return;
            }
            other => match compared::operators(other) {
                Some(both) => both,
                None => return,
            },
        };
        if is_null(right) {
            return self.null(left, operator);
        }
        if is_null(left) {
            return self.null(right, turned);
        }
        if operator == "=" {
            self.join(left, right);
        }
        self.record_comparison(left, operator, right);
        self.record_comparison(right, turned, left);
        self.extreme(left, right);
        self.extreme(right, left);
        if operator == "=" {
            self.record_scalar(left, right);
            self.record_scalar(right, left);
        }
    }

    fn expression(&mut self, expr: &Expr) {
        match expr {
            Expr::Function(function) => self.function(function, expr),
            Expr::Extract { .. } => self.date(expr),
            Expr::BinaryOp { left, op, right } => self.binary(expr, left, op, right),
            Expr::Between { expr: column, negated, low, high } => {
                if !negated {
                    self.record_empty_ranges(&[expr]);
                }
                self.record_comparison(column, ">=", low);
                self.record_comparison(column, "<=", high);
            }
            Expr::UnaryOp { op: UnaryOperator::Minus, expr } if self.column(expr).is_some() => {
                self.numbers(expr, "-")
            }
            Expr::InList { expr, list, negated: true } if list.iter().any(is_null) => {
                if let Some(origin) = self.column(expr) {
                    self.record(origin, Some("NULL".to_owned()), UseKind::NotIn);
                }
            }
            Expr::InList { expr, list, .. } => {
                if list.iter().any(is_null) {
                    self.null(expr, "=");
                }
                list.iter().for_each(|value| self.record_comparison(expr, "=", value))
            }
            Expr::Case { operand: Some(operand), conditions, .. }
                if conditions.iter().any(|when| is_null(&when.condition)) =>
            {
                self.null(operand, "=");
            }
            Expr::Cast { expr, data_type, .. } if is_numeric_type(data_type, self.dialect) => {
                self.cast(expr);
            }
            _ => {}
        }
    }
}

impl Visitor for Noted<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if self.depth == 0 && self.uses.len() < USES {
            self.expression(expr);
        }
        ControlFlow::Continue(())
    }
}

/// Returns true if a function is the aggregate `min` or `max`.
fn is_extreme(function: &Function) -> bool {
    is_one_of(&name(function), &["min", "max"]) && arguments(function).len() == 1
}

fn is_date(function: &Function) -> bool {
    is_one_of(&name(function), &DATES)
}

fn strip_parentheses(expr: &Expr) -> &Expr {
    match expr {
        Expr::Nested(inner) => strip_parentheses(inner),
        other => other,
    }
}

#[cfg(test)]
mod tests;
