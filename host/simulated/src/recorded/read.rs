//! The two files: questions, and the answers of systems. They are read line by line, and only the
//! fields that are used.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::known::{ByWords, Known};

/// The file with the questions, in the folder of the answers.
const QUESTIONS: &str = "questions.jsonl";
/// Bytes of one line at most.
const LINE: u64 = 16 << 20;

/// The reason why recorded answers cannot be read; lines count from 1.
#[derive(Debug, thiserror::Error)]
pub enum RecordedError {
    /// A file cannot be opened or read.
    #[error("the recorded answers `{path}`: {source}")]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file with the questions is missing.
    #[error(
        "the recorded answers `{answers}` are to questions that are missing: there is no file \
         `questions.jsonl` beside them"
    )]
    NoQuestions {
        /// The file with the answers.
        answers: PathBuf,
    },
    /// A line is malformed or repeats an id.
    #[error("the recorded answers `{path}`, line {line}: {reason}")]
    Malformed {
        /// The path of the file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
        /// A description of what is wrong with the line.
        reason: String,
    },
}

/// The fields of a question that are read. Others, such as gold statements, are skipped.
#[derive(Deserialize)]
struct QuestionLine {
    id: String,
    db: String,
    question: String,
}

/// The fields of a question's answers that are read.
#[derive(Deserialize)]
struct AnswersLine {
    id: String,
    candidates: BTreeMap<String, Candidate>,
}

/// The fields of an answer that are read. Verdicts on it (right, wrong, failed) are skipped.
#[derive(Deserialize)]
struct Candidate {
    sql: String,
}

/// The fields by which a file of answers is recognised.
#[derive(Deserialize)]
struct Signature {
    #[serde(rename = "id")]
    _id: IgnoredAny,
    #[serde(rename = "candidates")]
    _candidates: BTreeMap<String, IgnoredAny>,
}

/// The answer of one system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    /// The name of the system.
    pub(super) system: String,
    /// Its statement as it was recorded; it may be empty.
    pub(super) sql: String,
}

/// A question with its answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    /// The id of the question, unique in the file.
    pub(super) id: String,
    /// The name of its database: the file's stem.
    pub(super) database: String,
    /// The question in words, trimmed.
    pub(super) question: String,
    /// The answers, sorted by the systems' names.
    pub(super) answers: Vec<Answer>,
}

/// Questions with their recorded answers.
#[derive(Debug, Clone, Default)]
pub struct RecordedAnswers {
    /// The questions in the order of their file.
    asked: Vec<Asked>,
    by_words: ByWords,
}

impl Known for Asked {
    fn id(&self) -> &str {
        &self.id
    }

    fn database(&self) -> &str {
        &self.database
    }

    fn question(&self) -> &str {
        &self.question
    }
}

impl RecordedAnswers {
    /// Reads answers, and the `questions.jsonl` in their folder. Questions without answers are left
    /// out, empty lines skipped.
    ///
    /// # Errors
    /// When a file cannot be read or there are no questions, at the first malformed or repeated
    /// line, and at answers to no question.
    pub fn read(path: &Path) -> Result<Self, RecordedError> {
        let questions = path.with_file_name(QUESTIONS);
        if !questions.is_file() {
            return Err(RecordedError::NoQuestions { answers: path.to_owned() });
        }
        let mut asked = Vec::new();
        let mut places = BTreeMap::new();
        each_line(&questions, |QuestionLine { id, db, question }| {
            if places.insert(id.clone(), asked.len()).is_some() {
                return Err(format!("it repeats the id `{id}`"));
            }
            asked.push(Asked {
                id,
                database: db,
                question: question.trim().to_owned(),
                answers: Vec::new(),
            });
            Ok(())
        })?;
        each_line(path, |AnswersLine { id, candidates }| {
            let place = places.get(&id).copied().and_then(|place| asked.get_mut(place));
            let asked: &mut Asked =
                place.ok_or_else(|| format!("`{QUESTIONS}` has no question `{id}`"))?;
            if !asked.answers.is_empty() {
                return Err(format!("it repeats the id `{id}`"));
            }
            asked.answers = candidates
                .into_iter()
                .map(|(system, Candidate { sql })| Answer { system, sql })
                .collect();
            Ok(())
        })?;
        asked.retain(|asked| !asked.answers.is_empty());
        Ok(Self::new(asked))
    }

    fn new(asked: Vec<Asked>) -> Self {
        Self { by_words: ByWords::new(&asked), asked }
    }

    /// The question with this text. If questions over several databases have this text, the one
    /// over the named database; if a database has several, the first of them.
    pub(super) fn find(&self, question: &str, database: &str) -> Option<&Asked> {
        self.asked.get(self.by_words.find(&self.asked, question, database)?)
    }

    /// All questions, in the order of their file.
    pub(super) fn all(&self) -> &[Asked] {
        &self.asked
    }
}

/// Returns true if a file's first line is that of recorded answers: an object with `id` and
/// `candidates`. False too when it cannot be read.
#[must_use]
pub fn is_recorded(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let mut first = Vec::new();
    let read = BufReader::new(file).take(LINE).read_until(b'\n', &mut first);
    read.is_ok() && serde_json::from_slice::<Signature>(&first).is_ok()
}

/// Reads a file line by line, one value a line.
fn each_line<T: DeserializeOwned>(
    path: &Path,
    mut take: impl FnMut(T) -> Result<(), String>,
) -> Result<(), RecordedError> {
    let fail = |source| RecordedError::Io { path: path.to_owned(), source };
    let mut reader = BufReader::new(File::open(path).map_err(fail)?);
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        if reader.by_ref().take(LINE).read_until(b'\n', &mut bytes).map_err(fail)? == 0 {
            break;
        }
        let malformed = |reason| RecordedError::Malformed { path: path.to_owned(), line, reason };
        if bytes.len() as u64 == LINE {
            return Err(malformed(format!("it is longer than {LINE} bytes")));
        }
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        // To the parser, each line is the first.
        serde_json::from_slice(&bytes)
            .map_err(|error: serde_json::Error| {
                error.to_string().replace(" at line 1 column ", " at column ")
            })
            .and_then(&mut take)
            .map_err(malformed)?;
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod fixture {
    use super::*;

    pub(in crate::recorded) const QUESTION_LINES: &str = r#"
{"id": "q1", "db": "shop", "question": "How many? ", "gold_sql": "SELECT 'gold'"}
{"id": "q2", "db": "farm", "question": "How many?", "gold_sql": "SELECT 'gold'"}
{"id": "q3", "db": "farm", "question": "Which pigs?", "gold_sql": "SELECT 'gold'"}
{"id": "q4", "db": "farm", "question": "Never answered", "gold_sql": "SELECT 'gold'"}
"#;
    pub(in crate::recorded) const ANSWER_LINES: &str = r#"{"id": "q1", "candidates": {"b": {"sql": "SELECT 2", "ex": 1}, "a": {"sql": "SELECT 1", "ex": 0}}}

{"id": "q2", "candidates": {"a": {"sql": "SELECT 3", "ex": 0, "bird_ex": 0, "err": 0}}}
{"id": "q3", "candidates": {"a": {"sql": "SELECT 4"}, "b": {"sql": " \n"}, "c": {"sql": "SELECT 5"}}}"#;

    /// Writes both files and reads them.
    pub(in crate::recorded) fn read(
        questions: &str,
        answers: &str,
    ) -> Result<RecordedAnswers, String> {
        let folder = syrch_kit::scratch();
        std::fs::write(folder.path().join(QUESTIONS), questions).unwrap();
        let path = folder.path().join("recorded.jsonl");
        std::fs::write(&path, answers).unwrap();
        let shown = format!("{}/", folder.path().display());
        RecordedAnswers::read(&path).map_err(|error| error.to_string().replace(&shown, ""))
    }

    pub(in crate::recorded) fn answers() -> RecordedAnswers {
        read(QUESTION_LINES, ANSWER_LINES).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::{ANSWER_LINES, QUESTION_LINES, answers, read};
    use super::*;

    #[test]
    fn questions_and_answers_are_joined_by_id() {
        let answers = answers();
        let ids: Vec<&str> = answers.all().iter().map(|asked| asked.id.as_str()).collect();
        assert_eq!(ids, ["q1", "q2", "q3"]);
        let first = Asked {
            id: "q1".to_owned(),
            database: "shop".to_owned(),
            question: "How many?".to_owned(),
            answers: [("a", "SELECT 1"), ("b", "SELECT 2")]
                .map(|(system, sql)| Answer { system: system.to_owned(), sql: sql.to_owned() })
                .to_vec(),
        };
        assert_eq!(answers.all()[0], first);
        assert!(!format!("{answers:?}").contains("gold"), "what is right is not even read");
    }

    #[test]
    fn a_question_is_found_by_its_text_and_where_that_is_shared_by_its_database() {
        let answers = answers();
        let id = |question: &str, database: &str| {
            answers.find(question, database).map(|asked| asked.id.as_str())
        };
        assert_eq!(id("How many?", "shop"), Some("q1"));
        assert_eq!(id(" How many?\n", "farm"), Some("q2"));
        assert_eq!(id("How many?", "zoo"), None);
        assert_eq!(id("Which pigs?", "a copy of it"), Some("q3"));
        assert_eq!((id("Which cows?", "farm"), id("Never answered", "farm")), (None, None));
        let twice = QUESTION_LINES.replace("shop", "farm");
        let twice = read(&twice, ANSWER_LINES).unwrap();
        assert_eq!(twice.find("How many?", "anywhere").unwrap().id, "q1");
    }

    #[test]
    fn errors_say_where() {
        fn error(questions: &str, answers: &str) -> String {
            read(questions, answers).unwrap_err()
        }
        let no_sql = r#"{"id": "q1", "candidates": {"a": {"ex": 1}}}"#;
        let reason =
            "the recorded answers `recorded.jsonl`, line 1: missing field `sql` at column 42";
        assert_eq!(error(QUESTION_LINES, no_sql), reason);
        let cut = &ANSWER_LINES[..ANSWER_LINES.len() - 9];
        let reported = error(QUESTION_LINES, cut);
        assert!(
            reported
                .starts_with("the recorded answers `recorded.jsonl`, line 4: EOF while parsing"),
            "{reported}"
        );
        let twice =
            format!("{ANSWER_LINES}\n{no_sql}").replace("{\"ex\": 1}", "{\"sql\": \"SELECT 1\"}");
        assert_eq!(
            error(QUESTION_LINES, &twice),
            "the recorded answers `recorded.jsonl`, line 5: it repeats the id `q1`"
        );
        let unknown = ANSWER_LINES.replace("q3", "q9");
        let reason =
            "the recorded answers `recorded.jsonl`, line 4: `questions.jsonl` has no question `q9`";
        assert_eq!(error(QUESTION_LINES, &unknown), reason);
        let repeated = QUESTION_LINES.replace("q4", "q1");
        let reason = "the recorded answers `questions.jsonl`, line 5: it repeats the id `q1`";
        assert_eq!(error(&repeated, ANSWER_LINES), reason);
    }

    #[test]
    fn missing_files_are_named() {
        let folder = syrch_kit::scratch();
        let path = folder.path().join("recorded.jsonl");
        std::fs::write(&path, ANSWER_LINES).unwrap();
        let error = RecordedAnswers::read(&path).unwrap_err();
        assert!(
            matches!(&error, RecordedError::NoQuestions { answers } if *answers == path),
            "{error}"
        );
        assert!(
            error.to_string().ends_with("there is no file `questions.jsonl` beside them"),
            "{error}"
        );
        std::fs::write(folder.path().join(QUESTIONS), QUESTION_LINES).unwrap();
        let gone = RecordedAnswers::read(&folder.path().join("gone.jsonl")).unwrap_err();
        assert!(matches!(gone, RecordedError::Io { .. }), "{gone}");
    }

    #[test]
    fn the_first_line_identifies_a_file() {
        let folder = syrch_kit::scratch();
        let is = |text: &str| {
            let path = folder.path().join("file.jsonl");
            std::fs::write(&path, text).unwrap();
            is_recorded(&path)
        };
        assert!(is(ANSWER_LINES) && is(r#"{"id": "q", "candidates": {}}"#));
        for other in [
            "",
            "{}",
            "\n",
            r#"{"format": "syrch.recording", "version": 1}"#,
            r#"{"id": "q", "candidates": 3}"#,
        ] {
            assert!(!is(other), "{other}");
        }
        assert!(!is_recorded(&folder.path().join("gone.jsonl")));
    }
}
