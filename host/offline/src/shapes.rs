//! Shapes of statements that are seldom meant by the words that led to them: each lowers the
//! confidence.

use super::cues::Cue;
use super::draft::{Asked, Draft, Measure};
use super::items::{Item, Reading, What};
use super::lexicon;
use super::query::{Condition, Expression, Function, LogicalQuery, Operand, Operator};
use super::schema::{ColumnRef, ColumnView, Holds, Schema};
use super::words;

/// The factor by which the shape of a statement lowers the confidence.
pub(crate) fn doubt(
    reading: &Reading,
    draft: &Draft,
    query: &LogicalQuery,
    schema: &Schema,
) -> f64 {
    let mut factor = 1.0;
    if divides_name(draft, reading, query) || counts_beside(reading, draft, query, schema) {
        factor *= 0.5;
    }
    if denies_state(query, schema) || adds_up_times(query, schema) {
        factor *= 0.5;
    }
    if dates_state(reading, query, schema) {
        factor *= 0.35;
    }
    if sums_numbers_of_things(reading, draft, schema) {
        factor *= 0.45;
    }
    if sums_in_part(reading, draft, schema) {
        factor *= 0.6;
    }
    if measures_part(draft, reading, schema) || stands_beside_extreme(reading, query) {
        factor *= 0.75;
    }
    if shows_rows_whole(draft, reading, query)
        || averages_several(query)
        || excludes_under_conditions(query)
    {
        factor *= 0.8;
    }
    factor
}

/// Returns whether a value is excluded of which another column says when it began: `not shipped`
/// beside `shipped_date`.
fn denies_state(query: &LogicalQuery, schema: &Schema) -> bool {
    fn names_other_column(schema: &Schema, condition: &Condition) -> bool {
        let Operand::Text(text) = &condition.operand else { return false };
        let stem = words::stem(&text.to_lowercase());
        let mut columns = schema.columns();
        columns.any(|(at, view)| {
            at.table == condition.column.table
                && at != condition.column
                && view.required.contains(&stem)
        })
    }
    query.conditions().any(|condition| {
        condition.operator == Operator::NotEqual && names_other_column(schema, condition)
    })
}

/// Returns whether a state of which a column of dates says when it began is compared, with a time
/// of another column: `orders in 2024 that were shipped` beside `shipped_date`. Whether the time
/// is that of the state is open, unless the question names the column of the state.
fn dates_state(reading: &Reading, query: &LogicalQuery, schema: &Schema) -> bool {
    fn names_column(item: &Item, at: ColumnRef) -> bool {
        match &item.what {
            What::Column(columns) => columns.iter().any(|(one, _)| *one == at),
            _ => false,
        }
    }
    query.conditions().any(|state| {
        let Operand::Text(text) = &state.operand else { return false };
        let stem = words::stem(&text.to_lowercase());
        fn is_time(schema: &Schema, state: &Condition, at: ColumnRef) -> bool {
            at.table == state.column.table && schema.column(at).holds == Holds::Time
        }
        let says_when = |at: ColumnRef| {
            is_time(schema, state, at) && schema.column(at).required.contains(&stem)
        };
        let is_dated = query
            .conditions()
            .any(|other| is_time(schema, state, other.column) && !says_when(other.column));
        state.operator == Operator::Equal
            && is_dated
            && schema.columns().any(|(at, _)| says_when(at))
            && !reading.items.iter().any(|item| names_column(item, state.column))
    })
}

/// Returns whether numbers of several times are added up of what there is at each: the population
/// in all years.
fn adds_up_times(query: &LogicalQuery, schema: &Schema) -> bool {
    const TIMES: &[&str] = &["year", "month", "quarter", "week", "date", "day"];
    fn is_standing(schema: &Schema, at: ColumnRef) -> bool {
        let required = &schema.column(at).required;
        lexicon::STANDING.iter().any(|word| required.contains(&words::stem(word)))
    }
    fn is_time(view: &ColumnView) -> bool {
        view.holds == Holds::Time
            || TIMES.iter().any(|word| view.required.as_slice() == [words::stem(word)])
    }
    fn is_bound(query: &LogicalQuery, at: ColumnRef) -> bool {
        query.group.contains(&at)
            || query
                .conditions()
                .any(|one: &Condition| one.column == at && one.operator == Operator::Equal)
    }
    let is_open = |table: usize| {
        let mut times =
            schema.columns().filter(|(at, view)| at.table == table && is_time(view)).peekable();
        times.peek().is_some() && !times.any(|(at, _)| is_bound(query, at))
    };
    query.select.iter().chain(query.order.iter().map(|(expression, _)| expression)).any(|item| {
        match item {
            Expression::Aggregate(Function::Sum, at) => {
                is_standing(schema, *at) && is_open(at.table)
            }
            _ => false,
        }
    })
}

/// Returns whether two nouns that stand together became two columns: `engine types`.
fn divides_name(draft: &Draft, reading: &Reading, query: &LogicalQuery) -> bool {
    let asked = |at: usize| {
        draft
            .asked
            .iter()
            .any(|asked| asked.item == at && asked.head && query.select.contains(&asked.expression))
    };
    fn is_column(item: &Item) -> bool {
        matches!(item.what, What::Column(_))
    }
    (1..reading.items.len()).any(|at| {
        let [before, item] = [at - 1, at].map(|one| &reading.items[one]);
        before.to == item.from && is_column(before) && is_column(item) && asked(at - 1) && asked(at)
    })
}

/// Returns whether the question counts, and what is selected is a number that does not follow the
/// word: `how many cars seat 7 passengers`.
fn counts_beside(reading: &Reading, draft: &Draft, query: &LogicalQuery, schema: &Schema) -> bool {
    let Some(count) =
        reading.items.iter().position(|item: &Item| matches!(item.what, What::Cue(Cue::Count)))
    else {
        return false;
    };
    let follows = |at: ColumnRef| {
        let asked = draft.asked.iter().find(|asked| asked.expression == Expression::Column(at));
        asked.is_some_and(|asked| {
            let between = reading.items.get(count + 1..asked.item).unwrap_or_default();
            asked.item > count
                && between.iter().all(|item| matches!(item.what, What::Cue(Cue::Distinct)))
        })
    };
    query.group.is_empty()
        && query.select.iter().all(|item: &Expression| match item {
            Expression::Column(at) => {
                schema.column(*at).holds == Holds::Number && (query.distinct || !follows(*at))
            }
            _ => false,
        })
}

/// Returns whether a column beside the greatest or least value has a value of that row, which
/// nothing names: `the smallest tip, smoker`.
fn stands_beside_extreme(reading: &Reading, query: &LogicalQuery) -> bool {
    let is_beside =
        query.select.iter().any(|item: &Expression| {
            matches!(item, Expression::Aggregate(Function::Min | Function::Max, _))
        }) && query.select.iter().any(|item: &Expression| matches!(item, Expression::Column(_)));
    query.group.is_empty()
        && is_beside
        && !reading
            .items
            .iter()
            .any(|item: &Item| matches!(item.what, What::Cue(Cue::And | Cue::Comma)))
}

/// Returns whether numbers with fractions are added up where rows may be counted by a part of the
/// column's name: `how many bills` of `total_bill`.
fn sums_in_part(reading: &Reading, draft: &Draft, schema: &Schema) -> bool {
    let counts = reading.items.iter().any(|item| matches!(item.what, What::Cue(Cue::Count)));
    fn is_part(reading: &Reading, schema: &Schema, item: usize, at: ColumnRef) -> bool {
        let declared = &schema.column(at).declared;
        reading.items[item].score < 0.9 && !declared.contains("int")
    }
    counts
        && draft.asked.iter().any(|asked| match asked.expression {
            Expression::Aggregate(Function::Sum, at) => is_part(reading, schema, asked.item, at),
            _ => false,
        })
}

/// Returns whether numbers are added up for things of which each row has one, as its name in the
/// singular says: `how many clients` of a column `client`, which holds their numbers.
fn sums_numbers_of_things(reading: &Reading, draft: &Draft, schema: &Schema) -> bool {
    let counts = reading.items.iter().any(|item| matches!(item.what, What::Cue(Cue::Count)));
    fn is_thing(reading: &Reading, schema: &Schema, item: usize, at: ColumnRef) -> bool {
        let view = schema.column(at);
        let word = &reading.tokens[reading.items[item].to - 1];
        let is_singular = !view.name.to_lowercase().ends_with('s') && word.lower.ends_with('s');
        is_singular && view.required.contains(&word.stem)
    }
    counts
        && draft.asked.iter().any(|asked: &Asked| match asked.expression {
            Expression::Aggregate(Function::Sum, at) => is_thing(reading, schema, asked.item, at),
            _ => false,
        })
}

/// Returns whether the numbers of several rows are listed one by one without their names, where no
/// plural asks for it: `sales without the West`.
pub(crate) fn lists_numbers(
    draft: &Draft,
    reading: &Reading,
    query: &LogicalQuery,
    schema: &Schema,
) -> bool {
    let [Expression::Column(at)] = *query.select.as_slice() else { return false };
    let view = schema.column(at);
    let is_open = query.limit.is_none()
        && query.group.is_empty()
        && !query.distinct
        && query.order.is_empty();
    let is_one_table = query.all_tables().len() == 1 && query.intersect.is_none();
    if view.holds != Holds::Number || view.is_key || !is_open || !is_one_table {
        return false;
    }
    let asked = draft.asked.iter().find(|asked| asked.expression == Expression::Column(at));
    let is_plural = asked.is_some_and(|asked| {
        let word = &reading.tokens[reading.items[asked.item].to - 1].lower;
        word.ends_with('s') && !view.name.to_lowercase().ends_with('s')
    });
    fn asks_for_list(word: &str) -> bool {
        lexicon::REQUESTS.contains(&word) || matches!(word, "all" | "each" | "every")
    }
    let counts = reading.items.iter().any(|item| matches!(item.what, What::Cue(Cue::Count)));
    (counts || !is_plural) && !reading.tokens.iter().any(|token| asks_for_list(&token.lower))
}

/// Returns whether rows are shown whole that nothing asks to list: `flights from JFK in July`.
fn shows_rows_whole(draft: &Draft, reading: &Reading, query: &LogicalQuery) -> bool {
    let is_whole =
        matches!(query.select.as_slice(), [Expression::AllColumns(_)]) && query.limit.is_none();
    is_whole
        && !draft.everything
        && !reading
            .items
            .first()
            .is_some_and(|item: &Item| matches!(item.what, What::Cue(Cue::Request)))
}

/// Returns whether values are excluded under further conditions, of which each may be of the
/// excluded rows, too.
fn excludes_under_conditions(query: &LogicalQuery) -> bool {
    let [Expression::Column(column)] = *query.select.as_slice() else { return false };
    query.filters.len() > 1
        && query.filters.iter().any(|any| match any.as_slice() {
            [only] => only.column == column && only.operator == Operator::NotIn,
            _ => false,
        })
}

/// Returns whether one average is of the rows of several values, which may each have been meant.
fn averages_several(query: &LogicalQuery) -> bool {
    query.group.is_empty()
        && query.select.iter().any(|item: &Expression| {
            !matches!(
                item,
                Expression::Column(_) | Expression::AllColumns(_) | Expression::CountRows
            )
        })
        && query.filters.iter().any(|any: &Vec<Condition>| {
            any.len() > 1
                && any
                    .iter()
                    .all(|one| one.column == any[0].column && one.operator == Operator::Equal)
        })
}

/// Returns whether what a superlative compares is a part of what it measures: the urban population
/// for `the most populous`.
fn measures_part(draft: &Draft, reading: &Reading, schema: &Schema) -> bool {
    const PARTS: &[&str] = &[
        "urban", "rural", "male", "female", "adult", "child", "white", "black", "asian", "young",
        "old", "percent", "perc", "rate", "growth", "density", "chang", "poverti",
    ];
    let Some((Measure::Column(column) | Measure::Aggregate(_, column), _)) = draft.best else {
        return false;
    };
    let is_scaled = reading.items.iter().any(|item| match item.what {
        What::Cue(Cue::Superlative(scale)) => !scale.of.is_empty(),
        _ => false,
    });
    is_scaled
        && schema.column(column).required.iter().any(|stem| {
            PARTS.contains(&stem.as_str())
                && !reading.tokens.iter().any(|token| token.stem == *stem)
        })
}
