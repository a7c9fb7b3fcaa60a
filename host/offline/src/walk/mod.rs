//! The walk over the items: it applies each cue to the name, the cell or the number that follows or precedes it.

mod best;
mod columns;
mod conditions;
mod numbers;
mod references;

use super::cues::{Cue, Part};
use super::draft::{Counted, Draft, Key, Measure, Named};
use super::items::{Item, Reading, What};
use super::lexicon::{self, Scale};
use super::query::{Expression, Function, Operand, Operator};
use super::resolve::Resolver;
use super::schema::{ColumnRef, Holds, Schema};

/// A cue that waits for its object.
#[derive(Debug, Default)]
struct Pending {
    functions: Vec<Function>,
    count: Option<usize>,
    distinct: bool,
    superlative: Option<Scale>,
    most_rows: Option<bool>,
    compare: Option<(Operator, Scale)>,
    /// A column between `greater` and `than`.
    compared: Option<ColumnRef>,
    between: bool,
    low: Option<Operand>,
    each: bool,
    ordering: bool,
    /// The item of the negation whose scope has not ended.
    not: Option<usize>,
    like: Option<Part>,
}

pub(crate) struct Walk<'a> {
    schema: &'a Schema,
    reading: &'a Reading,
    resolver: &'a Resolver<'a>,
    pending: Pending,
    draft: Draft,
    /// Items that a neighbour has used up.
    used: Vec<bool>,
    /// The item of the last aggregated column, and how it was aggregated.
    aggregated: Option<(usize, Vec<Function>)>,
}

/// Walks over a question that was read.
pub(crate) fn walk(schema: &Schema, reading: &Reading, resolver: &Resolver<'_>) -> Draft {
    let used = vec![false; reading.items.len()];
    let mut walk = Walk {
        schema,
        reading,
        resolver,
        pending: Pending::default(),
        draft: Draft::default(),
        used,
        aggregated: None,
    };
    for at in 0..reading.items.len() {
        if !walk.used[at] {
            walk.step(at);
        }
    }
    walk.finish();
    walk.draft
}

impl Walk<'_> {
    fn item(&self, at: usize) -> &Item {
        &self.reading.items[at]
    }

    fn what(&self, at: usize) -> Option<&What> {
        self.reading.items.get(at).map(|item| &item.what)
    }

    fn step(&mut self, at: usize) {
        match self.item(at).what.clone() {
            What::Cue(cue) => self.cue(at, cue),
            What::Table(table) => self.table(at, table),
            What::Column(_) => {
                if let Some(column) = self.resolver.column(at) {
                    self.column(at, column);
                }
            }
            What::Cell(_) => self.cell(at),
            What::Number(number) => self.number(at, number),
            What::Text(text) => self.text(at, text),
            What::Date(date) => self.date(at, date),
        }
    }

    fn cue(&mut self, at: usize, cue: Cue) {
        // `not higher than` reverses the comparison; a `not` further away negates the whole clause.
        let adjacent = at > 0
            && matches!(self.item(at - 1).what, What::Cue(Cue::Not))
            && self.item(at - 1).to == self.item(at).from;
        let by_groups = cue == Cue::By && self.groups_by(at);
        let opens_clause = cue == Cue::And && self.opens_clause(at);
        let mut before = self.reading.tokens[..self.item(at).from].iter().rev().map(|token| token.lower.as_str());
        let for_all = before.find(|word| !matches!(*word, "all" | "the")) == Some("for");
        let pending = &mut self.pending;
        match cue {
            Cue::Count => pending.count = Some(at),
            Cue::Aggregate(function) => self.aggregate(at, function),
            Cue::Measure(of) => {
                let scale = Scale { up: true, of, counts: false };
                match self.resolver.measured(at, scale) {
                    Some((column, _)) => self.ask(at, Expression::Column(column)),
                    None => self.draft.unmet += 1,
                }
            }
            // `for all the different colours` is for each.
            Cue::Distinct if for_all => pending.each = true,
            Cue::Distinct => pending.distinct = true,
            Cue::Superlative(scale) => self.superlative(at, scale),
            Cue::MostRows(up) => pending.most_rows = Some(up),
            Cue::Frequent(up) => match self.what(at + 1) {
                // Each product is in the list of products once: what counts is something else.
                Some(What::Table(table)) if !self.names_column_of(at + 1, *table) => self.best_of(at + 1, *table, up),
                _ => self.draft.frequent = Some(up),
            },
            Cue::Compare(operator, scale) => {
                self.draft.unmet += usize::from(pending.compare.is_some());
                pending.compare = Some((if adjacent { operator.negated() } else { operator }, scale));
                if adjacent {
                    self.draft.settled.extend(pending.not.take());
                }
                pending.compared = None;
            }
            Cue::Between => pending.between = true,
            Cue::Each => pending.each = true,
            // `top 3 countries by number of customers`.
            Cue::By if self.draft.limit.is_some() && self.draft.best.is_none() && self.draft.unmeasured.is_none() => {
                pending.ordering = true;
            }
            Cue::By => pending.each |= by_groups,
            Cue::OrderBy => {
                pending.ordering = true;
                self.draft.wants_order = true;
            }
            Cue::Direction(down) => {
                // `oldest first, descending`: one of them is not meant.
                self.draft.unmet += usize::from(self.draft.direction.is_some_and(|other| other != down));
                self.draft.direction = Some(down);
                self.draft.wants_order = true;
            }
            Cue::Sorted(scale) => match self.sorted_by(at, scale) {
                Some((column, turned)) => {
                    self.draft.wants_order = true;
                    self.draft.direction = Some(scale.up != turned);
                    self.draft.orders.push(Measure::Column(column));
                }
                None => self.draft.unmet += 1,
            },
            Cue::Not => {
                pending.not = Some(at);
                self.draft.negations.push(at);
                self.draft.not.get_or_insert(at);
            }
            Cue::Both => self.draft.both = true,
            Cue::Like(part) => pending.like = Some(part),
            Cue::Top(count) => self.draft.limit = Some(count),
            Cue::Everything => self.draft.everything = true,
            Cue::Request => {
                self.count_unmet();
                let ordering = self.pending.ordering;
                self.pending = Pending { ordering, ..Pending::default() };
                // `sort by age and list the names`: what follows the second verb is asked for.
                self.pending.ordering &= self.draft.orders.is_empty();
            }
            Cue::Only => self.draft.unmet += 1,
            Cue::And if opens_clause => pending.not = None,
            Cue::Or | Cue::And | Cue::OrMore(_) | Cue::Trigger | Cue::Comma => {}
        }
    }

    /// `by` groups when something is aggregated and a name follows at once.
    fn groups_by(&self, at: usize) -> bool {
        let aggregated = !self.draft.counted.is_empty()
            || self.pending.count.is_some()
            || self.draft.asked.iter().any(|asked| matches!(asked.expression, Expression::Aggregate(..)));
        let near = self.reading.items.get(at + 1).is_some_and(|next| next.from <= self.item(at).to + 1);
        let verb =
            self.item(at).from.checked_sub(1).is_some_and(|before| self.reading.tokens[before].lower.ends_with("ed"));
        let grouped = self.item(at).from.checked_sub(1).is_some_and(|b| self.reading.tokens[b].lower == "grouped");
        aggregated && near && (!verb || grouped) && matches!(self.what(at + 1), Some(What::Column(_) | What::Table(_)))
    }

    fn aggregate(&mut self, at: usize, function: Function) {
        if !self.is_of_groups(at) {
            self.settle_superlative();
        }
        self.pending.functions.push(function);
        let Some((operator, scale)) = self.pending.compare else { return };
        // `older than the average`, without naming the column again.
        if !self.follows_column(at) {
            let left = self
                .pending
                .compared
                .or_else(|| self.before(at))
                .or_else(|| Some(self.resolver.measured(at, scale)?.0));
            if let Some(column) = left {
                self.compare_with(at, column, operator, function, column);
            }
        }
    }

    /// Whether an aggregate is one of several: `the highest average age`.
    fn is_of_groups(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1).map(|before| self.item(before)) else { return false };
        matches!(before.what, What::Cue(Cue::Superlative(_))) && before.to == self.item(at).from
    }

    /// What rows are ordered by in `oldest first`: a column of their own table before that of another.
    fn sorted_by(&self, at: usize, scale: Scale) -> Option<(ColumnRef, bool)> {
        let own = self.draft.named.iter().find(|named| named.head).map(|named| named.table);
        let by_age = scale.of.contains(&"age");
        let of_own = |table: usize| {
            let dated = || self.schema.time(table).filter(|_| by_age).map(|column| (column, true));
            self.schema.measured(table, scale.of).or_else(dated)
        };
        own.and_then(of_own).or_else(|| self.resolver.measured(at, scale))
    }

    fn follows_column(&self, at: usize) -> bool {
        (at + 1..at + 4)
            .map_while(|next| self.what(next))
            .find(|what| {
                !matches!(what, What::Cue(Cue::And | Cue::Comma | Cue::Aggregate(_) | Cue::Distinct) | What::Table(_))
            })
            .is_some_and(|what| matches!(what, What::Column(_)))
    }

    /// A superlative that a second one or an aggregate follows was an aggregate: `minimum and maximum age`.
    fn settle_superlative(&mut self) {
        if let Some(scale) = self.pending.superlative.take() {
            self.pending.functions.push(if scale.up { Function::Max } else { Function::Min });
        }
    }

    fn superlative(&mut self, at: usize, scale: Scale) {
        if self.pending.compare.is_some() {
            self.pending.functions.push(if scale.up { Function::Max } else { Function::Min });
            return;
        }
        self.settle_superlative();
        if scale.of.is_empty() {
            // `whose price is the highest`: the column stands before.
            let last = !matches!(
                self.what(at + 1),
                Some(What::Column(_) | What::Table(_) | What::Cell(_) | What::Cue(Cue::And | Cue::Aggregate(_)))
            );
            match last.then(|| self.before(at)).flatten() {
                Some(column) => self.best_by(Measure::Column(column), scale.up),
                None => self.pending.superlative = Some(scale),
            }
            return;
        }
        // The length of a text is not in a column.
        let next = self.resolver.column(at + 1).filter(|column| self.schema.column(*column).holds == Holds::Text);
        let elsewhere = |column: ColumnRef| scale.is_length() && next.is_some_and(|next| next.table != column.table);
        match self.resolver.measured(at, scale).filter(|(column, _)| !elsewhere(*column)) {
            Some((column, turned)) => {
                self.best_by(Measure::Column(column), scale.up != turned);
                // `the earliest year`: the column that is named is the measure itself.
                if matches!(self.what(at + 1), Some(What::Column(_))) && self.resolver.column(at + 1) == Some(column) {
                    self.used[at + 1] = !self.item(at + 1).head;
                }
            }
            None => self.pending.superlative = Some(scale),
        }
    }

    fn table(&mut self, at: usize, table: usize) {
        let describes = self.reading.describes(at);
        let (head, negated) = (self.item(at).head && !describes, self.pending.not);
        self.draft.named.push(Named { item: at, table, head, negated });
        let qualifies = self.names_column_of(at, table);
        let says_measure = self.pending.count.is_some() && self.says_measure(at);
        let pending = &mut self.pending;
        if says_measure {
            self.pending.count = None;
            self.measured_by(Measure::Rows(Some(table)));
        } else if std::mem::take(&mut pending.each) {
            self.draft.keys.push(Key::Table(table));
        } else if let Some(up) = pending.most_rows.take() {
            self.best_by(Measure::Rows(Some(table)), up);
        } else if pending.count.is_some() && pending.ordering {
            pending.count = None;
            self.draft.orders.push(Measure::Rows(Some(table)));
        } else if pending.count.is_some() && !qualifies && !describes {
            pending.count = None;
            let distinct = std::mem::take(&mut pending.distinct);
            self.draft.counted.push(Counted { item: at, table: Some(table), distinct, head });
        } else if let Some(scale) = pending.superlative
            && !qualifies
        {
            self.pending.superlative = None;
            match scale.counts {
                true => self.best_by(Measure::Rows(Some(table)), scale.up),
                false => self.best_of(at, table, scale.up),
            }
        } else if head && negated.is_none() && !qualifies && self.is_listed(at) {
            // `names of authors and the books that they wrote`.
            for column in &self.schema.tables[table].labels {
                self.ask(at, Expression::Column(ColumnRef { table, column: *column }));
            }
        }
    }

    /// Whether the item is a further member of a list of what is asked for.
    fn is_listed(&self, at: usize) -> bool {
        let after_and = at > 0
            && matches!(self.item(at - 1).what, What::Cue(Cue::And))
            && self.item(at).from <= self.item(at - 1).to + 1;
        let other = self.draft.named.iter().rev().nth(1).is_some_and(|named| named.head);
        after_and && other && !self.draft.asked.is_empty() && self.pending.functions.is_empty()
    }

    /// Whether a column of that table follows directly: `employee age`.
    fn names_column_of(&self, at: usize, table: usize) -> bool {
        let near = self.reading.items.get(at + 1).is_some_and(|next| next.from == self.item(at).to);
        near && !self.is_verb(at + 1)
            && matches!(self.what(at + 1), Some(What::Column(_)))
            && self.resolver.column(at + 1).is_some_and(|column| column.table == table)
    }

    /// Whether what follows `and` or `but` is a clause of its own.
    fn opens_clause(&self, at: usize) -> bool {
        let Some(next) = self.reading.tokens.get(self.item(at).to) else { return false };
        // A further verb, once the negation has its object: `not from here and joined in 2020`.
        let found = self.draft.filters.last().is_some_and(|filter| filter.negated.is_some());
        lexicon::opens_clause(&next.lower) || (found && next.is_past())
    }

    /// Counts the cues without an object.
    fn count_unmet(&mut self) {
        let pending = &self.pending;
        let waiting = [
            pending.compare.is_some(),
            pending.superlative.is_some(),
            pending.between,
            pending.each,
            pending.like.is_some(),
            !pending.functions.is_empty(),
        ];
        self.draft.unmet += waiting.into_iter().filter(|waits| *waits).count();
    }

    /// Completes the cues that still wait for an object.
    fn finish(&mut self) {
        let head = self.draft.named.iter().find(|named| named.head).map(|named| (named.item, named.table));
        if let (Some((item, table)), Some(scale)) = (head, self.pending.superlative.filter(|scale| !scale.counts)) {
            self.pending.superlative = None;
            self.best_of(item, table, scale.up);
        }
        if let (Some((item, table)), true) = (head, self.is_top_of_nothing()) {
            self.best_of(item, table, true);
        }
        // `the average weight and year for each year`: a key is not aggregated.
        if let Some((last, _)) = &self.aggregated {
            let (last, keys) = (*last, &self.draft.keys);
            let is_key = |column| keys.iter().any(|key| matches!(key, Key::Column(known) if *known == column));
            self.draft.asked.retain(|asked| {
                !matches!(asked.expression, Expression::Aggregate(_, column) if asked.item == last && is_key(column))
            });
        }
        self.average_judgements();
        self.count_unmet();
        if let Some(item) = self.pending.count.take() {
            let head = self.item(item).head;
            self.draft.counted.push(Counted { item, table: None, distinct: false, head });
        }
        if let Some(up) = self.pending.most_rows.take() {
            self.best_by(Measure::Rows(None), up);
        }
    }
}
