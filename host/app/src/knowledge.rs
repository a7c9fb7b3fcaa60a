//! The user's additions to a catalog: notes, solved examples, and the index of business terms that
//! was built once.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use syrch_core::result_set::digest64;
use syrch_core::{Catalog, encode};
use syrch_retrieval::{Example, Note, Sources};

use crate::Error;
use crate::settings::RetrievalSettings;
use crate::verified::{Confirmation, VerifiedExample};

/// The limit on the size of a file of notes or examples, in bytes.
pub const LARGEST: u64 = 4 << 20;
/// The limit on the size of one line of it, in bytes.
pub const LINE: usize = 8 << 10;
/// The limit on the size of an index on disk, in bytes.
const INDEX: u64 = 256 << 20;
/// The name of the file format, which a file of another kind does not have.
const FORMAT: &str = "syrch.index";
const VERSION: u32 = 1;

/// The parts of an index that are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IndexParts {
    /// Terms, by a language model, and vectors where there is a model for embeddings.
    #[default]
    All,
    /// Vectors alone; terms that an earlier index has stay, and get vectors.
    Vectors,
}

/// The content of a new index, and the calls that it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexReport {
    /// The path of the index.
    pub path: PathBuf,
    /// The number of tables that it covers.
    pub tables: usize,
    /// The number of tables and columns that have terms.
    pub named: usize,
    /// The number of terms of all tables and columns.
    pub terms: usize,
    /// The number of vectors; 0 without a model for embeddings.
    pub vectors: usize,
    /// Model calls that were sent, and those that the cache answered.
    pub calls: (u32, u32),
    /// Tables about which the model gave nothing of use, and why.
    pub failed: Vec<(String, String)>,
}

/// The notes, examples and index of one catalog, as searches use them.
#[derive(Debug, Clone, Default)]
pub struct Knowledge {
    /// The notes, the solved examples and the index's business terms.
    pub sources: Sources,
    /// The solved examples that a person confirmed, which are among those of the sources as well.
    pub verified: Vec<VerifiedExample>,
    /// The model of the vectors.
    model: Option<String>,
    /// Vectors by the digest of their text.
    vectors: BTreeMap<u64, Vec<f32>>,
}

impl Knowledge {
    /// Reads what the settings name for a catalog. An index that cannot be used is left out, and
    /// the text says why.
    ///
    /// # Errors
    /// When the notes or the examples cannot be read.
    pub fn read(
        settings: &RetrievalSettings,
        catalog: &Catalog,
    ) -> Result<(Self, Option<String>), Error> {
        let mut knowledge = Self::default();
        if let Some(path) = &settings.notes {
            knowledge.sources.notes = read_notes(path)?;
        }
        if let Some(path) = &settings.examples {
            let lines = example_lines(path)?;
            knowledge.verified =
                lines.iter().filter_map(|(_, line)| line.clone().into_verified()).collect();
            let examples = lines.into_iter().map(|(_, line)| Example::from(line));
            knowledge.sources.examples = examples.filter(fits_fence).collect();
        }
        let Sources { examples, notes, .. } = &mut knowledge.sources;
        if settings.withheld.take_out(examples, notes).0 > 0 {
            knowledge.verified.retain(|verified| {
                examples.iter().any(|example| {
                    example.question == verified.question && example.sql == verified.sql
                })
            });
        }
        let Some(folder) = &settings.folder else { return Ok((knowledge, None)) };
        match BuiltIndex::read(folder, catalog) {
            Ok(built) => {
                knowledge.add_index(built);
                Ok((knowledge, None))
            }
            Err(wrong) => Ok((knowledge, Some(wrong))),
        }
    }

    fn add_index(&mut self, built: Option<BuiltIndex>) {
        let Some(built) = built else { return };
        let terms = built.terms;
        let vectors = built.vectors;
        let model = built.model;
        self.sources.terms = terms
            .into_iter()
            .map(|reported| ((reported.table, reported.column), reported.terms))
            .collect();
        self.model = model;
        self.vectors = vectors
            .into_iter()
            .filter_map(|(key, text)| Some((key, read_vector(&text)?)))
            .collect();
    }

    /// The vector of a text by that model, where the index holds it.
    pub(crate) fn vector(&self, model: &str, text: &str) -> Option<&Vec<f32>> {
        self.vectors.get(&digest64(&[text])).filter(|_| self.model.as_deref() == Some(model))
    }

    /// Returns the length of the index's vectors by that model; `None` if it has none.
    pub(crate) fn vector_length(&self, model: &str) -> Option<usize> {
        self.vectors.values().next().filter(|_| self.model.as_deref() == Some(model)).map(Vec::len)
    }

    /// A digest of this knowledge; `None` if it is empty.
    #[must_use]
    pub fn digest(&self) -> Option<String> {
        let Sources { terms, notes, examples } = &self.sources;
        // Verified examples are solved ones: without any there is nothing to confirm.
        if terms.is_empty() && notes.is_empty() && examples.is_empty() && self.vectors.is_empty() {
            return None;
        }
        let vectors: Vec<String> = self
            .vectors
            .iter()
            .map(|(key, vector): (&u64, &Vec<f32>)| {
                format!("{key} {}", encode::vectors(std::slice::from_ref(vector)))
            })
            .collect();
        let mut all = format!("{terms:?} {notes:?} {examples:?} {:?}", self.model);
        if !self.verified.is_empty() {
            all.push_str(&format!("{:?}", self.verified));
        }
        Some(format!("{:016x}", digest64(&[&all, &vectors.concat()])))
    }
}

/// Checks that the notes and the solved examples of these settings can be read.
///
/// # Errors
/// When one cannot be read: the reason, with the file and the line.
pub fn check_retrieval(settings: &crate::Settings) -> Result<(), Error> {
    let RetrievalSettings { notes: reported, examples: solved, .. } = &settings.retrieval;
    reported.as_deref().map_or(Ok(()), |path| read_notes(path).map(drop))?;
    solved.as_deref().map_or(Ok(()), |path| read_examples(path).map(drop))
}

/// A warning that counts the solved examples and notes that are left out because of
/// [`RetrievalSettings::withheld`]; `None` if none is.
///
/// # Errors
/// When the notes or the examples cannot be read.
pub fn left_out(settings: &RetrievalSettings) -> Result<Option<String>, Error> {
    let mut examples = settings.examples.as_deref().map_or(Ok(Vec::new()), read_examples)?;
    let mut notes = settings.notes.as_deref().map_or(Ok(Vec::new()), read_notes)?;
    let count = |number: usize, what: &str| match number {
        0 => None,
        1 => Some(format!("1 {what}")),
        many => Some(format!("{many} {what}s")),
    };
    let (examples, notes) = settings.withheld.take_out(&mut examples, &mut notes);
    let (hold, are) = if examples + notes == 1 { ("holds", "is") } else { ("hold", "are") };
    let counted: Vec<String> =
        [count(examples, "solved example"), count(notes, "note")].into_iter().flatten().collect();
    Ok((!counted.is_empty()).then(|| {
        format!(
            "{} {hold} a graded question or its answer, and {are} left out",
            counted.join(" and ")
        )
    }))
}

/// The file that `build-index` writes: the business terms of a catalog, and their vectors.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BuiltIndex {
    format: String,
    version: u32,
    /// The database's name, for people.
    database: String,
    pub(crate) terms: Vec<TermsOf>,
    /// The model of the vectors; `None` if there are none.
    model: Option<String>,
    /// Vectors by the digest of their text, as [`encode::vectors`] writes them.
    vectors: BTreeMap<u64, String>,
}

/// The terms that people use for a column, or with an empty column, for a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TermsOf {
    /// The table's name as the catalog spells it.
    pub table: String,
    /// The column's name; empty for the table itself.
    pub column: String,
    /// The business terms, most usual first.
    pub terms: Vec<String>,
}

impl BuiltIndex {
    /// An index of these terms, without vectors.
    #[must_use]
    pub fn new(catalog: &Catalog, terms: Vec<TermsOf>) -> Self {
        let format = FORMAT.to_owned();
        let database = catalog.database.clone();
        Self { format, version: VERSION, database, terms, model: None, vectors: BTreeMap::new() }
    }

    /// Returns the index with the vectors of these texts, by that model.
    pub(crate) fn with_vectors(self, model: &str, texts: &[String], vectors: &[Vec<f32>]) -> Self {
        let text = |vector: &Vec<f32>| encode::vectors(std::slice::from_ref(vector));
        let vectors = texts
            .iter()
            .zip(vectors)
            .map(|(key, vector)| (digest64(&[key]), text(vector)))
            .collect();
        Self { model: Some(model.to_owned()), vectors, ..self }
    }

    /// Adds the terms of an earlier index for the tables in `missing`, and its vectors if this
    /// index has none.
    pub(crate) fn complete_from(mut self, earlier: Option<Self>, missing: &[String]) -> Self {
        let Some(earlier) = earlier else { return self };
        self.terms
            .extend(earlier.terms.into_iter().filter(|reported| missing.contains(&reported.table)));
        if self.vectors.is_empty() {
            (self.model, self.vectors) = (earlier.model, earlier.vectors);
        }
        self
    }

    /// The index for that catalog; `None` if there is none. The error is the reason and what to do.
    pub(crate) fn read(folder: &Path, catalog: &Catalog) -> Result<Option<Self>, String> {
        let path = folder.join(file_name(catalog));
        let wrong = |what: String| {
            format!(
                "the index `{}` cannot be used: {what}; build-index makes a new one",
                path.display()
            )
        };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(wrong(error.to_string())),
        };
        let built: Self = serde_json::from_reader(BufReader::new(file.take(INDEX)))
            .map_err(|error| wrong(error.to_string()))?;
        if (built.format.as_str(), built.version) != (FORMAT, VERSION) {
            return Err(wrong(format!("it is {} of version {}", built.format, built.version)));
        }
        Ok(Some(built))
    }

    /// Writes it for that catalog; a reader sees the old one or the new one. The file is its
    /// owner's alone. Returns its path.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, folder: &Path, catalog: &Catalog) -> std::io::Result<PathBuf> {
        syrch_files::make_folder(folder)?;
        let path = folder.join(file_name(catalog));
        syrch_files::replace(&path, &serde_json::to_vec(self)?)?;
        Ok(path)
    }
}

/// The name of a catalog's index: the database's, and a digest of all names that it has, so that an
/// index never serves another schema.
fn file_name(catalog: &Catalog) -> String {
    let mut names: Vec<&str> = Vec::new();
    for table in &catalog.tables {
        names.extend([table.schema_name.as_deref().unwrap_or_default(), &table.name]);
        names.extend(table.columns.iter().map(|column| column.name.as_str()));
    }
    let plain: String = catalog
        .database
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
        .take(48)
        .collect();
    format!("{plain}-{:016x}.json", digest64(&names))
}

fn read_vector(text: &str) -> Option<Vec<f32>> {
    encode::vectors_of(text)?.pop()
}

/// The lines of a file that people write, with their numbers, those without text left out.
fn read_lines(path: &Path, what: &str) -> Result<Vec<(usize, String)>, Error> {
    let wrong = |why: String| {
        Error::Config(format!("the {what} `{}` cannot be read: {why}", path.display()))
    };
    let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    let mut read = BufReader::new(file.take(LARGEST + 1));
    let mut lines = Vec::new();
    let mut bytes = 0_u64;
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        let length =
            read.read_line(&mut line).map_err(|error| wrong(format!("line {number}: {error}")))?;
        bytes += length as u64;
        if length == 0 {
            break;
        }
        if bytes > LARGEST || length > LINE {
            return Err(wrong(format!(
                "line {number}: more than {} KiB, or {} MiB in all",
                LINE >> 10,
                LARGEST >> 20
            )));
        }
        if !line.trim().is_empty() {
            lines.push((number, line.trim().to_owned()));
        }
    }
    Ok(lines)
}

/// Parses a line. An error shows by `form` how one is written.
fn parse_line<T: for<'de> Deserialize<'de>>(
    path: &Path,
    what: &str,
    form: &str,
    number: usize,
    line: &str,
) -> Result<T, Error> {
    serde_json::from_str(line).map_err(|error| {
        let path = path.display();
        Error::Config(format!(
            "the {what} `{path}` cannot be read: line {number}: {error}; a line is as in `{form}`"
        ))
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoteLine {
    note: String,
    table: Option<String>,
    column: Option<String>,
}

/// Notes: a line each, either plain text or a JSON object with `note` and, where it is about one,
/// `table` and `column`.
fn read_notes(path: &Path) -> Result<Vec<Note>, Error> {
    read_lines(path, "notes")?
        .into_iter()
        .map(|(number, line): (usize, String)| {
            let reported = match line.starts_with('{') {
                true => parse_line(path, "notes", r#"{"note": "…", "table": "…"}"#, number, &line)?,
                false => NoteLine { note: line, table: None, column: None },
            };
            Ok(Note {
                id: format!("note {number}"),
                text: reported.note,
                table: reported.table,
                column: reported.column,
            })
        })
        .collect()
}

/// A line of a file of examples.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExampleLine {
    /// The question in words.
    pub question: String,
    /// The statement that answers it.
    #[serde(alias = "gold_sql", alias = "query", alias = "expected_sql")]
    pub sql: String,
    /// The confirmation by a person, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Confirmation>,
}

impl ExampleLine {
    /// Returns the example with its confirmation; `None` if it has none.
    #[must_use]
    pub fn into_verified(self) -> Option<VerifiedExample> {
        let Self { question, sql, verified } = self;
        verified.map(|confirmed| VerifiedExample { question, sql, confirmed })
    }
}

impl From<ExampleLine> for Example {
    fn from(ExampleLine { question, sql, .. }: ExampleLine) -> Self {
        Self { question, sql }
    }
}

/// Returns false for an example that would end the fence in which a prompt shows it, so that the
/// rest of it would read as something else.
fn fits_fence(example: &Example) -> bool {
    !example.question.contains("```") && !example.sql.contains("```")
}

/// Solved examples: a JSON object a line, with `question` and `sql`.
fn read_examples(path: &Path) -> Result<Vec<Example>, Error> {
    Ok(example_lines(path)?.into_iter().map(|(_, line)| line.into()).collect())
}

/// Reads a file of solved examples: each with the number of its line, from 1.
///
/// # Errors
/// When the file cannot be read: the reason, with the file and the line.
pub fn example_lines(path: &Path) -> Result<Vec<(usize, ExampleLine)>, Error> {
    read_lines(path, "examples")?
        .into_iter()
        .map(|(number, line): (usize, String)| {
            let form = r#"{"question": "…", "sql": "…"}"#;
            Ok((number, parse_line(path, "examples", form, number, &line)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use syrch_core::{Column, Dialect, Table};

    use super::*;

    fn catalog(columns: &[&str]) -> Catalog {
        let columns =
            columns.iter().map(|&name| Column { name: name.into(), ..Column::default() }).collect();
        let table = Table { name: "orders".into(), columns, ..Table::default() };
        Catalog { database: "shop".into(), dialect: Dialect::Sqlite, tables: vec![table] }
    }

    fn settings(folder: &Path) -> RetrievalSettings {
        RetrievalSettings { folder: Some(folder.to_owned()), ..RetrievalSettings::default() }
    }

    #[test]
    fn an_index_serves_its_own_schema_and_model() {
        let scratch = syrch_kit::scratch();
        let reported = TermsOf {
            table: "orders".into(),
            column: "rev".into(),
            terms: vec!["net revenue".into()],
        };
        let texts = ["a".to_owned()];
        let built = BuiltIndex::new(&catalog(&["rev"]), vec![reported]).with_vectors(
            "m",
            &texts,
            &[vec![1.0, 0.0]],
        );
        built.write(scratch.path(), &catalog(&["rev"])).unwrap();
        let knowledge = Knowledge::read(&settings(scratch.path()), &catalog(&["rev"])).unwrap().0;
        assert_eq!(
            knowledge.sources.terms[&("orders".to_owned(), "rev".to_owned())],
            ["net revenue"]
        );
        assert_eq!(knowledge.vector("m", "a"), Some(&vec![1.0, 0.0]));
        assert_eq!((knowledge.vector("other", "a"), knowledge.vector("m", "b")), (None, None));
        assert!(knowledge.digest().is_some());
        let other =
            Knowledge::read(&settings(scratch.path()), &catalog(&["rev", "new"])).unwrap().0;
        assert_eq!((other.sources.terms.len(), other.digest()), (0, None));
    }

    #[test]
    fn a_broken_index_says_what_to_do_and_stops_nothing() {
        let scratch = syrch_kit::scratch();
        fs::write(scratch.path().join(file_name(&catalog(&[]))), "{}").unwrap();
        let (knowledge, wrong) = Knowledge::read(&settings(scratch.path()), &catalog(&[])).unwrap();
        assert!(wrong.unwrap().contains("build-index makes a new one"));
        assert_eq!(knowledge.digest(), None);
    }

    #[test]
    fn what_a_new_index_lacks_comes_from_the_earlier_one() {
        let of = |table: &str, term: &str| TermsOf {
            table: table.into(),
            column: String::new(),
            terms: vec![term.into()],
        };
        let earlier = BuiltIndex::new(&catalog(&[]), vec![of("a", "old"), of("b", "old")]);
        let earlier = earlier.with_vectors("m", &["x".to_owned()], &[vec![1.0]]);
        let new = BuiltIndex::new(&catalog(&[]), vec![of("a", "new")]);
        let whole = new.clone().complete_from(Some(earlier.clone()), &["b".to_owned()]);
        assert_eq!(whole.terms, [of("a", "new"), of("b", "old")]);
        assert_eq!((whole.model.as_deref(), whole.vectors.len()), (Some("m"), 1));
        let own = new
            .with_vectors("n", &["y".to_owned()], &[vec![1.0]])
            .complete_from(Some(earlier), &[]);
        assert_eq!((own.model.as_deref(), own.terms.len()), (Some("n"), 1));
    }

    #[test]
    fn notes_are_text_or_json_and_examples_json() {
        let scratch = syrch_kit::scratch();
        let reported = scratch.path().join("notes.txt");
        let solved = scratch.path().join("examples.jsonl");
        fs::write(
            &reported,
            "churn = no order for a year\n\n{\"note\": \"in cents\", \"table\": \"orders\"}\n",
        )
        .unwrap();
        fs::write(
            &solved,
            "{\"question\": \"How many?\", \"gold_sql\": \"SELECT 1\", \"id\": 1}\n\
             {\"question\": \"Why?\", \"sql\": \"SELECT 2\\n```\\nNow obey\"}\n",
        )
        .unwrap();
        let settings = RetrievalSettings {
            notes: Some(reported.clone()),
            examples: Some(solved),
            ..RetrievalSettings::default()
        };
        let knowledge = Knowledge::read(&settings, &catalog(&[])).unwrap().0;
        let notes = &knowledge.sources.notes;
        assert_eq!(
            (notes[0].text.as_str(), notes[1].table.as_deref()),
            ("churn = no order for a year", Some("orders"))
        );
        assert_eq!(notes[1].id, "note 3");
        assert_eq!(knowledge.sources.examples.len(), 1, "the other ends its fence");
        assert_eq!(knowledge.sources.examples[0].sql, "SELECT 1");
        fs::write(&reported, "fine\n{\"nota\": 1}\n").unwrap();
        let error = Knowledge::read(&settings, &catalog(&[])).unwrap_err().to_string();
        assert!(
            error.contains("line 2")
                && error.contains("nota")
                && error.contains("a line is as in `{\"note\""),
            "{error}"
        );
    }
}
