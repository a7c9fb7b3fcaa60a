//! Combines conditions: alternatives, intersections and exclusions.

use super::Assembler;
use crate::cues::Cue;
use crate::draft::{Draft, Filter};
use crate::items::What;
use crate::joins;
use crate::query::{Condition, Expression, Function, LogicalQuery, Operand, Operator};
use crate::schema::{ColumnRef, Holds};

impl Assembler<'_> {
    /// Counting rows that belong to the best row: the best row is found in a subquery.
    pub(super) fn rows_of_best(&self, column: ColumnRef, up: bool, query: &mut LogicalQuery) {
        let extreme = LogicalQuery {
            select: vec![Expression::Aggregate(
                if up { Function::Max } else { Function::Min },
                column,
            )],
            ..LogicalQuery::default()
        };
        query.filters.push(vec![Condition {
            column,
            operator: Operator::Equal,
            operand: Operand::Query(Box::new(extreme)),
            field: None,
        }]);
    }

    pub(super) fn filters(&self, draft: &Draft, main: usize, query: &mut LogicalQuery) {
        let valued = self.value_asked(draft, query);
        fn is_negated_elsewhere(main: usize, filter: &&Filter) -> bool {
            filter.negated.is_some() && filter.condition.column.table != main
        }
        // Each negation excludes separately: `no loans and no visits` is not `no loans with
        // visits`.
        for negation in &draft.negations {
            let reached = |negated: Option<usize>| negated == Some(*negation);
            let tables =
                draft.named.iter().filter(|named| reached(named.negated) && named.table != main);
            let tables: Vec<usize> = tables.map(|named| named.table).collect();
            let inside = draft
                .filters
                .iter()
                .filter(|filter| is_negated_elsewhere(main, filter) && reached(filter.negated));
            let inside: Vec<Condition> =
                inside.map(|filter| without_negation(&filter.condition)).collect();
            if !tables.is_empty() || !inside.is_empty() {
                query.filters.extend(self.exclusion(main, valued, &tables, inside));
            }
        }
        let own: Vec<Filter> = draft
            .filters
            .iter()
            .filter(|filter| !is_negated_elsewhere(main, filter))
            .map(apply_negation)
            .collect();
        self.combine(draft, &own.iter().collect::<Vec<_>>(), query);
    }

    /// The one column asked for when no table is named before the negation: then its values are
    /// meant, not rows.
    pub(super) fn value_asked(&self, draft: &Draft, query: &LogicalQuery) -> Option<ColumnRef> {
        let not = draft.not?;
        let [Expression::Column(only)] = query.select.as_slice() else { return None };
        let view = &self.schema.tables[only.table];
        let own = view.key == Some(only.column) || view.labels.contains(&only.column);
        let named = draft.named.iter().any(|named| named.item < not && named.table == only.table);
        (!own && !named).then_some(*only)
    }

    /// `main` rows that have nothing among these tables under these conditions.
    pub(super) fn exclusion(
        &self,
        main: usize,
        valued: Option<ColumnRef>,
        tables: &[usize],
        conditions: Vec<Condition>,
    ) -> Option<Vec<Condition>> {
        let mut wanted = vec![main];
        wanted.extend(conditions.iter().map(|condition| condition.column.table));
        wanted.extend(tables);
        let tree = joins::tree(self.schema, &wanted, self.bias)?;
        let edge = tree.iter().find_map(|(_, edge)| *edge)?;
        let on_main = if edge.left.table == main { edge.left } else { edge.right };
        let key = self.schema.tables[main]
            .key
            .map_or(on_main, |column| ColumnRef { table: main, column });
        let column = valued.filter(|valued| valued.table == main).unwrap_or(key);
        let inner = LogicalQuery {
            select: vec![Expression::Column(column)],
            tables: wanted,
            filters: by_column(conditions),
            ..LogicalQuery::default()
        };
        Some(vec![Condition {
            column,
            operator: Operator::NotIn,
            operand: Operand::Query(Box::new(inner)),
            field: None,
        }])
    }

    /// Joins conditions: `or` makes alternatives, two values of one column after `both` an
    /// intersection.
    pub(super) fn combine(&self, draft: &Draft, filters: &[&Filter], query: &mut LogicalQuery) {
        let mut groups: Vec<Vec<&Filter>> = Vec::new();
        for filter in filters {
            let previous = groups.last_mut();
            match previous {
                Some(group)
                    if group.last().is_some_and(|last| self.alternatives(draft, last, filter)) =>
                {
                    group.push(filter)
                }
                _ => groups.push(vec![filter]),
            }
        }
        if self.is_of_one_row(draft, query, filters) {
            join_values(&mut groups);
        }
        let twice = Self::intersects(&groups);
        let base = query.filters.clone();
        for (at, group) in groups.iter().enumerate() {
            if twice.is_none_or(|(_, second)| second != at) {
                query.filters.push(group.iter().map(|filter| filter.condition.clone()).collect());
            }
        }
        if let Some((first, _)) = twice {
            let mut other =
                LogicalQuery { intersect: None, order: Vec::new(), limit: None, ..query.clone() };
            other.filters = base;
            let rest = groups.iter().enumerate().filter(|(at, _)| *at != first);
            other.filters.extend(
                rest.map(|(_, group)| {
                    group.iter().map(|filter| filter.condition.clone()).collect()
                }),
            );
            query.intersect = Some(Box::new(other));
        }
    }

    /// Returns true if the conditions are all of the rows of one table or of the one row of another
    /// that each belongs to, and what is selected of them is said of each row, so that no row
    /// fulfils two of one column: the flights from two places, the bookings of hotels in two.
    fn is_of_one_row(&self, draft: &Draft, query: &LogicalQuery, filters: &[&Filter]) -> bool {
        let mut tables = query.all_tables();
        tables.extend(filters.iter().map(|filter| filter.condition.column.table));
        tables.dedup();
        let Some(rows) = tables.first().copied() else { return false };
        let is_counted = draft.counted.iter().all(|counted| counted.table == Some(rows));
        let is_selected =
            query.select.iter().all(|item| item.column().is_none_or(|column| column.table == rows));
        let is_once = !joins::repeats_rows(self.schema, &tables, rows, self.bias);
        let is_joined = is_counted && is_selected && is_once;
        (tables.len() == 1 || is_joined)
            && !draft.both
            && query.group.is_empty()
            && query.select.iter().all(|item: &Expression| match item {
                // Two rows of one name are two.
                Expression::Column(at) => {
                    let view = &self.schema.tables[at.table];
                    let names_row = view.is_keyed && view.labels.contains(&at.column);
                    let column = self.schema.column(*at);
                    names_row || column.holds == Holds::Number && !column.is_key
                }
                Expression::AllColumns(_) | Expression::CountDistinct(_) | Expression::Share(_) => {
                    false
                }
                _ => true,
            })
    }

    /// Excludes the values of a column of which any row is excluded, and not these rows alone:
    /// `islands without gentoo`.
    pub(super) fn exclude_values(&self, query: &mut LogicalQuery) {
        let [Expression::Column(column)] = *query.select.as_slice() else { return };
        let is_plain = query.order.is_empty()
            && query.limit.is_none()
            && query.group.is_empty()
            && query.intersect.is_none()
            && query.all_tables().len() == 1;
        let excludes = |condition: &Condition| {
            condition.operator == Operator::NotEqual
                && condition.column != column
                && matches!(condition.operand, Operand::Text(_) | Operand::Texts(_))
        };
        let is_excluded = |any: &Vec<Condition>| matches!(any.as_slice(), [only] if excludes(only));
        if !is_plain || !self.schema.repeats(column) || !query.filters.iter().any(is_excluded) {
            return;
        }
        let (excluded, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut query.filters).into_iter().partition(is_excluded);
        let inner = LogicalQuery {
            select: vec![Expression::Column(column)],
            filters: std::iter::once(excluded.iter().flatten().map(without_negation).collect())
                .chain(kept.clone())
                .collect(),
            ..LogicalQuery::default()
        };
        let operand = Operand::Query(Box::new(inner));
        query.distinct = true;
        query.filters =
            vec![vec![Condition { column, operator: Operator::NotIn, operand, field: None }]];
        query.filters.extend(kept);
    }

    pub(super) fn alternatives(&self, draft: &Draft, first: &Filter, second: &Filter) -> bool {
        // Not in either is in none of them.
        if first.negated.is_some() && first.negated == second.negated {
            return false;
        }
        if draft.split.is_some_and(|column| column == second.condition.column) {
            return true;
        }
        let between = &self.reading.items[first.item..=second.item];
        let or = between.iter().any(|item| matches!(item.what, What::Cue(Cue::Or)));
        // The month and the year of a date are not alternatives.
        let same = first.condition.column == second.condition.column
            && first.condition.field == second.condition.field;
        let equal = first.condition.operator == Operator::Equal
            && second.condition.operator == Operator::Equal;
        let listed = between.iter().all(|item| {
            matches!(
                item.what,
                What::Cue(Cue::And | Cue::Comma | Cue::Or)
                    | What::Cell(_)
                    | What::Text(_)
                    | What::Number(_)
            )
        });
        // `dogs, cats or birds`: the comma means `or`, too.
        let comma = same && equal && listed && !draft.both;
        if self.choice.sets && same && equal {
            !or
        } else {
            or || (comma && self.any_or(second.item))
        }
    }

    pub(super) fn any_or(&self, from: usize) -> bool {
        self.reading.items[from..]
            .iter()
            .take(4)
            .any(|item| matches!(item.what, What::Cue(Cue::Or)))
    }

    /// Two single conditions that no row can fulfil together.
    pub(super) fn intersects(groups: &[Vec<&Filter>]) -> Option<(usize, usize)> {
        let single: Vec<(usize, &Condition)> = groups
            .iter()
            .enumerate()
            .filter_map(|(at, group)| {
                if let [only] = group.as_slice() { Some((at, &only.condition)) } else { None }
            })
            .collect();
        for (i, (first, a)) in single.iter().enumerate() {
            for (second, b) in &single[i + 1..] {
                let same = a.column == b.column && a.field == b.field && a.operand != b.operand;
                let values = a.operator == Operator::Equal && b.operator == Operator::Equal;
                if same && (values || are_disjoint(a, b)) {
                    return Some((*first, *second));
                }
            }
        }
        None
    }
}

/// Makes alternatives of the single values of one column that no row has together.
fn join_values(groups: &mut Vec<Vec<&Filter>>) {
    fn is_value(group: &[&Filter]) -> bool {
        group.iter().all(|filter| {
            filter.condition.operator == Operator::Equal
                && filter.condition.field.is_none()
                && matches!(
                    filter.condition.operand,
                    Operand::Text(_) | Operand::Texts(_) | Operand::Number(_)
                )
        })
    }
    let mut joined: Vec<Vec<&Filter>> = Vec::new();
    for group in std::mem::take(groups) {
        let same = joined.iter_mut().find(|other| {
            fn column(group: &[&Filter]) -> Option<ColumnRef> {
                group.first().map(|filter| filter.condition.column)
            }
            is_value(other) && is_value(&group) && column(other) == column(&group)
        });
        match same {
            Some(other) => other.extend(group),
            None => joined.push(group),
        }
    }
    *groups = joined;
}

/// Returns true if no number fulfils both conditions: above 40 and below 30.
fn are_disjoint(a: &Condition, b: &Condition) -> bool {
    let number = |condition: &Condition| match &condition.operand {
        Operand::Number(number) => number.parse::<f64>().ok(),
        _ => None,
    };
    let (Some(x), Some(y)) = (number(a), number(b)) else { return false };
    fn is_lower_bound(operator: Operator) -> bool {
        matches!(operator, Operator::Greater | Operator::AtLeast)
    }
    fn is_upper_bound(operator: Operator) -> bool {
        matches!(operator, Operator::Less | Operator::AtMost)
    }
    (is_lower_bound(a.operator) && is_upper_bound(b.operator) && x >= y)
        || (is_upper_bound(a.operator) && is_lower_bound(b.operator) && x <= y)
}

/// The opposite of a comparison within a negated clause.
fn apply_negation(filter: &Filter) -> Filter {
    let mut filter = filter.clone();
    // Cells and texts were negated when they were read.
    let compares = !matches!(
        filter.condition.operator,
        Operator::Equal | Operator::NotEqual | Operator::Like | Operator::NotLike
    ) || matches!(filter.condition.operand, Operand::Number(_));
    if filter.negated.is_some() && compares {
        filter.condition.operator = filter.condition.operator.negate();
    }
    filter
}

/// Conditions that hold together; several values of one column are alternatives.
fn by_column(conditions: Vec<Condition>) -> Vec<Vec<Condition>> {
    let mut groups: Vec<Vec<Condition>> = Vec::new();
    for condition in conditions {
        match groups.iter_mut().find(|group| {
            group.iter().all(|other: &Condition| {
                other.column == condition.column
                    && other.field == condition.field
                    && (other.operator, condition.operator) == (Operator::Equal, Operator::Equal)
            })
        }) {
            Some(group) => group.push(condition),
            None => groups.push(vec![condition]),
        }
    }
    groups
}

fn without_negation(condition: &Condition) -> Condition {
    let operator = match condition.operator {
        Operator::NotEqual => Operator::Equal,
        Operator::NotLike => Operator::Like,
        other => other,
    };
    Condition { operator, ..condition.clone() }
}
