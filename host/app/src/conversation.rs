//! Conversations: questions that go on from the one before, such as `and for 2023?`, and answers to
//! what a search asked back.
//!
//! A conversation knows the last question that was answered, with its statement, its columns and
//! its request for metrics, and no rows. A question without an answer changes none of that.

mod store;

use std::fmt;
use std::sync::Arc;

use serde_json::json;
use syrch_core::ports::RowsGrant;
use syrch_core::text::clip;
use syrch_core::{Graph, Problem};
use syrch_scheduler::Stop;
use syrch_semantics::{Request, Unread, needs_question};

pub use crate::settled::Turn;
pub use store::{Conversations, Limits};

use crate::report::{AnswerBody, AnswerDocument, CandidateStatus, OriginReport};
use crate::{Ask, Error, Host, Observer, Outcome, SearchReport};

/// The limits on what a prompt shows of the question before: the characters of the question and of
/// its statement, the number of columns, and the characters of a column's name.
const QUESTION: usize = 500;
const STATEMENT: usize = 2_000;
const COLUMNS: usize = 20;
const NAME: usize = 64;
/// The limit on the candidates and warnings that an explanation names.
const NAMED: usize = 5;

/// Texts that ask how the last answer came about.
const WHYS: &[&str] = &[
    "why",
    "why is that",
    "why so",
    "how so",
    "explain",
    "explain that",
    "explain the answer",
    "how did you get that",
    "how do you know",
    "where does that come from",
];

/// The part of a conversation that the next question may go on from. A clone goes on by itself.
#[derive(Debug, Clone, Default)]
pub struct Conversation {
    last: Option<Last>,
    open: Option<Open>,
    /// The last question, if it has no answer.
    failed: Option<Failed>,
}

/// A question without an answer.
#[derive(Debug, Clone)]
struct Failed {
    question: String,
    reason: Reason,
}

/// The reason why a question has no answer.
#[derive(Debug, Clone)]
enum Reason {
    /// The search found none; its document says why.
    Document(Box<AnswerDocument>),
    /// The error of the search, or of reading the question.
    Error(String),
}

/// The last answer.
#[derive(Debug, Clone)]
struct Last {
    question: String,
    request: Option<Request>,
    /// Its document, without rows.
    document: AnswerDocument,
    columns: Vec<String>,
    /// The name of the model that may have written the statement; `None` for the rules.
    model: Option<String>,
}

/// A question that a search asked back.
#[derive(Debug, Clone)]
struct Open {
    problem: Problem,
    question: String,
    choices: Vec<String>,
    /// The request that the problem may change.
    previous: Option<Request>,
}

impl Conversation {
    /// Explains the last answer if a text asks why it is so: a report with the same statement, an
    /// explanation in place of the sentence, and no rows. Nothing is searched for. Where the last
    /// question has no answer, the report says why.
    #[must_use]
    pub fn explain(&self, text: &str) -> Option<SearchReport> {
        if !asks_why(text) {
            return None;
        }
        if let Some(failed) = &self.failed {
            let document = self.explain_failure(failed, text)?;
            let outcome = Outcome::NoAnswer;
            let graph = Graph::default();
            return Some(SearchReport {
                outcome,
                interrupted: false,
                document,
                data: None,
                graph,
                request: None,
            });
        }
        let last = self.last.as_ref()?;
        let mut document = last.document.clone();
        document.question = text.to_owned();
        document.answer = Some(AnswerBody {
            text: last.explain(),
            columns: Vec::new(),
            rows: Vec::new(),
            row_count: 0,
            truncated: false,
            basis: Vec::new(),
        });
        let outcome = Outcome::Answered;
        Some(SearchReport {
            outcome,
            interrupted: false,
            document,
            data: None,
            graph: Graph::default(),
            request: None,
        })
    }

    /// The document of a question without an answer; `None` if nothing was searched for yet.
    fn explain_failure(&self, failed: &Failed, text: &str) -> Option<AnswerDocument> {
        let mut document = match &failed.reason {
            Reason::Document(document) => AnswerDocument::clone(document),
            Reason::Error(why) => AnswerDocument {
                sql: None,
                confidence: None,
                origin: None,
                candidates: Vec::new(),
                warnings: vec![why.clone()],
                ..self.last.as_ref()?.document.clone()
            },
        };
        document.question = text.to_owned();
        let question = clip(&failed.question, QUESTION);
        document.warnings.insert(0, format!("the question before has no answer: {question}"));
        Some(document)
    }

    /// Puts a question in its place in the conversation: the answer to what was asked back, a
    /// change of the request before, or a question of its own. A model is shown the question
    /// before with its statement as data, as far as the grant of rows allows.
    ///
    /// # Errors
    /// When the rules understand it as a change that has no meaning for the request before, or the
    /// answer before has no request to change: the reason.
    pub async fn read(&mut self, host: &Host, problem: Problem) -> Result<Turn, Unread> {
        let question = problem.question.clone();
        let read = self.place(host, problem).await;
        if let Err(unread) = &read {
            self.failed = Some(Failed { question, reason: Reason::Error(unread.to_string()) });
        }
        read
    }

    async fn place(&self, host: &Host, problem: Problem) -> Result<Turn, Unread> {
        let answer = self.find_answer(&problem.question).filter(|_| problem.answers.is_empty());
        if let Some((open, choice)) = answer {
            let mut problem = open.problem.clone();
            let mut defined = host.define(open.previous.as_ref(), &problem).await?;
            problem.answers.push((open.question.clone(), choice));
            defined.given = None;
            return Ok(Turn { problem, defined: Some(defined) });
        }
        let by_rules = host.settings().model.is_by_rules();
        let previous = self.last.as_ref().and_then(|last| last.request.as_ref());
        // The rules would make a question of its own of what changes the one before.
        let cannot_change = by_rules && previous.is_none() && needs_question(&problem.question);
        if let Some(last) = self.last.as_ref().filter(|_| cannot_change) {
            return Err(last.refuse_change());
        }
        let mut defined = match host.define(previous, &problem).await {
            Ok(defined) => defined,
            Err(unread) if by_rules => return Err(unread),
            // A model may know what is meant.
            Err(_) => syrch_journal::Defined::default(),
        };
        let mut problem = problem;
        if let Some(last) = self.last.as_ref().filter(|_| !by_rules && defined.is_empty()) {
            let context = last.describe(shows_statement(host));
            defined.follows = true;
            problem.evidence = Some(match problem.evidence {
                Some(evidence) => format!("{evidence}\n{context}"),
                None => context,
            });
        }
        Ok(Turn { problem, defined: Some(defined) })
    }

    /// The question that was asked back, with the choice that a text names: by its words or its
    /// number. Where there is nothing to choose from, any text is the answer.
    fn find_answer(&self, text: &str) -> Option<(&Open, String)> {
        let open = self.open.as_ref()?;
        let text = text.trim();
        if open.choices.is_empty() {
            return Some((open, text.to_owned()));
        }
        let number = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let chosen = open
            .choices
            .iter()
            .find(|choice| choice.eq_ignore_ascii_case(text))
            .or_else(|| open.choices.get(number?));
        Some((open, chosen?.clone()))
    }

    /// Goes on from the end of a search that [`Conversation::read`] began. Without an answer the
    /// one before stays.
    pub async fn remember<E: fmt::Display>(
        &mut self,
        host: &Host,
        turn: &Turn,
        report: Result<&SearchReport, &E>,
    ) {
        let question = turn.problem.question.clone();
        let report = match report {
            Ok(report) => report,
            Err(error) => {
                let reason = Reason::Error(error.to_string());
                self.failed = Some(Failed { question, reason });
                return;
            }
        };
        let previous = match self.open.take() {
            // The answer to a question goes on from where that question did.
            Some(open) if !turn.problem.answers.is_empty() => open.previous,
            _ => self.last.as_ref().and_then(|last| last.request.clone()),
        };
        self.failed = None;
        let document = &report.document;
        if let Some(clarify) = &document.clarify {
            self.open = Some(Open {
                problem: turn.problem.clone(),
                question: clarify.question.clone(),
                choices: clarify.choices.clone(),
                previous,
            });
            return;
        }
        let (Some(answer), Some(sql)) = (&document.answer, &document.sql) else {
            let mut bare = AnswerDocument { answer: None, ..document.clone() };
            bare.steps.clear();
            bare.tasks.clear();
            bare.candidates.truncate(NAMED);
            bare.warnings.truncate(NAMED);
            let reason = Reason::Document(Box::new(bare));
            self.failed = Some(Failed { question, reason });
            return;
        };
        // A statement that somebody confirmed may be that of a request.
        let request = match document.origin {
            Some(OriginReport::Metric(_) | OriginReport::Verified { .. }) => {
                let read = host.find_request(previous.as_ref(), &turn.problem, sql).await;
                read.or_else(|| report.request.clone())
            }
            _ => None,
        };
        let model = &host.settings().model;
        self.last = Some(Last {
            question,
            request,
            model: (!model.is_by_rules()).then(|| model.model.clone()),
            columns: answer.columns.iter().take(COLUMNS).cloned().collect(),
            document: without_rows(document),
        });
    }
}

impl Last {
    /// The reason why a change of this answer has no meaning.
    fn refuse_change(&self) -> Unread {
        let origin = match &self.document.origin {
            Some(OriginReport::Verified { by, .. }) => format!("{by} confirmed its statement"),
            _ => "its statement was written for it".to_owned(),
        };
        Unread::Unsupported(format!(
            "the answer before cannot be changed, as no definition of a metric gives it: {origin}; \
             ask the question in full"
        ))
    }

    /// The explanation of the answer in sentences.
    fn explain(&self) -> String {
        let document = &self.document;
        let mut text = match &document.origin {
            Some(OriginReport::Metric(report)) => {
                let names: Vec<&str> = report.metrics.iter().map(|it| it.name.as_str()).collect();
                let mut parts = vec![report.request.as_str()];
                parts.extend(report.filters.iter().chain(&report.notes).map(String::as_str));
                format!("The definition of {} gives it: {}", names.join(", "), parts.join("; "))
            }
            Some(OriginReport::Verified { by, at, question }) => {
                format!("{by} confirmed its statement on {at} for the question: {question}")
            }
            Some(OriginReport::Generated) | None => {
                let author = match &self.model {
                    Some(model) => format!("The model {model}"),
                    None => "The rules".to_owned(),
                };
                format!("{author} wrote its statement for the question: {}", self.question)
            }
        };
        end_sentence(&mut text);
        if let Some(confidence) = &document.confidence {
            text += &format!(" Confidence {:.2}", confidence.calibrated);
            let reason = document.candidates.first().map(|candidate| candidate.reason.as_str());
            if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
                text += &format!(": {reason}");
            }
            end_sentence(&mut text);
        }
        for warning in &document.warnings {
            text += &format!(" {warning}");
            end_sentence(&mut text);
        }
        text
    }

    /// The question before as data for a prompt.
    fn describe(&self, shows_statement: bool) -> String {
        let mut data = json!({ "question": clip(&self.question, QUESTION) });
        if shows_statement {
            let columns = self.columns.iter().map(|name| clip(name, NAME));
            data["sql"] = json!(self.document.sql.as_deref().map(|sql| clip(sql, STATEMENT)));
            data["columns"] = columns.collect();
            let request = self.request.as_ref().map(Request::describe);
            data["request"] = json!(request.as_deref().map(|text| clip(text, QUESTION)));
        }
        format!(
            "The question follows this one, given as data: {data}\nWhat it leaves out is as there."
        )
    }
}

/// Returns whether the next search may know the statement of the last one: where cells are granted,
/// since the definitions write values of dimensions into it.
fn shows_statement(host: &Host) -> bool {
    matches!(host.settings().rows, RowsGrant::Sample(_) | RowsGrant::Full)
}

fn asks_why(text: &str) -> bool {
    let text = text.trim().trim_end_matches(['?', '!', '.', ' ']).to_lowercase();
    WHYS.contains(&text.as_str())
}

/// A document without rows and without what its candidates that lost were.
fn without_rows(document: &AnswerDocument) -> AnswerDocument {
    let mut bare = AnswerDocument { answer: None, ..document.clone() };
    bare.tasks.clear();
    bare.steps.clear();
    bare.candidates.retain(|candidate| candidate.status == CandidateStatus::Answer);
    bare.candidates.truncate(NAMED);
    bare.warnings.truncate(NAMED);
    bare
}

/// Ends a sentence that has no end yet.
fn end_sentence(text: &mut String) {
    if !text.ends_with(['.', '?', '!']) {
        text.push('.');
    }
}

impl Host {
    /// Answers a question of a conversation, and goes on from there.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use syrch::conversation::Conversation;
    /// use syrch::syrch_core::Problem;
    /// use syrch::{Host, Silent, Stop};
    ///
    /// # #[tokio::main(flavor = "multi_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = syrch_kit::scratch();
    /// # let shop = syrch_kit::sqlite(folder.path().join("shop.sqlite"), "
    /// #     CREATE TABLE orders(id INTEGER PRIMARY KEY, day DATE);
    /// #     INSERT INTO orders(day) VALUES ('2023-05-01'), ('2024-05-01'), ('2024-06-01');");
    /// # let file = folder.path().join("shop.yml");
    /// # std::fs::write(&file, "tables:\n  orders:\n    {key: id, time: day, \
    /// #     dimensions: {day: {type: time}}}\nmetrics:\n  orders: count(orders.id)\n")?;
    /// let host = Host::builder().database(&shop).semantics([&file]).open().await?;
    /// let mut conversation = Conversation::default();
    /// let mut numbers = Vec::new();
    /// for question in ["orders in 2024", "and in 2023?"] {
    ///     let problem = Problem::new(question);
    ///     let report = host
    ///         .search_in(&mut conversation, problem, Arc::new(Silent), None, &Stop::new())
    ///         .await?;
    ///     numbers.extend(report.document.answer.map(|answer| answer.rows[0][0].clone()));
    /// }
    /// assert_eq!(numbers, [2, 1]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Host::search`], and [`Error::FollowUp`] when the question is a change of the one before
    /// that has no meaning.
    pub async fn search_in(
        &self,
        conversation: &mut Conversation,
        problem: Problem,
        observer: Arc<dyn Observer>,
        ask: Option<&dyn Ask>,
        stop: &Stop,
    ) -> Result<SearchReport, Error> {
        if let Some(report) = conversation.explain(&problem.question) {
            return Ok(report);
        }
        let turn = conversation.read(self, problem).await?;
        let report = self.search(turn.clone(), observer, ask, stop).await;
        conversation.remember(self, &turn, report.as_ref()).await;
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_for_the_reason_are_recognised() {
        for text in ["why?", " Why is that? ", "Explain."] {
            assert!(asks_why(text), "{text}");
        }
        for text in ["why did revenue fall?", "explain revenue", ""] {
            assert!(!asks_why(text), "{text}");
        }
    }
}
