//! The confidence in an interpretation, by the part of the question that it uses and by the choices
//! that it had to make.

use syrch_words::looks_plural;

use super::cues::Cue;
use super::draft::{Asked, Draft, Filter, Key, Measure, Named};
use super::items::{Item, Reading, What};
use super::joins;
use super::lexicon;
use super::query::{Condition, Expression, Function, LogicalQuery, Operand, Operator};
use super::resolve::Resolver;
use super::schema::{ColumnRef, ColumnView, Holds, Schema};
use super::shapes;
use super::token::is_stop;
use super::words::{self, Kind};

/// The confidence, 0 to 1.
pub(crate) fn estimate(
    schema: &Schema,
    reading: &Reading,
    resolver: &Resolver<'_>,
    draft: &Draft,
    query: &LogicalQuery,
) -> f64 {
    let score = coverage(reading, draft, query).powf(1.5)
        * (0.5 + 0.5 * fit(reading))
        * (0.7 + 0.3 * clearness(reading, resolver))
        * simplicity(reading, draft, query).powf(0.7)
        * doubt(reading, draft, query, schema)
        * shapes::doubt(reading, draft, query, schema);
    score.clamp(0.01, 0.99)
}

/// The fraction of the content words that the query uses.
fn coverage(reading: &Reading, draft: &Draft, query: &LogicalQuery) -> f64 {
    let meant = reading
        .tokens
        .iter()
        .filter(|token| token.kind != Kind::Break && !is_stop(token))
        .count()
        .max(1);
    let lost = reading.unknown.len() + draft.loose.len() + count_unused_names(draft, query);
    (1.0 - lost as f64 / meant as f64).max(0.0)
}

/// Returns the number of names that were understood and are not used in the query.
fn count_unused_names(draft: &Draft, query: &LogicalQuery) -> usize {
    let columns = draft
        .asked
        .iter()
        .filter(|asked| asked.expression.column().is_some_and(|at| !query.names(at)));
    let tables = draft.named.iter().filter(|named| !query.reads(named.table));
    let keys =
        draft.keys.iter().filter(|key| matches!(key, Key::Column(column) if !query.names(*column)));
    columns.count() + tables.count() + keys.count()
}

/// A factor for how well the words match the names that they refer to.
fn fit(reading: &Reading) -> f64 {
    fn names_data(what: &What) -> bool {
        matches!(what, What::Table(_) | What::Column(_) | What::Cell(_))
    }
    mean(reading.items.iter().filter(|item| names_data(&item.what)).map(|item| item.score))
}

/// A factor for how far the chosen meanings are ahead of others.
fn clearness(reading: &Reading, resolver: &Resolver<'_>) -> f64 {
    mean(
        (0..reading.items.len())
            .filter(|at: &usize| matches!(reading.items[*at].what, What::Column(_) | What::Cell(_)))
            .map(|at| (resolver.margin(at) / 0.3).min(1.0)),
    )
}

/// A factor that is lower with every table and every part, and for a long question.
fn simplicity(reading: &Reading, draft: &Draft, query: &LogicalQuery) -> f64 {
    let tables = query.all_tables().len();
    let parts = draft.filters.len()
        + draft.keys.len()
        + usize::from(draft.best.is_some())
        + usize::from(draft.having.is_some());
    let length = reading.tokens.len();
    1.0 / (1.0
        + 0.25 * (tables.max(1) - 1) as f64
        + 0.08 * parts as f64
        + 0.03 * length.saturating_sub(10) as f64)
}

/// A factor for what makes the statement probably wrong, however well the rest matches.
fn doubt(reading: &Reading, draft: &Draft, query: &LogicalQuery, schema: &Schema) -> f64 {
    let mut factor = 1.0;
    if draft.asked.iter().any(|asked| !asked.head) || query.select.len() > 3 {
        factor *= 0.85;
    }
    // What the rules cannot express is not replaced by something else.
    if reading
        .unknown
        .iter()
        .any(|at| lexicon::BEYOND.contains(&reading.tokens[*at].lower.as_str()))
    {
        factor *= 0.5;
    }
    // Joining drops the rows that have nothing at all, which are fewer than any number.
    if matches!(draft.having, Some((_, Operator::Less | Operator::AtMost, _))) {
        factor *= 0.8;
    }
    if selects_from_afar(reading, query, schema) {
        factor *= 0.5;
    }
    if ranks_fewest(query) {
        factor *= 0.6;
    }
    // A number of rows that come first has no meaning without an order.
    if query.limit.is_some() && query.order.is_empty() {
        factor *= 0.3;
    }
    if is_open_share(query) {
        factor *= 0.7;
    }
    if claims_all(draft, query) {
        factor *= 0.5;
    }
    if !reading.unknown.is_empty() {
        factor *= 0.85;
    }
    if selects_a_state(query, schema) || counts_nothing(reading, query, schema) {
        factor *= 0.5;
    }
    if compares_texts(draft, query, schema) {
        factor *= 0.7;
    }
    if spreads_negation(draft) || joins_values_unasked(reading, draft) {
        factor *= 0.5;
    }
    if groups_unasked(reading, draft) || sums_repeated_rows(query, schema) {
        factor *= 0.5;
    }
    // A row without a name is shown whole, which is more than what was asked for.
    if query.limit.is_some()
        && !draft.everything
        && matches!(query.select.as_slice(), [Expression::AllColumns(_)])
    {
        factor *= 0.8;
    }
    // Whether each is meant once is open.
    if lists_repeated_rows(query, schema) {
        factor *= 0.9;
    }
    if names_model(reading)
        || is_open_best(reading, query, schema)
        || claims_frequency(query, schema)
    {
        factor *= 0.75;
    }
    if is_other_kind(reading, query, schema) {
        factor *= 0.5;
    }
    if draft.named.iter().any(|named| is_left_out(named, reading, query, schema)) {
        factor *= 0.6;
    }
    if draft.filters.iter().any(|filter| names_owner(filter, reading, schema)) {
        factor *= 0.5;
    }
    if compares_far_time(reading, query, schema) {
        factor *= 0.5;
    }
    if draft.named.iter().any(|named| is_idle_group(named, reading, query))
        || ranks_repeated_rows(query, schema)
    {
        factor *= 0.4;
    }
    for filter in &draft.filters {
        factor *= sense(&filter.condition, schema);
        if compares_cents(&filter.condition, reading, schema) {
            factor *= 0.5;
        }
    }
    factor * 0.6_f64.powi(i32::try_from(draft.unmet).unwrap_or(i32::MAX))
}

/// Returns true if a cell is compared with a column that the question does not name, and is as well
/// the name of a row of another table, to which each of these rows belongs: the `Queen` of `tracks
/// by Queen` is a composer, and the artist of other tracks.
fn names_owner(filter: &Filter, reading: &Reading, schema: &Schema) -> bool {
    let column = filter.condition.column;
    let item = reading.items.get(filter.item);
    let Some(What::Cell(cells)) = item.map(|item| &item.what) else { return false };
    let is_named = reading.items.iter().any(|item: &Item| {
        matches!(&item.what, What::Column(meant) if meant.iter().any(|(at, _)| *at == column))
    });
    let is_place = reading.table_of_place(filter.item) == Some(column.table);
    let is_label = schema.tables[column.table].labels.contains(&column.column);
    !is_named
        && !is_place
        && !is_label
        && cells.iter().map(|cell| cell.column).any(|other: ColumnRef| {
            let tables = [column.table, other.table];
            other.table != column.table
                && schema.tables[other.table].labels.contains(&other.column)
                && joins::tree(schema, &tables, &|_| 0.0).is_some_and(|tree| tree.len() <= 3)
                && !joins::repeats_rows(schema, &tables, column.table, &|_| 0.0)
        })
}

/// Returns true if a time is compared of a table that the question does not name and to which
/// several joins lead: the births of the authors whose books members borrow are not those of the
/// members.
fn compares_far_time(reading: &Reading, query: &LogicalQuery, schema: &Schema) -> bool {
    let Some(main) = query.all_tables().first().copied() else { return false };
    query.conditions().any(|condition: &Condition| {
        let table = condition.column.table;
        let view = schema.column(condition.column);
        let is_birth = view.required.iter().any(|stem| stem.starts_with("birth") || stem == "born");
        let near = if is_birth { 2 } else { 3 };
        let is_named = reading.items.iter().any(|item| item.what == What::Table(table));
        let is_far =
            joins::tree(schema, &[main, table], &|_| 0.0).is_some_and(|tree| tree.len() > near);
        view.holds == Holds::Time && !is_named && is_far
    })
}

/// Returns true if a condition may apply to the part or to the whole: `the share of female penguins
/// by island`.
fn is_open_share(query: &LogicalQuery) -> bool {
    !query.group.is_empty()
        && query.select.iter().any(
            |item: &Expression| matches!(item, Expression::Share(share) if !share.part.is_empty()),
        )
}

/// Returns true if a flag in numbers, such as `discontinued`, is selected as it is. Such a flag is
/// usually a condition and seldom the answer.
fn selects_a_state(query: &LogicalQuery, schema: &Schema) -> bool {
    fn is_state(view: &ColumnView) -> bool {
        let name = view.name.to_lowercase();
        matches!(view.holds, Holds::Number | Holds::Flag)
            && name.ends_with("ed")
            && !name.ends_with("eed")
    }
    query
        .select
        .iter()
        .any(|item| matches!(item, Expression::Column(at) if is_state(schema.column(*at))))
}

/// Returns true if the question asks how many there are, and neither an aggregate nor a number is
/// selected.
fn counts_nothing(reading: &Reading, query: &LogicalQuery, schema: &Schema) -> bool {
    fn is_no_number(schema: &Schema, item: &Expression) -> bool {
        match item {
            Expression::Column(at) => matches!(schema.column(*at).holds, Holds::Text | Holds::Time),
            Expression::AllColumns(_) => true,
            Expression::Aggregate(..)
            | Expression::CountDistinct(_)
            | Expression::Length(_)
            | Expression::Share(_)
            | Expression::CountRows => false,
        }
    }
    // `the top 3 customers by number of orders` asks for customers.
    fn is_measure(query: &LogicalQuery, reading: &Reading, at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| &reading.items[before].what);
        matches!(before, Some(What::Cue(Cue::By | Cue::OrderBy)))
            && query.order.iter().any(|(item, _)| *item == Expression::CountRows)
    }
    let counts = (0..reading.items.len()).any(|at| {
        matches!(reading.items[at].what, What::Cue(Cue::Count)) && !is_measure(query, reading, at)
    });
    counts && query.select.iter().all(|item| is_no_number(schema, item))
}

/// Returns true if the greatest text is sought, the last in the alphabet, which is rarely asked
/// for.
fn compares_texts(draft: &Draft, query: &LogicalQuery, schema: &Schema) -> bool {
    // A number may be declared as text.
    fn is_text(schema: &Schema, column: ColumnRef) -> bool {
        let view = schema.column(column);
        view.holds == Holds::Text
            && (view.required.iter().any(|stem| lexicon::PROSE.contains(&stem.as_str()))
                || schema.tables[column.table].labels.contains(&column.column))
    }
    let is_best = matches!(
        draft.best, Some((
            Measure::Column(column) | Measure::Aggregate(_, column), _
        )) if is_text(schema, column)
    );
    is_best
        || query.select.iter().any(|item: &Expression| match item {
            Expression::Aggregate(_, column) => is_text(schema, *column),
            _ => false,
        })
}

/// Returns true if a column after what is counted or summed up makes groups although no word asks
/// for any: `the total cost of the stock`.
fn groups_unasked(reading: &Reading, draft: &Draft) -> bool {
    fn follows_without_cue(reading: &Reading, from: usize, to: usize) -> bool {
        from < to
            && !reading.items[from..to].iter().any(|item: &Item| {
                matches!(
                    item.what,
                    What::Cue(
                        Cue::And
                            | Cue::Comma
                            | Cue::By
                            | Cue::Each
                            | Cue::Distinct
                            | Cue::Request
                            | Cue::OrderBy
                    )
                )
            })
    }
    let plain = || {
        draft.asked.iter().filter(|asked: &&Asked| {
            asked.head && matches!(asked.expression, Expression::Column(_))
        })
    };
    let counted = draft.counted.iter().filter(|counted| counted.head).map(|counted| counted.item);
    let summed = draft
        .asked
        .iter()
        .filter(|asked| asked.head)
        .filter(|asked: &&Asked| {
            matches!(
                asked.expression,
                Expression::Aggregate(Function::Sum | Function::Avg, _)
                    | Expression::CountDistinct(_)
            )
        })
        .map(|asked| asked.item);
    let mut measured = counted.chain(summed);
    draft.keys.is_empty()
        && measured.any(|item| plain().any(|asked| follows_without_cue(reading, item, asked.item)))
}

/// Returns true if a sum or an average is taken over rows that the joins repeat.
fn sums_repeated_rows(query: &LogicalQuery, schema: &Schema) -> bool {
    query.group.is_empty()
        && query.select.iter().any(|item| match item {
            Expression::Aggregate(Function::Sum | Function::Avg, column) => {
                joins::repeats_rows(schema, &query.all_tables(), column.table, &|_| 0.0)
            }
            _ => false,
        })
}

/// Returns true if rows are listed that the joins repeat.
fn lists_repeated_rows(query: &LogicalQuery, schema: &Schema) -> bool {
    let tables = query.all_tables();
    let is_once = query.distinct || query.intersect.is_some();
    !is_once
        && query.group.is_empty()
        && query.limit.is_none()
        && query.select.iter().all(|item: &Expression| match item {
            Expression::Column(at) => joins::repeats_rows(schema, &tables, at.table, &|_| 0.0),
            _ => false,
        })
}

/// Returns true if a value is sought by the best of its rows although it may have several: the best
/// row and the best sum differ.
fn is_open_best(reading: &Reading, query: &LogicalQuery, schema: &Schema) -> bool {
    let [(Expression::Column(by), _)] = query.order.as_slice() else { return false };
    // In one year each name is there once.
    if query.conditions().any(|condition: &Condition| {
        let is_year = schema.column(condition.column).required.iter().any(|stem| stem == "year");
        is_year && condition.operator == Operator::Equal
    }) && !schema.adds_up(*by)
        && query
            .select
            .iter()
            .all(|item: &Expression| item.column().is_some_and(|at| at.column == 0))
    {
        return false;
    }
    let names_rows = reading.items.iter().any(|item| matches!(item.what, What::Table(_)));
    // The first column names the rows where no other does, and no year repeats them.
    fn is_first_unlabelled(schema: &Schema, at: ColumnRef) -> bool {
        let table = &schema.tables[at.table];
        at.column == 0
            && table.labels.is_empty()
            && !table
                .columns
                .iter()
                .any(|view: &ColumnView| view.required.iter().any(|stem| stem == "year"))
    }
    let is_open = query.select.iter().any(|item: &Expression| match item {
        Expression::Column(at) => {
            at != by && schema.repeats(*at) && !is_first_unlabelled(schema, *at)
        }
        _ => false,
    }) && (schema.adds_up(*by) || !names_rows);
    query.limit.is_some() && query.group.is_empty() && is_open
}

/// Returns true if two cells of different columns are one name, as a maker and its model: the
/// second may suffice.
fn names_model(reading: &Reading) -> bool {
    fn has_digits(reading: &Reading, item: &Item) -> bool {
        reading.tokens[item.from..item.to]
            .iter()
            .any(|one| one.text.contains(|c: char| c.is_ascii_digit()))
    }
    reading.items.windows(2).any(|pair| match pair {
        [first, second] => match (&first.what, &second.what) {
            (What::Cell(one), What::Cell(other)) => {
                let is_same =
                    one.iter().any(|cell| other.iter().any(|next| next.column == cell.column));
                first.to == second.from && !is_same && has_digits(reading, second)
            }
            _ => false,
        },
        _ => false,
    })
}

/// Returns true if the most rows are sought in a table whose name is that of amounts: `the most
/// sales`.
fn claims_frequency(query: &LogicalQuery, schema: &Schema) -> bool {
    let tables = query.all_tables();
    let [table] = tables.as_slice() else { return false };
    let is_amount = schema.tables[*table]
        .stems
        .iter()
        .any(|stem| lexicon::ADDED.iter().any(|word| words::stem(word) == *stem));
    let has_amount = (0..schema.tables[*table].columns.len())
        .any(|column| schema.adds_up(ColumnRef { table: *table, column }));
    let by_rows = query.order.iter().any(|(item, _)| *item == Expression::CountRows);
    // The tips are the rows of `tips` and the amounts of its column `tip`.
    let is_column =
        schema.measures(*table).any(|at| schema.column(at).required == schema.tables[*table].stems);
    by_rows && (is_column || is_amount && has_amount)
}

/// Returns true if the question begins with `where`, `when` or `who`, and no place, time or name is
/// selected.
fn is_other_kind(reading: &Reading, query: &LogicalQuery, schema: &Schema) -> bool {
    fn selects_column(
        query: &LogicalQuery,
        schema: &Schema,
        fits: &dyn Fn(&ColumnView) -> bool,
    ) -> bool {
        query.select.iter().any(|item| match item {
            Expression::AllColumns(_) => true,
            other => other.column().is_some_and(|at| fits(schema.column(at))),
        })
    }
    match reading.tokens.first().map(|token| token.lower.as_str()) {
        Some("who") => !selects_column(query, schema, &|view: &ColumnView| !view.is_key),
        Some("where") => !selects_column(query, schema, &|view: &ColumnView| {
            view.required
                .iter()
                .any(|stem| lexicon::PLACES.iter().any(|place| words::stem(place) == *stem))
        }),
        Some("when") => !selects_column(query, schema, &|view: &ColumnView| {
            view.holds == Holds::Time
                || view
                    .required
                    .iter()
                    .any(|stem| lexicon::TIME_WORDS.iter().any(|time| words::stem(time) == *stem))
        }),
        _ => false,
    }
}

/// Returns true if a table that is named beside something else that is asked for has no column
/// among the selected ones: `the makers and models`.
fn is_left_out(named: &Named, reading: &Reading, query: &LogicalQuery, schema: &Schema) -> bool {
    let before = named.item.checked_sub(1).map(|before| &reading.items[before]);
    let joined = before.is_some_and(|before| {
        matches!(before.what, What::Cue(Cue::And))
            && before.to + 1 >= reading.items[named.item].from
    });
    let labels = &schema.tables[named.table].labels;
    let is_own = |at: &ColumnRef| at.table == named.table && labels.contains(&at.column);
    let is_selected = query.select.iter().any(|item| match item {
        Expression::Column(at) | Expression::CountDistinct(at) => is_own(at),
        Expression::AllColumns(_) | Expression::CountRows => true,
        Expression::Aggregate(..) | Expression::Length(_) | Expression::Share(_) => false,
    });
    joined && named.head && named.negated.is_none() && !is_selected
}

/// Returns true if one negation reaches conditions on several columns, of which it may mean the
/// first alone: customers who are not from Germany are consumers.
fn spreads_negation(draft: &Draft) -> bool {
    draft.filters.iter().enumerate().any(|(at, filter)| {
        draft.filters[..at].iter().any(|other| {
            let is_same = filter.negated.is_some() && filter.negated == other.negated;
            is_same && filter.condition.column != other.condition.column
        })
    })
}

/// Returns true if rows may have one or the other of two values of a column, although the question
/// joins these by no word and no comma: delivered orders that were cancelled.
fn joins_values_unasked(reading: &Reading, draft: &Draft) -> bool {
    let joins = |from: usize, to: usize| {
        let between = reading.items.get(from..to).unwrap_or_default();
        between.iter().any(|item| matches!(item.what, What::Cue(Cue::And | Cue::Or | Cue::Comma)))
    };
    fn is_value(condition: &Condition) -> bool {
        condition.operator == Operator::Equal && condition.field.is_none()
    }
    let values = || draft.filters.iter().filter(|filter| is_value(&filter.condition));
    values().any(|filter| {
        values().any(|other| {
            let is_same = filter.condition.column == other.condition.column;
            is_same && filter.item < other.item && !joins(filter.item, other.item)
        })
    })
}

/// Returns true if a column is selected of a table that the question does not name and to which
/// several joins lead, although a named table has a column of that name: the countries with
/// customers are not those of suppliers.
fn selects_from_afar(reading: &Reading, query: &LogicalQuery, schema: &Schema) -> bool {
    let named: Vec<usize> = reading
        .items
        .iter()
        .filter_map(|item| match item.what {
            What::Table(table) => Some(table),
            _ => None,
        })
        .collect();
    query.select.iter().filter_map(Expression::column).any(|at| {
        let name = &schema.column(at).name;
        !named.contains(&at.table)
            && named.iter().any(|table| {
                let mut columns = schema.tables[*table].columns.iter();
                let is_far = joins::tree(schema, &[at.table, *table], &|_| 0.0)
                    .is_some_and(|tree| tree.len() > 2);
                is_far && columns.any(|column| column.name.eq_ignore_ascii_case(name))
            })
    })
}

/// Returns true if the fewest rows come first: joining drops what has none.
fn ranks_fewest(query: &LogicalQuery) -> bool {
    let is_least = matches!(
        query.order.first(),
        Some((Expression::CountRows | Expression::CountDistinct(_), false))
    );
    is_least && query.limit.is_some() && !query.group.is_empty() && query.all_tables().len() > 1
}

/// Returns true if `by` stands before a table that is joined for nothing: `books by author`.
fn is_idle_group(named: &Named, reading: &Reading, query: &LogicalQuery) -> bool {
    let before = reading.items[named.item].from.checked_sub(1);
    let is_by = before.is_some_and(|before| reading.tokens[before].lower == "by");
    is_by && named.negated.is_none() && query.all_tables().len() > 1 && !query.uses(named.table)
}

/// Returns true if several rows come first by a column of another table that repeats them: the
/// first three members by fine may be one member.
fn ranks_repeated_rows(query: &LogicalQuery, schema: &Schema) -> bool {
    let Some((Expression::Column(by), _)) = query.order.first() else { return false };
    let tables = query.all_tables();
    query.group.is_empty()
        && query.limit.is_some_and(|limit| limit > 1)
        && query.select.iter().all(|item: &Expression| {
            item.column().is_some_and(|at| {
                at.table != by.table && joins::repeats_rows(schema, &tables, at.table, &|_| 0.0)
            })
        })
}

/// A factor for a condition that compares what cannot be compared.
fn sense(condition: &Condition, schema: &Schema) -> f64 {
    let holds = schema.column(condition.column).holds;
    let is_order = matches!(
        condition.operator,
        Operator::Greater | Operator::AtLeast | Operator::Less | Operator::AtMost
    );
    match &condition.operand {
        // Greater than the average of another column.
        Operand::Query(query) => match query.select.as_slice() {
            [Expression::Aggregate(_, of)] if *of != condition.column => 0.4,
            _ => 1.0,
        },
        Operand::Number(_) if holds == Holds::Text && is_order => 0.4,
        Operand::Number(_) if holds == Holds::Text => 0.8,
        _ => 1.0,
    }
}

/// The reasons for which the statement may as well be wrong as right, however well the words match.
pub(crate) fn list_doubts(
    schema: &Schema,
    reading: &Reading,
    draft: &Draft,
    query: &LogicalQuery,
) -> Vec<String> {
    let mut doubts: Vec<String> = Vec::new();
    doubts.extend(find_lost_in_negation(reading, draft, query));
    doubts.extend(find_single_rows(schema, query));
    doubts.extend(draft.filters.iter().find_map(|filter| find_part(schema, reading, filter)));
    doubts.extend(draft.filters.iter().find_map(|filter| {
        let column = filter.condition.column;
        compares_cents(&filter.condition, reading, schema).then(|| {
            format!("{} holds cents, and the number may be of another unit", schema.path(column))
        })
    }));
    doubts
}

/// The doubt about rows that are excluded although a word behind the negation is in no condition of
/// theirs: the `cancel` of `did not cancel an order`, the `grade` of `no grade in this course`.
fn find_lost_in_negation(reading: &Reading, draft: &Draft, query: &LogicalQuery) -> Option<String> {
    let negation = reading.items[draft.not?].to;
    if !query.conditions().any(|condition| condition.operator == Operator::NotIn) {
        return None;
    }
    let unknown = reading.unknown.iter().find(|at| **at >= negation);
    let unread = draft.asked.iter().find(|asked| {
        let is_behind = reading.items[asked.item].from >= negation;
        is_behind && asked.expression.column().is_some_and(|column| !query.names(column))
    });
    let lost = unknown
        .map(|at| reading.tokens[*at].text.clone())
        .or_else(|| Some(reading.text(&reading.items[unread?.item])))?;
    Some(format!("`{lost}` behind the negation is in no condition"))
}

/// The doubt about an aggregate of the numbers of each row by themselves: `average goals per match`
/// of a table of matches.
fn find_single_rows(schema: &Schema, query: &LogicalQuery) -> Option<String> {
    let [key] = query.group.as_slice() else { return None };
    let table = &schema.tables[key.table];
    let is_single = table.key == Some(key.column)
        && query.all_tables() == [key.table]
        && query.select.iter().any(|item| matches!(item, Expression::Aggregate(..)));
    is_single.then(|| format!("each group is one row of {}, with nothing to aggregate", table.name))
}

/// The doubt about rows that are to belong to a row of their own table, and of which that row is
/// taken: the `departments that belong to Engineering` are not Engineering.
fn find_part(schema: &Schema, reading: &Reading, filter: &Filter) -> Option<String> {
    const PARTS: &[&str] =
        &["belong", "belonging", "belongs", "below", "inside", "part", "under", "within"];
    let at = filter.condition.column;
    let cell = reading.items.get(filter.item)?;
    let mut before = reading.items[..filter.item].iter().rev();
    let table = before.find(|item| !matches!(item.what, What::Cue(_)))?;
    let is_own = table.what == What::Table(at.table)
        && matches!(cell.what, What::Cell(_))
        && schema.tables[at.table].labels.contains(&at.column);
    let is_plural = looks_plural(&reading.tokens[table.to - 1].lower);
    let between = reading.tokens.get(table.to..cell.from).unwrap_or_default();
    let is_part = between.iter().any(|token| {
        let word = token.lower.as_str();
        PARTS.contains(&word) || (is_plural && matches!(word, "in" | "of"))
    });
    (is_own && is_part).then(|| {
        format!("`{}` is a row of {} itself", reading.text(cell), schema.tables[at.table].name)
    })
}

/// Returns true if a number is compared with a column of cents, and the question speaks of none:
/// `cheaper than 20`.
fn compares_cents(condition: &Condition, reading: &Reading, schema: &Schema) -> bool {
    fn is_cent(stem: &str) -> bool {
        matches!(stem, "cent" | "penc" | "pennies" | "penni")
    }
    let is_number = matches!(condition.operand, Operand::Number(_) | Operand::Range(..));
    is_number
        && schema.column(condition.column).required.iter().any(|stem| is_cent(stem))
        && !reading.tokens.iter().any(|token| is_cent(&token.stem))
}

/// Returns true if `every` means all rows of another table (`who visited every museum`), which a
/// join does not express.
fn claims_all(draft: &Draft, query: &LogicalQuery) -> bool {
    let main = query.all_tables().first().copied();
    query.group.is_empty()
        && draft
            .keys
            .iter()
            .any(|key: &Key| matches!(key, Key::Table(table) if Some(*table) != main))
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    if count == 0 { 1.0 } else { sum / f64::from(count) }
}

#[cfg(test)]
mod tests {
    use syrch_core::Catalog;

    use crate::fixture::{self, block_on};
    use crate::interpret::interpret;

    fn sure(question: &str) -> f64 {
        sure_of(question, &fixture::library())
    }

    fn sure_of(question: &str, catalog: &Catalog) -> f64 {
        let cells = fixture::cells();
        let found = block_on(interpret(question, catalog, Some(cells.as_ref())));
        found.list.first().map_or(0.0, |best| best.confidence)
    }

    #[test]
    fn it_is_high_when_every_word_is_accounted_for() {
        for question in [
            "How many members are there?",
            "List the title and pages of all books.",
            "Which books were never loaned?",
            "Return only the names of members.",
        ] {
            assert!(sure(question) > 0.9, "{question}: {}", sure(question));
        }
    }

    #[test]
    fn it_falls_with_every_word_that_is_not_understood() {
        let asked = [
            "Show the names of members",
            "Show the names of zealous members",
            "Show the names of zealous tardy members",
        ];
        let sure = asked.map(sure);
        assert!(sure[0] > sure[1] && sure[1] > sure[2], "{sure:?}");
    }

    #[test]
    fn it_falls_when_a_quantifier_was_not_expressed() {
        for (plain, quantified) in [
            ("Which members loaned books?", "Which members loaned every book?"),
            ("Which members loaned books?", "Which members loaned only books?"),
            ("Which members have at least 2 loans?", "Which members have at most 2 loans?"),
            ("Which member is the oldest?", "Which member is the second oldest?"),
        ] {
            let (sure, unsure) = (sure(plain), sure(quantified));
            assert!(unsure < 0.85 * sure, "{plain} {sure}; {quantified} {unsure}");
        }
    }

    #[test]
    fn a_lost_negation_is_below_what_is_answered() {
        for question in ["Which members are not members?", "Which book titles never sleep?"] {
            assert!(sure(question) < 0.35, "{question}: {}", sure(question));
        }
    }

    #[test]
    fn a_negation_of_two_conditions_and_two_values_of_one_column_are_doubtful() {
        for (plain, other) in [
            (
                "How many members not from Oslo are there?",
                "How many members not from Oslo are older than 30?",
            ),
            (
                "How many members from Oslo or Bergen are there?",
                "How many members from Oslo are from Bergen?",
            ),
        ] {
            let unsure = sure(other);
            let sure = sure(plain);
            assert!(sure > 0.5 && unsure < 0.5, "{plain} {sure}; {other} {unsure}");
        }
    }

    #[test]
    fn it_falls_when_a_comparison_found_nothing_to_compare_with() {
        let plain = sure("List the age of members");
        let compared = sure("List the age of members younger than their friends");
        assert!(compared < 0.5 * plain, "{compared} {plain}");
    }

    #[test]
    fn a_state_that_is_selected_as_it_is_was_meant_as_a_condition() {
        let mut catalog = fixture::library();
        let pages =
            catalog.tables[1].columns.iter_mut().find(|column| column.name == "pages").unwrap();
        pages.name = "discontinued".to_owned();
        for question in [
            "Which books are discontinued?",
            "List the discontinued books",
            "How many discontinued books are there?",
        ] {
            assert!(
                sure_of(question, &catalog) < 0.6,
                "{question}: {}",
                sure_of(question, &catalog)
            );
        }
    }

    #[test]
    fn every_as_another_word_for_all_costs_nothing() {
        assert!(sure("What is the age of every member?") > 0.9);
    }
}
