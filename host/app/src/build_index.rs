//! The index of business terms: what people call tables and columns, asked of a model once, and the
//! vectors of all texts where there is a model for those.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::{StreamExt, stream};
use serde_json::{Value, json};
use syrch_core::ports::{
    Embedder, LlmError, Message, ModelCall, ModelProvider, PortError, Purpose, Request, Shape,
    Speaker,
};
use syrch_core::text::clip;
use syrch_core::{Catalog, Column, Problem, Table};
use syrch_retrieval::{Index, Sources};
use syrch_scheduler::Stop;

use crate::context::RunState;
use crate::error::Outage;
use crate::host::Host;
use crate::knowledge::{BuiltIndex, IndexParts, IndexReport, TermsOf};
use crate::retrieval::ModelEmbedder;
use crate::{Error, Observer, SearchEvent, model_calls};

/// Columns of one model call.
const COLUMNS: usize = 40;
/// Terms of one column, as in syrch 0.3.7.
const TERMS: usize = 10;
/// The limit on the size of one term, in bytes.
const TERM: usize = 60;
/// The limit on the size of a comment in a prompt, in bytes.
const COMMENT: usize = 300;

/// The subject of one model call: a table, and some of its columns.
struct Part<'a> {
    table: &'a Table,
    columns: &'a [Column],
}

impl Host {
    /// Asks the model what people call each table and column, and caches it for this schema.
    /// Searches over it use it from then on, once they are opened anew. Tables about which the
    /// model gave nothing of use are reported; building again asks for those alone, as long as the
    /// cache holds the others.
    ///
    /// # Errors
    /// When there is no place for it, the model cannot be used at all, or a budget is used up.
    pub async fn build_index(
        &self,
        parts: IndexParts,
        observer: Arc<dyn Observer>,
        stop: &Stop,
    ) -> Result<IndexReport, Error> {
        let Some(folder) = &self.settings.retrieval.folder else {
            return Err(Error::Config("there is no folder for the index".to_owned()));
        };
        let run = self.run_beside_searches("build-index", &observer, stop).await?;
        let model = model_calls::for_run(self, &run);
        let earlier = BuiltIndex::read(folder, &run.catalog).ok().flatten();
        let (reported, failed) = match (parts, &earlier) {
            (IndexParts::All, _) => self.ask_for_terms(&run, &model).await?,
            (IndexParts::Vectors, Some(earlier)) => (earlier.terms.clone(), Vec::new()),
            (IndexParts::Vectors, None) => (Vec::new(), Vec::new()),
        };
        let sources = Sources {
            terms: reported
                .iter()
                .map(|reported| {
                    ((reported.table.clone(), reported.column.clone()), reported.terms.clone())
                })
                .collect(),
            ..self.known.knowledge.sources.clone()
        };
        let vectors = self.embed_texts(&run, &model, &sources).await;
        let count = reported.iter().map(|reported| reported.terms.len()).sum();
        let named = reported.len();
        let tables = run.catalog.tables.len();
        let mut built = BuiltIndex::new(&run.catalog, reported);
        if let (Some(model), Ok((texts, vectors))) =
            (self.settings.model.embeddings.as_deref(), &vectors)
        {
            let made_by = self.settings.model.embedding_prefixes.vectors_key(model);
            built = built.with_vectors(&made_by, texts, vectors);
        }
        // An outage takes nothing away that was known.
        let missing: Vec<String> = failed.iter().map(|(table, _)| table.clone()).collect();
        let path = built.complete_from(earlier, &missing).write(folder, &run.catalog).map_err(
            |error| {
                Error::Config(format!(
                    "the index cannot be stored in `{}`: {error}",
                    folder.display()
                ))
            },
        )?;
        let (_, vectors) = vectors?;
        let spent = run.ledger.spending();
        let calls = (spent.calls, spent.cached);
        Ok(IndexReport { path, tables, named, terms: count, vectors: vectors.len(), calls, failed })
    }

    /// Asks the model for the terms of each table and column. Returns the terms, and the tables for
    /// which it gave nothing usable, with the reason.
    async fn ask_for_terms(
        &self,
        run: &RunState,
        model: &Arc<dyn ModelProvider>,
    ) -> Result<(Vec<TermsOf>, Vec<(String, String)>), Error> {
        let parts: Vec<Part<'_>> = run.catalog.tables.iter().flat_map(split_columns).collect();
        run.trace.event(&SearchEvent::Planned { tasks: parts.len() });
        let asked = stream::iter(parts.iter().enumerate().map(|(number, part)| async move {
            let id = (number + 1).to_string();
            let text = format!("terms for {}", part.table.name);
            run.trace.event(&SearchEvent::TaskStarted { id: id.clone(), text });
            let reported = ask_about_part(run, model, part).await;
            let ending = reported
                .as_ref()
                .map_or_else(ToString::to_string, |reported| format!("{} named", reported.len()));
            run.trace.event(&SearchEvent::TaskEnded { id, ending, confidence: None });
            reported
        }));
        let reported: Vec<_> = asked.buffered(self.settings.limits.llm_in_flight).collect().await;
        let mut terms = Vec::new();
        let mut failed = Vec::new();
        for (part, reported) in parts.iter().zip(reported) {
            match reported {
                Ok(reported) => terms.extend(reported),
                Err(LlmError::Budget) => return Err(budget_error(run)),
                Err(LlmError::Cancelled) => return Err(Error::Interrupted),
                Err(error) => failed.push((part.table.name.clone(), error)),
            }
        }
        match failed.first() {
            Some((_, error)) if terms.is_empty() => Err(self.model_error(error)),
            _ => Ok((
                terms,
                failed.into_iter().map(|(table, error)| (table, error.to_string())).collect(),
            )),
        }
    }

    fn model_error(&self, error: &LlmError) -> Error {
        let outage = match error {
            LlmError::Unsupported(_) => Outage {
                message: "it cannot name business terms; an index needs a language model"
                    .to_owned(),
                obstacle: None,
            },
            error => Outage::from_error(error),
        };
        outage.into_error(&self.model.models().into_iter().next().unwrap_or_default())
    }

    /// The vectors of all texts that retrieval compares, where there is a model for them.
    async fn embed_texts(
        &self,
        run: &RunState,
        model: &Arc<dyn ModelProvider>,
        sources: &Sources,
    ) -> Result<(Vec<String>, Vec<Vec<f32>>), Error> {
        let Some(name) =
            self.settings.model.embeddings.clone().filter(|name| model.models().contains(name))
        else {
            return Ok((Vec::new(), Vec::new()));
        };
        let texts = Index::new(&run.catalog, sources).texts();
        let prefixes = self.settings.model.embedding_prefixes.clone();
        let in_flight = self.settings.limits.llm_in_flight;
        let embedder = ModelEmbedder::new(
            Arc::clone(model),
            name.clone(),
            prefixes,
            Arc::default(),
            Arc::default(),
            Arc::clone(&run.catalog),
            in_flight,
        );
        match embedder.embed(&texts).await {
            Ok(vectors) => Ok((texts, vectors)),
            Err(PortError::Budget) => Err(budget_error(run)),
            Err(error) => {
                let outage = Outage { message: error.to_string(), obstacle: None };
                Err(outage.into_error(&name))
            }
        }
    }
}

fn budget_error(run: &RunState) -> Error {
    match run.ledger.spending().exhausted.first() {
        Some(exhausted) => Error::Budget(*exhausted),
        None => Error::Internal(
            "a call was refused for want of a budget that is not used up".to_owned(),
        ),
    }
}

fn split_columns(table: &Table) -> impl Iterator<Item = Part<'_>> {
    table.columns.chunks(COLUMNS).map(move |columns| Part { table, columns })
}

/// The terms of one part.
async fn ask_about_part(
    run: &RunState,
    model: &Arc<dyn ModelProvider>,
    part: &Part<'_>,
) -> Result<Vec<TermsOf>, LlmError> {
    let request = Request {
        temperature: Some(0.0),
        ..Request::new(
            Purpose::Link,
            vec![
                Message { speaker: Speaker::System, text: INSTRUCTIONS.to_owned() },
                Message { speaker: Speaker::User, text: prompt(&run.catalog, part) },
            ],
            Shape::Json(reply_schema().to_string()),
        )
    };
    let problem = Arc::new(Problem::default());
    let catalog = Arc::clone(&run.catalog);
    let reply = model.complete(&ModelCall { request, problem, task: None, catalog }).await.result?;
    let reported: Value =
        serde_json::from_str(reply.parsed.as_deref().unwrap_or_default()).unwrap_or_default();
    Ok(read_reply(part, &reported))
}

const INSTRUCTIONS: &str = "You know how people in business speak of data. For a table of a \
                            database and for each of its columns, list words and short phrases (at \
                            most ten each) that somebody who has never seen the schema would use \
                            for it: synonyms, what abbreviations stand for, names of measures. \
                            Leave out words that are in the name itself.";

fn reply_schema() -> Value {
    let terms = json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "type": "object",
        "required": ["table", "columns"],
        "properties": {
            "table": terms,
            "columns": { "type": "array", "items": {
                "type": "object",
                "required": ["column", "terms"],
                "properties": { "column": { "type": "string" }, "terms": terms },
            } },
        },
    })
}

fn prompt(catalog: &Catalog, part: &Part<'_>) -> String {
    let comment = |comment: Option<&String>| {
        comment.map(|text| format!(" -- {}", clip(text, COMMENT))).unwrap_or_default()
    };
    let Part { table, columns } = part;
    let mut text = format!(
        "Database {}\nTable {}{}\n",
        catalog.database,
        table.name,
        comment(table.comment.as_ref())
    );
    for column in *columns {
        text +=
            &format!("  {} {}{}\n", column.name, column.sql_type, comment(column.comment.as_ref()));
    }
    text
}

/// A reply's terms of columns that exist; the table's own terms stand under an empty column.
fn read_reply(part: &Part<'_>, reported: &Value) -> Vec<TermsOf> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // A wide table is asked about in parts; what it is called is the first one's to say.
    if part.columns.as_ptr() == part.table.columns.as_ptr() {
        all.insert(String::new(), read_terms(&reported["table"]));
    }
    for each in reported["columns"].as_array().into_iter().flatten() {
        let name = each["column"].as_str().unwrap_or_default().trim();
        if let Some(column) =
            part.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
        {
            all.insert(column.name.clone(), read_terms(&each["terms"]));
        }
    }
    all.into_iter()
        .filter(|(_, terms)| !terms.is_empty())
        .map(|(column, terms): (String, Vec<String>)| TermsOf {
            table: part.table.name.clone(),
            column,
            terms,
        })
        .collect()
}

fn read_terms(list: &Value) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    // A list in one string is what models write, too.
    for term in list
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .flat_map(|text| text.split(','))
    {
        let term = term.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        if !term.is_empty() && term.len() <= TERM && terms.len() < TERMS && !terms.contains(&term) {
            terms.push(term);
        }
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_names_columns_that_there_are_in_terms_of_any_length() {
        let column = |name: &str| Column { name: name.into(), ..Column::default() };
        let table = Table {
            name: "orders".into(),
            columns: vec![column("rev"), column("cust")],
            ..Table::default()
        };
        let part = Part { table: &table, columns: &table.columns };
        let reported = json!({
            "table": ["Purchases"],
            "columns": [
                {"column": "REV", "terms": ["Net  revenue, income", "income", "x".repeat(61)]},
                {"column": "other", "terms": ["y"]},
                {"column": "cust", "terms": []},
            ],
        });
        let of = |column: &str, terms: &[&str]| TermsOf {
            table: "orders".into(),
            column: column.into(),
            terms: terms.iter().map(|&term| term.into()).collect(),
        };
        assert_eq!(
            read_reply(&part, &reported),
            [of("", &["purchases"]), of("rev", &["net revenue", "income"])]
        );
        assert_eq!(read_reply(&part, &Value::Null), []);
    }

    #[test]
    fn wide_tables_are_asked_about_in_parts() {
        let columns =
            (0..95).map(|n| Column { name: format!("c{n}"), ..Column::default() }).collect();
        let table = Table { columns, ..Table::default() };
        assert_eq!(
            split_columns(&table).map(|part| part.columns.len()).collect::<Vec<_>>(),
            [40, 40, 15]
        );
    }
}
