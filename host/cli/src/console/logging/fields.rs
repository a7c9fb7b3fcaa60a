//! Reads the fields of events and spans as JSON values.

use std::error::Error;
use std::fmt::Debug;

use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};

/// The fields that were recorded, by name. Numbers and booleans keep their type.
#[derive(Debug, Default)]
pub(super) struct Fields(pub(super) Map<String, Value>);

impl Fields {
    fn put(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    /// Takes the message out; the others stay.
    pub(super) fn message(&mut self) -> String {
        match self.0.shift_remove("message") {
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
            None => String::new(),
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        // JSON has no word for infinities.
        let number = if value.is_finite() { json!(value) } else { json!(value.to_string()) };
        self.put(field, number);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value);
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.put(field, value.to_string());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.put(field, format!("{value:?}"));
    }
}
