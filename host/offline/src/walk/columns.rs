//! The function of a column: asked for, aggregated, a key of groups, an order, or the measure of
//! the best rows.

use super::Walk;
use crate::cues::Cue;
use crate::draft::{Asked, Counted, Filter, Key, Measure};
use crate::items::{Item, What};
use crate::lexicon::{self, Scale};
use crate::query::{Condition, Expression, Function, Operand, Operator};
use crate::schema::{ColumnRef, Holds};
use crate::token::is_stop;
use crate::words::{self, Kind};

impl Walk<'_> {
    pub(super) fn column(&mut self, at: usize, column: ColumnRef) {
        // `in total` does not name a column such as `total_bill`.
        let first = self.item(at).from;
        let words = &self.reading.tokens[first.saturating_sub(1)..self.item(at).to];
        self.draft.unmet += usize::from(
            matches!(words, [before, word] if before.lower == "in" && word.lower == "total"),
        );
        if self.says_measure(at) {
            let function = self.pending.functions.pop();
            self.set_measure(
                function.map_or(Measure::Column(column), |one| Measure::Aggregate(one, column)),
            );
        } else if let Some(negation) = self.negation_of_column(at, column) {
            self.add_missing(at, column, negation);
        } else if self.refers_to_row(at, column) {
            // The reference is a condition.
        } else if self.measures_amount(at, column) {
            self.pending.functions.clear();
            let expression = Expression::Aggregate(Function::Sum, column);
            self.draft.asked.push(Asked { item: at, head: true, expression });
        } else if self.follows_share(at, column) {
            self.draft.share_of = Some(column);
        } else if std::mem::take(&mut self.pending.each) || self.continues_keys(at) {
            self.draft.keys.push(Key::Column(column));
            self.keyed = Some(at);
            // `for each number of cylinders`.
            self.pending.count = None;
        } else if self.is_state(at, column) {
            self.filter(at, column, Operator::Equal, Operand::Number("1".to_owned()));
        } else if self.pending.ordering {
            self.order(column);
        } else if let Some((operator, _)) = self.pending.compare {
            if let Some(function) = self.pending.functions.pop() {
                let left =
                    self.pending.compared.or_else(|| self.before_compare(at)).unwrap_or(column);
                self.compare_with(at, left, operator, function, column);
            } else {
                self.pending.compared = Some(column);
            }
        } else if let Some(up) = self.pending.most_rows.take() {
            let numeric = self.schema.column(column).holds == Holds::Number
                && !self.schema.column(column).is_key;
            if numeric && self.draft.limit.is_none() && self.asks_value(at) {
                self.pending.functions.push(if up { Function::Max } else { Function::Min });
                return self.ask_aggregates(at, column);
            }
            self.best_by(if numeric { Measure::Column(column) } else { Measure::Rows(None) }, up);
        } else if let Some(scale) = self.pending.superlative.take() {
            self.add_extreme(at, column, scale);
        } else if self.follows_top(at) {
            self.draft.unmet += usize::from(self.names_event(at));
            self.best_by(Measure::Column(column), true);
        } else if let (true, [function @ (Function::Sum | Function::Avg)]) =
            (self.is_after_top(at), self.pending.functions.as_slice())
        {
            let function = *function;
            self.pending.functions.clear();
            self.fold(at, column, function, true);
        } else if !self.pending.functions.is_empty() {
            self.ask_aggregates(at, column);
        } else if self.is_within(at, column) {
            self.filter(at, column, Operator::Greater, Operand::Number("0".to_owned()));
        } else if self.counts_cell(at) {
            // `number of professors in discipline A`: the cell says what is counted, and the column
            // a condition.
            self.settle_count();
            self.ask(at, Expression::Column(column));
        } else if let Some(count) = self.pending.count.take() {
            self.count_column(at, count, column);
        } else if self.continues_count(at) {
            self.ask(at, Expression::CountDistinct(column));
        } else if self.repeats(at, column) {
            // `miles per gallon (mpg)`: the same once more.
        } else if let Some(functions) = self.continues_aggregate(at, column) {
            self.pending.functions = functions;
            self.ask_aggregates(at, column);
        } else {
            self.ask_for_owner(at);
            // `the rated products` describes what is asked for.
            self.draft.unmet += usize::from(self.reading.describes(at));
            self.draft.unmet += usize::from(self.is_counted_too(at));
            self.draft.distinct |= std::mem::take(&mut self.pending.distinct) && self.item(at).head;
            self.ask(at, Expression::Column(column));
        }
    }

    /// `the total amount of the orders by weight`, as the user answers what the amount is.
    fn measures_amount(&self, at: usize, column: ColumnRef) -> bool {
        let [Function::Sum] = self.pending.functions.as_slice() else { return false };
        let (Some(by), Some(named)) = (at.checked_sub(1), at.checked_sub(2)) else { return false };
        matches!(self.item(by).what, What::Cue(Cue::By))
            && matches!(self.item(named).what, What::Table(_))
            && self.reading.items[..named].iter().any(|item: &Item| {
                let words = &self.reading.tokens[item.from..item.to];
                matches!(item.what, What::Cue(Cue::Aggregate(Function::Sum)))
                    && words.iter().any(|one| one.lower == "amount")
            })
            && self.schema.measures(column.table).any(|measure| measure == column)
    }

    /// `the share of revenue`: what is divided.
    fn follows_share(&self, at: usize, column: ColumnRef) -> bool {
        let after = at > 0 && matches!(self.item(at - 1).what, What::Cue(Cue::Share(_)));
        let view = self.schema.column(column);
        after && view.holds == Holds::Number && !view.is_key
    }

    /// `for each carrier and origin` groups by both.
    fn continues_keys(&self, at: usize) -> bool {
        let Some(keyed) = self.keyed.filter(|keyed| keyed + 2 == at) else { return false };
        let and = self.item(at - 1);
        matches!(and.what, What::Cue(Cue::And))
            && and.from == self.item(keyed).to
            && and.to == self.item(at).from
            && self.pending.functions.is_empty()
            && self.pending.count.is_none()
    }

    /// Returns true if a flag describes the rows: `which are ok`, `how many are paid`, `paid
    /// orders`.
    fn is_state(&self, at: usize, column: ColumnRef) -> bool {
        const VERBS: &[&str] = &["is", "are", "was", "were", "be", "been", "being"];
        let view = self.schema.column(column);
        let is_boolean = view.holds == Holds::Flag && view.declared.contains("bool");
        if !is_boolean && !self.reading.flags.contains(&column) {
            return false;
        }
        let word = |at: Option<usize>| {
            at.and_then(|at| self.reading.tokens.get(at)).map_or("", |one| one.lower.as_str())
        };
        let before = word(self.item(at).from.checked_sub(1));
        let is_said = VERBS.contains(&before)
            || before.ends_with("n't")
            || lexicon::NEGATIONS.contains(&before);
        let describes = self.reading.items.get(at + 1).is_some_and(|next| {
            matches!(next.what, What::Table(table) if table == column.table)
                && next.from == self.item(at).to
        });
        is_said || describes
    }

    /// The negation by which rows have none of the column's values: `no email`, `do not have an
    /// email`.
    fn negation_of_column(&self, at: usize, column: ColumnRef) -> Option<usize> {
        let negation = self.pending.not?;
        let word = |at: usize| self.reading.tokens[at].lower.as_str();
        let mut between = self.item(negation).from..self.item(at).from;
        let before = self.item(negation).from.checked_sub(1).map_or("", word);
        let said = between.clone().any(|at| lexicon::means_absence(word(at)))
            || matches!(before, "has" | "have" | "had");
        let runs_out = word(self.item(negation).from) == "out";
        let near = self.reading.items[negation + 1..at]
            .iter()
            .all(|item| matches!(item.what, What::Cue(Cue::Trigger)));
        let silent = between.all(|at| {
            at < self.item(negation).to
                || is_stop(&self.reading.tokens[at])
                || lexicon::means_absence(word(at))
        });
        let compared = self.reading.items.get(at + 1).is_some_and(|next| {
            let joins =
                matches!(next.what, What::Cue(Cue::And | Cue::Or | Cue::Comma | Cue::Request));
            // `the out of stock products`.
            let described = runs_out && matches!(next.what, What::Table(_));
            !joins && !described && next.from <= self.item(at).to + 3
        });
        let fits = !runs_out || self.schema.column(column).holds == Holds::Number;
        (said && fits && near && silent && !compared).then_some(negation)
    }

    /// Rows without a value: NULL, or, if the column does not allow it, what represents no value.
    fn add_missing(&mut self, item: usize, column: ColumnRef, negation: usize) {
        let view = self.schema.column(column);
        let runs_out = self.reading.tokens[self.item(negation).from].lower == "out";
        let operand = match view.holds {
            _ if view.nullable && !runs_out => Operand::Null,
            Holds::Number | Holds::Flag => Operand::Number("0".to_owned()),
            Holds::Text | Holds::Time => Operand::Text(String::new()),
        };
        let condition = Condition { column, operator: Operator::Equal, operand, field: None };
        self.draft.filters.push(Filter { item, condition, negated: None });
        self.draft.settled.push(negation);
    }

    /// `in stock`: some of what the column counts, where no number follows.
    fn is_within(&self, at: usize, column: ColumnRef) -> bool {
        let view = self.schema.column(column);
        let first = self.item(at).from;
        let says_in = first > 0 && self.reading.tokens[first - 1].lower == "in";
        let compared = matches!(
            self.item_content(at + 1),
            Some(What::Number(_) | What::Cue(Cue::Compare(..) | Cue::Between))
        );
        let is_total = self.reading.tokens[first].lower == "total";
        says_in && !is_total && !compared && view.holds == Holds::Number && !view.is_key
    }

    /// `top 3 rated products`.
    fn follows_top(&self, at: usize) -> bool {
        self.is_after_top(at) && self.reading.tokens[self.item(at).from].is_past()
    }

    pub(super) fn order(&mut self, column: ColumnRef) {
        let function = self.pending.functions.pop().or_else(|| {
            let scale = self.pending.superlative.take()?;
            self.draft.direction.get_or_insert(scale.up);
            None
        });
        self.pending.count = None;
        self.draft
            .orders
            .push(function.map_or(Measure::Column(column), |f| Measure::Aggregate(f, column)));
    }

    /// `the highest age`: the value itself where it is asked for, else the row that has it.
    pub(super) fn add_extreme(&mut self, at: usize, column: ColumnRef, scale: Scale) {
        let asks = self.item(at).head && self.asks_extreme(at);
        // The worst delay is the longest one.
        let scale = if self.is_worse_with_more(at, column) {
            Scale { up: !scale.up, ..scale }
        } else {
            scale
        };
        if scale.is_length() && self.schema.column(column).holds == Holds::Text {
            if asks {
                self.ask(at, Expression::Column(column));
            }
            self.best_by(Measure::Length(column), scale.up);
            return;
        }
        // `the most deaths` are not the latest of their days.
        self.draft.unmet +=
            usize::from(scale.counts && self.schema.column(column).holds != Holds::Number);
        // The `highest paid` are not the last that were paid.
        self.draft.unmet += usize::from(scale.of.is_empty() && self.names_event(at));
        // What the word measures is not what the column holds: `the heaviest price`.
        self.draft.unmet += usize::from(!scale.of.is_empty());
        let asks = asks && self.draft.limit.is_none();
        let of_groups = at > 0 && self.is_of_groups(at - 1);
        // The highest of several averages itself needs a query over groups.
        self.draft.unmet += usize::from(asks && of_groups);
        // `the average and maximum age` asks for both, `the sum of the highest ages` for neither.
        let listed = at > 1 && matches!(self.item(at - 2).what, What::Cue(Cue::And | Cue::Comma));
        self.draft.unmet +=
            usize::from(asks && !of_groups && !listed && !self.pending.functions.is_empty());
        if asks && !of_groups {
            self.pending.functions.push(if scale.up { Function::Max } else { Function::Min });
            self.ask_aggregates(at, column);
        } else if let (false, Some(_), Some(function @ (Function::Sum | Function::Avg))) =
            (of_groups, self.draft.limit, self.pending.functions.last().copied())
        {
            self.pending.functions.clear();
            self.fold(at, column, function, scale.up);
        } else if let Some(function) = self.pending.functions.pop() {
            self.draft.unmet +=
                usize::from(!of_groups && matches!(function, Function::Sum | Function::Avg));
            // `best and worst rated` asks for both.
            self.draft.unmet +=
                usize::from(!of_groups && matches!(function, Function::Max | Function::Min));
            self.best_by(Measure::Aggregate(function, column), scale.up);
        } else {
            self.best_by(Measure::Column(column), scale.up);
        }
    }

    /// Returns whether `best` or `worst` was said of a column whose greater values are worse.
    fn is_worse_with_more(&self, at: usize, column: ColumnRef) -> bool {
        let said = self.reading.items[..at]
            .iter()
            .rev()
            .find(|item: &&Item| matches!(item.what, What::Cue(Cue::Superlative(_))));
        let judges = said.is_some_and(|item| {
            matches!(self.reading.tokens[item.from].lower.as_str(), "best" | "worst")
        });
        judges
            && lexicon::HARMS
                .iter()
                .any(|word| self.schema.column(column).required.contains(&words::stem(word)))
    }

    /// Returns true if `the largest number of seats` asks for that number, and not for the owner of
    /// the seats.
    fn asks_value(&self, at: usize) -> bool {
        fn asks_for_owner(word: &str) -> bool {
            matches!(
                word,
                "who" | "which" | "where" | "when" | "whose" | "has" | "have" | "had" | "with"
            )
        }
        let before = &self.reading.tokens[..self.item(at).from];
        let is_number =
            before.iter().any(|token| matches!(token.stem.as_str(), "number" | "amount"));
        let is_owned = before.iter().any(|token| asks_for_owner(&token.lower));
        is_number && !is_owned && self.item(at).head && self.asks_extreme(at)
    }

    fn is_after_top(&self, at: usize) -> bool {
        at > 0 && matches!(self.item(at - 1).what, What::Cue(Cue::Top(_)))
    }

    /// The aggregate of the best values: `the sum of the 5 highest amounts`.
    fn fold(&mut self, at: usize, column: ColumnRef, function: Function, up: bool) {
        self.draft.fold = Some(function);
        self.ask(at, Expression::Column(column));
        self.best_by(Measure::Column(column), up);
    }

    /// Returns true if the question asks for an extreme value itself: not if its owner was already
    /// mentioned (`which author has the highest`), unless by a word of mathematics.
    pub(super) fn asks_extreme(&self, at: usize) -> bool {
        let begin = (0..at).rev().find(|i| {
            matches!(self.item(*i).what, What::Cue(Cue::Request))
                && self.reading.tokens[self.item(*i).from].kind == Kind::Break
        });
        // The owner of `the highest product price` may follow.
        let qualified = at > 0
            && matches!(
                self.item(at - 1).what, What::Table(table) if self.names_column_of(at - 1, table)
            );
        let before = begin.unwrap_or(0)..at - usize::from(qualified);
        fn is_formal(word: &str) -> bool {
            matches!(word, "maximum" | "minimum" | "max" | "min")
        }
        let said = self.reading.items[before]
            .iter()
            .any(|item| matches!(item.what, What::Table(_) | What::Column(_)));
        let word = self
            .item(at)
            .from
            .checked_sub(1)
            .map(|i| self.reading.tokens[i].lower.as_str())
            .unwrap_or_default();
        // `the best rated product` is a product.
        let rates = self.reading.tokens[self.item(at).from].is_past() || self.qualifies_rows(at);
        !rates && (!said || is_formal(word) || !self.draft.keys.is_empty())
    }

    /// `the highest price product`: the rows are meant that follow at once.
    fn qualifies_rows(&self, at: usize) -> bool {
        self.reading.items.get(at + 1).is_some_and(|next| {
            matches!(next.what, What::Table(_)) && next.from == self.item(at).to
        })
    }

    pub(super) fn ask_aggregates(&mut self, at: usize, column: ColumnRef) {
        self.pending.count = None;
        let functions = std::mem::take(&mut self.pending.functions);
        for function in &functions {
            self.ask(at, Expression::Aggregate(*function, column));
        }
        self.aggregated = Some((at, functions));
    }

    /// Returns true if the item in brackets repeats the one before.
    fn repeats(&self, at: usize, column: ColumnRef) -> bool {
        let opens = at
            .checked_sub(1)
            .is_some_and(|before| self.reading.tokens[self.item(before).from].text == "(");
        opens && at > 1 && self.resolver.column(at - 2) == Some(column)
    }

    /// `the cities and their population`: the cities are asked for, too.
    fn ask_for_owner(&mut self, at: usize) {
        let before = self
            .item(at)
            .from
            .checked_sub(1)
            .map(|before| self.reading.tokens[before].lower.as_str());
        let possessive = before.is_some_and(|word| matches!(word, "their" | "its" | "his" | "her"));
        let is_first = self.draft.asked.is_empty() && self.draft.counted.is_empty();
        let named =
            self.draft.named.iter().find(|named| named.head && named.negated.is_none()).copied();
        // `states and area`.
        let joined = at > 1
            && matches!(self.item(at - 1).what, What::Cue(Cue::And | Cue::Comma))
            && matches!(self.item(at - 2).what, What::Table(_))
            && self.item(at - 2).to == self.item(at - 1).from
            && self.item(at - 1).to == self.item(at).from;
        let lists = (possessive || joined) && is_first && self.item(at).head;
        let Some(named) = named.filter(|_| lists) else { return };
        for label in &self.schema.tables[named.table].labels {
            self.ask(
                named.item,
                Expression::Column(ColumnRef { table: named.table, column: *label }),
            );
        }
    }

    /// `the average price and cost` is the average of both.
    fn continues_aggregate(&self, at: usize, column: ColumnRef) -> Option<Vec<Function>> {
        let (item, functions) = self.aggregated.as_ref()?;
        let view = self.schema.column(column);
        fn is_list_cue(what: &What) -> bool {
            matches!(what, What::Cue(Cue::And | Cue::Comma))
        }
        let joined = *item + 1 < at
            && self.reading.items[item + 1..at].iter().all(|item| is_list_cue(&item.what));
        // Nothing but the conjunction may stand between.
        let near = self.item(at).from <= self.item(*item).to + (at - item - 1) + 1;
        (joined && near && view.holds == Holds::Number && !view.is_key).then(|| functions.clone())
    }

    /// Returns true if the number of things that a column counts is the sum over the rows: `the
    /// total number of units`, and `the number of units` where no row that has them is named.
    fn sums_up(&self, count: usize, column: ColumnRef) -> bool {
        let token = &self.reading.tokens[self.item(count).from];
        fn is_possessive(word: &str) -> bool {
            matches!(word, "has" | "have" | "had" | "each" | "every" | "per" | "its" | "their")
        }
        let is_owned = self.reading.tokens.iter().any(|token| is_possessive(&token.lower));
        token.lower == "total"
            || !(is_owned
                || self.reading.items.iter().any(
                    |item: &Item| matches!(item.what, What::Table(table) if table == column.table),
                ))
    }

    /// Returns whether a cell follows the word that counts, and the column stands apart from it.
    fn counts_cell(&self, at: usize) -> bool {
        let Some(count) = self.pending.count else { return false };
        let cell =
            self.reading.items.get(count + 1).filter(|item| matches!(item.what, What::Cell(_)));
        cell.is_some_and(|cell| {
            count + 1 < at && cell.to < self.item(at).from && !self.item(at).head
        })
    }

    /// Returns true if a column numbers the rows of its table: the first one, of whole numbers,
    /// named in the singular where the question has the plural. `How many bookings` are rows where
    /// the column is `booking`, and a sum where it is `bookings`.
    fn numbers_rows(&self, at: usize, column: ColumnRef) -> bool {
        let view = self.schema.column(column);
        let asked = &self.reading.tokens[self.item(at).to - 1].lower;
        column.column == 0
            && view.declared.contains("int")
            && asked.ends_with('s')
            && !view.name.to_lowercase().ends_with('s')
    }

    pub(super) fn count_column(&mut self, at: usize, count: usize, column: ColumnRef) {
        let view = self.schema.column(column);
        let distinct = std::mem::take(&mut self.pending.distinct);
        let is_part = |parts: &[&str]| {
            view.holds == Holds::Number && parts.contains(&view.required.join(" ").as_str())
        };
        if is_part(&["year"]) {
            return self.ask(at, Expression::CountDistinct(column));
        }
        // A day of a month is no number of days, and the same day is in each month.
        self.draft.unmet += usize::from(
            is_part(&["day", "month", "week", "hour", "minut", "quarter"]) && !distinct,
        );
        // A reference stands in several rows, of which each thing is counted once.
        let is_of_row = match view.is_key {
            true => self.schema.tables[column.table].key == Some(column.column),
            false => self.numbers_rows(at, column),
        };
        if view.holds == Holds::Number && !view.is_key && !distinct && !is_of_row {
            let sums = self.sums_up(count, column);
            let summed = Expression::Aggregate(Function::Sum, column);
            self.ask(at, if sums { summed } else { Expression::Column(column) });
        } else if is_of_row && !distinct {
            let head = self.item(at).head;
            self.draft.counted.push(Counted {
                item: at,
                table: Some(column.table),
                distinct,
                head,
            });
        } else {
            self.ask(at, Expression::CountDistinct(column));
        }
    }

    /// Returns true if the column is a second thing to count: the `doctors` of `how many customers
    /// and doctors`, which are no groups.
    fn is_counted_too(&self, at: usize) -> bool {
        let Some(first) = at.checked_sub(2) else { return false };
        let and = self.item(at - 1);
        let is_joined = and.what == What::Cue(Cue::And)
            && and.from == self.item(first).to
            && and.to == self.item(at).from;
        let mut asked = self.draft.asked.iter();
        let mut counted = self.draft.counted.iter();
        let is_counted = counted.any(|counted| counted.item == first)
            || asked.any(|asked| {
                asked.item == first && matches!(asked.expression, Expression::CountDistinct(_))
            });
        let last = &self.reading.tokens[self.item(at).to - 1];
        is_joined && is_counted && last.lower.ends_with('s')
    }

    /// `the number of different names and colours` counts both.
    pub(super) fn continues_count(&self, at: usize) -> bool {
        let Some(last) = self.draft.asked.last() else { return false };
        let and = self.reading.items[last.item + 1..at]
            .iter()
            .all(|item| matches!(item.what, What::Cue(Cue::And | Cue::Distinct)));
        let different = (0..last.item)
            .rev()
            .take(2)
            .any(|i| matches!(self.item(i).what, What::Cue(Cue::Distinct)));
        and && different && matches!(last.expression, Expression::CountDistinct(_))
    }

    pub(super) fn ask(&mut self, item: usize, expression: Expression) {
        let head = self.item(item).head;
        self.draft.asked.push(Asked { item, head, expression });
    }
}
