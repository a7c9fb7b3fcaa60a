//! Cells that the question names, found by its phrases in the index of values.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use syrch_core::Hit;
use syrch_core::ports::{CellIndex, Match};

use super::found::Found;
use super::items::Reading;
use super::lexicon;
use super::schema::{ColumnRef, Schema};
use super::token::{Kind, Token, is_stop};

/// The longest phrase, in tokens.
const LONGEST: usize = 7;
/// The cells that are requested for a phrase.
const CELLS: u32 = 12;

struct Phrase {
    from: usize,
    to: usize,
    text: String,
    weight: f64,
}

/// All cells that phrases of the question name. Without an index, or if it fails, there are none,
/// and the question can often be understood without them.
pub(crate) async fn find(
    question: &str,
    tokens: &[Token],
    schema: &Schema,
    index: &dyn CellIndex,
) -> Vec<Found> {
    let phrases = phrases(question, tokens);
    let mut found = look_up(&phrases, Match::Exact, schema, index).await;
    // A quotation that no cell equals may differ in punctuation only.
    let missed: Vec<Phrase> = phrases
        .into_iter()
        .filter(|p| tokens[p.from].kind == Kind::Quoted && !found.iter().any(|f| f.from == p.from))
        .map(|phrase| Phrase { weight: 0.8, ..phrase })
        .collect();
    if !missed.is_empty() {
        let near = look_up(&missed, Match::Fuzzy, schema, index).await;
        found.extend(
            near.into_iter().filter(|f: &Found| letters(&f.text) == letters(&tokens[f.from].text)),
        );
    }
    join_spellings(found)
}

/// Finds the cells that are words in no item, which are mostly filler or begin with a capital
/// letter: `done`, `Will`.
pub(crate) async fn find_fillers(
    reading: &Reading,
    schema: &Schema,
    index: &dyn CellIndex,
) -> Vec<Found> {
    let places = (0..reading.tokens.len()).filter(|at: &usize| {
        let token = &reading.tokens[*at];
        let is_name = *at > 0 && token.is_capitalised();
        token.kind == Kind::Word
            && (lexicon::is_filler(&token.lower) || is_name)
            && !reading.is_in_item(*at)
    });
    let phrases: Vec<Phrase> = places
        .map(|at: usize| Phrase {
            from: at,
            to: at + 1,
            text: reading.tokens[at].text.clone(),
            weight: 1.0,
        })
        .collect();
    if phrases.is_empty() {
        return Vec::new();
    }
    look_up(&phrases, Match::Exact, schema, index).await
}

/// Makes one of the cells of a column that differ in letter case only; the likeliest spelling is
/// the first.
fn join_spellings(found: Vec<Found>) -> Vec<Found> {
    let mut joined: Vec<Found> = Vec::with_capacity(found.len());
    let mut places: BTreeMap<(usize, usize, ColumnRef, String), usize> = BTreeMap::new();
    for mut one in found {
        match places.entry((one.from, one.to, one.column, one.text.to_lowercase())) {
            Entry::Vacant(free) => {
                free.insert(joined.len());
                joined.push(one);
            }
            Entry::Occupied(taken) => {
                let known = &mut joined[*taken.get()];
                if one.weight > known.weight {
                    std::mem::swap(known, &mut one);
                    known.also.append(&mut one.also);
                }
                if one.text != known.text && !known.also.contains(&one.text) {
                    known.also.push(one.text);
                }
            }
        }
    }
    joined
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

async fn look_up(
    phrases: &[Phrase],
    how: Match,
    schema: &Schema,
    index: &dyn CellIndex,
) -> Vec<Found> {
    let texts: Vec<String> = phrases.iter().map(|phrase| phrase.text.clone()).collect();
    let lists = index.find(&texts, how, CELLS).await.unwrap_or_default();
    let pairs = phrases.iter().zip(&lists);
    pairs
        .flat_map(|(phrase, hits)| hits.iter().filter_map(|hit| place(phrase, hit, schema)))
        .collect()
}

fn place(phrase: &Phrase, hit: &Hit, schema: &Schema) -> Option<Found> {
    let name = hit.table.as_deref()?;
    let column = hit.column.as_deref()?;
    let table = schema.table(name)?;
    let column = schema.tables[table]
        .columns
        .iter()
        .position(|view| view.name.eq_ignore_ascii_case(column))?;
    let text = hit.snippet.clone()?;
    // The same word in another case is as good as the word.
    let weight = if text == phrase.text { phrase.weight } else { phrase.weight - 0.05 };
    Some(Found {
        from: phrase.from,
        to: phrase.to,
        column: ColumnRef { table, column },
        text,
        also: Vec::new(),
        weight,
    })
}

fn phrases(question: &str, tokens: &[Token]) -> Vec<Phrase> {
    let chars: Vec<char> = question.chars().collect();
    let mut out = Vec::new();
    for from in 0..tokens.len() {
        for to in from + 1..=tokens.len().min(from + LONGEST) {
            let span = &tokens[from..to];
            if !may_name(span) && !is_letter(tokens, from, to) {
                continue;
            }
            let text = match span {
                [only] => only.text.clone(),
                _ => chars[span[0].place.start..span[span.len() - 1].place.end].iter().collect(),
            };
            let lower = text.to_lowercase();
            let mut push = |text: String, weight: f64| out.push(Phrase { from, to, text, weight });
            lexicon::spellings(&lower).iter().for_each(|form| push((*form).to_owned(), 0.9));
            if let (Kind::Word, Some(singular)) =
                (span[span.len() - 1].kind, lower.strip_suffix('s'))
            {
                push(singular.to_owned(), 0.85);
            }
            push(text, 1.0);
        }
    }
    out
}

/// Returns whether a span is a single capital letter that is no article: it ends the question, or a
/// part of it, as in `discipline A`.
pub(crate) fn is_letter(tokens: &[Token], from: usize, to: usize) -> bool {
    let one = &tokens[from];
    let ends = tokens.get(to).is_none_or(|next| {
        next.kind == Kind::Break
            || matches!(next.lower.as_str(), "and" | "or" | "with" | "by" | "per" | "is" | "are")
    });
    to == from + 1
        && from > 0
        && one.kind == Kind::Word
        && one.text.len() == 1
        && one.is_capitalised()
        && ends
}

/// Returns true if a span may be a name: no sentence ends in it, and it is more than a stop word or
/// a number.
fn may_name(span: &[Token]) -> bool {
    let (Some(first), Some(last)) = (span.first(), span.last()) else { return false };
    if span.len() == 1 {
        let rows = lexicon::ROWS.contains(&first.text.as_str());
        let word = matches!(first.kind, Kind::Word) && !is_stop(first) && !rows;
        return word || first.kind == Kind::Quoted;
    }
    let inner = span
        .iter()
        .any(|token| token.kind == Kind::Quoted || matches!(token.text.as_str(), "?" | ";"));
    let begins = first.kind != Kind::Break && (!is_stop(first) || first.is_capitalised());
    let ends = matches!(last.text.as_str(), "!" | ")" | ".")
        || (last.kind != Kind::Break && !is_stop(last));
    !inner && begins && ends && span.iter().any(|token| token.kind == Kind::Word && !is_stop(token))
}
