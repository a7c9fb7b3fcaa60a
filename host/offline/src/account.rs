//! The account of a question's words: each aggregate, number, time, negation, comparison and
//! superlative is expressed by some part of the statement, or there is no statement. A word that
//! was dropped changes what is asked for, however well the rest is understood.

use std::collections::BTreeSet;

use super::calendar;
use super::cues::Cue;
use super::dialect;
use super::draft::{Draft, Key, Measure};
use super::items::{Item, Reading, What};
use super::lexicon;
use super::query::{Condition, Expression, Function, LogicalQuery, Operand, Operator};
use super::schema::{ColumnRef, Holds, Schema};
use super::words::{Kind, Token};

/// The parts of a statement, of the queries within it, too.
#[derive(Default)]
struct Parts<'a> {
    functions: Vec<Function>,
    /// The number of times that rows or distinct values are counted.
    counts: usize,
    shares: usize,
    conditions: Vec<&'a Condition>,
    /// The numbers that are written in it.
    numbers: Vec<String>,
    /// The orders and the least and greatest values.
    extremes: usize,
    orders: usize,
    groups: usize,
    /// The conditions on groups.
    having: Vec<Operator>,
    is_distinct: bool,
    columns: Vec<ColumnRef>,
    shows_all: bool,
}

impl<'a> Parts<'a> {
    fn new(query: &'a LogicalQuery) -> Self {
        let mut parts = Self::default();
        parts.add(query);
        parts
    }

    fn add(&mut self, query: &'a LogicalQuery) {
        let ordered = query.order.iter().map(|(expression, _)| expression);
        let kept = query.having.iter().map(|(expression, ..)| expression);
        for expression in query.select.iter().chain(ordered).chain(kept) {
            match expression {
                Expression::Aggregate(function, _) => self.functions.push(*function),
                Expression::CountRows | Expression::CountDistinct(_) => self.counts += 1,
                Expression::Share(_) => self.shares += 1,
                Expression::Column(at) => self.columns.push(*at),
                Expression::AllColumns(_) => self.shows_all = true,
                Expression::Length(_) => {}
            }
        }
        self.functions.extend(query.fold);
        for condition in query.conditions() {
            self.conditions.push(condition);
            self.count_numbers(&condition.operand);
        }
        self.numbers.extend(query.having.iter().map(|(_, _, number)| number.clone()));
        self.having.extend(query.having.iter().map(|(_, operator, _)| *operator));
        self.numbers.extend(query.limit.map(|limit| limit.to_string()));
        self.orders += query.order.len();
        self.groups += query.group.len();
        self.is_distinct |= query.distinct;
        query.inner().for_each(|inner| self.add(inner));
        self.extremes = self.orders
            + self
                .functions
                .iter()
                .filter(|function: &&Function| matches!(function, Function::Min | Function::Max))
                .count();
    }

    fn count_numbers(&mut self, operand: &Operand) {
        match operand {
            Operand::Number(number) => self.numbers.push(number.clone()),
            Operand::Text(text) => self.numbers.push(text.clone()),
            Operand::Range(low, high) => {
                self.count_numbers(low);
                self.count_numbers(high);
            }
            Operand::Texts(_) | Operand::Query(_) | Operand::Null => {}
        }
    }

    fn has_function(&self, function: Function) -> bool {
        self.functions.contains(&function)
    }

    /// Returns the number of comparisons by size: of a value, a group or a part of a whole.
    fn comparisons(&self) -> usize {
        fn compares(operator: &Operator) -> bool {
            matches!(
                operator,
                Operator::Greater
                    | Operator::AtLeast
                    | Operator::Less
                    | Operator::AtMost
                    | Operator::Between
                    | Operator::NotBetween
            )
        }
        let conditions = self.conditions.iter().map(|condition| condition.operator);
        conditions.chain(self.having.iter().copied()).filter(compares).count()
    }

    fn writes(&self, number: &str) -> bool {
        let value = number.parse::<f64>();
        self.numbers.iter().any(|other| {
            let same = value
                .as_ref()
                .is_ok_and(|value| other.parse::<f64>().is_ok_and(|other| *value == other));
            other == number || same || other.contains(number)
        })
    }
}

/// The words that no part of the statement expresses; empty if it drops none that carries meaning.
pub(crate) fn find_dropped_words(
    schema: &Schema,
    reading: &Reading,
    draft: &Draft,
    query: &LogicalQuery,
) -> Vec<String> {
    let parts = Parts::new(query);
    let mut words: Vec<String> = Vec::new();
    for (at, item) in reading.items.iter().enumerate() {
        if !is_expressed(at, item, schema, reading, draft, query, &parts) {
            words.push(reading.text(item));
        }
    }
    words.extend(words_beyond_rules(reading));
    words.extend(unread_columns(schema, reading, query));
    words.extend(find_missing_items(schema, reading, draft, query));
    words
}

/// Returns true if some part of the statement expresses an item. What is counted is counted once
/// for all items of its kind.
fn is_expressed(
    at: usize,
    item: &Item,
    schema: &Schema,
    reading: &Reading,
    draft: &Draft,
    query: &LogicalQuery,
    parts: &Parts<'_>,
) -> bool {
    // A word that is said twice asks for the same.
    let of_kind = |fits: &dyn Fn(&Cue) -> bool| {
        let items =
            reading.items.iter().filter(|item| matches!(&item.what, What::Cue(cue) if fits(cue)));
        items.map(|item| reading.tokens[item.from].lower.as_str()).collect::<BTreeSet<_>>().len()
    };
    match &item.what {
        What::Cue(Cue::Aggregate(function)) => parts.has_function(*function),
        What::Cue(Cue::Count) => {
            let sums = parts.has_function(Function::Sum) || parts.has_function(Function::Avg);
            parts.counts > 0
                || parts.shares > 0
                || sums
                || parts
                    .columns
                    .iter()
                    .any(|column: &ColumnRef| schema.column(*column).holds == Holds::Number)
        }
        What::Cue(Cue::Superlative(_) | Cue::MostRows(_) | Cue::Frequent(_)) => {
            let superlatives = of_kind(&|cue| {
                matches!(cue, Cue::Superlative(_) | Cue::MostRows(_) | Cue::Frequent(_))
            });
            parts.extremes >= superlatives
        }
        What::Cue(Cue::Top(_)) => query.limit.is_some() && !query.order.is_empty(),
        What::Cue(Cue::OrderBy | Cue::Direction(_) | Cue::Sorted(_)) => parts.orders > 0,
        What::Cue(Cue::Compare(operator, _)) => {
            let compared = of_kind(
                &|cue| matches!(cue, Cue::Compare(operator, _) if *operator != Operator::Equal),
            );
            matches!(operator, Operator::Equal | Operator::NotEqual)
                || parts.comparisons() >= compared
        }
        What::Cue(Cue::OrMore(_) | Cue::Between) => parts.comparisons() > 0,
        What::Cue(Cue::Not) => !is_lost(at, draft, query),
        What::Cue(Cue::Only) => false,
        What::Cue(Cue::Like(_)) => parts.conditions.iter().any(|condition| {
            matches!(condition.operator, Operator::Like | Operator::NotLike)
                || !is_number(&condition.operand)
        }),
        What::Cue(Cue::Share(_)) => parts.shares > 0,
        What::Cue(Cue::Everything) => parts.shows_all,
        What::Cue(Cue::Distinct) => parts.is_distinct || parts.counts > 0 || parts.groups > 0,
        What::Cue(Cue::Each) => reading.tokens[item.from].lower != "per" || parts.groups > 0,
        What::Cue(_) | What::Table(_) | What::Column(_) | What::Cell(_) | What::Text(_) => true,
        What::Number(number) => parts.writes(number) || stands_for_a_word(reading, item, number),
        What::Date(date) => parts.writes(date),
        What::Months(first, last) => {
            parts.writes(&first.to_string()) && parts.writes(&last.to_string())
        }
    }
}

fn is_number(operand: &Operand) -> bool {
    matches!(operand, Operand::Number(_))
}

/// `one of`, `at least one`, `a single`: a number in words that changes nothing.
fn stands_for_a_word(reading: &Reading, item: &Item, number: &str) -> bool {
    let word = reading.tokens[item.from].text.to_lowercase();
    number == "1" && lexicon::number_word(&word) == Some("1")
}

/// Returns true if no part of the query expresses the negation.
pub(crate) fn is_lost(negation: usize, draft: &Draft, query: &LogicalQuery) -> bool {
    let filtered = draft.filters.iter().any(|filter| filter.negated == Some(negation));
    let excluded = draft
        .named
        .iter()
        .any(|named| named.negated == Some(negation) && query.excludes(named.table));
    !(filtered || excluded || draft.settled.contains(&negation))
}

/// Words that are in no item and ask for what no rule expresses: other aggregates, ordinals, times
/// and superlatives.
fn words_beyond_rules(reading: &Reading) -> Vec<String> {
    let tokens = &reading.tokens;
    let is_free = |at: usize| tokens[at].kind == Kind::Word && !reading.is_in_item(at);
    let asks = |at: usize| {
        let lower = tokens[at].lower.as_str();
        let is_superlative =
            lower.len() > 5 && lower.ends_with("est") && reading.unknown.contains(&at);
        let is_column =
            reading.unknown.contains(&at) && lexicon::GENERAL.contains(&tokens[at].stem.as_str());
        is_column
            || lexicon::BEYOND.contains(&lower)
            || lexicon::TIMES.contains(&lower)
            || is_superlative
            || is_ordinal(lower)
            || calendar::is_decade(lower)
            || calendar::months(tokens, at).is_some()
            || is_relative(tokens, at)
    };
    (0..tokens.len())
        .filter(|at| is_free(*at) && asks(*at))
        .map(|at| tokens[at].text.clone())
        .collect()
}

/// Returns the words that are mostly filler and are columns here, which the statement lacks:
/// `done`.
fn unread_columns(schema: &Schema, reading: &Reading, query: &LogicalQuery) -> Vec<String> {
    fn names_column(query: &LogicalQuery, schema: &Schema, token: &Token) -> bool {
        schema.columns().any(|(at, view)| {
            view.required.as_slice() == [token.stem.as_str()]
                && query.reads(at.table)
                && !query.names(at)
        })
    }
    let tokens = reading.tokens.iter().enumerate();
    let lost = tokens.filter(|(at, token)| {
        lexicon::is_filler(&token.lower)
            && !reading.is_in_item(*at)
            && names_column(query, schema, token)
    });
    lost.map(|(_, token)| token.text.clone()).collect()
}

/// `3rd` and `2nd`.
fn is_ordinal(lower: &str) -> bool {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| lower.strip_suffix(end));
    digits.is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// `last year`, `this month`, `next 3 days`: a time that depends on today.
fn is_relative(tokens: &[Token], at: usize) -> bool {
    const BEFORE: &[&str] = &["last", "past", "next", "this", "previous", "current", "recent"];
    const SPANS: &[&str] =
        &["day", "week", "month", "quarter", "year", "hour", "minut", "decad", "weekend"];
    let after = at + 1;
    let next = if tokens.get(after).is_some_and(|next| next.kind == Kind::Number) {
        after + 1
    } else {
        after
    };
    let spans = tokens.get(next).is_some_and(|token| SPANS.contains(&token.stem.as_str()));
    BEFORE.contains(&tokens[at].lower.as_str()) && spans
}

/// The columns and keys that are asked for and that the statement lacks.
fn find_missing_items(
    schema: &Schema,
    reading: &Reading,
    draft: &Draft,
    query: &LogicalQuery,
) -> Vec<String> {
    let asked = draft.asked.iter().filter(|asked| asked.head);
    let columns =
        asked.filter(|asked| asked.expression.column().is_some_and(|at| !query.names(at)));
    let mut words: Vec<String> =
        columns.map(|asked| reading.text(&reading.items[asked.item])).collect();
    let keys = draft.keys.iter().filter_map(|key| match key {
        Key::Column(column) if !query.names(*column) => Some(schema.column(*column).name.clone()),
        _ => None,
    });
    words.extend(keys);
    words
}

/// Returns true if the statement does only what the types of its columns allow: numbers are added
/// up, texts have no greatest, a limit applies to ordered rows, and what stands beside an aggregate
/// is the key of its group.
pub(crate) fn is_sound(schema: &Schema, draft: &Draft, query: &LogicalQuery) -> bool {
    fn holds(schema: &Schema, at: ColumnRef) -> Holds {
        schema.column(at).holds
    }
    let is_summable =
        |at: ColumnRef| holds(schema, at) == Holds::Number && !schema.column(at).is_key;
    let is_ordered = |at: ColumnRef| matches!(holds(schema, at), Holds::Number | Holds::Time);
    let fits = |expression: &Expression| match expression {
        Expression::Aggregate(Function::Avg | Function::Sum, at) => is_summable(*at),
        Expression::Aggregate(Function::Min | Function::Max, at) => is_ordered(*at),
        Expression::Share(share) => share.column.is_none_or(is_summable),
        _ => true,
    };
    let ordered = query.order.iter().map(|(expression, _)| expression);
    let kept = query.having.iter().map(|(expression, ..)| expression);
    let typed = query.select.iter().chain(ordered).chain(kept).all(fits);
    let best = match draft.best {
        Some((Measure::Column(column), _)) => is_ordered(column),
        _ => true,
    };
    let folded = query
        .fold
        .is_none_or(|_| query.select.iter().filter_map(Expression::column).all(is_summable));
    let compared = query.conditions().all(|condition| is_comparable(schema, condition));
    // Two numbers of rows have no rows in common.
    let apart = query.intersect.is_none()
        || !query.select.iter().any(|item: &Expression| {
            !matches!(item, Expression::Column(_) | Expression::AllColumns(_))
        });
    typed
        && best
        && apart
        && folded
        && compared
        && groups_fit(schema, query)
        && query.inner().all(|inner| is_sound(schema, &Draft::default(), inner))
}

/// Returns true if the two sides of a condition are of comparable types: a day is no number.
fn is_comparable(schema: &Schema, condition: &Condition) -> bool {
    let view = schema.column(condition.column);
    fn is_day(text: &str) -> bool {
        calendar::day(text).is_some()
    }
    match &condition.operand {
        Operand::Text(text) if is_day(text) => view.holds == Holds::Time,
        Operand::Range(low, _) => match low.as_ref() {
            Operand::Text(text) => !is_day(text) || view.holds == Holds::Time,
            _ => true,
        },
        Operand::Number(_) if condition.field.is_none() && view.holds == Holds::Time => {
            // A year that is stored as a number is one.
            !dialect::is_date(&view.declared)
        }
        _ => true,
    }
}

/// Returns true if each plain column beside an aggregate is a key of the groups, or belongs to the
/// row that is the group or has the extreme value.
fn groups_fit(schema: &Schema, query: &LogicalQuery) -> bool {
    fn aggregates(expression: &Expression) -> bool {
        matches!(
            expression,
            Expression::Aggregate(..) | Expression::CountRows | Expression::CountDistinct(_)
        )
    }
    let selects = query.select.iter().any(aggregates);
    let orders = query.order.iter().any(|(expression, _)| aggregates(expression));
    if query.group.is_empty() {
        let plain = query.select.iter().filter(|item| !aggregates(item)).count();
        let of_one_row = query.select.len() == plain + 1
            && query.select.iter().any(|item: &Expression| {
                matches!(item, Expression::Aggregate(Function::Min | Function::Max, _))
            });
        // Without groups there is one row, which needs no order, no limit and no plain column.
        let is_one = query.order.is_empty() && query.limit.is_none() && (plain == 0 || of_one_row);
        return (!selects && !orders && query.having.is_none()) || is_one;
    }
    // Of groups that fulfil a condition, the numbers alone say nothing.
    if query.having.is_some() && query.select.iter().all(aggregates) {
        return false;
    }
    query.select.iter().all(|item| match item {
        Expression::Column(at) => query.group.contains(at) || is_of_key(schema, query, at.table),
        Expression::AllColumns(table) => is_of_key(schema, query, *table),
        _ => true,
    })
}

/// Returns true if the query groups by the key of that table, so that each group is one of its
/// rows.
fn is_of_key(schema: &Schema, query: &LogicalQuery, table: usize) -> bool {
    schema.tables[table]
        .key
        .is_some_and(|column| query.group.contains(&ColumnRef { table, column }))
}
