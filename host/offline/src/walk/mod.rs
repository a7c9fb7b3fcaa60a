//! The walk over the items: it applies each cue to the name, the cell or the number that follows or
//! precedes it.

mod best;
mod columns;
mod conditions;
mod numbers;
mod references;
mod several;
mod times;

use super::cues::{Cue, Part};
use super::draft::{Counted, Draft, Key, Measure, Named, Unmeasured};
use super::items::{Item, Reading, What};
use super::lexicon::{self, Scale};
use super::query::{Expression, Function, Operand, Operator};
use super::resolve::Resolver;
use super::schema::{ColumnRef, Holds, Schema};
use super::words::{self, Token};

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
    /// The item of the last column that is a key of groups.
    keyed: Option<usize>,
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
        keyed: None,
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

    fn item_content(&self, at: usize) -> Option<&What> {
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
            What::Months(first, last) => self.months(at, first, last),
        }
    }

    fn cue(&mut self, at: usize, cue: Cue) {
        // `not higher than` reverses the comparison; a `not` further away negates the whole clause.
        let adjacent = at > 0
            && matches!(self.item(at - 1).what, What::Cue(Cue::Not))
            && self.item(at - 1).to == self.item(at).from;
        let by_groups = cue == Cue::By && self.groups_by(at);
        let opens_clause = cue == Cue::And && self.opens_clause(at);
        let mut before = self.reading.tokens[..self.item(at).from]
            .iter()
            .rev()
            .map(|token| token.lower.as_str());
        let for_all = before.find(|word| !matches!(*word, "all" | "the")) == Some("for");
        let ends_negation = self.ends_negation(at);
        let pending = &mut self.pending;
        match cue {
            Cue::Count => pending.count = Some(at),
            Cue::Aggregate(function) => self.aggregate(at, function),
            Cue::Measure(of) => {
                let scale = Scale { up: true, of, counts: false };
                match self.resolver.column_for_scale(at, scale) {
                    Some((column, _)) => self.ask(at, Expression::Column(column)),
                    None => self.draft.unmet += 1,
                }
            }
            // `for all the different colours` is for each.
            Cue::Distinct if for_all => pending.each = true,
            Cue::Distinct => pending.distinct = true,
            Cue::Superlative(scale) => self.add_superlative(at, scale),
            Cue::MostRows(up) => pending.most_rows = Some(up),
            Cue::Frequent(up) => match self.item_content(at + 1) {
                // Each product is in the list of products once: what counts is something else.
                Some(What::Table(table))
                    if !self.names_column_of(at + 1, *table) && !self.is_within_next(at) =>
                {
                    self.best_of(at + 1, *table, up);
                }
                _ => self.draft.frequent = Some(up),
            },
            Cue::Compare(operator, scale) => {
                self.draft.unmet += usize::from(pending.compare.is_some());
                pending.compare =
                    Some((if adjacent { operator.negate() } else { operator }, scale));
                if adjacent {
                    self.draft.settled.extend(pending.not.take());
                }
                pending.compared = None;
            }
            Cue::Between => pending.between = true,
            Cue::Each => pending.each = true,
            // `top 3 countries by number of customers`.
            Cue::By
                if self.draft.limit.is_some()
                    && self.draft.best.is_none()
                    && self.draft.unmeasured.is_none() =>
            {
                pending.ordering = true;
            }
            Cue::By => {
                pending.each |= by_groups;
                self.draft.unmet += usize::from(!by_groups && self.is_rows_by_text(at));
            }
            Cue::OrderBy => {
                pending.ordering = true;
                self.draft.wants_order = true;
            }
            Cue::Direction(down) => {
                // `oldest first, descending`: one of them is not meant.
                self.draft.unmet +=
                    usize::from(self.draft.direction.is_some_and(|other| other != down));
                self.draft.direction = Some(down);
                self.draft.wants_order = true;
            }
            Cue::Sorted(scale) => match self.column_to_sort_by(at, scale) {
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
                self.deny_object(at);
            }
            Cue::Both => self.draft.both = true,
            Cue::Like(part) => pending.like = Some(part),
            Cue::Top(count) => self.draft.limit = Some(count),
            Cue::Share(percent) => {
                self.draft.unmet += usize::from(self.draft.share.is_some());
                self.draft.share = Some(percent);
            }
            Cue::Everything => self.draft.everything = true,
            Cue::Request => {
                self.settle_count();
                self.sum_of_table();
                self.count_unmet();
                let ordering = self.pending.ordering;
                self.pending = Pending { ordering, ..Pending::default() };
                // `sort by age and list the names`: what follows the second verb is asked for.
                self.pending.ordering &= self.draft.orders.is_empty();
            }
            Cue::Only => self.draft.unmet += 1,
            Cue::And if opens_clause => pending.not = None,
            // `not in Oslo with an age above 30`: the negation has its object.
            Cue::Trigger if ends_negation => pending.not = None,
            // `opened or closed in 2023` compares two columns.
            Cue::Or => self.draft.unmet += usize::from(self.is_between_events(at)),
            Cue::And | Cue::OrMore(_) | Cue::Trigger | Cue::Comma => {}
        }
    }

    /// Denies the verb of which nothing is the object: `customers who ordered nothing`.
    fn deny_object(&mut self, at: usize) {
        let item = self.item(at);
        let is_object = self.reading.tokens[item.from].lower == "nothing";
        let from = item.from;
        let before = at.checked_sub(1).filter(|before| self.item(*before).to == from);
        let is_first = self.draft.named.len() < 2;
        let last = self.draft.named.last_mut();
        if let Some(named) = last.filter(|named| Some(named.item) == before && !is_first) {
            named.negated = is_object.then_some(at).or(named.negated);
        }
    }

    /// Returns true if the word joins two verbs, of which the second names a column of dates:
    /// `opened or closed`.
    fn is_between_events(&self, at: usize) -> bool {
        let Some(before) = self.item(at).from.checked_sub(1) else { return false };
        let next = at + 1;
        self.reading.tokens[before].is_event()
            && self.names_event(next)
            && self.item(next).from == self.item(at).to
    }

    /// `by` groups when something is aggregated and a name follows at once.
    fn groups_by(&self, at: usize) -> bool {
        let aggregated = !self.draft.counted.is_empty()
            || self.draft.share.is_some()
            || self.pending.count.is_some()
            || self
                .draft
                .asked
                .iter()
                .any(|asked| matches!(asked.expression, Expression::Aggregate(..)));
        let near =
            self.reading.items.get(at + 1).is_some_and(|next| next.from <= self.item(at).to + 1);
        if self.counts_by(at) {
            return true;
        }
        let verb = self
            .item(at)
            .from
            .checked_sub(1)
            .map(|before| &self.reading.tokens[before])
            .is_some_and(|token| token.lower.ends_with("ed") || token.is_event());
        let grouped = self
            .item(at)
            .from
            .checked_sub(1)
            .is_some_and(|b| self.reading.tokens[b].lower == "grouped");
        aggregated
            && near
            && (!verb || grouped)
            && matches!(self.item_content(at + 1), Some(What::Column(_) | What::Table(_)))
    }

    /// Returns true if `by` stands between the only table and a column of texts, and nothing else:
    /// `senators by province`.
    fn is_rows_by_text(&self, at: usize) -> bool {
        let [table, by, column] = self.reading.items.as_slice() else { return false };
        let is_table = matches!(table.what, What::Table(_)) && table.to == by.from && at == 1;
        let is_near = column.from == by.to && matches!(column.what, What::Column(_));
        let is_text = self
            .resolver
            .column(2)
            .is_some_and(|column| self.schema.column(column).holds == Holds::Text);
        self.schema.tables.len() == 1 && is_table && is_near && is_text
    }

    /// Returns true if `by` counts rows. `tips by day` may be the rows of `tips` or the amounts of
    /// its column `tip`.
    fn counts_by(&self, at: usize) -> bool {
        self.is_rows_by_text(at)
            && !self.schema.measures(0).any(|one: ColumnRef| {
                self.schema.column(one).required == self.schema.tables[one.table].stems
            })
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
                .or_else(|| self.take_column_before(at))
                .or_else(|| Some(self.resolver.column_for_scale(at, scale)?.0));
            if let Some(column) = left {
                self.compare_with(at, column, operator, function, column);
            }
        }
    }

    /// Returns true if an aggregate is one of several: `the highest average age`.
    fn is_of_groups(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1).map(|before| self.item(before)) else { return false };
        matches!(before.what, What::Cue(Cue::Superlative(_))) && before.to == self.item(at).from
    }

    /// Returns the column by which `oldest first` orders the rows, with true if the scale is
    /// reversed: a column of their own table before that of another.
    fn column_to_sort_by(&self, at: usize, scale: Scale) -> Option<(ColumnRef, bool)> {
        let own = self.draft.named.iter().find(|named| named.head).map(|named| named.table);
        let by_age = scale.of.contains(&"age");
        own.and_then(|table: usize| {
            self.schema
                .column_for_words(table, scale.of)
                .or_else(|| self.schema.time(table).filter(|_| by_age).map(|column| (column, true)))
        })
        .or_else(|| self.resolver.column_for_scale(at, scale))
    }

    fn follows_column(&self, at: usize) -> bool {
        (at + 1..at + 4)
            .map_while(|next| self.item_content(next))
            .find(|what| {
                !matches!(
                    what,
                    What::Cue(Cue::And | Cue::Comma | Cue::Aggregate(_) | Cue::Distinct)
                        | What::Table(_)
                )
            })
            .is_some_and(|what| matches!(what, What::Column(_)))
    }

    /// A superlative that a second one or an aggregate follows was an aggregate: `minimum and
    /// maximum age`.
    fn settle_superlative(&mut self) {
        if let Some(scale) = self.pending.superlative.take() {
            self.pending.functions.push(if scale.up { Function::Max } else { Function::Min });
        }
    }

    fn add_superlative(&mut self, at: usize, scale: Scale) {
        if self.pending.compare.is_some() {
            self.pending.functions.push(if scale.up { Function::Max } else { Function::Min });
            return;
        }
        self.settle_superlative();
        if scale.of.is_empty() {
            // `whose price is the highest`: the column stands before.
            let last = !matches!(
                self.item_content(at + 1),
                Some(
                    What::Column(_)
                        | What::Table(_)
                        | What::Cell(_)
                        | What::Cue(Cue::And | Cue::Aggregate(_))
                )
            );
            match last.then(|| self.take_column_before(at)).flatten() {
                Some(column) => self.best_by(Measure::Column(column), scale.up),
                None => self.pending.superlative = Some(scale),
            }
            return;
        }
        // `the longest air time`: what is named next is measured itself.
        let near = self.reading.items.get(at + 1).is_some_and(|next| next.from == self.item(at).to);
        let own = self.resolver.column(at + 1).filter(|_| near && scale.is_length());
        if own
            .filter(|column: &ColumnRef| {
                let view = self.schema.column(*column);
                view.holds == Holds::Number && !view.is_key
            })
            .is_some()
        {
            self.pending.superlative = Some(Scale { of: &[], ..scale });
            return;
        }
        if let Some(several) =
            self.measurable_columns(at, scale).filter(|several| several.len() > 1)
        {
            let table = several[0].table;
            self.draft.unmeasured = Some(Unmeasured { item: at, to: at, table, up: scale.up });
            return;
        }
        // The length of a text is not in a column.
        let next = self
            .resolver
            .column(at + 1)
            .filter(|column| self.schema.column(*column).holds == Holds::Text);
        let elsewhere = |column: ColumnRef| {
            scale.is_length() && next.is_some_and(|next| next.table != column.table)
        };
        let (_, turned) = self.resolver.all_measured(at, scale);
        let fitting =
            self.measurable_columns(at, scale).and_then(|fitting| fitting.first().copied());
        match fitting.filter(|column| !elsewhere(*column)) {
            Some(column) => {
                self.best_by(Measure::Column(column), scale.up != turned);
                // `the earliest year`: the column that is named is the measure itself.
                if matches!(self.item_content(at + 1), Some(What::Column(_)))
                    && self.resolver.column(at + 1) == Some(column)
                {
                    self.used[at + 1] = !self.item(at + 1).head;
                }
            }
            None => self.pending.superlative = Some(scale),
        }
    }

    /// The columns near that a superlative may measure: those that the words after it name, as
    /// `bill` in `the longest bill`, if any.
    fn measurable_columns(&self, at: usize, scale: Scale) -> Option<Vec<ColumnRef>> {
        let (columns, _) = self.resolver.all_measured(at, scale);
        let after = self.item(at).to;
        let next: Vec<&str> = self
            .reading
            .tokens
            .iter()
            .skip(after)
            .take(3)
            .map(|token| token.stem.as_str())
            .collect();
        let named: Vec<ColumnRef> = columns
            .iter()
            .filter(|column: &&ColumnRef| {
                self.schema
                    .column(**column)
                    .required
                    .iter()
                    .any(|stem| next.contains(&stem.as_str()))
            })
            .copied()
            .collect();
        Some(if named.is_empty() { columns } else { named }).filter(|columns| !columns.is_empty())
    }

    fn table(&mut self, at: usize, table: usize) {
        let describes = self.reading.describes(at);
        let head = self.item(at).head && !describes;
        let negated = self.pending.not;
        self.draft.named.push(Named { item: at, table, head, negated });
        let qualifies = self.names_column_of(at, table);
        let says_measure = self.pending.count.is_some() && self.says_measure(at);
        // Two numbers of rows are none of a join.
        self.draft.unmet += usize::from(self.is_counted_beside(at, table));
        let pending = &mut self.pending;
        if says_measure {
            self.pending.count = None;
            self.set_measure(Measure::Rows(Some(table)));
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

    /// Returns true if another table is counted as well: `how many customers and suppliers`, `how
    /// many orders and how many reviews`.
    fn is_counted_beside(&self, at: usize, table: usize) -> bool {
        fn counts_other_table(table: usize, counted: &Counted) -> bool {
            counted.table.is_some_and(|other| other != table)
        }
        let is_listed = |counted: &Counted| {
            let between = self.reading.items.get(counted.item + 1..at).unwrap_or_default();
            !between.is_empty()
                && between.iter().all(|item: &Item| {
                    matches!(item.what, What::Cue(Cue::And | Cue::Or | Cue::Comma))
                        || item.is_table()
                })
                && between.last().is_some_and(|last| last.to == self.item(at).from)
        };
        let is_counted = self.pending.count.is_some();
        let mut others =
            self.draft.counted.iter().filter(|counted| counts_other_table(table, counted));
        self.item(at).head && others.any(|counted| is_counted || is_listed(counted))
    }

    /// Returns true if the item is a further member of a list of requested items.
    fn is_listed(&self, at: usize) -> bool {
        let after_and = at > 0
            && matches!(self.item(at - 1).what, What::Cue(Cue::And))
            && self.item(at).from <= self.item(at - 1).to + 1;
        let other = self.draft.named.iter().rev().nth(1).is_some_and(|named| named.head);
        after_and && other && !self.draft.asked.is_empty() && self.pending.functions.is_empty()
    }

    /// Returns true if a column of that table follows directly: `employee age`.
    fn names_column_of(&self, at: usize, table: usize) -> bool {
        let near = self.reading.items.get(at + 1).is_some_and(|next| next.from == self.item(at).to);
        near && !self.is_verb(at + 1)
            && matches!(self.item_content(at + 1), Some(What::Column(_)))
            && self.resolver.column(at + 1).is_some_and(|column| column.table == table)
    }

    /// Returns true if a clause of its own follows `and` or `but`.
    fn opens_clause(&self, at: usize) -> bool {
        let Some(next) = self.reading.tokens.get(self.item(at).to) else { return false };
        // A further verb, once the negation has its object: `not from here and joined in 2020`.
        let found = self.draft.filters.last().is_some_and(|filter| filter.negated.is_some());
        lexicon::opens_clause(&next.lower) || (found && next.is_past())
    }

    /// Returns whether the word opens a condition of its own after a negation that has its object.
    fn ends_negation(&self, at: usize) -> bool {
        let word = self.reading.tokens[self.item(at).from].lower.as_str();
        let is_denied = self.draft.filters.last().is_some_and(|filter| {
            filter.negated.is_some() && filter.negated == self.pending.not && filter.item + 1 == at
        });
        is_denied && matches!(word, "with" | "having" | "whose" | "who")
    }

    /// Counts the cues without an object.
    fn count_unmet(&mut self) {
        let pending = &self.pending;
        let waiting = [
            pending.compare.is_some(),
            pending.superlative.is_some(),
            pending.between,
            pending.each && !self.ends_with_each(),
            pending.like.is_some(),
            !pending.functions.is_empty(),
        ];
        self.draft.unmet += waiting.into_iter().filter(|waits| *waits).count();
    }

    /// Returns true if nothing follows the last `each`: `the types and the number of pets of each`.
    fn ends_with_each(&self) -> bool {
        let last =
            self.reading.items.iter().rfind(|item| matches!(item.what, What::Cue(Cue::Each)));
        let next = last.map(|item| self.reading.tokens.get(item.to));
        next.is_some_and(|next| next.is_none_or(Token::ends_sentence))
    }

    /// Counts the rows that fulfil the conditions where no name followed: `how many were
    /// cancelled`.
    fn settle_count(&mut self) {
        if let Some(item) = self.pending.count.take() {
            let head = self.item(item).head;
            self.draft.counted.push(Counted { item, table: None, distinct: false, head });
        }
    }

    /// Counts the rows of a table named before `per`, if nothing else is asked for: `flights per
    /// origin`.
    fn count_per(&mut self) {
        let by = Some(1).filter(|at| {
            matches!(self.item_content(*at), Some(What::Cue(Cue::By))) && self.counts_by(*at)
        });
        let Some(per) = self
            .reading
            .items
            .iter()
            .position(|item: &Item| {
                matches!(item.what, What::Cue(Cue::Each))
                    && self.reading.tokens[item.from].lower == "per"
            })
            .or(by)
        else {
            return;
        };
        let draft = &mut self.draft;
        let is_free = draft.asked.is_empty()
            && draft.counted.is_empty()
            && draft.best.is_none()
            && draft.share.is_none()
            && draft.frequent.is_none()
            && !draft.keys.is_empty();
        let named = draft
            .named
            .iter()
            .find(|named| named.head && named.negated.is_none() && named.item < per);
        // `countries per continent`, where the countries are a column.
        if let ([asked], [Key::Column(key)], true) =
            (draft.asked.as_mut_slice(), draft.keys.as_slice(), named.is_none())
            && let Expression::Column(column) = asked.expression
            && column.table == key.table
            && asked.item < per
            && self.schema.repeats(column)
            && self.reading.tokens[self.reading.items[asked.item].to - 1].lower.ends_with('s')
        {
            asked.expression = Expression::CountDistinct(column);
        }
        if let Some(named) = named.copied().filter(|_| is_free) {
            draft.counted.push(Counted {
                item: named.item,
                table: Some(named.table),
                distinct: false,
                head: true,
            });
        }
    }

    /// Adds up the amounts of a table that is named where a column was meant, `the total amount of
    /// the orders`: its one column of amounts, else the user is asked.
    fn sum_of_table(&mut self) {
        let head =
            self.draft.named.iter().find(|named| named.head && named.negated.is_none()).copied();
        fn is_sum(item: &&Item) -> bool {
            matches!(item.what, What::Cue(Cue::Aggregate(Function::Sum)))
        }
        let cue = self.reading.items.iter().position(|item| is_sum(&item));
        let (Some(named), Some(cue), [Function::Sum]) =
            (head, cue, self.pending.functions.as_slice())
        else {
            return;
        };
        if named.item < cue || !self.draft.asked.is_empty() {
            return;
        }
        self.pending.functions.clear();
        let measures = self.schema.measures(named.table);
        // The tips of the table `tips` are in its column `tip`.
        if let Some(own) = self.schema.measures(named.table).find(|column: &ColumnRef| {
            self.schema.column(*column).required == self.schema.tables[named.table].stems
        }) {
            return self.ask(named.item, Expression::Aggregate(Function::Sum, own));
        }
        let mut amounts = measures.filter(|column: &ColumnRef| {
            let view = self.schema.column(*column);
            lexicon::AMOUNTS.iter().any(|word| view.required.contains(&words::stem(word)))
        });
        match amounts.next().filter(|_| amounts.next().is_none()) {
            Some(column) => self.ask(named.item, Expression::Aggregate(Function::Sum, column)),
            None => {
                self.draft.unmeasured =
                    Some(Unmeasured { item: cue, to: named.item, table: named.table, up: true });
            }
        }
    }

    /// Completes the cues that still wait for an object.
    fn finish(&mut self) {
        let head =
            self.draft.named.iter().find(|named| named.head).map(|named| (named.item, named.table));
        if let (Some((item, table)), Some(scale)) =
            (head, self.pending.superlative.filter(|scale| !scale.counts))
        {
            self.pending.superlative = None;
            self.best_of(item, table, scale.up);
        }
        if let (Some((item, table)), true) = (head, self.is_top_of_nothing()) {
            self.best_of(item, table, true);
        }
        // `the average weight and year for each year`: a key is not aggregated.
        if let Some((last, _)) = &self.aggregated {
            let last = *last;
            let keys = &self.draft.keys;
            let is_key = |column| {
                keys.iter().any(|key| matches!(key, Key::Column(known) if *known == column))
            };
            self.draft.asked.retain(|asked| {
                !matches!(
                    asked.expression, Expression::Aggregate(_, column) if asked.item == last
                        && is_key(column)
                )
            });
        }
        self.average_judgements();
        self.sum_of_table();
        self.count_unmet();
        self.settle_count();
        self.count_several();
        self.count_per();
        if let Some(up) = self.pending.most_rows.take() {
            self.best_by(Measure::Rows(None), up);
        }
    }
}
