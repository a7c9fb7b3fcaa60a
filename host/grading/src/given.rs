//! Answers from files, which are graded in place of searches: the replies of `batch`, or the
//! statements of another program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use syrch::Error;
use syrch::batch::Ending;
use syrch::report::AnswerDocument;
use syrch_core::text::{self, clip};
use syrch_grade::Question;
use syrch_grade::run::{Arm, Cost, End, Fault, Shard};
use syrch_grade::suite::Suite;

use super::ask::{Asked, Asker, answer_from_document, partial, without_answer};

/// The greatest length of a message about a line, in bytes. A message may quote the line.
const WORDS: usize = 1 << 10;
/// The greatest length of a line, in bytes. A reply of `batch` has the rows of its answer.
const LONGEST: usize = 64 << 20;

/// The answers of the files, by the question's id.
pub(crate) struct Given {
    answers: BTreeMap<String, Asked>,
    /// The SHA-256 of each file's content, in hex.
    files: Vec<String>,
    /// The labels of the simulated models that lines name as their source.
    simulated: BTreeSet<String>,
}

/// A line of a file: a reply of `batch`, or an id with a statement.
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
    #[serde(default)]
    simulated: Option<String>,
}

#[derive(Deserialize)]
struct ErrorOf {
    class: String,
    message: String,
}

impl Given {
    /// Reads all files. A question without a line in them counts as not answered.
    ///
    /// # Errors
    /// When a file cannot be read, a line is no answer, or an id occurs twice or not in the suite.
    /// The message names the first such lines.
    pub(crate) fn read(files: &[PathBuf], suite: &Suite) -> Result<Self, Error> {
        let known: BTreeSet<&str> = suite.questions.iter().map(|question| &*question.id).collect();
        let mut given =
            Self { answers: BTreeMap::new(), files: Vec::new(), simulated: BTreeSet::new() };
        let mut wrong = Vec::new();
        let mut more = 0_u64;
        for path in files {
            let digest = each_line(path, |number, line| {
                match line.and_then(|text| given.take(&known, text)) {
                    Ok(()) => {}
                    Err(what) if wrong.len() < text::NAMED => {
                        wrong.push(format!(
                            "{}, line {number}: {}",
                            path.display(),
                            clip(&what, WORDS)
                        ));
                    }
                    Err(_) => more += 1,
                }
            })?;
            given.files.push(digest);
        }
        if wrong.is_empty() {
            return Ok(given);
        }
        if more > 0 {
            wrong.push(format!("and {more} more"));
        }
        Err(Error::Unfit(format!("the answers cannot be graded:\n{}", wrong.join("\n"))))
    }

    /// Adds the answer of a line.
    ///
    /// # Errors
    /// A message that says what is wrong with the line.
    fn take(&mut self, known: &BTreeSet<&str>, text: &str) -> Result<(), String> {
        let mut line: Line =
            serde_json::from_str(text).map_err(|error| format!("is no answer: {error}"))?;
        let id = line.id();
        if !known.contains(id.as_str()) {
            return Err(format!("the suite has no question `{id}`"));
        }
        if self.answers.contains_key(&id) {
            return Err(format!("the question `{id}` has an answer already"));
        }
        self.simulated.extend(line.simulated.take().filter(|_| self.simulated.len() < text::NAMED));
        self.answers.insert(id, line.answer());
        Ok(())
    }

    /// The labels of the simulated models that the answers come from; `None` if no line names one.
    pub(crate) fn simulation_labels(&self) -> Option<String> {
        let all: Vec<&str> = self.simulated.iter().map(String::as_str).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// A warning that counts the questions without a line; `None` if there are none.
    pub(crate) fn warning(&self, suite: &Suite, shard: Option<Shard>) -> Option<String> {
        let own = (0..)
            .zip(&suite.questions)
            .filter(|(place, _)| shard.is_none_or(|shard| shard.holds(*place)));
        match own.filter(|(_, question)| !self.answers.contains_key(&question.id)).count() {
            0 => None,
            1 => {
                Some("1 question has no line in the answers, and counts as not answered".to_owned())
            }
            many => Some(format!(
                "{many} questions have no line in the answers, and count as not answered"
            )),
        }
    }

    /// The arm of a run that grades these answers. It has no plugins, and the digests of the files
    /// in place of settings, so that a run can be resumed only with the same answers.
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

/// Calls `take` with the number and the text of each line that is not empty, or with what is wrong
/// with it. Returns the SHA-256 of the file, in hex.
fn each_line(path: &Path, take: impl FnMut(usize, Result<&str, String>)) -> Result<String, Error> {
    let fail = |error: std::io::Error| {
        Error::Unfit(format!("the answers `{}` cannot be read: {error}", path.display()))
    };
    let mut file = Digested { file: File::open(path).map_err(fail)?, digest: Sha256::new() };
    lines(&mut BufReader::new(&mut file), LONGEST, take).map_err(fail)?;
    Ok(syrch_core::text::hex(file.digest.finalize()))
}

/// Reads lines and calls `take` with each. A line of more than `longest` bytes is skipped and
/// reported, without being held in memory.
fn lines(
    input: &mut impl BufRead,
    longest: usize,
    mut take: impl FnMut(usize, Result<&str, String>),
) -> std::io::Result<()> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if input.take(longest as u64 + 1).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.len() > longest && !line.ends_with(b"\n") {
            input.skip_until(b'\n')?;
            take(number, Err(format!("is longer than {longest} bytes")));
            continue;
        }
        match std::str::from_utf8(&line).map(|line| line.trim_start_matches('\u{feff}').trim()) {
            Ok("") => {}
            Ok(text) => take(number, Ok(text)),
            Err(_) => take(number, Err("is not UTF-8 text".to_owned())),
        }
    }
    Ok(())
}

/// A reader that computes the digest of the bytes that pass through it.
struct Digested<R> {
    file: R,
    digest: Sha256,
}

impl<R: Read> Read for Digested<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(out)?;
        self.digest.update(out.get(..read).unwrap_or_default());
        Ok(read)
    }
}

impl Line {
    fn id(&self) -> String {
        match &self.id {
            Value::String(id) => id.clone(),
            other => other.to_string(),
        }
    }

    fn answer(self) -> Asked {
        if let Some(error) = self.error {
            let fault = Fault { class: error.class, message: error.message };
            return without_answer(fault, Cost::default());
        }
        if let Some(document) =
            self.answer.as_ref().filter(|_| self.outcome == Some(Ending::Partial))
        {
            return partial(document);
        }
        if let Some(document) = self.answer {
            let end = match self.outcome.unwrap_or(Ending::Answered) {
                Ending::Answered => End::Answered,
                Ending::NoAnswer => End::NoAnswer,
                Ending::ClarificationNeeded => End::Clarify,
                Ending::Partial | Ending::Failed => End::Failed,
            };
            return answer_from_document(end, document);
        }
        let end = if self.sql.is_some() { End::Answered } else { End::NoAnswer };
        Asked { end, sql: self.sql, confidence: self.confidence, ..no_answer() }
    }
}

fn no_answer() -> Asked {
    Asked {
        end: End::NoAnswer,
        fault: None,
        sql: None,
        data: None,
        confidence: None,
        candidate_confidence: None,
        reviewed: Vec::new(),
        origin: None,
        access: Vec::new(),
        cost: Cost::default(),
        time_ms: 0.0,
        used_up: None,
    }
}

#[async_trait]
impl Asker for Given {
    async fn ask(&self, _: usize, question: &Question, _: Option<&Path>) -> Result<Asked, Error> {
        Ok(self.answers.get(&question.id).cloned().unwrap_or_else(|| {
            let message = "there is no line for it in the answers".to_owned();
            without_answer(Fault { class: "no-answer".to_owned(), message }, Cost::default())
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_skipped_and_reported() {
        let mut reported = Vec::new();
        let input =
            b"\xef\xbb\xbf12345\n\n12345678901234567890\n 1234567\n\xff\n12345678\n123456789";
        lines(
            &mut BufReader::with_capacity(3, &input[..]),
            8,
            |number: usize, line: Result<&str, String>| {
                reported.push((number, line.map(str::to_owned)))
            },
        )
        .unwrap();
        let text = |text: &str| Ok(text.to_owned());
        let expected = [
            (1, text("12345")),
            (3, Err("is longer than 8 bytes".to_owned())),
            (4, text("1234567")),
            (5, Err("is not UTF-8 text".to_owned())),
            (6, text("12345678")),
            (7, Err("is longer than 8 bytes".to_owned())),
        ];
        assert_eq!(reported, expected);
    }

    #[test]
    fn what_is_wrong_is_reported_five_times_and_then_counted() {
        let folder = syrch_kit::scratch();
        let file = folder.path().join("answers.jsonl");
        let question = json!({"id": "q", "db": "shop", "question": "?", "gold_sql": "SELECT 1"});
        std::fs::write(folder.path().join("suite.jsonl"), question.to_string()).unwrap();
        let suite = syrch_grade::suite::read(&folder.path().join("suite.jsonl")).unwrap();
        let known = "{\"id\": \"q\", \"sql\": \"SELECT 1\"}\n";
        std::fs::write(&file, format!("{known}{}{}", known.repeat(2), "nonsense\n".repeat(30)))
            .unwrap();
        let said =
            Given::read(std::slice::from_ref(&file), &suite).map(drop).unwrap_err().to_string();
        let said: Vec<&str> = said.lines().collect();
        assert_eq!((said.len(), said[6]), (7, "and 27 more"), "{said:?}");
        assert!(said[1].ends_with("line 2: the question `q` has an answer already"), "{said:?}");
        assert!(said[5].contains("line 6: is no answer: "), "{said:?}");
        std::fs::write(&file, known).unwrap();
        let given = Given::read(&[file], &suite).unwrap();
        assert_eq!(given.files, [syrch_core::text::hex(Sha256::digest(known))]);
    }
}
