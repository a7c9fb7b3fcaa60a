//! The scrubber of all output: no secret leaves the program, wherever it turns up.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use syrch::models::is_secret;
use syrch::secrecy::{ExposeSecret, SecretString};
use syrch_report::Grid;

use crate::failure::{Failure, Outcome};

/// The text in place of a secret.
pub(crate) const MASK: &str = "***";

/// The secret between quotes, when it reads otherwise there.
fn escape_secret(secret: &SecretString) -> Option<SecretString> {
    let text = secret.expose_secret();
    let escaped = text.escape_debug().to_string();
    (escaped != text).then(|| escaped.into())
}

/// Replaces the secrets of this process in texts and documents.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scrubber {
    secrets: Vec<SecretString>,
}

impl Scrubber {
    /// A scrubber of these secrets, also in the quoted form of logs.
    pub(crate) fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        let mut secrets: Vec<SecretString> = secrets
            .into_iter()
            .filter(|secret: &SecretString| is_secret(secret.expose_secret()))
            .collect();
        let quoted: Vec<SecretString> = secrets.iter().filter_map(escape_secret).collect();
        secrets.extend(quoted);
        Self { secrets }
    }

    /// Returns true if there is nothing to hide.
    pub(crate) fn is_idle(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Returns true if the text contains a secret.
    pub(crate) fn finds(&self, text: &str) -> bool {
        matches!(self.text(text), Cow::Owned(_))
    }

    /// The text without secrets.
    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut clean = Cow::Borrowed(text);
        for secret in &self.secrets {
            if clean.contains(secret.expose_secret()) {
                clean = Cow::Owned(clean.replace(secret.expose_secret(), MASK));
            }
        }
        clean
    }

    /// Anything that is read as it is written, without secrets, so that no output can hold one.
    pub(crate) fn document<T: Serialize + DeserializeOwned>(&self, document: T) -> Outcome<T> {
        if self.is_idle() {
            return Ok(document);
        }
        let mut value = serde_json::to_value(&document).map_err(Failure::unwritable_document)?;
        let before = value.clone();
        self.value(&mut value);
        // Read back only when there is something to hide.
        if value == before {
            return Ok(document);
        }
        serde_json::from_value(value).map_err(Failure::unwritable_document)
    }

    /// Takes secrets out of every cell and every name of a column.
    pub(crate) fn grid(&self, grid: &mut Grid) {
        grid.columns.iter_mut().for_each(|name| *name = self.text(name).into_owned());
        grid.rows.iter_mut().flatten().for_each(|cell| self.value(cell));
    }

    /// Takes secrets out of every string and key of a document, which stays a document.
    pub(crate) fn value(&self, value: &mut Value) {
        if self.is_idle() {
            return;
        }
        match value {
            Value::String(text) => {
                if let Cow::Owned(clean) = self.text(text) {
                    *text = clean;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(map) => {
                *map = std::mem::take(map)
                    .into_iter()
                    .map(|(key, mut item)| {
                        self.value(&mut item);
                        (self.text(&key).into_owned(), item)
                    })
                    .collect();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scrubber(key: &str) -> Scrubber {
        Scrubber::new([SecretString::from(key)])
    }

    #[test]
    fn secrets_are_hidden_in_texts_and_documents() {
        let scrubber = scrubber("sk-\"odd\"key");
        assert_eq!(scrubber.text("key sk-\"odd\"key, twice: sk-\"odd\"key"), "key ***, twice: ***");
        assert_eq!(scrubber.text(&format!("{:?}", "sk-\"odd\"key")), "\"***\"");
        assert!(scrubber.finds("is sk-\"odd\"key") && !scrubber.finds("is sk-odd"));
        let mut document = serde_json::json!({"a": ["x sk-\"odd\"key"], "sk-\"odd\"key": 1});
        scrubber.value(&mut document);
        assert_eq!(document, serde_json::json!({"a": ["x ***"], "***": 1}));
    }

    #[test]
    fn placeholders_are_no_secrets() {
        for word in ["ollama", "none", "Germany", "not-needed", "anything"] {
            assert_eq!(scrubber(word).text(&format!("I use {word}")), format!("I use {word}"));
        }
        assert_eq!(scrubber("sesame-4711").text("key sesame-4711"), "key ***");
        assert_eq!(scrubber("").text("text"), "text");
    }

    #[test]
    fn secrets_leave_every_cell() {
        let mut grid = Grid::new(["key-canary"]);
        grid.rows = vec![vec![json!("is key-canary")]];
        Scrubber::new(["key-canary".to_owned().into()]).grid(&mut grid);
        assert_eq!((grid.columns, grid.rows), (vec!["***".into()], vec![vec![json!("is ***")]]));
    }
}
