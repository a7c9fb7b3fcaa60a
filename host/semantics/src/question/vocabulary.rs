//! Finds the names and values that phrases of a question mean.

use std::collections::HashMap;

use syrch_words::{is_stop_word, stem};

use super::draft::Value;
use super::tokens::{Kind, Token, is_same_word, tokens};
use super::{Cell, cues, model};
use crate::compile::find_table;
use crate::{Literal, Metric, Semantics};

/// The meaning of a phrase, by its index in the semantics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A metric.
    Metric(usize),
    /// A dimension.
    Dimension(usize),
    /// A table.
    Table(usize),
}

/// A phrase that names something of the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Named {
    /// The place behind its last token.
    pub(super) end: usize,
    /// The possible meanings, each once.
    pub(super) meanings: Vec<Meaning>,
}

/// A phrase that is a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Valued {
    /// The place behind its last token.
    pub(super) end: usize,
    /// The dimensions that have it.
    pub(super) options: Vec<Value>,
}

/// The phrases that begin at each token of a question.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// The longest names.
    pub(super) names: Vec<Option<Named>>,
    /// The longest values.
    pub(super) values: Vec<Option<Valued>>,
}

impl Links {
    /// Returns true if a phrase is the name of metrics and of nothing else. A count of all rows of
    /// a table names these rows, too.
    pub(super) fn name_metric(&self, semantics: &Semantics) -> bool {
        self.names.iter().flatten().any(|named| {
            named.meanings.iter().all(|meaning| match meaning {
                Meaning::Metric(metric) => !model::counts_rows(&semantics.metrics[*metric]),
                Meaning::Dimension(_) | Meaning::Table(_) => false,
            })
        })
    }
}

/// Words between those of a name that change nothing: `orders that were placed`.
const BETWEEN: &[&str] = &[
    "are", "be", "been", "being", "did", "do", "does", "got", "had", "has", "have", "is", "that",
    "was", "were", "which", "who",
];

/// The words of the files.
#[derive(Default)]
pub(crate) struct Vocabulary {
    /// The names by the stem of their first word.
    by_stem: HashMap<String, Vec<(Vec<Token>, Meaning)>>,
    /// The values that labels spell out.
    labels: Vec<(Vec<Token>, Value)>,
    /// The places of these by their first word, and by their text.
    by_word: HashMap<String, Vec<usize>>,
    /// The metrics by the words that a synonym has beside their name, as `placed` in `orders
    /// placed`.
    verbs: HashMap<String, Vec<usize>>,
}

impl Vocabulary {
    /// Collects the words of the definitions.
    pub(crate) fn new(semantics: &Semantics) -> Self {
        let mut vocabulary = Self::default();
        vocabulary.add_names(semantics);
        vocabulary.add_labels(semantics);
        for (at, metric) in semantics.metrics.iter().enumerate() {
            for word in list_verbs(metric) {
                vocabulary.verbs.entry(word).or_default().push(at);
            }
        }
        vocabulary
    }

    /// The metrics of which a synonym is the name with this word.
    pub(super) fn verbs(&self, word: &str) -> Vec<usize> {
        self.verbs.get(word).cloned().unwrap_or_default()
    }

    fn add_labels(&mut self, semantics: &Semantics) {
        for (at, dimension) in semantics.dimensions.iter().enumerate() {
            for label in &dimension.labels {
                let value = Value { dimension: at, literal: label.value.clone(), is_label: true };
                if let Literal::Text(text) = &label.value {
                    self.add_label(text, &value);
                }
                for name in &label.synonyms {
                    self.add_label(name, &value);
                }
            }
        }
    }

    fn add_label(&mut self, text: &str, value: &Value) {
        let words = tokens(text);
        let Some(first) = words.first().map(|first| first.lower.clone()) else { return };
        let place = self.labels.len();
        self.labels.push((words, value.clone()));
        self.by_word.entry(first.clone()).or_default().push(place);
        if let Literal::Text(text) = &value.literal
            && text.to_lowercase() != first
        {
            self.by_word.entry(text.to_lowercase()).or_default().push(place);
        }
    }

    /// The labels that may begin with a token.
    fn labels_at(&self, token: &Token) -> impl Iterator<Item = &(Vec<Token>, Value)> {
        let places = self.by_word.get(&token.lower).map_or(&[] as &[usize], Vec::as_slice);
        places.iter().map(|place| &self.labels[*place])
    }

    fn add(&mut self, name: &str, meaning: Meaning) {
        let words: Vec<Token> = tokens(&name.replace('_', " "))
            .into_iter()
            .filter(|token| !BETWEEN.contains(&token.lower.as_str()))
            .collect();
        let Some(first) = words.first() else { return };
        self.by_stem.entry(stem(&first.lower)).or_default().push((words, meaning));
    }
}

/// Finds what the tokens of a question mean.
pub(super) fn link(semantics: &Semantics, question: &[Token], cells: &[Cell]) -> Links {
    let index = semantics.index();
    let vocabulary = index.vocabulary(semantics);
    let cells = read_cells(semantics, cells);
    Links {
        names: (0..question.len()).map(|at| name_at(vocabulary, question, at)).collect(),
        values: (0..question.len()).map(|at| value_at(vocabulary, &cells, question, at)).collect(),
    }
}

impl Vocabulary {
    fn add_names(&mut self, semantics: &Semantics) {
        for (at, metric) in semantics.metrics.iter().enumerate() {
            for name in std::iter::once(&metric.name).chain(&metric.synonyms) {
                self.add(name, Meaning::Metric(at));
            }
        }
        for (at, table) in semantics.tables.iter().enumerate() {
            for name in std::iter::once(&table.name).chain(&table.synonyms) {
                self.add(name, Meaning::Table(at));
            }
        }
        for (at, dimension) in semantics.dimensions.iter().enumerate() {
            let table = find_table(semantics, &dimension.table);
            for name in std::iter::once(&dimension.name).chain(&dimension.synonyms) {
                self.add(name, Meaning::Dimension(at));
                for owner in table.iter().flat_map(|t| std::iter::once(&t.name).chain(&t.synonyms))
                {
                    self.add(&format!("{owner} {name}"), Meaning::Dimension(at));
                }
            }
        }
    }
}

fn name_at(vocabulary: &Vocabulary, question: &[Token], at: usize) -> Option<Named> {
    let first = question.get(at).filter(|token| token.kind == Kind::Word)?;
    let mut best: Option<Named> = None;
    for (words, meaning) in vocabulary.by_stem.get(&stem(&first.lower))? {
        let Some(end) = end_of_name(words, question, at) else { continue };
        match &mut best {
            Some(known) if known.end > end => {}
            Some(known) if known.end == end => {
                if !known.meanings.contains(meaning) {
                    known.meanings.push(*meaning);
                }
            }
            _ => best = Some(Named { end, meanings: vec![*meaning] }),
        }
    }
    best
}

/// The place behind a name that begins at a token. A word alone may differ in number only, the
/// words of a longer name by their endings.
fn end_of_name(words: &[Token], question: &[Token], at: usize) -> Option<usize> {
    if let [only] = words {
        return is_same_word(&only.lower, &question[at].lower).then_some(at + 1);
    }
    let mut next = at;
    for (place, word) in words.iter().enumerate() {
        while place > 0
            && question.get(next).is_some_and(|token| BETWEEN.contains(&token.lower.as_str()))
        {
            next += 1;
        }
        let token = question.get(next)?;
        if token.kind != word.kind || stem(&token.lower) != stem(&word.lower) {
            return None;
        }
        next += 1;
    }
    Some(next)
}

/// The words that synonyms of a metric have beside its name.
fn list_verbs(metric: &Metric) -> Vec<String> {
    let name = metric.name.to_lowercase();
    let mut verbs: Vec<String> = Vec::new();
    for synonym in &metric.synonyms {
        let words: Vec<String> = synonym.split_whitespace().map(str::to_lowercase).collect();
        for verb in &words {
            let others: Vec<&str> =
                words.iter().filter(|word| *word != verb).map(String::as_str).collect();
            let is_beside = others.len() + 1 == words.len() && others.join(" ") == name;
            if is_beside && !verbs.contains(verb) {
                verbs.push(verb.clone());
            }
        }
    }
    verbs
}

/// The values that cells spell out, as words.
fn read_cells(semantics: &Semantics, cells: &[Cell]) -> Vec<(Vec<Token>, Value)> {
    let mut out = Vec::new();
    for cell in cells {
        if let Some(dimension) = model::find_dimension(semantics, &cell.dimension) {
            let literal = Literal::Text(cell.value.clone());
            out.push((tokens(&cell.value), Value { dimension, literal, is_label: false }));
        }
    }
    out.retain(|(words, ..)| !words.is_empty());
    out
}

fn value_at(
    vocabulary: &Vocabulary,
    cells: &[(Vec<Token>, Value)],
    question: &[Token],
    at: usize,
) -> Option<Valued> {
    let mut best: Option<Valued> = None;
    for (words, value) in vocabulary.labels_at(&question[at]).chain(cells) {
        let Some(end) = end_of_value(words, &value.literal, question, at) else { continue };
        match &mut best {
            Some(known) if known.end > end => {}
            Some(known) if known.end == end => {
                let is_known = known
                    .options
                    .iter()
                    .any(|one| one.dimension == value.dimension && one.literal == value.literal);
                if !is_known {
                    known.options.push(value.clone());
                }
            }
            _ => best = Some(Valued { end, options: vec![value.clone()] }),
        }
    }
    best
}

fn end_of_value(
    words: &[Token],
    literal: &Literal,
    question: &[Token],
    at: usize,
) -> Option<usize> {
    let first = &question[at];
    if first.kind == Kind::Quoted {
        let is_same = matches!(literal, Literal::Text(text) if text.to_lowercase() == first.lower);
        return (is_same || words == [first.clone()]).then_some(at + 1);
    }
    let end = at + words.len();
    let span = question.get(at..end)?;
    let is_same = span
        .iter()
        .zip(words)
        .all(|(one, other)| one.lower == other.lower && one.kind == other.kind);
    // A single word that says something else in questions is a value only where it is written so.
    let is_common = span.len() == 1
        && (is_stop_word(&first.lower) || cues::is_cue(&first.lower) || first.number().is_some());
    let is_written = matches!(literal, Literal::Text(text) if *text == first.text)
        && first.is_capitalised()
        && at > 0;
    (is_same && (!is_common || is_written)).then_some(end)
}
