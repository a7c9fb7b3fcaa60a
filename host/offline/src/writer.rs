//! The text of a query in the dialect of the catalog.

use std::collections::BTreeSet;

use syrch_core::Syntax;

use super::calendar;
use super::dialect::{self, Forms};
use super::joins;
use super::query::{
    Condition, Expression, Field, Function, LogicalQuery, Operand, Operator, Share,
};
use super::schema::{ColumnRef, Edge, Schema};

/// Writes queries as SQL text.
pub(crate) struct Writer<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) bias: &'a (dyn Fn(&Edge) -> f64 + Sync),
}

impl Writer<'_> {
    /// The text; `None` if its tables cannot be joined or it selects nothing.
    pub(crate) fn text(&self, query: &LogicalQuery) -> Option<String> {
        let query = &self.group_strictly(query);
        if let Some(function) = query.fold {
            return self.write_fold(query, function);
        }
        let tables = query.all_tables();
        let tree = joins::tree(self.schema, &tables, self.bias)?;
        let single = tree.len() == 1;
        let mut out = String::from(if query.distinct { "SELECT DISTINCT " } else { "SELECT " });
        let select: Option<Vec<String>> =
            query.select.iter().map(|item| self.expression(item, single)).collect();
        out += &self.list(select?.into_iter())?;
        out += " FROM ";
        for (table, edge) in &tree {
            match edge {
                None => out += &self.table(*table),
                Some(edge) => {
                    let (left, right) = self.sides(edge);
                    out += &format!(" JOIN {} ON {left} = {right}", self.table(*table));
                }
            }
        }
        if !query.filters.is_empty() {
            let filters: Option<Vec<String>> =
                query.filters.iter().map(|any| self.any_of(any, single)).collect();
            out += &format!(" WHERE {}", filters?.join(" AND "));
        }
        if let Some(group) = self.list(query.group.iter().map(|at| self.name(*at, single))) {
            out += &format!(" GROUP BY {group}");
        }
        if let Some((expression, operator, number)) = &query.having {
            out += &format!(
                " HAVING {} {} {number}",
                self.expression(expression, single)?,
                operator.text()
            );
        }
        if let Some(other) = &query.intersect {
            out += &format!(" INTERSECT {}", self.text(other)?);
        }
        let order = query.order.iter();
        let order = order.map(|(item, down)| {
            Some(self.expression(item, single)? + self.direction(item, *down, query))
        });
        let order: Option<Vec<String>> = order.collect();
        if let Some(order) = self.list(order?.into_iter()) {
            out += &format!(" ORDER BY {order}");
        }
        if let Some(limit) = query.limit {
            out += &format!(" LIMIT {limit}");
        }
        Some(out)
    }

    /// The aggregate of the one column of the rows that a limit leaves.
    fn write_fold(&self, query: &LogicalQuery, function: Function) -> Option<String> {
        let [Expression::Column(column)] = query.select.as_slice() else { return None };
        let rows = self.text(&LogicalQuery { fold: None, ..query.clone() })?;
        let name = self.aggregate(function, self.name(*column, true), *column);
        Some(format!("SELECT {name} FROM ({rows}) AS best"))
    }

    fn forms(&self) -> Forms {
        Forms::for_dialect(&self.schema.dialect)
    }

    fn syntax(&self) -> &'static Syntax {
        self.schema.dialect.syntax()
    }

    /// The query as the dialect takes it: PostgreSQL and others refuse to select or to order by
    /// what is neither grouped nor aggregated, and to order different rows by what they do not
    /// have. Different rows of columns are then groups, each of which has its least or, descending,
    /// its greatest value of what it is ordered by.
    fn group_strictly(&self, query: &LogicalQuery) -> LogicalQuery {
        let mut query = query.clone();
        if !self.syntax().groups_strictly {
            return query;
        }
        if self.syntax().is_typed {
            row_of_the_extreme(&mut query);
        }
        let columns = query.select.iter().map(|expression| match expression {
            Expression::Column(at) => Some(*at),
            _ => None,
        });
        let is_ordered_by_other =
            query.order.iter().any(|(expression, _)| !query.select.contains(expression));
        if let (true, true, Some(columns)) =
            (query.distinct, is_ordered_by_other, columns.collect())
        {
            (query.distinct, query.group) = (false, columns);
            for (expression, down) in &mut query.order {
                if let Expression::Column(at) = *expression
                    && !query.group.contains(&at)
                {
                    *expression = Expression::Aggregate(
                        if *down { Function::Max } else { Function::Min },
                        at,
                    );
                }
            }
        }
        let ordered = query.order.iter().map(|(expression, _)| expression);
        if !query.group.is_empty() {
            let plain =
                query.select.iter().chain(ordered).filter_map(|expression| match expression {
                    Expression::Column(at) => Some(*at),
                    _ => None,
                });
            let missing: Vec<ColumnRef> = plain.filter(|at| !query.group.contains(at)).collect();
            query.group.extend(missing);
            let mut seen = BTreeSet::new();
            query.group.retain(|at| seen.insert(*at));
        }
        query
    }

    /// PostgreSQL takes NULL for greater than everything, and SQLite for less: without a word it
    /// would be the first of the greatest or of the least.
    fn direction(&self, expression: &Expression, down: bool, query: &LogicalQuery) -> &'static str {
        let may_be_null = expression.column().is_some_and(|at| {
            let is_counted = matches!(expression, Expression::CountDistinct(_));
            !is_counted
                && (self.schema.column(at).nullable
                    || matches!(expression, Expression::Aggregate(..)))
        });
        match down {
            true if self.forms().puts_null_first(true) && may_be_null => " DESC NULLS LAST",
            // A text whose characters are counted is there.
            false if matches!(expression, Expression::Length(_)) => "",
            false
                if self.forms().puts_null_first(false) && may_be_null && query.limit.is_some() =>
            {
                " NULLS LAST"
            }
            true => " DESC",
            false => "",
        }
    }

    fn list(&self, parts: impl Iterator<Item = String>) -> Option<String> {
        let parts: Vec<String> = parts.collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn any_of(&self, conditions: &[Condition], single: bool) -> Option<String> {
        let parts: Option<Vec<String>> =
            conditions.iter().map(|one| self.condition(one, single)).collect();
        let parts = parts?;
        Some(if parts.len() == 1 { parts.concat() } else { format!("({})", parts.join(" OR ")) })
    }

    /// The two columns of a join. Texts and numbers are compared as texts where the dialect does
    /// not convert one of them.
    fn sides(&self, edge: &Edge) -> (String, String) {
        let side = |own: ColumnRef, other: ColumnRef| {
            let name = self.name(own, false);
            if self.syntax().is_typed && self.is_mixed(own, other) {
                self.as_text(name, own)
            } else {
                name
            }
        };
        (side(edge.left, edge.right), side(edge.right, edge.left))
    }

    /// Returns true if one of the columns holds texts and the other something else.
    fn is_mixed(&self, one: ColumnRef, other: ColumnRef) -> bool {
        self.holds_text(one) != self.holds_text(other)
    }

    fn holds_text(&self, at: ColumnRef) -> bool {
        dialect::is_text(&self.schema.column(at).declared)
    }

    /// The text of a condition. A row without a date is of no year, and so fulfils `not in 2018`.
    fn condition(&self, condition: &Condition, single: bool) -> Option<String> {
        let text = self.comparison(condition, single)?;
        let is_denied = matches!(condition.operator, Operator::NotEqual | Operator::NotBetween);
        let is_open = self.schema.column(condition.column).nullable;
        Some(if is_denied && is_open && condition.field.is_some() {
            format!("({text} OR {} IS NULL)", self.name(condition.column, single))
        } else {
            text
        })
    }

    fn comparison(&self, condition: &Condition, single: bool) -> Option<String> {
        let syntax = self.syntax();
        let at = condition.column;
        let name = self.name(at, single);
        let is_pattern = matches!(condition.operator, Operator::Like | Operator::NotLike);
        if let Some(text) = self.days(&name, condition) {
            return Some(text);
        }
        let name = match condition.field {
            Some(field) => self.field(&name, at, field),
            None if is_pattern => self.as_text(name, at),
            None if syntax.is_typed => self.cast_for_comparison(name, condition),
            None => name,
        };
        let operator = self.operator(condition.operator);
        let is_boolean = syntax.has_booleans && self.schema.column(at).declared.starts_with("bool");
        let is_equality = !matches!(
            condition.operator,
            Operator::Greater | Operator::AtLeast | Operator::Less | Operator::AtMost
        );
        Some(match &condition.operand {
            Operand::Number(number) if is_boolean && condition.field.is_none() => {
                format!("{name} {operator} {}", if number == "0" { "FALSE" } else { "TRUE" })
            }
            Operand::Number(number)
                if syntax.is_typed
                    && is_equality
                    && condition.field.is_none()
                    && self.holds_text(at) =>
            {
                format!("{name} {operator} {}", syntax.literal(number))
            }
            Operand::Texts(texts) => {
                let texts: Vec<String> = texts.iter().map(|text| syntax.literal(text)).collect();
                let operator =
                    if condition.operator == Operator::NotEqual { "NOT IN" } else { "IN" };
                format!("{name} {operator} ({})", texts.join(", "))
            }
            Operand::Text(text) if is_pattern => {
                format!("{name} {operator} {}", self.forms().pattern(text))
            }
            Operand::Range(low, high) => {
                format!("{name} {operator} {} AND {}", self.operand(low)?, self.operand(high)?)
            }
            Operand::Null if condition.operator == Operator::Equal => format!("{name} IS NULL"),
            Operand::Null => format!("{name} IS NOT NULL"),
            other => format!("{name} {operator} {}", self.operand(other)?),
        })
    }

    /// A whole day against a column with a time of day, as a range: from its beginning to the
    /// beginning of the next.
    fn days(&self, name: &str, condition: &Condition) -> Option<String> {
        let view = self.schema.column(condition.column);
        // A text such as `paid_at` has the time of day after the day.
        let is_timed = dialect::is_timestamp(&view.declared)
            || (dialect::is_text(&view.declared) && view.name.to_lowercase().ends_with("_at"));
        if condition.field.is_some() || !is_timed {
            return None;
        }
        let (first, last) = match &condition.operand {
            Operand::Text(day) => (day, day),
            Operand::Range(low, high) => match (low.as_ref(), high.as_ref()) {
                (Operand::Text(low), Operand::Text(high)) => (low, high),
                _ => return None,
            },
            _ => return None,
        };
        calendar::day(first)?;
        let from = self.syntax().literal(first);
        let to = self.syntax().literal(&calendar::day_after(last)?);
        match condition.operator {
            Operator::Equal | Operator::Between => {
                Some(format!("{name} >= {from} AND {name} < {to}"))
            }
            Operator::NotEqual | Operator::NotBetween => {
                Some(format!("({name} < {from} OR {name} >= {to})"))
            }
            Operator::Greater => Some(format!("{name} >= {to}")),
            Operator::AtLeast => Some(format!("{name} >= {from}")),
            Operator::Less => Some(format!("{name} < {from}")),
            Operator::AtMost => Some(format!("{name} < {to}")),
            Operator::Like | Operator::NotLike | Operator::In | Operator::NotIn => None,
        }
    }

    /// The left side of a comparison, cast where a strict engine would refuse its right side or
    /// fail at a row. With a number, texts are compared as numbers, but for equality, and dates by
    /// their year. With a text, numbers are compared as texts, and so are dates if it is none.
    fn cast_for_comparison(&self, name: String, condition: &Condition) -> String {
        let at = condition.column;
        let declared = &self.schema.column(at).declared;
        let is_equality = matches!(condition.operator, Operator::Equal | Operator::NotEqual);
        let operand = match &condition.operand {
            Operand::Range(low, _) => low,
            other => other,
        };
        match operand {
            Operand::Number(_) if self.holds_text(at) && !is_equality => {
                self.forms().number_of(&name)
            }
            Operand::Number(_) if dialect::is_date(declared) => self.field(&name, at, Field::Year),
            Operand::Texts(_) if !self.holds_text(at) => self.as_text(name, at),
            Operand::Text(text)
                if dialect::is_number(declared)
                    || declared.starts_with("bool")
                    || !is_day(text) =>
            {
                self.as_text(name, at)
            }
            Operand::Query(query) => match query.select.as_slice() {
                [
                    Expression::Column(inner)
                    | Expression::Aggregate(Function::Min | Function::Max, inner),
                ] if self.is_mixed(at, *inner) => match self.holds_text(at) {
                    true => self.forms().number_of(&name),
                    false => self.as_text(name, at),
                },
                _ => name,
            },
            _ => name,
        }
    }

    fn operand(&self, operand: &Operand) -> Option<String> {
        Some(match operand {
            Operand::Text(text) => self.syntax().literal(text),
            Operand::Number(number) => number.clone(),
            Operand::Query(query) => format!("({})", self.text(query)?),
            Operand::Range(..) | Operand::Texts(_) | Operand::Null => return None,
        })
    }

    /// The operator in the dialect. `LIKE` of SQLite and MySQL leaves letter case aside.
    fn operator(&self, operator: Operator) -> &'static str {
        match operator {
            Operator::Like => self.syntax().like,
            Operator::NotLike => self.syntax().not_like,
            other => other.text(),
        }
    }

    /// A column whose values are compared as texts, where the dialect does not convert them by
    /// itself.
    fn as_text(&self, name: String, at: ColumnRef) -> String {
        match self.forms().text_type() {
            Some(text) if !self.holds_text(at) => format!("CAST({name} AS {text})"),
            _ => name,
        }
    }

    /// A column whose values are added up; of a date it is the year.
    fn as_number(&self, name: String, at: ColumnRef) -> String {
        let declared = &self.schema.column(at).declared;
        match self.syntax().is_typed {
            true if self.holds_text(at) => self.forms().number_of(&name),
            true if declared.starts_with("bool") => format!("CAST({name} AS INTEGER)"),
            true if dialect::is_date(declared) => self.field(&name, at, Field::Year),
            _ => name,
        }
    }

    /// A part of a date as a number.
    fn field(&self, name: &str, at: ColumnRef, field: Field) -> String {
        let declared = &self.schema.column(at).declared;
        let (format, word) = match field {
            Field::Year => ("%Y", "YEAR"),
            Field::Month => ("%m", "MONTH"),
        };
        match self.syntax().has_affinities {
            true => format!("CAST(strftime('{format}', {name}) AS INTEGER)"),
            // A date that is declared as a text.
            _ if self.syntax().is_typed && !dialect::is_date(declared) => {
                format!(
                    "EXTRACT({word} FROM {})",
                    self.forms().date_of(&self.as_text(name.to_owned(), at))
                )
            }
            _ => format!("EXTRACT({word} FROM {name})"),
        }
    }

    fn aggregate(&self, function: Function, name: String, at: ColumnRef) -> String {
        match function {
            Function::Avg => format!("AVG({})", self.as_number(name, at)),
            Function::Min => format!("MIN({name})"),
            Function::Max => format!("MAX({name})"),
            Function::Sum => format!("SUM({})", self.as_number(name, at)),
        }
    }

    fn expression(&self, expression: &Expression, single: bool) -> Option<String> {
        Some(match expression {
            Expression::Column(at) => self.name(*at, single),
            Expression::Aggregate(function, at) => {
                self.aggregate(*function, self.name(*at, single), *at)
            }
            Expression::CountDistinct(at) => format!("COUNT(DISTINCT {})", self.name(*at, single)),
            Expression::Length(at) => {
                format!("{}({})", self.syntax().length, self.as_text(self.name(*at, single), *at))
            }
            Expression::CountRows => "COUNT(*)".to_owned(),
            Expression::AllColumns(_) if single => "*".to_owned(),
            Expression::AllColumns(table) => format!("{}.*", self.qualifier(*table)),
            Expression::Share(share) => self.share(share, single)?,
        })
    }

    /// A part divided by its whole: of a group, the rows that fulfil the conditions by all; without
    /// conditions, the group by all groups.
    fn share(&self, share: &Share, single: bool) -> Option<String> {
        let scale = if share.percent { "100.0" } else { "1.0" };
        let column = share.column.map(|at| self.name(at, single));
        let whole =
            column.as_ref().map_or_else(|| "COUNT(*)".to_owned(), |name| format!("SUM({name})"));
        if share.part.is_empty() {
            // The whole is of one table, so its columns need no table.
            let all = share
                .column
                .map_or_else(|| whole.clone(), |at| format!("SUM({})", self.name(at, true)));
            return Some(format!(
                "{scale} * {whole} / (SELECT {all} FROM {})",
                self.table(share.table)
            ));
        }
        let part: Option<Vec<String>> =
            share.part.iter().map(|any| self.any_of(any, single)).collect();
        let part = part?.join(" AND ");
        Some(match column {
            Some(name) => {
                format!("{scale} * SUM(CASE WHEN {part} THEN {name} ELSE 0 END) / {whole}")
            }
            None => format!("{scale} * COUNT(CASE WHEN {part} THEN 1 END) / {whole}"),
        })
    }

    fn table(&self, table: usize) -> String {
        let view = &self.schema.tables[table];
        let name = self.quote(&view.name);
        view.schema
            .as_ref()
            .map_or_else(|| name.clone(), |schema| format!("{}.{name}", self.quote(schema)))
    }

    /// Returns the qualifier of a table's columns: the table's name, with its schema where two
    /// schemas have a table of that name.
    fn qualifier(&self, table: usize) -> String {
        let view = &self.schema.tables[table];
        if view.is_only { self.quote(&view.name) } else { self.table(table) }
    }

    fn name(&self, at: ColumnRef, single: bool) -> String {
        let column = self.quote(&self.schema.column(at).name);
        if single { column } else { format!("{}.{column}", self.qualifier(at.table)) }
    }

    fn quote(&self, name: &str) -> String {
        dialect::identifier(&self.schema.dialect, name)
    }
}

/// A least or greatest value beside plain columns is, in SQLite, that of a row with that value, and
/// the columns are of the same row. Elsewhere it is the first row in that order.
fn row_of_the_extreme(query: &mut LogicalQuery) {
    let several = query.select.len() > 1;
    let mut extremes =
        query.select.iter_mut().filter(|expression| !matches!(expression, Expression::Column(_)));
    let (Some(only), None) = (extremes.next(), extremes.next()) else { return };
    let Expression::Aggregate(function @ (Function::Min | Function::Max), at) = *only else {
        return;
    };
    let is_plain = several
        && query.group.is_empty()
        && query.order.is_empty()
        && query.having.is_none()
        && query.limit.is_none();
    if !is_plain || query.intersect.is_some() {
        return;
    }
    *only = Expression::Column(at);
    query.filters.push(vec![Condition {
        column: at,
        operator: Operator::NotEqual,
        operand: Operand::Null,
        field: None,
    }]);
    query.order = vec![(Expression::Column(at), function == Function::Max)];
    (query.limit, query.distinct) = (Some(1), false);
}

/// Returns true if a text begins with a day, as in `2024-05-31`.
fn is_day(text: &str) -> bool {
    text.len() >= 10
        && text.bytes().take(10).enumerate().all(|(at, byte): (usize, u8)| {
            if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() }
        })
}
