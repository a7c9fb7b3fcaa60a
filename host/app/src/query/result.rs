//! The answer of a query, or why there is none.

use std::sync::Arc;

use syrch_core::ports::SqlQuery as Statement;
use syrch_core::{Graph, ResultSet};

use crate::report::AnswerDocument;
use crate::{Error, Host, SearchReport};

/// An answer, and everything it rests on.
#[derive(Debug, Clone)]
pub struct QueryResult {
    /// The answer in a sentence.
    pub answer: String,
    /// The one self-contained statement whose rows are the answer.
    pub sql: String,
    /// The confidence in the answer, 0 to 1: calibrated, not what the model claims.
    pub confidence: f64,
    /// Tokens of prompts and replies together.
    pub token_cost: u64,
    /// The rows as Arrow record batches of one schema; [`ResultSet::rows`] gives them as cells.
    pub data: Arc<ResultSet>,
    /// The tables and views that the statement reads.
    pub tables: Vec<String>,
    /// The steps that led to the answer.
    pub basis: Vec<String>,
    /// The tasks that the question became, with what each waits for.
    pub graph: Graph,
    /// Everything else: the candidates and what became of each, the cost by purpose, times,
    /// plugins, warnings.
    pub trace: AnswerDocument,
}

/// The reason why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// No candidate was acceptable; the trace has the reason for each. Nothing failed: the question
    /// may be one that the database cannot answer.
    #[error("no acceptable answer was found; {} candidates were tried", .0.candidates.len())]
    NoAnswer(Box<AnswerDocument>),
    /// The question can mean several things. Ask again with what is meant, or answer through
    /// [`crate::Query::interactive`].
    #[error("the question is unclear: {question}")]
    Unclear {
        /// The question that the user should be asked.
        question: String,
        /// Answers to choose from. If there are none, any text is an answer.
        choices: Vec<String>,
        /// The document of the search so far.
        trace: Box<AnswerDocument>,
    },
    /// The search could not be made.
    #[error(transparent)]
    Failed(#[from] Error),
}

impl QueryResult {
    /// The result of a report of that host.
    pub(super) async fn from_report(host: &Host, report: SearchReport) -> Result<Self, QueryError> {
        let SearchReport { document, data, graph, .. } = report;
        if let Some(asked) = &document.clarify {
            let question = asked.question.clone();
            let choices = asked.choices.clone();
            return Err(QueryError::Unclear { question, choices, trace: Box::new(document) });
        }
        let (Some(body), Some(sql), Some(confidence), Some(data)) =
            (&document.answer, &document.sql, &document.confidence, data)
        else {
            return Err(QueryError::NoAnswer(Box::new(document)));
        };
        // The statement ran: that it cannot be read again is no reason to withhold its answer.
        let facts = host.database().check(&Statement::new(sql)).await.unwrap_or_default();
        Ok(Self {
            answer: body.text.clone(),
            sql: sql.clone(),
            confidence: confidence.calibrated,
            token_cost: document.cost.input_tokens.saturating_add(document.cost.output_tokens),
            data,
            tables: facts.tables,
            basis: body.basis.clone(),
            graph,
            trace: document,
        })
    }
}
