//! Linking: the tables, columns and cells to which spans of the question refer.

use std::collections::{BTreeMap, BTreeSet};

use super::found::Found;
use super::lexicon;
use super::schema::{ColumnRef, Schema};
use super::token::is_stop;
use super::words::{self, Kind, Token};

/// The longest name of a table or column, in tokens of the question.
const LONGEST: usize = 6;

/// The possible meanings of a span of the question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mention {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Places of tables in the schema with their scores, best first.
    pub(crate) tables: Vec<(usize, f64)>,
    /// Columns with their scores, best first.
    pub(crate) columns: Vec<(ColumnRef, f64)>,
    /// Cells that the span may mean, best first.
    pub(crate) cells: Vec<Found>,
    /// The number of its content words.
    pub(crate) words: usize,
}

impl Mention {
    /// Returns the score of the best matching table, or 0 if there is none.
    pub(crate) fn table_score(&self) -> f64 {
        self.tables.first().map_or(0.0, |(_, score)| *score)
    }

    /// Returns the score of the best matching column, or 0 if there is none.
    pub(crate) fn column_score(&self) -> f64 {
        self.columns.first().map_or(0.0, |(_, score)| *score)
    }

    fn cell_score(&self) -> f64 {
        self.cells.iter().map(|cell| cell.weight).fold(0.0, f64::max)
    }

    /// Long spans that match well come first. A cell ranks a little lower than a name, unless it is
    /// long.
    fn weight(&self) -> f64 {
        let score = self.table_score().max(self.column_score()).max(self.cell_score() * 0.93);
        score * (self.words.max(1) as f64).powf(1.3)
    }
}

/// A word of the question: its stem, and the stems of the schema that are alike with how alike they
/// are.
struct Word<'a> {
    stem: &'a str,
    near: BTreeMap<&'a str, f64>,
}

/// The tables and columns by their stems, so that a span is compared only with names that share one
/// with it.
#[derive(Default)]
struct Index<'a> {
    /// The stems of both maps, each once.
    stems: Vec<&'a str>,
    tables: BTreeMap<&'a str, Vec<usize>>,
    columns: BTreeMap<&'a str, Vec<ColumnRef>>,
}

impl<'a> Index<'a> {
    fn new(schema: &'a Schema) -> Self {
        let mut index = Self::default();
        for (at, table) in schema.tables.iter().enumerate() {
            for stem in table.stems.iter().chain([&table.joined]) {
                index.tables.entry(stem).or_default().push(at);
            }
        }
        for (at, column) in schema.columns() {
            for stem in column.required.iter().chain(&column.optional).chain(&column.joined) {
                index.columns.entry(stem).or_default().push(at);
            }
        }
        index.stems = index.tables.keys().chain(index.columns.keys()).copied().collect();
        index.stems.sort_unstable();
        index.stems.dedup();
        index
    }

    fn word(&self, token: &'a Token) -> Word<'a> {
        // The synonyms of a noun do not apply to the verb of the same stem.
        let others: Vec<&str> = if token.is_participle() {
            Vec::new()
        } else {
            lexicon::synonyms(&token.stem).collect()
        };
        // What is no part of a name is compared with none.
        let stems: &[&str] =
            if token.kind == Kind::Word && !is_silent(token) { &self.stems } else { &[] };
        let scored = stems.iter().map(|stem| (*stem, similarity(&token.stem, &others, stem)));
        Word { stem: &token.stem, near: scored.filter(|(_, score)| *score > 0.0).collect() }
    }

    /// Returns the entries that share a stem with the word, or whose name is the words written
    /// together.
    fn sharing_stem<T: Copy + Ord>(
        map: &BTreeMap<&str, Vec<T>>,
        word: &Word<'_>,
        joined: &str,
    ) -> BTreeSet<T> {
        let stems = word.near.keys().copied().chain([joined]);
        stems.filter_map(|stem| map.get(stem)).flatten().copied().collect()
    }
}

/// The mentions of a question, in order and without overlap.
pub(crate) fn link(tokens: &[Token], schema: &Schema, found: Vec<Found>) -> Vec<Mention> {
    let index = Index::new(schema);
    let all: Vec<Word<'_>> = tokens.iter().map(|token| index.word(token)).collect();
    let mut mentions: Vec<Mention> = Vec::new();
    for from in 0..tokens.len() {
        for to in from + 1..=tokens.len().min(from + LONGEST) {
            mentions.extend(find_mention(tokens, &all, schema, &index, from, to));
        }
    }
    for cell in found {
        match mentions.iter_mut().find(|mention| (mention.from, mention.to) == (cell.from, cell.to))
        {
            Some(mention) => mention.cells.push(cell),
            None => mentions.push(Mention {
                from: cell.from,
                to: cell.to,
                tables: Vec::new(),
                columns: Vec::new(),
                words: tokens[cell.from..cell.to]
                    .iter()
                    .filter(|token| token.kind != Kind::Break)
                    .count(),
                cells: vec![cell],
            }),
        }
    }
    remove_overlaps(mentions)
}

fn remove_overlaps(mut mentions: Vec<Mention>) -> Vec<Mention> {
    mentions.sort_by(|a, b| {
        b.weight()
            .total_cmp(&a.weight())
            .then((a.to - a.from).cmp(&(b.to - b.from)))
            .then(a.from.cmp(&b.from))
    });
    let mut kept: Vec<Mention> = Vec::new();
    for mention in mentions {
        if kept.iter().all(|other| mention.to <= other.from || other.to <= mention.from) {
            kept.push(mention);
        }
    }
    kept.sort_by_key(|mention| mention.from);
    kept
}

/// Returns true if a word may stand for a whole name although it is a stop word.
fn is_soft(token: &Token) -> bool {
    lexicon::SOFT.contains(&token.lower.as_str())
}

/// Returns true if a word is never a part of a name.
fn is_silent(token: &Token) -> bool {
    is_stop(token) && !is_soft(token)
}

fn find_mention(
    tokens: &[Token],
    all: &[Word<'_>],
    schema: &Schema,
    index: &Index<'_>,
    from: usize,
    to: usize,
) -> Option<Mention> {
    let span = &tokens[from..to];
    fn is_spoken_word(token: &Token) -> bool {
        token.kind == Kind::Word && !is_silent(token)
    }
    let fits = is_spoken_word(&span[0])
        && is_spoken_word(&span[span.len() - 1])
        && span.iter().all(|token| token.kind == Kind::Word);
    if !fits {
        return None;
    }
    // Only `of` and `the` may stand within a name: `type of the pet`.
    let content: Vec<&Word<'_>> =
        (from..to).filter(|i| !is_silent(&tokens[*i])).map(|i| &all[i]).collect();
    let inverted = content.len() < span.len();
    if !span.iter().all(|token: &Token| {
        !is_silent(token) || matches!(token.lower.as_str(), "of" | "the" | "per" | "in" | "their")
    }) || (inverted
        && !span.iter().any(|token| matches!(token.lower.as_str(), "of" | "per" | "in")))
    {
        return None;
    }
    let joined = words::stem(&span.iter().map(|token| token.lower.as_str()).collect::<String>());
    let mut tables: Vec<(usize, f64)> = Vec::new();
    if !inverted {
        for at in Index::sharing_stem(&index.tables, content.first()?, &joined) {
            let table = &schema.tables[at];
            let score = if table.joined == joined {
                Some(1.0)
            } else {
                covers(&content, &table.stems, &[])
            };
            // `matches were played` names no players.
            let is_act = matches!(span, [verb] if verb.is_past())
                && score.is_some_and(|score| score < 0.8)
                && table.stems.iter().any(|stem| stem.ends_with("er"));
            let score = score.filter(|_| !is_act);
            let general = content.iter().all(|word| lexicon::GENERAL.contains(&word.stem));
            tables.extend(score.filter(|score| !general || *score > 0.95).map(|score| (at, score)));
        }
    }
    let mut columns: Vec<(ColumnRef, f64)> = Vec::new();
    for at in Index::sharing_stem(&index.columns, content.first()?, &joined) {
        let column = schema.column(at);
        // `number of books` is the number of books, not the book's number.
        let counts = inverted
            && content[0].stem == "number"
            && (column.is_key || column.required.first().is_none_or(|stem| stem != "number"));
        if counts {
            continue;
        }
        let score = if column.joined.contains(&joined) {
            Some(1.0)
        } else if is_shortened(&content, &column.required) {
            Some(0.95)
        } else if is_birth(span, &column.required) {
            Some(0.9)
        } else if is_phrasal(span, &column.required) {
            Some(0.72)
        } else {
            covers(&content, &column.required, &column.optional)
        };
        // A name turned around must be the whole name.
        columns.extend(score.filter(|score| !inverted || *score > 0.75).map(|score| (at, score)));
    }
    tables.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    columns.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let best = columns.first().map_or(0.0, |(_, score)| *score);
    columns.retain(|(_, score)| *score >= best - 0.15);
    if span.iter().any(is_soft) {
        tables.retain(|(_, score)| *score > 0.95);
        columns.retain(|(_, score)| *score > 0.95);
    }
    if tables.is_empty() && columns.is_empty() {
        return None;
    }
    Some(Mention { from, to, tables, columns, cells: Vec::new(), words: content.len() })
}

/// Returns whether two words are a name whose second word is cut off: `life expectancy` of
/// `life_exp`.
fn is_shortened(content: &[&Word<'_>], required: &[String]) -> bool {
    match (content, required) {
        ([first, second], [whole, cut]) => {
            first.stem == whole
                && cut.len() >= 3
                && second.stem.len() >= cut.len() + 3
                && second.stem.starts_with(cut)
        }
        _ => false,
    }
}

/// Returns true if the verb `born` names a column of births: `birth_date`.
fn is_birth(span: &[Token], required: &[String]) -> bool {
    let [verb] = span else { return false };
    let name = required.concat();
    let names = ["birthdate", "birthday"];
    verb.lower == "born" && names.iter().any(|word| name == *word || name == words::stem(word))
}

/// Returns true if a verb and the word that belongs to it are one word of a name: `signed up` of
/// `signup_date`.
fn is_phrasal(span: &[Token], required: &[String]) -> bool {
    match span {
        [verb, next] if lexicon::PARTICLES.contains(&next.lower.as_str()) => {
            required.contains(&words::stem(&format!("{}{}", verb.stem, next.lower)))
        }
        _ => false,
    }
}

/// Returns how well the words cover a name: 1 if they are the name; `None` if a word is not in the
/// name or none of the name's own words is covered.
fn covers(content: &[&Word<'_>], required: &[String], optional: &[String]) -> Option<f64> {
    let mut own = 0.0;
    let mut quality = 0.0;
    let mut taken: Vec<&String> = Vec::new();
    for word in content {
        fn is_free(taken: &[&String], stem: &&String) -> bool {
            !taken.contains(stem)
        }
        let best = |stems: &'_ [String]| -> Option<(usize, f64)> {
            let scored = stems
                .iter()
                .enumerate()
                .filter(|(_, stem)| is_free(&taken, stem))
                .map(|(i, stem)| (i, word.near.get(stem.as_str()).copied().unwrap_or(0.0)));
            scored
                .filter(|(_, score)| *score > 0.0)
                .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
        };
        let mine = best(required);
        let theirs = best(optional);
        match (mine, theirs) {
            (Some((i, score)), other) if other.is_none_or(|(_, o)| score >= o) => {
                own += score;
                quality += score;
                taken.push(&required[i]);
            }
            (_, Some((i, score))) => {
                quality += score;
                taken.push(&optional[i]);
            }
            _ => return None,
        }
    }
    if own == 0.0 {
        return None;
    }
    let coverage = own / required.len() as f64;
    let quality = quality / content.len() as f64;
    let complete = required.iter().all(|stem| taken.contains(&stem));
    // The table's own name before the column's makes it the column of that table.
    let owned = complete && optional.iter().any(|stem| taken.contains(&stem));
    Some(if owned {
        quality + 0.08
    } else if complete {
        quality
    } else {
        quality * (0.4 + 0.4 * coverage)
    })
}

/// Returns how similar a word and a stem are: equal, synonyms, alike in their beginning, or
/// different by a slip of the pen.
fn similarity(own: &str, others: &[&str], stem: &str) -> f64 {
    if own == stem {
        return 1.0;
    }
    if others.contains(&stem) {
        return 0.82;
    }
    let shared = own.bytes().zip(stem.bytes()).take_while(|(a, b)| a == b).count();
    let short = own.len().min(stem.len());
    let long = own.len().max(stem.len());
    if shared >= 4 && shared + 1 >= short && long <= shared + 3 {
        return 0.72;
    }
    // Counting edits is costly: only words that differ in one place are compared letter by letter.
    fn common_suffix_length(own: &str, stem: &str) -> usize {
        own.bytes().rev().zip(stem.bytes().rev()).take_while(|(a, b)| a == b).count()
    }
    let one_place =
        short >= 5 && long - short <= 1 && shared + common_suffix_length(own, stem) + 2 >= long;
    if one_place && strsim::damerau_levenshtein(own, stem) == 1 {
        return 0.66;
    }
    0.0
}
