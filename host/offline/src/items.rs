//! The question as a sequence of items: cues, tables, columns, cells, numbers and texts.

use super::calendar;
use super::cues::{self, Cue};
use super::found::Found;
use super::lexicon;
use super::link::{self, Mention};
use super::roles;
use super::schema::{ColumnRef, Holds, Schema};
use super::token::is_stop;
use super::values;
use super::words::{self, Kind, Token};

/// The kind of an item.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    Cue(Cue),
    Table(usize),
    Column(Vec<(ColumnRef, f64)>),
    Cell(Vec<Found>),
    Number(String),
    /// A quoted text that is no cell, or the word after `contains`.
    Text(String),
    Date(String),
    /// The first and the last of some months of a year.
    Months(u32, u32),
}

/// One item and the tokens it covers. `head` is whether it is in the part that asks for something,
/// not in a condition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) what: What,
    pub(crate) head: bool,
    /// The quality of the match between the words and the name.
    pub(crate) score: f64,
    /// The tables of that name in several schemas.
    pub(crate) rivals: Vec<usize>,
}

impl Item {
    fn new(from: usize, to: usize, what: What, score: f64) -> Self {
        Self { from, to, what, head: false, score, rivals: Vec::new() }
    }

    /// Returns true if the item names a table.
    pub(crate) fn is_table(&self) -> bool {
        matches!(self.what, What::Table(_))
    }
}

/// A question that was read: its words, its items, and the words that are in no item.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) tokens: Vec<Token>,
    pub(crate) items: Vec<Item>,
    /// Content words that no item covers.
    pub(crate) unknown: Vec<usize>,
    /// The columns of numbers among the items that hold 0 and 1 only.
    pub(crate) flags: Vec<ColumnRef>,
    /// The columns of the references that the question names, each one of several between two
    /// tables.
    pub(crate) references: Vec<ColumnRef>,
}

impl Reading {
    /// The words of an item.
    pub(crate) fn text(&self, item: &Item) -> String {
        let words: Vec<&str> =
            self.tokens[item.from..item.to].iter().map(|token| token.text.as_str()).collect();
        words.join(" ")
    }

    /// The table just before an item, with a preposition of a place between them: the hotels of
    /// `hotels in Paris`.
    pub(crate) fn table_of_place(&self, at: usize) -> Option<usize> {
        let from = self.items.get(at)?.from;
        let mut before = self.items[..at].iter().rev();
        let item = before.find(|item| !matches!(item.what, What::Cue(Cue::Trigger)))?;
        let What::Table(table) = item.what else { return None };
        let [word] = self.tokens.get(item.to..from)? else { return None };
        matches!(word.lower.as_str(), "at" | "from" | "in").then_some(table)
    }

    /// Returns true if the item describes the rows of the table named after it.
    pub(crate) fn describes(&self, at: usize) -> bool {
        describes(&self.tokens, &self.items, at)
    }

    /// Returns true if one of the items has the token at this place.
    pub(crate) fn is_in_item(&self, at: usize) -> bool {
        self.items.iter().any(|item| (item.from..item.to).contains(&at))
    }
}

pub(crate) fn read(tokens: Vec<Token>, schema: &Schema, found: Vec<Found>) -> Reading {
    let mut mentions = find_mentions(&tokens, schema, found);
    let references = roles::read_roles(&tokens, schema, &mut mentions);
    let mut taken = vec![false; tokens.len()];
    for mention in &mentions {
        taken[mention.from..mention.to].fill(true);
    }
    let named = narrow_to_named_schemas(&tokens, schema, &mut mentions, &mut taken);
    let mut items: Vec<Item> = Vec::new();
    for at in rows(&tokens, &taken) {
        let mut tables = mentions.iter().filter(|mention| mention.table_score() > 0.9);
        let named =
            tables.next().filter(|_| tables.next().is_none()).map(|mention| mention.tables[0].0);
        let table = if schema.tables.len() == 1 { Some(0) } else { named };
        if let Some(table) = table {
            items.push(Item::new(at, at + 1, What::Table(table), 1.0));
            taken[at] = true;
        }
    }
    for (from, to) in find_reports_to(&tokens, &taken) {
        let columns: Vec<(ColumnRef, f64)> =
            schema.superiors().map(|column| (column, 0.9)).collect();
        if !columns.is_empty() {
            items.push(Item::new(from, to, What::Column(columns), 0.9));
            taken[from..to].fill(true);
        }
    }
    for at in cues::cues(&tokens, &taken) {
        items.push(Item::new(at.from, at.to, What::Cue(at.cue), 1.0));
        taken[at.from..at.to].fill(true);
    }
    // `out of stock` has none of it, and `out of Boston` comes from there.
    for item in &mut items {
        if item.what == What::Cue(Cue::Not)
            && tokens[item.from].lower == "out"
            && mentions.iter().any(|mention: &Mention| {
                mention.from == item.to && !mention.cells.is_empty() && mention.columns.is_empty()
            })
        {
            item.what = What::Cue(Cue::Trigger);
        }
    }
    let sought: Vec<usize> = items
        .iter()
        .filter(|item| matches!(item.what, What::Cue(Cue::Like(_))))
        .map(|item| item.to)
        .collect();
    add_mentions(&mut items, &tokens, schema, mentions, &sought);
    add_values(&mut items, &mut taken, &tokens, &sought);
    items.sort_by_key(|item| item.from);
    mark_heads(&tokens, &mut items);
    let unknown = (0..tokens.len())
        .filter(|at: &usize| {
            if named.contains(at) {
                return false;
            }
            let word = matches!(tokens[*at].kind, Kind::Word | Kind::Sign);
            let is_meant = !is_stop(&tokens[*at])
                || carries_meaning(&tokens, &items, *at)
                || values::is_letter(&tokens, *at, at + 1);
            word && !taken[*at] && is_meant
        })
        .collect();
    Reading { unknown, tokens, items, flags: Vec::new(), references }
}

/// Finds the names of tables, columns and cells among the words. Words that ask for something are
/// cues first; only whole names of several words may swallow them.
fn find_mentions(tokens: &[Token], schema: &Schema, found: Vec<Found>) -> Vec<Mention> {
    let alone = cues::cues(tokens, &vec![false; tokens.len()]);
    let cue_at = |at: usize| {
        alone.iter().any(|cue| {
            (cue.from..cue.to).contains(&at)
                && !matches!(cue.cue, Cue::Trigger | Cue::Request | Cue::Share(_))
        })
    };
    let mut mentions = link::link(tokens, schema, found);
    mentions.retain(|mention| {
        let cued = (mention.from..mention.to).filter(|at| cue_at(*at)).count();
        let whole = mention.words > 1 && mention.table_score().max(mention.column_score()) > 0.78;
        // A cell that is one such word, as `average`, must be quoted to be meant.
        let cell = !mention.cells.is_empty()
            && (mention.words > 1 || tokens[mention.from].kind == Kind::Quoted);
        cued == 0 || whole || cell
    });
    mentions
}

/// Adds the items of names. `sought` has the tokens after words such as `contains`.
fn add_mentions(
    items: &mut Vec<Item>,
    tokens: &[Token],
    schema: &Schema,
    mentions: Vec<Mention>,
    sought: &[usize],
) {
    let places: Vec<Place> = mentions.iter().map(Place::new).collect();
    let events: Vec<usize> = mentions
        .iter()
        .filter(|mention| is_event(tokens, mention, schema))
        .map(|mention| mention.from)
        .collect();
    for mut mention in mentions {
        if is_measured(tokens, items, &mention, schema) {
            mention.tables.clear();
        }
        if costs(tokens, &mention, &places) {
            mention.columns = prefer_prices(schema, mention.columns);
        }
        // `shipped in 2024` is a day, though `shipped` is a status, too.
        if events.contains(&mention.from)
            && says_when(tokens, &mention, &events)
            && !is_state(tokens, &mention, &places)
        {
            mention.cells.clear();
            mention.columns.retain(|(at, _)| schema.column(*at).holds == Holds::Time);
        }
        items.extend(item(tokens, mention, sought));
    }
}

/// Adds the items of numbers, dates, months and quoted texts among the tokens that are left.
fn add_values(items: &mut Vec<Item>, taken: &mut [bool], tokens: &[Token], sought: &[usize]) {
    for (at, token) in tokens.iter().enumerate() {
        let what = match token.kind {
            _ if taken[at] => continue,
            Kind::Number => What::Number(token.lower.clone()),
            Kind::Quoted => What::Text(token.text.clone()),
            Kind::Date => What::Date(token.text.clone()),
            Kind::Word if is_sought(tokens, at, sought) => What::Text(token.text.clone()),
            Kind::Word => match calendar::months(tokens, at) {
                Some((first, last)) => What::Months(first, last),
                None => continue,
            },
            Kind::Break | Kind::Sign => continue,
        };
        items.push(Item::new(at, at + 1, what, 1.0));
        taken[at] = true;
    }
}

/// Narrows names that tables of several schemas have to those of a schema that the question names;
/// the tokens of its name.
fn narrow_to_named_schemas(
    tokens: &[Token],
    schema: &Schema,
    mentions: &mut [Mention],
    taken: &mut [bool],
) -> Vec<usize> {
    let mut places = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Word) {
        let is_own = |table: usize| {
            let view = &schema.tables[table];
            !view.is_only
                && view.schema.as_ref().is_some_and(|name| name.eq_ignore_ascii_case(&token.text))
        };
        let mut is_used = false;
        for mention in
            mentions.iter_mut().filter(|mention| !(mention.from..mention.to).contains(&at))
        {
            if mention.tables.iter().any(|(table, _)| is_own(*table)) {
                mention.tables.retain(|(table, _)| is_own(*table));
                is_used = true;
            }
            if mention.columns.iter().any(|(column, _)| is_own(column.table)) {
                mention.columns.retain(|(column, _)| is_own(column.table));
                is_used = true;
            }
            if mention.cells.iter().any(|cell| is_own(cell.column.table)) {
                mention.cells.retain(|cell| is_own(cell.column.table));
            }
        }
        if is_used {
            taken[at] = true;
            places.push(at);
        }
    }
    places
}

/// Returns whether a table is named by the name of its own column of numbers, and the words around
/// mean the numbers: `average tip`.
fn is_measured(tokens: &[Token], items: &[Item], mention: &Mention, schema: &Schema) -> bool {
    let [(table, _), ..] = mention.tables.as_slice() else { return false };
    fn is_own_measure(schema: &Schema, table: &usize, (at, score): &(ColumnRef, f64)) -> bool {
        at.table == *table && *score > 0.9 && schema.measures(*table).any(|measure| measure == *at)
    }
    let Some((own, _)) =
        mention.columns.iter().find(|column| is_own_measure(schema, table, column))
    else {
        return false;
    };
    // A whole number may as well number the rows: the flight of `flights`.
    let view = schema.column(*own);
    let is_amount = !view.declared.contains("int")
        || view
            .required
            .iter()
            .any(|stem| lexicon::MONEY.iter().any(|word| words::stem(word) == *stem));
    let before = items.iter().find(|item| item.to == mention.from).map(|item| &item.what);
    is_amount
        && match before {
            Some(What::Cue(Cue::Superlative(scale))) => scale.of.is_empty() && !scale.counts,
            Some(What::Cue(Cue::Aggregate(_) | Cue::Share(_))) => true,
            // `the tip of table 4`, but not `the tips of Sunday`.
            Some(What::Cue(Cue::Count | Cue::MostRows(_))) => false,
            _ => {
                let word = &tokens[mention.to - 1].lower;
                *word == view.name.to_lowercase()
                    && *word != schema.tables[*table].name.to_lowercase()
            }
        }
}

/// The place of a name or a cell in the question.
struct Place {
    from: usize,
    to: usize,
    is_table: bool,
    is_column: bool,
    is_cell: bool,
}

impl Place {
    fn new(mention: &Mention) -> Self {
        Self {
            from: mention.from,
            to: mention.to,
            is_table: !mention.tables.is_empty(),
            is_column: mention.tables.is_empty() && !mention.columns.is_empty(),
            is_cell: !mention.cells.is_empty(),
        }
    }
}

/// Returns true if `cost` is a verb, which says what the customers pay: `products cost more than
/// 10`, `how much does the kettle cost`, but not `the cost of products`.
fn costs(tokens: &[Token], mention: &Mention, places: &[Place]) -> bool {
    let verb = &tokens[mention.from];
    let is_cost = matches!(verb.lower.as_str(), "cost" | "costs");
    let (Some(before), true) = (mention.from.checked_sub(1), is_cost) else { return false };
    fn is_form_of_do(word: &str) -> bool {
        matches!(word, "do" | "does" | "did" | "doesn't" | "don't" | "didn't")
    }
    let asks = tokens[..=before].iter().any(|token| is_form_of_do(&token.lower));
    let word = tokens[before].lower.as_str();
    let place = &tokens[before].place;
    // `the products' cost` and `the product's costs` are nouns.
    let is_owner =
        place.len() != tokens[before].text.chars().count() || verb.place.start != place.end + 1;
    // `which products cost` and `which product costs`, but not `the product cost`.
    let agrees = word.ends_with('s') != verb.lower.ends_with('s');
    let is_subject = places.iter().any(|place| {
        let fits = asks || (place.is_table && agrees) || (place.is_cell && verb.lower == "costs");
        place.to == mention.from && fits
    });
    let is_clause = matches!(word, "that" | "which" | "not" | "they" | "it");
    !is_owner && (is_subject || is_clause)
}

/// The prices of the tables that have one beside the cost, else the columns.
fn prefer_prices(schema: &Schema, columns: Vec<(ColumnRef, f64)>) -> Vec<(ColumnRef, f64)> {
    let price = |(at, score): &(ColumnRef, f64)| {
        let views = schema.tables[at.table].columns.iter().enumerate();
        let mut prices = views.filter(|(_, view)| {
            view.holds == Holds::Number && view.required.contains(&words::stem("price"))
        });
        let (column, _) = prices.next().filter(|_| prices.next().is_none())?;
        Some((ColumnRef { table: at.table, column }, *score))
    };
    let prices: Vec<(ColumnRef, f64)> = columns.iter().filter_map(price).collect();
    if prices.is_empty() { columns } else { prices }
}

/// Returns true if a verb names a column of dates: `shipped` of `shipped_date`. A value of another
/// table is none.
fn is_event(tokens: &[Token], mention: &Mention, schema: &Schema) -> bool {
    fn is_time(mention: &Mention, schema: &Schema, table: Option<usize>) -> bool {
        mention.columns.iter().any(|(at, _)| {
            schema.column(*at).holds == Holds::Time && table.is_none_or(|table| table == at.table)
        })
    }
    mention.tables.is_empty()
        && mention.to == mention.from + 1
        && tokens[mention.from].is_event()
        && is_time(mention, schema, mention.cells.first().map(|cell| cell.column.table))
}

/// Returns true if a time follows a verb in its sentence, with no other such verb between, or the
/// sentence begins with one: `shipped to Spain in 2024`, but not `2024 orders that were shipped`.
fn says_when(tokens: &[Token], mention: &Mention, events: &[usize]) -> bool {
    fn is_time(tokens: &[Token], at: usize) -> bool {
        match tokens[at].kind {
            Kind::Date => true,
            Kind::Number => calendar::is_year(&tokens[at].lower),
            _ => calendar::months(tokens, at).is_some(),
        }
    }
    let ends = (mention.to..tokens.len())
        .find(|at| tokens[*at].ends_sentence() || events.contains(at))
        .unwrap_or(tokens.len());
    let before = mention.from.checked_sub(1).map_or("", |at| tokens[at].lower.as_str());
    let is_denied = lexicon::NEGATIONS.contains(&before) || before.ends_with("n't");
    let begins =
        ["in", "on", "during", "since", "before", "after"].contains(&tokens[0].lower.as_str());
    let opens = begins && (1..mention.from.min(3)).any(|at| is_time(tokens, at));
    !is_denied && ((mention.to..ends).any(|at| is_time(tokens, at)) || opens)
}

/// Returns true if a participle describes the rows of the table after it, or is a value of the
/// column before it: `shipped orders`, `with the status shipped`.
fn is_state(tokens: &[Token], mention: &Mention, places: &[Place]) -> bool {
    fn is_linking_word(tokens: &[Token], at: usize) -> bool {
        matches!(tokens[at].lower.as_str(), "is" | "was" | "of" | "=")
    }
    places.iter().any(|place| {
        let describes = place.is_table && place.from == mention.to;
        let is_before = place.to == mention.from
            || (place.to + 1 == mention.from && is_linking_word(tokens, place.to));
        describes || (place.is_column && !place.is_cell && is_before)
    })
}

/// Words that stand for the rows of a table: `how many rows are there`.
fn rows(tokens: &[Token], taken: &[bool]) -> Vec<usize> {
    (0..tokens.len())
        .filter(|at: &usize| !taken[*at] && lexicon::ROWS.contains(&tokens[*at].lower.as_str()))
        .collect()
}

/// Finds the places where the question mentions who reports to whom: `reports to`, or `report` at
/// the end of a sentence.
fn find_reports_to(tokens: &[Token], taken: &[bool]) -> Vec<(usize, usize)> {
    let found = (1..tokens.len()).filter(|at| tokens[*at].stem == "report" && !taken[*at]);
    let ends = found.filter_map(|at| match tokens.get(at + 1) {
        Some(next) if next.lower == "to" => Some((at, at + 2)),
        Some(next) => next.ends_sentence().then_some((at, at + 1)),
        None => Some((at, at + 1)),
    });
    ends.collect()
}

/// Returns true if a stop word has a meaning here: `total value`, `value of the stock`, `report
/// to`, `out`.
fn carries_meaning(tokens: &[Token], items: &[Item], at: usize) -> bool {
    let word = |at: Option<usize>| {
        at.and_then(|at| tokens.get(at)).map_or("", |token| token.lower.as_str())
    };
    let before = word(at.checked_sub(1));
    let next = word(Some(at + 1));
    match word(Some(at)) {
        "value" | "values" if matches!(before, "total" | "sum" | "combined" | "overall") => true,
        // `the maximum value of` means `the maximum`.
        "value" if next == "of" => matches!(before, "" | "the" | "what"),
        "value" => items
            .iter()
            .any(|item| item.to == at && matches!(item.what, What::Table(_) | What::Column(_))),
        "report" => next == "to",
        "out" | "off" => !matches!(before, "find" | "point"),
        _ => false,
    }
}

/// Returns true if a word is the object of `contains` or `starts with`; `the letter` may be between
/// them.
fn is_sought(tokens: &[Token], at: usize, sought: &[usize]) -> bool {
    // `starts with A` means the letter.
    fn is_small_word(token: &Token) -> bool {
        matches!(token.lower.as_str(), "the" | "a" | "an" | "of") && !token.is_capitalised()
    }
    sought.iter().any(|from| *from <= at && tokens[*from..at].iter().all(is_small_word))
        && !is_small_word(&tokens[at])
}

fn item(tokens: &[Token], mention: Mention, sought: &[usize]) -> Option<Item> {
    let table = mention.table_score();
    let column = mention.column_score();
    let named = table.max(column);
    let first = &tokens[mention.from];
    let exact = mention.cells.iter().any(|cell| cell.weight > 0.9);
    let quoted = first.kind == Kind::Quoted;
    let proper = first.is_capitalised() && mention.from > 0 && exact && named < 0.99;
    let from = mention.from;
    let to = mention.to;
    if quoted && is_sought(tokens, from, sought) {
        return Some(Item::new(from, to, What::Text(first.text.clone()), 1.0));
    }
    if !mention.cells.is_empty() && (quoted || named == 0.0 || proper || (exact && named < 0.8)) {
        return Some(Item::new(from, to, What::Cell(mention.cells), 1.0));
    }
    if table >= column && table > 0.0 {
        let alike =
            mention.tables.iter().filter(|(_, score)| *score == table).map(|(at, _)| *at).collect();
        let table = Item::new(from, to, What::Table(mention.tables[0].0), table);
        Some(Item { rivals: alike, ..table })
    } else {
        Some(Item::new(from, to, What::Column(mention.columns), column))
    }
}

/// Returns true if the past form of a verb is matched with a name and describes the rows of the
/// table after it: `reviewed products`.
fn describes(tokens: &[Token], items: &[Item], at: usize) -> bool {
    let next = items.get(at + 1).filter(|next| matches!(next.what, What::Table(_)));
    tokens[items[at].to - 1].is_past() && next.is_some_and(|next| next.from == items[at].to)
}

/// Returns true if a single participle is matched with a name, or one with the word that belongs
/// to it: `signed up`.
fn is_participle(tokens: &[Token], item: &Item) -> bool {
    let verb = &tokens[item.from];
    match &tokens[item.from + 1..item.to] {
        [] => verb.is_participle(),
        [next] => verb.is_event() && lexicon::PARTICLES.contains(&next.lower.as_str()),
        _ => false,
    }
}

/// Returns true if a sentence begins here with `who is` or `who are`.
fn asks_who(tokens: &[Token], at: usize) -> bool {
    let begins = at == 0 || tokens[at - 1].ends_sentence();
    let verb = tokens
        .get(at + 1)
        .is_some_and(|next| matches!(next.lower.as_str(), "is" | "are" | "was" | "were"));
    begins && verb && tokens[at].lower == "who"
}

/// Marks the items in the parts that ask for something: from the beginning, a verb such as `list`,
/// or `and how many` on, until a word that opens a condition.
fn mark_heads(tokens: &[Token], items: &mut [Item]) {
    let mut head = true;
    for at in 0..items.len() {
        let before =
            items[at].from.checked_sub(1).map(|i| tokens[i].lower.as_str()).unwrap_or_default();
        match &items[at].what {
            What::Cue(Cue::Request | Cue::Measure(_)) => head = true,
            // `books borrowed by`: what follows is a condition on the books.
            What::Column(_) if items[at].score < 0.95 && is_participle(tokens, &items[at]) => {
                head = false;
            }
            What::Table(_)
                if items[at].to == items[at].from + 1
                    && tokens[items[at].from].is_past()
                    && !describes(tokens, items, at) =>
            {
                head = false;
            }
            What::Cue(Cue::Count)
                if at > 0 && matches!(items[at - 1].what, What::Cue(Cue::And | Cue::Comma)) =>
            {
                head = true
            }
            // `who are the readers`, at the beginning, asks for them.
            What::Cue(Cue::Trigger) if asks_who(tokens, items[at].from) => head = true,
            What::Cue(Cue::Trigger) if before == "along" || before == "together" => head = true,
            What::Cue(
                Cue::Trigger | Cue::By | Cue::Compare(..) | Cue::Like(_) | Cue::Not | Cue::OrderBy,
            ) => head = false,
            What::Cue(Cue::And)
                if matches!(
                    tokens.get(items[at].to).map(|t| t.lower.as_str()),
                    Some("its" | "their" | "the" | "his" | "her")
                ) =>
            {
                // `and its name`, after a condition has been given, asks for something again.
                let next = items.get(at + 1).map(|item| &item.what);
                let possessive = tokens[items[at].to].lower != "the";
                head |= possessive && matches!(next, Some(What::Column(_)));
            }
            _ => {}
        }
        items[at].head = head;
    }
}
