//! Makes a query from the draft: what is selected, grouped, excluded and ordered.

mod filters;
mod groups;
mod repeats;

use super::draft::{Asked, Draft, Filter, Key, Measure};
use super::items::{Reading, What};
use super::joins;
use super::query::{Condition, Expression, LogicalQuery, Operand, Operator, Share};
use super::resolve::{Choice, Resolver};
use super::schema::{ColumnRef, Edge, Holds, Schema};

pub(crate) struct Assembler<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) reading: &'a Reading,
    pub(crate) resolver: &'a Resolver<'a>,
    pub(crate) choice: Choice,
    pub(crate) bias: &'a (dyn Fn(&Edge) -> f64 + Sync),
}

impl Assembler<'_> {
    /// The query; `None` if the draft does not contain what to select.
    pub(crate) fn query(&self, draft: &Draft) -> Option<LogicalQuery> {
        let main = self.main(draft)?;
        if let Some(percent) = draft.share {
            return self.share(draft, main, percent);
        }
        let mut query = LogicalQuery {
            distinct: draft.distinct != self.choice.distinct,
            ..LogicalQuery::default()
        };
        let asked = self.items_to_select(draft);
        query.tables = self.tables(draft, main);
        self.select(draft, &asked, main, &mut query);
        self.group(draft, &asked, main, &mut query);
        if query.select.is_empty() {
            self.labels(main).for_each(|label| query.select.push(Expression::Column(label)));
        }
        if query.select.is_empty() {
            // Rows without a name are shown whole.
            query.select.push(Expression::AllColumns(main));
        }
        self.order(draft, &mut query);
        // Last, since an intersection repeats what is there.
        self.filters(draft, main, &mut query);
        self.exclude_values(&mut query);
        if query.distinct && query.select == [Expression::CountRows] {
            query.distinct = false;
        }
        self.count_once(draft, &mut query);
        if draft.keys.is_empty() && !draft.distinct && self.repeats_rows(&query) {
            self.list_once(&mut query);
        }
        if draft.keys.is_empty() && !draft.distinct && self.asks_values(draft, &query) {
            query.distinct = !self.choice.distinct;
        }
        query.fold = draft.fold;
        let is_folded = matches!(query.select.as_slice(), [Expression::Column(_)])
            && query.group.is_empty()
            && query.intersect.is_none()
            && !query.distinct;
        if query.fold.is_some() && !is_folded {
            return None;
        }
        self.merge_repeats(query)
    }

    /// The part of a whole: of the rows that fulfil the conditions, or of each group. Only over one
    /// table, whose rows no join repeats.
    fn share(&self, draft: &Draft, main: usize, percent: bool) -> Option<LogicalQuery> {
        let is_plain = draft.asked.is_empty()
            && draft.counted.is_empty()
            && draft.best.is_none()
            && draft.having.is_none()
            && draft.frequent.is_none()
            && draft.limit.is_none();
        // `of the orders of 2024` is the whole, `were cancelled` the part. A single condition is
        // the part.
        let (mut whole, mut part): (Vec<Filter>, Vec<Filter>) = match draft.filters.as_slice() {
            [] | [_] => (Vec::new(), draft.filters.clone()),
            filters => filters.iter().cloned().partition(|filter| self.is_of_whole(filter)),
        };
        // The `visits with flu in 2023` are a part of the visits in 2023.
        if whole.is_empty() && part.iter().any(|filter| !self.is_time(filter)) {
            let (times, others): (Vec<Filter>, Vec<Filter>) =
                part.into_iter().partition(|filter| self.is_time(filter));
            // The `women hired in 2023` may be a part of all or of those hired then.
            if times.iter().any(|filter| self.follows_event(filter)) {
                return None;
            }
            whole = times;
            part = others;
        }
        let mut query = LogicalQuery::default();
        self.filters(&Draft { filters: part, ..draft.clone() }, main, &mut query);
        let part = std::mem::take(&mut query.filters);
        self.filters(&Draft { filters: whole, ..draft.clone() }, main, &mut query);
        let keys: Option<Vec<ColumnRef>> = draft
            .keys
            .iter()
            .map(|key| match key {
                Key::Column(column) => Some(*column),
                Key::Table(_) => None,
            })
            .collect();
        let keys = keys?;
        let is_one = query.intersect.is_none()
            && keys.iter().chain(&draft.share_of).all(|column| column.table == main)
            && part
                .iter()
                .chain(&query.filters)
                .flatten()
                .all(|condition| condition.column.table == main)
            && draft.named.iter().all(|named| named.table == main);
        // A group is divided by all groups, without a condition on them.
        if !is_plain
            || !is_one
            || (part.is_empty() && (keys.is_empty() || !query.filters.is_empty()))
        {
            return None;
        }
        query.select = keys.iter().map(|key| Expression::Column(*key)).collect();
        let share = Share { column: draft.share_of, percent, part, table: main };
        query.select.push(Expression::Share(Box::new(share)));
        query.group = keys;
        self.order(draft, &mut query);
        Some(query)
    }

    /// Returns true if a condition stands before the last verb of the question, and so restricts
    /// the whole and not the part: `of the orders of 2024` before `were cancelled`.
    fn is_of_whole(&self, filter: &Filter) -> bool {
        fn is_verb(word: &str) -> bool {
            matches!(word, "is" | "are" | "was" | "were" | "has" | "have" | "that" | "who")
        }
        let verb = self.reading.tokens.iter().rposition(|token| is_verb(&token.lower));
        verb.is_some_and(|verb| self.reading.items[filter.item].from < verb)
    }

    /// Returns true if a condition compares a date, a year or a month.
    fn is_time(&self, filter: &Filter) -> bool {
        let view = self.schema.column(filter.condition.column);
        let is_part = view.required == ["year"] || view.required == ["month"];
        filter.condition.operand != Operand::Null && (view.holds == Holds::Time || is_part)
    }

    /// Returns true if a verb that names a column stands before the condition: `hired in 2023`.
    fn follows_event(&self, filter: &Filter) -> bool {
        let mut before = self.reading.items[..filter.item].iter().rev();
        let named = before.find(|item| !matches!(item.what, What::Cue(_)));
        named.is_some_and(|item| {
            matches!(item.what, What::Column(_)) && self.reading.tokens[item.from].is_event()
        })
    }

    /// Counts each row once, although it is joined with several of another table.
    fn count_once(&self, draft: &Draft, query: &mut LogicalQuery) {
        if query.having.is_some() {
            return self.count_groups(draft, query);
        }
        // `how many times` counts each time.
        let times = self.reading.tokens.iter().any(|token| token.lower == "times");
        for counted in draft.counted.iter().filter_map(|counted| counted.table).filter(|_| !times) {
            if let Some(column) = self.schema.tables[counted].key
                && joins::repeats_rows(self.schema, &query.all_tables(), counted, self.bias)
            {
                let once = Expression::CountDistinct(ColumnRef { table: counted, column });
                query
                    .select
                    .iter_mut()
                    .filter(|item| **item == Expression::CountRows)
                    .for_each(|item| *item = once.clone());
            }
        }
    }

    /// Returns true if the query lists rows that a join repeats: each is meant once.
    fn repeats_rows(&self, query: &LogicalQuery) -> bool {
        let tables = query.all_tables();
        let is_repeated = |table| joins::repeats_rows(self.schema, &tables, table, self.bias);
        let repeats = |item: &Expression| match item {
            Expression::Column(at) => is_repeated(at.table),
            Expression::AllColumns(table) => is_repeated(*table),
            _ => false,
        };
        let is_list = query.group.is_empty()
            && query.limit.is_none()
            && query.intersect.is_none()
            && query.order.iter().all(|(item, _)| query.select.contains(item));
        is_list && query.select.iter().all(repeats)
    }

    /// Returns true if the values of columns are asked for, and not those of each row: `which
    /// statuses do orders have`, but not `which status does order 5 have`.
    fn asks_values(&self, draft: &Draft, query: &LogicalQuery) -> bool {
        let is_list = query.group.is_empty()
            && query.limit.is_none()
            && query.intersect.is_none()
            && query.order.iter().all(|(item, _)| query.select.contains(item));
        let tokens = &self.reading.tokens;
        let asks = draft.asked.first().is_some_and(|asked| {
            let item = &self.reading.items[asked.item];
            let before = item.from.checked_sub(1).map(|before| tokens[before].lower.as_str());
            let after = tokens.get(item.to).map(|next| next.lower.as_str());
            let is_plural = matches!(
                after,
                Some("are" | "were" | "do" | "did" | "have" | "exist" | "occur" | "and" | ",")
            );
            matches!(before, Some("which" | "what")) && item.from <= 2 && is_plural
        });
        is_list
            && asks
            && query.select.iter().all(|item| match item {
                Expression::Column(at) => self.schema.is_value(*at),
                _ => false,
            })
    }

    /// Lists the rows of a table once each, two of one name as two; other values once.
    fn list_once(&self, query: &mut LogicalQuery) {
        let first = query.select.first().and_then(Expression::column);
        let names_row = |table: usize| {
            query.select.iter().all(|item| match item {
                Expression::Column(at) => {
                    at.table == table && self.schema.tables[table].labels.contains(&at.column)
                }
                _ => false,
            })
        };
        let table = first.map(|at| at.table).filter(|table| names_row(*table));
        let key = table
            .and_then(|table| Some(ColumnRef { table, column: self.schema.tables[table].key? }));
        match key.filter(|_| !self.choice.distinct) {
            Some(key) => query.group.push(key),
            None => query.distinct = key.is_some() || !self.choice.distinct,
        }
    }

    /// Counts the groups that fulfil a condition: `how many members have more than 3 loans`.
    fn count_groups(&self, draft: &Draft, query: &mut LogicalQuery) {
        if let [Expression::CountDistinct(column)] = *query.select.as_slice() {
            let inner = LogicalQuery {
                select: vec![Expression::Column(column)],
                group: vec![column],
                ..std::mem::take(query)
            };
            return Self::count_among(column, Expression::CountDistinct(column), inner, query);
        }
        let [counted] = draft.counted.as_slice() else { return };
        let key = counted
            .table
            .and_then(|table| Some(ColumnRef { table, column: self.schema.tables[table].key? }));
        let of_other = !matches!(
            draft.having, Some((Measure::Rows(Some(table)), ..)) if Some(table) == counted.table
        );
        if let Some(column) = key.filter(|_| of_other && query.select == [Expression::CountRows]) {
            let groups = LogicalQuery {
                select: vec![Expression::Column(column)],
                group: vec![column],
                ..std::mem::take(query)
            };
            Self::count_among(column, Expression::CountRows, groups, query);
        }
    }

    /// Counts what is among the groups of another query.
    fn count_among(
        column: ColumnRef,
        count: Expression,
        groups: LogicalQuery,
        query: &mut LogicalQuery,
    ) {
        let operand = Operand::Query(Box::new(groups));
        let among = Condition { column, operator: Operator::In, operand, field: None };
        *query = LogicalQuery {
            select: vec![count],
            filters: vec![vec![among]],
            ..LogicalQuery::default()
        };
    }

    /// The table whose rows the question is about.
    fn main(&self, draft: &Draft) -> Option<usize> {
        let counted =
            |table: usize| draft.counted.iter().any(|counted| counted.table == Some(table));
        let named = draft.named.iter().filter(|named| named.negated.is_none());
        let by_name = named
            .clone()
            .find(|named| named.head && !counted(named.table))
            .map(|named| named.table);
        let before_not = draft.not.and_then(|not| {
            let mut before = named.clone().filter(|named| named.item < not);
            // `products ordered by no reader` is about products.
            let head = before.clone().rfind(|named| named.head);
            head.or_else(|| before.next_back()).map(|named| named.table)
        });
        let by_share = draft.share_of.map(|column| column.table);
        let by_column =
            draft.asked.iter().find(|asked| asked.head).and_then(|asked| asked.expression.column());
        let by_count = draft.counted.iter().find_map(|counted| counted.table);
        let by_key = draft.keys.first().map(|key| match key {
            Key::Table(table) => *table,
            Key::Column(column) => column.table,
        });
        before_not
            .or(by_name)
            .or(by_share)
            .or(by_key)
            .or(by_column.map(|column| column.table))
            .or(by_count)
            .or_else(|| draft.filters.first().map(|filter| filter.condition.column.table))
            .or_else(|| draft.named.first().map(|named| named.table))
            .or_else(|| {
                draft
                    .asked
                    .first()
                    .and_then(|asked| asked.expression.column())
                    .map(|column| column.table)
            })
            .or_else(|| self.resolver.main())
    }

    /// Returns the items to select: those in the head of the question, or all of them if the head
    /// has none.
    fn items_to_select(&self, draft: &Draft) -> Vec<Asked> {
        let head: Vec<Asked> = draft.asked.iter().filter(|asked| asked.head).cloned().collect();
        let other = draft.counted.iter().any(|counted| counted.head)
            || draft.everything
            || draft.named.iter().any(|named| named.head);
        if head.is_empty() && !other { draft.asked.clone() } else { head }
    }

    fn labels(&self, table: usize) -> impl Iterator<Item = ColumnRef> {
        self.schema.tables[table]
            .labels
            .iter()
            .map(move |column| ColumnRef { table, column: *column })
    }

    /// Tables that the question names and that can be reached; those behind a negation are left to
    /// their own subquery.
    fn tables(&self, draft: &Draft, main: usize) -> Vec<usize> {
        let mut tables = Vec::new();
        let far = joins::distances(self.schema, main);
        for named in draft.named.iter().filter(|named| named.negated.is_none()) {
            let reached = far[named.table].is_finite();
            let sure = self.reading.items[named.item].score > 0.6;
            if reached && sure && !tables.contains(&named.table) {
                tables.push(named.table);
            }
        }
        // `How many bookings`, by the column that numbers them.
        if tables.is_empty() {
            tables.extend(
                draft
                    .counted
                    .iter()
                    .filter_map(|counted| counted.table)
                    .find(|table| far[*table].is_finite()),
            );
        }
        tables
    }

    fn select(&self, draft: &Draft, asked: &[Asked], main: usize, query: &mut LogicalQuery) {
        if draft.everything {
            query.select.push(Expression::AllColumns(main));
            return;
        }
        let mut parts: Vec<(usize, Expression)> =
            asked.iter().map(|asked| (asked.item, asked.expression.clone())).collect();
        // A count in a condition is asked for only when nothing else is.
        let only = parts.is_empty() && draft.named.iter().all(|named| !named.head);
        for counted in draft.counted.iter().filter(|counted| counted.head || only) {
            parts.push((counted.item, self.count(counted.table, counted.distinct)));
        }
        parts.sort_by_key(|(item, _)| *item);
        for (_, expression) in parts {
            if !query.select.contains(&expression) {
                query.select.push(expression);
            }
        }
    }

    fn order(&self, draft: &Draft, query: &mut LogicalQuery) {
        if let Some((measure, up)) = draft.best {
            let counts = query.select == [Expression::CountRows];
            if counts && let Measure::Column(column) = measure {
                return self.rows_of_best(column, up, query);
            }
            query.order.push((self.measure(measure), up));
            if let Measure::Length(column) = measure
                && self.schema.column(column).nullable
            {
                // Engines differ in where they put a text that is missing.
                let condition = Condition {
                    column,
                    operator: Operator::NotEqual,
                    operand: Operand::Null,
                    field: None,
                };
                query.filters.push(vec![condition]);
            }
            if !draft.wants_order || draft.limit.is_some() {
                query.limit = Some(draft.limit.unwrap_or(1));
            }
            return;
        }
        let down = draft.direction.unwrap_or(false);
        for order in &draft.orders {
            query.order.push((self.measure(*order), down));
        }
        if draft.wants_order && draft.orders.is_empty() {
            let first =
                query.select.iter().find(|item| matches!(item, Expression::Column(_))).cloned();
            let counted =
                query.select.iter().find(|item| !matches!(item, Expression::Column(_))).cloned();
            let by = if draft.direction == Some(true) { counted.or(first) } else { first };
            query.order.extend(by.map(|by| (by, down)));
        }
        if draft.frequent.is_none() && draft.limit.is_some() {
            self.apply_bare_top(draft, query);
        }
    }

    /// `top 3` without a superlative: by what is aggregated, or by what is ordered by.
    fn apply_bare_top(&self, draft: &Draft, query: &mut LogicalQuery) {
        query.limit = draft.limit;
        if query.order.is_empty() {
            let aggregate =
                query.select.iter().find(|item| !matches!(item, Expression::Column(_))).cloned();
            let numeric = query.select.iter().rev().find(|item| {
                matches!(
                    item, Expression::Column(column) if self.schema.column(*column).holds
                        == Holds::Number
                )
            });
            query.order.extend(aggregate.or_else(|| numeric.cloned()).map(|by| (by, true)));
        } else if draft.direction.is_none() {
            query.order.iter_mut().for_each(|(_, down)| *down = true);
        }
    }
}
