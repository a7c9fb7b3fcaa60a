//! A line of a batch: a question with what belongs to it, or what is wrong with the line.

use serde::Deserialize;
use serde_json::{Number, Value};
use syrch_core::Problem;
use syrch_suites::is_date;
use syrch_suites::run::Fault;

use super::reply::line_fault;
use crate::conversation::Conversations;

/// The limit on the size of a line, in bytes.
pub const LONGEST: usize = 1 << 20;
/// The limit on the size of a database's name, in bytes.
const NAME: usize = 256;
/// The least of the numbers of which not every whole one has a value of its own (2 to the 53rd).
const WHOLE: f64 = 9_007_199_254_740_992.0;
/// The bytes with which some editors begin UTF-8 text; they may stand in the middle of files that
/// were concatenated.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A question of a batch.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Question {
    /// A text or a number that the reply bears; `None` means the line's number.
    pub id: Option<Value>,
    /// The text of the question.
    pub question: String,
    /// Its database, by a name in the batch's folder of databases.
    pub db: Option<String>,
    /// An explanation of the terms of the question.
    pub evidence: Option<String>,
    /// The day that the question takes for today, `YYYY-MM-DD`.
    pub as_of: Option<String>,
    /// The id of the conversation in which it is asked: its questions are asked in their order, and
    /// each may go on from the one before. In a line it is a text, or a number, which means the
    /// text of its value: `1`, `1.0` and `"1"` are one conversation.
    pub conversation: Option<String>,
}

/// The problem that the roles of a strategy get for a question: its text, with `evidence` and the
/// day `as_of` (`YYYY-MM-DD`) as its evidence. Lines of a batch and questions of a suite become the
/// same problem.
#[must_use]
pub fn problem(question: &str, evidence: Option<&str>, as_of: Option<&str>) -> Problem {
    let today = as_of.map(|day| format!("Today is {day}."));
    let given: Vec<String> = evidence.map(str::to_owned).into_iter().chain(today).collect();
    let evidence = (!given.is_empty()).then(|| given.join("\n"));
    Problem { evidence, ..Problem::new(question) }
}

impl Question {
    /// Makes a question about the batch's database, without more.
    #[must_use]
    pub fn new(question: impl Into<String>) -> Self {
        Self { question: question.into(), ..Self::default() }
    }

    /// The conversation that it is asked in, by its database and its id.
    pub(super) fn key(&self) -> Option<(Option<String>, String)> {
        Some((self.db.clone(), self.conversation.clone()?))
    }

    /// The problem for the roles: the same as of a suite's question.
    pub(super) fn problem(&self) -> Problem {
        problem(&self.question, self.evidence.as_deref(), self.as_of.as_deref())
    }
}

/// A line of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its number, from 1; blank lines count.
    pub number: u64,
    /// The id that the reply bears.
    pub(super) id: Value,
    pub(super) question: Result<Question, Fault>,
}

/// The members that are read of an object. The rest is not stored, least of all what a suite
/// expects.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Members {
    #[serde(alias = "question_id")]
    id: Value,
    question: Value,
    #[serde(alias = "db_id")]
    db: Value,
    evidence: Value,
    as_of: Value,
    conversation: Value,
}

impl Line {
    /// A line with that question. What [`Line::read`] has against a line it has against a question,
    /// too: then its reply reports it.
    #[must_use]
    pub fn new(number: u64, question: Question) -> Self {
        Members::from(question).into_line(number)
    }

    /// Reads a line, without its end: an object with `question` and perhaps `id`, `db`, `evidence`,
    /// `as_of` and `conversation`, or just the question as a JSON string. Further members are
    /// passed over, what a suite expects of the answer included. `None` if the line is blank.
    #[must_use]
    pub fn read(number: u64, line: &[u8]) -> Option<Self> {
        let bytes = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii();
        if bytes.is_empty() {
            return None;
        }
        if line.len() > LONGEST {
            return Some(Self::too_long(number, Value::Null));
        }
        Some(match parse(bytes) {
            Err(fault) => Self { number, id: number.into(), question: Err(fault) },
            Ok(members) => members.into_line(number),
        })
    }

    /// Returns the id that its reply bears: its own id, or its number.
    #[must_use]
    pub fn id(&self) -> &Value {
        &self.id
    }

    /// Returns the text of its question; `None` if something is wrong with the line.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.question.as_ref().ok().map(|question| question.question.as_str())
    }

    /// Returns whether its question is one of a conversation.
    #[must_use]
    pub fn is_of_conversation(&self) -> bool {
        self.question.as_ref().is_ok_and(|question| question.conversation.is_some())
    }

    /// A line of more than [`LONGEST`] bytes, of which nothing but its id is known; null if not
    /// even that is.
    #[must_use]
    pub fn too_long(number: u64, id: Value) -> Self {
        let id = if is_id(&id) { id } else { number.into() };
        Self {
            number,
            id,
            question: Err(line_fault(format!("the line is longer than {LONGEST} bytes"))),
        }
    }
}

fn parse(bytes: &[u8]) -> Result<Members, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|_| line_fault("the line is not UTF-8 text"))?;
    let json = |error: serde_json::Error| {
        let message = error.to_string();
        let what = message.split(" at line ").next().unwrap_or(&message);
        line_fault(format!("the line is not read as JSON: {what} at column {}", error.column()))
    };
    match bytes.first() {
        Some(b'"') => Ok(Members {
            question: serde_json::from_str(text).map_err(json)?,
            ..Members::default()
        }),
        Some(b'{') => serde_json::from_str(text).map_err(json),
        _ => Err(line_fault(
            "the line is neither an object with `question` nor a question in double quotes",
        )),
    }
}

impl From<Question> for Members {
    fn from(question: Question) -> Self {
        let Question { id, question, db, evidence, as_of, conversation } = question;
        let id = id.unwrap_or_default();
        Self {
            id,
            question: question.into(),
            db: db.into(),
            evidence: evidence.into(),
            as_of: as_of.into(),
            conversation: conversation.into(),
        }
    }
}

impl Members {
    /// The line that holds them.
    fn into_line(self, number: u64) -> Line {
        let (id, question) = self.read_question();
        Line { number, id: id.unwrap_or_else(|| number.into()), question }
    }

    /// The id, when it can be one, and the question.
    fn read_question(self) -> (Option<Value>, Result<Question, Fault>) {
        let Self { id, question, db, evidence, as_of, conversation } = self;
        let known = is_id(&id).then(|| id.clone());
        if known.is_none() && !id.is_null() {
            return (None, Err(line_fault("`id` is neither a text nor a number")));
        }
        let read = || {
            Ok(Question {
                id: known.clone(),
                question: read_text("question", question)?
                    .ok_or_else(|| line_fault("the line has no `question`"))?,
                db: read_name(db)?,
                evidence: read_text("evidence", evidence)?,
                as_of: read_day(as_of)?,
                conversation: read_conversation_id(conversation)?,
            })
        };
        let question = read();
        (known, question)
    }
}

fn is_id(value: &Value) -> bool {
    value.is_string() || value.is_number()
}

/// A text that is not blank.
fn read_text(member: &str, value: Value) -> Result<Option<String>, Fault> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        _ => Err(line_fault(format!("`{member}` is not a text"))),
    }
}

fn read_conversation_id(value: Value) -> Result<Option<String>, Fault> {
    let id = match value {
        Value::Number(number) => Some(write_number(&number)),
        other => read_text("conversation", other)?,
    };
    match id {
        Some(id) if !Conversations::is_id(&id) => Err(line_fault(
            "`conversation` is no id: it has at most 128 bytes and no control characters",
        )),
        id => Ok(id),
    }
}

/// The text of a number's value, without a fraction where there is none.
fn write_number(number: &Number) -> String {
    let whole = number.as_f64().filter(|value| value.fract() == 0.0 && value.abs() < WHOLE);
    match whole {
        // A zero has no sign.
        Some(value) => format!("{:.0}", value + 0.0),
        None => number.to_string(),
    }
}

fn read_name(value: Value) -> Result<Option<String>, Fault> {
    let name = match value {
        Value::Number(number) => Some(number.to_string()),
        other => read_text("db", other)?.map(|name| name.trim().to_owned()),
    };
    match name {
        Some(name) if name.len() > NAME => {
            Err(line_fault(format!("`db` is longer than {NAME} bytes")))
        }
        name => Ok(name),
    }
}

fn read_day(value: Value) -> Result<Option<String>, Fault> {
    let day = read_text("as_of", value)?.map(|day| day.trim().to_owned());
    match day {
        Some(day) if !is_date(&day) => Err(line_fault("`as_of` is no date of the form 2024-12-31")),
        day => Ok(day),
    }
}
