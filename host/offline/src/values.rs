//! Cells that the question names, found by its phrases in the index of values.

use syrch_core::Hit;
use syrch_core::ports::{CellIndex, Match};

use super::lexicon;
use super::schema::{ColumnRef, Schema};
use super::words::{Kind, Token};

/// The longest phrase, in tokens.
const LONGEST: usize = 7;
/// The cells that are requested for a phrase.
const CELLS: u32 = 12;

/// A phrase of the question that is a cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) column: ColumnRef,
    /// The cell as the database spells it.
    pub(crate) text: String,
    /// The likeness: 1 for the phrase itself, less for another form of it.
    pub(crate) weight: f64,
}

struct Phrase {
    from: usize,
    to: usize,
    text: String,
    weight: f64,
}

/// All cells that phrases of the question name. Without an index, or if it fails, there are none, and the
/// question can often be understood without them.
pub(crate) async fn find(question: &str, tokens: &[Token], schema: &Schema, index: &dyn CellIndex) -> Vec<Found> {
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
        let same = |f: &Found| letters(&f.text) == letters(&tokens[f.from].text);
        found.extend(near.into_iter().filter(same));
    }
    found
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

async fn look_up(phrases: &[Phrase], how: Match, schema: &Schema, index: &dyn CellIndex) -> Vec<Found> {
    let texts: Vec<String> = phrases.iter().map(|phrase| phrase.text.clone()).collect();
    let lists = index.find(&texts, how, CELLS).await.unwrap_or_default();
    let pairs = phrases.iter().zip(&lists);
    pairs.flat_map(|(phrase, hits)| hits.iter().filter_map(|hit| place(phrase, hit, schema))).collect()
}

fn place(phrase: &Phrase, hit: &Hit, schema: &Schema) -> Option<Found> {
    let (name, column) = (hit.table.as_deref()?, hit.column.as_deref()?);
    let table = schema.table(name)?;
    let column = schema.tables[table].columns.iter().position(|view| view.name.eq_ignore_ascii_case(column))?;
    let text = hit.snippet.clone()?;
    // The same word in another case is as good as the word.
    let weight = if text == phrase.text { phrase.weight } else { phrase.weight - 0.05 };
    Some(Found { from: phrase.from, to: phrase.to, column: ColumnRef { table, column }, text, weight })
}

fn phrases(question: &str, tokens: &[Token]) -> Vec<Phrase> {
    let chars: Vec<char> = question.chars().collect();
    let mut out = Vec::new();
    for from in 0..tokens.len() {
        for to in from + 1..=tokens.len().min(from + LONGEST) {
            let span = &tokens[from..to];
            if !may_name(span) {
                continue;
            }
            let text = match span {
                [only] => only.text.clone(),
                _ => chars[span[0].place.start..span[span.len() - 1].place.end].iter().collect(),
            };
            let lower = text.to_lowercase();
            let mut push = |text: String, weight: f64| out.push(Phrase { from, to, text, weight });
            lexicon::spellings(&lower).iter().for_each(|form| push((*form).to_owned(), 0.9));
            if let (Kind::Word, Some(singular)) = (span[span.len() - 1].kind, lower.strip_suffix('s')) {
                push(singular.to_owned(), 0.85);
            }
            push(text, 1.0);
        }
    }
    out
}

/// Whether a span may be a name: no sentence ends in it, and it is more than a stop word or a number.
fn may_name(span: &[Token]) -> bool {
    let (Some(first), Some(last)) = (span.first(), span.last()) else { return false };
    if span.len() == 1 {
        let word = matches!(first.kind, Kind::Word) && !is_stop(first);
        return word || first.kind == Kind::Quoted;
    }
    let inner = span.iter().any(|token| token.kind == Kind::Quoted || matches!(token.text.as_str(), "?" | ";"));
    let begins = first.kind != Kind::Break && (!is_stop(first) || first.is_capitalised());
    let ends = matches!(last.text.as_str(), "!" | ")" | ".") || (last.kind != Kind::Break && !is_stop(last));
    !inner && begins && ends && span.iter().any(|token| token.kind == Kind::Word && !is_stop(token))
}

/// Whether the token is a stop word; one in capitals, such as `IN` for Indiana, is not.
pub(crate) fn is_stop(token: &Token) -> bool {
    let shouted = token.text.len() > 1 && token.text.chars().all(char::is_uppercase);
    token.kind == Kind::Word && !shouted && lexicon::is_stop_word(&token.lower)
}
