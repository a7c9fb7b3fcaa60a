//! Tables that stand beside each other in FROM: those that no condition connects, and rows that a
//! join repeats below an aggregate.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{
    BinaryOperator, Expr, Function, GroupByExpr, JoinConstraint, JoinOperator, ObjectName, OrderBy,
    OrderByKind, Select, TableFactor, UnaryOperator, Visit, visit_expressions,
};
use syrch_core::Table;
use syrch_core::ports::{Repeated, Use, UseKind};

use super::super::resolver::{Resolver, constraint};
use super::super::scope::{Scope, Source, same};
use super::SAME_NUMBER;
use super::beside::{Named, determine_columns, expression, is_aggregate, resolve_reference};
use super::plain::{Place, arguments, calls, conditions, is_distinct, is_one_of, locate, name};
use crate::carry;

/// Aggregates that count each row of a table as often as a join repeats it.
const WEIGHED: [&str; 4] = ["avg", "mean", "sum", "total"];
/// Functions that choose between values by a condition, their first argument.
const CHOICES: [&str; 3] = ["if", "iff", "iif"];
/// Aggregates of one statement that are looked at.
const LOOKED_AT: usize = 16;
/// Bytes of a query of repeated rows.
const LONGEST: usize = 8_000;

/// A table of the catalog that stands in FROM.
struct Joined<'j> {
    table: &'j Table,
    /// The table's name, as the catalog finds it.
    shown: String,
    /// The name that qualifies its columns, as the statement writes it.
    written: String,
}

impl Joined<'_> {
    /// The columns of its primary key, where it is the source with that number.
    fn name_key(&self, source: usize) -> BTreeSet<Named> {
        let keys = self.table.primary_key.iter();
        keys.map(|key| (source, self.shown.clone(), key.to_lowercase())).collect()
    }
}

/// The uses of one SELECT whose FROM holds several tables of the catalog, and nothing else.
pub(super) fn uses(
    resolver: &Resolver<'_>,
    select: &Select,
    order: Option<&OrderBy>,
    scopes: &[Scope],
) -> Vec<Use> {
    let Some(tables) = tables(resolver, select, scopes) else { return Vec::new() };
    let lonely = find_unconnected(select, &tables, scopes);
    if lonely.is_some() || scopes.len() > 1 {
        return lonely.into_iter().collect();
    }
    let mut uses = find_repeated(resolver, select, order, scopes, &tables);
    uses.extend(padded(resolver, select, scopes, &tables));
    uses
}

/// Returns true if a condition of WHERE leaves out the rows that a LEFT JOIN makes where there is
/// none: it compares a column of the right table.
pub(super) fn is_inner(select: &Select, scopes: &[Scope]) -> bool {
    let operators = select.from.iter().flat_map(|tree| {
        std::iter::once(None).chain(tree.joins.iter().map(|join| Some(&join.join_operator)))
    });
    let is_right: Vec<bool> = operators
        .map(|operator| {
            matches!(operator, Some(JoinOperator::Left(_) | JoinOperator::LeftOuter(_)))
        })
        .collect();
    if scopes.last().is_none_or(|scope| scope.sources.len() != is_right.len()) {
        return false;
    }
    let is_of_right = |expr: &Expr| {
        let source = locate(expr, scopes).and_then(|place| place.source);
        source.is_some_and(|source| is_right[source])
    };
    select.selection.iter().flat_map(conditions).any(|condition: &Expr| match condition {
        Expr::BinaryOp { op: BinaryOperator::Or, .. } => false,
        Expr::BinaryOp { left, right, .. } => is_of_right(left) || is_of_right(right),
        Expr::IsNotNull(expr)
        | Expr::Between { expr, .. }
        | Expr::InList { expr, .. }
        | Expr::InSubquery { expr, .. }
        | Expr::Like { expr, .. } => is_of_right(expr),
        _ => false,
    })
}

/// A count of the rows, or of the keys, of the left table of a LEFT JOIN for each of them: it is 1
/// where the right table has none.
fn padded(
    resolver: &Resolver<'_>,
    select: &Select,
    scopes: &[Scope],
    tables: &[Joined<'_>],
) -> Option<Use> {
    let ([tree], [left, right]) = (select.from.as_slice(), tables) else { return None };
    let join = tree.joins.first()?;
    let (JoinOperator::Left(JoinConstraint::On(on))
    | JoinOperator::LeftOuter(JoinConstraint::On(on))) = &join.join_operator
    else {
        return None;
    };
    let GroupByExpr::Expressions(groups, modifiers) = &select.group_by else { return None };
    let groups: Option<BTreeSet<Named>> = groups
        .iter()
        .map(|group| locate(resolve_reference(group, select, scopes), scopes).and_then(to_named))
        .collect();
    let groups = groups.filter(|groups| groups.iter().all(|(source, ..)| *source == 0))?;
    let [key] = left.table.primary_key.as_slice() else { return None };
    let key = (0, left.shown.clone(), key.to_lowercase());
    let is_each = groups
        .iter()
        .any(|(_, _, column): &Named| column.contains("name") || column.contains("title"))
        || determine_columns(groups, select, scopes, resolver.catalog).contains(&key);
    fn counts_rows(scopes: &[Scope], function: &Function) -> bool {
        is_one_of(&name(function), &["count"])
            && !is_distinct(function)
            && arguments(function).into_iter().all(|argument: &Expr| match argument {
                Expr::Value(_) => true,
                other => locate(other, scopes).and_then(|place| place.source) == Some(0),
            })
    }
    let shown = select.projection.iter().filter_map(expression);
    let is_counted = shown.flat_map(aggregates).any(|function| counts_rows(scopes, &function));
    if !modifiers.is_empty() || select.having.is_some() || !is_each || !is_counted {
        return None;
    }
    let (written, column) = conditions(on).into_iter().find_map(|condition: &Expr| {
        let Expr::BinaryOp { left, op: BinaryOperator::Eq, right } = condition else { return None };
        [left, right].into_iter().find_map(|side| {
            let place = locate(side, scopes).filter(|place| place.source == Some(1))?;
            Some((side.to_string(), place.origin.column))
        })
    })?;
    // Of what the left table refers to there is one row at most.
    if matches!(right.table.primary_key.as_slice(), [key] if same(key, &column)) {
        return None;
    }
    let filter = select.selection.iter().map(|filter| format!("({filter}) AND "));
    let rows = format!(
        "SELECT 1 AS v FROM {tree} WHERE {}{written} IS NULL LIMIT 1",
        filter.collect::<String>()
    );
    let rows = carry::restore(rows, &resolver.catalog.dialect);
    (rows.len() <= LONGEST).then(|| Use {
        table: right.shown.clone(),
        column,
        value: None,
        filter: None,
        kind: UseKind::Padded { rows },
    })
}

fn tables<'r>(
    resolver: &Resolver<'r>,
    select: &Select,
    scopes: &[Scope],
) -> Option<Vec<Joined<'r>>> {
    let scope = scopes.last().filter(|scope| scope.sources.len() > 1 && !scope.is_uncertain())?;
    let factors = select.from.iter().flat_map(|tree| {
        std::iter::once(&tree.relation).chain(tree.joins.iter().map(|join| &join.relation))
    });
    let joined: Option<Vec<Joined<'r>>> = factors
        .zip(&scope.sources)
        .map(|(factor, source)| resolve_joined(resolver, factor, source))
        .collect();
    joined.filter(|joined| joined.len() == scope.sources.len())
}

fn resolve_joined<'r>(
    resolver: &Resolver<'r>,
    factor: &TableFactor,
    source: &Source,
) -> Option<Joined<'r>> {
    let TableFactor::Table { name, alias, args: None, .. } = factor else { return None };
    let last = name.0.last().and_then(|part| part.as_ident())?;
    if is_query(resolver, name) {
        return None;
    }
    let shown = source.columns.as_ref()?.first()?.origin.as_ref()?.table.clone();
    let written = alias.as_ref().map_or(last, |alias| &alias.name).to_string();
    Some(Joined { table: resolver.catalog.table(&shown)?, shown, written })
}

/// Returns true if that is the name of a common table expression or of a finished task.
fn is_query(resolver: &Resolver<'_>, name: &ObjectName) -> bool {
    let [only] = name.0.as_slice() else { return false };
    let Some(only) = only.as_ident() else { return true };
    resolver.ctes.iter().any(|(cte, _)| same(cte, &only.value))
        || resolver.relations.iter().any(|relation| same(&relation.name, &only.value))
}

/// The first table that no condition connects with the first one of FROM.
fn find_unconnected(select: &Select, tables: &[Joined<'_>], scopes: &[Scope]) -> Option<Use> {
    // Aggregates that take each value once are the same over repeated rows.
    let shown = select.projection.iter().filter_map(expression);
    let mut taken = shown.flat_map(aggregates).peekable();
    if taken.peek().is_some()
        && taken.all(|taken| is_distinct(&taken) || is_one_of(&name(&taken), &["max", "min"]))
    {
        return None;
    }
    let mut groups: Vec<usize> = (0..tables.len()).collect();
    let mut connected: Vec<&Expr> = select.selection.iter().flat_map(conditions).collect();
    for join in select.from.iter().flat_map(|tree| &tree.joins) {
        if matches!(join.join_operator, JoinOperator::CrossJoin(_)) {
            return None;
        }
        match constraint(join)? {
            JoinConstraint::On(condition) => connected.push(condition),
            JoinConstraint::Using(_) | JoinConstraint::Natural => return None,
            JoinConstraint::None => {}
        }
    }
    for condition in connected {
        let sources: BTreeSet<usize> =
            places(condition, scopes).into_iter().filter_map(|place| place.source).collect();
        let joined: BTreeSet<usize> = sources.iter().map(|source| groups[*source]).collect();
        let Some(first) = joined.first() else { continue };
        groups.iter_mut().filter(|group| joined.contains(group)).for_each(|group| *group = *first);
    }
    let lonely = groups.iter().position(|group| *group != groups[0])?;
    let [first, other] = [&tables[0], &tables[lonely]];
    Some(Use {
        table: other.shown.clone(),
        column: other.table.columns.first()?.name.clone(),
        value: None,
        filter: None,
        kind: UseKind::Unconnected(first.shown.clone()),
    })
}

/// The aggregates of columns whose table's rows a join may repeat, while the tables that repeat
/// them only filter.
fn find_repeated(
    resolver: &Resolver<'_>,
    select: &Select,
    order: Option<&OrderBy>,
    scopes: &[Scope],
    tables: &[Joined<'_>],
) -> Vec<Use> {
    let GroupByExpr::Expressions(groups, modifiers) = &select.group_by else { return Vec::new() };
    if !modifiers.is_empty() {
        return Vec::new();
    }
    let groups: Vec<&Expr> =
        groups.iter().map(|expr| resolve_reference(expr, select, scopes)).collect();
    let keys = order.into_iter().flat_map(|order| match &order.kind {
        OrderByKind::Expressions(keys) => keys.as_slice(),
        OrderByKind::All(_) => &[],
    });
    let shown = select.projection.iter().filter_map(expression).chain(&select.having);
    let shown: Vec<&Expr> =
        shown.chain(keys.map(|key| resolve_reference(&key.expr, select, scopes))).collect();
    if shown.len() < select.projection.len() || shown.iter().any(|expr| holds_query(expr)) {
        return Vec::new();
    }
    let named = |expr: &Expr| places(expr, scopes).into_iter().filter_map(to_named);
    let read: Vec<Named> = shown.iter().chain(&groups).flat_map(|expr| named(expr)).collect();
    // What is read outside of aggregates may be what the rows are repeated for.
    let grouped: BTreeSet<Named> = groups.iter().flat_map(|expr| named(expr)).collect();
    let bare: Vec<Named> =
        shown.iter().flat_map(|expr| outside(expr, scopes)).chain(grouped.clone()).collect();
    let of_group = determine_columns(grouped, select, scopes, resolver.catalog);
    let measured: Vec<Named> = shown
        .iter()
        .flat_map(|expr| aggregates(expr))
        .filter(|function| !is_distinct(function))
        .flat_map(|function| arguments(&function).into_iter().flat_map(named).collect::<Vec<_>>())
        .collect();
    let mut uses = Vec::new();
    for function in shown.iter().flat_map(|expr| aggregates(expr)).take(LOOKED_AT) {
        let [argument] = arguments(&function)[..] else { continue };
        let taken: Vec<Place> = find_values(argument)
            .into_iter()
            .flat_map(|value| places(value, scopes))
            .filter(|place| place.source.is_some())
            .collect();
        let valued: Vec<Named> = taken.iter().cloned().filter_map(to_named).collect();
        // Of several tables, that of which each row has one of the others.
        let Some((place, source, known)) = taken.iter().find_map(|place| {
            let source = place.source.filter(|at| !tables[*at].table.primary_key.is_empty())?;
            let key = tables[source].name_key(source);
            let known = determine_columns(key, select, scopes, resolver.catalog);
            valued.iter().all(|named| known.contains(named)).then_some((place, source, known))
        }) else {
            continue;
        };
        let table = &tables[source];
        let keys = &table.table.primary_key;
        let is_key = matches!(keys.as_slice(), [key] if same(key, &place.origin.column));
        let is_count =
            is_one_of(&name(&function), &["count"]) && is_key && locate(argument, scopes).is_some();
        if is_distinct(&function) || !(is_count || is_one_of(&name(&function), &WEIGHED)) {
            continue;
        }
        let is_other = |named: &Named| !known.contains(named);
        // A measure of the table that repeats rows has its own rows; where one is taken too, the
        // repeated ones are meant for neither.
        let is_beside = measured.iter().any(is_other) && !bare.iter().any(is_other);
        let is_alone = !read.iter().any(is_other) && (!is_count || groups.is_empty());
        // Of one row in each group, the mean is its value, and the count that of the joined rows.
        let is_group_of_one = table.name_key(source).is_subset(&of_group);
        let is_of_one = is_group_of_one && !is_one_of(&name(&function), &["sum", "total"]);
        // A CASE or a FILTER may choose by what repeats the rows.
        let mut chosen_by = places(&function, scopes).into_iter().filter_map(to_named);
        let chooses_by_other = chosen_by.any(|named| is_other(&named));
        if is_of_one
            || chooses_by_other
            || !(is_alone || is_beside)
            || is_each_known(tables, &known)
        {
            continue;
        }
        let rows = repeats(resolver, select, &groups, table);
        uses.extend(rows.map(|rows| Use {
            table: place.origin.table.clone(),
            column: place.origin.column.clone(),
            value: None,
            filter: None,
            kind: UseKind::Repeated { function: name(&function).to_uppercase(), rows },
        }));
    }
    uses
}

/// Returns true if each table has one row, with a key, where those columns have one value.
fn is_each_known(tables: &[Joined<'_>], known: &BTreeSet<Named>) -> bool {
    tables.iter().enumerate().all(|(source, table)| {
        !table.table.primary_key.is_empty() && table.name_key(source).is_subset(known)
    })
}

/// The rows of the table that a SELECT lists, where a join may repeat them and nothing that may
/// differ between the repeated ones is shown.
pub(super) fn read_repeated(
    resolver: &Resolver<'_>,
    select: &Select,
    order: Option<&OrderBy>,
    scopes: &[Scope],
) -> Option<Repeated> {
    let is_grouped = match &select.group_by {
        GroupByExpr::Expressions(groups, modifiers) => !groups.is_empty() || !modifiers.is_empty(),
        GroupByExpr::All(_) => true,
    };
    let tables = tables(resolver, select, scopes)?;
    if is_grouped || select.distinct.is_some() || select.having.is_some() {
        return None;
    }
    let shown = select.projection.iter().map(|item| locate(expression(item)?, scopes));
    let shown: Vec<Place> = shown.collect::<Option<_>>()?;
    let keys = order.into_iter().flat_map(|order| match &order.kind {
        OrderByKind::Expressions(keys) => keys.as_slice(),
        OrderByKind::All(_) => &[],
    });
    let sorted = keys.flat_map(|key| places(resolve_reference(&key.expr, select, scopes), scopes));
    let read: Option<BTreeSet<Named>> = shown.iter().cloned().chain(sorted).map(to_named).collect();
    let read = read?;
    shown.iter().find_map(|place| {
        let source = place.source.filter(|at| !tables[*at].table.primary_key.is_empty())?;
        let table = &tables[source];
        let key = table.name_key(source);
        let known = determine_columns(key, select, scopes, resolver.catalog);
        if !read.is_subset(&known) || is_each_known(&tables, &known) {
            return None;
        }
        let rows = repeats(resolver, select, &[], table)?;
        Some(Repeated { table: table.shown.clone(), rows })
    })
}

/// The expressions of which an aggregate takes the values: the results of a CASE, or all of it. A
/// condition has none: its sum is a number of joined rows.
fn find_values(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => find_values(inner),
        condition if is_condition(condition) => Vec::new(),
        Expr::UnaryOp { expr: inner, .. } => find_values(inner),
        Expr::BinaryOp { left, right, .. } => {
            [&**left, &**right].into_iter().flat_map(find_values).collect()
        }
        Expr::Function(function) => {
            let name = name(function);
            let skipped = match is_one_of(&name, &CHOICES) {
                true => 1,
                false if is_one_of(&name, &SAME_NUMBER) => 0,
                false => return vec![expr],
            };
            arguments(function).into_iter().skip(skipped).flat_map(find_values).collect()
        }
        Expr::Case { conditions, else_result, .. } => {
            let results = conditions.iter().map(|when| &when.result).chain(else_result.as_deref());
            results.flat_map(find_values).collect()
        }
        other => vec![other],
    }
}

/// Returns true for an expression that is true or false.
fn is_condition(expr: &Expr) -> bool {
    use BinaryOperator as Op;
    match expr {
        Expr::BinaryOp { op, .. } => {
            let operators = [
                Op::And,
                Op::Or,
                Op::Xor,
                Op::Eq,
                Op::NotEq,
                Op::Spaceship,
                Op::Lt,
                Op::LtEq,
                Op::Gt,
                Op::GtEq,
            ];
            operators.contains(op)
        }
        Expr::UnaryOp { op: UnaryOperator::Not, .. }
        | Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsDistinctFrom(..)
        | Expr::IsNotDistinctFrom(..)
        | Expr::Like { .. }
        | Expr::ILike { .. }
        | Expr::RLike { .. }
        | Expr::SimilarTo { .. }
        | Expr::InList { .. }
        | Expr::Between { .. } => true,
        _ => false,
    }
}

/// A query of one row for each row with that key that occurs more than once in a group.
fn repeats(
    resolver: &Resolver<'_>,
    select: &Select,
    groups: &[&Expr],
    table: &Joined<'_>,
) -> Option<String> {
    let keys = table.table.primary_key.iter().map(|key| resolver.catalog.dialect.quote(key));
    let keys: Vec<String> = keys.map(|key| format!("{}.{key}", table.written)).collect();
    let key = keys.join(", ");
    let from: Vec<String> = select.from.iter().map(ToString::to_string).collect();
    let filter =
        select.selection.as_ref().map(|filter| format!(" WHERE {filter}")).unwrap_or_default();
    let groups: String = groups.iter().map(|group| format!(", {group}")).collect();
    let rows = format!(
        "SELECT 1 AS v FROM {}{filter} GROUP BY {key}{groups} HAVING count(*) > 1 LIMIT 1",
        from.join(", ")
    );
    let rows = carry::restore(rows, &resolver.catalog.dialect);
    (rows.len() <= LONGEST).then_some(rows)
}

fn places<V: Visit>(part: &V, scopes: &[Scope]) -> Vec<Place> {
    let mut places = Vec::new();
    let _ = visit_expressions(part, |expr| {
        places.extend(locate(expr, scopes));
        ControlFlow::<()>::Continue(())
    });
    places
}

fn aggregates(expr: &Expr) -> Vec<Function> {
    let mut aggregates = Vec::new();
    let _ = visit_expressions(expr, |expr| {
        if let Expr::Function(function) = expr
            && is_aggregate(function)
        {
            aggregates.push(function.clone());
        }
        ControlFlow::<()>::Continue(())
    });
    aggregates
}

/// The columns that an expression reads outside of aggregates.
fn outside(expr: &Expr, scopes: &[Scope]) -> Vec<Named> {
    let mut all: Vec<Named> = places(expr, scopes).into_iter().filter_map(to_named).collect();
    for function in aggregates(expr) {
        for argument in arguments(&function) {
            for named in places(argument, scopes).into_iter().filter_map(to_named) {
                if let Some(place) = all.iter().position(|other| *other == named) {
                    all.remove(place);
                }
            }
        }
    }
    all
}

fn holds_query(expr: &Expr) -> bool {
    calls(expr, |expr| {
        matches!(expr, Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. })
    })
}

fn to_named(place: Place) -> Option<Named> {
    Some((place.source?, place.origin.table, place.origin.column.to_lowercase()))
}
