//! The documents of the index: the catalog's names and comments, the user's business terms and
//! notes, and solved examples.

use std::collections::{BTreeMap, HashMap};

use serde_json::json;
use syrch_core::ports::MAX_EMBEDDED_TEXT;
use syrch_core::text::clip;
use syrch_core::{Catalog, Column, Corpus, Hit, Table};

use crate::bm25::Words;
use crate::names::Names;
use crate::segments::Segments;
use crate::words::{Stems, common_prefix};

/// A note of the user on a table, on a column, or on neither.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Note {
    /// The name of the note, unique among the notes.
    pub id: String,
    /// The text; its lines are found one by one.
    pub text: String,
    /// The table that it is about.
    pub table: Option<String>,
    /// The column that it is about.
    pub column: Option<String>,
}

/// A question that was answered before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Example {
    /// The question in words.
    pub question: String,
    /// The statement that answers it.
    pub sql: String,
}

/// The user's additions to a catalog: business terms, notes and examples.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sources {
    /// Names that people use for columns, each of one or more words, by table and column; those for
    /// the table under an empty column.
    pub terms: BTreeMap<(String, String), Vec<String>>,
    /// The notes, in any order.
    pub notes: Vec<Note>,
    /// Questions with their statements, in any order.
    pub examples: Vec<Example>,
}

/// Business terms by table and column in lower case.
struct Terms<'s>(HashMap<(String, String), Vec<&'s String>>);

impl<'s> Terms<'s> {
    /// The tables have the names by which the catalog shows them.
    fn new(sources: &'s Sources, catalog: &Catalog) -> Self {
        let mut terms: HashMap<(String, String), Vec<&String>> = HashMap::new();
        for ((table, column), names) in &sources.terms {
            let table = catalog
                .table(table)
                .map_or_else(|| table.clone(), |table| catalog.table_name(table));
            terms.entry((table.to_lowercase(), column.to_lowercase())).or_default().extend(names);
        }
        Self(terms)
    }

    fn for_column(&self, table: &str, column: &str) -> impl Iterator<Item = &'s String> {
        self.0.get(&(table.to_lowercase(), column.to_lowercase())).into_iter().flatten().copied()
    }
}

/// Bytes of a hit's snippet.
const SNIPPET: usize = 1 << 10;

// Weights of a word by where it occurs: sift ranks paths and headings above text.
const NAME: f32 = 3.0;
const TERM: f32 = 2.0;
const TEXT: f32 = 1.0;

/// The documents of one corpus while they are collected, in the form that each retriever needs.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    pub(crate) hits: Vec<Hit>,
    pub(crate) words: Words,
    pub(crate) names: Names,
    pub(crate) segments: Segments,
    /// The texts for the model for embeddings: of each document the first [`MAX_EMBEDDED_TEXT`]
    /// bytes.
    pub(crate) texts: Vec<String>,
}

impl Documents {
    /// Completes a document, after its words, name and lines were added.
    fn push(&mut self, hit: Hit, text: &str) {
        self.hits.push(hit);
        self.words.end();
        self.texts.push(clip(text, MAX_EMBEDDED_TEXT).to_owned());
    }

    /// A document for each table: its name, its columns' names, all comments and business terms.
    pub(crate) fn from_tables(catalog: &Catalog, sources: &Sources, stems: &Stems) -> Self {
        let mut documents = Self::default();
        let terms = Terms::new(sources, catalog);
        let names: Vec<&str> = catalog.tables.iter().map(|table| table.name.as_str()).collect();
        let prefix = common_prefix(&names);
        for (table, shown) in catalog.tables.iter().zip(catalog.table_names()) {
            let path = path_of(table);
            let stem = stem_of(&table.name, prefix);
            add_name(&mut documents.words, stems, &table.name, NAME);
            documents.names.add(&path, &table.name, stem);
            let number = documents.hits.len();
            let mut text = path.replace('_', " ");
            for phrase in table.comment.iter().chain(terms.for_column(&shown, "")) {
                documents.segments.add(number, &path, phrase);
                text = format!("{text}. {phrase}");
            }
            add_texts(
                &mut documents.words,
                stems,
                table.comment.as_ref(),
                terms.for_column(&shown, ""),
            );
            let names: Vec<&str> =
                table.columns.iter().map(|column| column.name.as_str()).collect();
            let prefix = common_prefix(&names);
            for column in &table.columns {
                add_name(&mut documents.words, stems, stem_of(&column.name, prefix), TEXT);
                add_texts(
                    &mut documents.words,
                    stems,
                    column.comment.as_ref(),
                    terms.for_column(&shown, &column.name),
                );
            }
            text = format!("{text}: {}", names.join(", ").replace('_', " "));
            let hit =
                Hit { table: Some(shown), ..hit(Corpus::Tables, path, table.comment.as_deref()) };
            documents.push(hit, &text);
        }
        documents
    }

    /// A document for each column: its name and its table's, its comment and business terms.
    pub(crate) fn from_columns(catalog: &Catalog, sources: &Sources, stems: &Stems) -> Self {
        let mut documents = Self::default();
        let terms = Terms::new(sources, catalog);
        for (table, shown) in catalog.tables.iter().zip(catalog.table_names()) {
            let names: Vec<&str> =
                table.columns.iter().map(|column| column.name.as_str()).collect();
            let prefix = common_prefix(&names);
            for column in &table.columns {
                documents.push_column(
                    table,
                    &shown,
                    column,
                    stem_of(&column.name, prefix),
                    &terms,
                    stems,
                );
            }
        }
        documents
    }

    /// `shown`: the name by which the catalog shows the table.
    fn push_column(
        &mut self,
        table: &Table,
        shown: &str,
        column: &Column,
        stem: &str,
        terms: &Terms<'_>,
        stems: &Stems,
    ) {
        let path = format!("{}.{}", path_of(table), column.name);
        add_name(&mut self.words, stems, &column.name, NAME);
        if stem != column.name {
            add_name(&mut self.words, stems, stem, NAME);
        }
        add_name(&mut self.words, stems, &table.name, TEXT);
        add_texts(
            &mut self.words,
            stems,
            column.comment.as_ref(),
            terms.for_column(shown, &column.name),
        );
        self.names.add(&path, &column.name, stem);
        let number = self.hits.len();
        let mut text = path.replace('_', " ");
        for phrase in column.comment.iter().chain(terms.for_column(shown, &column.name)) {
            self.segments.add(number, &path, phrase);
            text = format!("{text}. {phrase}");
        }
        let mut hit = hit(Corpus::Columns, path, column.comment.as_deref());
        hit.table = Some(shown.to_owned());
        hit.column = Some(column.name.clone());
        self.push(hit, &text);
    }

    /// A document for each note.
    pub(crate) fn from_notes(sources: &Sources, stems: &Stems) -> Self {
        let mut documents = Self::default();
        for note in &sources.notes {
            let path = match (&note.table, &note.column) {
                (Some(table), Some(column)) => format!("{table}.{column}"),
                (Some(table), None) => table.clone(),
                _ => note.id.clone(),
            };
            documents.words.add(&stems.stem_text(&note.text), TEXT);
            for name in note.table.iter().chain(&note.column) {
                add_name(&mut documents.words, stems, name, TEXT);
            }
            documents.names.add(&path, &path, &path);
            documents.segments.add(documents.hits.len(), &path, &note.text);
            let mut hit = Hit { id: note.id.clone(), ..hit(Corpus::Notes, path, Some(&note.text)) };
            hit.table.clone_from(&note.table);
            hit.column.clone_from(&note.column);
            hit.payload =
                (note.text.len() > SNIPPET).then(|| json!({ "note": note.text }).to_string());
            documents.push(hit, &note.text);
        }
        documents
    }

    /// A document for each solved example: its question. The hit's payload holds the statement.
    pub(crate) fn from_examples(sources: &Sources, stems: &Stems) -> Self {
        let mut documents = Self::default();
        for (number, example) in sources.examples.iter().enumerate() {
            let path = format!("example {}", number + 1);
            documents.words.add(&stems.stem_text(&example.question), TEXT);
            documents.names.add(&path, &path, &path);
            documents.segments.add(number, "", &example.question);
            let mut hit = hit(Corpus::Examples, path, Some(&example.question));
            hit.payload =
                Some(json!({ "question": example.question, "sql": example.sql }).to_string());
            documents.push(hit, &example.question);
        }
        documents
    }
}

fn hit(corpus: Corpus, path: String, snippet: Option<&str>) -> Hit {
    let snippet = snippet.map(|text| clip(text, SNIPPET).to_owned());
    Hit {
        corpus,
        id: path.clone(),
        path,
        table: None,
        column: None,
        snippet,
        payload: None,
        score: 0.0,
    }
}

fn path_of(table: &Table) -> String {
    match &table.schema_name {
        Some(schema) => format!("{schema}.{}", table.name),
        None => table.name.clone(),
    }
}

/// A name without the first `prefix` bytes, which all its siblings share; the whole name if no
/// letter or digit would be left.
fn stem_of(name: &str, prefix: usize) -> &str {
    name.get(prefix..).filter(|stem| stem.chars().any(char::is_alphanumeric)).unwrap_or(name)
}

fn add_name(words: &mut Words, stems: &Stems, name: &str, weight: f32) {
    let named = stems.stem_name(name);
    words.add(&named.words, weight);
    words.add(&named.long, weight);
}

fn add_texts<'t>(
    words: &mut Words,
    stems: &Stems,
    comment: Option<&String>,
    terms: impl Iterator<Item = &'t String>,
) {
    if let Some(comment) = comment {
        words.add(&stems.stem_text(comment), TEXT);
    }
    for term in terms {
        words.add(&stems.stem_text(term), TERM);
    }
}
