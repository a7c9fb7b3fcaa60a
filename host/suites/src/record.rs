//! One object of a suite as a question. The same names mean the same in every container, so that a
//! suite may be written in any of them.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde_json::{Map, Value};

use super::inside::{Folder, Outside};
use super::{ExpectedEnd, Format, Gold, Question};

/// The member that holds the question.
pub(super) const QUESTION: &str = "question";
/// The members that hold expected answers.
pub(super) const GOLDS: [&str; 9] = [
    "gold_sql",
    "SQL",
    "query",
    "sql",
    "expected_sql",
    "gold_alternatives",
    "expected_data",
    "expected_answer",
    "expect",
];
/// The members that hold one statement, in the order in which they count.
const STATEMENTS: [&str; 5] = ["gold_sql", "SQL", "query", "sql", "expected_sql"];
/// The engines of databases with their spellings.
const ENGINES: [(&str, &str); 9] = [
    ("sqlite", "sqlite"),
    ("sqlite3", "sqlite"),
    ("postgres", "postgres"),
    ("postgresql", "postgres"),
    ("mysql", "mysql"),
    ("duckdb", "duckdb"),
    ("databricks", "databricks"),
    ("spark", "spark"),
    ("ansi", "ansi"),
];
/// Bytes of an id, and of a database's name.
const NAME: usize = 256;
/// Bytes of a text by which results can be sliced, and of its name.
const FIELD: usize = 200;
/// Fields of one question.
const FIELDS: usize = 64;

/// Returns true if an object of a suite was meant to be a question.
pub(super) fn is_meant(object: &Map<String, Value>) -> bool {
    object.contains_key(QUESTION)
        || object.contains_key(super::turns::TURNS)
        || GOLDS.iter().any(|gold| object.contains_key(*gold))
}

/// The format whose names a JSON object uses.
pub(super) fn format(object: &Map<String, Value>) -> Format {
    fn has_key(object: &Map<String, Value>, name: &str) -> bool {
        object.contains_key(name)
    }
    if has_key(object, "expected_data")
        || has_key(object, "expected_sql")
        || has_key(object, "expected_answer")
    {
        Format::Syrch
    } else if has_key(object, "gold_sql") || has_key(object, "gold_alternatives") {
        Format::Jsonl
    } else if has_key(object, "SQL") {
        Format::Bird
    } else if has_key(object, "db_id") && has_key(object, "query") {
        Format::Spider
    } else {
        Format::Jsonl
    }
}

/// A question, or all mistakes in it, and the id in either case.
pub(super) struct Read {
    pub(super) id: Option<String>,
    pub(super) question: Result<Question, Vec<String>>,
}

/// Reads one object, the `index`-th of its suite, from 0. Its files of expected rows lie in
/// `folder`.
pub(super) fn read(
    object: Map<String, Value>,
    index: u64,
    format: Format,
    folder: &Folder,
) -> Read {
    let mut members = Members { object, wrong: Vec::new() };
    let id = members.id(index, format);
    let question = Question {
        id: id.clone().unwrap_or_default(),
        db: members.take_short_text(&["db", "db_id"]).unwrap_or_default(),
        engine: members.engine(),
        question: members.question(),
        evidence: members.text("evidence"),
        golds: members.golds(folder),
        ordered: members.take_ordered(),
        as_of: members.as_of(),
        conversation: None,
        fields: members.fields(),
    };
    let wrong = members.wrong;
    Read { id, question: if wrong.is_empty() { Ok(question) } else { Err(wrong) } }
}

/// The members of an object that are not yet read, and the mistakes so far.
struct Members {
    object: Map<String, Value>,
    wrong: Vec<String>,
}

impl Members {
    fn take(&mut self, name: &str) -> Option<Value> {
        self.object.shift_remove(name).filter(|value| !value.is_null())
    }

    fn is_wrong(&mut self, reason: impl Into<String>) {
        self.wrong.push(reason.into());
    }

    /// A text that is not blank.
    fn text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Value::String(text) => Some(text).filter(|text| !text.trim().is_empty()),
            _ => {
                self.is_wrong(format!("`{name}` is not a text"));
                None
            }
        }
    }

    /// A short text or a number, under the first of these names that there is.
    fn take_short_text(&mut self, names: &[&str]) -> Option<String> {
        let name = names
            .iter()
            .find(|name| self.object.get(**name).is_some_and(|value| !value.is_null()))?;
        let text = match self.take(name)? {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            _ => {
                self.is_wrong(format!("`{name}` is neither a text nor a number"));
                return None;
            }
        };
        if text.len() > NAME {
            self.is_wrong(format!("`{name}` is longer than {NAME} bytes"));
            return None;
        }
        Some(text).filter(|text| !text.is_empty())
    }

    /// The id, or one made from the place for questions of Spider and BIRD, which may have none.
    fn id(&mut self, index: u64, format: Format) -> Option<String> {
        let before = self.wrong.len();
        match (self.take_short_text(&["id", "question_id"]), format) {
            (Some(id), _) => Some(id),
            (None, _) if self.wrong.len() > before => None,
            (None, Format::Spider | Format::Bird) => Some(format!("{}-{index:04}", format.name())),
            (None, _) => {
                self.is_wrong("has no `id`");
                None
            }
        }
    }

    fn engine(&mut self) -> Option<String> {
        let given = self.text("engine")?;
        let wanted = given.trim().to_ascii_lowercase();
        match ENGINES.iter().find(|(spelling, _)| *spelling == wanted) {
            Some((_, name)) => Some((*name).to_owned()),
            None => {
                let mut known: Vec<&str> = ENGINES.iter().map(|(_, name)| *name).collect();
                known.dedup();
                self.is_wrong(format!(
                    "the engine `{given}` is unknown; there are {}",
                    known.join(", ")
                ));
                None
            }
        }
    }

    fn question(&mut self) -> String {
        let before = self.wrong.len();
        self.text(QUESTION).unwrap_or_else(|| {
            if self.wrong.len() == before {
                self.is_wrong("has no `question`");
            }
            String::new()
        })
    }

    fn golds(&mut self, folder: &Folder) -> Vec<Gold> {
        let before = self.wrong.len();
        let mut golds = Vec::new();
        // Spider's `sql` is the parsed form of `query`.
        if self.object.get("query").is_some_and(Value::is_string)
            && self.object.get("sql").is_some_and(|sql| !sql.is_string())
        {
            self.object.shift_remove("sql");
        }
        for name in STATEMENTS {
            golds.extend(self.text(name).map(Gold::Sql));
        }
        golds.extend(self.alternatives().into_iter().map(Gold::Sql));
        golds.extend(self.data(folder));
        golds.extend(self.answer());
        golds.extend(self.ends().into_iter().map(Gold::End));
        if golds.is_empty() && self.wrong.len() == before {
            self.is_wrong(
                "does not say what is right: it needs `gold_sql`, `expected_data`, \
                 `expected_answer` or `expect`",
            );
        }
        let mut different = Vec::new();
        for gold in golds {
            if !different.contains(&gold) {
                different.push(gold);
            }
        }
        different
    }

    fn alternatives(&mut self) -> Vec<String> {
        let name = "gold_alternatives";
        // A cell of a table holds the list as JSON.
        let list = match self.take(name) {
            Some(Value::String(text)) if text.trim().is_empty() => None,
            Some(Value::String(text)) => Some(serde_json::from_str(&text).unwrap_or_default()),
            other => other,
        };
        let Some(list) = list else { return Vec::new() };
        match serde_json::from_value::<Vec<String>>(list) {
            Ok(list) => list.into_iter().filter(|sql| !sql.trim().is_empty()).collect(),
            Err(_) => {
                self.is_wrong(format!("`{name}` is not a list of statements"));
                Vec::new()
            }
        }
    }

    fn data(&mut self, folder: &Folder) -> Option<Gold> {
        let name = self.text("expected_data")?;
        match folder.file(&name) {
            Ok(path) => Some(Gold::Csv(path)),
            Err(Outside) => {
                let root = folder.display_path();
                self.is_wrong(format!(
                    "`expected_data` is `{name}`, which lies outside of the suite's folder `{root}`"
                ));
                None
            }
        }
    }

    fn answer(&mut self) -> Option<Gold> {
        match self.take("expected_answer")? {
            Value::String(text) => {
                Some(Gold::Text(text)).filter(|gold| *gold != Gold::Text(String::new()))
            }
            Value::Number(number) => Some(Gold::Text(number.to_string())),
            _ => {
                self.is_wrong("`expected_answer` is neither a text nor a number");
                None
            }
        }
    }

    /// The expected ends without rows: one word, or several in a list or with `|` between them.
    fn ends(&mut self) -> Vec<ExpectedEnd> {
        let words: Vec<String> = match self.take("expect") {
            None => return Vec::new(),
            Some(Value::String(text)) => text.split('|').map(str::to_owned).collect(),
            Some(list) => serde_json::from_value(list).unwrap_or_default(),
        };
        let ends: Option<Vec<ExpectedEnd>> = words
            .iter()
            .map(|word| ExpectedEnd::ALL.into_iter().find(|end| end.name() == word.trim()))
            .collect();
        ends.filter(|ends| !ends.is_empty()).unwrap_or_else(|| {
            self.is_wrong("`expect` is none of clarify, refuse and silent");
            Vec::new()
        })
    }

    fn take_ordered(&mut self) -> bool {
        let value = match self.take("ordered") {
            None => return false,
            Some(Value::Bool(ordered)) => Some(ordered),
            Some(Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "1" => Some(true),
                "false" | "no" | "0" | "" => Some(false),
                _ => None,
            },
            Some(_) => None,
        };
        value.unwrap_or_else(|| {
            self.is_wrong("`ordered` is neither true nor false");
            false
        })
    }

    fn as_of(&mut self) -> Option<String> {
        let date = self.text("as_of")?.trim().to_owned();
        if is_date(&date) {
            return Some(date);
        }
        self.is_wrong(format!("`as_of` is `{date}`, which is no date of the form 2024-12-31"));
        None
    }

    /// The remaining short scalars.
    fn fields(&mut self) -> BTreeMap<String, String> {
        std::mem::take(&mut self.object)
            .into_iter()
            .filter_map(|(name, value): (String, Value)| {
                let text = match value {
                    Value::String(text) => text,
                    Value::Number(number) => number.to_string(),
                    Value::Bool(truth) => truth.to_string(),
                    _ => return None,
                };
                fn is_valid_field(text: &str) -> bool {
                    !text.is_empty() && text.len() <= FIELD
                }
                (is_valid_field(&name) && is_valid_field(&text)).then_some((name, text))
            })
            .take(FIELDS)
            .collect()
    }
}

/// Returns true if a text is a day of the calendar, `YYYY-MM-DD`.
#[must_use]
pub fn is_date(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(place, byte): (usize, u8)| {
            if [4, 7].contains(&place) { byte == b'-' } else { byte.is_ascii_digit() }
        })
        && text.parse::<NaiveDate>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_calendar_are_dates() {
        for day in ["2024-02-29", "2000-02-29", "1999-12-31", "2024-01-01"] {
            assert!(is_date(day), "{day}");
        }
        for none in [
            "2023-02-29",
            "1900-02-29",
            "2024-13-01",
            "2024-00-01",
            "2024-04-31",
            "24-01-01",
            "2024-1-1",
            "",
            "2024-01-01-",
        ] {
            assert!(!is_date(none), "{none}");
        }
    }
}
