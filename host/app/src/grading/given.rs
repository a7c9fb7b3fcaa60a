//! Answers that were given before: what `batch` wrote, or the statements of another program, graded in place of a search.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use syrch_grade::Question;
use syrch_grade::run::{Arm, Cost, End, Fault, Shard};
use syrch_grade::suite::Suite;

use super::ask::{Asked, Asker, of_document, without_answer};
use crate::batch::Ending;
use crate::{AnswerDocument, Error};

/// Problems that are told of.
const TOLD: usize = 20;

/// Answers by the question's id.
pub(crate) struct Given {
    answers: BTreeMap<String, Asked>,
    /// The SHA-256 of what each file holds.
    files: Vec<String>,
}

/// A line: an answer as `batch` writes it, or just the statement.
#[derive(Deserialize)]
struct Line {
    id: Value,
    #[serde(default)]
    sql: Option<String>,
    #[serde(default)]
    confidence: Option<f64>,
    #[serde(default)]
    outcome: Option<Ending>,
    #[serde(default)]
    answer: Option<AnswerDocument>,
    #[serde(default)]
    error: Option<ErrorOf>,
}

#[derive(Deserialize)]
struct ErrorOf {
    class: String,
    message: String,
}

impl Given {
    /// Reads all files. A question that has no answer in them was not answered.
    ///
    /// # Errors
    /// Every line that is none, and every id that the suite lacks or that comes twice.
    pub(crate) fn read(files: &[PathBuf], suite: &Suite) -> Result<Self, Error> {
        let known: std::collections::BTreeSet<&str> = suite.questions.iter().map(|question| &*question.id).collect();
        let mut answers = BTreeMap::new();
        let (mut wrong, mut digests) = (Vec::new(), Vec::new());
        for path in files {
            let digest = each_line(path, |number, text| {
                let mut fault = |what: String| wrong.push(format!("{}, line {number}: {what}", path.display()));
                match read(text) {
                    Err(error) => fault(format!("is no answer: {error}")),
                    Ok((id, _)) if !known.contains(id.as_str()) => fault(format!("the suite has no question `{id}`")),
                    Ok((id, asked)) => {
                        if answers.insert(id.clone(), asked).is_some() {
                            fault(format!("the question `{id}` has an answer already"));
                        }
                    }
                }
            })?;
            digests.push(digest);
        }
        if wrong.is_empty() {
            return Ok(Self { answers, files: digests });
        }
        let more = wrong.len().saturating_sub(TOLD);
        wrong.truncate(TOLD);
        if more > 0 {
            wrong.push(format!("and {more} more"));
        }
        Err(Error::Unfit(format!("the answers cannot be graded:\n{}", wrong.join("\n"))))
    }

    /// How many questions have no line; none: none lacks one.
    pub(crate) fn warning(&self, suite: &Suite, shard: Option<Shard>) -> Option<String> {
        let own = (0..).zip(&suite.questions).filter(|(place, _)| shard.is_none_or(|shard| shard.holds(*place)));
        match own.filter(|(_, question)| !self.answers.contains_key(&question.id)).count() {
            0 => None,
            1 => Some("1 question has no line in the answers, and counts as not answered".to_owned()),
            many => Some(format!("{many} questions have no line in the answers, and count as not answered")),
        }
    }

    /// Who gave them: nobody that plays here. Their content stands where the settings of a search do, so that a run goes on with the same only.
    pub(crate) fn arm(&self) -> Arm {
        Arm {
            name: "answers".to_owned(),
            strategy: "given".to_owned(),
            plugins: Vec::new(),
            settings: json!({"answers": self.files}),
            again: None,
        }
    }
}

/// Gives each line that is not empty to `take`, with its number; the SHA-256 of the file in hexadecimal digits.
fn each_line(path: &Path, mut take: impl FnMut(usize, &str)) -> Result<String, Error> {
    let fail =
        |error: std::io::Error| Error::Unfit(format!("the answers `{}` cannot be read: {error}", path.display()));
    let mut reader = BufReader::new(File::open(path).map_err(fail)?);
    let (mut line, mut digest) = (String::new(), Sha256::new());
    for number in 1.. {
        line.clear();
        if reader.read_line(&mut line).map_err(fail)? == 0 {
            break;
        }
        digest.update(&line);
        let text = line.trim_start_matches('\u{feff}').trim();
        if !text.is_empty() {
            take(number, text);
        }
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn read(text: &str) -> Result<(String, Asked), serde_json::Error> {
    let line: Line = serde_json::from_str(text)?;
    let id = match &line.id {
        Value::String(id) => id.clone(),
        other => other.to_string(),
    };
    if let Some(error) = line.error {
        let fault = Fault { class: error.class, message: error.message };
        return Ok((id, without_answer(fault, Cost::default())));
    }
    if let Some(document) = line.answer {
        let end = match line.outcome.unwrap_or(Ending::Answered) {
            Ending::Answered => End::Answered,
            Ending::NoAnswer => End::NoAnswer,
            Ending::ClarificationNeeded => End::Clarify,
            Ending::Failed => End::Failed,
        };
        return Ok((id, of_document(end, document)));
    }
    let end = if line.sql.is_some() { End::Answered } else { End::NoAnswer };
    Ok((id, Asked { end, sql: line.sql, confidence: line.confidence, ..nothing() }))
}

fn nothing() -> Asked {
    Asked {
        end: End::NoAnswer,
        fault: None,
        sql: None,
        data: None,
        confidence: None,
        candidate_confidence: None,
        cost: Cost::default(),
        time_ms: 0.0,
    }
}

#[async_trait]
impl Asker for Given {
    async fn ask(&self, _: usize, question: &Question, _: Option<&Path>) -> Result<Asked, Error> {
        let missing = || {
            let message = "there is no line for it in the answers".to_owned();
            without_answer(Fault { class: "no-answer".to_owned(), message }, Cost::default())
        };
        Ok(self.answers.get(&question.id).cloned().unwrap_or_else(missing))
    }
}
