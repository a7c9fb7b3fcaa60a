//! The interpretations of a question, the likeliest first.

use syrch_core::ports::CellIndex;
use syrch_core::{Catalog, text};

use super::assemble::Assembler;
use super::calendar;
use super::confidence;
use super::cues::Cue;
use super::draft::Draft;
use super::items::{self, Reading, What};
use super::joins;
use super::lexicon;
use super::query::LogicalQuery;
use super::resolve::{Choice, Ranks, Resolver};
use super::samples::{self, Samples};
use super::schema::{ColumnRef, Edge, Holds, Schema};
use super::shapes;
use super::writer::Writer;
use super::{account, daytexts, fragment, imperative, periods, roles, values, walk, words};

/// The words that are read at most: longer questions are never understood, and the work is bounded.
const WORDS: usize = 300;
/// The confidence in the statement of an imperative.
const SURE: f64 = 0.99;
/// The confidence in the statement of a whole question of a known form.
const FORMED: f64 = 0.85;
/// The highest confidence where another table or another join is as likely.
const OPEN: f64 = 0.5;
/// The lead of a cell over one of another table by which it is clearly the one that is meant.
const LEAD: f64 = 0.05;
/// The alternative choices that are tried at most.
const CHOICES: usize = 24;

/// One way to read the question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Interpretation {
    pub(crate) sql: String,
    /// The probability that the interpretation is right, 0 to 1, by how much of the question it
    /// accounts for.
    pub(crate) confidence: f64,
    /// The reasons for which it may as well be wrong, in words.
    pub(crate) doubts: Vec<String>,
}

impl Interpretation {
    fn sure(sql: String, confidence: f64) -> Self {
        Self { sql, confidence, doubts: Vec::new() }
    }
}

/// The result of reading a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Interpretations {
    /// Different statements, the likeliest first; empty if none can be made.
    pub(crate) list: Vec<Interpretation>,
    /// Words that no statement uses.
    pub(crate) unknown: Vec<String>,
    /// The reason why the question cannot be answered in this form, however well its words are
    /// understood.
    pub(crate) objection: Option<String>,
}

/// Reads a question over a catalog.
pub(crate) async fn interpret(
    question: &str,
    catalog: &Catalog,
    index: Option<&dyn CellIndex>,
) -> Interpretations {
    let mut schema = Schema::new(catalog);
    let mut tokens = words::tokens(question);
    tokens.truncate(WORDS);
    let found = match index {
        Some(index) => values::find(question, &tokens, &schema, index).await,
        None => Vec::new(),
    };
    let mut reading = items::read(tokens, &schema, found);
    let mut known = Samples::new(index);
    reading.flags = samples::flags(&schema, &reading, &mut known).await;
    for at in samples::days(&schema, &reading, &mut known).await {
        schema.tables[at.table].columns[at.column].holds = Holds::Time;
    }
    let (reading, several) = choose_tables(&schema, reading);
    let bias = |edge: &Edge| bias(&schema, &reading, edge);
    let ranks = Ranks::new(&schema, &reading);
    if let Some(sql) = imperative::statement(&schema, &reading) {
        let list = vec![Interpretation::sure(sql, SURE)];
        return Interpretations { list, unknown: Vec::new(), objection: None };
    }
    let mut objection = fragment::is_part(&reading.tokens).then(|| fragment::WHY.to_owned());
    objection = objection
        .or(several)
        .or_else(|| find_no_time(&reading))
        .or_else(|| find_two_roles(&schema, &reading));
    let mut list: Vec<Interpretation> = Vec::new();
    let mut dropped: Vec<String> = Vec::new();
    let fillers = match index {
        Some(index) => values::find_fillers(&reading, &schema, index).await,
        None => Vec::new(),
    };
    for (rank, choice) in choices(&reading).into_iter().enumerate() {
        let resolver = Resolver::new(&schema, &reading, &ranks, choice);
        let mut draft = walk::walk(&schema, &reading, &resolver);
        samples::read_yes(&schema, &reading, &mut draft, &mut known).await;
        if rank == 0 {
            let is_part =
                reading.unknown.is_empty() && fragment::asks_nothing(&reading.tokens, &draft);
            objection = objection
                .or_else(|| ask_for_measure(&schema, &reading, &draft))
                .or_else(|| ask_for_table(&schema, &reading, &resolver))
                .or_else(|| is_part.then(|| fragment::WHY.to_owned()));
        }
        let assembler = Assembler {
            schema: &schema,
            reading: &reading,
            resolver: &resolver,
            choice,
            bias: &bias,
        };
        let Some(mut query) = assembler.query(&draft) else { continue };
        if samples::lists_category(&schema, &reading, &draft, &query, &mut known).await {
            query.distinct = !choice.distinct;
        }
        if !account::is_sound(&schema, &draft, &query) {
            continue;
        }
        if !daytexts::are_days(&schema, &query, &mut known).await {
            continue;
        }
        let mut words = account::find_dropped_words(&schema, &reading, &draft, &query);
        let references = reading.references.iter();
        let unused = references.filter(|at| !is_joined_by(&schema, &query, &bias, **at));
        words.extend(unused.map(|at| schema.path(*at)));
        let cells = fillers.iter().filter(|cell| query.reads(cell.column.table));
        words.extend(cells.map(|cell| reading.tokens[cell.from].text.clone()));
        if !words.is_empty() || draft.unmet > 0 {
            dropped.extend(words);
            continue;
        }
        let Some(sql) = (Writer { schema: &schema, bias: &bias }).text(&query) else { continue };
        if list.iter().any(|other| other.sql == sql) {
            continue;
        }
        let sure = confidence::estimate(&schema, &reading, &resolver, &draft, &query);
        // Every other choice lowers the confidence, the more the clearer the likeliest one is.
        let discount = if rank == 0 {
            1.0
        } else {
            0.75 - 0.3 * choice.item.map_or(0.3, |(item, _)| resolver.margin(item))
        };
        let doubt = doubt_values(&schema, &reading, &draft, &query, &mut known).await;
        let mut doubts = confidence::list_doubts(&schema, &reading, &draft, &query);
        doubts.extend(find_rival_ways(&schema, &query, &bias));
        doubts.extend(find_rival_cells(&schema, &reading, &resolver, &draft));
        doubts.extend(find_far_join(&schema, &query, &bias));
        doubts.extend(samples::find_other_unit(&schema, &query, &mut known).await);
        let most = if doubts.is_empty() { 1.0 } else { OPEN };
        let confidence = (sure * discount * doubt).min(most);
        list.push(Interpretation { sql, confidence, doubts });
    }
    // The likeliest choice stays first, whatever the others' confidence.
    if let Some((_, rest)) = list.split_first_mut() {
        rest.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    }
    // A whole question of a known form says more than its words one by one.
    if objection.is_none()
        && let Some(formed) =
            periods::read(&schema, &reading, &Writer { schema: &schema, bias: &bias })
        && daytexts::are_days(&schema, &formed.rests_on, &mut known).await
    {
        let list = vec![Interpretation::sure(formed.sql, FORMED)];
        return Interpretations { list, unknown: Vec::new(), objection: None };
    }
    let mut unknown: Vec<String> =
        reading.unknown.iter().map(|at| reading.tokens[*at].text.clone()).collect();
    if list.is_empty() {
        unknown.extend(dropped);
    }
    Interpretations { list, unknown, objection }
}

/// The doubt about a query of which, or within which, tables are joined in one of several ways that
/// are equally near: by the address of the bill or of the delivery.
fn find_rival_ways(
    schema: &Schema,
    query: &LogicalQuery,
    bias: &(dyn Fn(&Edge) -> f64 + Sync),
) -> Option<String> {
    let Some(rival) = joins::find_rival(schema, &query.all_tables(), bias) else {
        return query.inner().find_map(|inner| find_rival_ways(schema, inner, bias));
    };
    let [one, other] =
        rival.map(|edge| [edge.left, edge.right].map(|at| schema.path(at)).join(" = "));
    Some(format!("the tables may as well be joined by {other} as by {one}"))
}

/// The doubt about a cell that is as well one of another table, where the question names neither
/// the table nor the column: the `Spain` of `orders to Spain` may be where the customers are or the
/// addresses.
fn find_rival_cells(
    schema: &Schema,
    reading: &Reading,
    resolver: &Resolver<'_>,
    draft: &Draft,
) -> Option<String> {
    draft.filters.iter().find_map(|filter| {
        let meant = filter.condition.column;
        let item = reading.items.get(filter.item)?;
        let What::Cell(cells) = &item.what else { return None };
        let is_named = reading.items.iter().any(|item| match &item.what {
            What::Table(table) => *table == meant.table,
            What::Column(columns) => columns.iter().any(|(column, _)| *column == meant),
            _ => false,
        });
        // What refers to the column has the same values.
        let other = cells.iter().find(|cell| {
            let is_same = schema.edges_of(meant.table).any(|edge| {
                [(edge.left, edge.right), (edge.right, edge.left)].contains(&(meant, cell.column))
            });
            cell.column.table != meant.table && !is_same
        })?;
        (!is_named && resolver.margin(filter.item) < LEAD).then(|| {
            let [one, other] = [meant, other.column].map(|at| schema.path(at));
            format!("`{}` may be a value of {one} or of {other}", reading.text(item))
        })
    })
}

/// The doubt about tables that are joined through several others, of which the question says
/// nothing.
fn find_far_join(
    schema: &Schema,
    query: &LogicalQuery,
    bias: &(dyn Fn(&Edge) -> f64 + Sync),
) -> Option<String> {
    /// The number of such tables.
    const FAR: usize = 3;
    let tables = query.all_tables();
    let tree = joins::tree(schema, &tables, bias)?;
    let between: Vec<&str> = tree
        .iter()
        .filter(|(table, _)| !tables.contains(table))
        .map(|(table, _)| schema.tables[*table].name.as_str())
        .collect();
    (between.len() >= FAR).then(|| format!("the tables are joined through {}", between.join(", ")))
}

/// The factor by which what the columns hold lowers the confidence.
async fn doubt_values(
    schema: &Schema,
    reading: &Reading,
    draft: &Draft,
    query: &LogicalQuery,
    known: &mut Samples<'_>,
) -> f64 {
    let mut factor = 1.0;
    if samples::is_outside(schema, query, known).await {
        factor *= 0.6;
    }
    if samples::has_ties(schema, query, known).await {
        factor *= 0.75;
    }
    if shapes::lists_numbers(draft, reading, query, schema)
        && !samples::is_of_one_row(schema, query, known).await
    {
        // A number of each row is not how many there are.
        let counts = reading.items.iter().any(|item| item.what == What::Cue(Cue::Count));
        factor *= if counts { 0.5 } else { 0.75 };
    }
    if samples::counts_no_rows(schema, reading, query, known).await
        || samples::has_zeros(schema, query, known).await
    {
        factor *= 0.5;
    }
    if samples::is_repeated_name(schema, query, known).await {
        factor *= 0.75;
    }
    factor
}

/// The reading with the one table of several schemas that the question fits, and else the question
/// about it.
fn choose_tables(schema: &Schema, reading: Reading) -> (Reading, Option<String>) {
    let Some((at, rivals)) = same_names(schema, &reading) else { return (reading, None) };
    // A declared join speaks for its table.
    let readings = rivals.iter().map(|table| with_table(schema, &reading, *table));
    let mut fitting: Vec<(usize, Reading)> = readings
        .filter_map(|reading| Some((count_guessed_joins(schema, &reading)?, reading)))
        .collect();
    let least = fitting.iter().map(|(guessed, _)| *guessed).min();
    fitting.retain(|(guessed, _)| Some(*guessed) == least);
    if fitting.len() == 1
        && let Some((_, only)) = fitting.pop()
    {
        return (only, None);
    }
    let words = reading.text(&reading.items[at]);
    let names = rivals.iter().take(text::NAMED).map(|table| {
        let view = &schema.tables[*table];
        view.schema
            .as_ref()
            .map_or_else(|| view.name.clone(), |schema| format!("{schema}.{}", view.name))
    });
    let names: Vec<String> = names.collect();
    let several = format!("several tables have the name: {words} ({})", names.join(", "));
    (reading, Some(several))
}

/// The first item that may mean tables of one name in several schemas, and these tables.
fn same_names(schema: &Schema, reading: &Reading) -> Option<(usize, Vec<usize>)> {
    let decided = |table: &usize| reading.items.iter().any(|item| item.what == What::Table(*table));
    reading.items.iter().enumerate().find_map(|(at, item)| {
        let tables: Vec<usize> = match &item.what {
            What::Table(_) => item.rivals.clone(),
            What::Column(columns) => {
                let best = columns.first()?.1;
                columns
                    .iter()
                    .filter(|(_, score)| *score == best)
                    .map(|(column, _)| column.table)
                    .collect()
            }
            What::Cell(cells) => cells.iter().map(|cell| cell.column.table).collect(),
            _ => Vec::new(),
        };
        let first = *tables.first()?;
        let mut rivals: Vec<usize> = tables
            .iter()
            .copied()
            .filter(|table: &usize| {
                *table == first || schema.namesakes(first).any(|other| other == *table)
            })
            .collect();
        rivals.sort_unstable();
        rivals.dedup();
        let is_named = matches!(item.what, What::Table(_)) || !rivals.iter().any(decided);
        (rivals.len() > 1 && is_named).then_some((at, rivals))
    })
}

/// The reading in which a table is meant, and none of its name in another schema.
fn with_table(schema: &Schema, reading: &Reading, table: usize) -> Reading {
    fn is_namesake(schema: &Schema, table: usize, other: usize) -> bool {
        schema.namesakes(table).any(|namesake| namesake == other)
    }
    let mut reading = reading.clone();
    for item in &mut reading.items {
        match &mut item.what {
            What::Table(named) if is_namesake(schema, table, *named) => *named = table,
            What::Column(columns) if columns.iter().any(|(column, _)| column.table == table) => {
                columns.retain(|(column, _)| !is_namesake(schema, table, column.table));
            }
            What::Cell(cells) if cells.iter().any(|cell| cell.column.table == table) => {
                cells.retain(|cell| !is_namesake(schema, table, cell.column.table));
            }
            _ => {}
        }
    }
    reading
}

/// The number of joins of the likeliest choice that no key declares; `None` if it makes no
/// statement, or one that drops a word.
fn count_guessed_joins(schema: &Schema, reading: &Reading) -> Option<usize> {
    let bias = |edge: &Edge| bias(schema, reading, edge);
    let ranks = Ranks::new(schema, reading);
    let choice = Choice::default();
    let resolver = Resolver::new(schema, reading, &ranks, choice);
    let draft = walk::walk(schema, reading, &resolver);
    let assembler = Assembler { schema, reading, resolver: &resolver, choice, bias: &bias };
    let query = assembler.query(&draft)?;
    let tree = joins::tree(schema, &query.all_tables(), &bias)?;
    let is_read = draft.named.iter().all(|named| query.reads(named.table));
    let is_understood =
        is_read && draft.unmeasured.is_none() && is_accounted(schema, reading, &draft, &query);
    let guessed = tree.iter().filter(|(_, edge)| edge.is_some_and(|edge| !edge.declared)).count();
    is_understood.then_some(guessed)
}

/// Returns true if the query is sound and drops no word.
fn is_accounted(schema: &Schema, reading: &Reading, draft: &Draft, query: &LogicalQuery) -> bool {
    let dropped = account::find_dropped_words(schema, reading, draft, query);
    draft.unmet == 0 && dropped.is_empty() && account::is_sound(schema, draft, query)
}

/// The refusal of a time that is none: `2023-02-30`, `month 13`, `25:00`.
fn find_no_time(reading: &Reading) -> Option<String> {
    calendar::impossible_times(&reading.tokens).find_map(|(place, why)| {
        let is_name = reading.items.iter().any(|item| {
            let names = matches!(item.what, What::Table(_) | What::Column(_) | What::Cell(_));
            names && item.from < place.end && place.start < item.to
        });
        (!is_name).then_some(why)
    })
}

/// The question about columns of one name in several tables, of which nothing else in the question
/// names any: `how many cities are there`.
fn ask_for_table(schema: &Schema, reading: &Reading, resolver: &Resolver<'_>) -> Option<String> {
    let is_decided = reading.items.iter().any(|item| {
        matches!(item.what, What::Table(_) | What::Cell(_) | What::Date(_) | What::Months(..))
    });
    let mut columns = reading.items.iter().enumerate().filter_map(|(at, item)| match &item.what {
        What::Column(columns) => Some((at, item, columns)),
        _ => None,
    });
    let (at, item, columns) = columns.next().filter(|_| columns.next().is_none())?;
    let best = resolver.column(at)?;
    let score = columns.iter().find(|(column, _)| *column == best)?.1;
    let alike = columns.iter().filter(|(column, other)| {
        let view = schema.column(*column);
        *other == score && !view.is_key && view.required == schema.column(best).required
    });
    let names: Vec<String> =
        alike.map(|(column, _)| schema.path(*column)).take(text::NAMED).collect();
    (names.len() > 1 && !is_decided).then(|| {
        let words = reading.text(item);
        format!("several tables have the name: {words} ({})", names.join(", "))
    })
}

/// The question about a superlative without a measure, with its possible measures.
fn ask_for_measure(schema: &Schema, reading: &Reading, draft: &Draft) -> Option<String> {
    let open = draft.unmeasured?;
    let first = reading.items[open.item].from;
    let last = reading.items[open.to].to.max(reading.items[open.item].to);
    let words: Vec<&str> =
        reading.tokens[first..last].iter().map(|token| token.text.as_str()).collect();
    let words = words.join(" ");
    let own =
        schema.measures(open.table).map(|column| schema.column(column).name.replace('_', " "));
    let key = schema.tables[open.table].key;
    // To count the thing itself measures nothing, though its rows may refer to each other.
    let others = schema.edges.iter().filter(|edge| edge.left.table != edge.right.table);
    let of_it = others.filter_map(|edge| {
        let is_key = |at: ColumnRef| at.table == open.table && Some(at.column) == key;
        match (is_key(edge.left), is_key(edge.right)) {
            (true, false) => Some(edge.right.table),
            (false, true) => Some(edge.left.table),
            _ => None,
        }
    });
    let counts =
        of_it.map(|table| format!("number of {}", schema.tables[table].name.replace('_', " ")));
    let mut choices: Vec<String> = own.chain(counts).collect();
    choices.dedup();
    choices.truncate(text::NAMED);
    Some(format!("no measure for: {words} ({})", choices.join(", ")))
}

/// The likeliest choice, then those that differ in one open point.
fn choices(reading: &Reading) -> Vec<Choice> {
    let mut choices = vec![Choice::default()];
    for (at, item) in reading.items.iter().enumerate() {
        let others = match &item.what {
            What::Column(candidates) => candidates.len(),
            What::Cell(cells) => cells.len(),
            _ => 0,
        };
        choices.extend(
            (1..others.min(4)).map(|nth| Choice { item: Some((at, nth)), ..Choice::default() }),
        );
    }
    choices.truncate(CHOICES);
    choices.push(Choice { distinct: true, ..Choice::default() });
    choices.push(Choice { sets: true, ..Choice::default() });
    choices
}

/// The bias to one of several references between two tables: for its name, for words of the
/// question, such as `depart` for the source, or for a name that says no more than the table.
fn bias(schema: &Schema, reading: &Reading, edge: &Edge) -> f64 {
    fn stems<'a>(schema: &'a Schema, edge: &Edge) -> [&'a Vec<String>; 2] {
        [edge.left, edge.right].map(|at| &schema.column(at).required)
    }
    if !edge.rival {
        return 0.0;
    }
    if reading.references.iter().any(|at| [edge.left, edge.right].contains(at)) {
        return -0.4;
    }
    let rivals: Vec<&String> =
        schema.rivals(edge).flat_map(|other| stems(schema, other)).flatten().collect();
    let is_said = stems(schema, edge).into_iter().flatten().any(|stem| {
        let alike = |word: &str| {
            word == stem.as_str() || lexicon::synonyms(word).any(|other| other == stem.as_str())
        };
        !rivals.contains(&stem) && reading.tokens.iter().any(|token| alike(&token.stem))
    });
    match () {
        () if is_said => -0.2,
        () if roles::is_plain(schema, edge) => -0.1,
        () => 0.0,
    }
}

/// Returns true if the tables of the query, or of one within it, are joined by that reference.
fn is_joined_by(
    schema: &Schema,
    query: &LogicalQuery,
    bias: &(dyn Fn(&Edge) -> f64 + Sync),
    reference: ColumnRef,
) -> bool {
    let tree = joins::tree(schema, &query.all_tables(), bias).unwrap_or_default();
    let mut edges = tree.into_iter().filter_map(|(_, edge)| edge);
    edges.any(|edge| [edge.left, edge.right].contains(&reference))
        || query.inner().any(|inner| is_joined_by(schema, inner, bias, reference))
}

/// The refusal of a question for two references of one table to another: a statement joins one.
fn find_two_roles(schema: &Schema, reading: &Reading) -> Option<String> {
    fn tables(schema: &Schema, from: ColumnRef) -> [Option<usize>; 2] {
        let mut references = schema.edges_of(from.table).filter_map(|edge| schema.reference(edge));
        [Some(from.table), references.find(|(other, _)| *other == from).map(|(_, to)| to)]
    }
    let named = reading.references.iter().enumerate();
    let mut pairs = named
        .flat_map(|(at, one)| reading.references[at + 1..].iter().map(move |other| [*one, *other]));
    let [one, other] = pairs
        .find(|[one, other]| tables(schema, *one) == tables(schema, *other))?
        .map(|at| schema.path(at));
    Some(format!("the rules follow one of the references {one} and {other} at a time"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, block_on};

    fn best(question: &str) -> String {
        let cells = fixture::cells();
        let found = block_on(interpret(question, &fixture::library(), Some(cells.as_ref())));
        found.list.into_iter().next().map(|one| one.sql).unwrap_or_default()
    }

    #[test]
    fn questions_become_statements() {
        let expected = [
            ("How many members are there?", "SELECT COUNT(*) FROM member".to_owned()),
            ("List the title and pages of all books.", "SELECT title, pages FROM book".to_owned()),
            (
                "What are the different genres of books?",
                "SELECT DISTINCT genre FROM book".to_owned(),
            ),
            (
                "How many different genres are there?",
                "SELECT COUNT(DISTINCT genre) FROM book".to_owned(),
            ),
            (
                "What is the average and maximum age of members?",
                "SELECT AVG(age), MAX(age) FROM member".to_owned(),
            ),
            (
                "Show the names of members older than 30.",
                "SELECT name FROM member WHERE age > 30".to_owned(),
            ),
            (
                "Which authors are not from Japan?",
                "SELECT name FROM author WHERE country <> 'Japan'".to_owned(),
            ),
            (
                "What is the name of the oldest member?",
                "SELECT name FROM member ORDER BY age DESC LIMIT 1".to_owned(),
            ),
            (
                "Give the title of the book with the most pages",
                "SELECT title FROM book ORDER BY pages DESC LIMIT 1".to_owned(),
            ),
            (
                "Names of members from Oslo or Bergen",
                "SELECT name FROM member WHERE (city = 'Oslo' OR city = 'Bergen')".to_owned(),
            ),
            (
                "How many members live in each city?",
                "SELECT city, COUNT(*) FROM member GROUP BY city".to_owned(),
            ),
            (
                "List the names of French authors in alphabetical order",
                "SELECT name FROM author WHERE country = 'France' ORDER BY name".to_owned(),
            ),
            (
                "Names of members in reverse alphabetical order",
                "SELECT name FROM member ORDER BY name DESC".to_owned(),
            ),
            (
                "Titles of books, oldest first",
                "SELECT title FROM book ORDER BY published".to_owned(),
            ),
            (
                "Titles of books in order of pages, descending",
                "SELECT title FROM book ORDER BY pages DESC".to_owned(),
            ),
            (
                "Which members have an age below -5?",
                "SELECT name FROM member WHERE age < -5".to_owned(),
            ),
            ("members with age >= 30", "SELECT name FROM member WHERE age >= 30".to_owned()),
            (
                "Which books have more than 1.2 thousand pages?",
                "SELECT title FROM book WHERE pages > 1200".to_owned(),
            ),
            (
                "Show the names of members whose name starts with A",
                "SELECT name FROM member WHERE name LIKE 'A%'".to_owned(),
            ),
            (
                "top 3 genres by number of books",
                "SELECT genre FROM book GROUP BY genre ORDER BY COUNT(*) DESC LIMIT 3".to_owned(),
            ),
            (
                "Who is the biggest member by age?",
                "SELECT name FROM member ORDER BY age DESC LIMIT 1".to_owned(),
            ),
            (
                "Which genre is the most common?",
                "SELECT genre FROM book GROUP BY genre ORDER BY COUNT(*) DESC LIMIT 1".to_owned(),
            ),
            (
                "Which genre is the most common among books?",
                "SELECT genre FROM book GROUP BY genre ORDER BY COUNT(*) DESC LIMIT 1".to_owned(),
            ),
            (
                "What group is the least common among all members?",
                "SELECT \"group\" FROM member GROUP BY \"group\" ORDER BY COUNT(*) LIMIT 1"
                    .to_owned(),
            ),
            (
                "Show titles of books whose title contains 'Shore'",
                "SELECT title FROM book WHERE title LIKE '%Shore%'".to_owned(),
            ),
            (
                "What are the names of members who have no loans?",
                format!(
                    "SELECT name FROM member WHERE member_id NOT IN (SELECT member.member_id \
                     FROM {})",
                    "member JOIN loan ON loan.member_id = member.member_id"
                ),
            ),
            (
                "Which books have between 100 and 200 pages?",
                "SELECT title FROM book WHERE pages BETWEEN 100 AND 200".to_owned(),
            ),
            (
                "Names of members whose age is above the average",
                "SELECT name FROM member WHERE age > (SELECT AVG(age) FROM member)".to_owned(),
            ),
            ("What is the total of days of all loans?", "SELECT SUM(days) FROM loan".to_owned()),
            ("What is the group of each member?", "SELECT \"group\" FROM member".to_owned()),
            (
                "How many loans does each member have?",
                "SELECT member.name, COUNT(*) FROM member \
                 JOIN loan ON loan.member_id = member.member_id GROUP BY member.member_id"
                    .to_owned(),
            ),
            (
                "Show the names of members with at least 3 loans",
                "SELECT member.name FROM member JOIN loan ON loan.member_id = member.member_id \
                 GROUP BY member.member_id HAVING COUNT(*) >= 3"
                    .to_owned(),
            ),
            (
                "Which titles did members from both Oslo and Bergen borrow?",
                "SELECT book.title FROM book JOIN loan ON loan.book_id = book.book_id \
                 JOIN member ON loan.member_id = member.member_id WHERE member.city = 'Oslo' \
                 INTERSECT SELECT book.title FROM book JOIN loan ON loan.book_id = book.book_id \
                 JOIN member ON loan.member_id = member.member_id WHERE member.city = 'Bergen'"
                    .to_owned(),
            ),
            (
                "How many books were published between 2001 and 2009?",
                "SELECT COUNT(*) FROM book WHERE CAST(strftime('%Y', published) AS INTEGER) \
                 BETWEEN 2001 AND 2009"
                    .to_owned(),
            ),
            (
                "How many books were published after 2001?",
                "SELECT COUNT(*) FROM book WHERE CAST(strftime('%Y', published) AS INTEGER) > 2001"
                    .to_owned(),
            ),
        ];
        for (question, sql) in expected {
            assert_eq!(best(question), sql, "{question}");
        }
    }

    /// The best reading where the table of loans has another name.
    fn best_where(name: &str, question: &str) -> String {
        let mut catalog = fixture::library();
        catalog.tables[3].name = name.to_owned();
        let cells = fixture::cells();
        let found = block_on(interpret(question, &catalog, Some(cells.as_ref())));
        found.list.into_iter().next().map(|one| one.sql).unwrap_or_default()
    }

    fn none_in(table: &str) -> String {
        format!(
            "SELECT title FROM book WHERE book_id NOT IN (SELECT book.book_id FROM book \
             JOIN {table} ON {table}.book_id = book.book_id)"
        )
    }

    #[test]
    fn the_verb_of_a_table_denied_excludes_its_rows() {
        for question in [
            "Which books were never loaned?",
            "Which books did nobody loan?",
            "Which books haven't been loaned?",
            "Which books haven’t been loaned?",
            "Books that no one loaned",
            "Which books are without any loans?",
            "Which books have no loan?",
        ] {
            assert_eq!(best(question), none_in("loan"), "{question}");
        }
    }

    #[test]
    fn a_superlative_says_what_it_measures_or_the_user_is_asked() {
        let found = block_on(interpret("Who is the biggest member?", &fixture::library(), None));
        let objection = found.objection.unwrap();
        assert!(
            objection.starts_with("no measure for: biggest member (age, group, number of loan"),
            "{objection}"
        );
        let popular = block_on(interpret("most popular book", &fixture::library(), None)).objection;
        assert!(popular.is_some_and(|why| why.contains("number of loan")));
        for question in [
            "Which member has the most loans?",
            "Which book is the longest?",
            "What is the highest age?",
        ] {
            assert_eq!(
                block_on(interpret(question, &fixture::library(), None)).objection,
                None,
                "{question}"
            );
        }
    }

    #[test]
    fn ordering_things_is_not_ordering_rows() {
        assert_eq!(best_where("orders", "Which books were never ordered?"), none_in("orders"));
        assert_eq!(
            best_where("orders", "List the titles of books ordered by pages"),
            "SELECT title FROM book ORDER BY pages"
        );
        let joined = "SELECT book.title FROM book JOIN orders ON orders.book_id = book.book_id \
                      JOIN member ON orders.member_id = member.member_id \
                      WHERE member.city = 'Oslo' GROUP BY book.book_id";
        assert_eq!(best_where("orders", "Which books were ordered by members from Oslo?"), joined);
    }

    #[test]
    fn what_is_lacking_is_null_or_where_it_cannot_be_nothing() {
        for question in [
            "Which members have no city?",
            "Members without a city",
            "Which members don't have a city?",
        ] {
            assert_eq!(best(question), "SELECT name FROM member WHERE city IS NULL", "{question}");
        }
        let mut catalog = fixture::library();
        catalog
            .tables
            .iter_mut()
            .flat_map(|table| &mut table.columns)
            .for_each(|column| column.nullable = false);
        fn sql(catalog: &Catalog, question: &str) -> String {
            block_on(interpret(question, catalog, None)).list.remove(0).sql
        }
        assert_eq!(
            sql(&catalog, "Which books have no pages?"),
            "SELECT title FROM book WHERE pages = 0"
        );
        assert_eq!(
            sql(&catalog, "Which books have no genre?"),
            "SELECT title FROM book WHERE genre = ''"
        );
        // The words that follow name the city, so nothing is missing.
        assert_eq!(
            best("Which members do not have the city Oslo?"),
            "SELECT name FROM member WHERE city <> 'Oslo'"
        );
    }

    #[test]
    fn a_denial_of_alternatives_denies_each() {
        for question in
            ["Which members are not from Oslo or Bergen?", "Members from neither Oslo nor Bergen"]
        {
            assert_eq!(
                best(question),
                "SELECT name FROM member WHERE city <> 'Oslo' AND city <> 'Bergen'",
                "{question}"
            );
        }
        let inside = best("Which books have no members from Oslo or Bergen?");
        assert!(
            inside.ends_with("WHERE (member.city = 'Oslo' OR member.city = 'Bergen'))"),
            "{inside}"
        );
    }

    #[test]
    fn a_denial_ends_with_its_clause() {
        let sql = best("Which members are not from Oslo and are older than 30?");
        assert_eq!(sql, "SELECT name FROM member WHERE city <> 'Oslo' AND age > 30");
        let sql = best("Which books have loans but are not about Crime?");
        assert!(
            sql.contains("JOIN loan")
                && sql.ends_with("WHERE book.genre <> 'Crime' GROUP BY book.book_id"),
            "{sql}"
        );
    }

    #[test]
    fn each_denial_excludes_for_itself() {
        let sql = best_where("orders", "Which members have no orders and no books?");
        assert_eq!(sql.matches("NOT IN").count(), 2, "{sql}");
    }

    #[test]
    fn numbers_and_years_are_denied() {
        let year = "CAST(strftime('%Y', published) AS INTEGER)";
        assert_eq!(
            best("Which books were not published in 2001?"),
            format!("SELECT title FROM book WHERE ({year} <> 2001 OR published IS NULL)")
        );
        let range = best("Which books were not published between 2001 and 2009?");
        let outside = format!("{year} NOT BETWEEN 2001 AND 2009");
        assert_eq!(range, format!("SELECT title FROM book WHERE ({outside} OR published IS NULL)"));
        // Where each row has a date, none is missed.
        let mut library = fixture::library();
        library.tables[1].columns[4].nullable = false;
        let dated = fixture::best("Which books were not published in 2001?", &library).0;
        assert_eq!(dated, format!("SELECT title FROM book WHERE {year} <> 2001"));
    }

    #[test]
    fn a_second_comparison_is_of_the_same_column() {
        let sql = best("Which members have an age above 30 but below 50?");
        assert_eq!(sql, "SELECT name FROM member WHERE age > 30 AND age < 50");
    }

    #[test]
    fn an_exact_count_of_rows_is_a_condition_on_groups() {
        assert!(
            best("List members with exactly 3 loans")
                .ends_with("GROUP BY member.member_id HAVING COUNT(*) = 3")
        );
    }

    #[test]
    fn who_are_asks_for_those_named_next() {
        let sql = best("Who are the members whose city is not Oslo?");
        assert_eq!(sql, "SELECT name FROM member WHERE city <> 'Oslo'");
    }

    #[test]
    fn values_of_both_years_are_an_intersection() {
        let found = block_on(interpret(
            "Which authors have books published in both 2001 and 2009?",
            &fixture::library(),
            None,
        ));
        assert!(found.list[0].sql.contains(" INTERSECT "), "{:#?}", found.list);
    }
}
